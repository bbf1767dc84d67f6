// SPDX-License-Identifier: GPL-2.0-only
/* Releases of semaphores with reductions, and conditional rendering. */
#include <linux/bitfield.h>
#include <selftests/unit_test.h>

#include "card.h"

#define ONE_WORD  FIELD_PREP(A0B5_LAUNCH_SEMAPHORE, A0B5_SEMAPHORE_ONE_WORD)
#define FOUR_WORD FIELD_PREP(A0B5_LAUNCH_SEMAPHORE, A0B5_SEMAPHORE_FOUR_WORD)
#define SEMAPHORE 0x5ff0u /* the last 16 bytes of a page */

static uint32_t word(struct card *c, uint64_t va)
{
	uint32_t v;

	memcpy(&v, card_byte(c, va), 4);
	return v;
}

static void set_word(struct card *c, uint64_t va, uint32_t v)
{
	memcpy(card_byte(c, va), &v, 4);
}

static enum eng_ret release(struct card *c, uint32_t payload, uint32_t launch)
{
	const uint32_t words[3] = { 0, SEMAPHORE, payload };

	card_methods(c, 0, A0B5_SET_SEMAPHORE_A, 3, words);
	return card_method(c, 0, A0B5_LAUNCH_DMA, launch);
}

TEST(test_one_word)
{
	struct card *c = card_create(1);
	uint32_t next = word(c, SEMAPHORE + 4);

	assert_int_equal(release(c, 0xcafe0001, ONE_WORD), ENG_DONE);
	assert_int_equal(word(c, SEMAPHORE), 0xcafe0001);
	assert_int_equal(word(c, SEMAPHORE + 4), next);
	assert_int_equal(c->kicks, 1);
	assert_int_equal(atomic_load(&c->g.stats.semaphores), 1);
	/* this launch asks for no release */
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, 0), ENG_DONE);
	assert_int_equal(c->kicks, 1);
	card_destroy(c);
}

TEST(test_four_words)
{
	struct card *c = card_create(1);

	assert_int_equal(release(c, 0x600d, FOUR_WORD), ENG_DONE);
	assert_int_equal(word(c, SEMAPHORE), 0x600d);
	assert_int_equal(word(c, SEMAPHORE + 4), 0);
	assert_int_equal(word(c, SEMAPHORE + 8), 0x9abcdee0);
	assert_int_equal(word(c, SEMAPHORE + 12), 0x12345678);
	card_destroy(c);
}

TEST(test_release_faults)
{
	struct card *c = card_create(1);

	c->absent[SEMAPHORE / GK110_PAGE] = true;
	assert_int_equal(release(c, 1, ONE_WORD), ENG_FAULT);
	assert_int_equal(c->fault.va, SEMAPHORE);
	assert_int_equal(c->fault.acc, ACC_WRITE);
	assert_int_equal(c->kicks, 0);
	c->fault.count = 0;
	assert_int_equal(release(c, 1, ONE_WORD | A0B5_LAUNCH_REDUCTION_ENABLE), ENG_FAULT);
	assert_int_equal(c->fault.acc, ACC_ATOMIC);
	card_destroy(c);
}

/* floats in IEEE 754 single precision */
#define F_1_5	  0x3fc00000u
#define F_2_25	  0x40100000u
#define F_3	  0x40400000u
#define F_3_75	  0x40700000u
#define F_MINUS_2 0xc0000000u
#define F_MINUS_3 0xc0400000u
#define F_NAN	  0x7fc00000u

