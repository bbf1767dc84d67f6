// SPDX-License-Identifier: GPL-2.0-only
/* BAR0 dispatch: accesses compared with a simple byte array, and bad ranges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/core.h"
#include "../clock.h"

#define BASE 0x104000u /* registers there that the dump lacks: none */
#define SPAN 64u

static uint32_t hooked[SPAN / 4];
static unsigned int reads, writes;

static uint32_t hook_read(struct gk110 *g, uint32_t reg)
{
	reads++;
	return hooked[(reg - BASE) / 4];
}

static void hook_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	uint32_t *w = &hooked[(reg - BASE) / 4];

	assert_int_equal(val & ~be, 0);
	writes++;
	*w = (*w & ~be) | val;
}

static struct mmio_range ranges[] = {
	{ .base = BASE, .size = SPAN, .name = "hooked", .read = hook_read, .write = hook_write },
	{ .base = BASE + SPAN, .size = SPAN, .name = "plain" },
	{ .base = 0, .size = 0x4000, .name = "host" },
	{ .base = 0x300000, .size = 4, .name = "rom" },
	{ .base = 0x409800, .size = 4, .name = "fecs" },
};
static struct unit_ops unit = { .name = "test",
				.ranges = ranges,
				.nr_ranges = sizeof(ranges) / sizeof(ranges[0]) };
const struct unit_ops *const gk110_units[] = { &unit };
const unsigned int gk110_nr_units = 1;

static struct {
	unsigned int nr;
	uint32_t reg, val, code;
	bool write;
} failed;

/* root/pbus.c */
void pbus_access_failed(struct gk110 *g, uint32_t reg, bool write, uint32_t val, uint32_t code)
{
	failed.nr++;
	failed.reg = reg;
	failed.write = write;
	failed.val = val;
	failed.code = code;
}

static struct gk110 *device(void)
{
	struct gk110 *g = calloc(1, sizeof(*g));

	g->core = calloc(1, sizeof(*g->core));
	g->ranges = calloc(256, sizeof(*g->ranges));
	g->range_of = calloc(1, GK110_BAR0_SIZE / 4);
	g->regs = calloc(1, GK110_BAR0_SIZE);
	g->core->unanswered = calloc(1, GK110_BAR0_SIZE);
	/* all units are on (root/cold.c) */
	g->regs[0x000200 / 4] = ~0u;
	g->regs[0x02240c / 4] = 2;
	g->gpc_power_steps = GPC_POWER_STEPS;
	pthread_mutex_init(&g->lock, NULL);
	pthread_mutex_init(&g->core->note_lock, NULL);
	return g;
}

static void device_free(struct gk110 *g)
{
	free(g->core->unanswered);
	free(g->regs);
	free(g->range_of);
	free(g->ranges);
	free(g->core);
	free(g);
}

static void every_size_and_alignment(void **state)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8 };
	struct gk110 *g = device();
	uint8_t naive[2 * SPAN + 16] = { 0 };
	unsigned int round, s, off;

	memset(hooked, 0, sizeof(hooked));
	assert_int_equal(mmio_init(g), 0);
	for (round = 0; round < 50; round++)
		for (s = 0; s < 4; s++)
			for (off = 0; off + sizes[s] <= 2 * SPAN; off++) {
				uint64_t val = ((uint64_t)rand() << 40) ^ ((uint64_t)rand() << 20) ^
					       rand(),
					 want = 0;
				unsigned int rd = rand() % (2 * SPAN - 8);

				gk110_mmio_write(g, BASE + off, sizes[s], val);
				memcpy(naive + off, &val, sizes[s]);
				memcpy(&want, naive + rd, sizes[s]);
				assert_true(gk110_mmio_read(g, BASE + rd, sizes[s]) == want);
			}
	assert_true(reads && writes);
	device_free(g);
}

