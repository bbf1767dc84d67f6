// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts that a guest can raise at will: what they may take of the CPU that the host serves
 * them on (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define STORM_MS	200
#define PART_PER_CENT	20	/* of a CPU, for one source */

static const struct chip_manners calm = { .late = 1 };
static struct mm_struct *mm;
static struct container *c;

/* a channel of nothing but NON_STALL_INTERRUPTs, and nobody else has work */
static void storms(void *arg)
{
	u64 end = harness_now + STORM_MS * 1000000ull;

	while (harness_now < end) {
		chip_nonstall();
		harness_sleep(2500);
	}
}

static void a_storm_of_nonstall(void **state)
{
	static const struct policy p = { .seed = 1 };
	u64 list[] = { 1 }, intrs, began, ran;
	struct world_vgpu *g;

	world_begin(&p, &calm);
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
	g_write(g, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL);	/* its driver wants to be told */
	assert_true(g->v->m->waits);
	intrs = world.gpu->hw.stats.intrs;
	began = harness_now;
	ran = irq_time();
	actor_new("storm", mm, false, storms, NULL);
	actors_run();
	ran = irq_time() - ran;
	/* some arrive: a guest that waits is told in the end */
	assert_in_range(world.gpu->hw.stats.intrs - intrs, 10, 1000000);
	if (ran * 100 > (harness_now - began) * PART_PER_CENT)
		harness_fail("S5: interrupts of one source took %llu of %llu us, %llu of them", (unsigned long long)ran / 1000,
			     (unsigned long long)(harness_now - began) / 1000,
			     (unsigned long long)(world.gpu->hw.stats.intrs - intrs));
	world_close(0);
	world_unmake(0);
	container_free(c);
	mm_free(mm);
	world_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_of_nonstall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
