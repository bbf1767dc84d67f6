// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults and hangs, and the register sequences with which nouveau
 * (nvkm/engine/fifo/{runl,gf100,gk104}.c of Linux 6.12) removes the channel.
 */
#include "fifo/chip.h"

#define FAULT_UNIT_CE0	0x15
#define FAULT_UNIT_HOST 7

/*
 * Returns the channel on an engine or -1, as nouveau's gk104_engn_status() and gk104_engn_cxid()
 * do.
 */
static int cxid(unsigned int engine)
{
	uint32_t stat = rd(0x2640 + engine * 8);
	bool busy = stat >> 31, chsw = stat >> 15 & 1, save = stat >> 14 & 1, load = stat >> 13 & 1;
	int next = stat >> 16 & 0xfff, prev = stat & 0xfff;

	if (busy && chsw) {
		if (load && save)
			return prev;
		return load ? next : prev;
	}
	return load ? prev : -1;
}

static bool chsw(unsigned int engine)
{
	uint32_t stat = rd(0x2640 + engine * 8);

	return stat >> 31 && (stat >> 15 & 1);
}

static void reset_engine(unsigned int engine)
{
	pthread_mutex_lock(&chip->g.lock);
	fifo_engine_reset(&chip->g, engine);
	pthread_mutex_unlock(&chip->g.lock);
}

/*
 * Recovers as nvkm_runl_rc() does for channel @victim; @rest is the runlist without it. Returns a
 * mask of the engines that were reset.
 */
static uint32_t runl_rc(unsigned int victim, const uint32_t *rest, unsigned int n)
{
	uint32_t reset = 0;
	unsigned int e;

	mask(0x2630, 1, 1); /* nvkm_runl_block */
	chan_disable(victim); /* nvkm_chan_error */
	for (e = 0; e < 4; e++)
		if (cxid(e) == (int)victim) {
			reset_engine(e);
			reset |= 1u << e;
		}
	runlist(0, rest, n); /* update */
	wr(0x262c, 1); /* fault_clear */
	mask(0x2630, 1, 0); /* allow */
	assert_int_equal(rd(0x2284) & 0x100000, 0);
	return reset;
}

/* What nouveau does when the channel's client ends afterwards. */
static void tear_down(unsigned int c)
{
	chan_disable(c);
	preempt_wait(c);
	wr(0x800000 + 8 * c, 0);
	assert_int_equal(rd(0x2100) & 1, 0);
	assert_int_equal(rd(0x800000 + 8 * c), 0);
}

static void fault_interrupt(unsigned int unit, unsigned int c)
{
	eventually(rd(0x2100) & 0x10000000);
	assert_int_equal(rd(0x259c), 1u << unit);
	assert_int_equal(rd(0x2800 + 16 * unit), INST(c) >> 12);
	wr(0x259c, 1u << unit);
	assert_int_equal(rd(0x2100) & 0x10000000, 0);
}

static const uint32_t only_1[] = { 1 };

static void others_go_on(unsigned int c)
{
	unsigned int n = log_count();

	submit(c, IMMD(1, M_NOTE, 1), IMMD(4, M_NOTE, 1));
	eventually(log_count() >= n + 2);
	assert_int_equal(rd(0x2100) & 0x31000000, 0);
}

static void test_copy_engine_fault(void **state)
{
	chans(2, 0);
	submit(0, ONE(4, M_FAULT, 1), IMMD(4, M_NOTE, 1));
	fault_interrupt(FAULT_UNIT_CE0, 0);
	eventually(rd(0x2648) == 0x40002000); /* faulted; the channel is 0 */
	assert_int_equal(rd(0x262c), 1);
	submit(1, IMMD(4, M_NOTE, 1));
	stays(log_count() == 1);
	assert_int_equal(runl_rc(0, only_1, 1), 1u << CE0);
	eventually(log_count() == 2);
	assert_int_equal(log_at(1).chid, 1);
	tear_down(0);
	others_go_on(1);
	eventually(rd(0x2648) == 0);
}

