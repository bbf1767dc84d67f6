// SPDX-License-Identifier: GPL-2.0-only
/* A PBDMA at work: methods, interrupts, and what it leaves in RAMFC and USERD. */
#include "fifo/chip.h"

static uint32_t ramfc(unsigned int c, unsigned int off)
{
	return mem_get(INST(c) + off);
}

static void idle(unsigned int c)
{
	eventually(!(rd(0x800004 + 8 * c) & 0x10000000));
}

static void expect_log(unsigned int i, unsigned int engine, unsigned int subc, uint32_t mthd,
		       uint32_t data, bool last)
{
	struct log_entry e = log_at(i);

	assert_int_equal(e.engine, engine);
	assert_int_equal(e.subc, subc);
	assert_int_equal(e.mthd, mthd);
	assert_int_equal(e.data, data);
	assert_int_equal(e.last, last);
}

static void test_methods_reach_their_engines(void **state)
{
	chans(1, 0);
	submit(0, INC(0, 0x1000, 2), 1, 2, NINC(1, 0x1000, 2), 3, 4, IMMD(4, 0x1000, 5), 0,
	       INC(2, 0x1000, 1), 6, INC(3, 0x1000, 1), 7);
	eventually(log_count() == 7);
	expect_log(0, GR, 0, 0x1000, 1, false);
	expect_log(1, GR, 0, 0x1004, 2, true);
	expect_log(2, GR, 1, 0x1000, 3, false);
	expect_log(3, GR, 1, 0x1000, 4, true);
	expect_log(4, CE0, 4, 0x1000, 5, true);
	expect_log(5, GR, 2, 0x1000, 6, true);
	expect_log(6, GR, 3, 0x1000, 7, true);
}

static int setup_go(void **state)
{
	int ret = chip_setup_one(state);

	if (!ret)
		atomic_store(&chip->go, true);
	return ret;
}

static void test_what_is_written_back(void **state)
{
	chans(1, 0);
	submit(0, ONE(4, M_NOTE, 1));
	submit(0, ONE(4, 0x1040, 77), ONE(0, 0x50, 0x1234));
	idle(0);
	assert_int_equal(mem_get(USERD(0) + USERD_GP_GET), 2);
	assert_int_equal(mem_get(USERD(0) + USERD_GP_PUT), 2);
	assert_int_equal(mem_get(USERD(0) + USERD_REF), 0x1234);
	assert_int_equal(mem_get(USERD(0) + USERD_GET), PUSH(0) + 24);
	assert_int_equal(mem_get(USERD(0) + USERD_PUT), PUSH(0) + 24);
	assert_int_equal(mem_get(USERD(0) + USERD_TOP_LEVEL_GET), PUSH(0) + 24);
	assert_int_equal(ramfc(0, RAMFC_GP_GET), 2);
	assert_int_equal(ramfc(0, RAMFC_GP_PUT), 2);
	assert_int_equal(ramfc(0, RAMFC_REF), 0x1234);
	assert_int_equal(ramfc(0, RAMFC_PB_GET), PUSH(0) + 24);
	/* a word of the copy class's state */
	assert_int_equal(ramfc(0, 0x100 + 4 * 16), 77);
	assert_int_equal(ramfc(0, RAMFC_SIGNATURE), 0xface);
}

static void test_ring_wraps(void **state)
{
	unsigned int i;

	chans(1, 0);
	for (i = 0; i < 3 * RING; i++) {
		const uint32_t w[] = { IMMD(4, M_NOTE, i) };

		push(0, w, 1, 0);
		if (i % 50 == 49)
			doorbell_wait_idle(0);
	}
	doorbell_wait_idle(0);
	assert_int_equal(logged(CE0, 0), 3 * RING);
	for (i = 0; i < 3 * RING; i++)
		assert_int_equal(log_at(i).data, i);
}

static void test_data_continues_in_the_next_entry(void **state)
{
	const uint32_t head[] = { NINC(4, M_NOTE, 3), 1 }, tail[] = { 2, 3, IMMD(4, M_NOTE, 4) };

	chans(1, 0);
	push(0, head, 2, 0);
	doorbell_wait_idle(0);
	assert_int_equal(ramfc(0, RAMFC_PB_COUNT), 2);
	assert_int_equal(ramfc(0, RAMFC_PB_HEADER) & 0xe007fffc, 0x60040000 | M_NOTE);
	push(0, tail, 3, 0);
	doorbell_wait_idle(0);
	assert_int_equal(log_count(), 4);
	expect_log(2, CE0, 4, M_NOTE, 3, true);
}

