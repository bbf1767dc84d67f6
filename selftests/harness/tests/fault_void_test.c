// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fault that waits for recovery, and samples (S5). In the slicer's rest the accomplice unbinds a
 * channel behind a copy of its own, and so has gpu->lock for as long as the copy takes. The worker
 * has a kernel on GR meanwhile, and another channel of it faults on its PBDMA. Recovery waits for
 * gpu->lock. When it has the lock, vmach_fault_charge() charges the worker nothing, as an engine
 * works for the accomplice. The samples of that time must not be left out for the worker then.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "selftests/harness/tests/partners.h"

#define CHANS	   64
#define SLOW_READS 150 /* that a flush of L2 takes */
#define PIECE_NS   MS
#define PIECES	   2 /* in a rest */
#define RUN_NS	   (harness_all() ? 10000 * MS : 3000 * MS)
#define CAP	   "15"

enum { THIRD = BOTH, VGPUS };

static u64 pieces, faults, hers;
static bool with_faults, with_holds, go, held, rebound;
static u32 fault_at;

static void ask(u32 i)
{
	if (*flush_word(i, FLUSH_L2_DIRTY))
		return;
	*flush_word(i, FLUSH_L2_SYSMEM_INVALIDATE) = FLUSH_TRIGGER;
	*flush_word(i, FLUSH_L2_DIRTY) = FLUSH_TRIGGER;
}

static void meter(void *arg)
{
	u64 last = harness_now, step;

	for (; !done; harness_sleep(MS / 50)) {
		step = harness_now - last;
		last = harness_now;
		all += step;
		had += chip_engine_works(chan_at(WORKER, 1)) ? step : 0;
		hers += harness_now < chip.copying_until ? step : 0;
	}
}

static void chans(struct world_vgpu *g)
{
	u64 list[CHANS + 1];
	u32 i;

	for (i = 0; i < CHANS; i++) {
		g_unbind(g, 2 + i);
		g_inst(g, 2 + i, 0, 0);
		g_bind(g, 2 + i);
		g_enable(g, 2 + i, true);
		list[1 + i] = 2 + i;
	}
	list[0] = 1;
	g_list(g, list, CHANS + 1);
	fault_at = 0;
}

/* The accomplice's thread: unbinds behind a copy each time that it is told to. */
static void holds(void *arg)
{
	struct world_vgpu *g = &world.vgpu[ACCOMPLICE];

	while (!done) {
		if (!go) {
			harness_sleep(2 * US);
			continue;
		}
		go = false;
		chip_copies(chan_at(ACCOMPLICE, 1), harness_now + PIECE_NS);
		held = true;
		g_unbind(g, 1);
		held = rebound = false;
		g_inst(g, 1, 0, 0);
		g_bind(g, 1);
		g_enable(g, 1, true);
		rebound = true;
	}
}

static void work(bool on)
{
	u16 id = chan_at(WORKER, 1);

	chip_at_work(id, on);
	if (!on && !chip_is_stuck())
		chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	if (!on || !listed(WORKER) || chip.engine[0].chid == id)
		return;
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_load_some(0, id);
}

/* One piece of work of the worker on GR, and a fault of another channel of it at its begin. */
static void piece(struct world_vgpu *g)
{
	u64 until = harness_now + PIECE_NS, most = until + 5 * MS;
	struct kvgpu_chan *c = NULL;

	pieces++;
	work(true);
	chip_begin_held(chan_at(WORKER, 1), PIECE_NS);
	if (with_faults) {
		/* its ring is not mapped */
		c = vmach_chan_find(g->v, (gchid_t){ 2 + fault_at });
		chip.pbdma[0].chid = NO_CHAN;
		chip_load_some(0, c->hchid.v);
	}
	go = with_holds;
	while (with_holds && !(chip.reg[PFIFO_RUNLIST_BLOCK / 4] & 1) && harness_now < until)
		harness_sleep(2 * US);
	if (c && chip.pbdma[0].chid == c->hchid.v && chip_fault_now(c->hchid.v)) {
		fault_at++;
		faults++;
	}
	while (harness_now < until && listed(WORKER))
		harness_sleep(5 * US);
	work(false);
	/* until recovery has ended it, and the accomplice is there again */
	while ((chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1 || held || go || !rebound) &&
	       harness_now < most)
		harness_sleep(5 * US);
}

