// SPDX-License-Identifier: MIT
/* Notifications of servers, each for the file that it concerns, and text of kernels. */
#include <stdio.h>
#include <unistd.h>

#include "peer_copy.h"

static void print_text(const struct kvgpu_remote_notification *h, const void *text, size_t n)
{
	FILE *out = h->value == STDERR_FILENO ? stderr : stdout;

	fwrite(text, 1, n, out);
	fflush(out);
}

void client_notified(void *ctx, const struct kvgpu_remote_notification *h, const void *bytes,
		     size_t n)
{
	uint64_t invocation;

	if (h->kind == KVGPU_REMOTE_NOTIFY_TEXT)
		print_text(h, bytes, n);
	if (h->kind == KVGPU_REMOTE_NOTIFY_TEXT || n != sizeof(invocation))
		return;
	memcpy(&invocation, bytes, n);
	switch (h->kind) {
	case KVGPU_REMOTE_NOTIFY_CALL:
		if (h->id & CROSS_FENCE_BIT)
			cross_fence_notified(ctx, h->id, invocation);
		else
			host_function_notified(ctx, h, invocation);
		break;
	case KVGPU_REMOTE_NOTIFY_GONE:
	case KVGPU_REMOTE_NOTIFY_REFUSED:
		host_function_notified(ctx, h, invocation);
		break;
	case KVGPU_REMOTE_NOTIFY_FILL:
	case KVGPU_REMOTE_NOTIFY_DRAIN:
	case KVGPU_REMOTE_NOTIFY_FREE:
		bounce_notified(ctx, h, invocation);
	}
}
