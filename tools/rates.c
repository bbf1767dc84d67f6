// SPDX-License-Identifier: GPL-2.0-only
/* Computes rates from the counters of two samples. */
#include "rates.h"

#include <math.h>
#include <string.h>

/* Growth of a counter. */
static double growth(struct value before, struct value now)
{
	if (!before.known || !now.known || now.n < before.n)
		return NAN;
	return (double)now.n - (double)before.n;
}

static double a_second(struct value before, struct value now, int64_t ns)
{
	return ns > 0 ? growth(before, now) * 1e9 / ns : NAN;
}

double gpu_busy(const struct sample *before, const struct gpu *now)
{
	for (size_t i = 0; before && i < before->nr_gpus; i++) {
		const struct gpu *b = &before->gpus[i];

		if (!strcmp(b->address, now->address) && b->ino == now->ino)
			return a_second(b->v[GPU_BUSY_NS], now->v[GPU_BUSY_NS],
					now->when_ns - b->when_ns) /
			       1e9;
	}
	return NAN;
}

struct value vgpu_exits(const struct vgpu *v)
{
	struct value sum = { true, 0 };

	for (int i = VGPU_EXITS_BAR0_READ; i <= VGPU_EXITS_CONFIG; i++) {
		sum.known &= v->v[i].known;
		sum.n = (int64_t)((uint64_t)sum.n + (uint64_t)v->v[i].n);
	}
	return sum;
}

/*
 * A vGPU that was removed and made again with the same UUID is another vGPU: its directory kvgpu/
 * has another inode number.
 */
static const struct vgpu *find_before(const struct sample *before, const struct vgpu *now)
{
	for (size_t i = 0; before && i < before->nr_vgpus; i++) {
		const struct vgpu *b = &before->vgpus[i];

		if (!strcmp(b->uuid, now->uuid) && !strcmp(b->gpu, now->gpu) && b->ino == now->ino)
			return b;
	}
	return NULL;
}

struct vgpu_rates vgpu_rates(const struct sample *before, const struct vgpu *now)
{
	struct vgpu_rates r = { NAN, NAN, NAN, NAN, NAN };
	const struct vgpu *b = find_before(before, now);
	double preempts;
	int64_t ns;

	if (!b)
		return r;
	ns = now->when_ns - b->when_ns;
	r.share = a_second(b->v[VGPU_GPU_TIME], now->v[VGPU_GPU_TIME], ns) / 1e9;
	r.copies = a_second(b->v[VGPU_COPY_TIME], now->v[VGPU_COPY_TIME], ns) / 1e9;
	r.slices_s = a_second(b->v[VGPU_SLICES], now->v[VGPU_SLICES], ns);
	r.exits_s = a_second(vgpu_exits(b), vgpu_exits(now), ns);
	preempts = growth(b->v[VGPU_PREEMPTS], now->v[VGPU_PREEMPTS]);
	if (preempts > 0)
		r.preempt_ns =
			growth(b->v[VGPU_PREEMPT_TOTAL], now->v[VGPU_PREEMPT_TOTAL]) / preempts;
	return r;
}
