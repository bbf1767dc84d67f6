// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: the host's tables and windows follow the guest's (S1, S2), and show to nobody what is
 * another's (S4); what that takes of the host is bounded (S5, S6).
 */
#include "gk110/bar.h"
#include "gk110/falcon.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/steps.h"

#include <linux/bitfield.h>

#define PART	  (512ull << 20)
#define IOVA(n)	  (SETUP_RAM + (n)*PAGE_SIZE)
#define LOCKED	  0x10000000ull /* IOVA of more memory than may be locked */
#define BAR1	  (1ull << 40)
#define BAR3	  (3ull << 40)
#define DOORBELLS 0x800000ull /* offset in BAR1 */
#define MMU	  0x100000ull /* page of the MMU's registers in BAR0 */
#define VIRTUAL	  (HOSTMEM_VIRTUAL | G_INST(9) >> 12)
#define NOTHING	  (~0ull)
#define PTE(target, to)                                           \
	(GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_APERTURE, target) | \
	 FIELD_PREP(GMMU_PTE_ADDR, (to) >> 12))
#define SYS_PTE(to) PTE(GMMU_PTE_APERTURE_SYS_COH, to)
#define SMALL_TABLE(target, to) \
	(FIELD_PREP(GMMU_PDE_SMALL_APERTURE, target) | FIELD_PREP(GMMU_PDE_SMALL_ADDR, (to) >> 12))
#define BIG_TABLE(to)                                                \
	(FIELD_PREP(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_VRAM) | \
	 FIELD_PREP(GMMU_PDE_BIG_ADDR, (to) >> 12))

static struct world_vgpu *g; /* the vGPU whose guest acts */
static struct admin_place place; /* its */
static unsigned long at; /* the mapping that its VMM made last */
static u64 began, warned, counted, slice;
static u32 pins, id;

/* The directory that the chip has for a channel of vGPU 0, and its entry for a page. */
static u64 directory_of(u32 chan)
{
	struct admin_chan c = admin_chan(0, chan);

	NEEDS(c.bound);
	return chip_pd(c.inst);
}

static u64 entry_of(u32 chan, u32 page)
{
	return mmu_translate(directory_of(chan), (u64)page << 12);
}

static u64 frame_of(u32 page)
{
	const struct dma_entry *e =
		iommu_find(FIELD_GET(GMMU_PTE_ADDR, entry_of(1, page)) << PAGE_SHIFT);

	return e ? e->pfn : 0;
}

/* What a mapped page shows to a CPU: an offset in the vGPU's partition, or NOTHING. */
static u64 shown(unsigned long where)
{
	unsigned int bar;
	u64 off, vram;

	mm_touch(setup_mm, where);
	off = (u64)mm_look(setup_mm, where) << PAGE_SHIFT;
	bar = off >= BAR3_PHYS ? 3 : 1;
	off -= bar == 3 ? BAR3_PHYS : BAR1_PHYS;
	if (chip_show(bar, off, &vram) != SHOWS_VRAM || vram - place.part >= PART)
		return NOTHING;
	return vram - place.part;
}

static void put(unsigned long where, u64 val)
{
	u64 to = place.part + shown(where) + offset_in_page(where);

	memcpy(chip_vram(to), &val, sizeof(val));
	chip_wrote(to, sizeof(val));
}

/* CPUs store 8192 words from @val on, each @step more, as by mapped pages of BAR1. */
static void store(u64 to, u64 val, u64 step)
{
	u64 *word = (u64 *)chip_vram(place.part + to), i;

	for (i = 0; i < 8192; i++)
		word[i] = val + i * step;
	chip_wrote(place.part + to, 8192 * 8);
	for (i = 0; i < 8192; i += PAGE_SIZE / 8)
		g_store64(g, to + i * 8, word[i]);
}

static void invalidate_all(void)
{
	g_write_mmu(g, FB_MMU_INVALIDATE,
		    FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA |
			    FB_MMU_INVALIDATE_ALL_PDB);
}

static bool list_is_read(u64 list)
{
	g_write(g, PFIFO_RUNLIST_SUBMIT, 0);
	g_write(g, PFIFO_RUNLIST_BASE, list >> 12);
	g_write(g, PFIFO_RUNLIST_SUBMIT, 1);
	return strstr(debugfs_text(dev_name(&g->mdev->dev), "state"), "runlist 0 entries");
}

/* CPUs' writes by BARs are in L2 before that is written back (S2). */
static void bars_first(u32 reg, u32 val)
{
	static bool flushed;

	flushed = reg == FLUSH_BAR || (flushed && reg != FB_MMU_INVALIDATE);
	FAIL_ON(reg == FLUSH_L2_DIRTY && !flushed,
		"S2: L2 is written back before CPUs' writes to BARs are in it");
}

/* No access of a CPU to a slice faults (S5). If its vGPU is @gone, it shows a page of zeros. */
static bool slice_is_well(u32 bar, u64 off, u64 len, bool gone)
{
	const struct pool_piece *p;
	enum shows shows;
	u64 vram;

	for (len += off; off < len; off += PAGE_SIZE) {
		shows = chip_show(bar, off, &vram);
		p = pool_find(vram);
		if (!bar_access(bar, off) ||
		    (gone && (shows != SHOWS_VRAM || !p || p->size != PAGE_SIZE ||
			      !chip_is_zero(vram, PAGE_SIZE))))
			return false;
	}
	return true;
}

/* clang-format off */

