// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pushbuffer words, compared with a second decoder that was written from the bit positions in the
 * class header; GPFIFO entries; the CRC.
 */
#include <selftests/unit_test.h>

#include <gk110/push.h>
#include <gk110/ram.h>

#include "fifo/decode.h"
#include "fifo/naive_decode.h"

#define FRESH ((struct pb_state){ .header = 0x20400000, .subdevice = 0x30000fff, .formats = 0x100 })

static void check_step(struct pb_state *s, struct naive *n, uint32_t word)
{
	struct pb_action a;
	struct naive_out o;

	pb_step(s, word, &a);
	naive_step(n, word, &o);
	if (a.kind != (enum pb_kind)o.kind || s->count != n->left ||
	    (a.kind == PB_SEND &&
	     (a.subc != o.subc || a.mthd != o.mthd || a.data != o.data || a.last != o.last)))
		fail_msg(
			"word %08x: kind %d/%d subc %u/%u mthd %x/%x data %x/%x last %d/%d left %u/%u",
			word, a.kind, o.kind, a.subc, o.subc, a.mthd, o.mthd, a.data, o.data,
			a.last, o.last, s->count, n->left);
}

/* Every upper half of a header with some lower halves, each followed by four words. */
TEST(test_all_headers)
{
	static const uint32_t low[] = { 0x0000, 0x0004, 0x2100, 0x4f00, 0x1ffc,
					0xffff, 0x6c43, 0x0fff, 0xe040 };
	uint32_t hi;
	unsigned int i, d;

	for (hi = 0; hi < 0x10000; hi++)
		for (i = 0; i < sizeof(low) / sizeof(low[0]); i++) {
			struct pb_state s = FRESH;
			struct naive n = naive_fresh(0x30000fff, 1);

			check_step(&s, &n, hi << 16 | low[i]);
			for (d = 0; d < 4; d++)
				check_step(&s, &n, 0x80000000 + d);
		}
}

TEST(test_every_method_and_subchannel)
{
	uint32_t w;

	for (w = 0; w < 0x10000; w++) {
		struct pb_state s = FRESH;
		struct naive n = naive_fresh(0x30000fff, 1);

		check_step(&s, &n, 0x20020000 | w);
		check_step(&s, &n, 1);
		check_step(&s, &n, 2);
		check_step(&s, &n, 0x8fff0000 | w);
	}
}

TEST(test_long_runs)
{
	static const uint32_t headers[] = { 0x3fff0000, 0x7fff2040, 0xbfff4f00, 0x1ffc0100,
					    0x5ffc6100 };
	unsigned int i, d;

	for (i = 0; i < 5; i++) {
		struct pb_state s = FRESH;
		struct naive n = naive_fresh(0x30000fff, 1);

		check_step(&s, &n, headers[i]);
		for (d = 0; d < 8192; d++)
			check_step(&s, &n, d * 2654435761u);
	}
}

TEST(test_random_streams)
{
	unsigned int seed, i;

	for (seed = 0; seed < 200; seed++) {
		uint32_t sub = seed % 3 ? 0x30000fff : seed % 2 ? 0x20050003 : 0x0;
		struct pb_state s = { .header = 0x20400000,
				      .subdevice = sub,
				      .formats = seed % 5 ? 0x100 : 0 };
		struct naive n = naive_fresh(sub, seed % 5 ? 1 : 0);

		srandom(seed);
		for (i = 0; i < 3000; i++) {
			uint32_t w = (uint32_t)random() ^ (uint32_t)random() << 16;

			/*
			 * counts of 3 at most in two words of three, 255 in the third: with longer
			 * counts nearly all words would be data
			 */
			check_step(&s, &n, i % 3 ? w & ~0x1ffc0000u : w & ~0x1f000000u);
		}
	}
}

TEST(test_subdevice_mask)
{
	struct pb_state s = { .header = 0x20400000, .subdevice = 0x30000001, .formats = 0x100 };
	struct pb_action a;

	pb_step(&s, 0x00010020, &a); /* set the mask to 2: not for this subdevice */
	assert_int_equal(a.kind, PB_NOTHING);
	pb_step(&s, 0x80010040, &a);
	assert_int_equal(a.kind, PB_NOTHING);
	pb_step(&s, 0x00020010, &a); /* store mask 1 */
	pb_step(&s, 0x00030000, &a); /* use the stored mask */
	pb_step(&s, 0x80010040, &a);
	assert_int_equal(a.kind, PB_SEND);
	assert_int_equal(a.mthd, 0x100);
	assert_int_equal(a.data, 1);
	assert_int_equal(s.subdevice >> 16 & 0xfff, 1);
}

TEST(test_state_survives_in_ramfc)
{
	struct pb_state s = FRESH, copy;
	struct pb_action a, b;

	/* a method that increments once: subchannel 2, method 0x100 */
	pb_step(&s, 0xa0034040, &a);
	pb_step(&s, 7, &a);
	assert_int_equal(a.mthd, 0x100);
	copy = s;
	pb_step(&s, 8, &a);
	pb_step(&copy, 8, &b);
	assert_memory_equal(&s, &copy, sizeof(s));
	assert_int_equal(a.mthd, 0x104);
	pb_step(&s, 9, &a);
	assert_int_equal(a.mthd, 0x104);
	assert_true(a.last);
	assert_int_equal(s.header >> 29, 5);
	assert_int_equal(s.header >> 16 & 7, 2);
}

TEST(test_gp_entries)
{
	struct gp_entry e;

	/* recorded from stock nouveau: 22 words at 0x24000 */
	gp_decode(0x00024000, 0x00005800, &e);
	assert_false(e.control);
	assert_true(e.va == 0x24000 && e.words == 22);
	assert_false(e.priv || e.subroutine || e.sync || e.conditional);
	gp_decode(0xfffffffd, 0xffffffff, &e);
	assert_true(e.va == 0xfffffffffcull && e.words == 0x1fffff);
	assert_true(e.priv && e.subroutine && e.sync && e.conditional);
	gp_decode(0x12345678, 0x80000303, &e);
	assert_true(e.control);
	assert_int_equal(e.opcode, GP_OPCODE_PB_CRC);
	assert_int_equal(e.operand, 0x12345678);
	assert_false(e.sync);
}

TEST(test_crc)
{
	/* CRC-32/MPEG-2 with start value 0 over "12345678", computed bit by bit */
	const uint32_t words[2] = { 0x34333231, 0x38373635 };
	uint32_t crc = 0;
	unsigned int i, b;

	for (i = 0; i < 8; i++)
		for (b = 8; b--;) {
			uint32_t bit = ("12345678"[i] >> b & 1) ^ crc >> 31;

			crc = crc << 1 ^ (bit ? 0x04c11db7 : 0);
		}
	assert_int_equal(fifo_crc(0, words, 2), crc);
	assert_int_equal(fifo_crc(fifo_crc(0, words, 1), words + 1, 1), crc);
}

TEST_MAIN(NULL, NULL)
