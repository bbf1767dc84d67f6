// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest has GR write into the host's context image (S3). FECS obeys an image and the patch list
 * that its header names, so that the image's pages are PRIV: a shader's or a copy's store is a
 * fault there. But two units of GR write with the authority to use PRIV pages. They are the bundle
 * buffer (SCC, SWDX) and the page pool (SCC, GCC), and a guest names the places of both by virtual
 * addresses, in its context's patch list. nouveau maps both buffers PRIV (ctxgf100.c, ctxgk104.c:
 * mmio_vram(..., true), the attribute buffer false; gf100.c since), and so do nvgpu (gr_gk20a.c
 * gr_gk20a_map_global_ctx_buffers(): CIRCULAR and PAGEPOOL, not ATTRIBUTE) and hw/golden.c. So a
 * GK110 does reach PRIV pages by them. Open: which bits of a bundle or of a constant end up where
 * in the buffer. Here the unit stores words that a guest has given it.
 *
 * SWDX also obeys the bundles that it reads: at another address than SCC's they are the guest's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/gr.h"
#include "gk110/gr_patch.h"
#include "gk110/grinit.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

/* where the guest has its context, its patch list, and the list that it is after */
#define VA_CTX	   0x40000ull
#define VA_LIST	   0x50000ull
#define VA_EVIL	   0x51000ull
#define MEM_CTX	   (G_DATA + 0x10000)
#define MEM_LIST   (G_DATA + 0x20000)
#define MEM_EVIL   (G_DATA + 0x21000)
#define CHAN	   2
#define SPACE	   1
#define EVIL_VALUE 0x12345678u

static u32 scc_bundle, scc_pagepool, swdx_bundle, gcc_pagepool;

static u32 *priv_word(u64 pd, u64 va)
{
	u64 pte = mmu_translate(pd, va & ~0xfffull);

	if (!pte || FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM)
		return NULL; /* a fault, or memory of the VMM */
	return (u32 *)chip_vram((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) + (va & 0xfff));
}

static void fecs_write(u32 reg, u32 val)
{
	switch (reg) {
	case GR_PATCH_SCC_BUNDLE_BASE:
		scc_bundle = val;
		return;
	case GR_PATCH_SCC_PAGEPOOL_BASE:
		scc_pagepool = val;
		return;
	case GR_PATCH_GPC_BUNDLE_BASE:
		swdx_bundle = val;
		return;
	case GR_PATCH_TPC_PAGEPOOL_BASE:
		gcc_pagepool = val;
		return;
	}
	if (reg == HOSTMEM_PRAMIN && val == EVIL_VALUE)
		harness_fail("S3: FECS writes 0x%08x to register 0x%06x, both chosen by vGPU 0",
			     val, reg);
}

/*
 * hub.fuc ctx_load, ctx_mmio_exec: executes the list that the image's header names, and clears it
 */
static void fecs_loads(const struct kvgpu_chan *c)
{
	const u32 *block = (const u32 *)chip_vram(c->inst.at.v);
	u64 pd = (block[GMMU_INST_PDB_LO / 4] & GMMU_INST_PDB_LO_ADDR) |
		 (u64)block[GMMU_INST_PDB_HI / 4] << 32;
	u64 ctx = (block[RAMIN_GR_CTX / 4] & RAMIN_CTX_ADDR_LO) | (u64)block[RAMIN_GR_CTX / 4 + 1]
									  << 32;
	u32 *count = priv_word(pd, ctx + GR_CTX_OS_PATCH_COUNT),
	    *list = priv_word(pd, ctx + GR_CTX_OS_PATCH_ADDR), i;
	const u32 *reg, *val;

	if (!count)
		return; /* FECS faults: no image there */
	for (i = 0; i < *count; i++) {
		reg = priv_word(pd, ((u64)*list << 8) + 8 * i);
		val = priv_word(pd, ((u64)*list << 8) + 8 * i + 4);
		if (!reg || !val)
			return;
		fecs_write(*reg, *val);
	}
	*count = 0;
}