/* What a guest and its VMM do beside the steps of steps.h, or what must be so. */
STEP(tlb_all) { invalidate_all(); return true; }
STEP(pramin) { g_write(g, HOSTMEM_PRAMIN, a >> HOSTMEM_PRAMIN_BASE_SHIFT); return true; }
STEP(window) { g_write(g, a == 1 ? HOSTMEM_BAR1 : HOSTMEM_BAR3, b); return true; }
STEP(stores) { g_store64(g, a, b); return true; }
STEP(fills) { store(a, b, c); return true; }
STEP(ram) { ((u64 *)setup_c->ram)[a / 8] = b; return true; }
STEP(ram_has) { return ASK(((u64 *)setup_c->ram)[a / 8] == b); }
STEP(has) { return ASK(entry_of(a, b)); }
STEP(lacks) { return ASK(!entry_of(a, b)); }
STEP(as_stored)
{
	return ASK(!entry_of(1, a) == !*(u64 *)chip_vram(place.part + G_TABLE(0) + 8 * a));
}
STEP(not_stale)
{
	for (b = 0; b < chip.nr_tlb; b++)
		FAIL_ON(chip.tlb[b].pd == directory_of(a), "S2: a TLB has an entry of before");
	return true;
}
STEP(stale)
{
	chip.tlb[chip.nr_tlb].pd = directory_of(a);
	g_unbind(g, a);
	chip.nr_tlb++;
	g_bind(g, a);
	return true;
}
STEP(list_read) { return ASK(list_is_read(a) == b); }
STEP(pinned) { return ASK(container_pins(setup_c) == pins + a); }
STEP(pins_over) { return ASK(container_pins(setup_c) > a); }
STEP(memory) { container_map(setup_c, a, 0, RAM_PAGES * PAGE_SIZE); return true; }
STEP(ram_is_slow) { setup_c->slow_ns = a; return true; }
STEP(limit) { setup_c->lock_limit = a; return true; }
STEP(warns)
{
	b = warned;
	warned = setup_c->warned;
	return ASK(warned > b && warned - b <= a);
}
STEP(bounces) { iommu_bounces = true; return true; }
STEP(no_snoop) { return ASK(!world.pdev.no_snoop); }
STEP(reach)
{
	iommu_kind = a;
	*(b ? &world.pdev.dev.bus_dma_limit : &world.pdev.dev.mask) =
		(frame_of(40) << PAGE_SHIFT) + 3 * PAGE_SIZE - 2;
	return true;
}
STEP(holds) { chip.copy_held = a; return true; }
STEP(within) { return ASK(harness_now - began <= a); }
/* The card goes while the host waits for a copy, which ends without having copied. */
STEP(goes)
{
	UNTIL(chip.copy_held && chip.copy_put);
	the_pci_driver->err_handler->reset_prepare(&world.pdev);
	return true;
}
STEP(lets_end) { UNTIL(chip.no_master); chip.copy_held = false; return true; }
STEP(maps) { return ASK((at = mm_map(setup_mm, g->dev, a, b))); }
STEP(may_map) { return ASK(!mm_map(setup_mm, g->dev, a, b) == !c); }
STEP(moves) { return ASK((at = mm_move(setup_mm, at, a))); }
STEP(forks) { mm_touch(mm_fork(setup_mm, a), at); return true; }
STEP(cuts) { mm_unmap(setup_mm, at + a, b); return true; }
STEP(pokes) { put(at + a, b); return true; }
STEP(shows) { return ASK(shown(at + a) == b); }
STEP(huge) { return ASK(mm_touch_huge(setup_mm, at + a, c) == b); }
STEP(no_device) { return ASK(!mm_for_device(setup_mm, at + a)); }
STEP(touches) { for (b = 0; b < a; b++) mm_touch(setup_mm, at + b * PAGE_SIZE); return true; }
/* between .a and .b page faults since counts */
STEP(counts) { counted = admin_read(0, "page_faults"); return true; }
STEP(faulted)
{
	c = admin_read(0, "page_faults") - counted;
	return ASK(c >= a && c <= b);
}
STEP(doorbell)
{
	if (admin_chan(0, 1).bound)
		id = id_of(0, 1);
	return ASK((mm_touch(setup_mm, at) == (BAR1_PHYS >> 12) + id / 8) == a);
}
/* the neighbour gets the doorbells that vGPU 0 had */
STEP(hands_over)
{
	g_inst(V(1), 9, 0, 0);
	g_bind(V(1), 9);
	return ASK(admin_chan(1, 9).bound && id_of(1, 9) / 8 == id / 8);
}
STEP(slices)
{
	return ASK(slice_is_well(1, place.bar1, 16 << 20, a) &&
		   slice_is_well(3, place.bar3, 4 << 20, a) &&
		   slice_is_well(1, place.pramin, PRAMIN_SIZE, a));
}
STEP(unmaps_mmu) { if (g_mmu) mm_unmap(setup_mm, g_mmu, PAGE_SIZE); return true; }
STEP(remakes) { return ASK(!world_make(i) == !a && (!a || world_open(i, setup_c))); }
/*
 * A page of vGPU 1's BAR3, which has a struct page, is given to vGPU 0 as memory. vGPU 1 goes, and
 * another tenant gets its slice, which vGPU 0's GPU would reach by then. Untouched, the module
 * refuses the fault of VFIO's core.
 */
STEP(gives_bar3)
{
	slice = admin_place(1).bar3;
	at = mm_map(setup_mm, V(1)->dev, BAR3, PAGE_SIZE);
	mm_touch(setup_mm, at);
	container_map_device(setup_c, LOCKED, at);
	return true;
}
STEP(bar3_is_apart)
{
	NEEDS(admin_place(1).bar3 == slice);
	FAIL_ON(frame_of(20) == (BAR3_PHYS + slice) >> PAGE_SHIFT,
		"S4: a GPU reaches another tenant's BAR3 by DMA");
	return true;
}
STEP(lost) { return ASK(admin_read(CARD, "lost")); }
/* clang-format on */

static void begins(const struct scene *s)
{
	g = V(0);
	place = admin_place(0);
	began = harness_now;
	pins = container_pins(setup_c);
}

/* The VMM has mapped the page of the MMU's registers, as QEMU does. */
static void begins_mapped(const struct scene *s)
{
	g_mmu_mm = setup_mm;
	g_mmu = mm_map(setup_mm, world.vgpu[0].dev, MMU, PAGE_SIZE);
	begins(s);
}

#define SPACES	   60
#define HOLES	   8
#define TRIES	   16 /* of a sync of a space, for tables in vain */
#define PD_AT(s)   (0x900000ull + (s)*0x10000)
#define INST_AT(c) (0x600000ull + (c)*0x1000)

extern u64 harness_alloc_bytes, harness_pool_refusals;

static void names(u32 chan, u32 pd)
{
	g_inst_at(g, INST_AT(chan), G_USERD(chan), 0, 0);
	g_store32(g, INST_AT(chan) + GMMU_INST_PDB_LO, PD_AT(pd));
	g_store32(g, INST_AT(chan) + GMMU_INST_LIMIT_HI, 0xff);
}

