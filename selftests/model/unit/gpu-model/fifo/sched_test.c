// SPDX-License-Identifier: GPL-2.0-only
/* The channel table; turns, blocking and preempting; GR shared by channels. */
#include <selftests/unit_test.h>

#include "fifo/chip.h"

static uint32_t status(unsigned int c)
{
	return rd(0x800004 + 8 * c) >> 24 & 0xf;
}

/*
 * Waits until the PBDMAs have no channel. idle() cannot tell that of a channel whose context is
 * still on GR.
 */
static void all_put_away(void)
{
	eventually(!rd(0x3080) && !rd(0x3084));
}

static void idle(unsigned int c)
{
	eventually(!(rd(0x800004 + 8 * c) & 0x10000000));
}

/* Submits @n entries, each of which keeps a copy engine busy for @us microseconds. */
static void busy_work(unsigned int c, unsigned int n, unsigned int us)
{
	const uint32_t w[] = { ONE(4, M_SPIN, us), IMMD(4, M_NOTE, 1) };
	unsigned int i;

	for (i = 0; i < n; i++)
		push(c, w, 3, 0);
	doorbell(c);
}

/* ------------------------------------------------------------------ channel table */

static uint32_t bind_error(void)
{
	uint32_t code = rd(0x2100) & 1 ? rd(0x252c) : 0;

	wr(0x2100, 1);
	return code;
}

TEST(test_bind_errors)
{
	chan_init(3, 0);
	wr(0x800018, 0x90000000 | INST(3) >> 12);
	assert_int_equal(bind_error(), 6);
	assert_int_equal(rd(0x800018), 0);
	wr(0x2254, 0);
	wr(0x800018, 0x80000000 | INST(3) >> 12);
	assert_int_equal(bind_error(), 2);
	wr(0x2254, 0x10000000 | BAR1_USERD >> 12);
	wr(0x80001c, 1 << 16);
	assert_int_equal(bind_error(), 5);
	wr(0x800018, 0x80000000 | INST(3) >> 12);
	assert_int_equal(bind_error(), 0);
	wr(0x800018, 0x80000000 | INST(4) >> 12);
	assert_int_equal(bind_error(), 1);
	assert_int_equal(rd(0x800018), 0x80000000 | INST(3) >> 12);
	chan_enable(3);
	runlist(0, (const uint32_t[]){ 3 }, 1);
	wr(0x800018, 0);
	assert_int_equal(bind_error(), 0xb);
	submit(3, ONE(4, M_WAIT, 0));
	eventually(atomic_load(&chip->waiting));
	wr(0x800018, 0);
	assert_int_equal(bind_error(), 3);
	atomic_store(&chip->go, true);
	idle(3);
	chan_disable(3);
	runlist(0, NULL, 0);
	wr(0x800018, 0);
	assert_int_equal(bind_error(), 0);
	assert_int_equal(rd(0x80001c), 0);
}

TEST(test_state_word)
{
	chan_init(5, 0);
	chan_bind(5, 0);
	assert_int_equal(rd(0x80002c), 0);
	wr(0x80002c, 0x200);
	assert_int_equal(rd(0x80002c), 0x11000000); /* pending */
	chan_enable(5);
	assert_int_equal(rd(0x80002c) & 1, 1);
	mask(0x80002c, 0xf0000, 0);
	assert_int_equal(rd(0x80002c) & 1, 1);
	chan_disable(5);
	assert_int_equal(rd(0x80002c) & 1, 0);
	wr(0x80002c, 0x100);
	assert_int_equal(rd(0x80002c), 0x12000100); /* it also has to be reloaded */
}

TEST(test_enable_needs_bind)
{
	chan_enable(9);
	assert_int_equal(rd(0x80004c), 0);
}

TEST(test_runlist_errors)
{
	chan_init(0, 0);
	chan_bind(0, 0);
	runlist(0, (const uint32_t[]){ 0, 1 }, 2);
	assert_int_equal(rd(0x2100) & 0x100, 0x100);
	assert_int_equal(rd(0x254c), 1);
	assert_int_equal(rd(0x2a00), 1);
	assert_int_equal(rd(0x2284), 2);
	wr(0x2270, 0x0fffffff);
	wr(0x2274, 10);
	assert_int_equal(rd(0x2284), 0);
	wr(0x2274, 5 << 20 | 1); /* no such runlist */
	assert_int_equal(rd(0x2a00), 1);
	wr(0x2a00, 1);
	assert_int_equal(rd(0x2100) & 0x40000000, 0);
}

