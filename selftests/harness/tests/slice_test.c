// SPDX-License-Identifier: GPL-2.0-only
/* Which vGPU has the chip, for how long, and what the slicer costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS     1000000ull
#define RUN_MS 2000
#define MANY   60 /* channels, more than one poll reads */
/*
 * Most words of one vGPU's doorbells that one poll reads: two for each of MAX_POLLED channels
 * (poll.c).
 */
#define READS_MAX (16 * 2)

static const struct chip_manners steady = { .eager = true,
					    .load_ppm = 2000,
					    .late = 2,
					    .idles = true };
static const struct chip_manners busy = { .eager = true,
					  .load_ppm = 50000,
					  .late = 2,
					  .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };

static struct machine_slice *slice(u32 i)
{
	return &world.vgpu[i].v->m->slice;
}

static void competes(u32 n)
{
	u64 end = harness_now + RUN_MS * MS;
	u32 i;

	while (harness_now < end) {
		harness_sleep(MS / 4);
		for (i = 0; i < n; i++)
			if (!slice(i)->on_chip && chip_loaded(g_hchid(&world.vgpu[i], 1)))
				harness_fail("S5: vGPU %u is off the chip and has a channel loaded",
					     world.vgpu[i].v->id);
	}
}

static double share(u32 i, u32 n)
{
	u64 all = 0;
	u32 k;

	for (k = 0; k < n; k++)
		all += vmach_gpu_time_get(world.vgpu[k].v->m);
	return all ? (double)vmach_gpu_time_get(world.vgpu[i].v->m) / all : 0;
}

static void four_get_a_quarter(void **state)
{
	u32 i;

	setup_begin(&coarse, &steady, 4);
	competes(4);
	assert_true(world.gpu->chip->slicer.switches > RUN_MS / 20);
	for (i = 0; i < 4; i++)
		if (share(i, 4) < 0.22 || share(i, 4) > 0.28)
			harness_fail("S5: vGPU %u of four has %.3f of the time", i, share(i, 4));
	setup_end();
}

static void by_weight(void **state)
{
	setup_begin(&coarse, &steady, 2);
	setup_knob(0, "weight", "300");
	competes(2);
	if (share(0, 2) < 0.70 || share(0, 2) > 0.80)
		harness_fail("S5: a vGPU of weight 300 beside one of 100 has %.3f of the time",
			     share(0, 2));
	setup_end();
}

static void who_has_no_work_costs_nothing(void **state)
{
	u64 before;

	setup_begin(&coarse, &steady, 2);
	g_ring(&world.vgpu[1], 1, 0);
	harness_sleep(100 * MS);
	before = vmach_gpu_time_get(world.vgpu[1].v->m);
	competes(1);
	if (vmach_gpu_time_get(world.vgpu[1].v->m) - before > RUN_MS * MS / 20)
		harness_fail("S5: a vGPU that has no work is charged %llu us",
			     (unsigned long long)(vmach_gpu_time_get(world.vgpu[1].v->m) - before) /
				     1000);
	/* The chip is shared now: a vGPU that wakes can begin without a switch. */
	assert_true(world.gpu->chip->slicer.shared);
	setup_end();
}

/*
 * Work of which the doorbell words say nothing: a ring of two entries that is filled twice between
 * two polls reads as before. Still the vGPU that has the work done is charged for it, and its cap
 * holds (S5).
 */
static void unreported_work_is_charged(u32 vgpus, const char *cap, double most, double least)
{
	u64 before[2] = {}, end, on = 0, all = 0;
	u32 i;

	setup_begin(&coarse, &busy, vgpus);
	if (cap)
		setup_knob(0, "cap", cap);
	g_ring(&world.vgpu[0], 1, 0);
	for (i = 1; i < vgpus; i++)
		g_ring(&world.vgpu[i], 1, 1);
	harness_sleep(100 * MS); /* in which the slicer sees vGPU 0 without work */
	chip_at_work(g_hchid(&world.vgpu[0], 1), true);
	for (i = 0; i < vgpus; i++)
		before[i] = vmach_gpu_time_get(world.vgpu[i].v->m);
	for (end = harness_now + RUN_MS * MS; harness_now < end; all++) {
		harness_sleep(MS / 20);
		on += chip_engine_works(g_hchid(&world.vgpu[0], 1));
	}
	for (i = 0; i < vgpus; i++)
		before[i] = vmach_gpu_time_get(world.vgpu[i].v->m) - before[i];
	if ((double)on / all > most)
		harness_fail(
			"S5: %u vGPUs, cap %s: one whose words say nothing has the chip for %.0f %% of the time",
			vgpus, cap ?: "100", 100.0 * on / all);
	if ((double)before[0] / (RUN_MS * MS) < least * on / all)
		harness_fail(
			"S5: %u vGPUs, cap %s: it has the chip for %.0f %% of the time and is charged %.0f %%",
			vgpus, cap ?: "100", 100.0 * on / all, 100.0 * before[0] / (RUN_MS * MS));
	for (i = 1; i < vgpus; i++)
		if ((double)before[i] / (RUN_MS * MS) > 1.1 * (all - on) / all)
			harness_fail(
				"S5: another one is charged %.0f %% of the time, and can have had %.0f %%",
				100.0 * before[i] / (RUN_MS * MS), 100.0 * (all - on) / all);
	setup_end();
}