/*
 * Each of SPACES channels has a space. .arg[0] of them go again, which leaves holes in the pool.
 * .arg[1] directories have all entries when the guest invalidates, .arg[2] after that. If the role
 * has an .arg, each channel names the next one's directory by then.
 */
static void many_spaces(const struct scene *s)
{
	u32 c;

	begins(s);
	for (c = 2; c < 2 + SPACES; c++) {
		names(c, c);
		g_bind_at(g, c, INST_AT(c));
	}
	for (c = 1; c <= s->arg[0]; c++)
		g_unbind(g, 4 * c);
	for (c = 2; c <= 2 + s->arg[2]; c++) {
		if (c == 2 + s->arg[1])
			invalidate_all();
		if (c < 2 + s->arg[2])
			store(PD_AT(c), SMALL_TABLE(GMMU_PDE_APERTURE_VRAM, 0x1000), 0);
	}
	NEEDS(s->arg[0] ? harness_pool_refusals : admin_read(0, "shadow_entries_rejected"));
	for (c = 0; c < SPACES && s->roles[0].arg; c++)
		names(2 + c, 2 + (c + 1) % SPACES);
}

MEASURE(bytes, "bytes of kernel memory", harness_alloc_bytes, GROWTH);
MEASURE(refusals, "tables in vain", harness_pool_refusals, GROWTH);

static void writes_once(const struct role *r)
{
	if (r->arg)
		g_list(g, NULL, 0);
	else
		invalidate_all();
}

/* scene_count[]: syncs for an invalidate that names one of eight spaces, and for one of all */
static void names_one(const struct role *r)
{
	u64 syncs;
	u32 c;

	for (c = 2; c < 10; c++) {
		names(c, c);
		g_bind_at(g, c, INST_AT(c));
	}
	syncs = admin_read(0, "shadow_syncs");
	g_write(g, FB_MMU_INVALIDATE_PDB, FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, PD_AT(5) >> 12));
	g_write(g, FB_MMU_INVALIDATE, FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA);
	scene_count[0] = admin_read(0, "shadow_syncs") - syncs;
	invalidate_all();
	scene_count[1] = admin_read(0, "shadow_syncs") - syncs - scene_count[0];
}

static u32 flushes;
MEASURE(syncs, "syncs", admin_read(vgpu, "shadow_syncs"), GROWTH);
MEASURE(tables_read, "pages of tables read", admin_read(vgpu, "shadow_tables_read"), GROWTH);
MEASURE(flushes, "FLUSH_BARs", flushes, GROWTH);
MEASURE(tlb_flushes, "invalidates", admin_read(vgpu, "tlb_flushes"), GROWTH);
MEASURE(page_faults, "page faults", admin_read(vgpu, "page_faults"), GROWTH);
MEASURE(exits, "exits for registers",
	admin_read(vgpu, "exits_bar0_read") + admin_read(vgpu, "exits_bar0_write"), GROWTH);

static void counts_flush(u32 reg, u32 val)
{
	flushes += reg == FLUSH_BAR;
}

/* as nouveau: by mapped pages, where the VMM has mapped them */
static void looks_at_mmu(void)
{
	if (g_mmu)
		mm_touch(setup_mm, g_mmu);
	else
		g_read(g, FB_MMU_CTRL);
}

/* The driver maps, or unmaps, pages of a space, and invalidates after each. */
static void maps_pages(u32 space, u32 nr, bool on)
{
	u64 entry;
	u32 i;

	for (i = 0; i < nr; i++) {
		entry = on ? PTE(0, G_DATA + i * PAGE_SIZE) : 0;
		if (g_mmu)
			put(at + G_TABLE(space) + 8 * (32 + i), entry);
		else
			g_store64(g, G_TABLE(space) + 8 * (32 + i), entry);
		looks_at_mmu();
		g_tlb(g, space);
		looks_at_mmu();
	}
}

/* clang-format off */
STEP(has_pages) { maps_pages(a, b, c); return true; }
/* clang-format on */

/*
 * What nouveau does for a small CUDA program: objects in its window of BAR3, a space, a channel
 * with a context, buffers, and all of it away again.
 */
#define A_PROGRAM                                                                                 \
	PLAYS(0, { before_write, (u64)counts_flush }, { has_pages, 3, 8, true }, { space, 1 },    \
	      { has_pages, 1, 6, true }, { inst, 2, 1, 0x400000 }, { binds, 2 },                  \
	      { lists, ENTRIES(1, 2) }, { enables, 2 }, { has_pages, 1, 8, true },                \
	      { has_pages, 1, 8, false }, { disables, 2 }, { lists, ENTRIES(1) }, { unbinds, 2 }, \
	      { has_pages, 3, 4, false })

/* Return how many tables the host makes for entries of a directory from @first on. */
static u32 takes(u32 vgpu, u32 first)
{
	u64 was;
	u32 n = 0;

	g = V(vgpu);
	do {
		was = admin_word(vgpu, "shadow", "tables ");
		g_store64(g, G_PD(0) + 8 * (first + n),
			  SMALL_TABLE(GMMU_PDE_APERTURE_VRAM, G_TABLE(1)));
		g_tlb(g, 0);
	} while (admin_word(vgpu, "shadow", "tables ") > was && ++n < 1000);
	return n;
}

/* Two vGPUs put small tables, of big pages, in the place of all tables. Room has the third one. */
static void scatter(const struct role *r)
{
	u32 i, n;

	for (i = 0; i < 2; i++) {
		scene_count[0] = takes(i, 1);
		for (n = scene_count[0]; n; n--) {
			g_store64(g, G_PD(0) + 8 * n, BIG_TABLE(G_TABLE(1)));
			g_tlb(g, 0);
		}
		takes(i, 4000);
	}
	scene_count[1] = scene_count[0] - takes(2, 1);
}

#define TABLE_PAGES 64

/* .arg pages of a table, which BAR1 shows at places that do not touch, again and again */
static void writes_pages(const struct role *r)
{
	u32 round, i, stride = r->arg < TABLE_PAGES ? 2 : 1;

	g_space(g, 3);
	g_inst(g, 9, 3, 0);
	for (i = 0; i < r->arg; i++)
		g_map_vram(g, 3, stride * i, G_TABLE(0) + i * PAGE_SIZE);
	at = mm_map(setup_mm, g->dev, BAR1, 2 * TABLE_PAGES * PAGE_SIZE);
	g_write(g, HOSTMEM_BAR1, VIRTUAL);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < r->arg; i++)
			put(at + stride * i * PAGE_SIZE + 240, round & 1 ? 0 : SYS_PTE(IOVA(32)));
		g_tlb(g, 0);
		for (i = 0; i < r->arg; i++)
			FAIL_ON(!!entry_of(1, 512 * i + 30) == (round & 1),
				"S2: the GPU has the entry of before in page %u", i);
	}
}

