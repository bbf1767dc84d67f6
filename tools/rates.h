/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rates between two samples. A number that can't be known is NAN: for example at the first sample,
 * or if a file of sysfs is missing.
 */
#ifndef KVGPU_TOOLS_RATES_H
#define KVGPU_TOOLS_RATES_H

#include "sample.h"

struct vgpu_rates {
	double share;		/* GPU time / time between the samples, 0 to 1 */
	double slices_s;	/* per second */
	double exits_s;
	double preempt_ns;	/* mean time of a preempt between the samples */
};

/* Part of the time between the samples in which the GPU worked for any vGPU, 0 to 1. */
double gpu_busy(const struct sample *before, const struct gpu *now);
/* Rates of @now since @before. If @before is empty or NULL, all rates are NAN. */
struct vgpu_rates vgpu_rates(const struct sample *before, const struct vgpu *now);

/* The sum of all kinds of exits. It is unknown if the number of one kind is unknown. */
struct value vgpu_exits(const struct vgpu *v);

#endif