static void test_graphics_fault(void **state)
{
	chans(2, 0);
	submit(0, IMMD(4, M_NOTE, 1), ONE(1, M_FAULT, 1));
	fault_interrupt(0, 0);
	eventually(rd(0x2640) == 0x40002000);
	/* the copy engine is reset, too, if the channel has not left it yet */
	assert_int_equal(runl_rc(0, only_1, 1) & ~(1u << CE0), 1u << GR);
	tear_down(0);
	others_go_on(1);
	/* the context was lost by the reset: it was not saved */
	assert_int_equal(atomic_load(&chip->saves), 0);
}

static void host_fault(void)
{
	fault_interrupt(FAULT_UNIT_HOST, 0);
	eventually(rd(0x262c) == 1);
	runl_rc(0, only_1, 1);
	tear_down(0);
	others_go_on(1);
}

static void test_fault_on_a_pushbuffer(void **state)
{
	chans(2, 0);
	gp_raw(0, CHIP_HOLE, 4 << 10);
	doorbell(0);
	host_fault();
}

static void test_fault_on_the_ring(void **state)
{
	chans(2, 0);
	mem_set(INST(0) + 0x48, CHIP_HOLE);
	put_write(0, 1);
	host_fault();
}

static void test_fault_on_a_semaphore(void **state)
{
	chans(2, 0);
	submit(0, SEMA((uint32_t)CHIP_HOLE, 1, 2), IMMD(4, M_NOTE, 1));
	host_fault();
}

static void test_fault_on_an_acquire(void **state)
{
	chans(2, 0);
	submit(0, SEMA((uint32_t)CHIP_HOLE, 1, 0x1001), IMMD(4, M_NOTE, 1));
	host_fault();
}

/* A driver that has recovered before the PBDMA's thread knows of the fault. */
static void test_recovery_overtakes(void **state)
{
	unsigned int i;

	chan_init(1, 0);
	chan_bind(1, 0);
	chan_enable(1);
	for (i = 0; i < 200; i++) {
		chan_init(0, 0);
		chan_bind(0, 0);
		chan_enable(0);
		runlist(0, (const uint32_t[]){ 0, 1 }, 2);
		gp_raw(0, CHIP_HOLE, 4 << 10);
		doorbell(0);
		while (!rd(0x259c))
			;
		wr(0x259c, ~0u);
		runl_rc(0, only_1, 1);
		tear_down(0);
	}
	others_go_on(1);
	eventually(rd(0x262c) == 0);
}

static void test_fault_holds(void **state)
{
	chans(2, 0);
	submit(0, ONE(4, M_FAULT, 1));
	eventually(rd(0x2648) == 0x40002000);
	submit(1, IMMD(4, M_NOTE, 1));
	/* channel 0 is still enabled and listed, so the preempt does not end */
	wr(0x2634, 0);
	stays(rd(0x2634) & 0x100000);
	wr(0x262c, 1); /* the runlist continues, the engine is still held */
	eventually(rd(0x262c) == 0);
	stays(rd(0x2648) == 0x40002000 && log_count() == 1);
	chan_disable(0);
	eventually(!(rd(0x2634) & 0x100000) && log_count() == 2);
	/* the engine is idle after the end of channel 1's method, when that channel has left */
	eventually(rd(0x2648) == 0);
}

static void test_other_pbdma_goes_on_after_recovery(void **state)
{
	chans(2, 0);
	submit(1, ONE(4, M_WAIT, 1), IMMD(4, M_NOTE, 1));
	eventually(atomic_load(&chip->waiting));
	submit(0, ONE(4, M_FAULT, 1));
	eventually(rd(0x2648) == 0x40002000 || rd(0x2650) == 0x40002000);
	runl_rc(0, only_1, 1);
	atomic_store(&chip->go, true);
	eventually(logged(CE0, 1) + logged(CE1, 1) == 1);
	tear_down(0);
}

