// SPDX-License-Identifier: MIT
/* Devices: which there are, their names and places, what CUDA tells of them; sets of events. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../api/text.h"
#include "inside.h"

enum { VENDOR_NVIDIA = 0x10de, CLASS_DISPLAY = 3, SUBCLASS_3D = 2 };

nvmlReturn_t nvml_text(const char *text, char *out, unsigned int length)
{
	if (length <= strlen(text))
		return NVML_ERROR_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return NVML_SUCCESS;
}

nvmlReturn_t own_nvmlSystemGetCudaDriverVersion(int *version)
{
	return nvml_error(cuDriverGetVersion(version));
}

/* the first word of its command line, which it chooses; what does not fit is left out */
nvmlReturn_t own_nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length)
{
	char path[64];
	size_t n;
	FILE *f;

	if (!length)
		return NVML_ERROR_INVALID_ARGUMENT;
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return NVML_ERROR_NOT_FOUND;
	n = fread(name, 1, length - 1, f);
	fclose(f);
	name[n] = 0;
	text_clean(name, length);
	return NVML_SUCCESS;
}

/* ------------------------------------------------------------------ handles */

nvmlReturn_t own_nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device)
{
	if (index >= nvml_count)
		return NVML_ERROR_INVALID_ARGUMENT;
	*device = &nvml_gpus[index];
	return NVML_SUCCESS;
}

nvmlReturn_t own_nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
	unsigned int i;

	for (i = 0; i < nvml_count; i++)
		if (!strcmp(uuid, nvml_gpus[i].uuid)) {
			*device = &nvml_gpus[i];
			return NVML_SUCCESS;
		}
	return NVML_ERROR_NOT_FOUND;
}

/* "domain:bus:slot.function", "bus:slot.function", or either without the function */
nvmlReturn_t own_nvmlDeviceGetHandleByPciBusId(const char *id, nvmlDevice_t *device)
{
	unsigned int domain, bus, slot, i;

	if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
		domain = 0;
		if (sscanf(id, "%x:%x", &bus, &slot) != 2)
			return NVML_ERROR_INVALID_ARGUMENT;
	}
	for (i = 0; i < nvml_count; i++) {
		const struct nvml_gpu *g = &nvml_gpus[i];

		if (g->domain == domain && g->bus == bus && g->slot == slot) {
			*device = &nvml_gpus[i];
			return NVML_SUCCESS;
		}
	}
	return NVML_ERROR_NOT_FOUND;
}

/* ------------------------------------------------------------------ PCI */

static unsigned int pci_id(const struct nvml_gpu *gpu)
{
	const struct kvgpu_usage *u;

	if (nvml_usage(gpu, &u) || !u->pci_device)
		return 0;
	return (unsigned int)u->pci_device << 16 | VENDOR_NVIDIA;
}

nvmlReturn_t own_nvmlDeviceGetPciInfo_v3(struct nvml_gpu *gpu, nvmlPciInfo_t *pci)
{
	memset(pci, 0, sizeof(*pci));
	snprintf(pci->busIdLegacy, sizeof(pci->busIdLegacy), "%04X:%02X:%02X.0",
		 gpu->domain & 0xffff, gpu->bus & 0xff, gpu->slot & 0xff);
	snprintf(pci->busId, sizeof(pci->busId), "%08X:%02X:%02X.0", gpu->domain, gpu->bus & 0xff,
		 gpu->slot & 0xff);
	pci->domain = gpu->domain;
	pci->bus = gpu->bus;
	pci->device = gpu->slot;
	pci->pciDeviceId = pci_id(gpu);
	return NVML_SUCCESS;
}

/* older structs are the begin of the new one */
static nvmlReturn_t pci_begin(struct nvml_gpu *gpu, nvmlPciInfo_t *pci, size_t bytes)
{
	nvmlPciInfo_t all;
	nvmlReturn_t r = own_nvmlDeviceGetPciInfo_v3(gpu, &all);

	if (!r)
		memcpy(pci, &all, bytes);
	return r;
}

nvmlReturn_t own_nvmlDeviceGetPciInfo(struct nvml_gpu *gpu, nvmlPciInfo_t *pci)
{
	return pci_begin(gpu, pci, offsetof(nvmlPciInfo_t, pciSubSystemId));
}

nvmlReturn_t own_nvmlDeviceGetPciInfo_v2(struct nvml_gpu *gpu, nvmlPciInfo_t *pci)
{
	return pci_begin(gpu, pci, offsetof(nvmlPciInfo_t, busId));
}

