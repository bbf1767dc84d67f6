// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readings of the engines' status while a channel or group is driven off the chip. The slicer (the
 * thread that gives the chip to vGPUs in turns: slice.c) makes no poll meanwhile. The readings tell
 * for which vGPUs the engines worked, so that these vGPUs can be charged. A reading is made without
 * a lock, and finds the vGPU by chip->has_id.
 */
#include "mdev/machine/internal.h"
#include "mdev/machine/seen.h"

void vmach_engines_read(struct kvgpu_gpu *gpu, u32 *engine)
{
	u8 runl = vmach_gr_runl_get(gpu), e;

	for (e = 0; e < gpu->hw.topo.nr_engines; e++)
		engine[e] = gpu->hw.topo.engine[e].runl == runl ?
				    kvgpu_hw_engine_status(&gpu->hw, e) :
				    0;
}

void vmach_seen_begin(struct machine_seen *w, struct kvgpu_gpu *gpu)
{
	*w = (struct machine_seen){ .gpu = gpu };
}

void vmach_seen_ask(struct machine_seen *w, bool tsg, u16 id)
{
	w->asked = FIELD_PREP(PFIFO_STATUS_ID, id) | (tsg ? PFIFO_STATUS_TSG : 0);
	w->absent = 0;
}

/*
 * Adds 1 to the .polls of vGPU @vgpu, once in a reading, however many engines work for it. True:
 * this was the first time in this reading.
 */
static bool vgpu_seen(struct machine_seen *w, u32 vgpu)
{
	u32 i;

	for (i = 0; i < w->nr && w->at[i].vgpu != vgpu; i++)
		;
	if (i == SEEN_MAX)
		return true;
	if (i == w->nr) {
		memset(&w->at[i], 0, sizeof(w->at[i]));
		w->at[i].vgpu = vgpu;
		w->nr++;
	}
	if (w->at[i].last == w->looks)
		return false;
	w->at[i].last = w->looks;
	w->at[i].looks++;
	w->at[i].late += !!READ_ONCE(w->gpu->chip->slicer.left_at);
	return true;
}

/* Notes in @w that the last reading saw engines work for @vgpus vGPUs. */
static void reading_end(struct machine_seen *w, u32 vgpus)
{
	u32 i;

	w->worked += vgpus > 0;
	for (i = 0; i < w->nr && vgpus == 1; i++)
		w->at[i].alone += w->at[i].last == w->looks;
}

/* Tells whether @st names a channel of the host. */
static bool names_host(u32 st)
{
	return !(st & PFIFO_STATUS_TSG) && FIELD_GET(PFIFO_STATUS_ID, st) < KVGPU_GROUP;
}

void vmach_seen_note(struct machine_seen *w, const u32 *engine)
{
	const u32 named = PFIFO_STATUS_TSG | PFIFO_STATUS_ID;
	bool asked = false;
	u32 st, vgpu, vgpus = 0;
	u8 e;

	w->looks++;
	for (e = 0; e < w->gpu->hw.topo.nr_engines; e++) {
		st = engine[e];
		if (!(st & PFIFO_STATUS_BUSY) || !(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE)))
			continue;
		asked |= !((w->asked ^ st) & named);
		vgpu = READ_ONCE(w->gpu->chip->has_id[!!(st & PFIFO_STATUS_TSG)]
						     [FIELD_GET(PFIFO_STATUS_ID, st)]);
		if (vgpu)
			vgpus += vgpu_seen(w, vgpu);
		else if (!names_host(st))
			w->nobodys++;
	}
	w->absent += !asked;
	reading_end(w, vgpus);
}

void vmach_engines_see(void *arg)
{
	u32 engine[KVGPU_MAX_ENGINE];
	struct machine_seen *w = arg;

	vmach_engines_read(w->gpu, engine);
	vmach_seen_note(w, engine);
}

u32 vmach_seen_count(const struct machine_seen *w, const struct kvgpu_machine *m)
{
	const struct machine_slicer *s = &w->gpu->chip->slicer;
	u32 i, looks = !s->open && s->owner == m ? w->nobodys : 0;

	for (i = 0; i < w->nr; i++)
		if (w->at[i].vgpu == m->v->id)
			looks += w->at[i].looks;
	return min(looks, w->looks);
}

u32 vmach_seen_late(const struct machine_seen *w, const struct kvgpu_machine *m)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->at[i].vgpu == m->v->id)
			return min(w->at[i].late, w->looks);
	return 0;
}

u32 vmach_seen_others(const struct machine_seen *w, const struct kvgpu_machine *m)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->at[i].vgpu == m->v->id)
			return w->worked - w->at[i].alone;
	return w->worked;
}
