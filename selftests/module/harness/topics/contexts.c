// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphics contexts (gk110/facts.md): FECS loads images of the host's only, with patch lists that
 * the host has made (S1, S3), whatever a guest's instance blocks and page tables say.
 */
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/gr_patch.h"
#include "gk110/grinit.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "selftests/module/harness/steps.h"

#include <linux/bitfield.h>

#define G	   V(0)
#define VA_CTX	   0x40000ull /* where the guest has a context, in space 1 */
#define VA_LIST	   0x90000ull /* and its patch list */
#define MEM	   (G_DATA + 0x10000)
#define PAIRS	   2048u
#define SPACES_END BIT_ULL(39) /* guests map nothing from here on */

/* What the chip reads for a channel: its block, and in that the directory and the context. */
static struct shown {
	u64 pd, ctx, userd;
	bool bound;
} show(u32 vgpu, u32 chan)
{
	struct admin_chan c = admin_chan(vgpu, chan);
	const u32 *block;

	if (!c.bound)
		return (struct shown){};
	block = (const u32 *)chip_vram(c.inst);
#define AT(reg, lo, hi) ((block[(reg) / 4] & (lo)) | (u64)block[(hi) / 4] << 32)
	return (struct shown){ chip_pd(c.inst),
			       AT(RAMIN_GR_CTX, RAMIN_CTX_ADDR_LO, RAMIN_GR_CTX + 4),
			       AT(RAMFC_USERD, ~0x1ffu, RAMFC_USERD_HI), true };
}

/* A word that FECS reads. It is in video memory, and only privileged accesses reach it. */
static u32 word(u64 pd, u64 va)
{
	u64 pte = mmu_translate(pd, va & ~0xfffull);

	if (!(pte & GMMU_PTE_PRIV) || FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM)
		harness_fail("S3: FECS obeys what is at 0x%llx, which is not the host's", va);
	return *(u32 *)chip_vram((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) + (va & 0xfff));
}

static u64 image_size(u64 pd, u64 va)
{
	u64 size = 0;

	while (mmu_translate(pd, va + size) & GMMU_PTE_PRIV)
		size += PAGE_SIZE;
	return size;
}

/* The guest's context at @va of space 1 has @nr pairs in its patch list, and says @told. */
static void write_context(u64 va, const u32 (*pair)[2], u32 nr, u32 told)
{
	u32 i;

	g_space(G, 1);
	for (i = 0; i < 4; i++) {
		g_map_vram(G, 1, (va >> 12) + i, MEM + i * 0x1000);
		g_map_vram(G, 1, (VA_LIST >> 12) + i, MEM + 0x10000 + i * 0x1000);
	}
	g_store32(G, MEM + GR_CTX_OS_PATCH_COUNT, told);
	g_store32(G, MEM + GR_CTX_OS_PATCH_ADDR, VA_LIST >> 8);
	for (i = 0; i < nr; i++)
		g_store64(G, MEM + 0x10000 + 8 * i, (u64)pair[i][1] << 32 | pair[i][0]);
}

static void run(u32 chan, u32 space, u64 ctx)
{
	g_inst(G, chan, space, ctx);
	g_bind(G, chan);
	LIST(G, chan);
	g_enable(G, chan, true);
}

/* ------------------------------------------------------------------ what is in a block */

static void doorbells(const struct role *r)
{
	u64 size = 512ull << 20,
	    at[] = { size - PAGE_SIZE, size, 2 * size - PAGE_SIZE, 0xfffffff000 };
	u64 part = admin_place(1).part;
	struct world_vgpu *g = V(1);
	struct shown s;
	u32 i;

	for (i = 0; i < 4; i++) {
		at[i] += 2 * USERD_SIZE;
		g_inst_at(g, G_INST(2), at[i], 0, 0);
		g_bind(g, 2);
		s = show(1, 2);
		FAIL_ON(s.bound != !i || (s.bound && s.userd != part + at[i]),
			"S1: a channel has its doorbell at 0x%llx of a partition", at[i]);
		g_unbind(g, 2);
	}
}