static void test_subroutine_does_not_move_top_level_get(void **state)
{
	const uint32_t w[] = { IMMD(4, M_NOTE, 1) };

	chans(1, 0);
	push(0, w, 1, 0);
	push(0, w, 1, 1 << 9);
	doorbell_wait_idle(0);
	assert_int_equal(mem_get(USERD(0) + USERD_TOP_LEVEL_GET), PUSH(0) + 4);
	assert_int_equal(mem_get(USERD(0) + USERD_TOP_LEVEL_GET_HI), 0x80000000);
	assert_int_equal(mem_get(USERD(0) + USERD_GET), PUSH(0) + 8);
}

static void test_end_segment(void **state)
{
	chans(1, 0);
	submit(0, IMMD(4, M_NOTE, 1), 0xe0000000, IMMD(4, M_NOTE, 2));
	submit(0, IMMD(4, M_NOTE, 3));
	eventually(log_count() == 2);
	expect_log(1, CE0, 4, M_NOTE, 3, true);
}

static void test_conditional_fetch(void **state)
{
	const uint32_t w[] = { IMMD(4, M_NOTE, 1) };

	chans(1, 0);
	push(0, w, 1, 0);
	mem_set(GPFIFO(0), mem_get(GPFIFO(0)) | 1);
	doorbell_wait_idle(0);
	/* no condition was set yet, so the entry is executed */
	assert_int_equal(log_count(), 1);
	mem_set(INST(0) + 0x100 + 4 * 5, 1u << 30); /* the condition is FALSE from now on */
	push(0, w, 1, 0);
	mem_set(GPFIFO(0) + 8, mem_get(GPFIFO(0) + 8) | 1);
	push(0, w, 1, 0);
	doorbell_wait_idle(0);
	assert_int_equal(log_count(), 2);
}

static void test_control_entries(void **state)
{
	const uint32_t w[] = { IMMD(4, M_NOTE, 1) };

	chans(1, 0);
	gp_raw(0, 0, 0);
	push(0, w, 1, 0);
	doorbell_wait_idle(0);
	assert_int_equal(log_count(), 1);
	gp_raw(0, fifo_crc(0, w, 1), GP_OPCODE_PB_CRC);
	doorbell_wait_idle(0);
	assert_int_equal(rd(0x40108), 0);
	gp_raw(0, 0x12345678, GP_OPCODE_GP_CRC);
	doorbell(0);
	eventually(rd(0x40108) == PBDMA_INTR0_GPCRC);
	wr(0x40108, ~0u);
	gp_raw(0, 0, 9);
	doorbell(0);
	eventually(rd(0x40108) == PBDMA_INTR0_GPENTRY);
	assert_int_equal(rd(0x25a0), 1);
	assert_true(rd(0x2100) & 0x20000000);
	assert_int_equal(rd(0x40120), 0x2000);
	wr(0x25a0, 1);
	/* the bit is a level: the write does not clear it */
	assert_int_equal(rd(0x25a0), 1);
	wr(0x40108, ~0u);
	assert_int_equal(rd(0x2100), 0x40000000);
	push(0, w, 1, 0);
	doorbell_wait_idle(0);
	assert_int_equal(log_count(), 2);
}

static void expect_stall(unsigned int c, const uint32_t *w, unsigned int n, uint32_t intr0,
			 uint32_t intr1)
{
	unsigned int before;

	idle(c);
	before = log_count();
	push(c, w, n, 0);
	submit(c, IMMD(4, M_NOTE, 9));
	eventually(rd(0x40108) == intr0 && rd(0x40148) == intr1);
	stays(log_count() == before || (intr1 && log_count() == before + 1));
}

static void expect_end(uint32_t before)
{
	wr(0x400c0, 0x80600008); /* as nouveau's gf100_runq_intr() does */
	wr(0x40108, ~0u);
	wr(0x40148, ~0u);
	eventually(log_count() == before + 1);
	assert_int_equal(rd(0x40108), 0);
}