/* the guest's methods fill the unit's buffer */
static void unit_writes(const struct kvgpu_chan *c, u32 base, const u32 *words, u32 nr)
{
	const u32 *block = (const u32 *)chip_vram(c->inst.at.v);
	u64 pd = (block[GMMU_INST_PDB_LO / 4] & GMMU_INST_PDB_LO_ADDR) |
		 (u64)block[GMMU_INST_PDB_HI / 4] << 32;
	u32 i, *at;

	for (i = 0; i < nr; i++) {
		at = priv_word(pd, ((u64)base << 8) + 4 * i);
		if (at)
			*at = words[i];
	}
}

/* a channel with its context at @ctx, whose patch list has @nr pairs. NULL: refused */
static struct kvgpu_chan *context_at(struct world_vgpu *g, u64 ctx, const u32 (*pair)[2], u32 nr)
{
	struct kvgpu_chan *c;
	u32 i;

	g_space(g, SPACE);
	for (i = 0; i < 4; i++)
		g_map_vram(g, SPACE, (u32)(ctx >> 12) + i, MEM_CTX + i * 0x1000);
	g_map_vram(g, SPACE, VA_LIST >> 12, MEM_LIST);
	g_map_vram(g, SPACE, VA_EVIL >> 12, MEM_EVIL);
	g_store32(g, MEM_CTX + GR_CTX_OS_PATCH_COUNT, nr);
	g_store32(g, MEM_CTX + GR_CTX_OS_PATCH_ADDR, VA_LIST >> 8);
	for (i = 0; i < nr; i++) {
		g_store32(g, MEM_LIST + 8 * i, pair[i][0]);
		g_store32(g, MEM_LIST + 8 * i + 4, pair[i][1]);
	}
	g_store32(g, MEM_EVIL, HOSTMEM_PRAMIN);
	g_store32(g, MEM_EVIL + 4, EVIL_VALUE);
	g_inst(g, CHAN, SPACE, ctx);
	g_bind(g, CHAN);
	c = vmach_chan_find(g->v, (gchid_t){ CHAN });
	return c && c->gr ? c : NULL;
}

static void attack(const struct kvgpu_chan *c, const u32 *base)
{
	static const u32 header[] = { 1, VA_EVIL >> 8 };

	if (!c)
		return;
	/* what the golden image has, which no list has replaced yet */
	scc_bundle = chip.reg[GR_PATCH_SCC_BUNDLE_BASE / 4];
	scc_pagepool = chip.reg[GR_PATCH_SCC_PAGEPOOL_BASE / 4];
	swdx_bundle = chip.reg[GR_PATCH_GPC_BUNDLE_BASE / 4];
	gcc_pagepool = chip.reg[GR_PATCH_TPC_PAGEPOOL_BASE / 4];
	fecs_loads(c);
	unit_writes(c, *base, header, 2);
	fecs_loads(c); /* after another tenant's turn */
}

/* as a driver does it: the buffers are in memory of the guest's, which FECS does not obey */
static void apart(void **state)
{
	static const u32 pair[][2] = {
		{ GR_PATCH_SCC_BUNDLE_BASE, VA_LIST >> 8 },
		{ GR_PATCH_SCC_PAGEPOOL_BASE, VA_LIST >> 8 },
	};
	struct kvgpu_chan *c;

	setup_begin(&quiet, &calm, 2);
	c = context_at(&world.vgpu[0], VA_CTX, pair, 2);
	assert_non_null(c);
	attack(c, &scc_bundle);
	assert_int_equal(ioread32(c->gr->image.cpu + GR_CTX_OS_PATCH_COUNT), 0);
	assert_int_equal(ioread32(c->gr->image.cpu + GR_CTX_OS_PATCH_ADDR),
			 (c->gr->va + world.gpu->hw.gr_ctx_size) >> 8);
	setup_end();
}

