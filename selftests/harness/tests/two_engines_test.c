// SPDX-License-Identifier: GPL-2.0-only
/*
 * While channels are driven off the chip, vGPUs pay for the part of the observations that saw an
 * engine work for them. An observation that finds two engines at work for one vGPU is one
 * observation (S5, against that vGPU). A vGPU whose channel faults does not pay for observations
 * that see other vGPUs at work: one that sees two of them is one observation, too (S5, against
 * these).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/observe.h"
#include "selftests/harness/tests/partners.h"

#define OBSERVATIONS 8
#define AT_WORK	     3 /* in so many of them vGPU 0 works, on two engines */

static u32 works(u32 vgpu)
{
	return PFIFO_STATUS_BUSY | PFIFO_STATUS_VALID |
	       FIELD_PREP(PFIFO_STATUS_ID, chan_at(vgpu, 1));
}

static void an_observation_counts_once(void **state)
{
	u32 engine[KVGPU_MAX_ENGINE] = {}, i, seen;
	struct machine_obs w;

	setup_begin(&coarse, &plain, BOTH);
	vmach_obs_begin(&w, world.gpu);
	for (i = 0; i < OBSERVATIONS; i++) {
		engine[0] = engine[1] = 0;
		if (i < AT_WORK)
			engine[0] = engine[1] = works(WORKER);
		vmach_obs_add(&w, engine);
	}
	seen = vmach_obs_count(&w, world.vgpu[WORKER].v->m);
	if (seen != AT_WORK)
		harness_fail("S5: at work in %u of %u observations, it pays for %u", AT_WORK,
			     OBSERVATIONS, seen);
	assert_int_equal(vmach_obs_others(&w, world.vgpu[ACCOMPLICE].v->m), AT_WORK);
	assert_int_equal(vmach_obs_count(&w, world.vgpu[ACCOMPLICE].v->m), 0);
	setup_end();
}

static void other_vgpus_count_once(void **state)
{
	/* .engine: 1 more than the vGPU that it works for, or 0 */
	static const struct {
		u32 engine[2];
	} observations[OBSERVATIONS] = {
		{ { 1, 2 } }, { { 2, 1 } }, { { 1, 1 } }, { { 1 } }, { { 0, 3 } }, { { 3, 1 } },
	};
	static const u32 others[] = { 4, 6, 5, 6 };
	u32 engine[KVGPU_MAX_ENGINE] = {}, i, e, seen;
	struct machine_obs w;

	setup_begin(&coarse, &plain, ARRAY_SIZE(others));
	vmach_obs_begin(&w, world.gpu);
	for (i = 0; i < OBSERVATIONS; i++) {
		for (e = 0; e < 2; e++)
			engine[e] = observations[i].engine[e] ?
					    works(observations[i].engine[e] - 1) :
					    0;
		vmach_obs_add(&w, engine);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		seen = vmach_obs_others(&w, world.vgpu[i].v->m);
		if (seen != others[i])
			harness_fail(
				"S5: %u of %u observations saw other vGPUs than %u at work, and %u count",
				others[i], OBSERVATIONS, i, seen);
	}
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(an_observation_counts_once),
						   cmocka_unit_test(other_vgpus_count_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
