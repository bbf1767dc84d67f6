// SPDX-License-Identifier: GPL-2.0-only
/* kvgpu-cuda-driver CUBIN: takes the device, loads the kernels, and runs the subtests. */
#include "driver.h"

#include <stdio.h>

static void test_device(void)
{
	int smx = 0, major = 0, minor = 0, clock = 0;
	size_t total = 0, unused = 0;
	char name[64];

	MUST(cuDeviceGetName(name, sizeof(name), 0));
	MUST(cuDeviceGetAttribute(&smx, 16, 0));
	MUST(cuDeviceGetAttribute(&major, 75, 0));
	MUST(cuDeviceGetAttribute(&minor, 76, 0));
	MUST(cuDeviceGetAttribute(&clock, 13, 0));
	MUST(cuMemGetInfo_v2(&unused, &total));
	tap_diag("%s, %d SMX, %zu of %zu MiB unused", name, smx, unused >> 20, total >> 20);
	tap_result(major == 3 && minor == 5 && smx >= 1 && smx <= 15 && clock > 0 && unused && unused <= total,
		   "the device is a GK110", "%d.%d, %d SMX", major, minor, smx);
}

int main(int argc, char **argv)
{
	CUcontext ctx;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2) {
		fprintf(stderr, "usage: kvgpu-cuda-driver CUBIN\n");
		return 2;
	}
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	must(cuModuleLoad(&module, argv[1]), "cuModuleLoad");
	test_device();
	test_memory();
	test_launch();
	test_stream();
	test_host_functions();
	test_graph();
	test_array();
	test_texture();
	test_surface();
	test_jit();
	test_syscall();
	test_assert(argv[1]);
	test_fault(argv[1]);
	return tap_finish();
}