nvmlReturn_t own_nvmlDeviceGetPciInfoExt(struct nvml_gpu *gpu, nvmlPciInfoExt_t *pci)
{
	nvmlPciInfo_t all;

	if (pci->version != NVML_VERSION(nvmlPciInfoExt_t, 1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	own_nvmlDeviceGetPciInfo_v3(gpu, &all);
	*pci = (nvmlPciInfoExt_t){
		.version = pci->version,
		.domain = all.domain,
		.bus = all.bus,
		.device = all.device,
		.pciDeviceId = all.pciDeviceId,
		.baseClass = CLASS_DISPLAY,
		.subClass = SUBCLASS_3D,
	};
	memcpy(pci->busId, all.busId, sizeof(pci->busId));
	return NVML_SUCCESS;
}

/* what the link's ends can do, for what it does now, too: that changes with others' work */
static long long link_of(const struct nvml_gpu *gpu, bool width)
{
	const struct kvgpu_usage *u;
	long long n = 0;

	if (!nvml_usage(gpu, &u))
		n = width ? u->link.width : u->link.generation;
	return n ? n : VALUE_UNKNOWN;
}

long long nvml_link_generation(const struct nvml_gpu *gpu)
{
	return link_of(gpu, false);
}

long long nvml_link_width(const struct nvml_gpu *gpu)
{
	return link_of(gpu, true);
}

/*
 * No program here reaches another GPU's memory by NVSwitch, whatever the card's fabric is. Programs
 * take an error for a broken driver, and this state as one without a fabric.
 */
nvmlReturn_t own_nvmlDeviceGetGpuFabricInfo(struct nvml_gpu *gpu, nvmlGpuFabricInfo_t *info)
{
	*info = (nvmlGpuFabricInfo_t){ .state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED };
	return NVML_SUCCESS;
}

nvmlReturn_t own_nvmlDeviceGetGpuFabricInfoV(struct nvml_gpu *gpu, nvmlGpuFabricInfoV_t *info)
{
	const unsigned int version = info->version;
	const size_t short_bytes = offsetof(nvmlGpuFabricInfoV_t, healthSummary);

	if (version != NVML_VERSION(nvmlGpuFabricInfoV_t, 3) && version != (short_bytes | 2 << 24))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	memset(info, 0, version & 0xffffff);
	info->version = version;
	info->state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED;
	return NVML_SUCCESS;
}

/* ------------------------------------------------------------------ what CUDA tells */

nvmlReturn_t own_nvmlDeviceGetCudaComputeCapability(struct nvml_gpu *gpu, int *major, int *minor)
{
	*major = gpu->major;
	*minor = gpu->minor;
	return NVML_SUCCESS;
}

/* Kepler 2, Maxwell 3, Pascal 4, Volta 5, Turing 6, Ampere 7, Ada 8, Hopper 9 */
long long nvml_architecture(const struct nvml_gpu *gpu)
{
	switch (gpu->major) {
	case 3:
		return 2;
	case 5:
		return 3;
	case 6:
		return 4;
	case 7:
		return gpu->minor < 5 ? 5 : 6;
	case 8:
		return gpu->minor < 9 ? 7 : 8;
	case 9:
		return 9;
	default:
		return 0xffffffff; /* its value for all others */
	}
}

long long nvml_attribute(const struct nvml_gpu *gpu, int attribute)
{
	int value;

	return cuDeviceGetAttribute(&value, attribute, gpu->dev) ? VALUE_UNKNOWN : value;
}

long long nvml_max_clock(const struct nvml_gpu *gpu, unsigned int type)
{
	enum { GRAPHICS = 0, SM = 1, MEMORY = 2 };
	long long khz = VALUE_UNKNOWN;

	if (type == GRAPHICS || type == SM)
		khz = nvml_attribute(gpu, ATTRIBUTE_CLOCK);
	else if (type == MEMORY)
		khz = nvml_attribute(gpu, ATTRIBUTE_MEMORY_CLOCK);
	return khz > 0 ? khz / 1000 : VALUE_UNKNOWN;
}

/* NCCL asks it of each pair, also of a GPU and itself, and ends where it is refused. */
nvmlReturn_t own_nvmlDeviceGetP2PStatus(struct nvml_gpu *gpu, nvmlDevice_t other,
					unsigned int index, unsigned int *status)
{
	int can = other == gpu;
	CUresult r = CUDA_SUCCESS;

	if (!nvml_gpu(other))
		return NVML_ERROR_INVALID_ARGUMENT;
	*status = NVML_P2P_STATUS_UNKNOWN;
	if (index != NVML_P2P_CAPS_INDEX_READ && index != NVML_P2P_CAPS_INDEX_WRITE)
		return NVML_SUCCESS;
	if (!can)
		r = cuDeviceCanAccessPeer(&can, gpu->dev, other->dev);
	*status = can ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
	return nvml_error(r);
}

/* each says for itself that it is not known */
nvmlReturn_t own_nvmlDeviceGetFieldValues(struct nvml_gpu *gpu, int count, nvmlFieldValue_t *values)
{
	int i;

	if (count <= 0)
		return NVML_ERROR_INVALID_ARGUMENT;
	for (i = 0; i < count; i++)
		values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
	return NVML_SUCCESS;
}

/* ------------------------------------------------------------------ sets of events */

nvmlReturn_t own_nvmlEventSetCreate(nvmlEventSet_t *set)
{
	nvmlEventSet_t made = calloc(1, 1);

	if (!made)
		return NVML_ERROR_MEMORY;
	*set = made;
	return NVML_SUCCESS;
}

nvmlReturn_t own_nvmlEventSetFree(nvmlEventSet_t set)
{
	if (!set)
		return NVML_ERROR_INVALID_ARGUMENT;
	free(set);
	return NVML_SUCCESS;
}

/* nvidia-smi -l registers what is supported: nothing */
nvmlReturn_t own_nvmlDeviceRegisterEvents(struct nvml_gpu *gpu, unsigned long long types,
					  nvmlEventSet_t set)
{
	if (!set)
		return NVML_ERROR_INVALID_ARGUMENT;
	return types ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int ms)
{
	struct timespec left = { ms / 1000, ms % 1000 * 1000000l };
	nvmlReturn_t r = nvml_enter();

	if (r)
		return r;
	nvml_leave(r);
	if (!set || !data)
		return NVML_ERROR_INVALID_ARGUMENT;
	nanosleep(&left, NULL);
	return NVML_ERROR_TIMEOUT;
}

nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int ms)
{
	return nvmlEventSetWait_v2(set, data, ms);
}
