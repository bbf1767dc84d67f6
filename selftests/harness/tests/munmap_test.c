// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread of a VMM unmaps a BAR while a call of another thread removes pages of that mapping, on
 * kernels that give a VFIO device no inode of its own (mdev/vmas.c). munmap() takes the mapping out
 * of the tree with mmap_lock held for writing. It frees the mapping's page tables with the lock
 * held for reading (do_mas_align_munmap() and unmap_region() of 6.1), and calls .close last, which
 * takes the mapping off the module's list. Page tables must not be freed while a thread walks them
 * (S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define BAR1  (1ull << 40)
#define LEN   (16ull << 20) /* all of BAR1 of the smallest type: eight page tables */
#define SEEDS 200

static const struct chip_manners calm = { .late = 0 };
static unsigned long at;

static void unmaps(void *arg)
{
	mm_unmap(setup_mm, at, LEN);
}

static void resets(void *arg)
{
	world_reset(0);
}

static void munmap_beside_a_reset(void **state)
{
	u64 seed;
	u32 i;

	for (seed = 1; seed <= SEEDS; seed++) {
		struct policy p = {
			.seed = seed, .switch_ppm = 100000, .delay_ppm = 100000, .delay_ns = 2000000
		};

		setup_begin(&p, &calm, 1);
		at = mm_map(setup_mm, world.vgpu[0].dev, BAR1, LEN);
		for (i = 0; i < 8; i++)
			assert_int_not_equal(mm_touch(setup_mm, at + i * SZ_2M), 0);
		mm_slow(setup_mm, 1000000 + harness_below(20000000));
		actor_new("unmaps", setup_mm, false, unmaps, NULL);
		actor_new("resets", setup_mm, true, resets, NULL);
		actors_run();
		setup_end();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(munmap_beside_a_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
