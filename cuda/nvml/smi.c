// SPDX-License-Identifier: MIT
/*
 * The private table for nvidia-smi. What it asks was found with a library that logs: it takes one
 * table, by an id, and ends with "Mismatch in versions" without it. Of the slots those that refuse
 * print as N/A; three list processes. The layout of a process is that of nvidia-smi 535 and 550.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "inside.h"

enum { SLOTS = 512, COMPUTE = 213, GRAPHICS = 214, MPS = 215, NAME_ROOM = 4096 };

struct smi_process {
	uint32_t pid;
	uint64_t bytes; /* of memory */
	uint32_t gpu_instance, compute_instance;
	uint64_t protected_bytes;
	char name[NAME_ROOM];
};

_Static_assert(sizeof(struct smi_process) == 4128, "as nvidia-smi reserves it");

static pthread_once_t made = PTHREAD_ONCE_INIT;
static const void *table[SLOTS]; /* written once */

static nvmlReturn_t slot_refuse(void)
{
	return NVML_ERROR_NOT_SUPPORTED;
}

/* *@count: as of nvmlDeviceGetComputeRunningProcesses_v3() */
static nvmlReturn_t slot_compute(nvmlDevice_t device, unsigned int *count, struct smi_process *out)
{
	nvmlProcessInfo_v2_t list[USAGE_PROCESSES];
	unsigned int n = USAGE_PROCESSES, i;
	nvmlReturn_t r;

	if (!count || !out)
		return NVML_ERROR_INVALID_ARGUMENT;
	r = nvmlDeviceGetComputeRunningProcesses_v3(device, &n, list);
	if (r)
		return r;
	if (n > *count)
		r = NVML_ERROR_INSUFFICIENT_SIZE;
	*count = n;
	for (i = 0; i < n && !r; i++) {
		out[i] = (struct smi_process){ list[i].pid, list[i].usedGpuMemory,
					       NVML_NONE,   NVML_NONE,
					       0,	    "" };
		if (nvmlSystemGetProcessName(list[i].pid, out[i].name, NAME_ROOM))
			strcpy(out[i].name, "[Not Found]");
	}
	return r;
}

/* graphics, and what shares a context by MPS */
static nvmlReturn_t slot_none(nvmlDevice_t device, unsigned int *count, struct smi_process *out)
{
	return nvmlDeviceGetGraphicsRunningProcesses_v3(device, count, NULL);
}

static void make_table(void)
{
	unsigned int i;

	table[0] = (void *)sizeof(table);
	for (i = 1; i < SLOTS; i++)
		table[i] = slot_refuse;
	table[COMPUTE] = slot_compute;
	table[GRAPHICS] = table[MPS] = slot_none;
}

nvmlReturn_t nvmlInternalGetExportTable(const void **out, const unsigned char *id)
{
	static const unsigned char smi[] = { 0xc4, 0xfe, 0x3e, 0x6c, 0xc9, 0x8f, 0x6c, 0x4e,
					     0xa3, 0x27, 0xee, 0x69, 0x6e, 0x12, 0xf7, 0xc4 };

	if (!out || !id)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (memcmp(id, smi, sizeof(smi)))
		return NVML_ERROR_NOT_FOUND;
	pthread_once(&made, make_table);
	*out = table;
	return NVML_SUCCESS;
}
