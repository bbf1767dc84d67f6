// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvgpu-cuda-driver CUBIN [SUBTEST...]: takes the device, makes a context, loads the kernels into
 * it, and runs the subtests, all or the named ones. "faults" destroys that context, so it must stay
 * the last one.
 */
#include "driver.h"

#include <stdio.h>
#include <string.h>

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
	tap_result(major == 3 && minor == 5 && smx >= 1 && smx <= 15 && clock > 0 && unused &&
			   unused <= total,
		   "the device is a GK110", "%d.%d, %d SMX", major, minor, smx);
}

static void faults(const char *cubin)
{
	test_assert(cubin);
	test_fault(cubin);
}

static const struct {
	const char *name;
	void (*run)(void);
	void (*run_with)(const char *cubin);
} subtests[] = {
	{ "device", test_device, NULL },
	{ "memory", test_memory, NULL },
	{ "calls", NULL, test_calls },
	{ "launch", test_launch, NULL },
	{ "stream", test_stream, NULL },
	{ "host_functions", test_host_functions, NULL },
	{ "graph", test_graph, NULL },
	{ "array", test_array, NULL },
	{ "texture", test_texture, NULL },
	{ "surface", test_surface, NULL },
	{ "jit", test_jit, NULL },
	{ "syscall", test_syscall, NULL },
	{ "library", NULL, test_library },
	{ "cancel", test_cancel, NULL },
	{ "checkpoint", NULL, test_checkpoint },
	{ "faults", NULL, faults },
};

enum { NR_SUBTESTS = sizeof(subtests) / sizeof(subtests[0]) };

static bool is_subtest(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR_SUBTESTS; i++)
		if (!strcmp(subtests[i].name, name))
			return true;
	return false;
}

/* false: the command line is wrong, and that was said */
static bool check_arguments(int argc, char **argv)
{
	unsigned int i;
	int n;

	for (n = 2; n < argc && is_subtest(argv[n]); n++)
		;
	if (argc >= 2 && n == argc)
		return true;
	if (argc >= 2)
		fprintf(stderr, "kvgpu-cuda-driver: there is no subtest \"%s\"\n", argv[n]);
	fprintf(stderr, "usage: kvgpu-cuda-driver CUBIN [SUBTEST...]\nsubtests:");
	for (i = 0; i < NR_SUBTESTS; i++)
		fprintf(stderr, " %s", subtests[i].name);
	fprintf(stderr, "\n");
	return false;
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc == 2;
}

int main(int argc, char **argv)
{
	CUcontext ctx;
	unsigned int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!check_arguments(argc, argv))
		return 2;
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	must(cuModuleLoad(&module, argv[1]), "cuModuleLoad");
	for (i = 0; i < NR_SUBTESTS; i++) {
		if (!wanted(subtests[i].name, argc, argv))
			continue;
		if (subtests[i].run)
			subtests[i].run();
		else
			subtests[i].run_with(argv[1]);
	}
	return tap_finish();
}
