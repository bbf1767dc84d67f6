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

#define STORM_MS	200
#define PART_PER_CENT	20	/* most per cent of a CPU for one source's interrupts */
#define MOST		(2 * (64 + 2 * STORM_MS))	/* twice what docs/interrupts.md says */

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
	printf("# %llu interrupts took %llu of %llu us\n", (unsigned long long)intrs, (unsigned long long)ran / 1000,
	       (unsigned long long)(harness_now - began) / 1000);
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
static u64 run;
static u32 served, in_run;

/* It is there again before the thread has looked whether all is served. */
static void nonstall_again(void *ctx)
{
	struct kvgpu_gpu *gpu = ctx;

	in_run = run == gpu->hw.stats.intrs ? in_run + 1 : 1;
	run = gpu->hw.stats.intrs;
	if (in_run > 64)
		harness_fail("S6: one run of the interrupt thread has served an interrupt 64 times");
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
	const struct kvgpu_hw_events *was;

	world_begin(&p, &calm);
	was = world.gpu->hw.events;
	raises_again = *was;
	raises_again.nonstall = nonstall_again;
	world.gpu->hw.events = &raises_again;
	chip.reg[PFIFO_INTR_EN / 4] |= PFIFO_INTR_NONSTALL;
	chip_nonstall();
	while (served < 1000)
		harness_sleep(1000000);
	harness_sleep(10000000);
	assert_int_equal(served, 1000);
	assert_int_equal(chip.reg[PFIFO_INTR / 4] & PFIFO_INTR_NONSTALL, 0);
	world.gpu->hw.events = was;
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_of_nonstall),
		cmocka_unit_test(a_storm_for_nobody),
		cmocka_unit_test(one_that_does_not_go_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
