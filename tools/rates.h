/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rates between two samples. A number that can't be known (the first look, a file that is not
 * there) is NAN.
 */
#ifndef KVGPU_TOOLS_RATES_H
#define KVGPU_TOOLS_RATES_H

#include "sample.h"

struct vgpu_rates {
	double share;		/* GPU time as a part of the time between the samples, 0 to 1 */
	double slices_s;	/* per second */
	double exits_s;
	double preempt_ns;	/* mean time of the preempts between the samples */
};

/* part of the time in which the GPU worked for any vGPU, 0 to 1 */
double gpu_busy(const struct sample *before, const struct gpu *now);
/* @before may be empty, or NULL */
struct vgpu_rates vgpu_rates(const struct sample *before, const struct vgpu *now);

/* the sum of all kinds of exits; unknown if one kind is */
struct value vgpu_exits(const struct vgpu *v);

#endif