static u8 *flush_page;
#define FLUSH(reg)	(chip.flush[((reg)-FLUSH_BAR) / 4])
#define FLUSH_WORD(reg) (*(volatile u32 *)(flush_page + offset_in_page(reg)))

static void has_flush_page(const struct scene *s)
{
	begins(s);
	at = mm_map(setup_mm, g->dev, FLUSH_BAR, PAGE_SIZE);
	flush_page = (u8 *)(mm_touch(setup_mm, at) & ~OWN_PFN);
}

/*
 * A CPU asks for all flushes, and polls, or (.arg) its VMM serves a read or a command, before which
 * they are done.
 */
static void asks(const struct role *r)
{
	static const u32 reg[] = { FLUSH_L2_SYSMEM_INVALIDATE, FLUSH_L2_DIRTY, FLUSH_BAR };
	enum { POLL, READ, COMMAND, INVALIDATE, NR_HOW } how;
	u64 end;
	u32 begun[3], i;

	for (; scene_goes_on(); scene_count[0]++) {
		how = r->arg ? harness_below(NR_HOW) : POLL;
		for (i = 0; i < 3; i++) {
			begun[i] = FLUSH(reg[i]).begun;
			FLUSH_WORD(reg[i]) = FLUSH_TRIGGER;
		}
		/* at times the slicer has begun */
		while (scene_count[0] & 1 && FLUSH_WORD(FLUSH_L2_DIRTY) == FLUSH_TRIGGER)
			harness_sleep(US);
		if (how == READ)
			g_read(g, FLUSH_BAR);
		else if (how == COMMAND)
			LIST(g, 1);
		else if (how == INVALIDATE)
			g_tlb(g, 0);
		end = harness_now + 100 * MS;
		while (how == POLL && harness_now < end &&
		       (FLUSH_WORD(reg[0]) | FLUSH_WORD(reg[1])))
			harness_sleep(US);
		for (i = how == INVALIDATE ? 2 : 0; i < (how == POLL ? 2 : 3); i++)
			FAIL_ON(harness_now >= end || FLUSH(reg[i]).ended <= begun[i],
				"S1: flush 0x%06x is not done (%u)", reg[i], how);
	}
}

static void reads_often(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(harness_below(20 * US)))
		g_read(g, FLUSH_BAR);
}

#define MOST_MAPPINGS 1024 /* docs/threat-model.md */

/* Two processes map a page: scene_count[0] mappings, and [1] when the first are closed. */
static void maps_many(const struct role *r)
{
	struct mm_struct *mm[] = { setup_mm, mm_new() };
	static unsigned long page[MOST_MAPPINGS + 200];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(page); i++) {
		page[i] = mm_map(mm[i % 2], world.vgpu[0].dev, BAR1, PAGE_SIZE);
		scene_count[0] += mm_touch(mm[i % 2], page[i]) != 0;
	}
	for (i = 0; i < MOST_MAPPINGS; i++)
		mm_unmap(mm[i % 2], page[i], PAGE_SIZE);
	for (; i < ARRAY_SIZE(page); i++)
		scene_count[1] += mm_touch(mm[i % 2], page[i]) != 0;
	mm_free(mm[1]);
}

/* munmap() frees page tables with mmap_lock held for reading, and a reset removes pages. */
static void unmaps(const struct role *r)
{
	u32 i;

	for (; scene_goes_on(); scene_count[0]++) {
		at = mm_map(setup_mm, world.vgpu[0].dev, BAR1, 16 << 20);
		for (i = 0; i < 8; i++)
			mm_touch(setup_mm, at + i * SZ_2M);
		mm_slow(setup_mm, harness_below(5 * MS));
		mm_unmap(setup_mm, at, 16 << 20);
	}
}

static void resets_often(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(harness_below(5 * MS)))
		world_reset(0);
}

/* A thread that opens or closes vfioN keeps the vGPU, on the card's list, past its removal. */
static void is_listed_late(const struct role *r)
{
	struct vfio_device *dev = world.vgpu[0].dev;

	world_close(0);
	dev->refs++; /* chrdev_open() */
	world.vgpu[0].made = false;
	mdev_remove(world.vgpu[0].mdev);
	NEEDS(strstr(debugfs_text(pci_name(&world.pdev), "vgpus"), "closed"));
	vfio_put_device(dev); /* cdev_put() */
}

/* clang-format off */

