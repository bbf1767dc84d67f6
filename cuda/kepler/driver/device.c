// SPDX-License-Identifier: MIT
/* Devices: how many, their names and places. */
#include <stdio.h>

#include "driver.h"

enum { P2P_FIRST = 1, P2P_LAST = 4 };

static CUresult facts(CUdevice dev, const struct device_facts **out)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	*out = driver_device(dev);
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
	const struct device_facts *f;
	CUresult r = facts(ordinal, &f);

	if (r)
		return r;
	if (!device)
		return CUDA_ERROR_INVALID_VALUE;
	*device = ordinal;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	*count = driver_count();
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
	const struct device_facts *f;
	CUresult r = facts(dev, &f);

	if (r)
		return r;
	if (!name || len <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(name, len, "%s", f->name);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev)
{
	const struct device_facts *f;
	CUresult r = facts(dev, &f);

	if (r)
		return r;
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	uuid_of(f, uuid);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev)
{
	return cuDeviceGetUuid(uuid, dev);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev)
{
	const struct device_facts *f;
	CUresult r = facts(dev, &f);

	if (r)
		return r;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	*bytes = f->vram;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev)
{
	const struct device_facts *f;
	CUresult r = facts(dev, &f);

	if (r)
		return r;
	if (!id || len < 13)
		return CUDA_ERROR_INVALID_VALUE;
	snprintf(id, len, "%04x:%02x:%02x.0", f->domain, f->bus, f->slot);
	return CUDA_SUCCESS;
}

/* "domain:bus:slot.function", "bus:slot.function" or "domain:bus:slot" */
CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *id)
{
	unsigned int domain, bus, slot, function, i;
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!dev || !id)
		return CUDA_ERROR_INVALID_VALUE;
	if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
		domain = 0;
		if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2)
			return CUDA_ERROR_INVALID_VALUE;
	}
	for (i = 0; i < driver_count(); i++) {
		const struct device_facts *f = driver_device(i);

		if (f->domain == domain && f->bus == bus && f->slot == slot) {
			*dev = i;
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
	const struct device_facts *f;
	CUresult r = facts(dev, &f);

	if (!r)
		r = facts(peer, &f);
	if (r)
		return r;
	if (!can)
		return CUDA_ERROR_INVALID_VALUE;
	*can = 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice from,
				 CUdevice to)
{
	const struct device_facts *f;
	CUresult r = facts(from, &f);

	if (!r)
		r = facts(to, &f);
	if (r)
		return r;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	if (from == to)
		return CUDA_ERROR_INVALID_DEVICE;
	if (attribute < P2P_FIRST || attribute > P2P_LAST)
		return CUDA_ERROR_INVALID_VALUE;
	*value = 0;
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *texels, CUarray_format format,
					    unsigned int channels, CUdevice dev)
{
	const struct device_facts *f;
	struct texel texel;
	CUresult r = facts(dev, &f);

	if (r)
		return r;
	if (!texels || !texel_of(format, channels, &texel))
		return CUDA_ERROR_INVALID_VALUE;
	*texels = 1 << 27;
	return CUDA_SUCCESS;
}
