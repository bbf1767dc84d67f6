// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest works for a moment after each sample. Its page of flushes tells it when a sample is
 * taken. What the guest gets so without a charge is no more than docs/invariants.md promises (S5),
 * also at the smallest cap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS     1000000ull
#define US     1000ull
#define RUN_MS 3000
#define POINTS 4

static struct chip_manners busy = { .eager = true, .load_ppm = 50000, .late = 2, .idles = true };
static struct policy coarse = { .seed = 1, .oversleep_ns = 20000 };
static u64 on, all, window;
static bool done;

static volatile u32 *word(struct world_vgpu *g, u32 reg)
{
	return (volatile u32 *)(g->v->own[VGPU_OWN_FLUSH].memory +
				(reg - g->v->own[VGPU_OWN_FLUSH].at));
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(MS / 50), all++)
		on += chip_engine_works(g_hchid(&world.vgpu[0], 1));
}

static void works_after_samples(void *arg)
{
	struct world_vgpu *g = &world.vgpu[0];
	volatile u32 *flush = word(g, FLUSH_BAR);
	u64 end = harness_now + RUN_MS * MS;
	u16 id = g_hchid(g, 1);

	while (harness_now < end) {
		*flush = FLUSH_TRIGGER;
		while (*flush & FLUSH_TRIGGER)
			harness_sleep(2 * US);
		chip_at_work(id, true);
		harness_sleep(window);
		chip_at_work(id, false);
	}
	done = true;
}

static void judge(const char *cap, u32 share, u64 us)
{
	u64 had;

	window = us * US;
	on = all = 0;
	done = false;
	setup_begin(&coarse, &busy, 1);
	setup_knob(0, "cap", cap);
	g_ring(&world.vgpu[0], 1, 0);
	harness_sleep(2500 * MS); /* quiet for so long that samples are rare */
	actor_new("attacker", setup_mm, false, works_after_samples, NULL);
	actor_new("meter", setup_mm, false, meter, NULL);
	actors_run();
	had = 1000 * on / all;
	printf("# cap %s, %llu us after each sample: has %llu.%llu %%\n", cap,
	       (unsigned long long)us, (unsigned long long)had / 10, (unsigned long long)had % 10);
	if (had > 10 * (share + POINTS))
		harness_fail("S5: it may have %u %% and %u %% more, and has %llu.%llu %%", share,
			     POINTS, (unsigned long long)had / 10, (unsigned long long)had % 10);
	setup_end();
}

static void windows(void **state)
{
	judge("1", 1, 245);
	judge("1", 1, 60);
	judge("10", 10, 245);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