/* ------------------------------------------------------------------ doorbells */

TEST(test_doorbell_coverage)
{
	static const struct {
		unsigned int off, size;
		bool hits;
	} cases[] = {
		{ 0x8c, 4, true }, { 0x8c, 1, true },	 { 0x8f, 1, true },
		{ 0x88, 8, true }, { 0x88, 4, false },	 { 0x90, 4, false },
		{ 0x8e, 2, true }, { 0x0, 0x200, true }, { 0x40, 4, false },
	};
	uint64_t off, size;
	unsigned int i;

	fifo_userd_window(&chip->g, &off, &size);
	assert_true(off == BAR1_USERD && size == 2 << 20);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t before = atomic_load(&chip->g.stats.doorbells);

		pthread_mutex_lock(&chip->g.lock);
		fifo_bar1_written(&chip->g, BAR1_USERD + 0x200 * 17 + cases[i].off, cases[i].size);
		pthread_mutex_unlock(&chip->g.lock);
		assert_int_equal(atomic_load(&chip->g.stats.doorbells) - before, cases[i].hits);
	}
	pthread_mutex_lock(&chip->g.lock);
	fifo_bar1_written(&chip->g, BAR1_USERD - 4, 8);
	fifo_bar1_written(&chip->g, BAR1_USERD + (2 << 20), 8);
	fifo_bar1_written(&chip->g, ~0ull - 3, 4);
	fifo_bar1_written(&chip->g, BAR1_USERD + 0x200 * 4095 + 0x8c, 0x1000);
	pthread_mutex_unlock(&chip->g.lock);
	/* that channel is not bound, so its doorbell shows nothing */
	assert_int_equal(rd(0x800004 + 8 * 4095) & 0x10000000, 0);
}

TEST(test_doorbell_before_the_list)
{
	chan_init(0, 0);
	chan_bind(0, 0);
	submit(0, IMMD(4, M_NOTE, 1));
	stays(log_count() == 0);
	chan_enable(0);
	stays(log_count() == 0);
	assert_int_equal(status(0), PCCSR_STATUS_PENDING);
	runlist(0, (const uint32_t[]){ 0 }, 1);
	eventually(log_count() == 1);
}

TEST(test_no_doorbell_is_lost)
{
	unsigned int i;

	chans(2, 0);
	for (i = 0; i < 4000; i++) {
		const uint32_t w[] = { RELEASE(i & 1, i + 1) };

		push(i & 1, w, 5, 0);
		doorbell(i & 1);
		if (i % 60 > 40)
			eventually(mem_get(SEM(i & 1)) == i + 1);
		if (i % 100 == 99)
			idle(0), idle(1);
	}
	eventually(mem_get(SEM(0)) == 3999 && mem_get(SEM(1)) == 4000);
}

/* ------------------------------------------------------------------ turns */

static unsigned int switches_between(unsigned int a, unsigned int b)
{
	unsigned int i, n = 0, last = ~0u;

	for (i = 0; i < log_count(); i++) {
		unsigned int c = log_at(i).chid;

		n += c != last && (c == a || c == b);
		last = c;
	}
	return n;
}

/* Turns are measured on a stopped time that the work itself moves. */
TEST_WITH(test_time_slices, chip_setup_one, chip_teardown)
{
	clock_stop();
	chans(2, 0);
	runlist(0, NULL, 0);
	busy_work(0, 100, 100);
	busy_work(1, 100, 100);
	runlist(0, (const uint32_t[]){ 0, 1 }, 2);
	eventually(logged(CE0, 0) == 100 && logged(CE0, 1) == 100);
	/* 20 ms of work in turns of 1 ms; PFIFO does not look at the clock after each method */
	assert_in_range(switches_between(0, 1), 10, 20);
}

TEST_WITH(test_no_slice_without_the_enable_bit, chip_setup_one, chip_teardown)
{
	chans(2, 0);
	runlist(0, NULL, 0);
	mem_set(INST(0) + 0xf8, 0x00003080);
	mem_set(INST(1) + 0xf8, 0x00003080);
	busy_work(0, 60, 100);
	busy_work(1, 60, 100);
	runlist(0, (const uint32_t[]){ 0, 1 }, 2);
	eventually(logged(CE0, 0) == 60 && logged(CE0, 1) == 60);
	assert_int_equal(switches_between(0, 1), 2);
}

