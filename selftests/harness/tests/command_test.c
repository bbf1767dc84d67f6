// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest resets an engine while its channels hang, one after the other: the chip loads the next
 * one when one has ended, and does not let go of it. The command preempts them all. The thread of
 * the VMM that carries it out holds the vGPU's lock for a bounded time (S6), however many channels
 * there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	 1000000ull
#define CHANNELS 5u /* each is a strike: fewer than suspend a vGPU */
#define END_MS	 300 /* for the end of a channel, and its engine's reset */

static const struct chip_manners late = { .late = 8 };
static const struct policy quiet = { .seed = 1 };
static u64 took;

/* The end of a channel is done when the host clears the runlist's error. */
static void chip_loads_the_next(u32 reg, u32 val)
{
	u32 c;

	for (c = 1; reg == PFIFO_RUNLIST_ERROR && c <= CHANNELS && !chip_is_stuck(); c++)
		if (!vmach_chan_find(world.vgpu[0].v, (gchid_t){ c })->dead)
			chip_hang(g_hchid(&world.vgpu[0], c), false);
}

static void resets_gr(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 enable = g_read(g, PMC_ENABLE);

	while (!chip_hang(g_hchid(g, 1), false))
		harness_sleep(MS);
	chip_before_write = chip_loads_the_next;
	took = harness_now;
	g_write(g, PMC_ENABLE, enable & ~PMC_ENABLE_GR);
	took = harness_now - took;
	chip_before_write = NULL;
}

static void channels_hang_one_after_the_other(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 list[CHANNELS];
	u32 c, ended = 0;

	setup_begin(&quiet, &late, 1);
	for (c = 1; c <= CHANNELS; c++) {
		list[c - 1] = c;
		if (c > 1) {
			g_inst(g, c, 0, 0);
			g_bind(g, c);
		}
	}
	g_list(g, list, CHANNELS);
	for (c = 1; c <= CHANNELS; c++)
		g_enable(g, c, true);
	actor_new("vCPU", setup_mm, false, resets_gr, NULL);
	actors_run();
	for (c = 1; c <= CHANNELS; c++)
		ended += vmach_chan_find(g->v, (gchid_t){ c })->dead;
	if (took > (COMMAND_MS + END_MS * ended) * MS)
		harness_fail("S6: a command that ends %u channels takes %llu ms", ended,
			     (unsigned long long)(took / MS));
	/* fewer would have been within the bound by themselves */
	assert_true(ended * PREEMPT_GUEST_MS > COMMAND_MS + END_MS * ended);
	assert_false(world.gpu->chip->lost);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(channels_hang_one_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
