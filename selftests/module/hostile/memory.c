// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways to memory that is not ours: the PRAMIN window, tables, directories, instance blocks, BARs,
 * USERD pointers.
 */
#include "hostile.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/ram.h>

enum { CARD_VRAM_MAX = 8, GIB = 1 << 30, PROBES = 48 };

/* ------------------------------------------------------------------ the window in BAR0 */

static bool window_shows(struct hostile *h, enum bare_target t, uint64_t addr)
{
	static uint64_t buf[PAGE / 8];

	bare_mem_read(&h->gpu, t, addr, buf, sizeof(buf));
	return holds_mark(buf, sizeof(buf));
}

/* Try the card's memory beyond ours, in steps of 16 MiB. */
void hostile_window(struct hostile *h)
{
	unsigned int seen = 0, windows = 0;
	uint64_t addr;

	bare_take_over(&h->gpu);
	for (addr = h->vram; addr < (uint64_t)CARD_VRAM_MAX * GIB; addr += 16 << 20, windows++) {
		seen += window_shows(h, BARE_VRAM, addr);
		bare_mem_write32(&h->gpu, BARE_VRAM, addr + 64 * (windows % 32), 0xdeadbeef);
	}
	report(!seen, "PRAMIN shows nothing beyond our %u MiB (%u places tried, written to too)",
	       (unsigned int)(h->vram >> 20), windows);
	/* the last word inside our memory */
	bare_mem_write32(&h->gpu, BARE_VRAM, h->vram - 4, 0x600d600d);
	report(bare_mem_read32(&h->gpu, BARE_VRAM, h->vram - 4) == 0x600d600d,
	       "PRAMIN shows the last word that is ours");
	report(hostile_alive(h), "own work runs");
}

/* If the window reached host memory, it would be the server's: try addresses all over 8 GiB. */
void hostile_window_host(struct hostile *h)
{
	static const enum bare_target targets[] = { BARE_HOST, BARE_HOST_NCOH, 1 };
	unsigned int i, seen = 0, places = 0;
	uint64_t addr;

	bare_take_over(&h->gpu);
	for (i = 0; i < 3; i++)
		for (addr = 0; addr < 8ull * GIB; addr += 61ull << 20, places++) {
			seen += window_shows(h, targets[i], addr);
			bare_mem_write32(&h->gpu, targets[i], addr + 128, 0xbadc0de);
		}
	report(!seen, "PRAMIN shows no memory of the server (%u places tried, written to too)",
	       places);
	report(hostile_alive(h), "own work runs");
}

/* ------------------------------------------------------------------ page tables */

/*
 * Let a page of our space have @entry, and the copy engine read from that page or write to it.
 * Return true when it read a mark of others.
 */
static bool follow(struct hostile *h, uint64_t entry, bool write)
{
	struct bare_gpu *g = &h->gpu;

	hostile_restart(h);
	bare_mem_write(g, BARE_VRAM,
		       h->space.table + (AIM_VA >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE, &entry,
		       sizeof(entry));
	bare_tlb_invalidate(g, BARE_VRAM, h->space.pdb);
	memset(h->loot, 0, PAGE);
	if (write) {
		memset(h->loot, 0x66, PAGE);
		hostile_refused(h, LOOT_VA, AIM_VA, PAGE);
		return false;
	}
	hostile_refused(h, AIM_VA, LOOT_VA, PAGE);
	return holds_mark(h->loot, PAGE);
}

static uint64_t pte(uint64_t addr, unsigned int aperture)
{
	return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, addr >> GMMU_ADDR_SHIFT) |
	       FIELD_PREP(GMMU_PTE_APERTURE, aperture);
}

/*
 * Try entries for places all over the card's memory beyond ours, and for addresses at which this
 * machine has no memory.
 */
