// SPDX-License-Identifier: GPL-2.0-only
/*
 * builds CALL...: a program whose client may be of another build than its server. Bytes are right
 * before and behind the calls that the words name; for each a line with its result is printed. The
 * word input waits for the end of the standard input. Exit code 0: bytes were right; 3: cuInit()
 * failed.
 */
#include <dlfcn.h>
#include <string.h>

#include "must.h"

enum { BYTES = 4096 };

static void bytes_are_right(CUdeviceptr there, unsigned char with)
{
	unsigned char here[BYTES] = { 0 };
	unsigned int i;

	MUST(cuMemsetD8_v2(there, with, BYTES));
	MUST(cuMemcpyDtoH_v2(here, there, BYTES));
	for (i = 0; i < BYTES; i++)
		CHECK(here[i] == with);
}

/* an entry point that only a later build has */
static CUresult novel(void)
{
	CUresult (*call)(unsigned long long *value) = dlsym(RTLD_DEFAULT, "cuNovelCall");
	unsigned long long value;

	CHECK(call);
	return call(&value);
}

static CUresult call_of(const char *name)
{
	cuuint64_t value;
	size_t free, total;

	if (!strcmp(name, "input"))
		return getchar() == EOF ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
	if (!strcmp(name, "cuNovelCall"))
		return novel();
	if (!strcmp(name, "cuMemGetInfo"))
		return cuMemGetInfo_v2(&free, &total);
	CHECK(!strcmp(name, "cuDeviceGetGraphMemAttribute"));
	return cuDeviceGetGraphMemAttribute(0, 0, &value);
}

int main(int argc, char **argv)
{
	CUdeviceptr there;
	CUcontext ctx;
	int i;

	if (cuInit(0))
		return 3;
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuMemAlloc_v2(&there, BYTES));
	bytes_are_right(there, 7);
	for (i = 1; i < argc; i++)
		printf("%s: %s\n", argv[i], name_of(call_of(argv[i])));
	bytes_are_right(there, 9);
	MUST(cuMemFree_v2(there));
	MUST(cuCtxDestroy_v2(ctx));
	return 0;
}
