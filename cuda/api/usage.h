/* SPDX-License-Identifier: MIT */
/*
 * What the objects of libcuda.so.1 tell libnvidia-ml.so.1 (cuda/nvml), which is linked with a copy
 * of them, besides the driver API: memory and processes, without a context. remote/client has it,
 * too.
 */
#ifndef KVGPU_CUDA_API_USAGE_H
#define KVGPU_CUDA_API_USAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api.h"
#include "pcie.h"

enum { USAGE_PROCESSES = 64 };

struct kvgpu_usage {
	uint64_t total, used; /* bytes that the tenant may have, and that its programs have */
	uint16_t pci_device; /* its id; 0: not known */
	struct pcie_link link;
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
 * In the place of cuInit(), for questions about devices and nothing else: CUDA_VISIBLE_DEVICES
 * hides none, and a child of fork() may call it again, if no thread asked anything at the fork.
 */
CUresult kvgpu_usage_init(void);
CUresult kvgpu_device_usage(CUdevice dev, struct kvgpu_usage *out);

#endif
