// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel is unbound that a PBDMA has, and reads of registers fail now and then. The code for a
 * failed read must not be taken for the status of a channel that is off the chip, nor be written
 * back as the channel's runlist (S1).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define SEEDS	  (harness_all() ? 1000 : 250)
#define ERROR_PPM 150000

static const struct policy quiet = { .seed = 1 };
static const struct chip_manners calm = { .late = 0 };
static const struct chip_manners wrong = { .error_ppm = ERROR_PPM };

static bool unbind_one(u64 seed)
{
	struct policy p = { .seed = seed };
	struct world_vgpu *g = &world.vgpu[0];
	u64 list[] = { 1, 2 };
	struct context first;
	bool loaded;

	setup_begin(&quiet, &calm, 1);
	g_inst(g, 2, 0, 0);
	g_bind(g, 2);
	g_list(g, list, 2);
	g_enable(g, 2, true);
	harness_policy(&p);
	chip_load_some(0, g_hchid(g, 1));
	first = chip.pbdma[0];
	/* the PBDMA has the second channel, which waits for the engine */
	chip_load_some(0, g_hchid(g, 2));
	chip.engine[0] = first;
	loaded = chip.pbdma[0].chid == g_hchid(g, 2);
	chip_set_manners(&wrong);
	g_unbind(g, 2);
	chip_look("after the unbind");
	harness_policy(&quiet);
	setup_end();
	return loaded;
}

static void unbinds(void **state)
{
	u32 loaded = 0;
	u64 seed;

	for (seed = 1; seed <= SEEDS; seed++)
		loaded += unbind_one(seed);
	printf("# %u of %u channels were on a PBDMA\n", loaded, SEEDS);
	assert_true(loaded > SEEDS / 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(unbinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