void hostile_tables(struct hostile *h)
{
	static const unsigned int apertures[] = { GMMU_PTE_APERTURE_SYS_COH,
						  GMMU_PTE_APERTURE_SYS_NCOH, 1 };
	uint64_t span = (uint64_t)CARD_VRAM_MAX * GIB - h->vram, addr;
	unsigned int i, seen = 0;

	for (i = 0; i < PROBES; i++) {
		addr = h->vram + i * (span / PROBES) / PAGE * PAGE;
		seen += follow(h, pte(addr, GMMU_PTE_APERTURE_VRAM), i % 2);
	}
	report(!seen, "entries for the card's memory beyond ours lead nowhere (%u tried)", i);
	for (i = 0, seen = 0; i < PROBES; i++) {
		addr = (2ull + i / 4) * GIB + rng_range(&h->rng, 0, GIB / PAGE - 1) * PAGE;
		seen += follow(h, pte(addr, apertures[i % 3]), i % 2);
	}
	report(!seen, "entries for memory that this machine does not have lead nowhere (%u tried)",
	       i);
	report(hostile_alive(h), "own work runs");
}

static void directory_entry(struct hostile *h, uint64_t entry)
{
	hostile_restart(h);
	bare_mem_write(&h->gpu, BARE_VRAM, h->space.pdb, &entry, sizeof(entry));
	bare_tlb_invalidate(&h->gpu, BARE_VRAM, h->space.pdb);
	hostile_refused(h, AIM_VA, LOOT_VA, PAGE);
}

/*
 * Try directory entries for tables of all sizes, beyond our memory, across its end, in host memory.
 */
void hostile_directories(struct hostile *h)
{
	unsigned int i, seen = 0;

	for (i = 0; i < PROBES; i++) {
		uint64_t at = i % 3 ? rng_range(&h->rng, 0, (8ull * GIB) / PAGE - 1) * PAGE :
				      h->vram - (i / 3) * PAGE;

		directory_entry(h, FIELD_PREP(GMMU_PDE_SMALL_APERTURE, i % 4) |
					   FIELD_PREP(GMMU_PDE_SIZE, i / 4 % 4) |
					   FIELD_PREP(GMMU_PDE_SMALL_ADDR, at >> GMMU_ADDR_SHIFT) |
					   FIELD_PREP(GMMU_PDE_BIG_APERTURE, i / 16 % 4) |
					   FIELD_PREP(GMMU_PDE_BIG_ADDR, at >> GMMU_ADDR_SHIFT));
		seen += holds_mark(h->loot, PAGE);
	}
	report(!seen, "directory entries that point anywhere lead nowhere (%u tried)", i);
	report(hostile_alive(h), "own work runs");
}

/* ------------------------------------------------------------------ instance blocks */

/*
 * Bind and run a channel whose instance block is where it must not be, or has values that it must
 * not have.
 */
void hostile_instances(struct hostile *h)
{
	struct bare_gpu *g = &h->gpu;
	unsigned int i, seen = 0;

	for (i = 0; i < PROBES; i++) {
		uint64_t at = rng_range(&h->rng, 0, (8ull * GIB) / PAGE - 1);
		uint32_t entry;

		hostile_restart(h);
		entry = h->chan.id;
		switch (i % 4) {
		case 0: /* a pointer to any address, with any target */
			bare_write(g, PCCSR_INST(h->chan.id),
				   PCCSR_INST_BIND | FIELD_PREP(PCCSR_INST_PTR, at) |
					   FIELD_PREP(PCCSR_INST_TARGET, i / 4 % 4));
			break;
		case 1: /* the block of a live channel is changed while the host does not look */
			bare_mem_write32(g, BARE_VRAM, h->chan.inst + GMMU_INST_PDB_LO,
					 at << 12 | FIELD_PREP(GMMU_INST_PDB_LO_TARGET, i / 4 % 4));
			bare_mem_write32(g, BARE_VRAM, h->chan.inst + GMMU_INST_PDB_HI, at >> 20);
			break;
		case 2: /* id, time slice and privilege that are not the channel's own */
			bare_mem_write32(g, BARE_VRAM, h->chan.inst + RAMFC_CHID, i);
			bare_mem_write32(g, BARE_VRAM, h->chan.inst + RAMFC_TIMESLICE, ~0u);
			bare_mem_write32(g, BARE_VRAM, h->chan.inst + RAMFC_HCE_CTRL, ~0u);
			break;
		default: /* random bits in every word */
			for (at = 0; at < RAMIN_SIZE; at += 4)
				bare_mem_write32(g, BARE_VRAM, h->chan.inst + at,
						 rng_next(&h->rng));
		}
		if (i & 8)
			bare_chan_bind(&h->chan);
		bare_runlist(g, h->chan.runlist, &entry, 1);
		memset(h->loot, 0, PAGE);
		hostile_copy(h, AIM_VA, LOOT_VA, PAGE, 50);
		seen += holds_mark(h->loot, PAGE);
	}
	report(!seen, "forged instance blocks lead nowhere (%u tried)", i);
	report(hostile_alive(h), "own work runs");
}

