// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces and their tables. A slot is the 128 MiB of one entry of the host's directory, with
 * its tables. Slots, and the descriptors of their tables, come from pools of fixed size. A dropped
 * table goes to dead_tbls until kvgpu_shadow_reap(), because the GPU may walk it until its TLB is
 * invalidated. Pure: the caller serialises calls for one vGPU.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include <gk110/mmu.h>

#include "internal.h"

static u32 nr_slots(const struct kvgpu_shadow_cfg *cfg)
{
	return min_t(u32, cfg->max_tables, EXT_ID_MAX - WINDOWS_MAX);
}

size_t kvgpu_shadow_size(const struct kvgpu_shadow_cfg *cfg)
{
	return sizeof(struct kvgpu_pool) + vgtt_pins_size(cfg) +
	       (size_t)nr_slots(cfg) * (sizeof(struct kvgpu_slot) + sizeof(struct kvgpu_tbl));
}

void kvgpu_shadow_init(struct kvgpu_shadow *s, const struct kvgpu_shadow_cfg *cfg,
		       const struct kvgpu_shadow_ops *ops, void *ctx, void *mem)
{
	struct kvgpu_pool *p = mem;
	u32 i;

	memset(s, 0, sizeof(*s));
	s->ops = ops;
	s->ctx = ctx;
	s->cfg = *cfg;
	s->pool = p;
	INIT_LIST_HEAD(&s->spaces);
	p->nr_slots = nr_slots(cfg);
	p->slot = (struct kvgpu_slot *)(p + 1);
	p->tbl = (struct kvgpu_tbl *)(p->slot + p->nr_slots);
	vgtt_pins_init(s, p->tbl + p->nr_slots);
	INIT_LIST_HEAD(&p->free_slots);
	INIT_LIST_HEAD(&p->free_tbls);
	INIT_LIST_HEAD(&p->dead_tbls);
	for (i = 0; i < p->nr_slots; i++) {
		list_add_tail(&p->slot[i].node, &p->free_slots);
		list_add_tail(&p->tbl[i].node, &p->free_tbls);
	}
}

/* ----------------------------------------------------------------- make the tables of a slot */

/* .aux of a small table */
struct small_aux {
	u64 gpte[SLOT_PAGES];
	struct kvgpu_rmap rmap[SLOT_PAGES];
	u32 subst[BIG_PER_SLOT];
};

size_t kvgpu_shadow_aux_size(u32 nr)
{
	if (nr == SLOT_PAGES)
		return sizeof(struct small_aux);
	return nr == BIG_PER_SLOT ? BIG_PER_SLOT * sizeof(u64) : 0;
}

/*
 * Makes a page table of @nr entries. A guest can have thousands of directory entries and big pages
 * that lack a table, so an operation gives up after TABLE_FAILURES_MAX failures. No table is freed
 * before the operation ends, so that more tries would seldom succeed, and at cfg.max_tables never.
 */
static struct kvgpu_tbl *table_get(struct kvgpu_shadow *s, u32 nr)
{
	struct kvgpu_pool *p = s->pool;
	struct kvgpu_tbl *tbl = list_first_entry_or_null(&p->free_tbls, struct kvgpu_tbl, node);
	u32 *failures = nr == SLOT_PAGES ? &p->small_failures : &p->big_failures;

	if (!tbl || s->nr_tables >= s->cfg.max_tables)
		*failures = TABLE_FAILURES_MAX;
	if (*failures >= TABLE_FAILURES_MAX)
		return NULL;
	tbl->t = (struct kvgpu_table){ .nr = nr };
	if (s->ops->table_new(s->ctx, nr, &tbl->t)) {
		(*failures)++;
		return NULL;
	}
	list_del(&tbl->node);
	s->nr_tables++;
	return tbl;
}

static void table_dead(struct kvgpu_shadow *s, struct kvgpu_tbl *tbl)
{
	list_add(&tbl->node, &s->pool->dead_tbls);
}

