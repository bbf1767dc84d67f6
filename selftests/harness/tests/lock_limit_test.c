// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest maps more memory than its VMM may lock. For each pin beyond RLIMIT_MEMLOCK the core logs
 * a line by pr_warn() (vfio_pin_page_external()), which has no limit of its own. So the module has
 * to bound how often the core is asked in vain, or the host's log grows without limit (S6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define RAM	  0x10000000ull
#define RAM_BYTES (RAM_PAGES * 4096ull)
#define PAGES	  8192 /* of a space */
#define LIMIT	  64 /* pages that the VMM may lock */
#define MOST	  10 /* lines in 5 s: docs/invariants.md */
#define WINDOW_NS 5000000000ull
#define WRITES	  10

static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;
static u32 pages = PAGES; /* with an entry in a space's table */

/* Fill a table in video memory. Each entry has another IOVA. */
static void table(u32 space)
{
	static u64 pte[PAGES];
	u32 i;

	for (i = 0; i < pages; i++)
		pte[i] = GMMU_PTE_VALID | GMMU_PTE_VOL |
			 FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH) |
			 FIELD_PREP(GMMU_PTE_ADDR, (RAM >> 12) + i);
	memcpy(chip_vram(g->v->part.v + G_TABLE(space)), pte, pages * sizeof(*pte));
	chip_wrote(g->v->part.v + G_TABLE(space), pages * sizeof(*pte));
	vmach_range_mark_dirty(g->v, G_TABLE(space), pages * sizeof(*pte));
}

static void begin(u32 spaces, u32 limit)
{
	u32 s, i;

	world_begin(&quiet, &calm);
	setup_mm = mm_new();
	setup_c = container_new(setup_mm);
	for (i = 0; i < PAGES / RAM_PAGES; i++)
		container_map(setup_c, RAM + i * RAM_BYTES, 0, RAM_BYTES);
	g = world_make(0);
	assert_true(world_open(0, setup_c));
	for (s = 0; s < spaces; s++) {
		g_space(g, s);
		g_inst(g, s + 1, s, 0);
		g_bind(g, s + 1);
	}
	container_lock_limit(setup_c, limit);
	for (s = 0; s < spaces; s++)
		table(s);
}

static void end(void)
{
	world_close(0);
	world_unmake(0);
	container_free(setup_c);
	mm_free(setup_mm);
	world_end();
}

/* Invalidate the TLB of space 0 @writes times. Return how many lines that puts into the log. */
static u64 lines_of(u32 writes)
{
	u64 before = container_warned(setup_c), began = harness_now;

	while (writes--)
		g_tlb(g, 0);
	assert_true(harness_now - began < WINDOW_NS);
	return container_warned(setup_c) - before;
}

static void writes_beyond_the_limit(void **state)
{
	u32 spaces, window;
	u64 lines;

	for (spaces = 1; spaces <= G_SPACES; spaces += G_SPACES - 1) {
		begin(spaces, LIMIT);
		for (window = 0; window < 2; window++) {
			lines = lines_of(WRITES);
			print_message("%u spaces: %u register writes put %llu lines into the log\n",
				      spaces, WRITES, (unsigned long long)lines);
			if (lines > MOST)
				harness_fail(
					"S6: %u register writes put %llu lines into the host's log",
					WRITES, (unsigned long long)lines);
			assert_true(lines > 0);
			harness_sleep(WINDOW_NS);
		}
		end();
	}
}

/* The first pin is refused shortly before 5 s are over, and others follow: that is one period. */
static void over_the_end_of_a_period(void **state)
{
	u64 start, lines = 0;
	u32 i;

	pages = 2;
	begin(1, 1);
	pages = PAGES;
	start = harness_now;
	lines = lines_of(1);
	print_message("%llu lines at first\n", lines);
	assert_true(lines);
	lines = 0;
	harness_sleep(start + WINDOW_NS - 20000000 - harness_now);
	for (i = 0; i < 60; i++) {
		lines += lines_of(1);
		harness_sleep(1000000);
	}
	print_message("%llu lines over the end of a period\n", lines);
	if (lines > MOST + 1)
		harness_fail("S6: %llu lines in the host's log over the end of a period", lines);
	end();
}

/* The pins that were refused are done once the limit is raised and the 5 s are over. */
static void a_limit_that_is_raised(void **state)
{
	begin(1, LIMIT);
	lines_of(1);
	assert_true(container_pins(setup_c) <= LIMIT);
	container_lock_limit(setup_c, 0);
	harness_sleep(WINDOW_NS);
	g_tlb(g, 0);
	print_message("%u pages are pinned without the limit\n", container_pins(setup_c));
	assert_true(container_pins(setup_c) > LIMIT);
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_beyond_the_limit),
		cmocka_unit_test(over_the_end_of_a_period),
		cmocka_unit_test(a_limit_that_is_raised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
