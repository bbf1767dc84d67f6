// SPDX-License-Identifier: GPL-2.0-only
/* One channel of two keeps the other from the engine: by waiting, by faulting, by methods nobody serves, by switches. */
#include "attacks.h"

#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/pmc.h>
#include <gk110/push.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "tap.h"

enum { RUN_MS = 3000, STARVED_MS = 700, GREEDY_ID = 20, VICTIM_ID = 21, UNMAPPED_VA = 0xe00000 };

struct pair {
	struct bare_space space;
	struct bare_chan greedy, victim;
};

static void open_pair(struct bare_gpu *g, struct pair *p)
{
	struct bare_chan_config cfg = { .id = GREEDY_ID, .runlist = g->engine[BARE_CE0].runlist };
	uint32_t entries[] = { GREEDY_ID, VICTIM_ID };

	bare_take_over(g);
	bare_space_create(g, &p->space);
	bare_chan_create(g, &p->space, &cfg, &p->greedy);
	/* the guest's own choice on a bare card: no end to its slices */
	bare_mem_write32(g, BARE_VRAM, p->greedy.inst + RAMFC_TIMESLICE, 0);
	bare_mem_write32(g, BARE_VRAM, p->greedy.inst + RAMFC_PB_TIMESLICE, 0);
	cfg.id = VICTIM_ID;
	bare_chan_create(g, &p->space, &cfg, &p->victim);
	bare_runlist(g, cfg.runlist, entries, 2);
}

/* the pair is left as it fell: the next take-over resets all */
static void verdict(struct pair *p, bool before, const char *what)
{
	bool after = bare_run(&p->victim, STARVED_MS);

	tap_result(before && !after, what, "another channel's copy ran before: %d, after: %d", before, after);
}

void attack_greed(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	struct pair p;
	bool before;

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	bare_emit(&p.greedy, SUBCH_COPY, HOST_SEMAPHORE_A, p.greedy.semaphore_va >> 32, p.greedy.semaphore_va + 16, 0xdead,
		  HOST_SEMAPHORE_ACQUIRE);
	bare_ring(&p.greedy);
	bare_delay_us(g, 100000);
	verdict(&p, before, "attack works: a channel that waits for ever, with slices without end, keeps the others out");

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	bare_copy(&p.greedy, UNMAPPED_VA, BARE_VA_FREE, 64, 0);
	bare_ring(&p.greedy);
	bare_delay_us(g, 100000);
	verdict(&p, before, "attack works: one channel's page fault stops the runlist for all");

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	bare_emit(&p.greedy, SUBCH_SW, 0x200, 1);
	bare_ring(&p.greedy);
	bare_delay_us(g, 100000);
	verdict(&p, before, "attack works: a method that nobody serves stops the PBDMA for all");

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	bare_write(g, PMC_ENABLE, bare_read(g, PMC_ENABLE) & ~(uint32_t)PMC_ENABLE_FIFO);
	verdict(&p, before, "attack works: one register write takes PFIFO from all");

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	bare_write(g, PFIFO_RUNLIST_BLOCK, ~0u);
	bare_preempt(g, false, VICTIM_ID);
	verdict(&p, before, "attack works: another register write blocks everybody's runlists");
	bare_take_over(g);
}
