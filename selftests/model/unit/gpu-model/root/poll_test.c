// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bits of the root units that a driver waits for get their values, and what drivers compute from
 * registers is right.
 */

#include "card.h"
#include "clock.h"

static const struct unit_ops *const list[] = {
	&ptop_unit,   &pmc_unit,  &ppci_unit, &privring_unit, &pfuse_unit,  &therm_unit,
	&pclock_unit, &gpio_unit, &pfb_unit,  &ltc_unit,      &ptimer_unit,
};

static int setup(void **state)
{
	*state = card_new("k20m", list, sizeof(list) / sizeof(list[0]));
	return 0;
}

static int teardown(void **state)
{
	card_free(*state);
	return 0;
}

static void mask(struct card *c, uint32_t reg, uint32_t bits, uint32_t val)
{
	wr(c, reg, (rd(c, reg) & ~bits) | val);
}

static void test_power_gating_steps_are_done(void **state)
{
	static const struct {
		uint32_t reg, val;
	} steps[] = {
		/* nouveau's sequence, shortened */
		{ 0x020520, 0xfffffffc }, { 0x020524, 0xfffffffe }, { 0x020530, 0xfffffffe },
		{ 0x02052c, 0xff80fc00 }, { 0x020528, 0xfffffffc },
	};
	struct card *c = *state;
	unsigned int i;

	for (i = 0; i < 5; i++) {
		wr(c, steps[i].reg, steps[i].val);
		assert_int_equal(rd(c, steps[i].reg), steps[i].val & 0x7fffffff);
	}
}

static void test_privring_command_is_done(void **state)
{
	struct card *c = *state;

	mask(c, 0x12004c, 0x3f, 0x02);
	assert_int_equal(rd(c, 0x12004c) & 0x3f, 0);
	assert_int_equal(rd(c, 0x120058), 0);
	assert_int_equal(rd(c, 0x120074), 5);
	assert_int_equal(rd(c, 0x120078), 5);
	wr(c, 0x120074, 0);
	assert_int_equal(rd(c, 0x120074), 5);
}

static void test_tag_clear_gets_ready(void **state)
{
	struct card *c = *state;
	unsigned int part, slice, end;

	clock_stop();
	assert_int_equal(rd(c, 0x17e8dc) >> 28, 4);
	wr(c, 0x17e8cc, 0);
	wr(c, 0x17e8d0, 0x1ffff);
	wr(c, 0x17e8c8, 4);
	for (end = 0; end < 2; end++) {
		/*
		 * 131072 tags of 10 ns each, divided among 20 slices: clearing them all takes time
		 */
		clock_move(end ? 1 : 65535);
		for (part = 0; part < 5; part++)
			for (slice = 0; slice < 4; slice++)
				assert_int_equal(rd(c, 0x1410c8 + part * 0x2000 + slice * 0x400),
						 end ? 0 : 4);
	}
	clock_run();
	wr(c, 0x17e8cc, 5);
	wr(c, 0x17e8d0, 2); /* empty range */
	wr(c, 0x17e8c8, 4);
	assert_int_equal(rd(c, 0x1410c8), 0);
}

static void test_zbc_table_is_indexed(void **state)
{
	struct card *c = *state;
	uint32_t i, w;

	for (i = 0; i < 16; i++) {
		mask(c, 0x17ea44, 0xf, i);
		for (w = 0; w < 5; w++)
			wr(c, 0x17ea48 + 4 * w, i << 8 | w);
	}
	for (i = 0; i < 16; i++) {
		mask(c, 0x17ea44, 0xf, i);
		for (w = 0; w < 5; w++)
			assert_int_equal(rd(c, 0x17ea48 + 4 * w), i << 8 | w);
	}
}

static void test_fuses_need_the_access_sequence(void **state)
{
	struct card *c = *state;

	assert_int_equal(rd(c, 0x0212a8), 0);
	mask(c, 0x022400, 0x800, 0x800);
	assert_int_equal(rd(c, 0x0212a8), 0);
	mask(c, 0x021000, 1, 1);
	assert_int_equal(rd(c, 0x0212a8), 1); /* the temperature sensor is calibrated */
	assert_true(rd(c, 0x0214a8) > 0); /* speedo */
	wr(c, 0x0212a8, 7);
	assert_int_equal(rd(c, 0x0212a8), 1);
	mask(c, 0x021000, 1, 0);
	assert_int_equal(rd(c, 0x0214a8), 0);
	/* a crystal of 27 MHz, memory configuration 0 */
	assert_int_equal(rd(c, 0x101000) & 0x40003c, 0x400000);
}

