/* SPDX-License-Identifier: GPL-2.0-only */
/* Rates between two samples; NAN: not known. */
#ifndef KVGPU_TOOLS_RATES_H
#define KVGPU_TOOLS_RATES_H

#include "sample.h"

struct vgpu_rates {
	double share; /* GPU time / time between the samples; 1: all of the time */
	double copies; /* the same of a copy engine's time */
	double slices_s; /* slices of GPU time per second */
	double exits_s; /* accesses that left the guest, per second (vgpu_exits()) */
	/*
	 * Mean time, in ns, that taking the vGPU off the GPU took between the samples. NAN if that
	 * did not happen.
	 */
	double preempt_ns;
};

/*
 * Part of the time between sample @before and @now in which the GPU worked for any vGPU; 1: all of
 * the time. NAN if @before is NULL or does not have this GPU.
 */
double gpu_busy(const struct sample *before, const struct gpu *now);
/* Rates of @now since @before. All are NAN if @before is NULL or does not have this vGPU. */
struct vgpu_rates vgpu_rates(const struct sample *before, const struct vgpu *now);

/*
 * The number of accesses that left the guest: the sum of the fields VGPU_EXITS_*. It is unknown if
 * one of them is unknown.
 */
struct value vgpu_exits(const struct vgpu *v);

#endif
