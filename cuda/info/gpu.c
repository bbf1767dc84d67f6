// SPDX-License-Identifier: MIT
/* What libcuda.so.1 tells of GPUs. */
#include <stdio.h>
#include <string.h>

#include "../../include/gk110/boards.h"
#include "../api/api.h"
#include "../api/text.h"
#include "info.h"

enum {
	ATTRIBUTE_CLOCK = 13,
	ATTRIBUTE_SMX = 16,
	ATTRIBUTE_MEMORY_CLOCK = 36,
	ATTRIBUTE_MAJOR = 75,
	ATTRIBUTE_MINOR = 76
};
#define MIB ((size_t)1 << 20)

#define BOARD(board_id, board_name, mib, run) { board_name, (mib)*MIB },

static const struct {
	const char *name;
	size_t memory;
} cards[] = { GK110_BOARDS(BOARD) };

/* the flag by which a hypervisor shows itself to programs */
bool machine_is_virtual(void)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[4096];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "flags", 5) && strstr(line, " hypervisor");
	if (f)
		fclose(f);
	return found;
}

static void read_memory(struct gpu *g, CUdevice dev)
{
	size_t unused = 0, total = 0;
	CUcontext ctx;
	CUresult r = cuCtxCreate_v2(&ctx, 0, dev);

	if (r) {
		cuGetErrorString(r, &g->error);
		return;
	}
	g->memory_known = !cuMemGetInfo_v2(&unused, &total);
	g->used = total - unused;
	cuCtxDestroy_v2(ctx);
}

static void read_gpu(struct gpu *g, CUdevice dev)
{
	unsigned int i;

	memset(g, 0, sizeof(*g));
	cuDeviceGetName(g->name, sizeof(g->name), dev);
	cuDeviceGetPCIBusId(g->bus, sizeof(g->bus), dev);
	/* the libcuda.so.1 of kvgpu-remote-client has them from its server */
	text_clean(g->name, sizeof(g->name));
	text_clean(g->bus, sizeof(g->bus));
	cuDeviceTotalMem_v2(&g->memory, dev);
	cuDeviceGetAttribute(&g->clock_khz, ATTRIBUTE_CLOCK, dev);
	cuDeviceGetAttribute(&g->smx, ATTRIBUTE_SMX, dev);
	cuDeviceGetAttribute(&g->memory_khz, ATTRIBUTE_MEMORY_CLOCK, dev);
	cuDeviceGetAttribute(&g->major, ATTRIBUTE_MAJOR, dev);
	cuDeviceGetAttribute(&g->minor, ATTRIBUTE_MINOR, dev);
	read_memory(g, dev);
	for (i = 0; i < sizeof(cards) / sizeof(cards[0]); i++)
		if (!strncmp(cards[i].name, g->name, strlen(cards[i].name)))
			g->card_memory = cards[i].memory;
	/* the firmware keeps some of a whole card's memory */
	g->is_virtual = g->card_memory && g->memory <= g->card_memory / 8 * 7 &&
			machine_is_virtual();
}

int gpus_read(struct gpu *gpus, const char **error)
{
	CUresult r = cuInit(0);
	int n = 0, i;

	if (!r)
		r = cuDeviceGetCount(&n);
	if (r) {
		cuGetErrorString(r, error);
		return -(int)r;
	}
	n = n < MAX_GPUS ? n : MAX_GPUS;
	for (i = 0; i < n; i++)
		read_gpu(&gpus[i], i);
	return n;
}