TEST_WITH(test_tsg_members_take_turns, chip_setup_one, chip_teardown)
{
	unsigned int i, tsg = 0, other = 0;

	clock_stop();
	for (i = 0; i < 3; i++) {
		chan_init(i, 0);
		/* 200 us for each member of the group */
		mem_set(INST(i) + 0xfc, 0x10000000 | 200);
		chan_bind(i, 0);
		chan_enable(i);
		busy_work(i, 60, 100);
	}
	/* TSG 7 of channels 0 and 1 with 2 ms, then channel 2 with 1 ms */
	runlist(0, (const uint32_t[]){ RL_TSG(7, 2, 244, 3), 0, 1, 2 }, 4);
	eventually(logged(CE0, 0) == 60 && logged(CE0, 1) == 60 && logged(CE0, 2) == 60);
	assert_true(switches_between(0, 1) > 10);
	/* while the TSG has work, it gets twice the time of channel 2 */
	for (i = 0; i < log_count() && tsg < 80; i++) {
		tsg += log_at(i).mthd == M_NOTE && log_at(i).chid < 2;
		other += log_at(i).mthd == M_NOTE && log_at(i).chid == 2;
	}
	assert_in_range(other, 15, 60);
}

TEST(test_tsg_is_on_one_pbdma)
{
	unsigned int i;

	for (i = 0; i < 4; i++) {
		chan_init(i, 0);
		chan_bind(i, 0);
		chan_enable(i);
		busy_work(i, 50, 50);
	}
	runlist(0, (const uint32_t[]){ RL_TSG(1, 4, 128, 3), 0, 1, 2, 3 }, 5);
	while (logged(CE0, 0) + logged(CE1, 0) + logged(CE0, 1) + logged(CE1, 1) + logged(CE0, 2) +
		       logged(CE1, 2) + logged(CE0, 3) + logged(CE1, 3) <
	       200) {
		uint32_t a, b;

		pthread_mutex_lock(&chip->g.lock);
		a = chip->g.fifo->pbdma[0].fc != NULL;
		b = chip->g.fifo->pbdma[1].fc != NULL;
		pthread_mutex_unlock(&chip->g.lock);
		assert_false(a && b);
		usleep(200);
	}
}

TEST(test_two_pbdmas_in_parallel)
{
	chans(2, 0);
	submit(0, ONE(4, M_WAIT, 0));
	submit(1, ONE(4, M_WAIT, 0));
	eventually(atomic_load(&chip->waiting) == 2);
	eventually((rd(0x2648) & 0xf000f000) == 0x80002000);
	eventually((rd(0x2650) & 0xf000f000) == 0x80002000);
	assert_true((rd(0x2648) & 0xfff) != (rd(0x2650) & 0xfff));
	assert_int_equal(rd(0x3080) & 0xf000, 0x2000);
	assert_int_equal(rd(0x3084) & 0xf000, 0x2000);
	assert_true((rd(0x3080) & 0xfff) != (rd(0x3084) & 0xfff));
	atomic_store(&chip->go, true);
	idle(0);
	idle(1);
	assert_int_equal(rd(0x3080), 0);
}

/* ------------------------------------------------------------------ blocking */

TEST(test_block_and_allow)
{
	chans(2, 0);
	wr(0x2630, 1);
	submit(0, IMMD(4, M_NOTE, 1));
	stays(log_count() == 0);
	wr(0x2630, 0);
	eventually(log_count() == 1);
}

/*
 * Begins a turn of channel 0. Half a millisecond into its slice of 1 ms, the channel stands still
 * until turn_goes_on().
 */
static void turn_begins(void)
{
	const uint32_t gate[] = { ONE(4, M_HANG, 1) };

	clock_stop();
	chans(1, 0);
	runlist(0, NULL, 0);
	busy_work(0, 5, 100);
	push(0, gate, 2, 0);
	busy_work(0, 115, 100);
	runlist(0, (const uint32_t[]){ 0 }, 1);
	eventually(atomic_load(&chip->waiting));
}

static void turn_goes_on(void)
{
	atomic_store(&chip->go, true);
	eventually(!(rd(0x3080) & 0x2000));
	assert_in_range(logged(CE0, 0), 10, 20);
}

