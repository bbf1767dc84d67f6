// SPDX-License-Identifier: MIT
/* Memory and processes: those of the tenant, of others nothing. */
#include <stdio.h>
#include <string.h>

#include "../info/info.h"
#include "inside.h"

nvmlReturn_t nvml_usage(const struct nvml_gpu *gpu, const struct kvgpu_usage **out)
{
	static struct kvgpu_usage usage; /* under the lock */

	*out = &usage;
	return nvml_error(kvgpu_device_usage(gpu->dev, &usage));
}

nvmlReturn_t own_nvmlDeviceGetMemoryInfo(struct nvml_gpu *gpu, nvmlMemory_t *memory)
{
	const struct kvgpu_usage *u;
	nvmlReturn_t r = nvml_usage(gpu, &u);

	if (!r)
		*memory = (nvmlMemory_t){ u->total, u->total - u->used, u->used };
	return r;
}

nvmlReturn_t own_nvmlDeviceGetMemoryInfo_v2(struct nvml_gpu *gpu, nvmlMemory_v2_t *memory)
{
	const struct kvgpu_usage *u;
	nvmlReturn_t r;

	if (memory->version != NVML_VERSION(nvmlMemory_v2_t, 2))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	r = nvml_usage(gpu, &u);
	if (!r)
		*memory = (nvmlMemory_v2_t){ memory->version, u->total, 0, u->total - u->used,
					     u->used };
	return r;
}

/* ------------------------------------------------------------------ processes */

/* those of this machine that have the GPU open; how much memory each has is not known */
static unsigned int processes_here(const struct nvml_gpu *gpu, struct kvgpu_usage_process *out)
{
	static struct process all[MAX_PROCESSES]; /* under the lock */
	unsigned int n = processes_read(all), i, nr = 0, domain, bus, slot;

	for (i = 0; i < n; i++)
		if (sscanf(all[i].bus, "%x:%x:%x", &domain, &bus, &slot) == 3 &&
		    domain == gpu->domain && bus == gpu->bus && slot == gpu->slot)
			out[nr++] = (struct kvgpu_usage_process){ NVML_VALUE_NOT_AVAILABLE,
								  all[i].pid };
	return nr;
}

/*
 * *@list is valid until nvml_leave(). *@count: how many the program has room for, and then how many
 * there are.
 */
static nvmlReturn_t list_processes(const struct nvml_gpu *gpu, unsigned int *count, const void *to,
				   const struct kvgpu_usage_process **list)
{
	static struct kvgpu_usage_process here[MAX_PROCESSES];
	const struct kvgpu_usage *u;
	nvmlReturn_t r = nvml_usage(gpu, &u);
	unsigned int room = *count;

	if (r)
		return r;
	*list = u->here ? here : u->process;
	*count = u->here ? processes_here(gpu, here) : u->nr_processes;
	if (*count > room)
		return NVML_ERROR_INSUFFICIENT_SIZE;
	return *count && !to ? NVML_ERROR_INVALID_ARGUMENT : NVML_SUCCESS;
}

nvmlReturn_t own_nvmlDeviceGetComputeRunningProcesses(struct nvml_gpu *gpu, unsigned int *count,
						      nvmlProcessInfo_v1_t *list)
{
	const struct kvgpu_usage_process *all;
	nvmlReturn_t r = list_processes(gpu, count, list, &all);
	unsigned int i;

	for (i = 0; i < *count && !r; i++)
		list[i] = (nvmlProcessInfo_v1_t){ all[i].pid, all[i].bytes };
	return r;
}

nvmlReturn_t own_nvmlDeviceGetComputeRunningProcesses_v2(struct nvml_gpu *gpu, unsigned int *count,
							 nvmlProcessInfo_v2_t *list)
{
	const struct kvgpu_usage_process *all;
	nvmlReturn_t r = list_processes(gpu, count, list, &all);
	unsigned int i;

	for (i = 0; i < *count && !r; i++)
		list[i] = (nvmlProcessInfo_v2_t){ all[i].pid, all[i].bytes, NVML_NONE, NVML_NONE };
	return r;
}