static void bundles_by_the_patch_list(void **state)
{
	static const u32 pair[][2] = {
		{ GR_PATCH_SCC_BUNDLE_BASE, VA_CTX >> 8 },
		{ GR_PATCH_SCC_BUNDLE_SIZE, GR_PATCH_BUNDLE_SIZE_VALID | 0x30 },
		{ GR_PATCH_GPC_BUNDLE_BASE, VA_CTX >> 8 },
		{ GR_PATCH_GPC_BUNDLE_SIZE, GR_PATCH_BUNDLE_SIZE_VALID | 0x30 },
	};

	setup_begin(&quiet, &calm, 2);
	attack(context_at(&world.vgpu[0], VA_CTX, pair, 4), &scc_bundle);
	setup_end();
}

static void constants_by_the_patch_list(void **state)
{
	static const u32 pair[][2] = {
		{ GR_PATCH_SCC_PAGEPOOL_BASE, VA_CTX >> 8 },
		{ GR_PATCH_SCC_PAGEPOOL, GR_PATCH_PAGEPOOL_VALID },
		{ GR_PATCH_TPC_PAGEPOOL_BASE, VA_CTX >> 8 },
	};

	setup_begin(&quiet, &calm, 2);
	attack(context_at(&world.vgpu[0], VA_CTX, pair, 3), &scc_pagepool);
	setup_end();
}

static void buffer_check(const struct kvgpu_chan *c, const char *unit, u32 base, u32 size)
{
	const u32 *block = (const u32 *)chip_vram(c->inst.at.v);
	u64 pd = (block[GMMU_INST_PDB_LO / 4] & GMMU_INST_PDB_LO_ADDR) |
		 (u64)block[GMMU_INST_PDB_HI / 4] << 32;
	u64 va = (u64)base << 8, end = va + size;

	if (va < c->gr->va + world.gpu->hw.gr_ctx_size + PAGE_SIZE && end > c->gr->va)
		harness_fail("S3: %s has its buffer at 0x%llx, in the context image", unit,
			     (unsigned long long)va);
	for (; va < end; va += PAGE_SIZE)
		if (!(mmu_translate(pd, va & ~0xfffull) & GMMU_PTE_PRIV))
			harness_fail("S3: %s obeys what is at 0x%llx, which vGPU 0 can write", unit,
				     (unsigned long long)va);
}

/* SWDX gets bundles that SCC has not written, and constants come from elsewhere, too */
static void forged_bundles(void **state)
{
	static const u32 pair[][2] = {
		{ GR_PATCH_SCC_BUNDLE_BASE, VA_LIST >> 8 },
		{ GR_PATCH_GPC_BUNDLE_BASE, VA_EVIL >> 8 },
		{ GR_PATCH_TPC_PAGEPOOL_BASE, VA_EVIL >> 8 },
	};
	struct kvgpu_chan *c;

	setup_begin(&quiet, &calm, 2);
	c = context_at(&world.vgpu[0], VA_CTX, pair, 3);
	assert_non_null(c);
	attack(c, &scc_bundle);
	if (swdx_bundle != scc_bundle)
		harness_fail("S3: SWDX obeys bundles at 0x%llx, and SCC writes them at 0x%llx",
			     (u64)swdx_bundle << 8, (u64)scc_bundle << 8);
	buffer_check(c, "SWDX", swdx_bundle, GR_BUNDLE_SIZE);
	buffer_check(c, "SCC", scc_pagepool, GR_PAGEPOOL_SIZE);
	buffer_check(c, "GCC", gcc_pagepool, GR_PAGEPOOL_SIZE);
	setup_end();
}

/* a list that is empty leaves the golden image's addresses: the guest puts its context there */
static void by_the_golden_image(void **state)
{
	u64 golden;

	setup_begin(&quiet, &calm, 2);
	golden = (u64)chip.reg[GR_PATCH_SCC_BUNDLE_BASE / 4] << 8;
	assert_int_not_equal(golden, 0);
	attack(context_at(&world.vgpu[0], golden, NULL, 0), &scc_bundle);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(apart),
		cmocka_unit_test(bundles_by_the_patch_list),
		cmocka_unit_test(constants_by_the_patch_list),
		cmocka_unit_test(forged_bundles),
		cmocka_unit_test(by_the_golden_image),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
