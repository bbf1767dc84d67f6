// SPDX-License-Identifier: GPL-2.0-only
/* gpu.h has the contracts, README.md what this code may use. */
#include "gpu.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/pmc.h>
#include <gk110/ptimer.h>
#include <gk110/ptop.h>

enum {
	USERD_AREA = 0x200000,
	VRAM_FIRST = 0x1000000,
	WINDOW_ALIGN = 1 << HOSTMEM_PRAMIN_BASE_SHIFT
};

uint32_t bare_read(struct bare_gpu *g, uint32_t reg)
{
	if (g->bars.read)
		return g->bars.read(g->bars.port, reg);
	return *(volatile uint32_t *)(g->bars.bar0 + reg);
}

void bare_write(struct bare_gpu *g, uint32_t reg, uint32_t value)
{
	if (g->bars.write)
		g->bars.write(g->bars.port, reg, value);
	else
		*(volatile uint32_t *)(g->bars.bar0 + reg) = value;
}

uint64_t bare_now_ns(struct bare_gpu *g)
{
	uint32_t high, low;

	do {
		high = bare_read(g, PTIMER_TIME_HIGH);
		low = bare_read(g, PTIMER_TIME_LOW);
	} while (bare_read(g, PTIMER_TIME_HIGH) != high);
	return (uint64_t)high << 32 | low;
}

bool bare_poll(struct bare_gpu *g, uint32_t reg, uint32_t mask, uint32_t value, unsigned int ms)
{
	uint64_t end;

	if ((bare_read(g, reg) & mask) == value)
		return true;
	end = bare_now_ns(g) + ms * 1000000ull;
	while ((bare_read(g, reg) & mask) != value)
		if (bare_now_ns(g) > end)
			return (bare_read(g, reg) & mask) == value;
	return true;
}

bool bare_poll_word(struct bare_gpu *g, const volatile uint32_t *word, uint32_t value,
		    unsigned int ms)
{
	uint64_t end;

	if (*word == value)
		return true;
	end = bare_now_ns(g) + ms * 1000000ull;
	while (*word != value)
		if (bare_now_ns(g) > end)
			return *word == value;
	return true;
}

void bare_delay_us(struct bare_gpu *g, unsigned int us)
{
	uint64_t end = bare_now_ns(g) + us * 1000ull;

	while (bare_now_ns(g) < end)
		;
}

/* ------------------------------------------------------------------ memory through the window */

volatile uint32_t *bare_window(struct bare_gpu *g, enum bare_target t, uint64_t addr)
{
	bare_write(g, HOSTMEM_PRAMIN,
		   FIELD_PREP(HOSTMEM_PRAMIN_TARGET, t) |
			   FIELD_PREP(HOSTMEM_PRAMIN_BASE, addr >> HOSTMEM_PRAMIN_BASE_SHIFT));
	return (volatile uint32_t *)(g->bars.bar0 + PRAMIN_BASE + addr % WINDOW_ALIGN);
}

/* Return how many of the @len bytes at @addr the window shows without another move. */
static size_t window_reach(uint64_t addr, size_t len)
{
	size_t reach = PRAMIN_SIZE - addr % WINDOW_ALIGN;

	return len < reach ? len : reach;
}

void bare_mem_read(struct bare_gpu *g, enum bare_target t, uint64_t addr, void *buf, size_t len)
{
	uint32_t before = bare_read(g, HOSTMEM_PRAMIN), *words = buf;

	while (len) {
		size_t n = window_reach(addr, len), i;
		volatile uint32_t *w = bare_window(g, t, addr);

		for (i = 0; i < n / 4; i++)
			*words++ = w[i];
		addr += n;
		len -= n;
	}
	bare_write(g, HOSTMEM_PRAMIN, before);
}

/* Write zeros where @words is NULL. */
static void mem_write(struct bare_gpu *g, enum bare_target t, uint64_t addr, const uint32_t *words,
		      size_t len)
{
	uint32_t before = bare_read(g, HOSTMEM_PRAMIN);

	while (len) {
		size_t n = window_reach(addr, len), i;
		volatile uint32_t *w = bare_window(g, t, addr);

		for (i = 0; i < n / 4; i++)
			w[i] = words ? *words++ : 0;
		addr += n;
		len -= n;
	}
	/*
	 * This read returns only when the writes have arrived; before that the window must not
	 * move.
	 */
	(void)bare_read(g, HOSTMEM_PRAMIN);
	bare_write(g, HOSTMEM_PRAMIN, before);
}

void bare_mem_write(struct bare_gpu *g, enum bare_target t, uint64_t addr, const void *buf,
		    size_t len)
{
	mem_write(g, t, addr, buf, len);
}

uint32_t bare_mem_read32(struct bare_gpu *g, enum bare_target t, uint64_t addr)
{
	uint32_t v;

	bare_mem_read(g, t, addr, &v, 4);
	return v;
}

void bare_mem_write32(struct bare_gpu *g, enum bare_target t, uint64_t addr, uint32_t value)
{
	bare_mem_write(g, t, addr, &value, 4);
}

void bare_mem_zero(struct bare_gpu *g, enum bare_target t, uint64_t addr, size_t len)
{
	mem_write(g, t, addr, NULL, len);
}

/* ------------------------------------------------------------------ the chip */

