// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of one VMM unmap parts of its memory, which iommufd has as many areas. While they wait,
 * other threads attach and detach four vGPUs, whose guests pin what is left, and map areas again.
 * iommufd must not ask one thread more than 100 times (S6: it warns then). Afterwards the vGPUs
 * pin again (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/kernel/container.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define AREAS 150

static struct mm_struct *mm;
static struct container *c;
static u32 asks, unmapping, threads, rounds;
static bool attached[WORLD_VGPUS], ended;
static bool stays;

static void in_an_ask(void)
{
	asks++;
	/* other threads run before the lock of the vGPU is taken */
	harness_sleep(1000 + harness_below(5000));
}

static void unmaps(void *arg)
{
	u32 part = (u64)arg, n = AREAS / threads, r;

	for (r = 0; r < rounds; r++) {
		ioas_unmap(c, SETUP_RAM + part * n * PAGE_SIZE, n * PAGE_SIZE);
		task_returns();
		if (stays)
			break;
		harness_sleep(harness_below(50) * 1000);
	}
	if (!--unmapping)
		ended = true;
}

static void swaps(void *arg)
{
	while (!ended) {
		u32 k = (u64)arg + 2 * harness_below(WORLD_VGPUS / 2);

		harness_sleep(1000 + harness_below(2000));
		switch (harness_below(3)) {
		case 0:
			if (attached[k]) {
				attached[k] = false;
				ioas_detach(world.vgpu[k].dev);
			}
			break;
		case 1:
			if (!attached[k] && !ioas_attach(world.vgpu[k].dev))
				attached[k] = true;
			break;
		case 2:
			if (attached[k])
				g_tlb(&world.vgpu[k], 0);
			break;
		}
	}
}

static void maps(void *arg)
{
	while (!ended) {
		u32 i = harness_below(AREAS);

		container_map(c, SETUP_RAM + i * PAGE_SIZE, i * PAGE_SIZE, PAGE_SIZE);
		harness_sleep(500 + harness_below(1000));
	}
}

static void run(u64 seed, u32 nr_threads, bool remaps)
{
	static const struct chip_manners eager = { .eager = true };
	struct policy p = { .seed = seed, .switch_ppm = 2000 };
	u64 list[] = { 1 };
	u32 i, k;

	threads = unmapping = nr_threads;
	rounds = 3;
	asks = 0;
	stays = !remaps;
	ended = false;
	ioas_asks = NULL;
	world_begin(&(struct policy){ .seed = seed }, &eager);
	mm = mm_new();
	c = container_new(mm);
	for (i = 0; i < AREAS; i++)
		assert_int_equal(
			container_map(c, SETUP_RAM + i * PAGE_SIZE, i * PAGE_SIZE, PAGE_SIZE), 0);
	for (k = 0; k < WORLD_VGPUS; k++) {
		struct world_vgpu *g = world_make(k);

		if (!g || !world_open_ioas(k, c))
			harness_fail("no vGPU");
		attached[k] = true;
		g_space(g, 0);
		for (i = 0; i < AREAS; i++)
			g_map_sys(g, 0, 16 + i, SETUP_RAM + i * PAGE_SIZE);
		g_inst(g, 1, 0, 0);
		g_bind(g, 1);
		g_list(g, list, 1);
		g_enable(g, 1, true);
	}
	ioas_asks = in_an_ask;
	harness_policy(&p);
	for (i = 0; i < nr_threads; i++)
		actor_new("unmaps", mm, true, unmaps, (void *)(u64)i);
	actor_new("swaps", mm, false, swaps, (void *)0ul);
	actor_new("swaps2", mm, false, swaps, (void *)1ul);
	if (remaps)
		actor_new("maps", mm, false, maps, NULL);
	actors_run();
	ioas_asks = NULL;
	harness_policy(&(struct policy){ .seed = seed });
	for (k = 0; k < WORLD_VGPUS; k++)
		if (world.vgpu[k].v->m->unmaps_forbid)
			harness_fail("S5: vGPU %u may not pin any more", k);
	printf("# seed %llu, %u threads%s: asked %u times\n", (unsigned long long)seed, nr_threads,
	       remaps ? ", areas mapped again" : "", asks);
	for (k = 0; k < WORLD_VGPUS; k++) {
		world_close(k);
		world_unmake(k);
	}
	container_free(c);
	mm_free(mm);
	world_end();
}

static void at_random(void **state)
{
	u64 seed;

	for (seed = 1; seed <= (harness_all() ? 20 : 4); seed++) {
		run(seed, 1, false);
		run(seed, 1, true);
		run(seed, 2, true);
		run(seed, 3, true);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(at_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