static void test_temperature_and_voltage(void **state)
{
	struct card *c = *state;
	uint32_t uv;

	assert_in_range(rd(c, 0x020400), 20, 90);
	wr(c, 0x020400, 200);
	assert_in_range(rd(c, 0x020400), 20, 90);
	assert_true(rd(c, 0x020340) > 0); /* nouveau divides by this register */
	uv = 600000 + 640000 * rd(c, 0x020344) / rd(c, 0x020340);
	assert_in_range(uv, 800000, 1100000);
	wr(c, 0x020344, 0x80000000 | 100);
	assert_int_equal(rd(c, 0x020344), 100);
}

/*
 * Frequencies in kHz, as nouveau's clk/gk104.c computes them if the source has 27 MHz, P is 1, and
 * there is no fraction and no post-divider.
 */
static uint32_t root_khz(struct card *c, uint32_t pll)
{
	uint32_t coef = rd(c, pll + 4);

	assert_true(rd(c, pll) & 1);
	return 27000 * (coef >> 8 & 0xff) / (coef & 0xff);
}

static uint32_t domain_khz(struct card *c, unsigned int i)
{
	uint32_t src = rd(c, 0x137160 + 4 * i), div = rd(c, 0x1371d0 + 4 * i);

	assert_int_equal(src & 3, 3);
	assert_true(div & 1u << 31);
	return root_khz(c, src & 0x100 ? 0xe820 : 0xe800) * 2 / ((div & 0x3f) + 2);
}

static void test_clocks_of_an_idle_card(void **state)
{
	struct card *c = *state;

	assert_int_equal(rd(c, 0x137100), 0);
	assert_int_equal(domain_khz(c, 0), 648000); /* twice the core clock of 324 MHz */
	assert_int_equal(domain_khz(c, 1), 648000);
	assert_int_equal(rd(c, 0x1373f4) & 0xf, 1);
	assert_int_equal(root_khz(c, 0x132020), 324000);
	assert_int_equal(rd(c, 0x132030) >> 16, 0xf000);
}

static void test_pll_locks(void **state)
{
	struct card *c = *state;

	mask(c, 0x137000, 5, 0);
	assert_int_equal(rd(c, 0x137000) & 0x20001, 0);
	wr(c, 0x137004, 0x013401);
	mask(c, 0x137000, 1, 1);
	assert_true(rd(c, 0x137000) & 0x20000);
	mask(c, 0x137100, 1, 1);
	assert_int_equal(rd(c, 0x137100), 1);
}

static void test_memory_amount(void **state)
{
	struct card *c = *state;
	unsigned int i, total = 0;

	for (i = 0; i < rd(c, 0x022438); i++)
		if (!(rd(c, 0x022554) >> i & 1))
			total += rd(c, 0x11020c + 0x1000 * i);
	assert_int_equal(total, 5120);
	assert_int_equal(rd(c, 0x100800), 5);
	wr(c, 0x11020c, 1);
	assert_int_equal(rd(c, 0x11020c), 1024);
}

static void test_i2c_bus_is_idle_and_nobody_answers(void **state)
{
	struct card *c = *state;

	wr(c, 0x00d014, 7);
	assert_int_equal(rd(c, 0x00d014) & 0x30, 0x30);
	mask(c, 0x00d014, 2, 0);
	assert_int_equal(rd(c, 0x00d014) & 0x30, 0x10);
	/* the line is released for the slave's acknowledgement: no slave, so it stays high */
	mask(c, 0x00d014, 2, 2);
	assert_int_equal(rd(c, 0x00d014) & 0x30, 0x30);
}

static void test_gpio_lines(void **state)
{
	struct card *c = *state;

	assert_true(rd(c, 0x00d610) & 0x4000); /* input: pulled up */
	mask(c, 0x00d610, 0x3000, 0x2000);
	assert_false(rd(c, 0x00d610) & 0x4000);
	mask(c, 0x00d610, 0x3000, 0x3000);
	assert_true(rd(c, 0x00d610) & 0x4000);
	mask(c, 0x00d604, 1, 1);
	assert_int_equal(rd(c, 0x00d604), 0);
	wr(c, 0x00dc00, ~0u);
	assert_int_equal(rd(c, 0x00dc00), 0);
}

