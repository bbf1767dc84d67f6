// SPDX-License-Identifier: GPL-2.0-only
/*
 * Observations of the engines' status while a channel or group is driven off the chip. The slicer
 * (the thread that gives the chip to vGPUs in turns: slice.c) makes no poll meanwhile. The
 * observations tell for which vGPUs the engines worked, so that these vGPUs can be charged. An
 * observation is made without a lock, and finds the vGPU by chip->has_id.
 */
#include "mdev/machine/internal.h"
#include "mdev/machine/observe.h"

void vmach_engines_read(struct kvgpu_gpu *gpu, u32 *engine)
{
	u8 runl = vmach_gr_runl_get(gpu), e;

	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		engine[e] = gpu->hw.topo.engine[e].runl == runl ?
				    kvgpu_hw_engine_status(&gpu->hw, e) :
				    0;
}

void vmach_obs_begin(struct machine_obs *w, struct kvgpu_gpu *gpu)
{
	*w = (struct machine_obs){ .gpu = gpu };
}

void vmach_obs_watch(struct machine_obs *w, bool tsg, u16 id)
{
	w->watched = FIELD_PREP(PFIFO_STATUS_ID, id) | (tsg ? PFIFO_STATUS_TSG : 0);
	w->absent = 0;
}

/*
 * Adds 1 to the .seen of vGPU @vgpu, once in an observation, however many engines work for it.
 * True: this was the first time in this observation.
 */
static bool vgpu_observed(struct machine_obs *w, u32 vgpu)
{
	u32 i;

	for (i = 0; i < w->nr && w->at[i].vgpu != vgpu; i++)
		;
	if (i == OBS_MAX)
		return true;
	if (i == w->nr) {
		memset(&w->at[i], 0, sizeof(w->at[i]));
		w->at[i].vgpu = vgpu;
		w->nr++;
	}
	if (w->at[i].last == w->nr_obs)
		return false;
	w->at[i].last = w->nr_obs;
	w->at[i].seen++;
	return true;
}

/* Notes in @w that the last observation saw engines work for @vgpus vGPUs. */
static void obs_end(struct machine_obs *w, u32 vgpus)
{
	u32 i;

	w->worked += vgpus > 0;
	for (i = 0; i < w->nr && vgpus == 1; i++)
		w->at[i].alone += w->at[i].last == w->nr_obs;
}

/* Tells whether @st names a channel of the host. */
static bool names_host(u32 st)
{
	return !(st & PFIFO_STATUS_TSG) && FIELD_GET(PFIFO_STATUS_ID, st) < KVGPU_ID_BLOCK;
}

void vmach_obs_add(struct machine_obs *w, const u32 *engine)
{
	const u32 named = PFIFO_STATUS_TSG | PFIFO_STATUS_ID;
	bool found = false;
	u32 st, vgpu, vgpus = 0;
	u8 e;

	w->nr_obs++;
	for (e = 0; e < w->gpu->hw.topo.nr_engines; e++) {
		st = engine[e];
		if (!(st & PFIFO_STATUS_BUSY) || !(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE)))
			continue;
		found |= !((w->watched ^ st) & named);
		vgpu = READ_ONCE(w->gpu->chip->has_id[!!(st & PFIFO_STATUS_TSG)]
						     [FIELD_GET(PFIFO_STATUS_ID, st)]);
		if (vgpu)
			vgpus += vgpu_observed(w, vgpu);
		else if (!names_host(st))
			w->unowned++;
	}
	w->absent += !found;
	obs_end(w, vgpus);
}

void vmach_engines_observe(void *arg)
{
	u32 engine[KVGPU_MAX_ENGINE];
	struct machine_obs *w = arg;
	struct machine_switch *sw = &w->gpu->chip->slicer.sw;

	vmach_engines_read(w->gpu, engine);
	vmach_obs_add(w, engine);
	/* a switch waits while the slicer waits for something else */
	if (sw->nr && w != &sw->obs)
		vmach_obs_add(&sw->obs, engine);
}

u32 vmach_obs_count(const struct machine_obs *w, const struct kvgpu_machine *m)
{
	const struct machine_slicer *s = &w->gpu->chip->slicer;
	u32 i, count = !s->shared && s->owner == m ? w->unowned : 0;

	for (i = 0; i < w->nr; i++)
		if (w->at[i].vgpu == m->v->id)
			count += w->at[i].seen;
	return min(count, w->nr_obs);
}

u32 vmach_obs_others(const struct machine_obs *w, const struct kvgpu_machine *m)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->at[i].vgpu == m->v->id)
			return w->worked - w->at[i].alone;
	return w->worked;
}