static void test_interrupts_of_methods(void **state)
{
	static const struct {
		uint32_t words[2], n, intr0, c0;
	} cases[] = {
		{ { INC(0, 0x04, 1), 0 }, 2, PBDMA_INTR0_METHOD, 0x80000004 },
		{ { INC(3, 0x54, 1), 0 }, 2, PBDMA_INTR0_METHOD, 0x80030054 },
		{ { INC(5, 0x500, 1), 7 }, 2, PBDMA_INTR0_DEVICE, 0x80050500 },
		{ { INC(7, 0x00, 1), 0x906e }, 2, PBDMA_INTR0_DEVICE, 0x80070000 },
		{ { INC(0, 0x00, 1), 0x1f0000 }, 2, PBDMA_INTR0_DEVICE, 0x80000000 },
		{ { INC(0, 0x1c, 1), 3 }, 2, PBDMA_INTR0_SEMAPHORE, 0x8000001c },
		{ { INC(0, 0x2c, 1), 3u << 27 }, 2, PBDMA_INTR0_MEMOP, 0x8000002c },
		{ { INC(0, 0x7c, 1), 1 }, 2, PBDMA_INTR0_METHODCRC, 0x8000007c },
	};
	unsigned int i;

	chans(1, 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t before = log_count();

		expect_stall(0, cases[i].words, cases[i].n, cases[i].intr0, 0);
		assert_int_equal(rd(0x400c0), cases[i].c0);
		assert_int_equal(rd(0x400c4), cases[i].words[1]);
		expect_end(before);
	}
	for (i = 0; i < 2; i++) {
		const uint32_t bad[] = { i ? 0xc0000000 : 0x40010000 };
		uint32_t before = log_count();

		expect_stall(0, bad, 1, PBDMA_INTR0_PBENTRY, 0);
		expect_end(before);
	}
}

static void test_interrupts_of_the_copy_class(void **state)
{
	const uint32_t priv[] = { ONE(4, M_PRIV, 5) }, ill[] = { ONE(4, M_ILLEGAL, 5) },
		       cls[] = { ONE(4, 0, 0xa097) };
	const uint32_t good[] = { ONE(4, 0, 0xa0b5) };
	uint32_t before;

	chans(1, 0);
	before = log_count();
	expect_stall(0, priv, 2, 0, PBDMA_INTR1_PRIV);
	assert_int_equal(rd(0x40150) & 0xffff, M_PRIV);
	assert_int_equal(rd(0x40154), 5);
	expect_end(before + 1);
	before = log_count();
	expect_stall(0, ill, 2, 0, PBDMA_INTR1_ILLEGAL_MTHD);
	expect_end(before + 1);
	before = log_count();
	expect_stall(0, cls, 2, 0, PBDMA_INTR1_ILLEGAL_CLASS);
	expect_end(before);
	push(0, good, 2, 0);
	doorbell_wait_idle(0);
	assert_int_equal(rd(0x40148), 0);
}

/*
 * If software acknowledges a software method and has not replaced it, the same method is reported
 * again.
 */
static void test_software_method_stays(void **state)
{
	const uint32_t w[] = { ONE(6, 0x644, 0x12) };

	chans(1, 0);
	expect_stall(0, w, 2, PBDMA_INTR0_DEVICE, 0);
	wr(0x40108, PBDMA_INTR0_DEVICE);
	eventually(rd(0x40108) == PBDMA_INTR0_DEVICE);
	wr(0x400c0, 0x80000000 | 4 << 16 | M_NOTE);
	wr(0x40108, PBDMA_INTR0_DEVICE);
	eventually(log_count() == 2);
	expect_log(0, CE0, 4, M_NOTE, 0x12, true);
}

static void test_masked_from_stalling(void **state)
{
	const uint32_t w[] = { ONE(0, 0x04, 0), IMMD(4, M_NOTE, 1) };

	wr(0x4013c, 0);
	chans(1, 0);
	push(0, w, 3, 0);
	doorbell_wait_idle(0);
	assert_int_equal(rd(0x40108), PBDMA_INTR0_METHOD);
	assert_int_equal(log_count(), 1);
	assert_int_equal(ramfc(0, RAMFC_METHOD0) & PBDMA_METHOD_VALID, 0);
}

static void test_signature_and_put(void **state)
{
	chans(2, 0);
	mem_set(INST(0) + 0x10, 0xdead);
	submit(0, IMMD(4, M_NOTE, 1));
	eventually(rd(0x40108) == PBDMA_INTR0_SIGNATURE);
	assert_int_equal(log_count(), 0);
	chan_disable(0);
	wr(0x2634, 0);
	/* the PBDMA does not give the channel up before its interrupt is acknowledged */
	assert_true(rd(0x2634) & 0x100000);
	wr(0x40108, ~0u);
	eventually(!(rd(0x2634) & 0x100000));
	put_write(1, 4000);
	eventually(rd(0x40108) == PBDMA_INTR0_GPPTR);
	put_write(1, 0);
	wr(0x40108, ~0u);
	submit(1, IMMD(4, M_NOTE, 1));
	eventually(logged(CE0, 1) == 1);
}

static void test_ramfc_words_can_not_be_written_while_running(void **state)
{
	chans(1, 0);
	submit(0, ONE(4, M_WAIT, 0));
	eventually(atomic_load(&chip->waiting));
	wr(0x40048, 0x1234);
	assert_int_equal(rd(0x40048), GPFIFO(0));
	assert_int_equal(rd(0x40108), PBDMA_INTR0_PRI);
	wr(0x40108, PBDMA_INTR0_PRI);
	atomic_store(&chip->go, true);
	idle(0);
}

