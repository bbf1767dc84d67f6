// SPDX-License-Identifier: GPL-2.0-only
/* The ports of a falcon: its memories, its start, its interrupts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "gr/falcon.h"

#define IMEM 0x4000
#define DMEM 0x1000

static int setup(void **state)
{
	struct falcon *f = calloc(1, sizeof(*f));

	*state = f;
	return falcon_init(f, "test", IMEM, DMEM);
}

static int teardown(void **state)
{
	falcon_fini(*state);
	free(*state);
	return 0;
}

static uint32_t rd(struct falcon *f, uint32_t off)
{
	uint32_t val = 0xdeadbeef;

	assert_true(falcon_read(f, off, &val));
	return val;
}

static void data_goes_in_and_out_by_auto_increment(void **state)
{
	struct falcon *f = *state;

	falcon_write(f, FALCON_DMEMC(0), FALCON_MEMC_AINCW | 0x100);
	for (uint32_t i = 0; i < 8; i++)
		falcon_write(f, FALCON_DMEMD(0), 0x1000 + i);
	assert_int_equal(rd(f, FALCON_DMEMC(0)) & 0xffffff, 0x120);
	falcon_write(f, FALCON_DMEMC(0), FALCON_MEMC_AINCR | 0x100);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(rd(f, FALCON_DMEMD(0)), 0x1000 + i);
	/* with neither bit the offset stays */
	falcon_write(f, FALCON_DMEMC(1), 0x104);
	falcon_write(f, FALCON_DMEMD(1), 7);
	falcon_write(f, FALCON_DMEMD(1), 9);
	assert_int_equal(falcon_dmem_get(f, 0x104), 9);
	assert_int_equal(falcon_dmem_get(f, 0x108), 0x1002);
}

static void code_reads_back_and_marks_the_falcon_loaded(void **state)
{
	struct falcon *f = *state;

	assert_false(f->code_loaded);
	falcon_write(f, FALCON_IMEMC(0), FALCON_MEMC_AINCW);
	falcon_write(f, FALCON_IMEMT(0), 0);
	falcon_write(f, FALCON_IMEMD(0), 0xf4);
	falcon_write(f, FALCON_IMEMD(0), 0xf5);
	assert_true(f->code_loaded);
	falcon_write(f, FALCON_IMEMC(0), FALCON_MEMC_AINCR);
	assert_int_equal(rd(f, FALCON_IMEMD(0)), 0xf4);
	assert_int_equal(rd(f, FALCON_IMEMD(0)), 0xf5);
}

static void offsets_beyond_the_memory_are_dropped(void **state)
{
	struct falcon *f = *state;

	falcon_write(f, FALCON_DMEMC(0), FALCON_MEMC_AINCW | (DMEM - 4));
	falcon_write(f, FALCON_DMEMD(0), 1);
	falcon_write(f, FALCON_DMEMD(0), 2);
	falcon_write(f, FALCON_DMEMC(0), FALCON_MEMC_AINCR | (DMEM - 4));
	assert_int_equal(rd(f, FALCON_DMEMD(0)), 1);
	assert_int_equal(rd(f, FALCON_DMEMD(0)), 0);
	assert_int_equal(falcon_dmem_get(f, 0), 0);
	falcon_write(f, FALCON_DMEMC(0), FALCON_MEMC_AINCW | 0xfffc);
	falcon_write(f, FALCON_DMEMD(0), 3);
	falcon_write(f, FALCON_DMEMD(0), 4);
	assert_int_equal(falcon_dmem_get(f, 0), 4);
}

static void sizes_are_what_nouveau_computes(void **state)
{
	uint32_t caps = rd(*state, FALCON_CAPS);

	assert_int_equal((caps & 0x1ff) << 8, IMEM);
	assert_int_equal((caps & 0x3fe00) >> 1, DMEM);
}

static void scrubbing_and_idle_are_over(void **state)
{
	struct falcon *f = *state;

	falcon_write(f, FALCON_DMACTL, 7);
	assert_int_equal(rd(f, FALCON_DMACTL) & 6, 0);
	assert_int_equal(rd(f, FALCON_IDLE_STATUS), 0);
}

