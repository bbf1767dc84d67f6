// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory: the host's tables and windows follow the guest's (S1, S2), and show to nobody what is
 * another's (S4); what that takes of the host is bounded (S5, S6).
 */
#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/scene.h"

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
static u64 began, warned, faults;
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
static u64 shown_now(unsigned long where)
{
	u64 off = (u64)mm_look(setup_mm, where) << PAGE_SHIFT, vram;
	unsigned int bar = off >= BAR3_PHYS ? 3 : 1;

	off -= bar == 3 ? BAR3_PHYS : BAR1_PHYS;
	if (chip_show(bar, off, &vram) != SHOWS_VRAM || vram - place.part >= PART)
		return NOTHING;
	return vram - place.part;
}

static u64 shown(unsigned long where)
{
	mm_touch(setup_mm, where);
	return shown_now(where);
}

static void put(unsigned long where, u64 val)
{
	u64 to;

	mm_touch(setup_mm, where);
	to = place.part + shown_now(where) + offset_in_page(where);
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

static bool no_tlb_has(u64 pd)
{
	u32 i;

	for (i = 0; i < chip.nr_tlb && chip.tlb[i].pd != pd; i++)
		;
	return i == chip.nr_tlb;
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
	if (reg == FLUSH_L2_DIRTY && !flushed)
		harness_fail("S2: L2 is written back before CPUs' writes to BARs are in it");
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

/*
 * What a guest and its VMM do, or what must be so. TLB: .a times once more, of space .b. FAULTS:
 * between .a and .b page faults since COUNT.
 */
struct step {
	enum { END, ON, SYS, VRAM, NONE, TLB, TLB_ALL, SPACE, BIND, UNBIND, REG, PRAMIN, SHOW,
	       STORE, FILL, RAM, RAM_HAS, HAS, LACKS, AS_STORED, NOT_STALE, STALE, LIST, PINS,
	       PINS_OVER, MEMORY, RAM_GOES, RAM_IS_SLOW, LIMIT, WARNED, BOUNCE, NO_SNOOP, REACH,
	       WATCH, HOLD, WITHIN, MAP, MAPS, MOVE, FORK, CUT, PUT, SHOWS, HUGE, NO_DEVICE,
	       TOUCH, COUNT, FAULTS, DOORBELL, RESET, HAND_OVER, SLICES, CLOSE, UNMAKE, REMAKE,
	       LOST, SLEEP } op;
	u64 a, b, c;
};
#define STEPS(...) ((u64)(const struct step[]){ __VA_ARGS__, {} })

static bool vmm_step(const struct step *s)
{
	u64 i;

	switch (s->op) {
	case PINS: return container_pins(setup_c) == pins + s->a;
	case PINS_OVER: return container_pins(setup_c) > s->a;
	case MEMORY: container_map(setup_c, s->a, 0, RAM_PAGES * PAGE_SIZE); break;
	case RAM_GOES: container_unmap(setup_c, SETUP_RAM, SETUP_RAM); break;
	case RAM_IS_SLOW: setup_c->slow_ns = s->a; break;
	case LIMIT: setup_c->lock_limit = s->a; break;
	case WARNED:
		i = warned;
		warned = setup_c->warned;
		return warned > i && warned - i <= s->a;
	case BOUNCE: iommu_bounces = true; break;
	case NO_SNOOP: return !world.pdev.no_snoop;
	case REACH:
		*(s->b ? &world.pdev.dev.bus_dma_limit : &world.pdev.dev.mask) =
			(frame_of(40) << PAGE_SHIFT) + 3 * PAGE_SIZE - 2;
		iommu_kind = s->a;
		break;
	case WATCH: chip_before_write = s->a ? bars_first : NULL; break;
	case HOLD: chip.copy_held = s->a; break;
	case WITHIN: return harness_now - began <= s->a;
	case MAP: at = mm_map(setup_mm, g->dev, s->a, s->b); return at;
	case MAPS: return !mm_map(setup_mm, g->dev, s->a, s->b) == !s->c;
	case MOVE: at = mm_move(setup_mm, at, s->a); return at;
	case FORK: mm_touch(mm_fork(setup_mm, s->a), at); break;
	case CUT: mm_unmap(setup_mm, at + s->a, s->b); break;
	case PUT: put(at + s->a, s->b); break;
	case SHOWS: return shown(at + s->a) == s->b;
	case HUGE: return mm_touch_huge(setup_mm, at + s->a, s->c) == s->b;
	case NO_DEVICE: return !mm_for_device(setup_mm, at + s->a);
	case DOORBELL:
		id = admin_chan(0, 1).bound ? id_of(0, 1) : id;
		return (mm_touch(setup_mm, at) == (BAR1_PHYS >> 12) + id / 8) == s->a;
	case RESET: world_reset(0); break;
	case HAND_OVER: /* the neighbour gets the doorbells that vGPU 0 had */
		g_inst(V(1), 9, 0, 0);
		g_bind(V(1), 9);
		return admin_chan(1, 9).bound && id_of(1, 9) / 8 == id / 8;
	case SLICES:
		return slice_is_well(1, place.bar1, 16 << 20, s->a) &&
		       slice_is_well(3, place.bar3, 4 << 20, s->a) &&
		       slice_is_well(1, place.pramin, PRAMIN_SIZE, s->a);
	case CLOSE:
		if (g_mmu && !s->a)
			mm_unmap(setup_mm, g_mmu, PAGE_SIZE);
		world_close(s->a);
		break;
	case UNMAKE: world_unmake(s->a); break;
	case REMAKE: return !world_make(s->a) == !s->b && (!s->b || world_open(s->a, setup_c));
	case LOST: return admin_read(CARD, "lost");
	case SLEEP: harness_sleep(s->a); break;
	default: break;
	}
	return true;
}

static bool step(const struct step *s)
{
	u64 *ram = (u64 *)setup_c->ram, i;

	switch (s->op) {
	case ON: g = V(s->a); place = admin_place(s->a); break;
	case SYS: g_map_sys(g, s->a, s->b, s->c); break;
	case VRAM: g_map_vram(g, s->a, s->b, s->c); break;
	case NONE: g_unmap(g, s->a, s->b); break;
	case TLB: for (i = 0; i <= s->a; i++) g_tlb(g, s->b); break;
	case TLB_ALL: invalidate_all(); break;
	case SPACE: g_space(g, s->a); g_inst(g, s->b, s->a, 0); break;
	case BIND: g_bind(g, s->a); break;
	case UNBIND: g_enable(g, s->a, false); g_unbind(g, s->a); break;
	case REG: g_write(g, s->a, s->b); break;
	case PRAMIN: g_write(g, HOSTMEM_PRAMIN, s->a >> HOSTMEM_PRAMIN_BASE_SHIFT); break;
	case SHOW: g_write(g, s->a == 1 ? HOSTMEM_BAR1 : HOSTMEM_BAR3, s->b); break;
	case STORE: g_store64(g, s->a, s->b); break;
	case FILL: store(s->a, s->b, s->c); break;
	case RAM: ram[s->a / 8] = s->b; break;
	case RAM_HAS: return ram[s->a / 8] == s->b;
	case HAS: return entry_of(s->a, s->b);
	case LACKS: return !entry_of(s->a, s->b);
	case AS_STORED:
		return !entry_of(1, s->a) == !*(u64 *)chip_vram(place.part + G_TABLE(0) + 8 * s->a);
	case NOT_STALE: return no_tlb_has(directory_of(s->a));
	case STALE:
		chip.tlb[chip.nr_tlb].pd = directory_of(s->a);
		g_unbind(g, s->a);
		chip.nr_tlb++;
		g_bind(g, s->a);
		break;
	case LIST: return list_is_read(s->a) == s->b;
	case TOUCH: for (i = 0; i < s->a; i++) mm_touch(setup_mm, at + i * PAGE_SIZE); break;
	case COUNT: faults = admin_read(0, "page_faults"); break;
	case FAULTS:
		i = admin_read(0, "page_faults") - faults;
		return i >= s->a && i <= s->b;
	default: return vmm_step(s);
	}
	return true;
}
/* clang-format on */

static void go(const struct step *s)
{
	const struct step *first = s;

	for (; s && s->op; s++) {
		if (!step(s))
			harness_fail("%s: step %td is not so", scene->name, s - first);
		if (!scene->roles[1].act)
			world_check(scene->name);
	}
}

static void plays(const struct role *r)
{
	go((const struct step *)r->arg);
}

static void begins(const struct scene *s)
{
	step(&(struct step){ ON, 0 });
	began = harness_now;
	pins = container_pins(setup_c);
	go((const struct step *)s->arg[0]);
}

/* The VMM has mapped the page of the MMU's registers, as QEMU does. */
static void begins_mapped(const struct scene *s)
{
	g_mmu_mm = setup_mm;
	g_mmu = mm_map(setup_mm, world.vgpu[0].dev, MMU, PAGE_SIZE);
	begins(s);
}

static void ends(const struct scene *s)
{
	go((const struct step *)s->arg[1]);
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

	step(&(struct step){ ON, 0 });
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

/*
 * What nouveau does for a small CUDA program: objects in its window of BAR3, a space, a channel
 * with a context, buffers, and all of it away again.
 */
static void program(const struct role *r)
{
	chip_before_write = counts_flush;
	maps_pages(3, 8, true);
	g_space(g, 1);
	maps_pages(1, 6, true);
	g_inst(g, 2, 1, 0x400000);
	g_bind(g, 2);
	LIST(g, 1, 2);
	g_enable(g, 2, true);
	maps_pages(1, 8, true);
	maps_pages(1, 8, false);
	g_enable(g, 2, false);
	LIST(g, 1);
	g_unbind(g, 2);
	maps_pages(3, 4, false);
}

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

	step(&(struct step){ SPACE, 3, 9 });
	for (i = 0; i < r->arg; i++)
		g_map_vram(g, 3, stride * i, G_TABLE(0) + i * PAGE_SIZE);
	at = mm_map(setup_mm, g->dev, BAR1, 2 * TABLE_PAGES * PAGE_SIZE);
	g_write(g, HOSTMEM_BAR1, VIRTUAL);
	for (round = 0; round < 4; round++) {
		for (i = 0; i < r->arg; i++)
			put(at + stride * i * PAGE_SIZE + 240, round & 1 ? 0 : SYS_PTE(IOVA(32)));
		g_tlb(g, 0);
		for (i = 0; i < r->arg; i++)
			if (!!entry_of(1, 512 * i + 30) == (round & 1))
				harness_fail("S2: the GPU has the entry of before in page %u", i);
	}
}

static u8 *flush_page;
#define FLUSH(reg)	(chip.flush[((reg)-FLUSH_BAR) / 4])
#define FLUSH_WORD(reg) (*(volatile u32 *)(flush_page + offset_in_page(reg)))

static void has_flush_page(const struct scene *s)
{
	begins(s);
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
			if (harness_now >= end || FLUSH(reg[i]).ended <= begun[i])
				harness_fail("S1: flush 0x%06x is not done (%u)", reg[i], how);
	}
}

static void reads(const struct role *r)
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

static void resets(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(harness_below(5 * MS)))
		world_reset(0);
}

