// SPDX-License-Identifier: GPL-2.0-only
/*
 * A vGPU with short jobs is charged for about what it uses, whatever else is bound (S5). A vGPU
 * with entries for which no engine works has its share of the turns, and no more.
 *
 * A job is one entry of channel 1's ring: GP_PUT moves, the PBDMA fetches the entry (GP_GET moves),
 * the engine works for a while, and the ring is empty. The next job comes some time after that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define LIGHT	WORKER
#define OTHER	ACCOMPLICE
#define LOOK_NS (5 * US)
#define TEST_MS 4000
#define NO_CAP	"100"

/* The chip loads what this program tells it to load, so that an idle PBDMA has no channel. */
static const struct chip_manners obeys = { .late = 2, .idles = true };

static struct light_job {
	const char *cap;
	u32 work_us, pause_us;
	enum kvgpu_sched_policy policy;
	bool unseen; /* the PBDMA does the entries alone: no engine works */
	bool keeps; /* a PBDMA whose ring ran dry keeps its channel (T13) */
	bool waits; /* channel 2 of the vGPU waits for a semaphore all the time */
	/* the other vGPU: none, has a bound channel without work, or always works */
	enum { NO_OTHER, OTHER_SLEEPS, OTHER_WORKS } other;
} job;
static u64 other_had;

static void userd_write(u32 off, u32 val)
{
	u64 at = world.vgpu[LIGHT].v->part.v + G_USERD(1) + off;

	*(u32 *)chip_vram(at) = val;
	chip_wrote(at, 4);
}

static bool served(void)
{
	return listed(LIGHT) &&
	       (!job.other || slicer()->shared || slicer()->owner == world.vgpu[LIGHT].v->m);
}

static void pbdma_lets_go(void)
{
	u16 id = chan_at(LIGHT, 1);

	if (!job.keeps && chip.pbdma[0].chid == id && !chip_engine_works(id) && !chip.at_work[id])
		chip.pbdma[0].chid = NO_CHAN;
}

static void light(void *arg)
{
	u64 end = harness_now + TEST_MS * MS;
	u16 id = chan_at(LIGHT, 1);
	u32 n = 0;

	while (harness_now < end) {
		n = (n + 1) % 64;
		/* entries that no engine sees come in a queue */
		userd_write(USERD_GP_PUT, (n + (job.unseen ? 8 : 0)) % 64);
		while (!served() && harness_now < end)
			harness_sleep(LOOK_NS);
		if (!job.unseen)
			chip_load_on_gr(id);
		userd_write(USERD_GP_GET, n);
		chip_at_work(id, !job.unseen);
		harness_sleep(job.work_us * US);
		chip_at_work(id, false);
		pbdma_lets_go();
		harness_sleep(job.pause_us * US);
	}
	done = true;
}

/* The chip serves the other vGPU whenever it is listed and the light one has no job. */
static void serve_other(void)
{
	u16 id;

	if (job.other != OTHER_WORKS || !listed(OTHER))
		return;
	id = chan_at(OTHER, 1);
	if (chip_may_load(id, 0) && chip.engine[0].chid != id && !chip.at_work[chan_at(LIGHT, 1)])
		chip_load_on_gr(id);
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(LOOK_NS), all++) {
		pbdma_lets_go();
		serve_other();
		had += chip.at_work[chan_at(LIGHT, 1)] && chip_engine_works(chan_at(LIGHT, 1));
		other_had += job.other == OTHER_WORKS && chip_engine_works(chan_at(OTHER, 1));
	}
}

