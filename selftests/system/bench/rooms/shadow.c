// SPDX-License-Identifier: GPL-2.0-only
/* gtt-shadow: what bringing a shadow up to date costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gk110/mmu.h>
#include <linux/bitfield.h>

#include "gtt-shadow/shadow.h"
#include "rooms.h"

#define PART_SIZE (4ull << 30)
/* in the vGPU's video memory; the directory is at 0 */
#define TABLES_AT (1ull << 20)
enum {
	DIR_BYTES = 65536,
	SLOT_ENTRIES = 32768,
	BIG_ENTRIES = 1024,
	SLOTS_PER_GIB = 8,
	MAX_SLOTS = 33,
	PAGE_ENTRIES = 512
};

enum kind { SMALL_VRAM, SMALL_SYS, BIG_VRAM };

static struct world {
	const struct room_case *of;
	struct kvgpu_shadow s;
	struct kvgpu_shadow_cfg cfg;
	void *pool;
	struct kvgpu_as *as;
	u64 dir[DIR_BYTES / 8];
	u64 *table; /* MAX_SLOTS of them, one behind the other */
	u64 next; /* host address of the next table */
	u64 dirty, dirty_end; /* bytes of video memory that the guest may have written */
	u32 turn;
} w;

/* ------------------------------------------------------------------ the host */

static int op_read(void *ctx, struct kvgpu_gaddr a, void *buf, u32 len)
{
	memcpy(buf,
	       a.addr < TABLES_AT ? (u8 *)w.dir + a.addr : (u8 *)w.table + (a.addr - TABLES_AT),
	       len);
	return 0;
}

static int op_pin(void *ctx, const iova_t *iova, u32 nr, u64 *dma)
{
	u32 i;

	for (i = 0; i < nr; i++)
		dma[i] = iova[i].v;
	return 0;
}

static void op_unpin(void *ctx, iova_t iova, u32 nr)
{
}

static int op_table_new(void *ctx, u32 nr, struct kvgpu_table *t)
{
	t->addr = w.next += (u64)nr * 8;
	t->mirror = calloc(nr, 8);
	t->aux = calloc(1, kvgpu_shadow_aux_size(nr) + 1);
	return t->mirror && t->aux ? 0 : -1;
}

static void op_table_free(void *ctx, struct kvgpu_table *t)
{
	free(t->mirror);
	free(t->aux);
}

static void op_table_write(void *ctx, struct kvgpu_table *t, u32 first, u32 nr)
{
}

static u64 op_take_dirty(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
	u64 dirty = 0;
	u32 i;

	for (i = 0; i < nr; i++, a.addr += 4096)
		if (a.addr < w.dirty_end && a.addr + 4096 > w.dirty)
			dirty |= 1ull << i;
	return dirty;
}

static void op_forget(void *ctx, struct kvgpu_gaddr a, u32 nr)
{
}

static const struct kvgpu_shadow_ops ops = {
	.take_dirty = op_take_dirty,
	.forget = op_forget,
	.read = op_read,
	.pin = op_pin,
	.unpin = op_unpin,
	.table_new = op_table_new,
	.table_free = op_table_free,
	.table_write = op_table_write,
};

/* ------------------------------------------------------------------ the guest */

static u64 table_addr(u32 slot)
{
	return TABLES_AT + (u64)slot * SLOT_ENTRIES * 8;
}

static u64 entry(enum kind kind, u32 i)
{
	if (kind == SMALL_SYS)
		return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH) |
		       FIELD_PREP(GMMU_PTE_ADDR, i);
	if (kind == BIG_VRAM)
		i *= 32;
	return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, i % (u32)(PART_SIZE >> 12));
}

/* entries [first, first + nr) of all tables as one array; @shift: other frames than before */
static void fill(enum kind kind, u32 first, u32 nr, u32 shift)
{
	u32 i;

	if (kind == BIG_VRAM)
		for (i = first; i < first + nr; i++)
			w.table[(u64)i / BIG_ENTRIES * SLOT_ENTRIES + i % BIG_ENTRIES] =
				entry(kind, i + shift);
	else
		for (i = first; i < first + nr; i++)
			w.table[i] = entry(kind, i + shift);
}

