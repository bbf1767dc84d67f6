// SPDX-License-Identifier: MIT
/*
 * Attributes of devices, as a Tesla K20m has them (CUDA C programming guide, compute capability
 * 3.5; the K20m's board specification for clocks).
 */
#include <limits.h>

#include "../syscalls/block.h"
#include "driver.h"

enum { SMX = INT_MIN, BUS, SLOT, DOMAIN, PCI_ID, APART }; /* in values[]: the asked device's own */
enum { VENDOR = 0x10de };

static const struct {
	short attribute;
	int value;
} values[] = {
	{ 1, 1024 }, /* threads of a block */
	{ 2, 1024 },
	{ 3, 1024 },
	{ 4, 64 },
	{ 5, 2147483647 },
	{ 6, 65535 },
	{ 7, 65535 },
	{ 8, 49152 }, /* shared memory of a block */
	{ 9, 65536 }, /* constant memory */
	{ 10, 32 }, /* warp */
	{ 11, 2147483647 }, /* pitch */
	{ 12, 65536 }, /* registers of a block */
	{ 13, 705500 }, /* clock, kHz */
	{ 14, 512 }, /* alignment of textures */
	{ 15, APART }, /* copies beside kernels */
	{ 16, SMX },
	{ 17, 0 }, /* kernels have no time limit */
	{ 18, 0 }, /* not an integrated GPU */
	{ 19, 1 }, /* mapped host memory */
	{ 20, 0 }, /* compute mode: default */
	/* largest textures: 1D, 2D, 3D */
	{ 21, 65536 },
	{ 22, 65536 },
	{ 23, 65536 },
	{ 24, 4096 },
	{ 25, 4096 },
	{ 26, 4096 },
	{ 27, 16384 },
	{ 28, 16384 },
	{ 29, 2048 }, /* 2D layered textures */
	{ 30, 512 }, /* alignment of surfaces */
	{ 31, 1 }, /* kernels side by side; here they run one by one */
	{ 32, 0 }, /* ECC: nouveau does not enable it */
	{ 33, BUS },
	{ 34, SLOT },
	{ 35, 0 }, /* TCC driver */
	{ 36, 2600000 }, /* memory clock, kHz */
	{ 37, 320 }, /* bits of the memory bus */
	{ 38, 1310720 }, /* bytes of the L2 */
	{ 39, 2048 }, /* threads of an SM */
	{ 40, APART }, /* copy queues that work beside kernels */
	{ 41, 1 }, /* unified addresses */
	{ 42, 16384 },
	{ 43, 2048 }, /* 1D layered textures */
	{ 44, 1 },
	{ 45, 16384 },
	{ 46, 16384 }, /* texture gather */
	{ 47, 2048 },
	{ 48, 2048 },
	{ 49, 16384 }, /* 3D textures, alternate sizes */
	{ 50, DOMAIN },
	{ 51, 32 }, /* alignment of a texture's pitch */
	{ 52, 16384 },
	{ 53, 16384 },
	{ 54, 2046 }, /* cube map textures */
	/* largest surfaces */
	{ 55, 65536 },
	{ 56, 65536 },
	{ 57, 32768 },
	{ 58, 65536 },
	{ 59, 32768 },
	{ 60, 2048 },
	{ 61, 65536 },
	{ 62, 2048 },
	{ 63, 65536 },
	{ 64, 32768 },
	{ 65, 2048 },
	{ 66, 32768 },
	{ 67, 32768 },
	{ 68, 2046 },
	/* largest linear textures */
	{ 69, 134217728 },
	{ 70, 65000 },
	{ 71, 65000 },
	{ 72, 1048544 },
	{ 73, 16384 },
	{ 74, 16384 }, /* mipmapped textures */
	{ 75, 3 },
	{ 76, 5 }, /* compute capability */
	{ 77, 16384 },
	{ 78, 0 }, /* priorities of streams */
	{ 79, 1 },
	{ 80, 1 }, /* L1 caches global and local memory */
	{ 81, 49152 },
	{ 82, 65536 }, /* shared memory and registers of an SM */
	/* managed memory */
	{ 83, 1 },
	{ 84, 0 },
	{ 85, 0 }, /* not a board of several GPUs */
	{ 86, 0 }, /* no native atomics of the host */
	{ 87, 3 }, /* speed of single to double precision */
	/* 91, registered memory at its host address on the GPU, is 0 */
	{ 97, 49152 }, /* shared memory of a block, if it asks for more */
	{ 99, 1 }, /* memory can be registered */
	{ 106, 16 }, /* blocks of an SM */
	/* 125, events of other processes, is 0 */
	{ 126, 1 }, /* domains of memory order */
	{ 134, -1 }, /* the host's NUMA node: not known */
	{ 139, PCI_ID },
};

enum { LAST_ATTRIBUTE = SYSCALL_ATTRIBUTES };

static int resolve(int value, const struct device_facts *f)
{
	switch (value) {
	case SMX:
		return f->nr_smx;
	case BUS:
		return f->bus;
	case SLOT:
		return f->slot;
	case DOMAIN:
		return f->domain;
	case PCI_ID:
		return f->pci_id << 16 | VENDOR;
	case APART:
		return f->copies_apart;
	default:
		return value;
	}
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
	const struct device_facts *f = driver_device(dev);
	CUresult r = driver_ready();
	unsigned int i;

	if (r)
		return r;
	if (!value || attribute < 1 || attribute > LAST_ATTRIBUTE)
		return CUDA_ERROR_INVALID_VALUE;
	if (!f)
		return CUDA_ERROR_INVALID_DEVICE;
	*value = 0; /* what is not in the table is 0 */
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i].attribute == (int)attribute)
			*value = resolve(values[i].value, f);
	return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!prop)
		return CUDA_ERROR_INVALID_VALUE;
	if (!driver_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*prop = (CUdevprop){
		.maxThreadsPerBlock = 1024,
		.maxThreadsDim = { 1024, 1024, 64 },
		.maxGridSize = { 2147483647, 65535, 65535 },
		.sharedMemPerBlock = 49152,
		.totalConstantMemory = 65536,
		.SIMDWidth = 32,
		.memPitch = 2147483647,
		.regsPerBlock = 65536,
		.clockRate = 705500,
		.textureAlign = 512,
	};
	return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev)
{
	CUresult r = driver_ready();

	if (r)
		return r;
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	if (!driver_device(dev))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = 3;
	*minor = 5;
	return CUDA_SUCCESS;
}
