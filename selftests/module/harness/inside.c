// SPDX-License-Identifier: GPL-2.0-only
/* inside.h has the contracts. */
#include "gtt-shadow/internal.h"
#include "mdev/machine/internal.h"
#include "selftests/module/harness/inside.h"
#include "selftests/module/harness/world.h"

bool inside_lost(void)
{
	return world.gpu && world.gpu->chip->lost;
}

void inside_lose(const char *why)
{
	vmach_gpu_declare_lost(world.gpu, why);
}

bool inside_group_taken(u32 id)
{
	return world.gpu->chip->has_id[1][id];
}

u64 inside_image_size(void)
{
	return world.gpu->hw.gr_ctx_size;
}

u64 inside_context_size(void)
{
	return vmach_grctx_size(&world.gpu->hw);
}

struct kvgpu_vgpu *inside_vgpu(struct mdev_device *mdev)
{
	return dev_get_drvdata(&mdev->dev);
}

struct vfio_device *inside_device(struct kvgpu_vgpu *v)
{
	return &v->vdev;
}

const struct kvgpu_vgpu *inside_of(const struct vfio_device *vdev)
{
	return container_of(vdev, struct kvgpu_vgpu, vdev);
}

u32 inside_id(const struct kvgpu_vgpu *v)
{
	return v->id;
}

u32 inside_id_of_lock(const struct mutex *m)
{
	return m->name && !strcmp(m->name, "&v->lock") ?
		       container_of(m, struct kvgpu_vgpu, lock)->id :
		       0;
}

bool inside_is_locked(const struct kvgpu_vgpu *v)
{
	return v->lock.owner;
}

struct inside_part inside_part(const struct kvgpu_vgpu *v)
{
	return (struct inside_part){ v->part.v, v->part_size };
}

bool inside_is_filler(const struct kvgpu_vgpu *v, u64 at)
{
	return at == v->m->mem.scrap.at.v || at == v->gpu->chip->pool.dummy_page.at.v;
}

u8 *inside_own(const struct kvgpu_vgpu *v, u32 nr, u64 *size)
{
	*size = v->own[nr].size;
	return v->own[nr].memory;
}

u32 *inside_word(const struct kvgpu_vgpu *v, u32 reg)
{
	const struct vgpu_own *o;

	for (o = v->own; o < v->own + VGPU_NR_OWN; o++)
		if (reg - o->at < o->size)
			return (u32 *)(o->memory + (reg - o->at));
	harness_fail("no memory stands for register 0x%x", reg);
}

bool inside_may_have(const struct kvgpu_vgpu *v, u16 chid)
{
	u32 g;

	for (g = 0; v->m && g < KVGPU_NR_ID_BLOCKS; g++)
		if (v->m->ids.block[g] == chid / KVGPU_ID_BLOCK)
			return true;
	return false;
}

bool inside_has(const struct kvgpu_vgpu *v, u16 chid)
{
	const struct kvgpu_chan *c = v->gpu->chip->by_hchid[chid];

	return c && c->vgpu == v;
}

u16 inside_chid(struct kvgpu_vgpu *v, u32 chan)
{
	const struct kvgpu_chan *c = vmach_chan_find(v, (gchid_t){ chan });

	return c ? c->hchid.v : CHIP_NOBODY;
}

/* ------------------------------------------------------------------ copies of tables */

struct look {
	const struct kvgpu_vgpu *v;
	inside_copy *see;
	const char *when;
};

static void see(const struct look *l, struct kvgpu_gaddr table, const u64 *copy, u32 nr)
{
	if (nr && copy && table.target == KVGPU_VRAM && table.addr <= l->v->part_size - nr * 8)
		l->see(l->v, table.addr, copy, nr, l->when);
}

void inside_copies(const struct kvgpu_vgpu *v, inside_copy *each, const char *when)
{
	const struct look l = { v, each, when };
	const struct kvgpu_slot *slot;
	const struct kvgpu_as *as;
	u32 i;

	list_for_each_entry(as, &v->m->mem.shadow.spaces, node) {
		if (as->again)
			continue;
		see(&l, as->pd, as->gdir, DIR_SLOTS);
		list_for_each_entry(slot, &as->slots, node) {
			see(&l, slot->gpde.small, slot->ext.gpte_small, slot->gpde.nr_small);
			see(&l, slot->gpde.big, slot->ext.gpte_big, slot->gpde.nr_big);
		}
	}
	for (i = 0; i < KVGPU_NR_BARS; i++) {
		const struct kvgpu_win *w = v->m->view.win[i].win;

		if (v->m->view.win[i].guest.is_virtual && !w->again && w->ext.nr_gpdes)
			see(&l, w->pd, w->gdir, w->ext.nr_gpdes);
	}
}
