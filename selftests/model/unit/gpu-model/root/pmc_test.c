// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt tree down to messages and the line, with the register sequences of a driver;
 * enables and resets of engines.
 */
#include "card.h"

/*
 * written from the chip's documentation, and not from the model's headers, so that a mistake there
 * is found
 */
#define INTR	       0x000100
#define INTR_NRHOST    0x000104
#define EN	       0x000140
#define EN_NRHOST      0x000144
#define LINE	       0x000160
#define MASK	       0x000640
#define MASK_NRHOST    0x000644
#define ENABLE	       0x000200
#define PBDMA	       0x000204
#define MSI_CAP	       0x088068
#define PBUS_INTR      0x001100
#define PBUS_EN	       0x001140
#define PBUS_EN_NRHOST 0x001144
#define PBUS_USER0     0x001150

#define FIFO  8
#define GR    12
#define TIMER 20

static const struct unit_ops *const list[] = { &ptop_unit, &pmc_unit, &ptimer_unit, &pbus_unit,
					       &ppci_unit };

static int setup(void **state)
{
	*state = card_new("k20m", list, 5);
	return 0;
}

static int teardown(void **state)
{
	card_free(*state);
	return 0;
}

static void line(struct card *c, unsigned int bit, bool level)
{
	pthread_mutex_lock(&c->g.lock);
	pmc_intr_set(&c->g, bit, level);
	pthread_mutex_unlock(&c->g.lock);
}

static void msi_on(struct card *c)
{
	c->g.config[0x68] = 5;
	c->g.config[0x6a] = 1;
	wr(c, MASK, ~0u);
	wr(c, EN, 1);
}

static void test_identity(void **state)
{
	struct card *c = *state;
	uint32_t boot0 = rd(c, 0);

	assert_int_equal(boot0 >> 20 & 0x1ff, 0x0f0);
	assert_int_equal(boot0 & 0xff, 0xa1);
	assert_int_equal(boot0 >> 12 & 0xff, 0x28); /* the low six bits of device id 0x1028 */
	assert_int_equal(rd(c, 4), 0);
	wr(c, 0, 0);
	wr(c, 4, 0x01000001);
	assert_int_equal(rd(c, 0), boot0);
	assert_int_equal(rd(c, 4), 0);
}

static void test_masks_gate_the_line(void **state)
{
	struct card *c = *state;

	/* after POST all sources are let through */
	assert_int_equal(rd(c, MASK), ~0u);
	wr(c, MASK, 0);
	line(c, FIFO, true);
	assert_int_equal(rd(c, INTR), 0); /* masked sources do not show */
	wr(c, EN, 1);
	assert_false(c->level);
	wr(c, MASK, 1u << FIFO);
	assert_int_equal(rd(c, INTR), 1u << FIFO);
	assert_true(c->level);
	assert_int_equal(rd(c, LINE), 1);
	wr(c, EN, 0);
	assert_false(c->level);
	assert_int_equal(rd(c, INTR), 1u << FIFO);
	wr(c, EN, 1);
	wr(c, MASK, 1u << GR);
	assert_false(c->level);
	line(c, GR, true);
	assert_true(c->level);
	line(c, GR, false);
	assert_false(c->level);
}

static void test_intx_follows_the_level(void **state)
{
	struct card *c = *state;
	unsigned int i;

	wr(c, MASK, ~0u);
	wr(c, EN, 1);
	for (i = 0; i < 10; i++) {
		line(c, GR, true);
		assert_true(c->level);
		line(c, GR, false);
		assert_false(c->level);
	}
	assert_int_equal(c->level_changes, 20);
	assert_int_equal(c->messages, 10); /* without MSI no re-arm is needed */
}

/* Does what nouveau's interrupt handler does, in its order. */
static void handler(struct card *c, unsigned int serviced)
{
	wr(c, EN, 0);
	wr(c, EN_NRHOST, 0);
	rd(c, EN);
	wr8(c, MSI_CAP, 0xff);
	assert_int_equal(rd(c, INTR), 1u << serviced);
	line(c, serviced, false);
	wr(c, EN, 1);
	wr(c, EN_NRHOST, 1);
}

static void test_msi_one_message_per_interrupt(void **state)
{
	struct card *c = *state;

	msi_on(c);
	line(c, FIFO, true);
	assert_int_equal(c->messages, 1);
	handler(c, FIFO);
	assert_int_equal(c->messages, 1);
	line(c, GR, true);
	assert_int_equal(c->messages, 2);
	handler(c, GR);
	assert_int_equal(c->messages, 2);
}

static void test_msi_source_left_pending_comes_again(void **state)
{
	struct card *c = *state;

	msi_on(c);
	line(c, FIFO, true);
	wr(c, EN, 0);
	wr8(c, MSI_CAP, 0xff);
	assert_int_equal(c->messages, 1); /* the output is off, so there is no message yet */
	wr(c, EN, 1); /* FIFO is still pending */
	assert_int_equal(c->messages, 2);
}

static void test_msi_without_rearm_stays_silent(void **state)
{
	struct card *c = *state;

	msi_on(c);
	line(c, FIFO, true);
	line(c, FIFO, false);
	line(c, FIFO, true);
	assert_int_equal(c->messages, 1);
	wr8(c, MSI_CAP, 0x00); /* this value does not re-arm */
	wr8(c, MSI_CAP + 1, 0xff); /* this byte does not re-arm */
	assert_int_equal(c->messages, 1);
	wr8(c, MSI_CAP, 0xff); /* while the line is high */
	assert_int_equal(c->messages, 2);
	assert_int_equal(c->g.config[0x68], 5); /* the byte with the capability's id is read-only */
}

