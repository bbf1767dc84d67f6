// SPDX-License-Identifier: GPL-2.0-only
/* Methods and the words of RAMFC that their data go to; registers, interrupts and reset. */
#include <linux/bitfield.h>
#include <selftests/unit_test.h>

#include "card.h"

/*
 * Offset of each method's word in the window of RAMFC at 0x100, from COPY_STATE of rnndb's
 * gf100_pfifo.xml.
 */
static const struct {
	uint32_t mthd, offset;
} layout[] = {
	{ 0x240, 0x00 }, { 0x244, 0x04 }, { 0x248, 0x08 }, { 0x254, 0x0c }, { 0x258, 0x10 },
	{ 0x260, 0x18 }, { 0x264, 0x1c }, { 0x400, 0x20 }, { 0x404, 0x24 }, { 0x408, 0x28 },
	{ 0x40c, 0x2c }, { 0x410, 0x30 }, { 0x414, 0x34 }, { 0x418, 0x38 }, { 0x41c, 0x3c },
	{ 0x728, 0x40 }, { 0x72c, 0x44 }, { 0x730, 0x48 }, { 0x734, 0x4c }, { 0x738, 0x50 },
	{ 0x73c, 0x54 }, { 0x70c, 0x58 }, { 0x710, 0x5c }, { 0x714, 0x60 }, { 0x718, 0x64 },
	{ 0x71c, 0x68 }, { 0x720, 0x6c }, { 0x700, 0x74 }, { 0x704, 0x78 }, { 0x708, 0x7c },
};

TEST(test_methods_land_in_ramfc)
{
	struct card *c = card_create(1);
	unsigned int i, w;

	for (i = 0; i < sizeof(layout) / sizeof(layout[0]); i++) {
		memset(c->chan.ce_state, 0, sizeof(c->chan.ce_state));
		assert_int_equal(card_method(c, 1, layout[i].mthd, 0x1), ENG_DONE);
		for (w = 0; w < 32; w++)
			assert_int_equal(c->chan.ce_state[w], w == layout[i].offset / 4);
	}
	memset(c->chan.ce_state, 0, sizeof(c->chan.ce_state));
	assert_int_equal(card_method(c, 1, 0x300, 0), ENG_DONE);
	assert_int_equal(card_method(c, 1, 0x300, 0x80), ENG_DONE);
	assert_int_equal(c->chan.ce_state[0x70 / 4], 0x80);
	card_destroy(c);
}

TEST(test_address_words_are_40_bits)
{
	static const uint32_t upper[] = { 0x240, 0x254, 0x400, 0x408 };
	struct card *c = card_create(1);
	unsigned int i;

	for (i = 0; i < 4; i++)
		card_method(c, 0, upper[i], 0xffffffff);
	assert_int_equal(c->chan.ce_state[CE_SEMAPHORE_A], 0xff);
	assert_int_equal(c->chan.ce_state[CE_RENDER_A], 0xff);
	assert_int_equal(c->chan.ce_state[CE_IN_UPPER], 0xff);
	assert_int_equal(c->chan.ce_state[CE_OUT_UPPER], 0xff);
	card_destroy(c);
}

TEST(test_every_other_method_is_refused)
{
	static const uint32_t accepted[] = { 0x100, 0x140, 0x1114, 0x25c, 0x300 };
	struct card *c = card_create(1);
	uint32_t mthd, state_before[32];
	unsigned int i, known;

	for (mthd = 0; mthd < 0x4000; mthd++) {
		for (known = 0, i = 0; i < sizeof(layout) / sizeof(layout[0]); i++)
			known |= layout[i].mthd == mthd;
		for (i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++)
			known |= accepted[i] == mthd;
		memcpy(state_before, c->chan.ce_state, sizeof(state_before));
		assert_int_equal(card_method(c, 0, mthd, 0), known ? ENG_DONE : ENG_ILLEGAL_MTHD);
		if (!known)
			assert_memory_equal(state_before, c->chan.ce_state, sizeof(state_before));
	}
	assert_int_equal(card_method(c, 0, 0xfffffffc, 0), ENG_ILLEGAL_MTHD);
	assert_true(ce_engine.has_class(0xa0b5));
	assert_false(ce_engine.has_class(0xa0b4));
	card_destroy(c);
}

/* ------------------------------------------------------------------ registers */

static const struct mmio_range *range(unsigned int inst)
{
	return &ce_unit.ranges[inst];
}

static uint32_t rd(struct card *c, uint32_t reg)
{
	const struct mmio_range *r = range((reg - 0x104000) / 0x1000);
	uint32_t v;

	assert_true(reg >= r->base && reg - r->base < r->size);
	pthread_mutex_lock(&c->g.lock);
	v = r->read(&c->g, reg);
	pthread_mutex_unlock(&c->g.lock);
	return v;
}