TEST_WITH(test_block_ends_with_the_turn, chip_setup_one, chip_teardown)
{
	unsigned int n;

	turn_begins();
	wr(0x2630, 1);
	turn_goes_on();
	n = logged(CE0, 0);
	stays(logged(CE0, 0) == n);
	wr(0x2630, 0);
	eventually(logged(CE0, 0) == 120);
}

TEST_WITH(test_disable_ends_with_the_turn, chip_setup_one, chip_teardown)
{
	turn_begins();
	chan_disable(0);
	turn_goes_on();
	assert_int_equal(mem_get(INST(0) + RAMFC_GP_GET), mem_get(USERD(0) + USERD_GP_GET));
	chan_enable(0);
	eventually(logged(CE0, 0) == 120);
}

TEST_WITH(test_removed_ends_with_the_turn, chip_setup_one, chip_teardown)
{
	unsigned int n;

	turn_begins();
	runlist(0, NULL, 0);
	turn_goes_on();
	n = logged(CE0, 0);
	stays(logged(CE0, 0) == n);
	runlist(0, (const uint32_t[]){ 0 }, 1);
	eventually(logged(CE0, 0) == 120);
}

/* ------------------------------------------------------------------ preempt */

TEST(test_preempt_idle)
{
	chans(1, 0);
	wr(0x2634, 0);
	assert_int_equal(rd(0x2634) & 0x100000, 0);
	wr(0x2634, 0x01000005);
	assert_int_equal(rd(0x2634), 0x01000005);
}

TEST(test_preempt_in_a_method)
{
	chans(2, 0);
	runlist(0, NULL, 0);
	mem_set(INST(0) + 0xf8, 0x00003080); /* without a slice that ends */
	runlist(0, (const uint32_t[]){ 0, 1 }, 2);
	submit(0, ONE(4, M_WAIT, 5), IMMD(4, M_NOTE, 1));
	eventually(atomic_load(&chip->waiting));
	chan_disable(0);
	preempt_wait(1); /* a preempt of another channel */
	assert_true(atomic_load(&chip->waiting));
	preempt_wait(0);
	assert_int_equal(atomic_load(&chip->again), 1);
	/* the method was given back: its data word comes again */
	assert_int_equal(mem_get(INST(0) + RAMFC_PB_GET), PUSH(0) + 4);
	assert_int_equal(mem_get(INST(0) + RAMFC_PB_COUNT), 1);
	stays(log_count() == 1);
	atomic_store(&chip->go, true);
	chan_enable(0);
	eventually(log_count() == 3);
	assert_int_equal(log_at(1).mthd, M_WAIT);
	assert_int_equal(log_at(1).data, 5);
	assert_int_equal(log_at(2).mthd, M_NOTE);
}

TEST_WITH(test_preempt_runs_again_when_enabled, chip_setup_one, chip_teardown)
{
	unsigned int i;

	chans(1, 0);
	busy_work(0, 100, 50);
	for (i = 0; i < 20; i++)
		preempt_wait(0);
	eventually(logged(CE0, 0) == 100);
}

TEST(test_preempt_in_an_acquire)
{
	chans(1, 0);
	submit(0, ACQUIRE(0, 5), IMMD(4, M_NOTE, 1));
	eventually(status(0) == PCCSR_STATUS_ON_PBDMA && acquire_sleepers() == 1);
	chan_disable(0);
	preempt_wait(0);
	assert_int_equal(mem_get(INST(0) + RAMFC_SEMAPHORE_D), 0x00080001);
	mem_set(SEM(0), 5);
	stays(log_count() == 0);
	chan_enable(0);
	eventually(log_count() == 1);
}

TEST(test_preempt_takes_the_context_off_gr)
{
	chans(1, 0);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 1);
	all_put_away();
	/* GR keeps the channel's context, and is idle */
	eventually((rd(0x2640) & 0xf000ffff) == 0x2000);
	assert_int_equal(atomic_load(&chip->resident), 0);
	eventually(status(0) == PCCSR_STATUS_ON_ENG);
	preempt_wait(0);
	assert_int_equal(rd(0x2640), 0);
	assert_int_equal(atomic_load(&chip->resident), -1);
	assert_int_equal(atomic_load(&chip->saves), 1);
	submit(0, IMMD(1, M_NOTE, 2));
	eventually(log_count() == 2);
	assert_int_equal(atomic_load(&chip->loads), 2);
}