static void test_second_source_while_high_sends_nothing(void **state)
{
	struct card *c = *state;

	msi_on(c);
	line(c, FIFO, true);
	line(c, GR, true);
	assert_int_equal(c->messages, 1);
	assert_int_equal(rd(c, INTR), 1u << FIFO | 1u << GR);
}

static void test_software_interrupt(void **state)
{
	struct card *c = *state;

	wr(c, EN, 2);
	wr(c, MASK, 0);
	wr(c, INTR, 1u << 31);
	assert_int_equal(rd(c, INTR), 0); /* a write cannot set it while it is masked */
	wr(c, MASK, 1u << 31);
	wr(c, INTR, ~0u);
	assert_int_equal(rd(c, INTR), 1u << 31);
	assert_true(c->level);
	wr(c, INTR, 0);
	assert_false(c->level);
}

static void test_nrhost_leaf(void **state)
{
	struct card *c = *state;

	wr(c, MASK_NRHOST, ~(1u << 31));
	wr(c, EN_NRHOST, 1);
	/* the FIFO has a line of its own in NRHOST, which is not set */
	line(c, FIFO, true);
	assert_int_equal(rd(c, INTR_NRHOST), 0);
	line(c, TIMER, true);
	assert_int_equal(rd(c, INTR_NRHOST), 1u << TIMER);
	assert_true(c->level);
	line(c, TIMER, false);
	wr(c, PBUS_USER0, 1);
	assert_int_equal(rd(c, PBUS_INTR), 1u << 26);
	assert_false(c->level);
	wr(c, PBUS_EN_NRHOST, ~0u);
	assert_int_equal(rd(c, INTR_NRHOST), 1u << 28);
	assert_true(c->level);
	wr(c, PBUS_INTR, 1u << 26);
	assert_false(c->level);
}

static void test_pbus_write_one_to_clear(void **state)
{
	struct card *c = *state;

	wr(c, MASK, ~0u);
	wr(c, EN, 1);
	wr(c, PBUS_USER0, 0);
	wr(c, 0x001170, 0);
	assert_false(c->level);
	wr(c, PBUS_EN, 1u << 28);
	assert_int_equal(rd(c, INTR), 1u << 28);
	wr(c, PBUS_INTR, 1u << 28);
	assert_int_equal(rd(c, PBUS_INTR), 1u << 26);
	assert_int_equal(rd(c, INTR), 0);
	wr(c, PBUS_INTR, ~0u);
	assert_int_equal(rd(c, PBUS_INTR), 0);
}

static void test_enable_resets_what_goes_off(void **state)
{
	struct card *c = *state;
	uint32_t all;

	wr(c, ENABLE, ~0u);
	all = rd(c, ENABLE);
	assert_int_equal(c->fifo_resets + c->gr_resets + c->pmu_resets, 0);
	assert_int_equal(all & 0x302031c0, 0x302031c0 & all);
	assert_true(all & 1u << 8 && all & 1u << 12 && all & 1u << 13 && all & 1u << 6 &&
		    all & 1u << 7 && all & 1u << 21);
	wr(c, ENABLE, all & ~(1u << 12));
	assert_int_equal(c->gr_resets, 1);
	wr(c, ENABLE, all & ~(1u << 12));
	assert_int_equal(c->gr_resets, 1); /* only the falling edge of an enable resets */
	wr(c, ENABLE, all);
	wr(c, ENABLE, all & ~(1u << 6 | 1u << 21 | 1u << 8 | 1u << 13));
	assert_int_equal(c->ce_resets[0], 1);
	assert_int_equal(c->ce_resets[1], 0);
	assert_int_equal(c->ce_resets[2], 1);
	assert_int_equal(c->fifo_resets, 1);
	assert_int_equal(c->pmu_resets, 1);
	assert_int_equal(c->gr_resets, 1);
	assert_int_equal(rd(c, ENABLE), all & ~(1u << 6 | 1u << 21 | 1u << 8 | 1u << 13));
}

static void test_absent_engines_do_not_enable(void **state)
{
	struct card *c = *state;

	wr(c, ENABLE, ~0u);
	assert_int_equal(rd(c, ENABLE) & (1u << 1 | 1u << 15 | 1u << 17 | 1u << 18 | 1u << 30), 0);
}

static void test_pbdma_count(void **state)
{
	struct card *c = *state;

	wr(c, PBDMA, ~0u);
	assert_int_equal(rd(c, PBDMA), 7);
	wr(c, PBDMA, 0);
	assert_int_equal(rd(c, PBDMA), 0);
}

static void test_ptimer_reset_by_enable(void **state)
{
	struct card *c = *state;

	wr(c, 0x009410, 0x100);
	assert_true(rd(c, 0x009410) >= 0x100);
	wr(c, ENABLE, rd(c, ENABLE) & ~(1u << 16));
	assert_true(rd(c, 0x009410) < 0x100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(test_identity),
		T(test_masks_gate_the_line),
		T(test_intx_follows_the_level),
		T(test_msi_one_message_per_interrupt),
		T(test_msi_source_left_pending_comes_again),
		T(test_msi_without_rearm_stays_silent),
		T(test_second_source_while_high_sends_nothing),
		T(test_software_interrupt),
		T(test_nrhost_leaf),
		T(test_pbus_write_one_to_clear),
		T(test_enable_resets_what_goes_off),
		T(test_absent_engines_do_not_enable),
		T(test_pbdma_count),
		T(test_ptimer_reset_by_enable),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
