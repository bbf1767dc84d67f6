// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip names a group (TSG) by an id, which the host gives to one vGPU after the other. The
 * interrupt thread reads the id from a copy engine's status, and gets no CPU for some time before
 * it looks for a channel of that group. Meanwhile the group's vGPU lists its channel without the
 * group, and a neighbour lists a group, which gets the id. What the thread has read must not be the
 * neighbour's (S4, S5). The wait for the thread is the wait of the guest that drops the group, and
 * is short, also while the thread sleeps again and again (docs/interrupts.md).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/ce.h"
#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/tests/nobodys.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS	1000000ull
#define US	1000ull
#define GROUP	5
#define ENGINE	3 /* the copy engine of GR's runlist */
#define CE	2 /* the same as the guest sees it */
#define CODE	8 /* what is wrong with the copy */
#define LATE_MS 10 /* for so long the interrupt thread gets no CPU */
#define RUN_MS	500
/* what two runs of the interrupt thread and the sleeps after them may take */
#define SETTLE_MS 20
/* more than a list takes that drops no group */
#define LIST_US 300

enum { LEAVER, NEIGHBOUR, VGPUS };

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };
static struct kvgpu_hw_events late;
static bool has_read, done;
static u64 in_group[] = { RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 1) | GROUP, 1 };
static u64 alone[] = { 1 };

static struct world_vgpu *vgpu(u32 i)
{
	return &world.vgpu[i];
}

/* The copy is over, and the thread gets no CPU. */
static void wait_for_a_cpu(void)
{
	has_read = true;
	chip.copying_until = chip.switch_until = 0;
	harness_sleep(LATE_MS * MS);
}

static void late_ce(void *ctx, u8 engine, u32 intr, u32 code, int id, bool tsg)
{
	wait_for_a_cpu();
	kvgpu_machine_events.ce(ctx, engine, intr, code, id, tsg);
}

static void late_timeout(void *ctx, u8 engine, int id, bool tsg)
{
	wait_for_a_cpu();
	kvgpu_machine_events.ctxsw_timeout(ctx, engine, id, tsg);
}

static void fails(u16 group)
{
	chip_copies(group, harness_now + 1000 * MS);
	chip.reg[(GK110_CE(CE) + GK110_CE_LAUNCHERR) / 4] = CODE;
	chip.reg[(GK110_CE(CE) + GK110_CE_INTR) / 4] |= GK110_CE_INTR_LAUNCHERR;
	chip_raise(0);
}

static void does_not_leave(u16 group)
{
	chip_switch(group, 1000 * MS);
	chip_alarm();
}

/* @arg: what the leaver's group does on the copy engine. */
static void id_goes_on(void *arg)
{
	void (*does)(u16 group) = arg;
	s16 id;

	g_list(vgpu(LEAVER), in_group, 2);
	id = vgpu(LEAVER)->v->m->htsg[GROUP];
	assert_true(id > 0);
	does(id);
	while (!has_read)
		harness_sleep(10 * US);
	g_list(vgpu(LEAVER), alone, 1);
	g_list(vgpu(NEIGHBOUR), in_group, 2);
	assert_int_equal(vgpu(NEIGHBOUR)->v->m->htsg[GROUP], id);
}

static void begin(void)
{
	setup_begin(&quiet, &calm, VGPUS);
	late = kvgpu_machine_events;
	late.ce = late_ce;
	late.ctxsw_timeout = late_timeout;
	world.gpu->hw.events = &late;
	chip.copies_tsg = true;
	has_read = false;
}

static void after(void (*does)(u16 group))
{
	begin();
	actor_new("guests", setup_mm, false, id_goes_on, does);
	actors_run();
	harness_sleep(2 * LATE_MS * MS);
}

static void an_error_of_a_copy(void **state)
{
	after(fails);
	if (g_read(vgpu(NEIGHBOUR), GK110_CE(CE) + GK110_CE_LAUNCHERR) ||
	    vgpu(NEIGHBOUR)->v->m->intrs.events)
		harness_fail(
			"S4: a neighbour is told the error %u of a copy of the group that had its group's id before",
			g_read(vgpu(NEIGHBOUR), GK110_CE(CE) + GK110_CE_LAUNCHERR));
	setup_end();
}

static void a_switch_that_does_not_end(void **state)
{
	after(does_not_leave);
	if (vmach_chan_find(vgpu(NEIGHBOUR)->v, (gchid_t){ 1 })->dead)
		harness_fail(
			"S5: a neighbour's group is ended because the group that had its id before did not leave");
	setup_end();
}

/* The same if the leaver is closed. It keeps the id until it is removed. */
static void close_and_go_on(void *arg)
{
	s16 id;

	g_list(vgpu(LEAVER), in_group, 2);
	id = vgpu(LEAVER)->v->m->htsg[GROUP];
	fails(id);
	while (!has_read)
		harness_sleep(10 * US);
	world_close(LEAVER);
	world_unmake(LEAVER);
	g_list(vgpu(NEIGHBOUR), in_group, 2);
	assert_int_equal(vgpu(NEIGHBOUR)->v->m->htsg[GROUP], id);
}

static void after_a_close(void **state)
{
	begin();
	actor_new("guests", setup_mm, false, close_and_go_on, NULL);
	actors_run();
	harness_sleep(2 * LATE_MS * MS);
	if (vgpu(NEIGHBOUR)->v->m->intrs.events)
		harness_fail("S4: a neighbour is told an error of a vGPU that was closed");
	setup_end();
}

/* Submits a list. Notes the ns of the longest submit in *@most. */
static void list(u32 i, const u64 *entry, u32 nr, u64 *most)
{
	u64 took = harness_now;

	g_list(vgpu(i), entry, nr);
	*most = max(*most, harness_now - took);
}

static u64 drops, lists, drop_most, list_most;

static void drop_groups_all_the_time(void *arg)
{
	for (; !done; drops++) {
		list(LEAVER, in_group, 2, &drop_most);
		list(LEAVER, alone, 1, &drop_most);
	}
}

static void list_all_the_time(void *arg)
{
	u64 end = harness_now + RUN_MS * MS;

	for (; harness_now < end; lists++) {
		list(NEIGHBOUR, in_group, 2, &list_most);
		harness_sleep(50 * US);
	}
	done = true;
}

static void who_waits(void **state)
{
	static const struct policy coarse = { .seed = 1, .oversleep_ns = 3000 };

	setup_begin(&coarse, &calm, VGPUS);
	done = false;
	drops = lists = drop_most = list_most = 0;
	task_new("idle unit", nobodys_storm, &done);
	harness_sleep(300 * MS);
	actor_new("leaver", setup_mm, false, drop_groups_all_the_time, NULL);
	actor_new("neighbour", setup_mm, false, list_all_the_time, NULL);
	actors_run();
	printf("# %llu groups dropped, %llu us at most; %llu lists beside, %llu us at most\n",
	       drops, drop_most / US, lists, list_most / US);
	assert_in_range(drops, RUN_MS / SETTLE_MS, 1000000);
	if (drop_most > SETTLE_MS * MS)
		harness_fail("S5: a list waits for %llu ms for the interrupt thread",
			     drop_most / MS);
	if (list_most > LIST_US * US)
		harness_fail(
			"S5: beside a guest that drops groups a neighbour's list takes %llu us",
			list_most / US);
	harness_sleep(SETTLE_MS * MS);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_of_a_copy),
		cmocka_unit_test(a_switch_that_does_not_end),
		cmocka_unit_test(after_a_close),
		cmocka_unit_test(who_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