/* Look through BAR1, BAR3 and the peephole, with forged instance blocks. */
void hostile_bars(struct hostile *h)
{
	static const uint32_t regs[] = { HOSTMEM_BAR1, HOSTMEM_BAR3, HOSTMEM_PEEPHOLE };
	static uint64_t buf[PAGE / 8];
	struct bare_gpu *g = &h->gpu;
	unsigned int i, w, seen = 0;

	for (i = 0; i < PROBES; i++) {
		uint64_t at = i % 2 ? h->vram + rng_range(&h->rng, 0, 4ull * GIB / PAGE) * PAGE :
				      2ull * GIB + i * (64ull << 20);
		uint32_t inst;

		hostile_restart(h);
		bare_space_map(g, &h->space, 0, i % 2 ? BARE_VRAM : BARE_HOST, at);
		bare_space_map(g, &h->space, PAGE, i % 2 ? BARE_VRAM : BARE_HOST, at + PAGE);
		bare_tlb_invalidate(g, BARE_VRAM, h->space.pdb);
		inst = i % 3 ? h->chan.inst >> HOSTMEM_INST_SHIFT : at >> HOSTMEM_INST_SHIFT;
		bare_write(g, regs[i % 3],
			   HOSTMEM_VIRTUAL | FIELD_PREP(HOSTMEM_TARGET, i / 3 % 4) | inst);
		for (w = 0; w < PAGE / 8; w++)
			buf[w] = *(volatile uint64_t *)((i % 3 == 1 ? h->bar3 : g->bars.bar1) +
							8 * w);
		seen += holds_mark(buf, sizeof(buf));
		*(volatile uint32_t *)(i % 3 == 1 ? h->bar3 : g->bars.bar1) = 0xbad;
		bare_write(g, PEEPHOLE_ADDR_HIGH, at >> 32);
		bare_write(g, PEEPHOLE_ADDR_LOW, at);
		buf[0] = bare_read(g, PEEPHOLE_DATA) | (uint64_t)bare_read(g, PEEPHOLE_DATA) << 32;
		seen += holds_mark(buf, 8);
		bare_write(g, PEEPHOLE_DATA, 0xbad);
		bare_write(g, regs[i % 3], 0);
	}
	report(!seen, "BAR1, BAR3 and the peephole show nothing of others (%u blocks forged)", i);
	/* in physical mode */
	for (i = 0, w = 0; w < g->bars.bar1_size; w += PAGE)
		i += *(volatile uint64_t *)(g->bars.bar1 + w) == VICTIM_MARK;
	for (w = 0; w < h->bar3_size; w += PAGE)
		i += *(volatile uint64_t *)(h->bar3 + w) == VICTIM_MARK;
	report(!i, "no page of BAR1 and BAR3 in physical mode is another's");
	report(hostile_alive(h), "own work runs");
}

/* Give channels a USERD pointer to anywhere: the chip writes a channel's progress there. */
void hostile_userd(struct hostile *h)
{
	struct bare_gpu *g = &h->gpu;
	unsigned int i, ran = 0;

	for (i = 0; i < PROBES / 2; i++) {
		struct bare_chan_config cfg;
		struct bare_chan c;
		uint32_t entry;

		hostile_restart(h);
		memset(&cfg, 0, sizeof(cfg));
		cfg.id = entry = h->next_id;
		cfg.runlist = h->chan.runlist;
		cfg.userd_forged = true;
		cfg.userd_target = i % 4;
		cfg.userd = i % 3 ? rng_range(&h->rng, 0, 8ull * GIB / 512 - 1) * 512 :
				    h->vram - 256 + i * 64;
		bare_chan_create(g, &h->space, &cfg, &c);
		bare_runlist(g, cfg.runlist, &entry, 1);
		ran += bare_run(&c, 50);
	}
	report_info(
		"forged USERD pointers: %u tried, %u channels ran; the victim and the server say whether it hurt",
		i, ran);
	report(hostile_alive(h), "own work runs");
}
