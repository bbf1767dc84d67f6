// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts that a guest can raise at will may take only some of the CPU that serves them (S5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define STORM_MS      200
#define PART_PER_CENT 20 /* most per cent of a CPU for one source's interrupts */
#define MOST	      (2 * (64 + 2 * STORM_MS)) /* twice what docs/interrupts.md says */

static const struct chip_manners calm = { .late = 1 };
static struct mm_struct *mm;
static struct container *c;

/* A channel does nothing but NON_STALL_INTERRUPTs, and no other channel has work. */
static void storms(void *arg)
{
	u64 end = harness_now + STORM_MS * 1000000ull;

	while (harness_now < end) {
		chip_nonstall();
		harness_sleep(2500);
	}
}

/* The driver stops wanting interrupts as soon as it has said that it wants them. */
static void wants_and_does_not(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 end = harness_now + STORM_MS * 1000000ull;

	while (harness_now < end) {
		g_write(g, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL);
		g_write(g, PFIFO_INTR_EN, 0);
		harness_sleep(5000);
	}
}

static void storm(const struct policy *p, void (*driver)(void *arg))
{
	u64 list[] = { 1 }, intrs, began, ran;
	struct world_vgpu *g;

	world_begin(p, &calm);
	mm = mm_new();
	c = container_new(mm);
	g = world_make(0);
	assert_true(world_open(0, c));
	g_space(g, 0);
	g_map_vram(g, 0, 16, G_DATA);
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
	g_write(g, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL);
	assert_true(g->v->m->waits);
	intrs = world.gpu->hw.stats.intrs;
	began = harness_now;
	ran = irq_time();
	actor_new("storm", mm, false, storms, NULL);
	if (driver)
		actor_new("driver", mm, false, driver, NULL);
	actors_run();
	ran = irq_time() - ran;
	intrs = world.gpu->hw.stats.intrs - intrs;
	printf("# %llu interrupts took %llu of %llu us\n", (unsigned long long)intrs,
	       (unsigned long long)ran / 1000, (unsigned long long)(harness_now - began) / 1000);
	/* some must arrive: a guest that waits is told in the end */
	assert_in_range(intrs, 10, 1000000);
	if (ran * 100 > (harness_now - began) * PART_PER_CENT || intrs > MOST)
		harness_fail("S5: interrupts of one source took %llu of %llu us, %llu of them",
			     (unsigned long long)ran / 1000,
			     (unsigned long long)(harness_now - began) / 1000,
			     (unsigned long long)intrs);
	world_close(0);
	world_unmake(0);
	container_free(c);
	mm_free(mm);
	world_end();
}

static void a_storm_of_nonstall(void **state)
{
	static const struct policy p = { .seed = 1 };

	storm(&p, NULL);
}

static void a_storm_for_nobody(void **state)
{
	static const struct policy p = { .seed = 1, .switch_ppm = 3000 };

	storm(&p, wants_and_does_not);
}

static struct kvgpu_hw_events raises_again;
static const struct kvgpu_hw_events *real_events;

/* @handler takes the place of the module's handler of NON_STALL_INTERRUPTs. */
static void begin_with(const struct policy *p, void (*handler)(void *ctx))
{
	world_begin(p, &calm);
	real_events = world.gpu->hw.events;
	raises_again = *real_events;
	raises_again.nonstall = handler;
	world.gpu->hw.events = &raises_again;
	chip.reg[PFIFO_INTR_EN / 4] |= PFIFO_INTR_NONSTALL;
}

static void end_with(void)
{
	world.gpu->hw.events = real_events;
	world_end();
}

static u64 run;
static u32 served, in_run;

/* It is there again before the thread has looked whether all is served. */
static void nonstall_again(void *ctx)
{
	struct kvgpu_gpu *gpu = ctx;

	in_run = run == gpu->hw.stats.intrs ? in_run + 1 : 1;
	run = gpu->hw.stats.intrs;
	if (in_run > 64)
		harness_fail(
			"S6: one run of the interrupt thread has served an interrupt 64 times");
	if (++served < 1000)
		chip.reg[PFIFO_INTR / 4] |= PFIFO_INTR_NONSTALL;
}

/*
 * An interrupt that does not go away does not keep the interrupt thread for ever: its runs are
 * bounded, so that the kernel gets to do something else in between.
 */
