// SPDX-License-Identifier: GPL-2.0-only
/*
 * Observations of the engines' status while a channel or group is driven off the chip. The slicer
 * (the thread that gives the chip to vGPUs in turns: slice.c) makes no poll meanwhile. The
 * observations tell for which vGPUs the engines worked, and for how long, so that these vGPUs can
 * be charged: half of the time between two observations counts as the first of them saw the
 * engines, the other half as the second did. An observation is made without a lock, and finds the
 * vGPU by chip->has_id.
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
	struct kvgpu_machine *m;

	*w = (struct machine_obs){ .gpu = gpu };
	list_for_each_entry(m, &gpu->chip->live, node) {
		if (w->nr == OBS_MAX)
			break;
		w->of[w->nr].vgpu = m->v->id;
		w->of[w->nr++].waits = m->slice.charge.waits;
	}
}

void vmach_obs_watch(struct machine_obs *w, bool tsg, u16 id)
{
	w->watched = FIELD_PREP(PFIFO_STATUS_ID, id) | (tsg ? PFIFO_STATUS_TSG : 0);
	w->absent = 0;
}

/* Adds @ns in which the engines worked as the last observation saw them. */
static void time_add(struct machine_obs *w, u64 ns)
{
	u32 i, working = 0, last = 0;

	for (i = 0; i < w->nr; i++) {
		if (!w->of[i].works)
			continue;
		w->of[i].ns += ns;
		working++;
		last = i;
	}
	w->worked += working ? ns : 0;
	if (working == 1)
		w->of[last].alone += ns;
	w->unowned += w->unowned_works ? ns : 0;
}

static void vgpu_works(struct machine_obs *w, u32 vgpu)
{
	u32 i;

	for (i = 0; i < w->nr && w->of[i].vgpu != vgpu; i++)
		;
	if (i == OBS_MAX)
		return;
	if (i == w->nr) {
		memset(&w->of[i], 0, sizeof(w->of[i]));
		w->of[i].vgpu = vgpu;
		w->nr++;
	}
	w->of[i].seen = w->of[i].works = true;
}

/* Tells whether @st names a channel of the host. */
static bool names_host(u32 st)
{
	return !(st & PFIFO_STATUS_TSG) && FIELD_GET(PFIFO_STATUS_ID, st) < KVGPU_ID_BLOCK;
}

void vmach_obs_add(struct machine_obs *w, const u32 *engine)
{
	const u32 named = PFIFO_STATUS_TSG | PFIFO_STATUS_ID;
	u64 now = ktime_get_ns(), half = w->at ? (now - w->at) / 2 : 0;
	bool found = false;
	u32 st, vgpu, i;
	u8 e;

	time_add(w, half);
	w->unowned_works = false;
	for (i = 0; i < w->nr; i++)
		w->of[i].works = false;
	for (e = 0; e < w->gpu->hw.topo.nr_engines; e++) {
		st = engine[e];
		if (!(st & PFIFO_STATUS_BUSY) || !(st & (PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE)))
			continue;
		found |= !((w->watched ^ st) & named);
		vgpu = READ_ONCE(w->gpu->chip->has_id[!!(st & PFIFO_STATUS_TSG)]
						     [FIELD_GET(PFIFO_STATUS_ID, st)]);
		if (vgpu)
			vgpu_works(w, vgpu);
		else
			w->unowned_works |= !names_host(st);
	}
	w->absent += !found;
	time_add(w, half);
	w->total += 2 * half;
	w->at = now;
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

/* Work for an id that no vGPU has counts for the owner of the chip. */
static bool has_unowned(const struct machine_obs *w, const struct kvgpu_machine *m)
{
	const struct machine_slicer *s = &w->gpu->chip->slicer;

	return !s->lists.shared && s->lists.owner == m;
}

bool vmach_obs_seen(const struct machine_obs *w, const struct kvgpu_machine *m)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->of[i].vgpu == m->v->id && w->of[i].seen)
			return true;
	return has_unowned(w, m) && (w->unowned || w->unowned_works);
}

u64 vmach_obs_ns(const struct machine_obs *w, const struct kvgpu_machine *m)
{
	u64 ns = has_unowned(w, m) ? w->unowned : 0;
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->of[i].vgpu == m->v->id)
			ns += w->of[i].ns;
	return min(ns, w->total);
}

u64 vmach_obs_others_ns(const struct machine_obs *w, const struct kvgpu_machine *m)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->of[i].vgpu == m->v->id)
			return w->worked - w->of[i].alone;
	return w->worked;
}

u64 vmach_obs_unpaid(const struct machine_obs *w, const struct kvgpu_machine *m, u64 ns)
{
	u64 waits = m->slice.charge.waits;
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->of[i].vgpu == m->v->id)
			waits -= min(waits, w->of[i].waits);
	return ns - min(ns, waits);
}

static bool others_work(const struct machine_obs *w, const struct kvgpu_machine *m)
{
	u32 i;

	for (i = 0; i < w->nr; i++)
		if (w->of[i].works && w->of[i].vgpu != m->v->id)
			return true;
	return false;
}

u64 vmach_obs_idle_part(const struct machine_obs *w, const struct kvgpu_machine *m, u64 ns)
{
	if (!w->total)
		return others_work(w, m) ? 0 : ns;
	return mul_u64_u64_div_u64(ns, w->total - vmach_obs_others_ns(w, m), w->total);
}
