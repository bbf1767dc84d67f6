// SPDX-License-Identifier: GPL-2.0-only
/*
 * shares HABIT CLIENT CUBIN GO: a program with more work for the GPU of clock.c than it can have,
 * from when the file GO is there until it is killed. many: kernels in several streams; each: one by
 * one; fills: fills and kernels in one stream; hoard: in many streams, which it destroys
 */
#include <string.h>
#include <unistd.h>

#include "must.h"

enum { STREAMS = 24 };

static CUfunction spin;
static CUdeviceptr out;
static unsigned int client;

static void launch(unsigned int us, CUstream s)
{
	int rounds = 1;
	void *params[] = { &out, &rounds };

	MUST(cuLaunchKernel(spin, us, client, 1, 1, 1, 1, 0, s, params, NULL));
}

int main(int argc, char **argv)
{
	CUstream s[STREAMS];
	CUmodule module;
	CUcontext ctx;
	unsigned int i;

	if (argc != 5)
		return 2;
	client = atoi(argv[2]);
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuModuleLoad(&module, argv[3]));
	MUST(cuModuleGetFunction(&spin, module, "spin"));
	MUST(cuMemAlloc_v2(&out, 1 << 20));
	for (i = 0; i < STREAMS; i++)
		MUST(cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
	puts("ready");
	fflush(stdout);
	while (access(argv[4], F_OK)) {
		launch(500, s[0]);
		MUST(cuStreamSynchronize(s[0]));
	}
	for (i = 0;; i++) {
		if (!strcmp(argv[1], "many")) {
			launch(40 + i % 20, s[i % 4]);
		} else if (!strcmp(argv[1], "each")) {
			launch(3000, s[0]);
			MUST(cuStreamSynchronize(s[0]));
		} else if (!strcmp(argv[1], "fills")) {
			MUST(cuMemsetD8Async(out, client, 100 + i % 300, s[0]));
			launch(10, s[0]);
			if (i % 1000 == 0)
				MUST(cuCtxSynchronize());
		} else {
			launch(500, s[i % STREAMS]);
			MUST(cuStreamDestroy_v2(s[i % STREAMS]));
			MUST(cuStreamCreate(&s[i % STREAMS], CU_STREAM_NON_BLOCKING));
		}
	}
}