static void words_that_say_nothing(void **state)
{
	unreported_work_is_charged(1, NULL, 1, 0.8);
	unreported_work_is_charged(1, "10", 0.15, 0.6);
	unreported_work_is_charged(2, NULL, 0.6, 0.8);
	unreported_work_is_charged(2, "10", 0.15, 0.6);
}

/* A channel is not bound unless its USERD pointer names its own doorbell. */
static void words_elsewhere(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];

	setup_begin(&coarse, &steady, 1);
	g_inst(g, 2, 0, 0);
	g_store32(g, G_INST(2) + RAMFC_USERD, G_USERD(7));
	g_bind(g, 2);
	if (vmach_chan_find(g->v, (gchid_t){ 2 }))
		harness_fail("S5: a channel is bound whose words are in another one's place");
	g_unbind(g, 2);
	g_store32(g, G_INST(2) + RAMFC_USERD, G_USERD(2));
	g_bind(g, 2);
	assert_non_null(vmach_chan_find(g->v, (gchid_t){ 2 }));
	setup_end();
}

/*
 * A guest lists many channels and rings none. One poll reads only some words of its doorbells (S5).
 */
static void a_poll_is_bounded(void **state)
{
	u64 list[MANY], polled = 0, end;
	u32 i, was, most = 0, polls = 0;
	struct world_vgpu *g;

	setup_begin(&coarse, &steady, 1);
	g = &world.vgpu[0];
	g_ring(g, 1, 0);
	for (i = 0; i < MANY; i++) {
		list[i] = 1 + i;
		if (!i)
			continue;
		g_inst(g, 1 + i, 0, 0);
		g_bind(g, 1 + i);
		g_enable(g, 1 + i, true);
	}
	g_list(g, list, MANY);
	was = userd_reads();
	for (end = harness_now + 500 * MS; harness_now < end; harness_sleep(10000)) {
		if (world.gpu->chip->slicer.polled == polled)
			continue;
		polled = world.gpu->chip->slicer.polled;
		most = max(most, userd_reads() - was);
		was = userd_reads();
		polls++;
	}
	assert_in_range(polls, 5, 1000000);
	assert_true(most > 0);
	if (most > READS_MAX)
		harness_fail("S5: the slicer read %u words of one vGPU's doorbells in one poll",
			     most);
	setup_end();
}

/*
 * The host looks at the doorbell words of the vGPU that has the channel's id now, also when another
 * vGPU had that id before (S4, S5).
 */
static void the_poll_sees_each_owner(void **state)
{
	struct world_vgpu *g = &world.vgpu[1];
	u32 get, put, c, n = 0;
	hchid_t had;

	setup_begin(&coarse, &steady, 2);
	had.v = g_hchid(&world.vgpu[0], 1);
	g_ring(&world.vgpu[0], 1, 7);
	kvgpu_hw_userd_read(&world.gpu->hw, had, &get, &put);
	assert_int_equal(put, 7);
	world_close(0);
	/* the host's TLB gets a translation for doorbells that no vGPU has */
	kvgpu_hw_userd_read(&world.gpu->hw, had, &get, &put);
	if (put)
		harness_fail("S4: doorbells of a vGPU that was closed show GP_PUT %u", put);
	for (c = KVGPU_ID_BLOCK; c <= MANY; c += KVGPU_ID_BLOCK) {
		g_inst(g, c, 0, 0);
		g_bind(g, c);
		g_enable(g, c, true);
		g_ring(g, c, 1 + c % 8);
		n += g_hchid(g, c) / KVGPU_ID_BLOCK == had.v / KVGPU_ID_BLOCK;
		kvgpu_hw_userd_read(&world.gpu->hw, (hchid_t){ g_hchid(g, c) }, &get, &put);
		if (put != 1 + c % 8)
			harness_fail(
				"S4: the host sees GP_PUT %u where the guest's doorbell says %u",
				put, 1 + c % 8);
	}
	assert_true(n > 0); /* vGPU 1 got an id block that vGPU 0 had */
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(four_get_a_quarter),
		cmocka_unit_test(by_weight),
		cmocka_unit_test(who_has_no_work_costs_nothing),
		cmocka_unit_test(a_poll_is_bounded),
		cmocka_unit_test(words_that_say_nothing),
		cmocka_unit_test(words_elsewhere),
		cmocka_unit_test(the_poll_sees_each_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