static const struct {
	const char *name;
	unsigned int op;
	bool is_unsigned;
	uint32_t old, arg, want;
} reductions[] = {
	{ "imin signed", A0B5_REDUCTION_IMIN, false, 5, 0xffffffff, 0xffffffff },
	{ "imin unsigned", A0B5_REDUCTION_IMIN, true, 5, 0xffffffff, 5 },
	{ "imin equal", A0B5_REDUCTION_IMIN, false, 5, 5, 5 },
	{ "imax signed", A0B5_REDUCTION_IMAX, false, 5, 0x80000000, 5 },
	{ "imax unsigned", A0B5_REDUCTION_IMAX, true, 5, 0x80000000, 0x80000000 },
	{ "ixor", A0B5_REDUCTION_IXOR, false, 0xff00ff00, 0x0ff00ff0, 0xf0f0f0f0 },
	{ "iand", A0B5_REDUCTION_IAND, false, 0xff00ff00, 0x0ff00ff0, 0x0f000f00 },
	{ "ior", A0B5_REDUCTION_IOR, false, 0xff00ff00, 0x0ff00ff0, 0xfff0fff0 },
	{ "iadd wraps", A0B5_REDUCTION_IADD, false, 0xffffffff, 3, 2 },
	{ "inc", A0B5_REDUCTION_INC, true, 4, 9, 5 },
	{ "inc wraps", A0B5_REDUCTION_INC, true, 9, 9, 0 },
	{ "inc beyond", A0B5_REDUCTION_INC, true, 0xffffffff, 9, 0 },
	{ "dec", A0B5_REDUCTION_DEC, true, 4, 9, 3 },
	{ "dec wraps", A0B5_REDUCTION_DEC, true, 0, 9, 9 },
	{ "dec beyond", A0B5_REDUCTION_DEC, true, 10, 9, 9 },
	{ "imul", A0B5_REDUCTION_IMUL, false, 0x10001, 0x10001, 0x20001 },
	{ "fadd", A0B5_REDUCTION_FADD, false, F_1_5, F_2_25, F_3_75 },
	{ "fmul", A0B5_REDUCTION_FMUL, false, F_1_5, F_MINUS_2, F_MINUS_3 },
	{ "fmin", A0B5_REDUCTION_FMIN, false, F_1_5, F_MINUS_2, F_MINUS_2 },
	{ "fmin nan", A0B5_REDUCTION_FMIN, false, F_NAN, F_MINUS_2, F_MINUS_2 },
	{ "fmin of nan", A0B5_REDUCTION_FMIN, false, F_3, F_NAN, F_3 },
	{ "fmax", A0B5_REDUCTION_FMAX, false, F_1_5, F_MINUS_2, F_1_5 },
	{ "fmax nan", A0B5_REDUCTION_FMAX, false, F_NAN, F_MINUS_2, F_MINUS_2 },
};

TEST(test_reductions)
{
	struct card *c = card_create(1);
	unsigned int i, four;

	for (i = 0; i < sizeof(reductions) / sizeof(reductions[0]); i++) {
		for (four = 0; four < 2; four++) {
			set_word(c, SEMAPHORE, reductions[i].old);
			assert_int_equal(release(c, reductions[i].arg,
						 (four ? FOUR_WORD : ONE_WORD) |
							 A0B5_LAUNCH_REDUCTION_ENABLE |
							 FIELD_PREP(A0B5_LAUNCH_REDUCTION,
								    reductions[i].op) |
							 (reductions[i].is_unsigned ?
								  A0B5_LAUNCH_REDUCTION_UNSIGNED :
								  0)),
					 ENG_DONE);
			if (word(c, SEMAPHORE) != reductions[i].want)
				fail_msg("%s: %#x", reductions[i].name, word(c, SEMAPHORE));
			if (four)
				assert_int_equal(word(c, SEMAPHORE + 12), 0x12345678);
		}
	}
	card_destroy(c);
}

/* Without the enable bit the code of the reduction means nothing. */
TEST(test_reduction_not_enabled)
{
	struct card *c = card_create(1);

	assert_int_equal(release(c, 77, ONE_WORD | FIELD_PREP(A0B5_LAUNCH_REDUCTION, 0xf)),
			 ENG_DONE);
	assert_int_equal(word(c, SEMAPHORE), 77);
	card_destroy(c);
}