/* ------------------------------------------------------------------ hangs */

/* As nouveau's gf100_fifo_intr_sched_ctxsw() and gf100_engn_mmu_fault_trigger() do. */
static void sched_ctxsw(unsigned int e, unsigned int unit)
{
	assert_int_equal(rd(0x254c) & 0xff, 0x0a);
	assert_true(chsw(e));
	mask(0x2630, 1, 1);
	assert_int_equal(cxid(e), 0);
	mask(0x2140, 0x100, 0);
	wr(0x2100, 0x100);
	wr(0x2a30 + 4 * e, 0x100 | unit);
	mask(0x2630, 1, 0);
}

static void hang_recovery(unsigned int e, unsigned int unit)
{
	eventually(rd(0x2100) & 0x100);
	sched_ctxsw(e, unit);
	fault_interrupt(unit, 0);
	/* as gf100_engn_mmu_fault_triggered() checks */
	assert_int_equal(rd(0x2a30 + 4 * e), 0x100 | unit);
	mask(0x2a30 + 4 * e, 0x100, 0);
	/*
	 * If the driver takes long between the acknowledgement and the fault, a second timeout may
	 * come.
	 */
	wr(0x2100, 0x100);
	mask(0x2140, 0x100, 0x100);
	assert_int_equal(cxid(e), 0);
	assert_int_equal(runl_rc(0, only_1, 1), 1u << e);
	eventually(!atomic_load(&chip->waiting));
	tear_down(0);
	others_go_on(1);
	assert_int_equal(rd(0x2100) & 0x100, 0);
}

static void test_hung_shader(void **state)
{
	chans(2, 0);
	wr(0x2a0c, 0x80000000 | 50000); /* 51 ms */
	submit(0, ONE(1, M_HANG, 1));
	eventually(atomic_load(&chip->waiting));
	usleep(120000);
	/* no other channel waits for the engine, so the shader may run as long as it likes */
	assert_int_equal(rd(0x2100) & 0x100, 0);
	submit(1, IMMD(1, M_NOTE, 1));
	hang_recovery(GR, 0);
}

static void test_hung_copy(void **state)
{
	chans(2, 0);
	wr(0x2a0c, 0x80000000 | 50000);
	submit(0, ONE(4, M_HANG, 1));
	eventually(atomic_load(&chip->waiting));
	wr(0x2634, 0);
	hang_recovery(CE0, FAULT_UNIT_CE0);
}

/* GR's microcode does not answer when it shall load a context. */
static void test_dead_context_switch(void **state)
{
	chans(2, 0);
	wr(0x2a0c, 0x80000000 | 50000);
	atomic_store(&chip->load_dead, true);
	submit(0, IMMD(1, M_NOTE, 1));
	hang_recovery(GR, 0);
	assert_int_equal(logged(GR, 0), 0);
}

static void test_no_timeout_when_switched_off(void **state)
{
	chans(2, 0);
	wr(0x2a0c, 20000);
	submit(0, ONE(4, M_HANG, 1));
	eventually(atomic_load(&chip->waiting));
	wr(0x2634, 0);
	usleep(100000);
	assert_int_equal(rd(0x2100) & 0x100, 0);
	atomic_store(&chip->go, true);
	eventually(!(rd(0x2634) & 0x100000));
}

/* ------------------------------------------------------------------ exceptions */

static void test_exception_acknowledged(void **state)
{
	chans(2, 0);
	submit(0, ONE(1, M_STALL, 1), IMMD(1, M_NOTE, 1));
	/* first: else channel 1 could have its turn before channel 0 */
	eventually(atomic_load(&chip->halted[GR]));
	submit(1, IMMD(1, M_NOTE, 1));
	stays(log_count() == 1);
	wr(0x2634, 0);
	/* an engine in an exception can't save the context */
	stays(rd(0x2634) & 0x100000);
	chip_resume(GR);
	eventually(logged(GR, 0) == 1 && logged(GR, 1) == 1);
	eventually(!(rd(0x2634) & 0x100000));
}

