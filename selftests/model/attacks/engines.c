// SPDX-License-Identifier: GPL-2.0-only
/*
 * Driven without a driver: work on every copy engine, through the runlist that PTOP names for it,
 * and channel groups.
 */
#include "attacks.h"

#include <stdio.h>
#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/push.h>

#include "bare/chan.h"
#include "pattern.h"
#include "tap.h"

enum {
	PAGES = 16,
	BYTES = PAGES * 4096,
	RUN_MS = 60000,
	SRC_VA = BARE_VA_FREE,
	VRAM_VA = SRC_VA + BYTES,
	DST_VA = VRAM_VA + BYTES
};

struct lane {
	struct bare_space s;
	struct bare_chan c;
	uint8_t *src, *dst;
};

static uint8_t *map_pages(struct bare_gpu *g, struct bare_space *s, uint64_t va)
{
	uint64_t bus;
	uint8_t *cpu = bare_host(g, BYTES, &bus);

	bare_space_map_range(g, s, va, BARE_HOST, bus, BYTES);
	return cpu;
}

static void open_lane(struct bare_gpu *g, struct lane *l, unsigned int id, unsigned int runlist)
{
	struct bare_chan_config cfg = { .id = id, .runlist = runlist };
	uint64_t vram = bare_vram(g, BYTES, 4096);

	bare_space_create(g, &l->s);
	l->src = map_pages(g, &l->s, SRC_VA);
	l->dst = map_pages(g, &l->s, DST_VA);
	bare_space_map_range(g, &l->s, VRAM_VA, BARE_VRAM, vram, BYTES);
	pattern_fill(l->src, BYTES, id);
	bare_chan_create(g, &l->s, &cfg, &l->c);
}

static void emit_round_trip(struct lane *l)
{
	bare_copy(&l->c, SRC_VA, VRAM_VA, BYTES, 0);
	bare_copy(&l->c, VRAM_VA, DST_VA, BYTES, 0);
}

static bool round_trip_right(const struct lane *l)
{
	return !memcmp(l->src, l->dst, BYTES);
}

static void one_engine(struct bare_gpu *g, unsigned int ce)
{
	unsigned int runlist = g->engine[BARE_CE0 + ce].runlist;
	struct lane l;
	uint32_t entry = 16 + ce;
	char name[64];
	bool ran;

	open_lane(g, &l, entry, runlist);
	bare_runlist(g, runlist, &entry, 1);
	emit_round_trip(&l);
	ran = bare_run(&l.c, RUN_MS);
	snprintf(name, sizeof(name), "copy engine %u copies to VRAM and back", ce);
	tap_result(ran && round_trip_right(&l), name, "runlist %u", runlist);
	bare_runlist(g, runlist, NULL, 0);
	tap_result(bare_chan_destroy(&l.c), "its channel is preempted and unbound", NULL);
}

/*
 * A channel for each copy engine. The doorbells of all are rung before the first channel is waited
 * for.
 */
static void all_engines(struct bare_gpu *g)
{
	struct lane l[3];
	unsigned int i, bad = 0;
	bool used[16] = { false };

	for (i = 0; i < 3; i++) {
		unsigned int runlist = g->engine[BARE_CE0 + i].runlist;
		uint32_t ids[] = { 24, 25, 26 };

		open_lane(g, &l[i], ids[i], runlist);
		/* a runlist that two engines share gets the channels of both in one list */
		if (!used[runlist])
			bare_runlist(g, runlist, &ids[i], 1);
		else
			bare_runlist(g, runlist, ids, i + 1);
		used[runlist] = true;
	}
	for (i = 0; i < 3; i++) {
		emit_round_trip(&l[i]);
		bare_emit(&l[i].c, SUBCH_COPY, HOST_SEMAPHORE_A, 0, l[i].c.semaphore_va,
			  ++l[i].c.seq, HOST_SEMAPHORE_RELEASE | HOST_SEMAPHORE_4BYTE);
		bare_ring(&l[i].c);
	}
	for (i = 0; i < 3; i++)
		if (!bare_poll_word(g, l[i].c.semaphore, l[i].c.seq, RUN_MS) ||
		    !round_trip_right(&l[i]))
			bad++;
	tap_result(!bad, "three copy channels at once", "%u wrong", bad);
	for (i = 0; i < 3; i++)
		bare_runlist(g, l[i].c.runlist, NULL, 0);
	for (i = 0; i < 3; i++)
		bare_chan_destroy(&l[i].c);
}