#define UNMAPPED_ROW(n, vgpus, act, ...)                                                      \
	{ n, vgpus, BUSY, .before = begins, .roles = { { act, 0, ##__VA_ARGS__ } } }
/* also where the guest invalidates by a page that is mapped at times */
#define ROW(n, vgpus, act, ...)                                                               \
	UNMAPPED_ROW(n, vgpus, act, ##__VA_ARGS__),                                            \
	{ n ", MMU mapped", vgpus, BUSY, .before = begins_mapped,                             \
	  .roles = { { act, 0, ##__VA_ARGS__ } } }
#define PLAY(n, ...) ROW(n, 1, plays, (u64)STEPS(__VA_ARGS__))
#define UNMAPPED_PLAY(n, ...) UNMAPPED_ROW(n, 1, plays, (u64)STEPS(__VA_ARGS__))
#define FECS(reg, val) { writes, GR_FECS + (reg), val }
#define PLAY2(n, ...) ROW(n, 2, plays, (u64)STEPS(__VA_ARGS__))
#define BOTH(n, ...) BOTH_FROM(n, begins, __VA_ARGS__)
#define BOTH_FROM(n, begin, all, start, one, other, end)                                      \
	{ n, 2, {}, .interleaved = all, .before = begin,            \
	  .first = start, .last = end,                                                         \
	  .roles = { { plays, 0, (u64)one }, { plays, 0, (u64)other } } }
#define ROOM(n, lists, tries, ...)                                                            \
	{ n, 1, {}, VERY_COARSE, .before = many_spaces, .arg = __VA_ARGS__,    \
	  .roles = { { writes_once, 0, lists } },                                              \
	  .must = { { &m_bytes, 0, AT_MOST(lists ? 120 << 20 : 16 << 20), "S5: one write" },   \
		    { &m_refusals, 0, AT_MOST(tries), "S5: one write" } } }
#define PROGRAM(n, begin, ...)                                                                \
	{ n, 1, {}, .before = begin,                                                         \
	  .first = STEPS({ maps, BAR1, 16 << 20 }, { space, 3, 9 }, { window, 3, VIRTUAL }),      \
	  .roles = { A_PROGRAM },                                                              \
	  .must = { { &m_syncs, 0, AT_MOST(31), "" }, { &m_tables_read, 0, AT_MOST(110), "" }, \
		    { &m_flushes, 0, AT_MOST(72), "" }, { &m_tlb_flushes, 0, 10, 14, "" },     \
		    ##__VA_ARGS__ } }
#define FLUSHES(n, ppm, ...)                                                                  \
	{ n, 2, { .eager = true, .late = 3 }, { .switch_ppm = ppm }, .ms = 200,                \
	  .before = has_flush_page,                                                            \
	  .roles = __VA_ARGS__, .must = { { &m_count, 0, AT_LEAST(50), "nobody asks" } } }
#define LATE { .eager = true, .late = 2 }, { .oversleep_ns = 2 * MS }, .before = begins, \
	     .may_lose = true
#define BEYOND_LIMIT(n, ...)                                                                  \
	UNMAPPED_PLAY(n, { memory, LOCKED }, { memory, LOCKED + 0x800000 },                    \
	     { memory, LOCKED + 0x1000000 },                                                   \
	     { memory, LOCKED + 0x1800000 }, { limit, 64 },                                    \
	     { fills, G_TABLE(0), SYS_PTE(LOCKED), 16 }, ##__VA_ARGS__, { tlb, 0, 9 },             \
	     { warns, 10 }, { sleeps, 5000 * MS }, { tlb, 0, 9 }, { warns, 10 }, { limit, 0 },   \
	     { sleeps, 5000 * MS }, { tlb }, { pins_over, 64 })
/* Page 42 is beyond the card's addresses, or a bridge's, page 41 is not. */
#define AT_THE_END(n, kind, bridge, beyond, inside)                                           \
	PLAY(n, { sys, 0, 40, IOVA(40) }, { tlb }, { reach, kind, bridge },                    \
	     { sys, 0, 42, IOVA(42) }, { tlb }, { beyond, 1, 42 },                             \
	     { sys, 0, 41, IOVA(41) }, { tlb }, { inside, 1, 41 }, { reach, IOMMU_TRANSLATES })
#define USERD_AT(at) { writes, PFIFO_USERD_BAR1, PFIFO_USERD_BAR1_VALID | (at) >> 12 }
#define PUT_IN_PAGE_5(i) \
	{ pokes, 0x5000 + 8 * (i), PTE(0, G_DATA) }, { tlb, 3 }, { shows, (i) << 12, G_DATA }
#define MAP_DOORBELLS \
	USERD_AT(DOORBELLS), { maps, BAR1 + DOORBELLS, 16 * PAGE_SIZE }, { doorbell, 1 }
#define DOORBELL_PLAY(n, ...) PLAY2(n, MAP_DOORBELLS, __VA_ARGS__, { hands_over })
#define RAM_IN_BAR1(n, ...)                                                                   \
	PLAY(n, { maps, BAR1, 0x20000 }, { space, 1, 9 }, { sys, 1, 5, IOVA(3) }, ##__VA_ARGS__,  \
	     { window, 1, VIRTUAL }, { shows, 0x5000, NOTHING }, { stores, 0x5008, 1 },  \
	     { ram_has, 0x3008, 1 }, { ram_goes }, { stores, 0x5008, 2 }, { ram_has, 0x3008, 1 })

static const struct scene table[] = {
	ROOM("an invalidate beyond all room", 0, 0, { 0, SPACES, SPACES }),
	ROOM("a runlist beyond all room", 1, 2 * SPACES * TRIES, { 0, SPACES, SPACES }),
	ROOM("holes, and nothing has changed", 0, (SPACES - HOLES) * TRIES,
	     { HOLES, SPACES, SPACES }),
	ROOM("holes, and one directory has changed", 0, 2 * TRIES, { HOLES, 1, 2 }),
	ROOM("holes, and all have changed", 0, (SPACES - HOLES) * TRIES, { HOLES, 1, SPACES }),
	{ "an invalidate names one of eight spaces", 1, {}, .before = begins,
	  .roles = { { names_one } },
	  .must = { { &m_count, 0, IS(1), "it costs one sync" },
		    { &m_count, 1, AT_LEAST(8), "there are no spaces" } } },
	PROGRAM("a CUDA program's start and end", begins),
	PROGRAM("a CUDA program's start and end, MMU mapped", begins_mapped,
		{ &m_page_faults, 0, AT_MOST(60), "" }, { &m_exits, 0, AT_MOST(14), "" }),
	/* BAR3's page 5 comes to show its own table, of which entries are written */
	UNMAPPED_PLAY("a page of data is mapped once", { space, 3, 9 }, { vram, 3, 5, G_TABLE(3) },
	     { maps, BAR3, 4 << 20 }, { counts }, { touches, 128 }, { faulted, 2, 2 },
	     { window, 3, VIRTUAL }, { tlb, 3 }, { counts }, { touches, 128 }, { faulted, 0, 1 },
	     { window, 3, VIRTUAL }, { tlb, 3 }, { counts }, PUT_IN_PAGE_5(32), PUT_IN_PAGE_5(33),
	     PUT_IN_PAGE_5(34), PUT_IN_PAGE_5(35), { faulted, 4, 4 }),
	UNMAPPED_PLAY("a table that is gone is data", { space, 1, 2 }, { binds, 2 },
	     { maps, BAR1 + G_TABLE(1), 64 * PAGE_SIZE }, { counts }, { touches, 64 },
	     { faulted, 64, 64 }, { tlb, 1 }, { unbinds, 2 }, { counts }, { touches, 64 },
	     { faulted, 1, 1 }),
	{ "a share of the pool beside scattered ones", 3, {}, .roles = { { scatter } },
	  .must = { { &m_count, 0, AT_LEAST(20), "there is no room at all" },
		    { &m_count, 1, AT_MOST(1), "S5: a vGPU's own share of the pool" } } },

	PLAY2("a runlist beyond the partition", { list_read, G_LIST, 1 },
	     { pramin, PART - PRAMIN_SIZE }, { writes, PRAMIN_BASE + PRAMIN_SIZE - PAGE_SIZE, 1 },
	     { list_read, PART - PAGE_SIZE, 1 }, { list_read, PART, 0 },
	     { list_read, PART + G_LIST, 0 }, { list_read, (1ull << 40) - PAGE_SIZE, 0 }),
	PLAY("an entry is written at once", { sleeps, 20 * MS }, { sys, 0, 20, IOVA(20) }, { tlb },
	     { vram, 0, 20, G_DATA }, { tlb }, { none, 0, 20 }, { tlb }),
	PLAY("what goes back to the pool has its zeros", { space, 1, 2 }, { vram, 1, 16, G_DATA },
	     { binds, 2 }, { has, 2, 16 }, { unbinds, 2 }),
	PLAY("a directory begins without entries", { space, 1, 2 }, { stores, G_PD(1), 0 },
	     { binds, 2 }, { stale, 2 }, { not_stale, 2 }),
	UNMAPPED_PLAY("a table in system memory", { space, 0, 2 },
	     { ram, 0x90000, SMALL_TABLE(GMMU_PDE_APERTURE_SYS_COH, IOVA(0x40)) },
	     { stores, G_INST(2) + GMMU_INST_PDB_LO,
	       IOVA(0x90) | FIELD_PREP(GMMU_INST_PDB_LO_TARGET, GMMU_PTE_APERTURE_SYS_COH) },
	     { binds, 2 }, { ram, 0x400f0, SYS_PTE(IOVA(0xb0)) }, { tlb_all }, { has, 2, 30 },
	     { pinned, 1 }, { ram, 0x400f0, 0 }, { tlb_all }, { lacks, 2, 30 },
	     { sleeps, 100 * MS }, { pinned, 0 }),
	PLAY("L2 has nothing of an unpinned page", { sys, 0, 20, IOVA(20) }, { tlb }, { pinned, 1 },
	     { none, 0, 20 }, { tlb }, { sleeps, 100 * MS }, { pinned, 0 },
	     { sys, 0, 20, IOVA(20) }, { tlb }, { none, 0, 20 }, { tlb }, { sleeps, 100 * MS }),
	PLAY("a window's writes come first", { space, 1, 9 }, { sys, 1, 0, IOVA(20) },
	     { window, 3, VIRTUAL }, { pinned, 1 }, { before_write, (u64)bars_first },
	     { none, 1, 0 }, { tlb, 1 }, { sleeps, 100 * MS }, { pinned, 0 }, { before_write }),
	ROW("one page of a table is written", 1, writes_pages, 1),
	ROW("pages of a table are written", 1, writes_pages, 5),
	ROW("many pages of a table are written", 1, writes_pages, TABLE_PAGES - 1),
	ROW("all pages of a table are written", 1, writes_pages, TABLE_PAGES),
	BOTH("BAR1 comes to show a table", true,
	     STEPS({ space, 3, 9 }, { vram, 3, 0x900, G_TABLE(0) },
		   { maps, BAR1 + 0x900000, PAGE_SIZE }, { shows, 0, 0x900000 }),
	     STEPS({ window, 1, VIRTUAL }), STEPS({ pokes, 240, PTE(0, G_DATA) }),
	     STEPS({ tlb }, { as_stored, 30 })),
	PLAY("a mapped page becomes a table", { maps, BAR1 + G_TABLE(1), PAGE_SIZE },
	     { shows, 0, G_TABLE(1) }, { space, 1, 2 }, { binds, 2 },
	     { pokes, 160, PTE(0, G_DATA) }, { tlb, 1 }, { has, 2, 20 }, { pokes, 160, 0 },
	     { tlb, 1 }, { lacks, 2, 20 }),
	PLAY("PRAMIN comes to show a table", { maps, PRAMIN_BASE, PRAMIN_SIZE },
	     { pramin, 0x400000 }, { shows, 0x40000, 0x440000 }, { tlb }, { pramin, G_PD(0) },
	     { pokes, 0x40000 + 240, PTE(0, G_DATA) }, { tlb }, { as_stored, 30 }),
	PLAY("a mapped page becomes a directory", { maps, BAR3 + G_PD(1), PAGE_SIZE },
	     { shows, 0, G_PD(1) }, { vram, 1, 20, G_DATA }, { space, 1, 2 }, { binds, 2 },
	     { has, 2, 20 }, { pokes, 0, 0 }, { tlb, 1 }, { lacks, 2, 20 }),
	BOTH_FROM("BAR1 comes to show a table, MMU mapped", begins_mapped, true,
	     STEPS({ space, 3, 9 }, { vram, 3, 0x900, G_TABLE(0) }, { tlb, 3 },
		   { maps, BAR1 + 0x900000, PAGE_SIZE }, { shows, 0, 0x900000 }, { tlb, 3 }),
	     STEPS({ window, 1, VIRTUAL }, { tlb, 3 }), STEPS({ pokes, 240, PTE(0, G_DATA) }),
	     STEPS({ tlb }, { as_stored, 30 })),
	BOTH_FROM("a CPU writes entries beside invalidates", begins_mapped, true,
	     STEPS({ maps, BAR1 + G_TABLE(0), PAGE_SIZE }),
	     STEPS({ tlb }, { pokes, 248, PTE(0, G_DATA) }, { tlb }, { as_stored, 31 }),
	     STEPS({ pokes, 240, PTE(0, G_DATA) }, { tlb }, { as_stored, 30 }),
	     STEPS({ tlb }, { as_stored, 30 }, { as_stored, 31 })),
	/* the host stores its golden image where the context is: in the table */
	PLAY("a context is saved over a table", { vram, 0, 20, G_DATA },
	     { vram, 0, 256, G_TABLE(0) }, { vram, 0, 257, G_TABLE(0) + PAGE_SIZE }, { tlb },
	     { has, 1, 20 }, { inst, 2, 0, 256 << 12 }, FECS(FALCON_CPUCTL, FALCON_CPUCTL_START),
	     FECS(FECS_WRCMD_DATA, FECS_CHAN_VALID | G_INST(2) >> 12),
	     FECS(FECS_WRCMD_CMD, FECS_OS_CMD_SET_CHAN), { tlb }, { has, 1, 20 },
	     FECS(FECS_WRCMD_CMD, FECS_OS_CMD_SAVE), { tlb }, { lacks, 1, 20 }),
	PLAY("memory goes and comes back", { sys, 0, 20, SETUP_RAM }, { tlb }, { has, 1, 20 },
	     { tlb }, { ram_goes }, { lacks, 1, 20 }, { memory, SETUP_RAM }, { tlb },
	     { has, 1, 20 }),
	PLAY("an invalidate names a space", { space, 1, 2 }, { binds, 2 }, { vram, 0, 20, G_DATA },
	     { vram, 1, 20, G_DATA }, { tlb, 1 }, { has, 2, 20 }, { tlb }, { has, 1, 20 },
	     { none, 0, 20 }, { none, 1, 20 }, { tlb_all }, { lacks, 1, 20 },
	     { lacks, 2, 20 }),
	PLAY("an invalidate names a space that shares a table", { space, 1, 2 },
	     { stores, G_PD(1), SMALL_TABLE(GMMU_PDE_APERTURE_VRAM, G_TABLE(0)) }, { binds, 2 },
	     { maps, BAR1 + G_TABLE(0), PAGE_SIZE }, { pokes, 160, PTE(0, G_DATA) }, { tlb, 1 },
	     { has, 2, 20 }, { tlb }, { has, 1, 20 }, { pokes, 160, 0 }, { tlb }, { lacks, 1, 20 },
	     { tlb, 1 }, { lacks, 2, 20 }),
	/* space 1 is served between spaces 0 and 2, and for long */
	BOTH("two spaces share a table", false,
	     STEPS({ space, 1, 2 }, { space, 2, 3 },
		   { stores, G_PD(1), SMALL_TABLE(GMMU_PDE_APERTURE_SYS_COH, IOVA(0x90)) },
		   { stores, G_PD(2), SMALL_TABLE(GMMU_PDE_APERTURE_VRAM, G_TABLE(0)) },
		   { binds, 2 }, { binds, 3 }, { has, 1, 16 }, { has, 3, 16 },
		   { maps, BAR1 + G_TABLE(0), PAGE_SIZE }, { ram_is_slow, MS }),
	     STEPS({ tlb_all }), STEPS({ sleeps, MS / 2 }, { pokes, 128, 0 }, { tlb_all }),
	     STEPS({ ram_is_slow, 0 }, { lacks, 1, 16 }, { lacks, 3, 16 })),

	FLUSHES("two CPUs ask for flushes", 200000, { { reads_often }, { asks }, { asks } }),
	FLUSHES("a CPU asks for flushes, and commands", 100000, { { asks, 0, 1 } }),
	FLUSHES("a CPU commands while a read is served", 300000,
		{ { asks, 0, 1 }, { reads_often } }),

	BEYOND_LIMIT("more is pinned than may be"),
	BEYOND_LIMIT("more is pinned than may be, in two spaces",
		     { fills, G_TABLE(1), SYS_PTE(LOCKED), 16 }, { space, 1, 2 }, { binds, 2 }),
	AT_THE_END("an IOMMU translates", IOMMU_TRANSLATES, 0, has, has),
	AT_THE_END("an IOMMU does not translate", IOMMU_IDENTITY, 0, lacks, has),
	AT_THE_END("an IOMMU does not translate behind a bridge", IOMMU_IDENTITY, 1, lacks, has),
	/* the stand-in's addresses are not those of RAM: page 41 is refused, too */
	AT_THE_END("no IOMMU", IOMMU_NONE, 0, lacks, lacks),
	/* invalidates of a page that is mapped do not fault again and again meanwhile */
	PLAY("an entry before its memory", { sys, 0, 40, LOCKED }, { tlb }, { lacks, 1, 40 },
	     { counts }, { tlb, 0, 99 }, { faulted, 0, 1 }, { memory, LOCKED },
	     { sleeps, 100 * MS }, { tlb }, { has, 1, 40 }, { sleeps, 100 * MS }, { tlb },
	     { counts }, { sleeps, 100 * MS }, { tlb }, { faulted, 0, 0 }),
	PLAY("a bounce buffer", { bounces }, { sys, 0, 40, IOVA(40) }, { tlb }, { lacks, 1, 40 },
	     { pinned, 0 }),
	PLAY2("a page of a BAR for memory", { gives_bar3 }, { sys, 0, 20, LOCKED }, { tlb },
	     { cuts, 0, PAGE_SIZE }, { closes, .i = 1 }, { unmakes, .i = 1 },
	     { remakes, 1, .i = 1 }, { bar3_is_apart }),
	PLAY("a guest asks for no snoop",
	     { stores, G_TABLE(0) + 160, PTE(GMMU_PTE_APERTURE_SYS_NCOH, SETUP_RAM) }, { tlb },
	     { has, 1, 20 }, { no_snoop }),

	PLAY("PRAMIN moves", { maps, PRAMIN_BASE, PRAMIN_SIZE }, { pramin, 0x130000 },
	     { shows, 0x3000, 0x133000 }, { pramin, 0x260000 }, { shows, 0x3000, 0x263000 },
	     { pramin, PART - 0x80000 }, { shows, 0x7f000, PART - 0x1000 },
	     { shows, 0x80000, NOTHING }, { shows, 0xff000, NOTHING }, { pramin, PART },
	     { shows, 0, NOTHING }),
	PLAY("BAR1 shows a space", { maps, BAR1, 0x20000 }, { shows, 0x5000, 0x5000 },
	     { space, 1, 9 }, { vram, 1, 5, G_DATA }, { vram, 1, 6, G_DATA + 0x7000 },
	     { vram, 1, 8, PART }, { vram, 1, 9, PART - 0x1000 }, { window, 1, VIRTUAL },
	     { shows, 0x5000, G_DATA }, { shows, 0x6000, G_DATA + 0x7000 },
	     { shows, 0x7000, NOTHING }, { shows, 0x8000, NOTHING },
	     { shows, 0x9000, PART - 0x1000 },
	     { pramin, G_TABLE(1) }, { writes, PRAMIN_BASE + 40, 0 }, { tlb, 1 },
	     { shows, 0x5000, NOTHING }, { shows, 0x6000, G_DATA + 0x7000 }, { window, 1, 0 },
	     { shows, 0x5000, 0x5000 }),
	RAM_IN_BAR1("BAR1 shows the VMM's memory"),
	RAM_IN_BAR1("BAR1 alone shows the VMM's memory", { disables, 1 }, { unbinds, 1 }),
	PLAY("a frame for another device", { maps, BAR1, 0x20000 }, { no_device, 0x4000 },
	     { shows, 0x4000, 0x4000 }),
	PLAY("slices show nothing in the end", { slices, 0 }, { space, 1, 9 },
	     { sys, 1, 0, IOVA(20) }, { vram, 1, 1, G_DATA },
	     { stores, G_TABLE(1) + 16, PTE(0, G_DATA) | GMMU_PTE_RO },
	     { stores, G_TABLE(1) + 24, PTE(0, G_DATA) | GMMU_PTE_WRITE_DISABLE },
	     { stores, G_TABLE(1) + 32, SYS_PTE(IOVA(21)) | GMMU_PTE_READ_DISABLE },
	     { window, 3, VIRTUAL }, { window, 1, VIRTUAL }, { pinned, 2 }, { slices, 0 },
	     { window, 1, 0 }, { unmaps_mmu }, { closes }, { slices, 1 }, { unmakes },
	     { slices, 1 }),

	DOORBELL_PLAY("doorbells with PFIFO off", { writes, PMC_ENABLE, ~PMC_ENABLE_FIFO }),
	DOORBELL_PLAY("doorbells are moved", { moves, 16 * PAGE_SIZE }, { doorbell, 1 },
	     { moves, PAGE_SIZE }, { resets }),
	DOORBELL_PLAY("a process forks", { forks, 0 }, { forks, 1 }, { resets }),
	DOORBELL_PLAY("a mapping gets a hole", { maps, BAR1 + DOORBELLS - 0x2000, 16 * PAGE_SIZE },
	     { shows, 0x2000, G_USERD(0) }, { cuts, 0, PAGE_SIZE }, { resets }),
	BOTH("doorbells are moved meanwhile", true, STEPS(MAP_DOORBELLS),
	     STEPS({ moves, 16 * PAGE_SIZE }, { shows, 0x4000, 0x804000 },
		   { moves, 16 * PAGE_SIZE }), STEPS({ resets }), STEPS({ hands_over })),
	PLAY("own memory, and no more", { may_map, FLUSH_BAR, PAGE_SIZE, 1 },
	     { may_map, FLUSH_BAR, 2 * PAGE_SIZE },
	     { may_map, FLUSH_BAR - PAGE_SIZE, 2 * PAGE_SIZE }, { may_map, FLUSH_BAR, 256 << 20 },
	     { may_map, PRAMIN_BASE, PRAMIN_SIZE, 1 },
	     { may_map, PRAMIN_BASE, PRAMIN_SIZE + PAGE_SIZE },
	     { may_map, PRAMIN_BASE - PAGE_SIZE, 0x2000 }, { may_map, BAR1, 16 << 20, 1 },
	     { may_map, BAR1, (16 << 20) + PAGE_SIZE }),
	UNMAPPED_PLAY("2 MiB of BAR1", { resets }, { maps, BAR1, 16 << 20 },
	     { huge, 0x203000, VM_FAULT_NOPAGE }, { shows, 0x201000, 0x201000 },
	     { huge, DOORBELLS + 0x9000, VM_FAULT_NOPAGE }, { space, 0, 17 }, USERD_AT(DOORBELLS),
	     { binds, 17 }, { huge, DOORBELLS + 0x9000, VM_FAULT_FALLBACK },
	     { huge, 0x403000, VM_FAULT_NOPAGE }, { cuts, 0, PAGE_SIZE },
	     { huge, 0x3000, VM_FAULT_FALLBACK }, { cuts, 0x3ff000, PAGE_SIZE },
	     { huge, 0x203000, VM_FAULT_FALLBACK },
	     { huge, 0x603000, VM_FAULT_SIGBUS, FAULT_FLAG_REMOTE }),
	PLAY("2 MiB of BAR3", { maps, BAR3, 4 << 20 }, { huge, 0x3000, VM_FAULT_FALLBACK }),
	{ "many mappings", 1, {}, .roles = { { maps_many } },
	  .must = { { &m_count, 0, IS(MOST_MAPPINGS), "S6: mappings of a vGPU" },
		    { &m_count, 1, IS(200), "a mapping that is closed makes room" } } },
	{ "munmap() beside a reset", 1, {},
	  { .switch_ppm = 100000, .delay_ppm = 100000, .delay_ns = 2 * MS }, .ms = 400,
	  .roles = { { unmaps }, { resets_often, .lazy = true } },
	  .must = { { &m_count, 0, AT_LEAST(20), "nothing is unmapped" } } },

	/* one that reads a guest's memory: its target may be another's by then */
	{ "a copy ends late", 1, LATE, .roles = { PLAYS(0, { holds, 1 }, { space, 0, 2 },
	     { binds, 2 }, { within, 25000 * MS }, { closes }, { unmakes }, { holds, 0 },
	     { sleeps, 100 * MS }, { lost }, { remakes, 0 }) } },
	{ "a table is read while the card goes", 1, BUSY,
	  { .delay_ppm = 1000000, .delay_ns = 20 * MS }, .before = begins, .may_lose = true,
	  .roles = { PLAYS(0, { space, 1, 2 },
	     { binds, 2 }, { vram, 0, 20, G_DATA }, { tlb }, { vram, 1, 30, G_DATA },
	     { holds, 1 }, { tlb, 1 }, { lacks, 2, 20 }, { sleeps, 100 * MS }, { lost }),
	     { plays, 0, (u64)STEPS({ goes }), .lazy = true }, PLAYS(0, { lets_end }) } },
	{ "a scrub ends late", 1, LATE, .roles = { PLAYS(0, { closes }, { holds, 1 },
	     { unmakes }, { holds, 0 }, { sleeps, 100 * MS }, { remakes, 0 }) } },
	UNMAPPED_ROW("a vGPU that outlives its device", 1, is_listed_late),
};

/* clang-format on */

SCENES(table)
