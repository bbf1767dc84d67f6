// SPDX-License-Identifier: GPL-2.0-only
/* PFIFO's semaphores, and what a waiting channel does to others. */
#include "fifo/chip.h"

static uint32_t status(unsigned int c)
{
	return rd(0x800004 + 8 * c) >> 24 & 0xf;
}

static void idle(unsigned int c)
{
	eventually(!(rd(0x800004 + 8 * c) & 0x10000000));
}

static void test_release(void **state)
{
	uint64_t before = mono_ns() & ~31ull, time;

	chans(1, 0);
	for (unsigned int i = 0; i < 4; i++)
		mem_set(SEM(0) + 4 * i, 0xcccccccc), mem_set(SEM(1) + 4 * i, 0xcccccccc);
	submit(0, SEMA(SEM(0), 0x1234, 2), SEMA(SEM(1), 0x5678, 0x01100002));
	idle(0);
	assert_int_equal(mem_get(SEM(0)), 0x1234);
	assert_int_equal(mem_get(SEM(0) + 4), 0);
	time = mem_get(SEM(0) + 8) | (uint64_t)mem_get(SEM(0) + 12) << 32;
	assert_in_range(time, before, mono_ns());
	assert_int_equal(mem_get(SEM(1)), 0x5678);
	assert_int_equal(mem_get(SEM(1) + 4), 0xcccccccc);
}

static void test_16_bytes_need_alignment(void **state)
{
	chans(1, 0);
	submit(0, SEMA(SEM(0) + 4, 1, 2));
	eventually(rd(0x40108) == PBDMA_INTR0_SEMAPHORE);
	wr(0x400c0, 0x80600008);
	wr(0x40108, ~0u);
	submit(0, SEMA(SEM(0) + 4, 7, 0x01000002));
	eventually(mem_get(SEM(0) + 4) == 7);
}

static void test_reductions(void **state)
{
	static const struct {
		uint32_t op, old, arg, want, is_unsigned;
	} cases[] = {
		{ HOST_RED_MIN, 5, 0xffffffff, 0xffffffff, 0 },
		{ HOST_RED_MIN, 5, 0xffffffff, 5, 1 },
		{ HOST_RED_MAX, 5, 0xffffffff, 5, 0 },
		{ HOST_RED_MAX, 5, 0xffffffff, 0xffffffff, 1 },
		{ HOST_RED_XOR, 0xff00, 0x0ff0, 0xf0f0, 0 },
		{ HOST_RED_AND, 0xff00, 0x0ff0, 0x0f00, 0 },
		{ HOST_RED_OR, 0xff00, 0x0ff0, 0xfff0, 0 },
		{ HOST_RED_ADD, 0xffffffff, 3, 2, 0 },
		{ HOST_RED_INC, 6, 7, 7, 1 },
		{ HOST_RED_INC, 7, 7, 0, 1 },
		{ HOST_RED_DEC, 1, 7, 0, 1 },
		{ HOST_RED_DEC, 0, 7, 7, 1 },
		{ HOST_RED_DEC, 8, 7, 7, 1 },
	};
	unsigned int i;

	chans(1, 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mem_set(SEM(i), cases[i].old);
		mem_set(SEM(i) + 4, 0xcccccccc);
		submit(0, SEMA(SEM(i), cases[i].arg,
			       0x10 | cases[i].op << 27 | cases[i].is_unsigned << 31));
		idle(0);
		assert_int_equal(mem_get(SEM(i)), cases[i].want);
		assert_int_equal(mem_get(SEM(i) + 4), 0xcccccccc);
	}
	submit(0, SEMA(SEM(0), 1, 0x10 | 8u << 27));
	eventually(rd(0x40108) == PBDMA_INTR0_SEMAPHORE);
}

static void test_acquire_operations(void **state)
{
	static const struct {
		uint32_t op, payload, no, yes;
	} cases[] = {
		{ 1, 5, 6, 5 },
		{ 4, 5, 4, 5 },
		{ 4, 5, 0x80000006, 0x80000004 },
		{ 4, 0xfffffff0, 0xffffffef, 3 },
		{ 8, 0x6, 0x9, 0x2 },
	};
	unsigned int i;

	chans(1, 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mem_set(SEM(i), cases[i].no);
		submit(0, SEMA(SEM(i), cases[i].payload, cases[i].op), IMMD(4, M_NOTE, 1));
		stays(logged(CE0, 0) == i);
		mem_set(SEM(i), cases[i].yes);
		eventually(logged(CE0, 0) == i + 1);
	}
}