/* 0x500000: no unit; 0x2278: a hole in the K80's dump of a unit that is there */
static void absent_registers_are_counted_and_keep_nothing(void **state)
{
	static const uint32_t absent[][2] = { { 0x500000, 0xbadf1100 }, { 0x002278, 0xbad0011f } };
	struct gk110 *g = device();
	unsigned int i;

	assert_int_equal(mmio_init(g), 0);
	for (i = 0; i < 2; i++) {
		memset(&failed, 0, sizeof(failed));
		gk110_mmio_write(g, absent[i][0], 4, 0x12345678);
		assert_true(failed.nr == 1 && failed.write && failed.val == 0x12345678);
		assert_int_equal(gk110_mmio_read(g, absent[i][0] + 1, 2),
				 absent[i][1] >> 8 & 0xffff);
		assert_true(failed.nr == 2 && !failed.write && failed.reg == absent[i][0] &&
			    failed.code == absent[i][1]);
		assert_int_equal(g->regs[absent[i][0] / 4], 0);
		assert_int_equal(g->core->unanswered[absent[i][0] / 4], 2);
		assert_int_equal(g->core->rd[0], i + 1);
		assert_int_equal(g->core->wr[0], i + 1);
		assert_int_equal(g->stats.pri_errors, 2 * (i + 1));
	}
	gk110_mmio_write(g, 0x2274, 4, 1);
	assert_int_equal(gk110_mmio_read(g, 0x2274, 4), 1);
	assert_int_equal(g->stats.pri_errors, 4);
	/* the same while the unit is off */
	g->regs[0x000200 / 4] = 0;
	gk110_mmio_read(g, 0x2274, 4);
	assert_int_equal(g->core->unanswered[0x2274 / 4], 1);
	device_free(g);
}

static void outside_of_the_bar(void **state)
{
	struct gk110 *g = device();

	assert_int_equal(mmio_init(g), 0);
	assert_true(gk110_mmio_read(g, GK110_BAR0_SIZE - 2, 4) == ~0ull);
	assert_true(gk110_mmio_read(g, ~0u, 8) == ~0ull);
	gk110_mmio_write(g, GK110_BAR0_SIZE - 2, 4, 1);
	gk110_mmio_write(g, ~0u, 1, 1);
	device_free(g);
}

static void bad_ranges_are_refused(void **state)
{
	static const struct mmio_range bad[] = {
		{ .base = 0x1002, .size = 4, .name = "unaligned" },
		{ .base = 0x1000, .size = 0, .name = "empty" },
		{ .base = GK110_BAR0_SIZE - 4, .size = 8, .name = "beyond the end" },
		{ .base = BASE, .size = 4, .name = "overlap" },
	};
	struct mmio_range keep = ranges[1];
	unsigned int i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gk110 *g = device();

		ranges[1] = bad[i];
		assert_true(mmio_init(g) < 0);
		device_free(g);
	}
	ranges[1] = keep;
}

static uint32_t with(struct gk110 *g, const char *defect, uint32_t reg)
{
	g->cfg.defect = defect;
	return gk110_mmio_read(g, reg, 4);
}

static void defects(void **state)
{
	struct gk110 *g = device();

	assert_int_equal(mmio_init(g), 0);
	reg_set(g, 0x300000, 0x1234aa55);
	reg_set(g, 0x409800, 0x80000001);
	assert_int_equal(with(g, NULL, 0x300000), 0x1234aa55);
	assert_int_equal(with(g, "dead-bus", 0), ~0u);
	assert_int_equal(with(g, "no-rom", 0x300000), ~0u);
	assert_int_equal(with(g, "no-rom", 0), 0);
	assert_int_equal(with(g, "power", 0x020520), 0xbadf1100);
	assert_int_equal(with(g, "power", 0x502608), 0xbadf1100);
	assert_int_equal(with(g, "power", 0x409800), 0x80000001);
	assert_int_equal(with(g, "fecs", 0x409800), 1);
	assert_int_equal(with(g, "runlist", 0x2284 + 8 * 6), 1 << 20);
	clock_stop();
	gk110_mmio_write(g, 0x2634, 4, 7);
	clock_move(290000000);
	gk110_mmio_write(g, 0x2634, 4, 7);
	assert_int_equal(with(g, "preempt", 0x2634), 1 << 20 | 7);
	clock_move(20000000);
	assert_int_equal(with(g, "preempt", 0x2634), 7);
	clock_run();
	device_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_and_alignment),
		cmocka_unit_test(absent_registers_are_counted_and_keep_nothing),
		cmocka_unit_test(outside_of_the_bar),
		cmocka_unit_test(bad_ranges_are_refused),
		cmocka_unit_test(defects),
	};

	return cmocka_run_group_tests_name("core/mmio", tests, NULL, NULL);
}
