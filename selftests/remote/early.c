// SPDX-License-Identifier: GPL-2.0-only
/*
 * early CUBIN: a program with a __managed__ variable, as the runtime of CUDA 13.0 begins it: these
 * calls, in this order, without a current context. The program touches the variable before
 * anything retains the primary context, and kernels use it behind. A second device is refused that
 * code, of which a line tells. Exit code 0: all was so.
 */
#include <cuda/api/api.h>
#include <selftests/cuda/driver/managed_image.h>

#include "must.h"

enum { THREADS = 32, START = 5, CUBIN_MAX = 1 << 20 };
/* attributes of a device */
enum { MULTIPROCESSORS = 16 };

static CUlibrary load(const char *name)
{
	uint8_t *image = calloc(1, CUBIN_MAX);
	FILE *f = fopen(name, "rb");
	CUlibrary library;

	CHECK(f && image && fread(image, 1, CUBIN_MAX, f) > sizeof(Elf64_Ehdr));
	fclose(f);
	CHECK(make_counter_managed(image));
	MUST(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
	free(image);
	return library;
}

static void ask_device(void)
{
	CUmoduleLoadingMode mode;
	char name[64];
	size_t bytes;
	CUuuid uuid;
	CUdevice dev;
	int n;

	MUST(cuDriverGetVersion(&n));
	MUST(cuInit(0));
	MUST(cuModuleGetLoadingMode(&mode));
	MUST(cuDeviceGetCount(&n));
	MUST(cuDeviceGet(&dev, 0));
	MUST(cuDeviceGetName(name, sizeof(name), dev));
	MUST(cuDeviceTotalMem_v2(&bytes, dev));
	MUST(cuDeviceGetAttribute(&n, MULTIPROCESSORS, dev));
	MUST(cuDeviceGetUuid_v2(&uuid, dev));
}

/* each thread of the kernel adds 1 to the variable */
static CUresult launch(CUlibrary library, CUdeviceptr out)
{
	signed char c = 1;
	double d = 1;
	short s = 1;
	void *args[] = { &c, &d, &s, &out };
	CUkernel mixed;
	CUresult r;

	MUST(cuLibraryGetKernel(&mixed, library, "mixed"));
	r = cuLaunchKernel((CUfunction)mixed, 1, 1, 1, THREADS, 1, 1, 0, NULL, args, NULL);
	return r ? r : cuCtxSynchronize();
}

static CUcontext use(CUdevice dev)
{
	CUcontext ctx;

	MUST(cuDevicePrimaryCtxRetain(&ctx, dev));
	MUST(cuCtxSetCurrent(ctx));
	return ctx;
}

int main(int argc, char **argv)
{
	CUdeviceptr at, same, out;
	CUlibrary library;
	size_t bytes;
	volatile uint32_t *counter;
	int devices;

	CHECK(argc == 2);
	ask_device();
	library = load(argv[1]);
	FAILS(cuLibraryGetGlobal(&same, &bytes, library, "counter"), CUDA_ERROR_INVALID_CONTEXT);
	MUST(cuLibraryGetManaged(&at, &bytes, library, "counter"));
	CHECK(bytes == sizeof(*counter));
	counter = (uint32_t *)(uintptr_t)at;
	CHECK(*counter == 0);
	*counter = START;
	use(0);
	MUST(cuMemAlloc_v2(&out, THREADS * sizeof(double)));
	MUST(launch(library, out));
	CHECK(*counter == START + THREADS);
	*counter += 100;
	MUST(launch(library, out));
	CHECK(*counter == START + 100 + 2 * THREADS);
	/* others come and go */
	MUST(cuDevicePrimaryCtxRelease(0));
	use(0);
	MUST(launch(library, out));
	CHECK(*counter == START + 100 + 3 * THREADS);
	MUST(cuLibraryGetGlobal(&same, &bytes, library, "counter"));
	CHECK(at == same);
	MUST(cuDeviceGetCount(&devices));
	if (devices > 1) {
		use(1);
		FAILS(launch(library, 0), CUDA_ERROR_NOT_SUPPORTED);
		MUST(cuDevicePrimaryCtxRelease(1));
		use(0);
		MUST(launch(library, out));
		CHECK(*counter == START + 100 + 4 * THREADS);
		MUST(cuDevicePrimaryCtxRelease(0));
	}
	MUST(cuDevicePrimaryCtxRelease(0));
	MUST(cuLibraryUnload(library));
	FAILS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	printf("a __managed__ variable, from before the first context on\n");
	return 0;
}