static void clear(u32 slots)
{
	memset(w.table, 0, (size_t)slots * SLOT_ENTRIES * 8);
}

/* the guest wrote the tables of the slots [first, end) */
static void touch(u32 first, u32 end)
{
	w.dirty = table_addr(first);
	w.dirty_end = table_addr(end);
}

static void sync_all(void)
{
	bool changed;

	if (kvgpu_shadow_as_sync(w.as, &changed))
		abort();
	kvgpu_shadow_reap(&w.s);
}

static void world_end(void)
{
	if (!w.of)
		return;
	free(kvgpu_shadow_as_destroy(w.as));
	kvgpu_shadow_reap(&w.s);
	free(w.pool);
	free(w.table);
}

/* @slots stretches of 128 MiB have tables of @kind, all empty */
static void world_begin(const struct room_case *c, u32 slots, enum kind kind)
{
	u32 i;

	world_end();
	memset(&w, 0, sizeof(w));
	w.of = c;
	w.next = 1ull << 33;
	w.cfg = (struct kvgpu_shadow_cfg){
		.part_size = PART_SIZE, .max_tables = 512, .max_pinned = 1 << 20, .seed = 12345
	};
	w.pool = calloc(1, kvgpu_shadow_size(&w.cfg));
	w.table = calloc(MAX_SLOTS, SLOT_ENTRIES * 8);
	for (i = 0; i < slots; i++)
		w.dir[i] = kind == BIG_VRAM ?
				   FIELD_PREP(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_VRAM) |
					   FIELD_PREP(GMMU_PDE_BIG_ADDR, table_addr(i) >> 12) :
				   FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
					   FIELD_PREP(GMMU_PDE_SMALL_ADDR, table_addr(i) >> 12);
	kvgpu_shadow_init(&w.s, &w.cfg, &ops, NULL, w.pool);
	if (!w.pool || !w.table ||
	    kvgpu_shadow_as_create(&w.s, (struct kvgpu_gaddr){ KVGPU_VRAM, 0 },
				   calloc(1, kvgpu_shadow_as_size()), &w.as))
		abort();
	sync_all();
}

/* --------------------------------------------- cases: arg is GiB mapped, arg2 the kind of pages */

static u32 entries_of(const struct room_case *c)
{
	return c->arg * SLOTS_PER_GIB * (c->arg2 == BIG_VRAM ? BIG_ENTRIES : SLOT_ENTRIES);
}

/* all of it mapped, nothing written since */
static void mapped(const struct room_case *c)
{
	u32 slots = c->arg * SLOTS_PER_GIB;

	if (w.of == c)
		return;
	world_begin(c, slots, c->arg2);
	fill(c->arg2, 0, entries_of(c), 0);
	touch(0, slots);
	sync_all();
	w.dirty = w.dirty_end = 0;
}

static uint64_t run_clean(const struct room_case *c)
{
	sync_all();
	return c->arg * SLOTS_PER_GIB;
}

static void all_touched(const struct room_case *c)
{
	mapped(c);
	touch(0, c->arg * SLOTS_PER_GIB);
}

static uint64_t run_sync_entries(const struct room_case *c)
{
	sync_all();
	return entries_of(c);
}

/* one entry in each page of the tables gets another frame */
static void one_of_each(const struct room_case *c)
{
	u32 i, n = entries_of(c);

	all_touched(c);
	w.turn++;
	for (i = 7; i < n; i += PAGE_ENTRIES)
		w.table[i] = entry(c->arg2, i + w.turn);
}

static uint64_t run_one_of_each(const struct room_case *c)
{
	sync_all();
	return entries_of(c) / PAGE_ENTRIES;
}

static void all_changed(const struct room_case *c)
{
	all_touched(c);
	fill(c->arg2, 0, entries_of(c), ++w.turn);
}

static void emptied(const struct room_case *c)
{
	all_touched(c);
	clear(c->arg * SLOTS_PER_GIB);
	sync_all();
	fill(c->arg2, 0, entries_of(c), 0);
}

static void about_to_empty(const struct room_case *c)
{
	all_touched(c);
	fill(c->arg2, 0, entries_of(c), 0);
	sync_all();
	clear(c->arg * SLOTS_PER_GIB);
}

