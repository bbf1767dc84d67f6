// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readings of the engines' status while a channel or group is driven off the chip. The slicer (the
 * thread that gives the chip to vGPUs in turns: slice.c) makes no look meanwhile. The readings tell
 * for which vGPUs the engines worked, so that these vGPUs can be charged.
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

void vmach_seen_begin(struct machine_seen *w, struct kvgpu_gpu *gpu, const struct machine_loaded *l,
		      u32 nr)
{
	u32 i;

	*w = (struct machine_seen){ .gpu = gpu, .leaving = nr, .nr = nr };
	for (i = 0; i < nr; i++) {
		w->at[i].vgpu = l[i].vgpu;
		w->at[i].status = PFIFO_STATUS_VALID | FIELD_PREP(PFIFO_STATUS_ID, l[i].id) |
				  (l[i].tsg ? PFIFO_STATUS_TSG : 0);
	}
}

void vmach_seen_ask(struct machine_seen *w, bool tsg, u16 id)
{
	w->asked = FIELD_PREP(PFIFO_STATUS_ID, id) | (tsg ? PFIFO_STATUS_TSG : 0);
	w->absent = 0;
}

void vmach_seen_note(struct machine_seen *w, const u32 *engine)
{
	const u32 named = PFIFO_STATUS_TSG | PFIFO_STATUS_ID;
	bool asked = false;
	u32 st, i;
	u8 e;

	w->looks++;
	for (e = 0; e < w->gpu->hw.topo.nr_engines; e++) {
		st = engine[e];
		if (!(st & PFIFO_STATUS_BUSY) || !(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE)))
			continue;
		asked |= !((w->asked ^ st) & named);
		for (i = 0; i < w->nr && (w->at[i].status ^ st) & named; i++)
			;
		if (i == w->leaving + SEEN_MAX) {
			w->lost++;
			continue;
		}
		if (i == w->nr) {
			w->at[i].status = st;
			w->at[i].looks = 0;
			w->nr++;
		}
		w->at[i].looks++;
	}
	w->absent += !asked;
}

void vmach_engines_see(void *arg)
{
	u32 engine[KVGPU_MAX_ENGINE];
	struct machine_seen *w = arg;

	vmach_engines_read(w->gpu, engine);
	vmach_seen_note(w, engine);
}

/* Tells whether @st names a channel of the host. */
static bool names_host(u32 st)
{
	return !(st & PFIFO_STATUS_TSG) && FIELD_GET(PFIFO_STATUS_ID, st) < KVGPU_GROUP;
}

void vmach_seen_name(struct kvgpu_chip *chip, struct machine_seen *w)
{
	const struct machine_slicer *s = &chip->slicer;
	struct kvgpu_machine *m;
	u32 i;

	for (i = w->leaving; i < w->nr; i++) {
		m = vmach_status_owner(chip, w->at[i].status);
		if (!m && !s->open && !names_host(w->at[i].status))
			m = s->owner;
		w->at[i].vgpu = m ? m->v->id : 0;
	}
}

u32 vmach_seen_count(const struct machine_seen *w, const struct kvgpu_machine *m)
{
	const struct machine_slicer *s = &w->gpu->chip->slicer;
	u32 i, looks = !s->open && s->owner == m ? w->lost : 0;

	for (i = 0; i < w->nr; i++)
		if (w->at[i].vgpu == m->v->id)
			looks += w->at[i].looks;
	return min(looks, w->looks);
}

u32 vmach_seen_others(const struct machine_seen *w, const struct kvgpu_machine *m)
{
	u32 i, looks = 0;

	for (i = 0; i < w->nr; i++)
		if (w->at[i].vgpu && w->at[i].vgpu != m->v->id)
			looks += w->at[i].looks;
	return min(looks, w->looks);
}
