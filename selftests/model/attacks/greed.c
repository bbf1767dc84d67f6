// SPDX-License-Identifier: GPL-2.0-only
/*
 * Greedy channels keep another channel from the engine: they wait for ever, fault, or send methods
 * that no driver serves. Several PBDMAs may serve a runlist, so there are NR_GREEDY greedy
 * channels.
 */
#include "attacks.h"

#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/pmc.h>
#include <gk110/push.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "tap.h"

enum {
	RUN_MS = 60000,
	STARVED_MS = 700,
	NR_GREEDY = 4,
	VICTIM_ID = 20,
	GREEDY_ID,
	UNMAPPED_VA = 0xe00000
};

struct pair {
	struct bare_space space;
	struct bare_chan greedy[NR_GREEDY], victim;
};

static void open_pair(struct bare_gpu *g, struct pair *p)
{
	struct bare_chan_config cfg = { .id = VICTIM_ID, .runlist = g->engine[BARE_CE0].runlist };
	uint32_t entries[NR_GREEDY + 1], i;

	bare_take_over(g);
	bare_space_create(g, &p->space);
	bare_chan_create(g, &p->space, &cfg, &p->victim);
	entries[NR_GREEDY] = VICTIM_ID;
	for (i = 0; i < NR_GREEDY; i++) {
		entries[i] = cfg.id = GREEDY_ID + i;
		bare_chan_create(g, &p->space, &cfg, &p->greedy[i]);
		/* On a bare card a guest can choose this: the channel's time slices never end. */
		bare_mem_write32(g, BARE_VRAM, p->greedy[i].inst + RAMFC_TIMESLICE, 0);
		bare_mem_write32(g, BARE_VRAM, p->greedy[i].inst + RAMFC_PB_TIMESLICE, 0);
	}
	bare_runlist(g, cfg.runlist, entries, NR_GREEDY + 1);
}

static void verdict(struct pair *p, bool before, const char *what)
{
	bool after = bare_run(&p->victim, STARVED_MS);

	tap_result(before && !after, what, "another channel's copy ran before: %d, after: %d",
		   before, after);
}

void attack_greed(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	struct pair p;
	bool before;
	unsigned int i;

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	for (i = 0; i < NR_GREEDY; i++) {
		bare_emit(&p.greedy[i], SUBCH_COPY, HOST_SEMAPHORE_A,
			  p.greedy[i].semaphore_va >> 32, p.greedy[i].semaphore_va + 16, 0xdead,
			  HOST_SEMAPHORE_ACQUIRE);
		bare_ring(&p.greedy[i]);
	}
	bare_delay_us(g, 100000);
	verdict(&p, before,
		"attack works: channels that wait for ever, with slices without end, keep the others out");

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	bare_copy(&p.greedy[0], UNMAPPED_VA, BARE_VA_FREE, 64, 0);
	bare_ring(&p.greedy[0]);
	bare_delay_us(g, 100000);
	verdict(&p, before, "attack works: one channel's page fault stops the runlist for all");

	open_pair(g, &p);
	before = bare_run(&p.victim, RUN_MS);
	for (i = 0; i < NR_GREEDY; i++) {
		bare_emit(&p.greedy[i], SUBCH_SW, 0x200, 1);
		bare_ring(&p.greedy[i]);
	}
	bare_delay_us(g, 100000);
	verdict(&p, before, "attack works: methods that nobody serves stop the PBDMAs for all");

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
