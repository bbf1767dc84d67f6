// SPDX-License-Identifier: MIT
/* What each file may ask: whether the library is ready, in this process; and lines to the user. */
#include <stdarg.h>
#include <stdio.h>

#include <cuda/driver/forked.h>

#include "client.h"
#include "refused.h"

static bool ready; /* atomic */

void client_say(const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "libcuda (remote): %s\n", line);
}

CUresult client_refuse(const char *name, const char *why, bool *told)
{
	if (!__atomic_exchange_n(told, true, __ATOMIC_RELAXED))
		client_say("%s() is not supported: %s", name, why);
	return CUDA_ERROR_NOT_SUPPORTED;
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

/* A child of fork() keeps no connection open. */
static void in_child(void)
{
	unsigned int i;

	for (i = 0; i < nr_peers; i++)
		kvgpu_remote_forked(peers[i].channel);
}

void client_expect_forks(void)
{
	forked_expect(in_child);
}

bool client_is_ready(void)
{
	return __atomic_load_n(&ready, __ATOMIC_ACQUIRE);
}

void client_set_ready(void)
{
	__atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}
