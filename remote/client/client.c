// SPDX-License-Identifier: MIT
/* What each file may ask: whether the library is ready, in this process; and lines to the user. */
#include <stdarg.h>
#include <stdio.h>

#include <cuda/api/forked.h>

#include "client.h"

static bool ready; /* atomic */
static __thread bool quiet;

void client_say(const char *format, ...)
{
	char line[512];
	va_list args;

	if (quiet)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "libcuda (remote): %s\n", line);
	trace_say(line);
}

void client_quiet(bool is)
{
	quiet = is;
}

CUresult client_ready(void)
{
	unsigned int i;

	if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE) || forked_is_child())
		return CUDA_ERROR_NOT_INITIALIZED;
	if (!kvgpu_remote_is_gone(peers[0].channel))
		return CUDA_SUCCESS;
	for (i = 1; i < nr_peers; i++)
		if (!kvgpu_remote_is_gone(peers[i].channel))
			return CUDA_SUCCESS;
	return CUDA_ERROR_SYSTEM_NOT_READY;
}

bool client_is_ready(void)
{
	return __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
}

void client_set_ready(bool is)
{
	__atomic_store_n(&ready, is, __ATOMIC_RELEASE);
}