static void test_exception_never_acknowledged(void **state)
{
	chans(2, 0);
	wr(0x2a0c, 0x80000000 | 50000);
	submit(0, ONE(1, M_STALL, 1), IMMD(1, M_NOTE, 1));
	eventually(atomic_load(&chip->halted[GR]));
	submit(1, IMMD(1, M_NOTE, 1));
	hang_recovery(GR, 0);
	assert_int_equal(logged(GR, 0), 0);
}

static void test_reset_in_the_middle(void **state)
{
	chans(1, 0);
	submit(0, ONE(4, M_WAIT, 1), IMMD(4, M_NOTE, 1));
	eventually(atomic_load(&chip->waiting));
	reset_engine(CE0);
	eventually(log_count() == 2); /* that method is lost, but the channel continues */
	submit(0, IMMD(1, M_NOTE, 1));
	/* wait until the method has ended, not only begun */
	eventually(log_count() == 3 && !(rd(0x2640) >> 31));
	reset_engine(GR);
	assert_int_equal(rd(0x2640), 0);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 4);
	assert_int_equal(atomic_load(&chip->loads), 2);
}

static void test_save_faults(void **state)
{
	chans(2, 0);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 1 && !(rd(0x2640) >> 31));
	eventually(!rd(0x3080));
	atomic_store(&chip->save_faults, true);
	submit(1, IMMD(1, M_NOTE, 1));
	fault_interrupt(0, 0);
	eventually(rd(0x2640) == 0x40002000);
	stays(log_count() == 1);
	assert_int_equal(runl_rc(0, only_1, 1), 1u << GR);
	eventually(log_count() == 2);
	tear_down(0);
	others_go_on(1);
}

static void test_preempt_while_saving_faults(void **state)
{
	chans(2, 0);
	submit(0, IMMD(1, M_NOTE, 1));
	eventually(log_count() == 1 && !rd(0x3080));
	atomic_store(&chip->save_faults, true);
	chan_disable(0);
	preempt_wait(0);
	fault_interrupt(0, 0);
	assert_int_equal(runl_rc(0, only_1, 1), 1u << GR);
	others_go_on(1);
}

/* ----------------------------------------------------- a forced fault with nobody on the engine */

/* As gk104_fifo_recover_engn() of Linux 6.1: the channel has left the engine already. */
static void test_forced_fault_on_an_idle_engine(void **state)
{
	chans(2, 0);
	wr(0x2a30 + 4 * CE0, 0x100 | FAULT_UNIT_CE0);
	assert_int_equal(rd(0x2640 + 8 * CE0), 0x40000000);
	assert_int_equal(rd(0x2640 + 8 * GR), 0);
	assert_int_equal(rd(0x259c), 1u << FAULT_UNIT_CE0);
	/* no channel was there, so no runlist stops */
	assert_int_equal(rd(0x262c), 0);
	stays(rd(0x2640 + 8 * CE0) & 0x40000000);
	wr(0x2a30 + 4 * CE0, 0);
	assert_int_equal(rd(0x2640 + 8 * CE0), 0);
	wr(0x259c, 1u << FAULT_UNIT_CE0);
	wr(0x2100, 0x10000000);
	others_go_on(1);
}

static void test_reset_ends_a_forced_fault(void **state)
{
	chans(2, 0);
	wr(0x2a30 + 4 * GR, 0x100);
	assert_int_equal(rd(0x2640), 0x40000000);
	reset_engine(GR);
	assert_int_equal(rd(0x2640), 0);
	wr(0x259c, 1);
	wr(0x2100, 0x10000000);
	others_go_on(1);
}

/* ---------------------------------------------- software methods, PBDMA errors: gf100_runq_intr */