/*
 * A page of vGPU 1's BAR3, which has a struct page, is given to vGPU 0 as memory. vGPU 1 goes, and
 * another tenant gets its slice, which vGPU 0's GPU would reach by then.
 */
static void bar_for_memory(const struct role *r)
{
	u64 slice = admin_place(1).bar3;

	at = mm_map(setup_mm, world.vgpu[1].dev, BAR3, PAGE_SIZE);
	mm_touch(setup_mm, at); /* untouched, the module refuses the fault of VFIO's core */
	container_map_device(setup_c, LOCKED, at);
	go((const struct step *)r->arg);
	NEEDS(admin_place(1).bar3 == slice);
	if (frame_of(20) == (BAR3_PHYS + slice) >> PAGE_SHIFT)
		harness_fail("S4: a GPU reaches another tenant's BAR3 by DMA");
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
#define PLAY(n, ...) ROW(n, 1, plays, STEPS(__VA_ARGS__))
#define UNMAPPED_PLAY(n, ...) UNMAPPED_ROW(n, 1, plays, STEPS(__VA_ARGS__))
#define PLAY2(n, ...) ROW(n, 2, plays, STEPS(__VA_ARGS__))
#define BOTH(n, ...) BOTH_FROM(n, begins, __VA_ARGS__)
#define BOTH_FROM(n, begin, all, first, one, other, last)                                     \
	{ n, 2, {}, .interleaved = all, .before = begin, .arg = { first, last },             \
	  .roles = { { plays, 0, one }, { plays, 0, other } }, .after = ends }
#define ROOM(n, lists, tries, ...)                                                            \
	{ n, 1, {}, VERY_COARSE, .before = many_spaces, .arg = __VA_ARGS__,    \
	  .roles = { { writes_once, 0, lists } },                                              \
	  .must = { { &m_bytes, 0, AT_MOST(lists ? 120 << 20 : 16 << 20), "S5: one write" },   \
		    { &m_refusals, 0, AT_MOST(tries), "S5: one write" } } }
#define PROGRAM(n, begin, ...)                                                                \
	{ n, 1, {}, .before = begin,                                                         \
	  .arg = { STEPS({ MAP, BAR1, 16 << 20 }, { SPACE, 3, 9 }, { SHOW, 3, VIRTUAL }) },    \
	  .roles = { { program } },                                                            \
	  .must = { { &m_syncs, 0, AT_MOST(31), "" }, { &m_tables_read, 0, AT_MOST(110), "" }, \
		    { &m_flushes, 0, AT_MOST(72), "" }, { &m_tlb_flushes, 0, 10, 14, "" },     \
		    ##__VA_ARGS__ } }
#define FLUSHES(n, ppm, ...)                                                                  \
	{ n, 2, { .eager = true, .late = 3 }, { .switch_ppm = ppm }, .ms = 200,                \
	  .arg = { STEPS({ MAP, FLUSH_BAR, PAGE_SIZE }) }, .before = has_flush_page,           \
	  .roles = __VA_ARGS__, .must = { { &m_count, 0, AT_LEAST(50), "nobody asks" } } }
#define LATE { .eager = true, .late = 2 }, { .oversleep_ns = 2 * MS }, .before = begins, \
	     .may_lose = true
#define BEYOND_LIMIT(n, ...)                                                                  \
	UNMAPPED_PLAY(n, { MEMORY, LOCKED }, { MEMORY, LOCKED + 0x800000 },                    \
	     { MEMORY, LOCKED + 0x1000000 },                                                   \
	     { MEMORY, LOCKED + 0x1800000 }, { LIMIT, 64 },                                    \
	     { FILL, G_TABLE(0), SYS_PTE(LOCKED), 16 }, ##__VA_ARGS__, { TLB, 9 },             \
	     { WARNED, 10 }, { SLEEP, 5000 * MS }, { TLB, 9 }, { WARNED, 10 }, { LIMIT, 0 },   \
	     { SLEEP, 5000 * MS }, { TLB }, { PINS_OVER, 64 })
/* Page 42 is beyond the card's addresses, or a bridge's, page 41 is not. */
#define AT_THE_END(n, kind, bridge, beyond, inside)                                           \
	PLAY(n, { SYS, 0, 40, IOVA(40) }, { TLB }, { REACH, kind, bridge },                    \
	     { SYS, 0, 42, IOVA(42) }, { TLB }, { beyond, 1, 42 },                             \
	     { SYS, 0, 41, IOVA(41) }, { TLB }, { inside, 1, 41 }, { REACH, IOMMU_TRANSLATES })
#define USERD_AT(at) { REG, PFIFO_USERD_BAR1, PFIFO_USERD_BAR1_VALID | (at) >> 12 }
#define PUT_IN_PAGE_5(i) \
	{ PUT, 0x5000 + 8 * (i), PTE(0, G_DATA) }, { TLB, 0, 3 }, { SHOWS, (i) << 12, G_DATA }
#define MAP_DOORBELLS \
	USERD_AT(DOORBELLS), { MAP, BAR1 + DOORBELLS, 16 * PAGE_SIZE }, { DOORBELL, 1 }
#define DOORBELL_PLAY(n, ...) PLAY2(n, MAP_DOORBELLS, __VA_ARGS__, { HAND_OVER })
#define RAM_IN_BAR1(n, ...)                                                                   \
	PLAY(n, { MAP, BAR1, 0x20000 }, { SPACE, 1, 9 }, { SYS, 1, 5, IOVA(3) }, ##__VA_ARGS__,  \
	     { SHOW, 1, VIRTUAL }, { SHOWS, 0x5000, NOTHING }, { STORE, 0x5008, 1 },  \
	     { RAM_HAS, 0x3008, 1 }, { RAM_GOES }, { STORE, 0x5008, 2 }, { RAM_HAS, 0x3008, 1 })

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
	UNMAPPED_PLAY("a page of data is mapped once", { SPACE, 3, 9 }, { VRAM, 3, 5, G_TABLE(3) },
	     { MAP, BAR3, 4 << 20 }, { COUNT }, { TOUCH, 128 }, { FAULTS, 2, 2 },
	     { SHOW, 3, VIRTUAL }, { TLB, 0, 3 }, { COUNT }, { TOUCH, 128 }, { FAULTS, 0, 1 },
	     { SHOW, 3, VIRTUAL }, { TLB, 0, 3 }, { COUNT }, PUT_IN_PAGE_5(32), PUT_IN_PAGE_5(33),
	     PUT_IN_PAGE_5(34), PUT_IN_PAGE_5(35), { FAULTS, 4, 4 }),
	UNMAPPED_PLAY("a table that is gone is data", { SPACE, 1, 2 }, { BIND, 2 },
	     { MAP, BAR1 + G_TABLE(1), 64 * PAGE_SIZE }, { COUNT }, { TOUCH, 64 },
	     { FAULTS, 64, 64 }, { TLB, 0, 1 }, { UNBIND, 2 }, { COUNT }, { TOUCH, 64 },
	     { FAULTS, 1, 1 }),
	{ "a share of the pool beside scattered ones", 3, {}, .roles = { { scatter } },
	  .must = { { &m_count, 0, AT_LEAST(20), "there is no room at all" },
		    { &m_count, 1, AT_MOST(1), "S5: a vGPU's own share of the pool" } } },

	PLAY2("a runlist beyond the partition", { LIST, G_LIST, 1 }, { PRAMIN, PART - PRAMIN_SIZE },
	     { REG, PRAMIN_BASE + PRAMIN_SIZE - PAGE_SIZE, 1 }, { LIST, PART - PAGE_SIZE, 1 },
	     { LIST, PART, 0 }, { LIST, PART + G_LIST, 0 }, { LIST, (1ull << 40) - PAGE_SIZE, 0 }),
	PLAY("an entry is written at once", { SLEEP, 20 * MS }, { SYS, 0, 20, IOVA(20) }, { TLB },
	     { VRAM, 0, 20, G_DATA }, { TLB }, { NONE, 0, 20 }, { TLB }),
	PLAY("what goes back to the pool has its zeros", { SPACE, 1, 2 }, { VRAM, 1, 16, G_DATA },
	     { BIND, 2 }, { HAS, 2, 16 }, { UNBIND, 2 }),
	PLAY("a directory begins without entries", { SPACE, 1, 2 }, { STORE, G_PD(1), 0 },
	     { BIND, 2 }, { STALE, 2 }, { NOT_STALE, 2 }),
	UNMAPPED_PLAY("a table in system memory", { SPACE, 0, 2 },
	     { RAM, 0x90000, SMALL_TABLE(GMMU_PDE_APERTURE_SYS_COH, IOVA(0x40)) },
	     { STORE, G_INST(2) + GMMU_INST_PDB_LO,
	       IOVA(0x90) | FIELD_PREP(GMMU_INST_PDB_LO_TARGET, GMMU_PTE_APERTURE_SYS_COH) },
	     { BIND, 2 }, { RAM, 0x400f0, SYS_PTE(IOVA(0xb0)) }, { TLB_ALL }, { HAS, 2, 30 },
	     { PINS, 1 }, { RAM, 0x400f0, 0 }, { TLB_ALL }, { LACKS, 2, 30 }, { SLEEP, 100 * MS },
	     { PINS, 0 }),
	PLAY("L2 has nothing of an unpinned page", { SYS, 0, 20, IOVA(20) }, { TLB }, { PINS, 1 },
	     { NONE, 0, 20 }, { TLB }, { SLEEP, 100 * MS }, { PINS, 0 }, { SYS, 0, 20, IOVA(20) },
	     { TLB }, { NONE, 0, 20 }, { TLB }, { SLEEP, 100 * MS }),
	PLAY("a window's writes come first", { SPACE, 1, 9 }, { SYS, 1, 0, IOVA(20) },
	     { SHOW, 3, VIRTUAL }, { PINS, 1 }, { WATCH, 1 }, { NONE, 1, 0 }, { TLB, 0, 1 },
	     { SLEEP, 100 * MS }, { PINS, 0 }, { WATCH, 0 }),
	ROW("one page of a table is written", 1, writes_pages, 1),
	ROW("pages of a table are written", 1, writes_pages, 5),
	ROW("many pages of a table are written", 1, writes_pages, TABLE_PAGES - 1),
	ROW("all pages of a table are written", 1, writes_pages, TABLE_PAGES),
	BOTH("BAR1 comes to show a table", true,
	     STEPS({ SPACE, 3, 9 }, { VRAM, 3, 0x900, G_TABLE(0) },
		   { MAP, BAR1 + 0x900000, PAGE_SIZE }, { SHOWS, 0, 0x900000 }),
	     STEPS({ SHOW, 1, VIRTUAL }), STEPS({ PUT, 240, PTE(0, G_DATA) }),
	     STEPS({ TLB }, { AS_STORED, 30 })),
	PLAY("a mapped page becomes a table", { MAP, BAR1 + G_TABLE(1), PAGE_SIZE },
	     { SHOWS, 0, G_TABLE(1) }, { SPACE, 1, 2 }, { BIND, 2 }, { PUT, 160, PTE(0, G_DATA) },
	     { TLB, 0, 1 }, { HAS, 2, 20 }, { PUT, 160, 0 }, { TLB, 0, 1 }, { LACKS, 2, 20 }),
	PLAY("PRAMIN comes to show a table", { MAP, PRAMIN_BASE, PRAMIN_SIZE },
	     { PRAMIN, 0x400000 }, { SHOWS, 0x40000, 0x440000 }, { PRAMIN, G_PD(0) },
	     { PUT, 0x40000 + 240, PTE(0, G_DATA) }, { TLB }, { AS_STORED, 30 }),
	PLAY("a mapped page becomes a directory", { MAP, BAR3 + G_PD(1), PAGE_SIZE },
	     { SHOWS, 0, G_PD(1) }, { VRAM, 1, 20, G_DATA }, { SPACE, 1, 2 }, { BIND, 2 },
	     { HAS, 2, 20 }, { PUT, 0, 0 }, { TLB, 0, 1 }, { LACKS, 2, 20 }),
	BOTH_FROM("BAR1 comes to show a table, MMU mapped", begins_mapped, true,
	     STEPS({ SPACE, 3, 9 }, { VRAM, 3, 0x900, G_TABLE(0) },
		   { MAP, BAR1 + 0x900000, PAGE_SIZE }, { SHOWS, 0, 0x900000 }),
	     STEPS({ SHOW, 1, VIRTUAL }, { TLB, 0, 3 }), STEPS({ PUT, 240, PTE(0, G_DATA) }),
	     STEPS({ TLB }, { AS_STORED, 30 })),
	BOTH_FROM("a CPU writes entries beside invalidates", begins_mapped, true,
	     STEPS({ MAP, BAR1 + G_TABLE(0), PAGE_SIZE }),
	     STEPS({ TLB }, { PUT, 248, PTE(0, G_DATA) }, { TLB }, { AS_STORED, 31 }),
	     STEPS({ PUT, 240, PTE(0, G_DATA) }, { TLB }, { AS_STORED, 30 }),
	     STEPS({ TLB }, { AS_STORED, 30 }, { AS_STORED, 31 })),
	PLAY("an invalidate names a space", { SPACE, 1, 2 }, { BIND, 2 }, { VRAM, 0, 20, G_DATA },
	     { VRAM, 1, 20, G_DATA }, { TLB, 0, 1 }, { HAS, 2, 20 }, { TLB }, { HAS, 1, 20 },
	     { NONE, 0, 20 }, { NONE, 1, 20 }, { TLB_ALL }, { LACKS, 1, 20 },
	     { LACKS, 2, 20 }),
	PLAY("an invalidate names a space that shares a table", { SPACE, 1, 2 },
	     { STORE, G_PD(1), SMALL_TABLE(GMMU_PDE_APERTURE_VRAM, G_TABLE(0)) }, { BIND, 2 },
	     { MAP, BAR1 + G_TABLE(0), PAGE_SIZE }, { PUT, 160, PTE(0, G_DATA) }, { TLB, 0, 1 },
	     { HAS, 2, 20 }, { TLB }, { HAS, 1, 20 }, { PUT, 160, 0 }, { TLB }, { LACKS, 1, 20 },
	     { TLB, 0, 1 }, { LACKS, 2, 20 }),
	/* space 1 is served between spaces 0 and 2, and for long */
	BOTH("two spaces share a table", false,
	     STEPS({ SPACE, 1, 2 }, { SPACE, 2, 3 },
		   { STORE, G_PD(1), SMALL_TABLE(GMMU_PDE_APERTURE_SYS_COH, IOVA(0x90)) },
		   { STORE, G_PD(2), SMALL_TABLE(GMMU_PDE_APERTURE_VRAM, G_TABLE(0)) },
		   { BIND, 2 }, { BIND, 3 }, { HAS, 1, 16 }, { HAS, 3, 16 },
		   { MAP, BAR1 + G_TABLE(0), PAGE_SIZE }, { RAM_IS_SLOW, MS }),
	     STEPS({ TLB_ALL }), STEPS({ SLEEP, MS / 2 }, { PUT, 128, 0 }, { TLB_ALL }),
	     STEPS({ RAM_IS_SLOW, 0 }, { LACKS, 1, 16 }, { LACKS, 3, 16 })),

	FLUSHES("two CPUs ask for flushes", 200000, { { reads }, { asks }, { asks } }),
	FLUSHES("a CPU asks for flushes, and commands", 100000, { { asks, 0, 1 } }),
	FLUSHES("a CPU commands while a read is served", 300000, { { asks, 0, 1 }, { reads } }),

	BEYOND_LIMIT("more is pinned than may be"),
	BEYOND_LIMIT("more is pinned than may be, in two spaces",
		     { FILL, G_TABLE(1), SYS_PTE(LOCKED), 16 }, { SPACE, 1, 2 }, { BIND, 2 }),
	AT_THE_END("an IOMMU translates", IOMMU_TRANSLATES, 0, HAS, HAS),
	AT_THE_END("an IOMMU does not translate", IOMMU_IDENTITY, 0, LACKS, HAS),
	AT_THE_END("an IOMMU does not translate behind a bridge", IOMMU_IDENTITY, 1, LACKS, HAS),
	/* the stand-in's addresses are not those of RAM: page 41 is refused, too */
	AT_THE_END("no IOMMU", IOMMU_NONE, 0, LACKS, LACKS),
	PLAY("a bounce buffer", { BOUNCE }, { SYS, 0, 40, IOVA(40) }, { TLB }, { LACKS, 1, 40 },
	     { PINS, 0 }),
	ROW("a page of a BAR for memory", 2, bar_for_memory,
	    STEPS({ SYS, 0, 20, LOCKED }, { TLB }, { CUT, 0, PAGE_SIZE }, { CLOSE, 1 },
		  { UNMAKE, 1 }, { REMAKE, 1, 1 })),
	PLAY("a guest asks for no snoop",
	     { STORE, G_TABLE(0) + 160, PTE(GMMU_PTE_APERTURE_SYS_NCOH, SETUP_RAM) }, { TLB },
	     { HAS, 1, 20 }, { NO_SNOOP }),

	PLAY("PRAMIN moves", { MAP, PRAMIN_BASE, PRAMIN_SIZE }, { PRAMIN, 0x130000 },
	     { SHOWS, 0x3000, 0x133000 }, { PRAMIN, 0x260000 }, { SHOWS, 0x3000, 0x263000 },
	     { PRAMIN, PART - 0x80000 }, { SHOWS, 0x7f000, PART - 0x1000 },
	     { SHOWS, 0x80000, NOTHING }, { SHOWS, 0xff000, NOTHING }, { PRAMIN, PART },
	     { SHOWS, 0, NOTHING }),
	PLAY("BAR1 shows a space", { MAP, BAR1, 0x20000 }, { SHOWS, 0x5000, 0x5000 },
	     { SPACE, 1, 9 }, { VRAM, 1, 5, G_DATA }, { VRAM, 1, 6, G_DATA + 0x7000 },
	     { VRAM, 1, 8, PART }, { VRAM, 1, 9, PART - 0x1000 }, { SHOW, 1, VIRTUAL },
	     { SHOWS, 0x5000, G_DATA }, { SHOWS, 0x6000, G_DATA + 0x7000 },
	     { SHOWS, 0x7000, NOTHING }, { SHOWS, 0x8000, NOTHING },
	     { SHOWS, 0x9000, PART - 0x1000 },
	     { PRAMIN, G_TABLE(1) }, { REG, PRAMIN_BASE + 40, 0 }, { TLB, 0, 1 },
	     { SHOWS, 0x5000, NOTHING }, { SHOWS, 0x6000, G_DATA + 0x7000 }, { SHOW, 1, 0 },
	     { SHOWS, 0x5000, 0x5000 }),
	RAM_IN_BAR1("BAR1 shows the VMM's memory"),
	RAM_IN_BAR1("BAR1 alone shows the VMM's memory", { UNBIND, 1 }),
	PLAY("a frame for another device", { MAP, BAR1, 0x20000 }, { NO_DEVICE, 0x4000 },
	     { SHOWS, 0x4000, 0x4000 }),
	PLAY("slices show nothing in the end", { SLICES, 0 }, { SPACE, 1, 9 },
	     { SYS, 1, 0, IOVA(20) }, { VRAM, 1, 1, G_DATA },
	     { STORE, G_TABLE(1) + 16, PTE(0, G_DATA) | GMMU_PTE_RO },
	     { STORE, G_TABLE(1) + 24, PTE(0, G_DATA) | GMMU_PTE_WRITE_DISABLE },
	     { STORE, G_TABLE(1) + 32, SYS_PTE(IOVA(21)) | GMMU_PTE_READ_DISABLE },
	     { SHOW, 3, VIRTUAL }, { SHOW, 1, VIRTUAL }, { PINS, 2 }, { SLICES, 0 }, { SHOW, 1, 0 },
	     { CLOSE, 0 }, { SLICES, 1 }, { UNMAKE, 0 }, { SLICES, 1 }),

	DOORBELL_PLAY("doorbells with PFIFO off", { REG, PMC_ENABLE, ~PMC_ENABLE_FIFO }),
	DOORBELL_PLAY("doorbells are moved", { MOVE, 16 * PAGE_SIZE }, { DOORBELL, 1 },
	     { MOVE, PAGE_SIZE }, { RESET }),
	DOORBELL_PLAY("a process forks", { FORK, 0 }, { FORK, 1 }, { RESET }),
	DOORBELL_PLAY("a mapping gets a hole", { MAP, BAR1 + DOORBELLS - 0x2000, 16 * PAGE_SIZE },
	     { SHOWS, 0x2000, G_USERD(0) }, { CUT, 0, PAGE_SIZE }, { RESET }),
	BOTH("doorbells are moved meanwhile", true, STEPS(MAP_DOORBELLS),
	     STEPS({ MOVE, 16 * PAGE_SIZE }, { SHOWS, 0x4000, 0x804000 }, { MOVE, 16 * PAGE_SIZE }),
	     STEPS({ RESET }), STEPS({ HAND_OVER })),
	PLAY("own memory, and no more", { MAPS, FLUSH_BAR, PAGE_SIZE, 1 },
	     { MAPS, FLUSH_BAR, 2 * PAGE_SIZE }, { MAPS, FLUSH_BAR - PAGE_SIZE, 2 * PAGE_SIZE },
	     { MAPS, FLUSH_BAR, 256 << 20 }, { MAPS, PRAMIN_BASE, PRAMIN_SIZE, 1 },
	     { MAPS, PRAMIN_BASE, PRAMIN_SIZE + PAGE_SIZE },
	     { MAPS, PRAMIN_BASE - PAGE_SIZE, 0x2000 }, { MAPS, BAR1, 16 << 20, 1 },
	     { MAPS, BAR1, (16 << 20) + PAGE_SIZE }),
	UNMAPPED_PLAY("2 MiB of BAR1", { RESET }, { MAP, BAR1, 16 << 20 },
	     { HUGE, 0x203000, VM_FAULT_NOPAGE }, { SHOWS, 0x201000, 0x201000 },
	     { HUGE, DOORBELLS + 0x9000, VM_FAULT_NOPAGE }, { SPACE, 0, 17 }, USERD_AT(DOORBELLS),
	     { BIND, 17 }, { HUGE, DOORBELLS + 0x9000, VM_FAULT_FALLBACK },
	     { HUGE, 0x403000, VM_FAULT_NOPAGE }, { CUT, 0, PAGE_SIZE },
	     { HUGE, 0x3000, VM_FAULT_FALLBACK }, { CUT, 0x3ff000, PAGE_SIZE },
	     { HUGE, 0x203000, VM_FAULT_FALLBACK },
	     { HUGE, 0x603000, VM_FAULT_SIGBUS, FAULT_FLAG_REMOTE }),
	PLAY("2 MiB of BAR3", { MAP, BAR3, 4 << 20 }, { HUGE, 0x3000, VM_FAULT_FALLBACK }),
	{ "many mappings", 1, {}, .roles = { { maps_many } },
	  .must = { { &m_count, 0, IS(MOST_MAPPINGS), "S6: mappings of a vGPU" },
		    { &m_count, 1, IS(200), "a mapping that is closed makes room" } } },
	{ "munmap() beside a reset", 1, {},
	  { .switch_ppm = 100000, .delay_ppm = 100000, .delay_ns = 2 * MS }, .ms = 400,
	  .roles = { { unmaps }, { resets, .lazy = true } },
	  .must = { { &m_count, 0, AT_LEAST(20), "nothing is unmapped" } } },

	/* one that reads a guest's memory: its target may be another's by then */
	{ "a copy ends late", 1, LATE, .roles = { { plays, 0, STEPS({ HOLD, 1 }, { SPACE, 0, 2 },
	     { BIND, 2 }, { WITHIN, 25000 * MS }, { CLOSE, 0 }, { UNMAKE, 0 }, { HOLD, 0 },
	     { SLEEP, 100 * MS }, { LOST }, { REMAKE, 0, 0 }) } } },
	{ "a scrub ends late", 1, LATE, .roles = { { plays, 0, STEPS({ CLOSE, 0 }, { HOLD, 1 },
	     { UNMAKE, 0 }, { HOLD, 0 }, { SLEEP, 100 * MS }, { REMAKE, 0, 0 }) } } },
	UNMAPPED_ROW("a vGPU that outlives its device", 1, is_listed_late),
};

/* clang-format on */

SCENES(table)