/* ------------------------------------------------------------------ conditional rendering */

#define REPORT 0x9000u
#define COPY   0x386u

static bool copies(struct card *c)
{
	const uint32_t words[8] = { 0, 0x1000, 0, 0x20000, 64, 64, 64, 1 };

	*card_byte(c, 0x20000) = (uint8_t) ~*card_byte(c, 0x1000);
	card_methods(c, 0, A0B5_OFFSET_IN_UPPER, 8, words);
	assert_int_equal(card_method(c, 0, A0B5_SET_SEMAPHORE_B, SEMAPHORE), ENG_DONE);
	set_word(c, SEMAPHORE, 1);
	card_method(c, 0, A0B5_SET_SEMAPHORE_PAYLOAD, 2);
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, COPY | ONE_WORD), ENG_DONE);
	/* released whether or not the copy was done */
	assert_int_equal(word(c, SEMAPHORE), 2);
	return *card_byte(c, 0x20000) == *card_byte(c, 0x1000);
}

static void set_condition(struct card *c, uint32_t mode)
{
	const uint32_t words[3] = { 0, REPORT, mode };

	card_methods(c, 0, A0B5_SET_RENDER_ENABLE_A, 3, words);
}

TEST(test_render_modes)
{
	struct card *c = card_create(1);

	assert_true(copies(c)); /* no condition was ever set: RAMFC is all zeros */
	set_condition(c, A0B5_RENDER_FALSE);
	assert_false(copies(c));
	set_condition(c, A0B5_RENDER_TRUE);
	assert_true(copies(c));
	set_condition(c, A0B5_RENDER_CONDITIONAL);
	set_word(c, REPORT, 0xffffffff);
	set_word(c, REPORT + 4, 0);
	assert_false(copies(c));
	set_word(c, REPORT + 4, 1);
	assert_true(copies(c));
	set_word(c, REPORT + 16, 0xffffffff);
	set_word(c, REPORT + 20, 1);
	set_word(c, REPORT + 24, 99); /* the time stamps differ, which must not matter */
	set_condition(c, A0B5_RENDER_IF_EQUAL);
	assert_true(copies(c));
	set_condition(c, A0B5_RENDER_IF_NOT_EQUAL);
	assert_false(copies(c));
	set_word(c, REPORT + 20, 2);
	assert_true(copies(c));
	set_condition(c, A0B5_RENDER_IF_EQUAL);
	assert_false(copies(c));
	card_destroy(c);
}

TEST(test_render_errors)
{
	struct card *c = card_create(1);
	unsigned int mode;

	for (mode = 5; mode < 8; mode++)
		assert_int_equal(card_method(c, 0, A0B5_SET_RENDER_ENABLE_C, mode),
				 ENG_RE_ILLEGAL_OP);
	card_method(c, 0, A0B5_SET_RENDER_ENABLE_B, REPORT + 8);
	for (mode = 0; mode < 5; mode++)
		assert_int_equal(card_method(c, 0, A0B5_SET_RENDER_ENABLE_C, mode),
				 mode < 2 ? ENG_DONE : ENG_RE_ALIGN);
	/* the address may change after the mode was checked: its low bits are dropped then */
	set_condition(c, A0B5_RENDER_CONDITIONAL);
	set_word(c, REPORT + 4, 1);
	set_word(c, REPORT + 12, 0);
	assert_int_equal(card_method(c, 0, A0B5_SET_RENDER_ENABLE_B, REPORT + 8), ENG_DONE);
	assert_true(copies(c));
	set_condition(c, A0B5_RENDER_CONDITIONAL);
	c->absent[REPORT / GK110_PAGE] = true;
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, COPY), ENG_FAULT);
	assert_int_equal(c->fault.va & ~0xfull, REPORT);
	assert_int_equal(c->fault.acc, ACC_READ);
	card_destroy(c);
}

TEST_MAIN(NULL, NULL)
