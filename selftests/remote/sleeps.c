// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleeps UNTIL MIB PAUSE_MS [captures|managed|shares]: has MIB MiB of device memory, and until the
 * file UNTIL is there, pauses, looks whether each byte is as before, and writes others. What comes
 * last is what keeps a process from sleep.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

enum { MIB = 1 << 20 };

static CUdeviceptr memory;
static size_t bytes;

static void hinder(const char *by)
{
	CUipcEventHandle handle;
	CUdeviceptr managed;
	CUstream stream;
	CUevent event;

	if (!strcmp(by, "managed")) {
		MUST(cuMemAllocManaged(&managed, MIB, 1 /* global */));
		return;
	}
	if (!strcmp(by, "shares")) {
		MUST(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
		MUST(cuIpcGetEventHandle(&handle, event));
		return;
	}
	CHECK(!strcmp(by, "captures"));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
}

static void look(unsigned int round)
{
	static uint32_t has[MIB / 4];
	size_t at, i;

	for (at = 0; at < bytes; at += MIB) {
		MUST(cuMemcpyDtoH_v2(has, memory + at, MIB));
		for (i = 0; i < MIB / 4; i++)
			CHECK(has[i] == round + at / MIB);
	}
}

static void put(unsigned int round)
{
	uint32_t seen;
	size_t at;

	for (at = 0; at < bytes; at += MIB)
		MUST(cuMemsetD32_v2(memory + at, round + at / MIB, MIB / 4));
	MUST(cuMemcpyDtoH_v2(&seen, memory,
			     sizeof(seen))); /* a fill that is on the way would wake it */
}

int main(int argc, char **argv)
{
	unsigned int round;
	CUcontext ctx;

	if (argc != 4 && argc != 5)
		return 2;
	bytes = strtoul(argv[2], NULL, 10) * MIB;
	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuMemAlloc_v2(&memory, bytes));
	if (argc == 5)
		hinder(argv[4]);
	put(1);
	puts("ready");
	for (round = 1; access(argv[1], F_OK); round++) {
		fflush(stdout);
		usleep(strtoul(argv[3], NULL, 10) * 1000);
		look(round);
		put(round + 1);
	}
	printf("%u rounds\n", round);
	return 0;
}
