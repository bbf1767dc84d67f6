// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest unbinds one channel of a group (TSG), and the other one goes on. The chip loads a group
 * as a whole, and may report each member as loaded then. A channel that never leaves has the card
 * lost for all (S5). So no member is enabled while one is unbound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define GROUP 5

enum { FIRST = 1, SECOND };

static const struct chip_manners calm = { .eager = true, .late = 1, .idles = true };
static const struct policy quiet = { .seed = 1 };
static u16 unbound, rest; /* the chip's ids */
static u32 unbinds;

static void at_unbind(u32 reg, u32 val)
{
	if (reg != PCCSR_INST(unbound) || val)
		return;
	unbinds++;
	if (chip.chan[rest].enabled || chip_loaded(rest))
		harness_fail("S5: a channel is unbound while the chip may load its group");
}

/* @arg: the channel that is unbound has been enabled. */
static void guest(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 group = RUNLIST_TSG | GROUP;
	u64 two[] = { group | FIELD_PREP(RUNLIST_TSG_COUNT, 2), FIRST, SECOND };
	u64 one[] = { group | FIELD_PREP(RUNLIST_TSG_COUNT, 1), FIRST };

	g_inst(g, SECOND, 0, 0);
	g_bind(g, SECOND);
	g_list(g, two, 3);
	if (arg)
		g_enable(g, SECOND, true);
	g_ring(g, FIRST, 1);
	g_ring(g, SECOND, 1);
	rest = g_hchid(g, FIRST);
	unbound = g_hchid(g, SECOND);
	unbinds = 0;
	harness_sleep(20000000);
	chip_before_write = at_unbind;
	g_unbind(g, SECOND);
	chip_before_write = NULL;
	assert_int_equal(unbinds, 1);
	g_list(g, one, 2);
	harness_sleep(50000000);
	if (!chip.chan[rest].enabled)
		harness_fail("the other channel of the group does not go on");
}

static void run(bool enabled)
{
	setup_begin(&quiet, &calm, 1);
	actor_new("guest", setup_mm, false, guest, (void *)(uintptr_t)enabled);
	actors_run();
	setup_end();
}

static void the_other_one_goes_on(void **state)
{
	run(true);
}

static void beside_one_that_never_ran(void **state)
{
	run(false);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_other_one_goes_on),
		cmocka_unit_test(beside_one_that_never_ran),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