static uint64_t run_gib(const struct room_case *c)
{
	sync_all();
	return c->arg;
}

/* 2 MiB of system memory, one page of a table, come and go beside so many GiB of video memory */
static void beside(const struct room_case *c)
{
	u32 slots = c->arg * SLOTS_PER_GIB;

	if (w.of != c) {
		world_begin(c, slots + 1, SMALL_VRAM);
		fill(SMALL_VRAM, 0, slots * SLOT_ENTRIES, 0);
		touch(0, slots);
		sync_all();
	}
	w.dirty = table_addr(slots);
	w.dirty_end = w.dirty + 4096;
}

static uint64_t run_beside(const struct room_case *c)
{
	u32 first = c->arg * SLOTS_PER_GIB * SLOT_ENTRIES;

	fill(SMALL_SYS, first, PAGE_ENTRIES, 0);
	sync_all();
	memset(w.table + first, 0, PAGE_ENTRIES * 8);
	sync_all();
	return 1;
}

/*
 * a directory entry as nouveau makes it: of its big pages it says that nothing is there, and a few
 * small ones are in use
 */
static void nothing_here(const struct room_case *c)
{
	u32 i;

	if (w.of == c)
		return;
	world_begin(c, 0, SMALL_VRAM);
	fill(SMALL_VRAM, 0, 32, 0);
	for (i = 0; i < BIG_ENTRIES; i++)
		w.table[SLOT_ENTRIES + i] = i ? GMMU_PTE_PRIV : 0;
	w.dirty = 0;
	w.dirty_end = table_addr(2);
}

static uint64_t run_nothing_here(const struct room_case *c)
{
	w.dir[0] = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		   FIELD_PREP(GMMU_PDE_SMALL_ADDR, table_addr(0) >> 12) |
		   FIELD_PREP(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		   FIELD_PREP(GMMU_PDE_BIG_ADDR, table_addr(1) >> 12);
	sync_all();
	w.dir[0] = 0;
	sync_all();
	return 1;
}

void bench_shadow(void)
{
	static const struct room_case cases[] = {
		{ "shadow/clean", "table", mapped, run_clean, 4, SMALL_VRAM },
		{ "shadow/compare-1g", "entry", all_touched, run_sync_entries, 1, SMALL_VRAM },
		{ "shadow/compare-4g", "entry", all_touched, run_sync_entries, 4, SMALL_VRAM },
		{ "shadow/change-one-in-512", "changed-entry", one_of_each, run_one_of_each, 1,
		  SMALL_VRAM },
		{ "shadow/change-vram", "changed-entry", all_changed, run_sync_entries, 1,
		  SMALL_VRAM },
		{ "shadow/change-sys", "changed-entry", all_changed, run_sync_entries, 1,
		  SMALL_SYS },
		{ "shadow/change-big", "changed-entry", all_changed, run_sync_entries, 1,
		  BIG_VRAM },
		{ "shadow/map-vram", "GiB", emptied, run_gib, 1, SMALL_VRAM },
		{ "shadow/map-sys", "GiB", emptied, run_gib, 1, SMALL_SYS },
		{ "shadow/map-big", "GiB", emptied, run_gib, 1, BIG_VRAM },
		{ "shadow/unmap-vram", "GiB", about_to_empty, run_gib, 1, SMALL_VRAM },
		{ "shadow/unmap-sys", "GiB", about_to_empty, run_gib, 1, SMALL_SYS },
		{ "shadow/unmap-big", "GiB", about_to_empty, run_gib, 1, BIG_VRAM },
		{ "shadow/nothing-here", "directory-entry-made-and-unmade", nothing_here,
		  run_nothing_here, 0, SMALL_VRAM },
		{ "shadow/buffer-beside-0g", "2-MiB-mapped-and-unmapped", beside, run_beside, 0,
		  SMALL_SYS },
		{ "shadow/buffer-beside-1g", "2-MiB-mapped-and-unmapped", beside, run_beside, 1,
		  SMALL_SYS },
		{ "shadow/buffer-beside-4g", "2-MiB-mapped-and-unmapped", beside, run_beside, 4,
		  SMALL_SYS },
	};

	rooms_measure(cases, sizeof(cases) / sizeof(cases[0]));
	world_end();
}