/* A channel has an image that lies below its space's limit, or none, where no guest maps. */
static void places(const struct role *r)
{
	u64 limit = 0x3ffffff, size;
	struct shown s;
	u32 i;

	run(2, 0, VA_CTX);
	size = image_size(show(0, 2).pd, VA_CTX);
	g_unbind(G, 2);
	const struct {
		u64 va, limit;
		bool image, physical;
	} cases[] = {
		{ 0, 0 },
		{ 0x12345000, 0, true },
		{ 0xffffff0000, 0 },
		{ 0x12345000, 0, false, true },
		{ limit + 1 - size, limit, true },
		{ limit + 1 - size + PAGE_SIZE, limit },
		{ limit + 1, limit },
		{ PAGE_SIZE, size + PAGE_SIZE - 1, true },
		{ PAGE_SIZE, size - 1 },
		{ PAGE_SIZE, PAGE_SIZE - 1 },
	};

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		g_inst(G, 2, 0, cases[i].va);
		if (cases[i].limit)
			g_store32(G, G_INST(2) + GMMU_INST_LIMIT_LO, cases[i].limit & ~0xfffull);
		if (cases[i].physical)
			g_store32(G, G_INST(2) + RAMIN_GR_CTX, cases[i].va);
		g_bind(G, 2);
		s = show(0, 2);
		FAIL_ON(s.bound == cases[i].physical, "S1: case %u is %s", i,
			s.bound ? "bound" : "refused");
		FAIL_ON(s.bound && (cases[i].image ? s.ctx != cases[i].va ||
							     image_size(s.pd, s.ctx) != size :
						     s.ctx < SPACES_END),
			"S1: FECS is pointed at 0x%llx for a context at 0x%llx", s.ctx,
			cases[i].va);
		g_unbind(G, 2);
	}
}

/* Channel 1 gets a context where channel 2, of the same space, has used a page of the guest's. */
static void where_a_page_was(const struct role *r)
{
	u64 ctx = 18 * PAGE_SIZE;
	struct shown s;
	u32 i;

	run(2, 0, 0);
	LIST(G, 1, 2);
	chip_load_on_gr(id_of(0, 2));
	for (i = 0; i < chip.nr_tlb && chip.tlb[i].va != ctx; i++)
		;
	NEEDS(i < chip.nr_tlb);
	g_inst(G, 1, 0, ctx);
	g_enable(G, 1, true);
	s = show(0, 1);
	NEEDS(s.ctx == ctx && image_size(s.pd, ctx));
	for (i = 0; i < chip.nr_tlb; i++)
		FAIL_ON(chip.tlb[i].pd == s.pd && chip.tlb[i].va == ctx &&
				!(chip.tlb[i].pte & GMMU_PTE_PRIV),
			"S1: FECS finds a page of the guest's for the image");
}

/* ------------------------------------------------------------------ patch lists */

/* Of as many pairs as the guest says FECS gets the first 64, beside the host's. */
static void counts(const struct role *r)
{
	static const u32 told[] = { 0, 1, 64, 65, PAIRS, PAIRS + 1, 0x20000001, ~0u };
	u32 i, own = 0, nr, pair[PAIRS][2];
	struct shown s;
	u64 end;

	for (i = 0; i < PAIRS; i++) {
		pair[i][0] = GR_PATCH_GPC_ATTRIB_BASE;
		pair[i][1] = GR_PATCH_GPC_ATTRIB_VALID | i;
	}
	for (i = 0; i < ARRAY_SIZE(told); i++) {
		write_context(VA_CTX, pair, i ? 0 : PAIRS, told[i]);
		run(2, 1, VA_CTX);
		s = show(0, 2);
		nr = word(s.pd, s.ctx + GR_CTX_OS_PATCH_COUNT);
		own = i ? own : nr;
		end = ((u64)word(s.pd, s.ctx + GR_CTX_OS_PATCH_ADDR) << 8) + 8 * nr;
		FAIL_ON(nr != own + min(told[i], 64u) ||
				(i && word(s.pd, end - 4) != pair[nr - own - 1][1]),
			"S6: a guest has %u pairs, FECS gets %u", told[i], nr - own);
		g_unbind(G, 2);
	}
}

/*
 * Units of GR write to the bundle buffer and the page pool with privilege, and obey what is there.
 * So the host chooses the places: in its own memory, and apart from the image and its list.
 */
static void buffers(const struct role *r)
{
	static const u32 forged[][2] = { { GR_PATCH_SCC_BUNDLE_BASE, VA_CTX >> 8 },
					 { GR_PATCH_GPC_BUNDLE_BASE, VA_LIST >> 8 },
					 { GR_PATCH_SCC_PAGEPOOL_BASE, VA_CTX >> 8 },
					 { GR_PATCH_TPC_PAGEPOOL_BASE, VA_LIST >> 8 } };
	u64 base[4] = {}, list, at;
	struct shown s;
	u32 i, k;

	write_context(VA_CTX, forged, 4, 4);
	run(2, 1, VA_CTX);
	s = show(0, 2);
	list = (u64)word(s.pd, s.ctx + GR_CTX_OS_PATCH_ADDR) << 8;
	for (i = 0; i < 4; i++) {
		for (k = 0; k < word(s.pd, s.ctx + GR_CTX_OS_PATCH_COUNT); k++)
			if (word(s.pd, list + 8 * k) == forged[i][0])
				base[i] = (u64)word(s.pd, list + 8 * k + 4) << 8;
		FAIL_ON(base[i] < list + PAGE_SIZE,
			"S3: a buffer of GR is at 0x%llx, in the context", base[i]);
		for (at = 0; at < (i < 2 ? GR_BUNDLE_SIZE : GR_PAGEPOOL_SIZE); at += PAGE_SIZE)
			word(s.pd, base[i] + at);
	}
	FAIL_ON(base[0] != base[1], "S3: SWDX obeys bundles at 0x%llx, SCC writes them at 0x%llx",
		base[1], base[0]);
}