static u64 pde_of(const struct kvgpu_slot *slot)
{
	u64 pde = 0;

	if (slot->big)
		pde |= FIELD_PREP(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		       FIELD_PREP(GMMU_PDE_BIG_ADDR, slot->big->t.addr >> GMMU_ADDR_SHIFT);
	if (slot->small)
		pde |= FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		       FIELD_PREP(GMMU_PDE_SMALL_ADDR, slot->small->t.addr >> GMMU_ADDR_SHIFT);
	return pde;
}

static void link_tables(struct kvgpu_slot *slot)
{
	struct kvgpu_as *as = slot->as;
	u64 pde = pde_of(slot);

	if (as->dir.mirror[slot->index] == pde)
		return;
	as->dir.mirror[slot->index] = pde;
	as->s->stats.entries_written++;
	as->changed = true;
	as->s->ops->table_write(as->s->ctx, &as->dir, slot->index, 1);
}

/* Gives a slot its table of small pages, if it has none. Returns 0 or -ENOMEM. */
int vgtt_slot_small_make(struct kvgpu_slot *slot)
{
	struct kvgpu_ext *e = &slot->ext;
	struct small_aux *aux;

	if (slot->small)
		return 0;
	slot->small = table_get(e->s, SLOT_PAGES);
	if (!slot->small)
		return -ENOMEM;
	aux = slot->small->t.aux;
	e->hpte_small = slot->small->t.mirror;
	e->gpte_small = aux->gpte;
	e->rmap = aux->rmap;
	e->subst = aux->subst;
	e->nr_live = 0;
	link_tables(slot);
	return 0;
}

int vgtt_slot_big_make(struct kvgpu_slot *slot)
{
	struct kvgpu_ext *e = &slot->ext;

	if (slot->big)
		return 0;
	slot->big = table_get(e->s, BIG_PER_SLOT);
	if (!slot->big)
		return -ENOMEM;
	e->hpte_big = slot->big->t.mirror;
	e->gpte_big = slot->big->t.aux;
	link_tables(slot);
	return 0;
}

/* ----------------------------------------------- find, make, trim and drop the slots of a space */

static u32 slot_limit(u32 index)
{
	u64 end = (KVGPU_SPACE_END >> GMMU_ADDR_SHIFT) - ((u64)index << SLOT_SHIFT);

	return min_t(u64, end, SLOT_PAGES);
}

struct kvgpu_slot *vgtt_slot_get(struct kvgpu_as *as, u32 index)
{
	struct kvgpu_shadow *s = as->s;
	struct kvgpu_slot *slot =
		list_first_entry_or_null(&s->pool->free_slots, struct kvgpu_slot, node);

	if (as->slot[index])
		return as->slot[index];
	if (!slot)
		return NULL;
	list_del(&slot->node);
	memset(slot, 0, sizeof(*slot));
	slot->as = as;
	slot->index = index;
	slot->ext = (struct kvgpu_ext){
		.s = s,
		.slot = slot,
		.id = (u32)(slot - s->pool->slot),
		.pages = SLOT_PAGES,
		.limit = slot_limit(index),
		.nr_gpdes = 1,
		.gpde = &slot->gpde,
		.again = &as->again,
	};
	list_add_tail(&slot->node, &as->slots);
	as->slot[index] = slot;
	return slot;
}

static void drop_small_table(struct kvgpu_slot *slot)
{
	struct kvgpu_ext *e = &slot->ext;

	if (!slot->small)
		return;
	vgtt_ext_rmaps_remove(e);
	table_dead(e->s, slot->small);
	slot->small = NULL;
	e->hpte_small = NULL;
	e->gpte_small = NULL;
	e->rmap = NULL;
	e->subst = NULL;
	e->nr_live = 0;
}

static void drop_big_table(struct kvgpu_slot *slot)
{
	if (!slot->big)
		return;
	table_dead(slot->ext.s, slot->big);
	slot->big = NULL;
	slot->ext.hpte_big = NULL;
	slot->ext.gpte_big = NULL;
}

static void slot_free(struct kvgpu_slot *slot)
{
	static const struct kvgpu_pde none;

	vgtt_gpde_set(slot->as->s, &slot->gpde, &none);
	slot->as->slot[slot->index] = NULL;
	list_move(&slot->node, &slot->ext.s->pool->free_slots);
}

/* Drops a slot's tables and frees the slot. Call it only if the host substitutes no page in it. */
void vgtt_slot_drop(struct kvgpu_slot *slot)
{
	drop_small_table(slot);
	drop_big_table(slot);
	link_tables(slot);
	slot_free(slot);
}

/* Drops the tables of the slot that are not needed any more, and frees a slot without a table. */
void vgtt_slot_trim(struct kvgpu_slot *slot)
{
	struct kvgpu_ext *e = &slot->ext;

	if (!slot->gpde.nr_small && !e->nr_live && !e->nr_subst)
		drop_small_table(slot);
	if (!slot->gpde.nr_big)
		drop_big_table(slot);
	link_tables(slot);
	if (!slot->small && !slot->big)
		slot_free(slot);
}

/* ------------------------------------------------------- create and destroy an address space */

size_t kvgpu_shadow_as_size(void)
{
	return sizeof(struct kvgpu_as);
}

int kvgpu_shadow_as_create(struct kvgpu_shadow *s, struct kvgpu_gaddr pd, void *mem,
			   struct kvgpu_as **out)
{
	struct kvgpu_as *as = mem;

	if (s->nr_tables >= s->cfg.max_tables)
		return -ENOMEM;
	as->dir.nr = DIR_SLOTS;
	if (s->ops->table_new(s->ctx, DIR_SLOTS, &as->dir))
		return -ENOMEM;
	s->nr_tables++;
	as->s = s;
	as->pd = pd;
	as->stale = BIT_ULL(DIR_SLOTS / PAGE_ENTRIES) - 1;
	INIT_LIST_HEAD(&as->slots);
	list_add_tail(&as->node, &s->spaces);
	*out = as;
	return 0;
}

void *kvgpu_shadow_as_destroy(struct kvgpu_as *as)
{
	struct kvgpu_shadow *s = as->s;
	struct kvgpu_slot *slot, *n;

	/* Entries need not be removed: the GPU does not use the space any more (shadow.h). */
	list_for_each_entry_safe(slot, n, &as->slots, node) {
		drop_small_table(slot);
		drop_big_table(slot);
		slot_free(slot);
	}
	list_del(&as->node);
	vgtt_table_forget(s, as->pd, DIR_SLOTS);
	s->ops->table_free(s->ctx, &as->dir);
	s->nr_tables--;
	return as;
}

bool kvgpu_shadow_as_is_due(const struct kvgpu_as *as, const struct kvgpu_gaddr *pd)
{
	return !pd || as->pd.addr == pd->addr || as->again;
}

u64 kvgpu_shadow_as_pd_get(const struct kvgpu_as *as)
{
	return as->dir.addr;
}
