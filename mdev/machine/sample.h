/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples of the engines' status, at times that no guest can foresee: sample.c. The sampler's
 * thread takes them without a lock; the slicer's thread uses them with gpu->lock held.
 */
#ifndef KVGPU_MACHINE_SAMPLE_H
#define KVGPU_MACHINE_SAMPLE_H

#include <linux/types.h>

#include "kvgpu/types.h"

struct kvgpu_chip;
struct machine_slicer;
struct task_struct;

/* most samples that are kept beside the first one; the last of them then counts until the look */
#define LATE_SAMPLES	32

/* The engines' status at a time that no guest could foresee. */
struct machine_sample {
	u64 at;		/* ktime in ns */
	/* status of the engines on GR's runlist; 0 for other engines */
	u32 engine[KVGPU_MAX_ENGINE];
};

/* Samples that the next look will use. Only the thread of sample.c writes these members. */
struct machine_sampler {
	struct task_struct *thread;	/* set from vmach_sampler_start() to _stop() */
	u64 taken;	/* slicer.sample_at for which .first was read; written last */
	struct machine_sample first;
	/* samples after .first, while the slicer does not come; .nr_late is written last */
	struct machine_sample late[LATE_SAMPLES];
	u32 nr_late;
	u64 late_at;	/* drawn time of the next late sample, ktime in ns; ~0: none */
};

/* For the slicer's thread: tells whether the sampler has read the engines for slicer->sample_at. */
bool vmach_sample_taken(const struct machine_slicer *s);
/* Returns the number of late samples; 0 if the sample for slicer->sample_at is still to come. */
u32 vmach_late_samples_count(const struct machine_slicer *s);
/* Call it when a new slicer->sample_at was drawn. */
void vmach_sampler_kick(struct machine_slicer *s);
int vmach_sampler_start(struct kvgpu_chip *chip);
void vmach_sampler_stop(struct kvgpu_chip *chip);

#endif
