// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel faults, and is unbound before the interrupt thread has looked. By then its instance
 * block may be another channel's, which must not be ended for the fault. The guest unbinds that
 * channel alone, or all channels by a reset of PFIFO.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define SEEDS (harness_all() ? 300 : 75)

static const struct chip_manners calm = { .late = 0 };
static u64 was, is;

static void faults_and_goes(void *arg)
{
	struct world_vgpu *a = &world.vgpu[0];

	was = vmach_chan_find(a->v, (gchid_t){ 2 })->inst.at.v;
	if (!chip_fault(g_hchid(a, 2), 0x123000))
		return;
	g_unbind(a, 2);
	g_bind(a, 3);
	is = vmach_chan_find(a->v, (gchid_t){ 3 })->inst.at.v;
}

/* The memory of channel 1's block is what the next channel gets. */
static void faults_and_resets(void *arg)
{
	struct world_vgpu *a = &world.vgpu[0];

	was = vmach_chan_find(a->v, (gchid_t){ 1 })->inst.at.v;
	if (!chip_fault(g_hchid(a, 1), 0x123000))
		return;
	g_write(a, PMC_ENABLE, 0);
	g_bind(a, 3);
	is = vmach_chan_find(a->v, (gchid_t){ 3 })->inst.at.v;
}

static void no_other_channel_is_told(void (*goes)(void *arg))
{
	static const struct policy quiet = { .seed = 1 };
	u64 list[] = { 1, 2 };
	struct kvgpu_chan *c;
	u32 same = 0;
	u64 s;

	for (s = 1; s <= SEEDS; s++) {
		struct policy p = { .seed = s, .switch_ppm = 20000 };
		struct world_vgpu *a = &world.vgpu[0];

		setup_begin(&quiet, &calm, 1);
		g_inst(a, 2, 0, 0);
		g_bind(a, 2);
		g_list(a, list, 2);
		g_enable(a, 2, true);
		g_inst(a, 3, 0, 0);
		harness_policy(&p);
		was = is = 0;
		actor_new("attacker", setup_mm, false, goes, NULL);
		actors_run();
		harness_policy(&quiet);
		harness_sleep(20 * NSEC_PER_MSEC);
		c = vmach_chan_find(a->v, (gchid_t){ 3 });
		same += is && is == was;
		if (c && c->dead)
			harness_fail(
				"S4: seed %llu: a channel is ended by the fault of the one that had its instance block before",
				(unsigned long long)s);
		setup_end();
	}
	assert_in_range(same, SEEDS / 2, SEEDS); /* the same memory is used in most runs */
}

static void after_an_unbind(void **state)
{
	no_other_channel_is_told(faults_and_goes);
}

static void after_a_reset(void **state)
{
	no_other_channel_is_told(faults_and_resets);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_an_unbind),
		cmocka_unit_test(after_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