static void test_illegal_method_kills(void **state)
{
	chans(2, 0);
	submit(0, ONE(0, 0x04, 0), IMMD(4, M_NOTE, 1));
	eventually(rd(0x2100) & 0x20000000);
	assert_int_equal(rd(0x25a0), 1);
	assert_int_equal(rd(0x40108) & rd(0x4010c), 0x00200000);
	assert_int_equal(rd(0x40120) & 0xfff, 0);
	chan_disable(0); /* as nouveau's nvkm_chan_error(chan, true) */
	wr(0x2634, 0);
	wr(0x400c0, 0x80600008);
	wr(0x40108, 0x00200000);
	wr(0x25a0, 1);
	eventually(!(rd(0x2634) & 0x100000));
	assert_int_equal(rd(0x2100) & 0x20000000, 0);
	stays(log_count() == 0);
	runlist(0, only_1, 1);
	tear_down(0);
	others_go_on(1);
}

/* --------------------------------------------------------- PFIFO's own reset, and starting over */

static void test_pfifo_reset(void **state)
{
	unsigned int turn;

	for (turn = 0; turn < 5; turn++) {
		chans(3, 0);
		submit(0, ONE(4, M_WAIT, 1));
		submit(1, ACQUIRE(0, 1));
		submit(2, IMMD(1, M_NOTE, 1));
		eventually(atomic_load(&chip->waiting));
		pthread_mutex_lock(&chip->g.lock);
		fifo_reset_hw(&chip->g);
		pthread_mutex_unlock(&chip->g.lock);
		eventually(!atomic_load(&chip->waiting) && !rd(0x3080) && !rd(0x3084));
		assert_int_equal(rd(0x2100), 0);
		assert_int_equal(rd(0x2140), 0);
		assert_int_equal(rd(0x2640), 0);
		assert_int_equal(rd(0x800000), 0);
		assert_int_equal(rd(0x800004), 0);
		wr(0x2254, 0x10000000 | BAR1_USERD >> 12);
		wr(0x2140, 0x7fffffff);
	}
	chans(2, 0);
	others_go_on(1);
}

static void test_stop_and_start(void **state)
{
	chans(2, 0);
	submit(0, ONE(4, M_WAIT, 1));
	eventually(atomic_load(&chip->waiting));
	fifo_unit.stop(&chip->g);
	assert_int_equal(atomic_load(&chip->waiting), 0);
	pthread_mutex_lock(&chip->g.lock);
	fifo_unit.reset(&chip->g);
	pthread_mutex_unlock(&chip->g.lock);
	assert_int_equal(fifo_unit.start(&chip->g), 0);
	wr(0x2254, 0x10000000 | BAR1_USERD >> 12);
	chans(2, 0);
	others_go_on(1);
}

#define T(f)	 cmocka_unit_test_setup_teardown(f, chip_setup, chip_teardown)
#define T_ONE(f) cmocka_unit_test_setup_teardown(f, chip_setup_one, chip_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T_ONE(test_copy_engine_fault),
		T_ONE(test_graphics_fault),
		T_ONE(test_fault_on_a_pushbuffer),
		T_ONE(test_fault_on_the_ring),
		T_ONE(test_fault_on_a_semaphore),
		T_ONE(test_fault_on_an_acquire),
		T_ONE(test_recovery_overtakes),
		T(test_recovery_overtakes),
		T_ONE(test_fault_holds),
		T(test_other_pbdma_goes_on_after_recovery),
		T_ONE(test_hung_shader),
		T(test_hung_shader),
		T_ONE(test_hung_copy),
		T_ONE(test_dead_context_switch),
		T_ONE(test_no_timeout_when_switched_off),
		T_ONE(test_exception_acknowledged),
		T_ONE(test_exception_never_acknowledged),
		T_ONE(test_reset_in_the_middle),
		T_ONE(test_save_faults),
		T_ONE(test_preempt_while_saving_faults),
		T(test_forced_fault_on_an_idle_engine),
		T(test_reset_ends_a_forced_fault),
		T_ONE(test_illegal_method_kills),
		T(test_pfifo_reset),
		T(test_stop_and_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