static void worker(void *arg)
{
	volatile u32 *hers_word = flush_word(THIRD, FLUSH_L2_DIRTY), *mine;
	struct world_vgpu *g = &world.vgpu[WORKER];
	u64 end = harness_now + RUN_NS;
	u32 n;

	mine = flush_word(WORKER, FLUSH_L2_DIRTY);
	while (harness_now < end) {
		if (fault_at > CHANS / 2)
			chans(g);
		ask(WORKER);
		ask(THIRD);
		while (*hers_word & (FLUSH_TRIGGER | FLUSH_BUSY) && harness_now < end)
			harness_sleep(2 * US);
		if (!listed(WORKER)) {
			g_ring(g, 1, 1);
			g_write(g, PFIFO_RUNLIST_SUBMIT, CHANS + 1);
			harness_sleep(200 * US);
			g_ring(g, 1, 0);
			continue;
		}
		/* until the next poll */
		ask(WORKER);
		ask(THIRD);
		n = PIECES;
		do {
			piece(g);
		} while (--n && *mine == FLUSH_TRIGGER && listed(WORKER) && fault_at < CHANS);
	}
	done = true;
}

/* Returns by how many thousandths of the time the worker has more than it pays for. */
static u32 judge(u64 seed, bool hold, bool fault)
{
	static struct chip_manners slow;
	struct policy p = coarse;
	u64 began, took[BOTH];
	u32 has, paid[BOTH], i;

	slow = plain;
	slow.copies_stay = true;
	/* what has no work is not loaded */
	slow.eager = slow.busy = false;
	p.seed = seed;
	with_holds = hold;
	with_faults = fault;
	had = all = pieces = faults = hers = 0;
	go = held = done = false;
	rebound = true;
	setup_begin(&p, &slow, VGPUS);
	setup_knob(WORKER, "cap", CAP);
	for (i = 0; i < VGPUS; i++)
		g_ring(&world.vgpu[i], 1, 0);
	chans(&world.vgpu[WORKER]);
	harness_sleep(1500 * MS);
	began = harness_now;
	for (i = 0; i < BOTH; i++)
		took[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("holds", setup_mm, false, holds, NULL);
	actor_new("worker", setup_mm, false, worker, NULL);
	slow_reads = SLOW_READS;
	chip_before_write = slow_flushes;
	actors_run();
	chip_before_write = NULL;
	has = 1000 * had / all;
	for (i = 0; i < BOTH; i++)
		paid[i] = thousandths(i, took[i], began);
	printf("# seed %llu%s%s: the worker has %u.%u %% at a cap of " CAP
	       " %%, and is charged %u.%u %%; the accomplice copies for %llu thousandths, and is charged %u; %llu pieces, %llu faults\n",
	       (unsigned long long)seed, hold ? ", with holds" : "", fault ? ", with faults" : "",
	       has / 10, has % 10, paid[0] / 10, paid[0] % 10,
	       (unsigned long long)(1000 * hers / all), paid[1], (unsigned long long)pieces,
	       (unsigned long long)faults);
	setup_end();
	return has > paid[0] ? has - paid[0] : 0;
}

static void faults_in_rests(void **state)
{
	u64 seed;
	u32 unpaid;

	for (seed = 1; seed <= (harness_all() ? 3 : 1); seed++) {
		judge(seed, true, false);
		judge(seed, false, true);
		unpaid = judge(seed, true, true);
		if (unpaid > 5 * POINTS)
			harness_fail("S5: the worker has %u thousandths more than it pays for",
				     unpaid);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(faults_in_rests) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
