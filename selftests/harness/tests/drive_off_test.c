// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which channels the slicer drives off the chip at a switch, and which it ends when they do not
 * leave. The source is included, under other names, for its static functions; the module of the
 * program has its own copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define vmach_slicer_init  copy_slicer_init
#define vmach_watchdog_set copy_watchdog_set
#define vmach_slicer_start copy_slicer_start
#define vmach_slicer_stop  copy_slicer_stop
#include "mdev/machine/slice.c"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define BUSY	 PFIFO_STATUS_BUSY
#define VALID	 PFIFO_STATUS_VALID
#define SAVE	 PFIFO_STATUS_SAVE
#define CHSW	 PFIFO_STATUS_CHSW
#define ID(id)	 FIELD_PREP(PFIFO_STATUS_ID, id)
#define NEXT(id) FIELD_PREP(PFIFO_STATUS_NEXT_ID, id)
#define NONE	 0xffff

static const struct chip_manners calm = { .eager = true, .busy = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };

/*
 * vGPU 1 gets the chip. Channels of vGPU 0 have to leave: one that an engine or a PBDMA has, saves,
 * or is switching to. The field NEXT_ID counts during a switch only.
 */
static void who_has_to_leave(void **state)
{
	struct machine_slicer was, *s;
	u16 a, b, own, leave[2];
	u32 i, nr;

	setup_begin(&quiet, &calm, 2);
	setup_run(0, 2, 1);
	a = g_hchid(&world.vgpu[0], 1);
	b = g_hchid(&world.vgpu[0], 2);
	own = g_hchid(&world.vgpu[1], 1);
	const struct {
		u32 status;
		u16 leave[2];
	} cases[] = {
		{ 0, { NONE, NONE } },
		{ BUSY | ID(a), { NONE, NONE } },
		{ VALID | ID(a), { a, NONE } },
		{ BUSY | VALID | ID(a), { a, NONE } },
		{ BUSY | VALID | ID(a) | NEXT(b), { a, NONE } },
		{ BUSY | VALID | ID(own) | NEXT(b), { NONE, NONE } },
		{ BUSY | CHSW | SAVE | ID(a), { a, NONE } },
		{ BUSY | CHSW | VALID | NEXT(b), { b, NONE } },
		{ BUSY | CHSW | VALID | ID(own) | NEXT(b), { b, NONE } },
		{ BUSY | CHSW | VALID | SAVE | ID(a) | NEXT(b), { a, b } },
		{ BUSY | CHSW | VALID | SAVE | ID(a) | NEXT(own), { a, NONE } },
	};

	kvgpu_hw_lock(&world.gpu->lock);
	s = &world.gpu->chip->slicer;
	was = *s;
	s->shared = false;
	s->owner = world.vgpu[1].v->m;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct machine_loaded out[MAX_LOADED];

		nr = 0;
		add_status(world.gpu->chip, cases[i].status, out, &nr);
		leave[0] = nr > 0 ? out[0].id : NONE;
		leave[1] = nr > 1 ? out[1].id : NONE;
		if (memcmp(leave, cases[i].leave, sizeof(leave)))
			harness_fail(
				"S5: by the status 0x%08x channels 0x%x and 0x%x are to leave, not 0x%x and 0x%x",
				cases[i].status, leave[0], leave[1], cases[i].leave[0],
				cases[i].leave[1]);
	}
	s->shared = was.shared;
	s->owner = was.owner;
	kvgpu_hw_unlock(&world.gpu->lock);
	setup_end();
}

/*
 * The slicer has waited for a channel, and meanwhile the channel was unbound. Its id is another
 * vGPU's by now, whose channel is loaded and has done nothing wrong.
 */
static void the_id_is_anothers_by_now(void **state)
{
	struct kvgpu_chan *c;
	struct machine_loaded l;

	setup_begin(&quiet, &calm, 2);
	c = vmach_chan_find(world.vgpu[1].v, (gchid_t){ 1 });
	g_list(&world.vgpu[0], NULL, 0);
	g_preempt(&world.vgpu[0], false, 1);
	/* by then the slicer is in no switch any more, in which it would drive the channel off */
	do
		harness_sleep(NSEC_PER_MSEC);
	while (!chip_loaded(c->hchid.v));
	l = (struct machine_loaded){ .vgpu = world.vgpu[0].v->id, .id = c->hchid.v };
	chan_recover(world.gpu->chip, &l, true);
	if (c->dead || world.vgpu[1].v->m->slice.strikes.total)
		harness_fail(
			"S5: a channel is ended in the place of another vGPU's that had its id before");
	l.vgpu = world.vgpu[1].v->id;
	chan_recover(world.gpu->chip, &l, true);
	assert_true(c->dead);
	assert_int_equal(world.vgpu[1].v->m->slice.strikes.total, 1);
	setup_end();
}

/*
 * Channel 1 has GR with a kernel that does not end, and channel 2 waits on its PBDMA, which no
 * engine names. Writes them to @holder and @waiter.
 */
static void hold_and_wait(struct machine_loaded *holder, struct machine_loaded *waiter)
{
	struct world_vgpu *g = &world.vgpu[0];
	u16 a = g_hchid(g, 1), b = g_hchid(g, 2);

	while (!chip_hold(a, 60ull * NSEC_PER_SEC) || chip.engine[0].chid != a)
		harness_sleep(NSEC_PER_MSEC);
	while (chip.pbdma[0].chid != b) {
		if (chip_may_load(b, 0))
			chip_load_some(0, b);
		harness_sleep(NSEC_PER_MSEC / 10);
	}
	*holder = (struct machine_loaded){ .vgpu = g->v->id, .id = a };
	*waiter = (struct machine_loaded){ .vgpu = g->v->id, .id = b };
}

/* For which channel another one may wait, and that the one that waits is not ended as a hang. */
static void whom_it_waits_for(void **state)
{
	static const struct chip_manners stay = {
		.eager = true, .busy = true, .late = 2, .idles = true, .waiters_stay = true
	};
	struct machine_loaded holder, waiter, stale, found = { 0 };
	struct kvgpu_chip *chip;
	struct machine_obs w;

	setup_begin(&quiet, &stay, 1);
	setup_run(0, 2, 1);
	chip = world.gpu->chip;
	hold_and_wait(&holder, &waiter);
	/* from now on no vGPU has the chip, and nothing else drives channels off */
	copy_slicer_stop(world.gpu);
	chip->slicer.shared = false;
	stale = waiter;
	stale.vgpu++;
	if (other_find(chip, &waiter, 0, &found) != 0 || found.id != holder.id ||
	    found.vgpu != holder.vgpu)
		harness_fail("S5: a channel waits for channel 0x%x, not 0x%x", holder.id, found.id);
	if (other_find(chip, &waiter, BIT(0), &found) != -1)
		harness_fail("S5: a channel is driven off a second time for one that waits");
	if (other_find(chip, &stale, 0, &found) != -1)
		harness_fail("S5: a channel is driven off for one that is gone");
	if (other_find(chip, &holder, 0, &found) != HAS_ENGINE)
		harness_fail("S5: a channel is driven off for one that has the engine");

	vmach_obs_begin(&w, world.gpu);
	other_drive_off(chip, &waiter, &w);
	if (chip->by_hchid[waiter.id]->dead)
		harness_fail("S5: a channel is ended that no observation saw at work");
	other_drive_off(chip, &holder, &w);
	assert_true(chip->by_hchid[holder.id]->dead);
	assert_false(chip->by_hchid[waiter.id]->dead);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_to_leave),
		cmocka_unit_test(the_id_is_anothers_by_now),
		cmocka_unit_test(whom_it_waits_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