static void note_engine(struct bare_gpu *g, uint32_t type, uint32_t runlist, uint32_t reset)
{
	if (type > BARE_CE2)
		return;
	g->engine[type].present = true;
	g->engine[type].runlist = runlist;
	g->engine[type].reset_bit = reset;
}

/* PTOP's format: nouveau nvkm/subdev/top/gk104.c. */
void bare_find_engines(struct bare_gpu *g)
{
	uint32_t runlist = 0, reset = 0, i;

	memset(g->engine, 0, sizeof(g->engine));
	for (i = 0; i < PTOP_DEVICE_NR; i++) {
		uint32_t v = bare_read(g, PTOP_DEVICE(i));

		switch (FIELD_GET(PTOP_DEVICE_KIND, v)) {
		case PTOP_KIND_ENUM:
			runlist = FIELD_GET(PTOP_ENUM_RUNLIST, v);
			reset = FIELD_GET(PTOP_ENUM_RESET, v);
			break;
		case PTOP_KIND_TYPE:
			note_engine(g, FIELD_GET(PTOP_TYPE, v), runlist, reset);
			break;
		default:
			break;
		}
	}
}

void bare_flush(struct bare_gpu *g)
{
	bare_write(g, FLUSH_BAR, FLUSH_TRIGGER);
	bare_poll(g, FLUSH_BAR, FLUSH_BUSY, 0, 2000);
}

void bare_tlb_invalidate(struct bare_gpu *g, enum bare_target t, uint64_t pdb)
{
	bare_poll(g, FB_MMU_CTRL, FB_MMU_CTRL_FIFO_EMPTY, FB_MMU_CTRL_FIFO_EMPTY, 2000);
	bare_write(g, FB_MMU_INVALIDATE_PDB,
		   FIELD_PREP(FB_MMU_INVALIDATE_PDB_TARGET, t) |
			   FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, pdb >> GMMU_ADDR_SHIFT));
	bare_write(g, FB_MMU_INVALIDATE, FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA);
	bare_poll(g, FB_MMU_CTRL, FB_MMU_CTRL_FIFO_EMPTY, FB_MMU_CTRL_FIFO_EMPTY, 2000);
}

static void init_pbdma(struct bare_gpu *g, unsigned int p)
{
	bare_write(g, PBDMA(p) + PBDMA_INTR0, ~0u);
	bare_write(g, PBDMA(p) + PBDMA_INTR0_EN, ~(uint32_t)PBDMA_INTR0_LBREQ);
	bare_write(g, PBDMA(p) + PBDMA_INTR1, ~0u);
	bare_write(g, PBDMA(p) + PBDMA_INTR1_EN, ~0u);
}

/* PBDMAs and PFIFO begin as nouveau begins them (nvkm/engine/fifo/gk104.c, gf100.c) */
void bare_take_over(struct bare_gpu *g)
{
	uint32_t enable, pbdmas, p;

	for (p = 0; p < PMC_NR_LEAF; p++)
		bare_write(g, PMC_INTR_EN(p), 0);
	enable = bare_read(g, PMC_ENABLE);
	bare_write(g, PMC_ENABLE, enable & ~(uint32_t)PMC_ENABLE_FIFO);
	(void)bare_read(g, PMC_ENABLE);
	bare_write(g, PMC_ENABLE, ~0u);
	(void)bare_read(g, PMC_ENABLE);
	bare_write(g, PMC_ENABLE_PBDMA, ~0u);
	pbdmas = bare_read(g, PMC_ENABLE_PBDMA);
	for (p = 0; p < 32; p++)
		if (pbdmas >> p & 1)
			init_pbdma(g, p);
	bare_write(g, FB_MMU_CTRL, bare_read(g, FB_MMU_CTRL) & ~(uint32_t)FB_MMU_CTRL_BIG_64K);
	/* BAR1 in physical mode: its offset 0 is address 0 of VRAM. */
	bare_write(g, HOSTMEM_BAR1, 0);
	bare_mem_zero(g, BARE_VRAM, USERD_AREA, 0x4000);
	bare_write(g, PFIFO_USERD_BAR1, PFIFO_USERD_BAR1_VALID | USERD_AREA >> 12);
	bare_write(g, PFIFO_RUNLIST_BLOCK, 0);
	bare_write(g, GMMU_FAULT_SOURCE, ~0u);
	bare_write(g, PFIFO_INTR, ~0u);
	bare_write(g, PFIFO_INTR_EN, 0x7fffffff);
	if (!g->engine[BARE_CE0].present)
		bare_find_engines(g);
	g->vram_next = VRAM_FIRST;
}

uint64_t bare_vram(struct bare_gpu *g, uint64_t size, uint64_t align)
{
	uint64_t at = (g->vram_next + align - 1) / align * align;

	g->vram_next = at + size;
	return at;
}

uint8_t *bare_host(struct bare_gpu *g, size_t size, uint64_t *bus)
{
	size_t rounded = (size + 4095) / 4096 * 4096;
	uint8_t *at = g->host.cpu + g->host.used;

	if (g->host.used + rounded > g->host.size)
		return NULL;
	*bus = g->host.bus + g->host.used;
	g->host.used += rounded;
	memset(at, 0, rounded);
	return at;
}
