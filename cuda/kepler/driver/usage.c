// SPDX-License-Identifier: MIT
/* What libnvidia-ml.so.1 asks besides the driver API. */
#include "../../api/usage.h"

#include <string.h>

#include "driver.h"

CUresult kvgpu_device_usage(CUdevice dev, struct kvgpu_usage *out)
{
	const struct device_facts *f;
	char bus_id[32] = "";
	CUresult r = driver_ready();

	if (r)
		return r;
	f = driver_device(dev);
	if (!f)
		return CUDA_ERROR_INVALID_DEVICE;
	memset(out, 0, sizeof(*out));
	out->here = true;
	out->pci_device = f->pci_id;
	if (!cuDeviceGetPCIBusId(bus_id, sizeof(bus_id), dev))
		out->link = pcie_link(PCIE_DEVICES, bus_id);
	out->total = f->vram;
	out->used = backend->in_use ? backend->in_use(driver_gpu(dev)) : 0;
	if (out->used > out->total)
		out->used = out->total;
	return CUDA_SUCCESS;
}
