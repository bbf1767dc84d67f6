// SPDX-License-Identifier: MIT
/* Events of servers, each for the file that it concerns, and text of kernels. */
#include <stdio.h>
#include <unistd.h>

#include "across.h"

static void print(const struct kvgpu_remote_happening *h, const void *text, size_t n)
{
	FILE *out = h->value == STDERR_FILENO ? stderr : stdout;

	fwrite(text, 1, n, out);
	fflush(out);
}

void client_happened(void *ctx, const struct kvgpu_remote_happening *h, const void *bytes, size_t n)
{
	uint64_t invocation;

	if (h->event == KVGPU_REMOTE_EVENT_TEXT)
		print(h, bytes, n);
	if (h->event == KVGPU_REMOTE_EVENT_TEXT || n != sizeof(invocation))
		return;
	memcpy(&invocation, bytes, n);
	switch (h->event) {
	case KVGPU_REMOTE_EVENT_CALL:
		if (h->id & GATE_BIT)
			gate_happened(ctx, h->id, invocation);
		else
			host_function_happened(ctx, h, invocation);
		break;
	case KVGPU_REMOTE_EVENT_GONE:
		host_function_happened(ctx, h, invocation);
		break;
	case KVGPU_REMOTE_EVENT_FILL:
	case KVGPU_REMOTE_EVENT_DRAIN:
	case KVGPU_REMOTE_EVENT_FREE:
		ferry_happened(ctx, h, invocation);
	}
}