TEST(test_preempt_in_a_gr_method)
{
	chans(1, 0);
	submit(0, ONE(1, M_WAIT, 5), IMMD(1, M_NOTE, 1));
	eventually(atomic_load(&chip->waiting));
	assert_int_equal(rd(0x2640), 0x80002000);
	preempt_wait(0);
	/* the channel is enabled, so it is back at once */
	eventually(atomic_load(&chip->waiting));
	chan_disable(0);
	preempt_wait(0);
	assert_int_equal(rd(0x2640), 0);
	assert_int_equal(atomic_load(&chip->resident), -1);
	atomic_store(&chip->go, true);
	chan_enable(0);
	eventually(log_count() == 4);
}

TEST_WITH(test_preempt_tsg, chip_setup_one, chip_teardown)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		chan_init(i, 0);
		chan_bind(i, 0);
		chan_enable(i);
	}
	runlist(0, (const uint32_t[]){ RL_TSG(9, 2, 128, 3), 0, 1 }, 3);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 1);
	submit(1, ONE(4, M_WAIT, 1));
	eventually(atomic_load(&chip->waiting));
	assert_int_equal(rd(0x2640) & 0xf000ffff, 0x3009);
	wr(0x2630, 1);
	preempt_wait(0x01000009);
	assert_int_equal(rd(0x2640), 0);
	assert_int_equal(rd(0x3080), 0);
	assert_int_equal(atomic_load(&chip->resident), -1);
	atomic_store(&chip->go, true);
	wr(0x2630, 0);
	eventually(log_count() == 3);
}

/* As nouveau's gk104_ectx_bind(): the context pointer changes while the channel is preempted. */
TEST(test_context_pointer_changes)
{
	chans(1, 0);
	mem_set(INST(0) + 0x210, 0);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 1);
	all_put_away();
	/* here without a preempt: the next load notices the change */
	mem_set(INST(0) + 0x210, 0x12345004);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 2);
	assert_int_equal(atomic_load(&chip->saves), 1);
	assert_int_equal(atomic_load(&chip->loads), 2);
}

TEST(test_force_reload)
{
	chans(1, 0);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 1);
	all_put_away();
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 2);
	assert_int_equal(atomic_load(&chip->loads), 1);
	eventually(rd(0x800004) >> 24 == 0x17); /* on engine */
	wr(0x800004, 0x100);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 3);
	assert_int_equal(atomic_load(&chip->loads), 2);
	all_put_away();
	assert_int_equal(rd(0x800004) & 0x100, 0);
}

/* ------------------------------------------------------------------ GR among several */

TEST(test_gr_is_shared)
{
	unsigned int c, i;

	chans(4, 0);
	for (c = 0; c < 4; c++)
		for (i = 0; i < 60; i++) {
			const uint32_t w[] = { ONE(1, M_SPIN, 100), IMMD(1, M_NOTE, 1),
					       IMMD(4, M_NOTE, 2) };

			push(c, w, 4, 0);
		}
	for (c = 0; c < 4; c++)
		doorbell(c);
	eventually(logged(GR, 0) == 60 && logged(GR, 1) == 60 && logged(GR, 2) == 60 &&
		   logged(GR, 3) == 60);
	assert_true(atomic_load(&chip->loads) > 4);
}

static unsigned int queued_for_gr(void)
{
	unsigned int n;

	pthread_mutex_lock(&chip->g.lock);
	n = chip->g.fifo->eng[GR].queued;
	pthread_mutex_unlock(&chip->g.lock);
	return n;
}

TEST(test_waiting_for_gr_can_be_preempted)
{
	unsigned int waits, owns;

	chans(2, 0);
	submit(0, ONE(1, M_HANG, 0));
	submit(1, ONE(1, M_HANG, 0));
	eventually(atomic_load(&chip->waiting) == 1 && rd(0x3080) && rd(0x3084));
	owns = log_at(0).chid;
	waits = !owns;
	eventually(queued_for_gr() == 1);
	chan_disable(waits);
	preempt_wait(waits);
	assert_int_equal(atomic_load(&chip->waiting), 1);
	assert_int_equal(log_count(), 1);
	assert_int_equal(rd(0x2640) & 0xfff, owns);
	atomic_store(&chip->go, true);
	chan_enable(waits);
	eventually(log_count() == 2);
}

