// SPDX-License-Identifier: GPL-2.0-only
/* What flushes are for: CPUs' stores that may not have arrived, and what L2 may still have. */
#include "gk110/bar.h"
#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/kernel/kernel.h"
#include "selftests/module/harness/task.h"

#define FLUSH(reg) (chip.flush[((reg)-FLUSH_BAR) / 4])

/* For each page of video memory: the number of the flush of BARs that brings the stores there. */
static u32 *arrive;

void flush_begin(void)
{
	free(arrive);
	arrive = calloc(CHIP_VRAM >> 12, sizeof(*arrive));
	if (!arrive)
		abort();
}

void flush_stored(u64 at, u64 len)
{
	u64 page;

	for (page = at >> 12; page <= (at + len - 1) >> 12; page++)
		arrive[page] = FLUSH(FLUSH_BAR).begun + 1;
}

bool flush_brought(u64 at, u64 len)
{
	u64 page;

	for (page = at >> 12; page <= (at + len - 1) >> 12; page++)
		if (arrive[page] > FLUSH(FLUSH_BAR).ended)
			return false;
	return true;
}

static void table_must_be_there(void *ctx, u64 at, u64 size)
{
	const struct context *c = ctx;

	FAIL_ON(at < CHIP_VRAM && !flush_brought(at, size),
		"S2: a TLB is invalidated, and stores in a table of vGPU %u at 0x%llx may arrive later",
		c->vgpu, at);
}

void flush_before_invalidate(u64 pd, bool all)
{
	struct context *c;
	u32 r;

	for (r = 0; r < CHIP_RUNLS; r++)
		for (c = &chip.pbdma[r]; c; c = c == &chip.pbdma[r] ? &chip.engine[r] : NULL)
			if (c->chid != NO_CHAN && (all || c->pd == pd))
				mmu_walk(c->pd, table_must_be_there, NULL, c);
}

/* Another thread of the host may be between its two flushes, so each is counted by itself. */
struct l2_flushes flush_l2_next(void)
{
	return (struct l2_flushes){ FLUSH(FLUSH_L2_SYSMEM_INVALIDATE).begun + 1,
				    FLUSH(FLUSH_L2_DIRTY).begun + 1 };
}

bool flush_l2_ended(struct l2_flushes nr)
{
	return FLUSH(FLUSH_L2_SYSMEM_INVALIDATE).ended >= nr.invalidate &&
	       FLUSH(FLUSH_L2_DIRTY).ended >= nr.dirty;
}