static void interrupts_reach_the_host_when_enabled_and_routed(void **state)
{
	struct falcon *f = *state;

	assert_int_equal(falcon_write(f, FALCON_INTR_TRIGGER, 0xc0), FALCON_TRIGGERED);
	assert_int_equal(falcon_host_intr(f), 0);
	falcon_write(f, FALCON_INTR_EN_SET, 0xe0);
	assert_int_equal(falcon_host_intr(f), 0);
	falcon_write(f, FALCON_INTR_ROUTE, 0x8000e0);
	assert_int_equal(falcon_host_intr(f), 0x40);
	falcon_write(f, FALCON_INTR_EN_CLR, 0x40);
	assert_int_equal(falcon_host_intr(f), 0);
	falcon_write(f, FALCON_INTR_EN_SET, 0x40);
	falcon_write(f, FALCON_INTR_ACK, 0x40);
	assert_int_equal(falcon_host_intr(f), 0);
	assert_int_equal(rd(f, FALCON_INTR), 0x80);
}

static void start_needs_code(void **state)
{
	struct falcon *f = *state;

	assert_int_equal(falcon_write(f, FALCON_CPUCTL, FALCON_CPUCTL_START), FALCON_NONE);
	falcon_write(f, FALCON_IMEMD(0), 1);
	assert_int_equal(falcon_write(f, FALCON_CPUCTL, 1), FALCON_NONE);
	assert_int_equal(falcon_write(f, FALCON_CPUCTL, FALCON_CPUCTL_START), FALCON_STARTED);
	falcon_reset(f);
	assert_false(f->running);
	assert_int_equal(falcon_write(f, FALCON_CPUCTL, FALCON_CPUCTL_START), FALCON_NONE);
}

/* Write @pages pages of code, each with the tag of @tags. A tag of -1: none is written. */
static enum falcon_event start_with_tags(struct falcon *f, const int *tags, unsigned int pages)
{
	unsigned int p, i;

	falcon_reset(f);
	falcon_write(f, FALCON_IMEMC(0), FALCON_MEMC_AINCW);
	for (p = 0; p < pages; p++) {
		if (tags[p] >= 0)
			falcon_write(f, FALCON_IMEMT(0), tags[p]);
		for (i = 0; i < 64; i++)
			falcon_write(f, FALCON_IMEMD(0), 0xf8);
	}
	return falcon_write(f, FALCON_CPUCTL, FALCON_CPUCTL_START);
}

static void start_needs_the_tags_of_all_pages(void **state)
{
	struct falcon *f = *state;

	assert_int_equal(start_with_tags(f, (const int[]){ 0, 1, 2 }, 3), FALCON_STARTED);
	/* the program's pages may lie in any order */
	assert_int_equal(start_with_tags(f, (const int[]){ 2, 0, 1 }, 3), FALCON_STARTED);
	assert_int_equal(start_with_tags(f, (const int[]){ 0, -1, 2 }, 3), FALCON_NONE);
	assert_int_equal(start_with_tags(f, (const int[]){ -1, -1, -1 }, 3), FALCON_NONE);
	assert_int_equal(start_with_tags(f, (const int[]){ 1, 2, 3 }, 3), FALCON_NONE);
}

static void other_offsets_are_left_to_the_owner(void **state)
{
	uint32_t val;

	assert_false(falcon_read(*state, 0x800, &val));
	assert_int_equal(falcon_write(*state, 0x800, 1), FALCON_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(data_goes_in_and_out_by_auto_increment, setup,
						teardown),
		cmocka_unit_test_setup_teardown(code_reads_back_and_marks_the_falcon_loaded, setup,
						teardown),
		cmocka_unit_test_setup_teardown(offsets_beyond_the_memory_are_dropped, setup,
						teardown),
		cmocka_unit_test_setup_teardown(sizes_are_what_nouveau_computes, setup, teardown),
		cmocka_unit_test_setup_teardown(scrubbing_and_idle_are_over, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts_reach_the_host_when_enabled_and_routed,
						setup, teardown),
		cmocka_unit_test_setup_teardown(start_needs_code, setup, teardown),
		cmocka_unit_test_setup_teardown(start_needs_the_tags_of_all_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(other_offsets_are_left_to_the_owner, setup,
						teardown),
	};

	return cmocka_run_group_tests_name("falcon", tests, NULL, NULL);
}
