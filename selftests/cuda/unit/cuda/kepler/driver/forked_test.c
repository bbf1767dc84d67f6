// SPDX-License-Identifier: MIT
/*
 * A child of fork() whose parent has a context, on a fake device. Each call gives
 * CUDA_ERROR_NOT_INITIALIZED, though locks were held at the fork that nobody gives back here.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "one_context.h"

#include <cuda/kepler/driver/graph.h>

enum { HANGS_S = 60 };

typedef CUresult (*entry)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			  uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static const struct {
	const char *name;
	void *call;
} entries[] = {
#define ENTRY(name, since, symbol, per_thread) { #symbol, (void *)symbol },
#include <entries.inc>
};

/* what needs no driver: names of errors, versions, addresses, tables; and what is refused */
static bool is_apart(const char *name)
{
	static const char *const apart[] = { "cuGetError", "cuDriverGetVersion", "cuGetProcAddress",
					     "cuGetExportTable" };
	static const char *const refused[] = {
#define REFUSED(name, ...) #name,
#include <refused.inc>
	};
	unsigned int i;

	for (i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (!strcmp(name, refused[i]))
			return true;
	for (i = 0; i < sizeof(apart) / sizeof(*apart); i++)
		if (!strncmp(name, apart[i], strlen(apart[i])))
			return true;
	return false;
}

/* Zeros, which some calls refuse first. Exit code: 0, or 1 and the wrong ones are printed. */
static int call_all(void)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		CUresult r;

		if (is_apart(entries[i].name))
			continue;
		r = ((entry)entries[i].call)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
		if (r == CUDA_ERROR_NOT_INITIALIZED || r == CUDA_ERROR_INVALID_VALUE)
			continue;
		printf("%s gives %d\n", entries[i].name, r);
		wrong++;
	}
	fflush(stdout);
	return wrong != 0;
}

/* with what the parent has */
static int call_some(CUdeviceptr there, CUstream s, CUevent e)
{
	CUdeviceptr p;
	CUcontext c;
	char byte;
	int n;

	return cuInit(0) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuDeviceGetCount(&n) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuCtxGetCurrent(&c) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuMemAlloc_v2(&p, 16) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuMemFree_v2(there) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuMemcpyDtoH_v2(&byte, there, 1) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuMemsetD8_v2(there, 1, 1) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuStreamSynchronize(s) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuStreamDestroy_v2(s) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuEventDestroy_v2(e) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuCtxSynchronize() != CUDA_ERROR_NOT_INITIALIZED ||
	       cuCtxDestroy_v2(ctx) != CUDA_ERROR_NOT_INITIALIZED ||
	       cuDevicePrimaryCtxReset_v2(0) != CUDA_ERROR_NOT_INITIALIZED;
}

static void child_has_no_driver(void **state)
{
	CUdeviceptr there;
	CUevent event;
	CUstream s;
	int status;
	pid_t pid;

	OK(cuMemAlloc_v2(&there, 4096));
	OK(cuStreamCreate(&s, 0));
	OK(cuEventCreate(&event, 0));
	pthread_mutex_lock(&table);
	pthread_mutex_lock(&ctx->lock);
	pthread_mutex_lock(&graphs);
	pid = fork();
	if (!pid) {
		alarm(HANGS_S);
		_exit(call_all() | call_some(there, s, event) << 1);
	}
	pthread_mutex_unlock(&graphs);
	pthread_mutex_unlock(&ctx->lock);
	pthread_mutex_unlock(&table);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	OK(cuMemsetD8_v2(there, 1, 4096));
	OK(cuEventDestroy_v2(event));
	OK(cuStreamDestroy_v2(s));
	OK(cuMemFree_v2(there));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(child_has_no_driver, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
