// SPDX-License-Identifier: GPL-2.0-only
/*
 * A switch may have to drive off a channel for which the leaving one waits (other_drive_off() in
 * slice.c). That channel is ended if each observation of the engines found it at work (S5). So
 * observations have to be counted, not engines, also if many other channels were at work before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "mdev/machine/observe.h"
#include "selftests/harness/oracle.h"

#define OTHER 20 /* a channel's id */

static struct kvgpu_chip chip;
static struct kvgpu_gpu gpu = { .chip = &chip };
static struct machine_obs w;

static u32 works_for(u16 id)
{
	return PFIFO_STATUS_BUSY | PFIFO_STATUS_VALID | FIELD_PREP(PFIFO_STATUS_ID, id);
}

static void begin(void)
{
	gpu.hw.topo.nr_engines = 2;
	chip.has_id[0][OTHER] = OBS_MAX + 1;
	vmach_obs_begin(&w, &gpu);
}

static void on_two_engines_half_of_the_time(void **state)
{
	u32 busy[KVGPU_MAX_ENGINE] = { works_for(OTHER), works_for(OTHER) };
	u32 idle[KVGPU_MAX_ENGINE] = {}, i;

	begin();
	vmach_obs_watch(&w, false, OTHER);
	for (i = 0; i < 100; i++)
		vmach_obs_add(&w, i & 1 ? busy : idle);
	if (w.absent != 50)
		harness_fail("S5: %u of 50 observations saw no engine at work", w.absent);
}

static void after_many_others(void **state)
{
	u32 engine[KVGPU_MAX_ENGINE] = {}, i;

	begin();
	for (i = 1; i <= OBS_MAX; i++) {
		chip.has_id[0][100 + i] = i;
		engine[1] = works_for(100 + i);
		vmach_obs_add(&w, engine);
	}
	engine[1] = 0;
	vmach_obs_watch(&w, false, OTHER);
	engine[0] = works_for(OTHER);
	for (i = 0; i < 100; i++)
		vmach_obs_add(&w, engine);
	if (w.absent)
		harness_fail(
			"S5: a channel that always works is not seen in %u of 100 observations",
			w.absent);
	/* a group with this id is another one */
	vmach_obs_watch(&w, true, OTHER);
	vmach_obs_add(&w, engine);
	assert_int_equal(w.absent, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(on_two_engines_half_of_the_time),
		cmocka_unit_test(after_many_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