/*
 * Channel 0 releases for channel 1 and waits for it, and the other way round; with and without
 * switching, on one PBDMA and on two.
 */
static void ping_pong(uint32_t acquire)
{
	unsigned int i;

	chans(2, 0);
	for (i = 1; i <= 60; i++) {
		const uint32_t a[] = { SEMA(SEM(1), i - 1, acquire), RELEASE(0, i) };
		const uint32_t b[] = { SEMA(SEM(0), i, acquire), RELEASE(1, i) };

		push(0, a, 10, 0);
		push(1, b, 10, 0);
	}
	doorbell(1);
	doorbell(0);
	eventually(mem_get(SEM(1)) == 60);
	idle(0);
	idle(1);
}

static void test_ping_pong_switch(void **state)
{
	ping_pong(0x1001);
}

static void test_ping_pong(void **state)
{
	ping_pong(0x1);
}

static void test_one_blocked_does_not_stop_others(void **state)
{
	chans(3, 0);
	submit(0, ACQUIRE(0, 1), IMMD(4, M_NOTE, 1));
	submit(1, ACQUIRE_SWITCH(0, 1), IMMD(4, M_NOTE, 1));
	eventually(acquire_sleepers() == 2);
	submit(2, IMMD(4, M_NOTE, 1));
	eventually(logged(CE0, 2) == 1);
	stays(log_count() == 1);
	mem_set(SEM(0), 1);
	eventually(logged(CE0, 0) == 1 && logged(CE0, 1) == 1);
}

static void test_switched_out_keeps_its_place_in_ramfc(void **state)
{
	chans(2, 0);
	submit(0, ACQUIRE_SWITCH(3, 77), IMMD(4, M_NOTE, 1));
	submit(1, ACQUIRE_SWITCH(4, 77), IMMD(4, M_NOTE, 1));
	/* both channels have tried, in either order */
	eventually(atomic_load(&chip->g.stats.acquires_blocked) == 2);
	eventually(status(0) == PCCSR_STATUS_PENDING_ACQ || status(1) == PCCSR_STATUS_PENDING_ACQ);
	chan_disable(0);
	chan_disable(1);
	preempt_wait(0);
	preempt_wait(1);
	assert_int_equal(mem_get(INST(0) + RAMFC_SEMAPHORE_D), 0x00081001);
	assert_int_equal(mem_get(INST(0) + RAMFC_SEMAPHORE_C), 77);
	assert_int_equal(mem_get(INST(0) + RAMFC_SEMAPHORE_B), SEM(3));
	mem_set(INST(0) + RAMFC_SEMAPHORE_C, 78);
	mem_set(SEM(3), 78);
	chan_enable(0);
	eventually(logged(CE0, 0) == 1);
}

/* The time stands still, so no timer can end the wait: the kick must. */
static void test_kick_wakes(void **state)
{
	unsigned int i;

	chans(1, 0);
	clock_stop();
	for (i = 1; i <= 50; i++) {
		submit(0, SEMA(SEM(0), i, 1), RELEASE(1, i));
		eventually(acquire_sleepers() == 1);
		mem_set(SEM(0), i);
		fifo_kick(&chip->g);
		eventually(mem_get(SEM(1)) == i);
	}
}

static void test_timer_wakes(void **state)
{
	unsigned int i;

	chans(1, 0);
	clock_stop();
	for (i = 1; i <= 20; i++) {
		submit(0, SEMA(SEM(0), i, 1), RELEASE(1, i));
		eventually(acquire_sleepers() == 1);
		mem_set(SEM(0), i);
		/* an acquire is looked at again after this time */
		clock_move(1000000);
		eventually(mem_get(SEM(1)) == i);
	}
}