static void test_memory_operations(void **state)
{
	chans(1, 0);
	submit(0, ONE(0, 0x24, 0), ONE(0, 0x28, 0x12344 | 3u << 30), ONE(0, 0x2c, 9u << 27 | 2),
	       ONE(0, 0x2c, 5u << 27), ONE(0, 0x2c, 6u << 27), ONE(0, 0x2c, 0xdu << 27),
	       ONE(0, 0x2c, 0xeu << 27), ONE(0, 0x2c, 0xfu << 27), ONE(0, 0x2c, 0x10u << 27),
	       ONE(0, 0x78, 0), ONE(0, 0x08, 1), ONE(0, 0x80, 0), ONE(0, 0x7c, 0));
	idle(0);
	assert_int_equal(rd(0x40108), 0);
	assert_int_equal(chip->invalidates, 1);
	assert_int_equal(chip->inv_pdb, (uint64_t)(0x12344 >> 2) << 12);
	assert_int_equal(chip->inv_target, 3);
	assert_int_equal(chip->inv_flags, MMU_INV_ALL_VA | MMU_INV_HUB_ONLY);
	submit(0, ONE(0, 0x2c, 9u << 27 | 1));
	idle(0);
	assert_int_equal(chip->inv_flags, MMU_INV_ALL_VA | MMU_INV_ALL_PDB);
}

static void test_non_stall_interrupt(void **state)
{
	chans(1, 0);
	wr(0x2a00, ~0u);
	submit(0, ONE(0, 0x20, 0));
	eventually(rd(0x2100) & 0x80000000);
	assert_int_equal(rd(0x100), 0); /* masked */
	mask(0x2140, 0x80000000, 0x80000000);
	assert_int_equal(rd(0x100), 0x100);
	assert_int_equal(rd(0x104), 0);
	wr(0x2528, 0x80000000);
	assert_int_equal(rd(0x104), 0x100);
	wr(0x2100, 0x80000000);
	assert_int_equal(rd(0x104), 0);
	assert_int_equal(rd(0x100), 0);
}

static unsigned int fifo_threads(void)
{
	const struct fifo *f = chip->g.fifo;
	unsigned int i, n = f->keeper_running;

	for (i = 0; i < chip->g.nr_pbdma; i++)
		n += f->pbdma[i].running;
	return n;
}

/* An idle PFIFO's threads wait without a deadline. */
static void test_idle_costs_nothing(void **state)
{
	uint64_t before, after;

	chans(64, 0);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 1 && !rd(0x3080));
	chan_disable(0);
	/* the preempt takes the context off: by then all threads have run */
	preempt_wait(0);
	assert_true(fifo_threads() >= 2);
	eventually(clock_idlers(&before) == fifo_threads());
	usleep(300000);
	eventually(clock_idlers(&after) == fifo_threads());
	assert_in_range(after - before, 0, fifo_threads());
}

/* A doorbell wakes a PBDMA that waits without a deadline. The time that it takes is printed. */
static void test_doorbell_wakes(void **state)
{
	uint64_t best = UINT64_MAX, sum = 0, waits, t;
	unsigned int i, n = 300;

	chans(1, 0);
	for (i = 0; i < n; i++) {
		const uint32_t w[] = { RELEASE(0, i + 1) };

		push(0, w, 5, 0);
		eventually(clock_idlers(&waits) == fifo_threads());
		t = real_ns();
		doorbell(0);
		eventually(mem_get(SEM(0)) == i + 1);
		t = real_ns() - t;
		sum += t;
		best = t < best ? t : best;
	}
	print_message("# doorbell to release: best %llu ns, mean %llu ns\n",
		      (unsigned long long)best, (unsigned long long)sum / n);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, chip_setup_one, chip_teardown)
#define T_GO(f) cmocka_unit_test_setup_teardown(f, setup_go, chip_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_GO(test_methods_reach_their_engines),
		T(test_what_is_written_back),
		T(test_ring_wraps),
		T(test_data_continues_in_the_next_entry),
		T(test_subroutine_does_not_move_top_level_get),
		T(test_end_segment),
		T(test_conditional_fetch),
		T(test_control_entries),
		T(test_interrupts_of_methods),
		T(test_interrupts_of_the_copy_class),
		T(test_software_method_stays),
		T(test_masked_from_stalling),
		T(test_signature_and_put),
		T(test_ramfc_words_can_not_be_written_while_running),
		T(test_memory_operations),
		T(test_non_stall_interrupt),
		T(test_idle_costs_nothing),
		T(test_doorbell_wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
