/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample is the state of all GPUs and vGPUs of kvgpu, read once through sysfs. A missing number
 * is no error: vGPUs come and go while they are read, and older modules have fewer files.
 */
#ifndef KVGPU_TOOLS_SAMPLE_H
#define KVGPU_TOOLS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "plan.h"

struct value {
	bool known;
	int64_t n;
};

/* The unit of a number in sysfs. prometheus.c converts numbers to base units. */
enum unit {
	UNIT_ONE,
	UNIT_NS,
	UNIT_US,
	UNIT_MS,
	UNIT_MILLIDEGREE,
	UNIT_KHZ,
	UNIT_PPM,
	UNIT_PERCENT,
	UNIT_PAGES,
	UNIT_MIB
};

/*
 * A file in a directory kvgpu/ of sysfs, which has one number in unit @unit. @metric is its name
 * for Prometheus, to which prometheus.c adds the prefix kvgpu_gpu_ or kvgpu_vgpu_.
 */
struct field {
	const char *file;
	const char *metric;
	const char *label; /* value of label "kind"; NULL: no such label */
	enum unit unit;
	const char *help;
};

enum gpu_field {
	GPU_SLICE_US,
	GPU_WATCHDOG_MS,
	GPU_BUSY_NS,
	GPU_COPY_BUSY_NS,
	GPU_SWITCHES,
	GPU_ENGINE_RESETS,
	GPU_INTERRUPTS,
	GPU_TEMPERATURE,
	GPU_CORE_CLOCK,
	GPU_MEM_CLOCK,
	GPU_LOST,
	GPU_ROOM_VRAM,
	GPU_ROOM_BAR1,
	GPU_ROOM_BAR3,
	GPU_FIELDS
};

enum vgpu_field {
	VGPU_GPU_TIME,
	VGPU_COPY_TIME,
	VGPU_ENTITLEMENT,
	VGPU_WEIGHT,
	VGPU_CAP,
	VGPU_RUNNABLE,
	VGPU_SUSPENDED,
	VGPU_STRIKES,
	VGPU_SLICES,
	VGPU_PREEMPTS,
	VGPU_PREEMPT_TOTAL,
	VGPU_PREEMPT_MAX,
	/* vgpu_exits() adds up the numbers from VGPU_EXITS_BAR0_READ to VGPU_EXITS_CONFIG */
	VGPU_EXITS_BAR0_READ,
	VGPU_EXITS_BAR0_WRITE,
	VGPU_EXITS_BAR1_BAR3,
	VGPU_EXITS_CONFIG,
	VGPU_DOORBELLS_TRAPPED,
	VGPU_PAGE_FAULTS,
	VGPU_ZAPS,
	VGPU_HANDLER,
	VGPU_REGISTERS_UNLISTED,
	VGPU_REGISTERS_DENIED,
	VGPU_SHADOW_SYNCS,
	VGPU_SHADOW_TABLES,
	VGPU_SHADOW_BYTES,
	VGPU_SHADOW_COMPARED,
	VGPU_SHADOW_WRITTEN,
	VGPU_SHADOW_REJECTED,
	VGPU_TLB_FLUSHES,
	VGPU_PINNED_PAGES,
	VGPU_INTERRUPTS,
	VGPU_FAULTS,
	VGPU_FIELDS
};

extern const struct field gpu_fields[GPU_FIELDS];
extern const struct field vgpu_fields[VGPU_FIELDS];

#define TEXT_SIZE 64

/* a type of vGPU, and what one of this type takes */
struct gpu_type {
	char name[TEXT_SIZE];
	struct value available;
	struct plan_size size; /* all 0: not known */
};

#define GPU_TYPES 8

struct gpu {
	char address[TEXT_SIZE]; /* PCI address, 0000:01:00.0 */
	char policy[TEXT_SIZE]; /* empty: unknown */
	int64_t when_ns; /* monotonic clock when it was read */
	/* Inode number of the GPU's directory kvgpu/. It changes when the GPU is bound anew. */
	ino_t ino;
	struct value v[GPU_FIELDS];
	struct gpu_type types[GPU_TYPES]; /* by size, and then by name */
	size_t nr_types;
};

struct vgpu {
	char uuid[TEXT_SIZE];
	char gpu[TEXT_SIZE]; /* PCI address of its GPU; "?": unknown */
	char type[TEXT_SIZE]; /* name of its mdev type; empty: unknown */
	int64_t when_ns; /* monotonic clock when it was read */
	ino_t ino; /* of the vGPU's directory kvgpu/ */
	struct value v[VGPU_FIELDS];
};

/* @gpus is sorted by address, @vgpus by the address of the GPU and then by UUID. */
struct sample {
	struct gpu *gpus;
	struct vgpu *vgpus;
	size_t nr_gpus, nr_vgpus;
};

/*
 * Read the sysfs below @root. Print a message and return false only if @root itself can't be read,
 * or memory ran out.
 */
bool sample_take(struct sample *s, const char *root);
void sample_free(struct sample *s);

#endif