/* ------------------------------------------------------------- a channel ends, its image stays */

/*
 * A guest leaves an ended channel bound, and has the context of its next one over a part of its
 * addresses. The chip has chosen the ended channel as the next one of its PBDMA, has read its
 * block, and names it in no status. It loads the context when it gets to it, though the channel is
 * disabled by then. Recovery waits for that by a preempt, and gets no CPU before.
 */
static struct {
	u64 pd, image;
	u16 id;
	u32 at; /* 1: it is chosen; 2: the guest binds its next channel; 3: it is loaded */
} next;

static void chooses(u32 reg, u32 val)
{
	if (reg == PCCSR_CHAN(next.id) && val & PCCSR_CHAN_ENABLE_CLR && !next.at) {
		next.pd = chip.pbdma[0].pd;
		next.image = mmu_translate(next.pd, VA_CTX);
		chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
		next.at = 1;
	} else if (reg == PFIFO_PREEMPT && val == next.id && next.at == 1) {
		next.at = 2;
		harness_sleep(2 * MS);
		next.at = 3;
		FAIL_ON(mmu_translate(next.pd, VA_CTX) != next.image,
			"S3: FECS loads a context that is the guest's");
	}
}

/* clang-format off */
STEP(context) { write_context(a, NULL, 0, 0); return true; }
STEP(runs_with) { run(a, 1, b); return true; }
STEP(run_to) { for (c = 2; c <= a; c++) run(c, 1, VA_CTX); return true; }
/* The channel has an image at .b. */
STEP(has_image) { return ASK(show(0, a).ctx == b && image_size(show(0, a).pd, b)); }
STEP(is_held) { UNTIL(chip_hold(id_of(0, a), b)); return true; } /* ns */
STEP(is_driven_off) { UNTIL(!chip.chan[id_of(0, a)].enabled && chip.preempting); return true; }
/* clang-format on */
STEP(is_chosen)
{
	next.id = id_of(0, a);
	UNTIL(chip_fault(next.id, 0x1000));
	chip_before_write = chooses;
	UNTIL(next.at == 2);
	return true;
}
/* clang-format off */
STEP(is_loaded) { NEEDS(next.at == 3); return true; }
/* clang-format on */

/* clang-format off */

/*
 * Channels 2 to @last have one image, and channel 2 is to lose it. A kernel of 20 ms of it reads a
 * bad address, while the host waits to exchange its context: it is ended. The oracle looks at the
 * image of the other one, which goes on.
 */
#define KERNEL_FAULTS(n, last, ...) \
	{ n, 1, EAGER, .first = STEPS({ context, VA_CTX }, { run_to, last }, \
	  { lists, ENTRIES(2, last) }, { has_image, 2, VA_CTX }, \
	  { has_image, last, VA_CTX }, { inst, 2, 1 }, { is_held, 2, 20 * MS }), \
	  .roles = { PLAYS(0, { is_driven_off, 2 }, { sleeps, 5 * MS }, { faults_now, 2 }), \
		     PLAYS(0, { enables, 2 }, { sleeps, 20 * MS }, { lives, 2, 0 }, \
		     ##__VA_ARGS__) } }

static const struct scene table[] = {
	{ "a doorbell outside of the partition", 2, CALM, .roles = { { doorbells } } },
	{ "where a context may be", 1, CALM, .roles = { { places } } },
	{ "a context where a page was", 1, CALM, .roles = { { where_a_page_was } } },
	{ "how many patches FECS gets", 1, CALM, .roles = { { counts } } },
	{ "GR's buffers", 1, CALM, .roles = { { buffers } } },
	KERNEL_FAULTS("a channel faults and loses one image of two", 3, { loads, 3 },
		      { loaded, 3, 1 }),
	KERNEL_FAULTS("a channel faults and loses its own image", 2),
	{ "the next context overlaps an ended one's", 1, EAGER,
	  .roles = { PLAYS(0, { context, VA_CTX }, { runs_with, 2, VA_CTX }, { is_chosen, 2 },
			   { context, VA_CTX + 0x8000 }, { runs_with, 3, VA_CTX + 0x8000 },
			   { is_loaded }, { has_image, 3, VA_CTX + 0x8000 }) } },
};

/* clang-format on */

SCENES(table)