static void light_setup(void)
{
	u64 list[2] = { 1, 2 };

	setup_begin(&coarse, &obeys, job.other ? 2 : 1);
	assert_int_equal(kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_POLICY, job.policy), 0);
	setup_knob(LIGHT, "cap", job.cap);
	g_ring(&world.vgpu[LIGHT], 1, 0);
	userd_write(USERD_GP_GET, 0);
	if (job.waits) {
		g_inst(&world.vgpu[LIGHT], 2, 0, 0);
		g_bind(&world.vgpu[LIGHT], 2);
		g_enable(&world.vgpu[LIGHT], 2, true);
		g_list(&world.vgpu[LIGHT], list, 2);
		g_ring(&world.vgpu[LIGHT], 2, 1);
	}
	if (job.other == OTHER_SLEEPS)
		g_ring(&world.vgpu[OTHER], 1, 0);
	harness_sleep(1500 * MS);
	had = all = other_had = 0;
	done = false;
}

/* Runs @j. The other vGPU must have from @least to @most per mille. */
static void light_run(const struct light_job *j, u32 least, u32 most)
{
	u32 has, charged, off;
	u64 began, took;

	job = *j;
	light_setup();
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[LIGHT].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("light", setup_mm, false, light, NULL);
	actors_run();
	has = 1000 * had / all;
	charged = thousandths(LIGHT, took, began);
	other_had = 1000 * other_had / all;
	printf("# cap %s, policy %u, jobs of %u us after %u us: has %u, pays %u per mille; other %u\n",
	       job.cap, job.policy, job.work_us, job.pause_us, has, charged, (u32)other_had);
	setup_end();
	off = charged > has ? charged - has : has - charged;
	/* each sample counts for 1 ms on the average: 40 of 4,000 samples find 1 % of work */
	if (off > 10 + has / 4)
		harness_fail("S5: it has %u per mille and pays for %u", has, charged);
	if (other_had < least || other_had > most)
		harness_fail("S5: the other vGPU has %u per mille, not %u to %u", (u32)other_had,
			     least, most);
}

static void alone_below_a_cap(void **state)
{
	light_run(&(struct light_job){ .cap = "50", .work_us = 10, .pause_us = 990 }, 0, 0);
	light_run(&(struct light_job){ .cap = "10", .work_us = 20, .pause_us = 230 }, 0, 0);
	light_run(&(struct light_job){ .cap = "20", .work_us = 40, .pause_us = 200 }, 0, 0);
	light_run(&(struct light_job){ .cap = "50", .work_us = 10, .pause_us = 990, .keeps = true },
		  0, 0);
}

/* A vGPU with a channel and no work makes samples frequent. It does not change the charge. */
static void beside_a_bound_channel(void **state)
{
	light_run(
		&(struct light_job){
			.cap = NO_CAP, .work_us = 10, .pause_us = 990, .other = OTHER_SLEEPS },
		0, 0);
}

static void beside_a_worker(void **state)
{
	struct light_job j = {
		.cap = NO_CAP,
		.work_us = 60,
		.pause_us = 400,
		.other = OTHER_WORKS,
	};

	light_run(&j, 800, 1000);
	j.policy = KVGPU_SCHED_EQUAL_SHARE;
	light_run(&j, 490, 1000);
}

static void beside_a_waiting_channel(void **state)
{
	struct light_job j = { .cap = "50", .work_us = 10, .pause_us = 990, .waits = true };

	light_run(&j, 0, 0);
	j.other = OTHER_WORKS;
	j.cap = NO_CAP;
	j.policy = KVGPU_SCHED_EQUAL_SHARE;
	light_run(&j, 490, 1000);
}

/*
 * Entries for which no engine works, fetched without a pause: the vGPU makes progress, so it is not
 * parked, and its turns count as idling. Under best effort a moment of that is free in two slices
 * (sched/choose.c).
 */
static void unseen_work(void **state)
{
	struct light_job j = {
		.cap = NO_CAP, .work_us = 20, .pause_us = 0, .unseen = true, .other = OTHER_WORKS
	};

	light_run(&j, 480, 530);
	j.policy = KVGPU_SCHED_EQUAL_SHARE;
	light_run(&j, 490, 530);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone_below_a_cap), cmocka_unit_test(beside_a_bound_channel),
		cmocka_unit_test(beside_a_worker),   cmocka_unit_test(beside_a_waiting_channel),
		cmocka_unit_test(unseen_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