static void wr(struct card *c, uint32_t reg, uint32_t val, uint32_t be)
{
	pthread_mutex_lock(&c->g.lock);
	range((reg - 0x104000) / 0x1000)->write(&c->g, reg, val & be, be);
	pthread_mutex_unlock(&c->g.lock);
}

TEST(test_blocking_interrupt)
{
	unsigned int inst;

	for (inst = 0; inst < 3; inst++) {
		struct card *c = card_create(1);
		uint32_t base = 0x104000 + 0x1000 * inst;

		assert_int_equal(rd(c, base + 0x904), 7);
		assert_int_equal(card_method(c, inst, 0x300, 1 << 5), ENG_STALL);
		assert_int_equal(rd(c, base + 0x908), 1);
		assert_int_equal(c->pmc_level, 1u << (5 + inst));
		assert_true(ce_engine.stalled(&c->g, inst));
		assert_false(ce_engine.stalled(&c->g, (inst + 1) % 3));
		wr(c, base + 0x908, 0xff00, 0xff00); /* another byte of the register */
		wr(c, base + 0x908, 2, ~0u); /* another bit */
		assert_int_equal(rd(c, base + 0x908), 1);
		assert_int_equal(c->resumes, 0);
		wr(c, base + 0x908, 1, 0xff);
		assert_int_equal(rd(c, base + 0x908), 0);
		assert_int_equal(c->pmc_level, 0);
		assert_int_equal(c->resumes, 1);
		assert_false(ce_engine.stalled(&c->g, inst));
		card_destroy(c);
	}
}

TEST(test_non_blocking_interrupt)
{
	struct card *c = card_create(1);

	assert_int_equal(card_method(c, 2, 0x300, 2 << 5), ENG_DONE);
	assert_int_equal(c->nonstall, 1);
	assert_int_equal(rd(c, 0x106908), 2);
	assert_int_equal(c->pmc_level, 0);
	assert_false(ce_engine.stalled(&c->g, 2));
	wr(c, 0x106908, 2, ~0u);
	assert_int_equal(rd(c, 0x106908), 0);
	assert_int_equal(c->resumes, 0);
	card_destroy(c);
}

TEST(test_interrupt_mask)
{
	struct card *c = card_create(1);

	wr(c, 0x104904, 0xfffffff8, ~0u);
	assert_int_equal(rd(c, 0x104904), 0);
	assert_int_equal(card_method(c, 0, 0x300, 1 << 5), ENG_STALL);
	assert_int_equal(c->pmc_level, 0);
	wr(c, 0x104904, 1, 0xff);
	assert_int_equal(c->pmc_level, 1 << 5);
	wr(c, 0x104904, 4, 0xff);
	assert_int_equal(c->pmc_level, 0);
	card_destroy(c);
}

/* As nouveau's handler does. */
TEST(test_launch_error_handled)
{
	struct card *c = card_create(1);

	assert_int_equal(card_method(c, 1, 0x300, 3), ENG_STALL);
	assert_int_equal(rd(c, 0x105f14), 9);
	assert_int_equal(rd(c, 0x105908), 4);
	assert_int_equal(c->pmc_level, 1 << 6);
	wr(c, 0x105f14, 0, ~0u);
	assert_int_equal(rd(c, 0x105f14), 0);
	wr(c, 0x105908, 4, ~0u);
	assert_int_equal(c->pmc_level, 0);
	assert_int_equal(c->resumes, 1);
	assert_int_equal(card_method(c, 1, 0x300, 0), ENG_DONE);
	card_destroy(c);
}

TEST(test_engine_reset)
{
	struct card *c = card_create(1);

	card_method(c, 0, 0x300, 3);
	wr(c, 0x104904, 0, ~0u);
	pthread_mutex_lock(&c->g.lock);
	ce_engine.reset(&c->g, 0);
	pthread_mutex_unlock(&c->g.lock);
	assert_int_equal(rd(c, 0x104908) | rd(c, 0x104f14), 0);
	assert_int_equal(rd(c, 0x104904), 7);
	assert_int_equal(c->pmc_level, 0);
	assert_int_equal(c->resumes, 1);
	card_destroy(c);
}

TEST(test_other_registers_keep_values)
{
	struct card *c = card_create(1);

	wr(c, 0x104f00, 0x12345678, ~0u);
	wr(c, 0x104f00, 0xff0000, 0xff0000);
	assert_int_equal(rd(c, 0x104f00), 0x12ff5678);
	card_destroy(c);
}

TEST_MAIN(NULL, NULL)
