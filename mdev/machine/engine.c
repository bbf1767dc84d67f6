// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds out for which vGPU the chip works. The status registers of the chip's engines and PBDMAs
 * name a channel or a group by its id, and the host knows the vGPU of each id. The functions here
 * only read the chip's state.
 */
#include "mdev/machine/internal.h"

/* Tells whether @st, the status of an engine or a PBDMA, says that it has @hid, or is to get it. */
static bool status_has(u32 st, struct machine_hid hid)
{
	bool switching = st & PFIFO_STATUS_CHSW;
	bool has = st & PFIFO_STATUS_SAVE || (!switching && st & PFIFO_STATUS_VALID);
	bool gets = switching && st & PFIFO_STATUS_VALID;

	return (has && vmach_hid_same(vmach_status_hid(st), hid)) ||
	       (gets && vmach_hid_same(vmach_status_next(st), hid));
}

/*
 * An engine that is to switch from one channel or group to another may have to save the first one
 * for long: its kernel can't be saved yet. Then fields ID and NEXT_ID of its status are both valid
 * (nvgpu: "switch"), and it keeps the first one.
 */
bool vmach_engine_keeps(struct kvgpu_gpu *gpu, u8 e, struct machine_hid hid)
{
	const u32 both = PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE | PFIFO_STATUS_CHSW;
	u32 st = kvgpu_hw_engine_status(&gpu->hw, e);

	return (st & both) == both ? vmach_hid_same(vmach_status_hid(st), hid) :
				     status_has(st, hid);
}

int vmach_keeper_find(struct kvgpu_gpu *gpu, struct machine_hid hid)
{
	int e = gpu->hw.topo.nr_engines - 1;

	while (e >= 0 && !vmach_engine_keeps(gpu, e, hid))
		e--;
	return e;
}

bool vmach_engine_holds(const struct machine_runl *r, u8 e, struct machine_hid *hid)
{
	u32 st = kvgpu_hw_engine_status(&r->chip->gpu->hw, e);

	*hid = vmach_status_hid(st);
	/* with CHSW alone it loads a channel, and field ID is not valid */
	return vmach_runl_has_engine(r, e) &&
	       (st & PFIFO_STATUS_SAVE || (vmach_status_works(st) && !(st & PFIFO_STATUS_CHSW)));
}

bool vmach_hid_loaded(const struct machine_runl *r, struct machine_hid hid)
{
	struct kvgpu_hw *hw = &r->chip->gpu->hw;
	u8 p, e;

	for (p = 0; p < hw->topo.nr_pbdma; p++)
		if (vmach_runl_has_pbdma(r, p) && status_has(kvgpu_hw_pbdma_status(hw, p), hid))
			return true;
	for (e = 0; e < hw->topo.nr_engines; e++)
		if (status_has(kvgpu_hw_engine_status(hw, e), hid))
			return true;
	return false;
}

bool vmach_engines_name(const struct machine_runl *r, u32 reads, u32 *vgpu)
{
	struct kvgpu_gpu *gpu = r->chip->gpu;
	bool unnamed = false;
	struct machine_hid hid;
	u32 st, i;
	u8 e;

	/* begin with the last engines, copy engines: their work is mostly short */
	for (e = gpu->hw.topo.nr_engines; e-- > 0;) {
		vgpu[e] = 0;
		if (!vmach_runl_has_engine(r, e))
			continue;
		for (st = i = 0; i < reads && !(st & PFIFO_STATUS_BUSY); i++)
			st = kvgpu_hw_engine_status(&gpu->hw, e);
		if (!(st & PFIFO_STATUS_BUSY))
			continue;
		hid = vmach_status_hid(st);
		if (vmach_status_works(st))
			vgpu[e] = READ_ONCE(r->chip->has_id[hid.tsg][hid.id]);
		unnamed |= !vgpu[e];
	}
	return unnamed;
}

bool vmach_vgpu_named(const struct kvgpu_machine *m, const u32 *vgpu)
{
	u8 e;

	for (e = 0; e < m->v->gpu->hw.topo.nr_engines; e++)
		if (vgpu[e] == m->v->id)
			return true;
	return false;
}

struct kvgpu_chan *vmach_hchan_find(struct kvgpu_chip *chip, struct machine_hid hid)
{
	u32 i;

	if (!hid.tsg)
		return hid.id < KVGPU_MAX_CHAN ? chip->by_hchid[hid.id] : NULL;
	for (i = 0; i < KVGPU_MAX_CHAN; i++)
		if (chip->by_hchid[i] && chip->by_hchid[i]->host.tsg == hid.id)
			return chip->by_hchid[i];
	return NULL;
}

bool vmach_chan_is_off(const struct kvgpu_chan *c)
{
	struct kvgpu_gpu *gpu = c->vgpu->gpu;
	u32 st;

	if (!c->ran || vmach_gpu_lost(gpu))
		return true;
	st = kvgpu_hw_chan_status(&gpu->hw, c->hchid);
	return !(st & PCCSR_CHAN_ENABLED) &&
	       FIELD_GET(PCCSR_CHAN_STATUS, st) < PCCSR_STATUS_ON_PBDMA;
}

bool vmach_chan_loaded(const struct kvgpu_chan *c)
{
	return !vmach_chan_is_off(c) || vmach_hid_loaded(c->slice->runl, vmach_chan_hid(c));
}

bool vmach_chan_same_group(const struct kvgpu_chan *a, const struct kvgpu_chan *b)
{
	return a == b || (a->vgpu == b->vgpu && a->host.tsg >= 0 && a->host.tsg == b->host.tsg);
}

struct kvgpu_chan *vmach_live_chan_find(struct kvgpu_chan *c)
{
	struct kvgpu_chip *chip = c->vgpu->gpu->chip;
	struct kvgpu_chan *o;
	u32 i;

	for (i = 0; READ_ONCE(c->dead) && c->host.tsg >= 0 && i < KVGPU_MAX_CHAN; i++) {
		o = chip->by_hchid[i];
		if (o && vmach_chan_same_group(c, o) && !READ_ONCE(o->dead))
			return o;
	}
	return c;
}