void check_engines(struct machine *m)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (m->gpu.engine[BARE_CE0 + i].present)
			one_engine(&m->gpu, i);
		else
			tap_result(false, "PTOP lists all three copy engines", "CE%u is missing",
				   i);
	}
	all_engines(&m->gpu);
}

/* ------------------------------------------------------------------ groups */

enum { TSG = 5 };

static void emit_wait(struct bare_chan *c, uint64_t va, uint32_t value)
{
	bare_emit(c, SUBCH_COPY, HOST_SEMAPHORE_A, 0, va, value,
		  HOST_SEMAPHORE_ACQ_GEQ | HOST_SEMAPHORE_SWITCH);
}

static void ring_with_release(struct bare_chan *c)
{
	bare_emit(c, SUBCH_COPY, HOST_SEMAPHORE_A, 0, c->semaphore_va, ++c->seq,
		  HOST_SEMAPHORE_RELEASE | HOST_SEMAPHORE_4BYTE);
	bare_ring(c);
}

/*
 * The channels of a group work, also while one of them is blocked. A preempt by group id takes the
 * group off the chip. It goes on after the list is submitted again.
 */
void check_groups(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	unsigned int runlist = g->engine[BARE_CE0].runlist, i;
	struct lane a, b, single;
	const uint32_t entries[] = { bare_tsg_entry(TSG, 2), 40, 41, 42 };
	volatile uint32_t *gate;
	bool ok;

	open_lane(g, &a, 40, runlist);
	open_lane(g, &b, 41, runlist);
	open_lane(g, &single, 42, runlist);
	bare_runlist(g, runlist, entries, 4);
	for (i = 0, ok = true; ok && i < 3; i++) {
		emit_round_trip(&a);
		ring_with_release(&a.c);
		emit_round_trip(&b);
		ring_with_release(&b.c);
		emit_round_trip(&single);
		ring_with_release(&single.c);
		ok = bare_poll_word(g, a.c.semaphore, a.c.seq, RUN_MS) &&
		     bare_poll_word(g, b.c.semaphore, b.c.seq, RUN_MS) &&
		     bare_poll_word(g, single.c.semaphore, single.c.seq, RUN_MS);
	}
	tap_result(ok && round_trip_right(&a) && round_trip_right(&b) && round_trip_right(&single),
		   "two channels of a group and one beside them work", "%u rounds", i);

	gate = a.c.semaphore + 16;
	emit_wait(&a.c, a.c.semaphore_va + 64, 1);
	ring_with_release(&a.c);
	emit_round_trip(&b);
	ring_with_release(&b.c);
	ok = bare_poll_word(g, b.c.semaphore, b.c.seq, RUN_MS);
	tap_result(ok && *a.c.semaphore != a.c.seq,
		   "a blocked member lets the other one of its group run", NULL);

	ok = bare_preempt(g, true, TSG);
	tap_result(ok, "a preempt by group id ends while a member is blocked", NULL);
	bare_runlist(g, runlist, entries + 3, 1);
	*gate = 1;
	bare_delay_us(g, 50000);
	tap_result(*a.c.semaphore != a.c.seq, "a group that is not in the runlist does not run",
		   NULL);
	bare_runlist(g, runlist, entries, 4);
	tap_result(bare_poll_word(g, a.c.semaphore, a.c.seq, RUN_MS),
		   "back in the runlist it goes on where it was", NULL);

	bare_runlist(g, runlist, NULL, 0);
	bare_preempt(g, true, TSG);
	bare_chan_destroy(&a.c);
	bare_chan_destroy(&b.c);
	bare_chan_destroy(&single.c);
}
