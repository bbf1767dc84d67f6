/* SPDX-License-Identifier: MIT */
/*
 * What a libcuda.so.1 of ours tells libnvidia-ml.so.1 (cuda/nvml) besides the driver API: memory
 * and processes, without a context. remote/'s libcuda.so.1 has it, too. The two libraries may be of
 * different builds: the caller says how large its struct is.
 */
#ifndef KVGPU_CUDA_DRIVER_USAGE_H
#define KVGPU_CUDA_DRIVER_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"

enum { USAGE_PROCESSES = 64 };

struct kvgpu_usage {
	uint64_t total, used; /* bytes that the tenant may have, and that its programs have */
	uint16_t pci_device; /* its id; 0: not known */
	/*
	 * The GPU is one of this machine, so its processes are in /proc; else .nr_processes are in
	 * .process, with numbers that the tenant's programs gave.
	 */
	bool here;
	uint32_t nr_processes;
	struct kvgpu_usage_process {
		uint64_t bytes;
		uint32_t pid;
	} process[USAGE_PROCESSES];
};

/*
 * After cuInit(). @bytes: sizeof(*out); else CUDA_ERROR_NOT_SUPPORTED: the caller is of another
 * build.
 */
API CUresult kvgpu_device_usage(CUdevice dev, struct kvgpu_usage *out, size_t bytes);

#endif