static void test_timeout(void **state)
{
	unsigned int i;

	chans(2, 0);
	/* the timeout: 100 << 8 units of 1024 ns are 26.2 ms */
	mem_set(INST(0) + 0x30, 1u << 31 | 100 << 15 | 8 << 11);
	clock_stop();
	submit(0, ACQUIRE(0, 1), IMMD(4, M_NOTE, 1));
	eventually(acquire_sleepers() == 1);
	/* after the acknowledgement the channel waits again */
	for (i = 0; i < 2; i++) {
		clock_move(26 * 1000000);
		stays(rd(0x40108) == 0);
		clock_move(1200 * 1000);
		eventually(rd(0x40108) == PBDMA_INTR0_ACQUIRE);
		assert_int_equal(rd(0x40120), 0x2000);
		assert_int_equal(log_count(), 0);
		mem_set(SEM(0), i);
		wr(0x40108, ~0u);
	}
	eventually(log_count() == 1);
}

static void test_deadline_survives_switching(void **state)
{
	chans(2, 0);
	mem_set(INST(0) + 0x30, 1u << 31 | 100 << 15 | 9 << 11); /* 52 ms */
	submit(0, ACQUIRE_SWITCH(0, 1));
	submit(1, ACQUIRE_SWITCH(1, 1));
	eventually(rd(0x40108) == PBDMA_INTR0_ACQUIRE);
	assert_int_equal(rd(0x40120) & 0xfff, 0);
}

static void test_no_timeout_without_the_enable_bit(void **state)
{
	chans(1, 0);
	mem_set(INST(0) + 0x30, 0);
	clock_stop();
	submit(0, ACQUIRE(0, 1));
	eventually(acquire_sleepers() == 1);
	clock_move(1000 * 1000000000ull);
	stays(rd(0x40108) == 0);
	mem_set(SEM(0), 1);
	fifo_kick(&chip->g);
	idle(0);
}

/* RAMFC may hold an address that no method sets: acquire and release use the aligned word. */
static void test_misaligned_address_in_ramfc(void **state)
{
	chans(1, 0);
	mem_set(SEM(0), 5);
	mem_set(SEM(0) + 4, 0);
	mem_set(INST(0) + 0x3c, SEM(0) + 3);
	mem_set(INST(0) + 0x40, 5);
	mem_set(INST(0) + 0x44, 1 << 19 | 1); /* an acquire that was switched out */
	submit(0, INC(0, 0x18, 2), 7, 0x01000002, IMMD(4, M_NOTE, 1));
	eventually(logged(CE0, 0) == 1);
	assert_int_equal(mem_get(SEM(0)), 7);
	assert_int_equal(mem_get(SEM(0) + 4), 0);
}

/* The CPU time that a thousand waiting channels use is printed. */
static void test_many_waiting_are_cheap(void **state)
{
	struct timespec a, b;
	unsigned int c;
	uint64_t used;

	chans(1024, 0);
	for (c = 0; c < 1024; c++)
		submit(c, ACQUIRE_SWITCH(c, 1), RELEASE(2048 + c, 1));
	eventually(atomic_load(&chip->g.stats.acquires_blocked) == 1024);
	usleep(200000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	usleep(400000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	used = (uint64_t)(b.tv_sec - a.tv_sec) * 1000000000ull + (uint64_t)(b.tv_nsec - a.tv_nsec);
	print_message("# 1024 waiting: %llu us of CPU in 400 ms\n",
		      (unsigned long long)used / 1000);
	for (c = 0; c < 1024; c++)
		mem_set(SEM(c), 1);
	for (c = 0; c < 1024; c++)
		eventually(mem_get(SEM(2048 + c)) == 1);
}

#define T(f)	 cmocka_unit_test_setup_teardown(f, chip_setup, chip_teardown)
#define T_ONE(f) cmocka_unit_test_setup_teardown(f, chip_setup_one, chip_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_ONE(test_release),
		T_ONE(test_16_bytes_need_alignment),
		T_ONE(test_reductions),
		T_ONE(test_acquire_operations),
		T(test_ping_pong_switch),
		T(test_ping_pong),
		T_ONE(test_ping_pong_switch),
		T_ONE(test_ping_pong),
		T_ONE(test_one_blocked_does_not_stop_others),
		T_ONE(test_switched_out_keeps_its_place_in_ramfc),
		T(test_kick_wakes),
		T(test_timer_wakes),
		T_ONE(test_timeout),
		T_ONE(test_deadline_survives_switching),
		T_ONE(test_no_timeout_without_the_enable_bit),
		T_ONE(test_misaligned_address_in_ramfc),
		T(test_many_waiting_are_cheap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
