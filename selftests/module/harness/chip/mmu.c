// SPDX-License-Identifier: GPL-2.0-only
/* Page tables as the chip reads them at that moment. Pages known to be zero are skipped. */
#include "gk110/mmu.h"
#include "selftests/module/harness/kernel/base.h"
#include "selftests/module/harness/chip/state.h"

#include <linux/bitfield.h>

#define PD_ENTRIES    8192u
#define SMALL_ENTRIES 32768u
#define BIG_ENTRIES   1024u

static u64 entry(u64 table, u64 i)
{
	u64 at = table + i * GMMU_ENTRY_SIZE;

	return at < CHIP_VRAM ? *(u64 *)chip_vram(at) : 0;
}

/* Return the first entry from @i to @end that is not 0, or @end. Sanitizers would make it slow. */
static __attribute__((no_sanitize("address", "undefined"))) u32 next_entry(u64 table, u32 i,
									   u32 end)
{
	const u64 *e;
	u32 stop;
	u64 at;

	for (; i < end; i = stop) {
		stop = min(ALIGN_DOWN(i, 512u) + 512u, end);
		at = table + (u64)i * GMMU_ENTRY_SIZE;
		if (at >= CHIP_VRAM)
			return end;
		if (!chip_pages[at >> 12])
			continue;
		for (e = (const u64 *)chip_vram(at); i < stop; i++, e++)
			if (*e)
				return i;
	}
	return end;
}

/* The table of one size of pages behind @pde. For one in system memory @table gets ~0. */
static void walk_pde(u64 pde, u64 va, bool big, chip_table_fn table, chip_leaf_fn leaf, void *ctx)
{
	u32 aperture = big ? FIELD_GET(GMMU_PDE_BIG_APERTURE, pde) :
			     FIELD_GET(GMMU_PDE_SMALL_APERTURE, pde);
	u32 nr = (big ? BIG_ENTRIES : SMALL_ENTRIES) >> FIELD_GET(GMMU_PDE_SIZE, pde);
	u64 at = big ? FIELD_GET(GMMU_PDE_BIG_ADDR, pde) : FIELD_GET(GMMU_PDE_SMALL_ADDR, pde);
	u32 shift = big ? GMMU_BIG_SHIFT_128K : GMMU_SMALL_SHIFT, i;

	if (!aperture)
		return;
	at <<= GMMU_ADDR_SHIFT;
	table(ctx, aperture == GMMU_PDE_APERTURE_VRAM ? at : ~0ull, nr * GMMU_ENTRY_SIZE);
	for (i = leaf ? 0 : nr; (i = next_entry(at, i, nr)) < nr; i++)
		if (entry(at, i) & GMMU_PTE_VALID)
			leaf(ctx, va + ((u64)i << shift), entry(at, i), big);
}

void mmu_walk(u64 pd, chip_table_fn table, chip_leaf_fn leaf, void *ctx)
{
	u32 i;

	table(ctx, pd, PD_ENTRIES * GMMU_ENTRY_SIZE);
	for (i = 0; (i = next_entry(pd, i, PD_ENTRIES)) < PD_ENTRIES; i++) {
		walk_pde(entry(pd, i), (u64)i << 27, false, table, leaf, ctx);
		walk_pde(entry(pd, i), (u64)i << 27, true, table, leaf, ctx);
	}
}

u64 mmu_translate(u64 pd, u64 va)
{
	u64 pde = entry(pd, va >> 27), pte = 0;

	if (FIELD_GET(GMMU_PDE_BIG_APERTURE, pde) == GMMU_PDE_APERTURE_VRAM) {
		pte = entry(FIELD_GET(GMMU_PDE_BIG_ADDR, pde) << GMMU_ADDR_SHIFT,
			    va >> GMMU_BIG_SHIFT_128K & (BIG_ENTRIES - 1));
		if (pte & GMMU_PTE_VALID)
			return pte + FIELD_PREP(GMMU_PTE_ADDR, va >> 12 & 31);
	}
	if (FIELD_GET(GMMU_PDE_SMALL_APERTURE, pde) == GMMU_PDE_APERTURE_VRAM)
		pte = entry(FIELD_GET(GMMU_PDE_SMALL_ADDR, pde) << GMMU_ADDR_SHIFT,
			    va >> GMMU_SMALL_SHIFT & (SMALL_ENTRIES - 1));
	return pte & GMMU_PTE_VALID ? pte : 0;
}