static void one_that_does_not_go_away(void **state)
{
	static const struct policy p = { .seed = 1 };

	begin_with(&p, nonstall_again);
	chip_nonstall();
	while (served < 1000)
		harness_sleep(1000000);
	harness_sleep(10000000);
	assert_int_equal(served, 1000);
	assert_int_equal(chip.reg[PFIFO_INTR / 4] & PFIFO_INTR_NONSTALL, 0);
	end_with();
}

/* It is there again as soon as it is acknowledged, until @run. */
static void nonstall_until(void *ctx)
{
	if (harness_now < run)
		chip.reg[PFIFO_INTR / 4] |= PFIFO_INTR_NONSTALL;
}

/*
 * A thread that waits for reports of one instance block (at an unbind) does not wait for interrupts
 * that came later, and so for no tenant that keeps them coming (S5, S6).
 */
static void later_interrupts_are_not_waited_for(void **state)
{
	static const struct policy p = { .seed = 1, .switch_ppm = 3000 };

	begin_with(&p, nonstall_until);
	run = harness_now + 50000000;
	chip_nonstall();
	harness_sleep(1000000);
	kvgpu_hw_intr_settle(&world.gpu->hw, 0);
	if (harness_now >= run)
		harness_fail("S6: a thread waits until no more interrupts come");
	while (harness_now < run + 1000000)
		harness_sleep(1000000);
	end_with();
}

static u64 handler_ns;

/* The handler takes long, and the interrupt is there again at once. */
static void slow_nonstall(void *ctx)
{
	harness_now += handler_ns;
	nonstall_until(ctx);
}

static void slow_beyond_a_budget(void *ctx)
{
	slow_nonstall(ctx);
	kvgpu_hw_intr_pace(&world.gpu->hw);
}

static void thread_works(u64 us, void (*handler)(void *ctx))
{
	static const struct policy p = { .seed = 1, .switch_ppm = 3000 };
	u64 worked;

	handler_ns = us * 1000;
	begin_with(&p, handler);
	worked = world.gpu->hw.intr_ns;
	run = harness_now + 1000000000;
	chip_nonstall();
	while (harness_now < run + 20000000)
		harness_sleep(1000000);
	worked = (world.gpu->hw.intr_ns - worked) / 1000000;
	printf("# %llu us for each, worked for %llu of 1000 ms\n", us, worked);
	assert_true(worked > 100);
	if (worked > 550)
		harness_fail("S6: the interrupt thread has worked for %llu of 1000 ms", worked);
	end_with();
}

static void the_thread_works_for_half_of_the_time(void **state)
{
	u64 us;

	for (us = 30; us < 1000; us *= 3) {
		thread_works(us, slow_nonstall);
		thread_works(us, slow_beyond_a_budget);
	}
}

/* Bad methods, one after the other, on a PBDMA that names a channel that is nobody's. */
static void nobodys_storm(void *arg)
{
	u32 *intr = &chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4];

	for (served = 0; harness_now < run; harness_sleep(20000)) {
		if (*intr)
			continue;
		chip.reg[(PBDMA(0) + PBDMA_CHANNEL) / 4] =
			PBDMA_CHANNEL_VALID | FIELD_PREP(PBDMA_CHANNEL_ID, KVGPU_MAX_CHAN - 1);
		*intr |= PBDMA_INTR0_DEVICE;
		chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(0);
		chip_raise(0);
		served++;
	}
}

/* Interrupts that belong to no vGPU have a budget, too. */
static void a_storm_of_nobodys(void **state)
{
	static const struct policy p = { .seed = 1 };
	u64 ran;

	world_begin(&p, &calm);
	ran = world.gpu->hw.intr_ns;
	run = harness_now + 2000000000;
	task_new("pushbuffer", nobodys_storm, NULL);
	while (harness_now < run + 10000000)
		harness_sleep(1000000);
	ran = world.gpu->hw.intr_ns - ran;
	printf("# %u interrupts of nobody's in 2 s, the interrupt thread has worked for %llu us\n",
	       served, ran / 1000);
	/* beyond the budget one in 50 us (hw/intr.c REST_STEP_US) */
	if (served > 2 * (EVENTS_PER_SECOND + 20000))
		harness_fail("S6: %u interrupts in 2 s that belong to no vGPU are served", served);
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_of_nonstall),
		cmocka_unit_test(a_storm_for_nobody),
		cmocka_unit_test(one_that_does_not_go_away),
		cmocka_unit_test(later_interrupts_are_not_waited_for),
		cmocka_unit_test(the_thread_works_for_half_of_the_time),
		cmocka_unit_test(a_storm_of_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
