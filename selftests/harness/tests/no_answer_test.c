// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's answer is no answer: an error of the register ring (0xbadfxxxx) for the status of an
 * engine, or the id of a channel that a PBDMA had, and has no more. Neither may count as what its
 * bits say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	1000000ull

static const struct chip_manners steady = { .eager = true, .late = 1, .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 100000 };

static u16 hchid(void)
{
	return g_hchid(&world.vgpu[0], 1);
}

static const struct kvgpu_chan *channel(void)
{
	return world.gpu->chip->by_hchid[hchid()];
}

/* Memory is taken from a channel that is on no engine. */
static void an_engine_may_have_the_channel(void **state)
{
	setup_begin(&coarse, &steady, 1);
	assert_false(vmach_chan_on_engine(world.gpu, true, 5));
	chip_silence(PFIFO_ENGINE_STATUS(0), 0);
	if (!vmach_chan_on_engine(world.gpu, true, 5))
		harness_fail("S3: an engine whose status can't be read counts as one without a channel");
	chip_silence(0, 0);
	setup_end();
}

/* The error's bits name a channel that the engine works for, and that it saves. */
static void an_engine_works_for_nobody(void **state)
{
	setup_begin(&coarse, &steady, 1);
	chip_silence(PFIFO_ENGINE_STATUS(0), PFIFO_STATUS_CHSW | PFIFO_STATUS_SAVE | hchid());
	if (vmach_vgpu_works(world.vgpu[0].v->m))
		harness_fail("S5: a vGPU pays for an error of the register ring");
	chip.reg[PFIFO_SCHED_ERROR / 4] = PFIFO_SCHED_CTXSW_TIMEOUT;
	chip_raise(PFIFO_INTR_SCHED_ERROR);
	harness_sleep(10 * MS);
	if (channel()->dead)
		harness_fail("S5: a channel is ended for an error of the register ring");
	chip_silence(0, 0);
	setup_end();
}

static void a_pbdma_without_a_channel(void **state)
{
	u32 i;

	setup_begin(&coarse, &steady, 1);
	for (i = 0; i < 5000; i++) {
		chip_pbdma_intr_without(hchid(), PBDMA_INTR0_DEVICE);
		harness_sleep(MS / 5);
	}
	if (channel()->dead)
		harness_fail("S5: a channel is ended for interrupts of a PBDMA that has it no more");
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_engine_works_for_nobody),
		cmocka_unit_test(an_engine_may_have_the_channel),
		cmocka_unit_test(a_pbdma_without_a_channel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
