/* SPDX-License-Identifier: MIT */
/* The inside of libnvidia-ml.so.1. */
#ifndef KVGPU_NVML_INSIDE_H
#define KVGPU_NVML_INSIDE_H

#include <stdbool.h>

#include "../api/usage.h"
#include "nvml.h"
#include "nvml_calls.h"

enum { GPUS_MAX = 256 }; /* as many as remote/'s libcuda.so.1 has devices */
#define VALUE_UNKNOWN INT64_MIN

/* CUdevice_attribute; attributes of a device that NVML has, too */
enum {
	ATTRIBUTE_CLOCK = 13, /* kHz */
	ATTRIBUTE_COMPUTE_MODE = 20,
	ATTRIBUTE_MEMORY_CLOCK = 36, /* kHz */
	ATTRIBUTE_BUS_WIDTH = 37,
};

/* nvmlInit() fills it in with the lock held; from then on it stays */
struct nvml_gpu {
	CUdevice dev;
	char name[96], uuid[48];
	unsigned int domain, bus, slot;
	int major, minor;
};

/*
 * session.c. nvml_enter(): takes the lock, unless it gives an error; nvml_leave(): releases it, and
 * gives @r. Between the two the lock guards what follows.
 */
nvmlReturn_t nvml_enter(void);
nvmlReturn_t nvml_leave(nvmlReturn_t r);
extern unsigned int nvml_count;
extern struct nvml_gpu nvml_gpus[GPUS_MAX];
/* NULL: @device is no device */
struct nvml_gpu *nvml_gpu(nvmlDevice_t device);
nvmlReturn_t nvml_error(CUresult r);

/* device.c */
nvmlReturn_t nvml_text(const char *text, char *out, unsigned int length);
long long nvml_attribute(const struct nvml_gpu *gpu, int attribute);
long long nvml_architecture(const struct nvml_gpu *gpu);
long long nvml_link_generation(const struct nvml_gpu *gpu);
long long nvml_link_width(const struct nvml_gpu *gpu);
long long nvml_max_clock(const struct nvml_gpu *gpu, unsigned int type);

/* usage.c; *out is valid until nvml_leave() */
nvmlReturn_t nvml_usage(const struct nvml_gpu *gpu, const struct kvgpu_usage **out);

#endif
