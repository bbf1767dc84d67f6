// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of a tenant in its last second are not counted for the next tenant of the vGPU. They
 * would end the next one's channel at its first interrupt (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	 1000000ull
#define HARMLESS 1u

static const struct chip_manners calm = { .eager = true, .late = 1, .idles = true };
static const struct policy quiet = { .seed = 1 };

static struct kvgpu_chan *first_channel(void)
{
	return vmach_chan_find(world.vgpu[0].v, (gchid_t){ 1 });
}

static void interrupt(void)
{
	while (!chip_pbdma_intr(g_hchid(&world.vgpu[0], 1), HARMLESS))
		harness_sleep(MS / 100);
	harness_sleep(MS / 10);
}

static void interrupts(void **state)
{
	u64 strikes, i, began;

	setup_begin(&quiet, &calm, 1);
	began = harness_now;
	for (i = 0; i < EVENTS_PER_SECOND + 5 && !first_channel()->dead; i++)
		interrupt();
	assert_true(first_channel()->dead);
	harness_sleep(20 * MS);
	world_close(0);
	assert_true(world_open(0, setup_c));
	setup_run(0, 1, 0);
	strikes = world.vgpu[0].v->m->slice.strikes.total;
	assert_true(harness_now - began < 1000 * MS);
	interrupt();
	harness_sleep(50 * MS);
	if (first_channel()->dead || world.vgpu[0].v->m->slice.strikes.total != strikes)
		harness_fail(
			"S5: the first interrupt of a tenant is counted with %llu of the last tenant's",
			(unsigned long long)i);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
