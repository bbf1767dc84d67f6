// SPDX-License-Identifier: GPL-2.0-only
/* The host's copy channel. For each store to its doorbell the chip does one copy or fill. */
#include <sys/mman.h>

#include "gk110/ce.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/push.h"
#include "gk110/ram.h"
#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/kernel/services.h"

#include <linux/bitfield.h>

#define HELD_MAX  8
#define WORDS_MAX 64

static struct {
	u32 word[WORDS_MAX], nr;
} held[HELD_MAX];
static u32 nr_held;
static u32 method[A0B5_MTHD_END / 4];

static u8 *virtual(u64 pd, u64 va)
{
	u64 pte = mmu_translate(pd, va);

	FAIL_ON(!pte, "the host's copy channel faults at 0x%llx", va);
	return chip_vram((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) + (va & 0xfff));
}

static u8 *place(u32 target, u64 at, u32 len)
{
	const struct dma_entry *e;

	if (target == A0B5_PHYS_LOCAL_FB) {
		FAIL_ON(at + len > CHIP_VRAM, "S1: the host's copy names video memory at 0x%llx",
			at);
		return chip_vram(at);
	}
	if (chip.no_master)
		return NULL;
	e = iommu_find(at);
	FAIL_ON(!e || !e->cpu || at + len > e->at + e->size,
		"S2: the host's copy names DMA address 0x%llx, which is not mapped", at);
	return e->cpu + (at - e->at);
}

static u64 address(u32 upper)
{
	return (u64)(method[upper / 4] & A0B5_ADDRESS_UPPER) << 32 | method[upper / 4 + 1];
}

static void fill(u64 at, u64 len, u32 value)
{
	u64 i;

	if (!value && !((at | len) & 0xfff)) {
		place(A0B5_PHYS_LOCAL_FB, at, len);
		madvise(chip_vram(at), len, MADV_DONTNEED);
		memset(chip_pages + (at >> 12), 0, len >> 12);
		return;
	}
	for (i = 0; i < len; i += 4)
		memcpy(place(A0B5_PHYS_LOCAL_FB, at + i, 4), &value, 4);
	chip_wrote(at, len);
}

/* The engine reads and writes behind CPUs' stores by a BAR only if these were flushed. */
static void stores_must_be_there(u32 target, u64 at, u64 len)
{
	FAIL_ON(target == A0B5_PHYS_LOCAL_FB && !flush_brought(at, len),
		"CPUs' stores may arrive after the host's copy at 0x%llx", at);
}

static void launch(u64 pd)
{
	u32 flags = method[A0B5_LAUNCH_DMA / 4], len = method[A0B5_LINE_LENGTH_IN / 4];
	u32 to = method[A0B5_SET_DST_PHYS_MODE / 4], from = method[A0B5_SET_SRC_PHYS_MODE / 4];
	u64 dst = address(A0B5_OFFSET_OUT_UPPER), src = address(A0B5_OFFSET_IN_UPPER),
	    sem = address(A0B5_SET_SEMAPHORE_A);
	u8 *done;

	stores_must_be_there(to, dst, flags & A0B5_LAUNCH_REMAP ? (u64)len * 4 : len);
	if (flags & A0B5_LAUNCH_REMAP) {
		fill(dst, (u64)len * 4, method[A0B5_SET_REMAP_CONST_A / 4]);
	} else {
		u8 *d = place(to, dst, len), *s = place(from, src, len);

		stores_must_be_there(from, src, len);
		if (d && s)
			memcpy(d, s, len);
		if (to == A0B5_PHYS_LOCAL_FB)
			chip_wrote(dst, len);
	}
	done = virtual(pd, sem);
	memcpy(done, &method[A0B5_SET_SEMAPHORE_PAYLOAD / 4], 4);
	chip_wrote(done - chip.vram, 4);
}

void copy_fetch(u64 inst, u32 put)
{
	const u32 *in = (const u32 *)chip_vram(inst), *w;
	u64 pd = chip_pd(inst), ring = in[RAMFC_GP_BASE / 4] & RAMFC_GP_BASE_LO, entry;
	u32 log2 = FIELD_GET(RAMFC_GP_BASE_LIMIT2, in[RAMFC_GP_BASE_HI / 4]), nr;

	memcpy(&entry, virtual(pd, ring + ((put - 1) & ((1u << log2) - 1)) * GP_ENTRY_SIZE), 8);
	w = (const u32 *)virtual(pd, entry & GP_ENTRY0_GET);
	nr = FIELD_GET(GP_ENTRY1_LENGTH, entry >> 32);
	FAIL_ON(nr_held == HELD_MAX || nr > WORDS_MAX,
		"the host's copy channel has %u jobs of up to %u words", nr_held, nr);
	memcpy(held[nr_held].word, w, nr * 4);
	held[nr_held++].nr = nr;
}

void copy_run(u64 inst)
{
	u64 pd = chip_pd(inst);
	u32 i, j, k, m, n;
	const u32 *w;

	for (j = 0; j < nr_held; j++) {
		w = held[j].word;
		for (i = 0; i < held[j].nr; i += n + 1) {
			n = FIELD_GET(PB_COUNT, w[i]);
			m = FIELD_GET(PB_METHOD, w[i]) * 4;
			for (k = 0; k < n; k++)
				if (m + 4 * k < A0B5_MTHD_END)
					method[m / 4 + k] = w[i + 1 + k];
			if (m == A0B5_LAUNCH_DMA)
				launch(pd);
		}
	}
	nr_held = 0;
}

void copy_enable(u32 on)
{
	static const u32 units = PMC_ENABLE_FIFO | PMC_ENABLE_CE0 | PMC_ENABLE_CE1 | PMC_ENABLE_CE2;

	if (on & units || chip.copy_stays)
		return;
	nr_held = 0;
	chip.copy_put = 0;
}