/*
 * One channel has GR, and the other one waits for it. The waiting channel keeps its place in the
 * queue when its own slices end, so the timeout of the owner does not begin anew.
 */
TEST(test_waiting_for_gr_outlasts_slices)
{
	unsigned int i;

	chans(2, 0);
	clock_stop();
	submit(0, ONE(1, M_HANG, 0));
	submit(1, ONE(1, M_HANG, 0));
	eventually(atomic_load(&chip->waiting) == 1 && queued_for_gr() == 1);
	for (i = 0; i < 400; i++) {
		if (i % 2)
			clock_move(2000000);
		assert_int_equal(queued_for_gr(), 1);
		usleep(20);
	}
	atomic_store(&chip->go, true);
	eventually(log_count() == 2);
}

TEST(test_long_methods_let_go_of_gr)
{
	chans(2, 0);
	submit(0, ONE(1, M_WAIT, 0));
	submit(1, ONE(1, M_WAIT, 0));
	eventually(atomic_load(&chip->again) > 4 && atomic_load(&chip->loads) > 4);
	atomic_store(&chip->go, true);
	eventually(!rd(0x3080) && !rd(0x3084) && rd(0x2640) >> 28 == 0);
}

TEST(test_an_acquire_gives_gr_up)
{
	chans(2, 0);
	submit(0, IMMD(1, M_NOTE, 1), ACQUIRE(0, 1), IMMD(1, M_NOTE, 1));
	eventually(logged(GR, 0) == 1);
	submit(1, IMMD(1, M_NOTE, 1), RELEASE(0, 1));
	eventually(logged(GR, 1) == 1 && logged(GR, 0) == 2);
}

/* ------------------------------------------------------------------ layouts, masses, the end */

TEST_WITH(test_card_layout, chip_setup_card, chip_teardown)
{
	unsigned int r;

	for (r = 0; r < 3; r++) {
		chan_init(r, r);
		chan_bind(r, r);
		chan_enable(r);
		runlist(r, (const uint32_t[]){ r }, 1);
	}
	assert_int_equal(rd(0x2390), 1);
	assert_int_equal(rd(0x2398), 4);
	assert_int_equal(rd(0x2a00), 7);
	submit(1, IMMD(4, M_NOTE, 1));
	submit(2, IMMD(4, M_NOTE, 1));
	submit(0, IMMD(4, M_NOTE, 1), IMMD(1, M_NOTE, 1));
	eventually(log_count() == 4);
	assert_int_equal(logged(CE0, 1), 1);
	assert_int_equal(logged(CE1, 2), 1);
	assert_int_equal(logged(CE2, 0), 1);
	assert_int_equal(logged(GR, 0), 1);
	submit(1, ONE(1, M_NOTE, 1)); /* runlist 1 has no GR */
	eventually(rd(0x42108) == PBDMA_INTR0_DEVICE);
	runlist(1, (const uint32_t[]){ 1, 2 }, 2);
	assert_int_equal(rd(0x254c), 0x19); /* channel 2 does not belong to runlist 1 */
}

TEST(test_4096_channels)
{
	unsigned int c;

	chans(4096, 0);
	for (c = 0; c < 4096; c++) {
		const uint32_t w[] = { RELEASE(c, c + 1) };

		push(c, w, 5, 0);
	}
	for (c = 4096; c-- > 0;)
		doorbell(c);
	for (c = 0; c < 4096; c++)
		eventually(mem_get(SEM(c)) == c + 1);
}

static int stop_with_everything(void **state)
{
	unsigned int c;

	if (chip_setup(state))
		return -1;
	chans(64, 0);
	for (c = 0; c < 64; c++) {
		const uint32_t w[] = { ACQUIRE(0, 9) }, x[] = { ACQUIRE_SWITCH(0, 9) },
			       y[] = { ONE(4, M_WAIT, 0) };

		push(c, c % 3 == 0 ? w : c % 3 == 1 ? x : y, c % 3 == 2 ? 2 : 5, 0);
		doorbell(c);
	}
	return 0;
}

TEST_WITH(test_stop_under_load, stop_with_everything, chip_teardown)
{
	eventually(atomic_load(&chip->waiting));
	usleep(20000); /* chip_teardown() measures how long the stop takes */
}

TEST_MAIN(chip_setup, chip_teardown)
