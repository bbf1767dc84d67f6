// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU from create to remove: it binds a channel, lists it, runs with a page of the VMM's memory,
 * and is closed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static const struct chip_manners eager = { .eager = true,
					   .load_ppm = 20000,
					   .look_ppm = 20000,
					   .late = 3 };
static const struct policy calm = { .seed = 1 };

/* Channel 1 runs on space 0, which has a page of the VMM's memory and a page of video memory. */
static void run_channel(struct world_vgpu *g)
{
	u64 list[] = { 1 };

	g_space(g, 0);
	g_map_sys(g, 0, 16, 0x100000);
	g_map_vram(g, 0, 17, G_DATA);
	g_inst(g, 1, 0, 0);
	g_bind(g, 1);
	g_list(g, list, 1);
	g_enable(g, 1, true);
	g_ring(g, 1, 1);
}

static void opens_runs_closes(void **state)
{
	struct mm_struct *mm;
	struct container *c;
	struct world_vgpu *g;

	world_begin(&calm, &eager);
	mm = mm_new();
	c = container_new(mm);
	task_mm_set(mm);
	g = world_make(0);
	assert_non_null(g);
	assert_int_equal(container_map(c, 0x100000, 0, 0x100000), 0);
	assert_true(world_open(0, c));
	run_channel(g);
	assert_int_equal(container_pins(c), 1);
	harness_sleep(20000000);
	world_check("a channel runs");
	assert_true(chip_loads() > 0);
	assert_int_equal(container_unmap(c, 0x100000, 0x100000), 0x100000);
	assert_int_equal(container_pins(c), 0);
	world_close(0);
	world_unmake(0);
	container_free(c);
	task_mm_set(NULL);
	mm_free(mm);
	world_end();
}

/* The oracle checks what the chip loads: a run in which it loads nothing would prove nothing. */
static void four_share(void **state)
{
	struct mm_struct *mm[WORLD_VGPUS];
	struct container *c[WORLD_VGPUS];
	u32 i;

	world_begin(&calm, &eager);
	for (i = 0; i < WORLD_VGPUS; i++) {
		mm[i] = mm_new();
		c[i] = container_new(mm[i]);
		assert_non_null(world_make(i));
		container_map(c[i], 0x100000, 0, 0x100000);
		assert_true(world_open(i, c[i]));
		run_channel(&world.vgpu[i]);
	}
	assert_null(mdev_create("512m"));
	harness_sleep(100000000);
	world_check("four run");
	assert_in_range(chip_loads(), 20, 1000000);
	for (i = 0; i < WORLD_VGPUS; i++)
		world_reset(i);
	harness_sleep(100000000);
	for (i = 0; i < WORLD_VGPUS; i++) {
		assert_int_equal(container_pins(c[i]), 0);
		world_close(i);
		container_free(c[i]);
		mm_free(mm[i]);
	}
	world_end();
}

/*
 * A vGPU is removed, and a thread that was in the middle of something goes on: with its alarm, an
 * event or a strike. Once the machine's work items have ended, none is queued again: it is about to
 * be freed (S6).
 */
static void its_work_has_ended(void **state)
{
	struct kvgpu_machine *m;
	struct world_vgpu *g;
	u32 i;

	setup_begin(&calm, &eager, 1);
	g = &world.vgpu[0];
	m = g->v->m;
	world_close(0);
	vmach_events_fini(m);
	mutex_lock(&g->v->lock);
	m->trap.ptimer_alarm = vmach_ptimer_read(world.gpu) + NSEC_PER_MSEC;
	vmach_alarm_arm(g->v);
	vmach_events_kick(m);
	kvgpu_machine_irq_signal(g->v);
	mutex_unlock(&g->v->lock);
	kvgpu_hw_lock(&world.gpu->lock);
	for (i = 0; i < KVGPU_STRIKES_MAX; i++)
		vmach_strike_add(m, "of this test");
	kvgpu_hw_unlock(&world.gpu->lock);
	assert_true(vmach_vgpu_suspended(m));
	if (m->event_work.work.queued || m->alarm_work.work.queued || m->slice.end_work.work.queued)
		harness_fail("S6: a work item of a machine is queued that is about to be freed");
	world_unmake(0);
	setup_end();
}

/*
 * vGPU 1 has a kernel that does not end, and has to leave the chip. The slicer waits for it, and
 * has written the list of the next owner, vGPU 0. That one is closed and removed meanwhile: the
 * slicer must not use what is left of it when the wait has ended (S6).
 */
static void next_owner_is_removed(void **state)
{
	struct machine_slicer *s;
	struct kvgpu_machine *m;
	u32 t, waited = 0;
	u16 id;

	for (t = 0; t < 3; t++) {
		setup_begin(&calm, &eager, 2);
		s = &world.gpu->chip->slicer;
		m = world.vgpu[0].v->m;
		id = g_hchid(&world.vgpu[1], 1);
		while (!chip_hang(id, false))
			harness_sleep(10000 + t * 1000);
		while (s->owner != m)
			harness_sleep(10000);
		harness_sleep(t * 3000000);
		world_close(0);
		world_unmake(0);
		waited += chip_is_stuck();
		while (chip_is_stuck())
			harness_sleep(1000000);
		harness_sleep(20000000);
		world_check("the next owner of the chip was removed");
		setup_end();
	}
	printf("# removed while the slicer waited: %u of 3\n", waited);
	assert_true(waited);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_runs_closes),
		cmocka_unit_test(four_share),
		cmocka_unit_test(its_work_has_ended),
		cmocka_unit_test(next_owner_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
