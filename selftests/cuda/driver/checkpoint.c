// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device memory that leaves the GPU, and comes back. Memory can be moved where the program was
 * started with KVGPU_CHECKPOINT=1: without it the subtest starts this program so.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 16 << 20, W = 1000, H = 300, ROUNDS = 5, MIB = 1 << 20 };

/*
 * Run this program's @subtest in another process, with @setting in its environment. *@mib: what it
 * sees unused, where it says that.
 */
static bool run_self(const char *setting, const char *cubin, const char *subtest, unsigned int *mib)
{
	char self[1024] = "", command[4096], line[256];
	const char *at;
	FILE *f;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	snprintf(command, sizeof(command), "%s '%s' '%s' %s 2>&1", setting, self, cubin, subtest);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		at = strstr(line, " SMX, ");
		if (at && mib)
			sscanf(at, " SMX, %u of", mib);
		tap_diag("%s", strtok(line, "\n"));
	}
	return f && !pclose(f);
}

/* *@mib: what another process finds while memory is away */
static CUresult away_and_back(const char *cubin, unsigned int *mib)
{
	int pid = getpid();
	CUresult r = cuCheckpointProcessLock(pid, NULL);

	r = r ? r : cuCheckpointProcessCheckpoint(pid, NULL);
	if (!r && mib)
		run_self("", cubin, "device", mib);
	r = r ? r : cuCheckpointProcessRestore(pid, NULL);
	return r ? r : cuCheckpointProcessUnlock(pid, NULL);
}

static void moved(const char *cubin)
{
	uint8_t *bytes = fresh(BYTES), *got = fresh(BYTES), *texels = fresh(W * H * 4);
	CUarray a = new_array(W, H, 0, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST);
	CUdeviceptr d = device_buffer(BYTES), out = device_buffer(4);
	unsigned int before = 0, away = 0, i, wrong = 0;
	void *params[] = { &out };
	int one = 0;
	CUresult r;

	run_self("", cubin, "device", &before);
	noise(bytes, BYTES, 1);
	noise(texels, W * H * 4, 2);
	MUST(cuMemcpyHtoD_v2(d, bytes, BYTES));
	MUST(array_copy(a, texels, W * 4, H, 1, true));
	MUST(cuMemsetD32_v2(out, 0, 1));
	r = away_and_back(cubin, &away);
	for (i = 0; i < ROUNDS && !r; i++) {
		r = cuMemcpyDtoH_v2(got, d, BYTES);
		wrong += memcmp(got, bytes, BYTES) != 0;
		r = r ? r : array_copy(a, got, W * 4, H, 1, false);
		wrong += memcmp(got, texels, W * H * 4) != 0;
		r = r ? r :
			cuLaunchKernel(kernel("store"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
		r = r ? r : cuMemcpyDtoH_v2(&one, out, 4);
		wrong += one != 1;
		r = r ? r : cuMemsetD32_v2(out, one = 0, 1);
		r = r ? r : away_and_back(cubin, NULL);
	}
	tap_result(!r && !wrong, "memory, arrays and code that left the GPU and came back",
		   "%s, %u wrong", error_name(r), wrong);
	/* what does not count memory of others tells the same twice */
	tap_result(before && away && (away == before || away >= before + BYTES / MIB),
		   "others have the room meanwhile", "%u MiB unused before, %u then", before, away);
	MUST(cuMemFree_v2(d));
	MUST(cuMemFree_v2(out));
	MUST(cuArrayDestroy(a));
}

void test_checkpoint(const char *cubin)
{
	int pid = getpid();
	CUresult r = cuCheckpointProcessLock(pid, NULL), unlocked;

	if (r == CUDA_ERROR_NOT_SUPPORTED) {
		tap_skip("memory that leaves the GPU", "a remoted GPU has no checkpoints");
		return;
	}
	MUST(r);
	MUST(cuCheckpointProcessUnlock(pid, NULL));
	if (getenv("KVGPU_CHECKPOINT")) {
		moved(cubin);
		return;
	}
	MUST(cuCheckpointProcessLock(pid, NULL));
	r = cuCheckpointProcessCheckpoint(pid, NULL);
	unlocked = cuCheckpointProcessUnlock(pid, NULL);
	tap_result(r == CUDA_ERROR_NOT_SUPPORTED && !unlocked,
		   "without KVGPU_CHECKPOINT memory stays", "%s", error_name(r));
	tap_result(run_self("KVGPU_CHECKPOINT=1", cubin, "checkpoint", NULL),
		   "with it memory leaves the GPU, and comes back", "see above");
}
