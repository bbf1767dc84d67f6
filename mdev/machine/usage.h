/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Usage samples: readings of the engines' status at random times (usage.c). The sampler's thread
 * takes them without a lock. The slicer uses them in its next poll (poll.c). The status names a
 * channel or group (TSG) by its id. Until the poll the channel may be unbound, and its id may be
 * another vGPU's. So the vGPU of the id is noted in time: vmach_samples_name().
 */
#ifndef KVGPU_MACHINE_USAGE_H
#define KVGPU_MACHINE_USAGE_H

#include <linux/types.h>

#include "kvgpu/types.h"

struct kvgpu_chip;
struct machine_slicer;
struct task_struct;

/* most samples that are kept after .first */
#define LATE_SAMPLES 32

/* One sample: the engines' status at a random time. */
struct machine_usage_sample {
	u64 at; /* ktime in ns */
	/* by engine: its status (PFIFO_STATUS_*); 0 if not on the graphics engine's runlist */
	u32 engine[KVGPU_MAX_ENGINE];
	/* by engine: id of the vGPU for which it worked; 0: none; noted by vmach_samples_name() */
	u32 vgpu[KVGPU_MAX_ENGINE];
};

/*
 * The samples that the next poll will use. The sampler's thread writes the members after .thread,
 * except .named, .named_at and .vgpu of the samples, which are the slicer's.
 */
struct machine_sampler {
	struct task_struct *thread; /* set from vmach_sampler_start() to _stop() */
	/* value of slicer.sample_at for which .first was read; written after .first */
	u64 taken;
	struct machine_usage_sample first;
	/* further samples, taken until the slicer polls; .nr_late is written after each */
	struct machine_usage_sample late[LATE_SAMPLES];
	u32 nr_late;
	u64 late_at; /* drawn time of the next late sample, ktime in ns; ~0: none */
	/* .vgpu is noted in so many samples, from .first on, if .taken is .named_at */
	u32 named;
	u64 named_at;
};

/*
 * Tells whether .first was read for the present slicer->sample_at. For the slicer.
 */
bool vmach_sample_taken(const struct machine_slicer *s);
/* Returns the number of samples in .late; 0 if .first was not yet read for slicer->sample_at. */
u32 vmach_late_samples_count(const struct machine_slicer *s);
/*
 * Notes in the samples that were taken which vGPUs they name. Call it in a poll that uses samples,
 * and before the chip's id of a channel or group loses its vGPU. For the slicer. True: .first
 * was read for the present slicer->sample_at.
 */
bool vmach_samples_name(struct kvgpu_chip *chip);
/*
 * Returns which of the samples that the next poll will use were taken from time @from to @to, ktime
 * in ns: bit 0 for .first, bit 1 + i for .late[i]. For the slicer.
 */
u64 vmach_samples_find(struct kvgpu_chip *chip, u64 from, u64 to);
/* Wakes the sampler's thread. Call it when slicer->sample_at was drawn. */
void vmach_sampler_kick(struct machine_slicer *s);
int vmach_sampler_start(struct kvgpu_chip *chip);
void vmach_sampler_stop(struct kvgpu_chip *chip);

#endif