static void test_aux_channel_answers_its_master(void **state)
{
	struct card *c = *state;

	assert_int_equal(rd(c, 0x00e4e4) & 0x03010000, 0);
	mask(c, 0x00e4e4, 0x300000, 0x100000);
	assert_int_equal(rd(c, 0x00e4e4) & 0x03000000, 0x01000000);
	wr(c, 0x00e4e4, rd(c, 0x00e4e4) | 0x10000);
	assert_int_equal(rd(c, 0x00e4e4) & 0x10000, 0);
	assert_int_equal(rd(c, 0x00e4e8) & 0x10000000, 0);
}

static void test_config_mirror(void **state)
{
	struct card *c = *state;

	c->g.config[0] = 0xde;
	c->g.config[1] = 0x10;
	c->g.config[0x84] = 2; /* link capability: 5 GT/s */
	assert_int_equal(rd(c, 0x088000), 0x10de);
	wr(c, 0x088000, ~0u);
	wr(c, 0x088004, ~0u);
	wr(c, 0x088010, ~0u);
	assert_int_equal(rd(c, 0x088000), 0x10de);
	assert_int_equal(rd(c, 0x088004), 0);
	assert_int_equal(rd(c, 0x088010), 0);
	mask(c, 0x088050, 1, 0);
	assert_int_equal(c->g.config[0x50], 0);
	mask(c, 0x088050, 1, 1);
	assert_int_equal(c->g.config[0x50], 1);
	mask(c, 0x088080, 0x100, 0x100);
	assert_int_equal(rd(c, 0x088080), 0x100);
	mask(c, 0x0880a8, 3, 2);
	assert_int_equal(rd(c, 0x0880a8) & 3, 2);
	mask(c, 0x08841c, 0x60, 0x20);
	assert_int_equal(rd(c, 0x08841c), 0x20);
}

static void test_link_speed(void **state)
{
	struct card *c = *state;

	c->g.config[0x84] = 2;
	assert_int_equal(rd(c, 0x08c1c0) & 0x300004, 0x100004); /* PCIe version 2, at most 5 GT/s */
	mask(c, 0x08c1c0, 0x30000, 0x20000);
	assert_int_equal(rd(c, 0x08c1c0) & 0x30000, 0x20000);
	mask(c, 0x08c040, 0xc0000, 0x80000);
	mask(c, 0x08c040, 1, 1);
	assert_int_equal(rd(c, 0x088088) >> 16 & 0xf, 1);
	/* the driver asks for 8 GT/s, which the board does not have */
	mask(c, 0x08c040, 0xc0000, 0);
	mask(c, 0x08c040, 1, 1);
	assert_int_equal(rd(c, 0x088088) >> 16 & 0xf, 2);
	assert_int_equal(rd(c, 0x08c040) & 1, 0);
}

/*
 * No two root units may claim the same register, and none may claim one of those that the MMU has
 * between theirs, at 0x1700 and 0x100c10.
 */
static void test_ranges_do_not_overlap(void **state)
{
	static uint8_t taken[GK110_BAR0_SIZE / 4];
	const struct unit_ops *all[] = { &ptop_unit,  &pmc_unit,   &ppci_unit,	 &privring_unit,
					 &pfuse_unit, &therm_unit, &pclock_unit, &gpio_unit,
					 &pfb_unit,   &ltc_unit,   &ptimer_unit, &pbus_unit,
					 &prom_unit };
	unsigned int u, i, r;

	memset(taken + 0x100c10 / 4, 1, 0xf0 / 4);
	memset(taken + 0x1700 / 4, 1, 0x1c / 4);
	for (u = 0; u < sizeof(all) / sizeof(all[0]); u++)
		for (i = 0; i < all[u]->nr_ranges; i++) {
			const struct mmio_range *m = &all[u]->ranges[i];

			assert_int_equal((m->base | m->size) & 3, 0);
			assert_true(m->base + m->size <= GK110_BAR0_SIZE);
			for (r = m->base / 4; r < (m->base + m->size) / 4; r++)
				assert_int_equal(taken[r]++, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_power_gating_steps_are_done),
		T(test_privring_command_is_done),
		T(test_tag_clear_gets_ready),
		T(test_zbc_table_is_indexed),
		T(test_fuses_need_the_access_sequence),
		T(test_temperature_and_voltage),
		T(test_clocks_of_an_idle_card),
		T(test_pll_locks),
		T(test_memory_amount),
		T(test_i2c_bus_is_idle_and_nobody_answers),
		T(test_gpio_lines),
		T(test_aux_channel_answers_its_master),
		T(test_config_mirror),
		T(test_link_speed),
		T(test_ranges_do_not_overlap),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
