// SPDX-License-Identifier: GPL-2.0-only
/*
 * Launches of class A0B5 against an oracle that goes byte by byte. Then launches that must fail,
 * each with its code, and faults in the middle of a launch.
 */
#include <linux/bitfield.h>
#include <selftests/unit_test.h>
#include <stdio.h>

#include "card.h"
#include "ce/ce.h"
#include "oracle.h"

#define HALF	  (CARD_BYTES / 2)
#define CASES	  150 /* for each pair of layouts and each kind of remap */
#define PIPELINED FIELD_PREP(A0B5_LAUNCH_TRANSFER, A0B5_TRANSFER_PIPELINED)
#define PITCH	  (A0B5_LAUNCH_SRC_PITCH | A0B5_LAUNCH_DST_PITCH)

enum remap_kind { PLAIN, IDENTITY, SWIZZLE, FILL, KEEP, NR_KINDS };

/* ------------------------------------------------------------------ random launches */

static bool place_pitch(struct card *c, struct oracle_surface *s, uint64_t base, uint64_t width,
			uint64_t lines)
{
	uint64_t step = width + (card_below(c, 3) ? card_below(c, 300) : 0), span;

	if (lines == 1 || !lines)
		s->pitch = (int32_t)card_rand(c);
	else if (step > INT32_MAX)
		return false;
	else
		s->pitch = card_below(c, 4) ? (int32_t)step : -(int32_t)step;
	span = lines > 1 ? step * (lines - 1) + width : width;
	if (span > HALF)
		return false;
	s->address = base + card_below(c, (uint32_t)(HALF - span + 1));
	if (lines > 1 && s->pitch < 0)
		s->address += step * (lines - 1);
	return true;
}

static bool place_blocks(struct card *c, struct oracle_surface *s, uint64_t base, unsigned int elem,
			 uint64_t elements, uint64_t lines)
{
	uint64_t block_h, block_d, size;

	s->gob_height = card_below(c, 5) ? 8 : 4;
	s->block_height = card_below(c, 6);
	s->block_depth = card_below(c, 3) ? 0 : card_below(c, 6);
	s->x = card_below(c, 3) ? card_below(c, 200) : 0;
	s->y = card_below(c, 3) ? card_below(c, 40) : 0;
	s->width = s->x + elements + card_below(c, 100);
	s->height = s->y + lines + card_below(c, 20);
	s->depth = 1 + card_below(c, card_below(c, 2) ? 1 : 9);
	s->layer = card_below(c, (uint32_t)s->depth);
	block_h = (uint64_t)s->gob_height << s->block_height;
	block_d = 1ull << s->block_depth;
	size = (s->width * elem + 63) / 64 * 64 * ((s->height + block_h - 1) / block_h * block_h) *
	       ((s->depth + block_d - 1) / block_d * block_d);
	if (size > HALF)
		return false;
	s->address = base + card_below(c, (uint32_t)(HALF - size + 1));
	if (card_below(c, 8))
		s->address &= ~511ull;
	return s->address >= base;
}

static void make_remap(struct card *c, struct oracle_launch *l, enum remap_kind kind)
{
	unsigned int i;

	l->remap = kind != PLAIN;
	l->component = kind == PLAIN ? 1 : 1 + card_below(c, 4);
	l->nr_src = kind == PLAIN ? 1 : 1 + card_below(c, 4);
	l->nr_dst = kind == PLAIN ? 1 : kind == IDENTITY ? l->nr_src : 1 + card_below(c, 4);
	l->constant[0] = card_rand(c);
	l->constant[1] = card_below(c, 3) ? card_rand(c) : l->constant[0];
	for (i = 0; i < 4; i++) {
		if (kind == FILL)
			l->sel[i] = 4 + card_below(c, 2);
		else if (kind == SWIZZLE || kind == KEEP)
			l->sel[i] = card_below(c, 3) ? card_below(c, l->nr_src) :
						       4 + card_below(c, kind == KEEP ? 3 : 2);
		else
			l->sel[i] = i; /* also for unused components */
	}
	if (kind == KEEP)
		l->sel[card_below(c, l->nr_dst)] = 6;
}

static void make_launch(struct card *c, struct oracle_launch *l, bool src_pitch, bool dst_pitch,
			enum remap_kind kind)
{
	for (;;) {
		uint32_t most = card_below(c, 10) ? 300 : 20000;

		memset(l, 0, sizeof(*l));
		make_remap(c, l, kind);
		l->elements = card_below(c, 30) ? 1 + card_below(c, most) : 0;
		l->lines = card_below(c, 30) ? 1 + card_below(c, card_below(c, 3) ? 8 : 60) : 0;
		l->src.pitch_layout = src_pitch;
		l->dst.pitch_layout = dst_pitch;
		if (!(src_pitch ? place_pitch(c, &l->src, 0, l->elements * l->component * l->nr_src,
					      l->lines) :
				  place_blocks(c, &l->src, 0, l->component * l->nr_src, l->elements,
					       l->lines)))
			continue;
		if (dst_pitch ? place_pitch(c, &l->dst, HALF,
					    l->elements * l->component * l->nr_dst, l->lines) :
				place_blocks(c, &l->dst, HALF, l->component * l->nr_dst,
					     l->elements, l->lines))
			return;
	}
}

static void write_blocks(struct card *c, uint32_t mthd, const struct oracle_surface *s)
{
	uint32_t words[6] = { (uint32_t)(FIELD_PREP(A0B5_BLOCK_HEIGHT, s->block_height) |
					 FIELD_PREP(A0B5_BLOCK_DEPTH, s->block_depth) |
					 FIELD_PREP(A0B5_BLOCK_GOB_HEIGHT,
						    s->gob_height == 8 ? A0B5_GOB_HEIGHT_FERMI_8 :
									 A0B5_GOB_HEIGHT_TESLA_4)),
			      (uint32_t)s->width,
			      (uint32_t)s->height,
			      (uint32_t)s->depth,
			      (uint32_t)s->layer,
			      (uint32_t)(FIELD_PREP(A0B5_ORIGIN_X, s->x) |
					 FIELD_PREP(A0B5_ORIGIN_Y, s->y)) };

	if (!s->pitch_layout)
		card_methods(c, 0, mthd, 6, words);
}

/* Writes all state of a launch. Returns the word for LAUNCH_DMA. */
static uint32_t write_launch(struct card *c, const struct oracle_launch *l)
{
	uint32_t copy[8] = { (uint32_t)(l->src.address >> 32),
			     (uint32_t)l->src.address,
			     (uint32_t)(l->dst.address >> 32),
			     (uint32_t)l->dst.address,
			     (uint32_t)l->src.pitch,
			     (uint32_t)l->dst.pitch,
			     (uint32_t)l->elements,
			     (uint32_t)l->lines };
	uint32_t remap[3] = { l->constant[0], l->constant[1],
			      (uint32_t)(l->sel[0] | l->sel[1] << 4 | l->sel[2] << 8 |
					 l->sel[3] << 12 |
					 FIELD_PREP(A0B5_REMAP_COMPONENT_SIZE, l->component - 1) |
					 FIELD_PREP(A0B5_REMAP_NUM_SRC, l->nr_src - 1) |
					 FIELD_PREP(A0B5_REMAP_NUM_DST, l->nr_dst - 1)) };
	uint32_t launch = PIPELINED | A0B5_LAUNCH_MULTI_LINE;

	card_methods(c, 0, A0B5_OFFSET_IN_UPPER, 8, copy);
	card_methods(c, 0, A0B5_SET_REMAP_CONST_A, 3, remap);
	write_blocks(c, A0B5_SET_SRC_BLOCK_SIZE, &l->src);
	write_blocks(c, A0B5_SET_DST_BLOCK_SIZE, &l->dst);
	launch |= l->src.pitch_layout ? A0B5_LAUNCH_SRC_PITCH : 0;
	launch |= l->dst.pitch_layout ? A0B5_LAUNCH_DST_PITCH : 0;
	launch |= l->remap ? A0B5_LAUNCH_REMAP : 0;
	if (l->lines == 1 && card_below(c, 2))
		launch &= ~A0B5_LAUNCH_MULTI_LINE;
	return launch;
}

/*
 * Runs a launch to its end through all its stops. At each stop the channel's state is saved,
 * overwritten and loaded again.
 */
static enum eng_ret run_launch(struct card *c, uint32_t launch)
{
	uint32_t saved[32];
	enum eng_ret ret;
	unsigned int turns = 0;

	while ((ret = card_method(c, 0, A0B5_LAUNCH_DMA, launch)) == ENG_AGAIN) {
		assert_true(atomic_load(&c->chan.stop));
		memcpy(saved, c->chan.ce_state, sizeof(saved));
		memset(c->chan.ce_state, 0xa5, sizeof(saved));
		memcpy(c->chan.ce_state, saved, sizeof(saved));
		atomic_store(&c->chan.stop, false);
		assert_true(++turns < 10000);
	}
	atomic_store(&c->chan.stop, false);
	return ret;
}

static uint64_t written(struct card *c)
{
	return atomic_load(&c->g.stats.dma_wr_bytes) + atomic_load(&c->g.stats.vram_wr_bytes);
}

static void one_case(struct card *c, bool src_pitch, bool dst_pitch, enum remap_kind kind,
		     unsigned int n)
{
	static uint8_t want[CARD_BYTES], got[CARD_BYTES];
	uint64_t launches = atomic_load(&c->g.stats.ce_launches), bytes;
	struct oracle_launch l;
	uint32_t launch, before[32];

	c->short_runs = n % 3 == 0;
	c->stop_after = n % 4 == 1 ? 1 + card_below(c, 3) : 0;
	/* 1: chunks of one page */
	c->g.ce->engine[0].pacer.per_s = n % 2;
	make_launch(c, &l, src_pitch, dst_pitch, kind);
	card_read(c, want);
	assert_true(oracle_run(&l, want, CARD_BYTES));
	launch = write_launch(c, &l);
	memcpy(before, c->chan.ce_state, sizeof(before));
	before[CE_LAUNCH] = launch;
	bytes = written(c);
	assert_int_equal(run_launch(c, launch), ENG_DONE);
	card_read(c, got);
	if (memcmp(want, got, CARD_BYTES)) {
		unsigned int i;

		for (i = 0; want[i] == got[i]; i++)
			;
		fail_msg("case %u: byte %#x is %02x, not %02x (%u x %u elements)", n, i, got[i],
			 want[i], (unsigned int)l.elements, (unsigned int)l.lines);
	}
	assert_memory_equal(before, c->chan.ce_state, sizeof(before));
	assert_int_equal(atomic_load(&c->g.stats.ce_launches), launches + 1);
	assert_int_equal(written(c) - bytes, l.elements * l.lines * l.component * l.nr_dst);
	assert_int_equal(c->fault.count, 0);
}

static void random_cases(bool src_pitch, bool dst_pitch)
{
	unsigned int kind, n;

	for (kind = 0; kind < NR_KINDS; kind++) {
		struct card *c = card_create(1 + kind * 4 + src_pitch * 2 + dst_pitch);

		for (n = 0; n < CASES; n++)
			one_case(c, src_pitch, dst_pitch, (enum remap_kind)kind, n);
		card_destroy(c);
	}
}

TEST(test_pitch_to_pitch)
{
	random_cases(true, true);
}

TEST(test_pitch_to_blocks)
{
	random_cases(true, false);
}

TEST(test_blocks_to_pitch)
{
	random_cases(false, true);
}

TEST(test_blocks_to_blocks)
{
	random_cases(false, false);
}

/* ------------------------------------------------------------------ launches written by hand */

struct copy {
	uint64_t src, dst;
	uint32_t src_pitch, dst_pitch, length, count;
};

static uint32_t set_copy(struct card *c, struct copy k)
{
	uint32_t words[8] = { (uint32_t)(k.src >> 32),
			      (uint32_t)k.src,
			      (uint32_t)(k.dst >> 32),
			      (uint32_t)k.dst,
			      k.src_pitch,
			      k.dst_pitch,
			      k.length,
			      k.count };

	card_methods(c, 0, A0B5_OFFSET_IN_UPPER, 8, words);
	return PIPELINED | PITCH | A0B5_LAUNCH_MULTI_LINE;
}

static void expect_copied(struct card *c, uint64_t src, uint64_t dst, unsigned int n,
			  const uint8_t *before)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		assert_int_equal(*card_byte(c, dst + i), before[src + i]);
}

/* Launches as nouveau's buffer moves, Mesa's buffer copies and NVK's fills make them. */
TEST(test_drivers_launches)
{
	static uint8_t before[CARD_BYTES];
	struct card *c = card_create(3);
	uint32_t remap[3] = { 0x11223344, 0, 0x00034444 };
	unsigned int i;

	card_read(c, before);
	set_copy(c, (struct copy){ 0x4000, HALF, 4096, 4096, 4096, 17 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, 0x386), ENG_DONE);
	expect_copied(c, 0x4000, HALF, 17 * 4096, before);

	/* a single line: the launch must ignore count and pitch */
	set_copy(c, (struct copy){ 0x1003, HALF + 0x21, 0, 0, 9999, 77 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, 0x186), ENG_DONE);
	expect_copied(c, 0x1003, HALF + 0x21, 9999, before);
	assert_int_equal(*card_byte(c, HALF + 0x21 + 9999), before[0x4000 + 0x21 + 9999]);

	/* a fill does not read the source, which is absent here */
	set_copy(c, (struct copy){ 0xdeadbeef00, HALF + 0x10, 0, 0, 1000, 1 });
	card_methods(c, 0, A0B5_SET_REMAP_CONST_A, 3, remap);
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, 0x586), ENG_DONE);
	for (i = 0; i < 4000; i++)
		assert_int_equal(*card_byte(c, HALF + 0x10 + i),
				 (uint8_t)(0x11223344 >> (i % 4 * 8)));
	assert_int_equal(c->fault.count, 0);
	card_destroy(c);
}

TEST(test_overlap_is_a_forward_copy)
{
	static uint8_t image[CARD_BYTES];
	static const int distances[] = { 1,    2,    3,	   7,  16, 63,	64,   65,
					 1000, 4096, 5000, -1, -3, -64, -4097 };
	unsigned int i, d;
	uint32_t launch;

	for (d = 0; d < sizeof(distances) / sizeof(distances[0]); d++) {
		struct card *c = card_create(50 + d);
		uint64_t src = 0x8123, dst = src + (uint64_t)(int64_t)distances[d];

		c->g.ce->engine[0].pacer.per_s = d & 1;
		c->stop_after = d % 3 ? 2 : 0;
		card_read(c, image);
		for (i = 0; i < 30000; i++)
			image[dst + i] = image[src + i];
		launch = set_copy(c, (struct copy){ src, dst, 1000, 1000, 1000, 30 });
		assert_int_equal(run_launch(c, launch), ENG_DONE);
		for (i = 0; i < CARD_BYTES; i++)
			if (*card_byte(c, i) != image[i])
				fail_msg("distance %d: byte %#x", distances[d], i);
		card_destroy(c);
	}
}

TEST(test_addresses_wrap_at_40_bits)
{
	static uint8_t before[CARD_BYTES];
	struct card *c = card_create(9);
	uint32_t launch;

	card_read(c, before);
	/*
	 * The second line begins 0x1000 below the first one, which begins at 0: at 2^40 - 0x1000,
	 * where no page is.
	 */
	launch = set_copy(c, (struct copy){ 0, HALF, (uint32_t)-0x1000, 0x1000, 0x800, 2 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_FAULT);
	expect_copied(c, 0, HALF, 0x800, before);
	assert_int_equal(c->fault.va, 0xfffffff000);
	/* upwards: the first line is the last page, which is there now; the second one is at 0 */
	c->last_shows = 5;
	launch = set_copy(c, (struct copy){ 0xfffffff000, HALF, 0x1000, 0x1000, 0x800, 2 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_DONE);
	expect_copied(c, 5 * GK110_PAGE, HALF, 0x800, before);
	expect_copied(c, 0, HALF + 0x1000, 0x800, before);
	/* a line that begins in the last page and ends behind 0, as the source and as the target */
	launch = set_copy(c, (struct copy){ 0xfffffff800, HALF + 0x4000, 0, 0, 0x1000, 1 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_DONE);
	expect_copied(c, 5 * GK110_PAGE + 0x800, HALF + 0x4000, 0x800, before);
	expect_copied(c, 0, HALF + 0x4800, 0x800, before);
	launch = set_copy(c, (struct copy){ 0x8000, 0xfffffff800, 0, 0, 0x1000, 1 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_DONE);
	expect_copied(c, 0x8000, 5 * GK110_PAGE + 0x800, 0x800, before);
	expect_copied(c, 0x8800, 0, 0x800, before);
	/* a negative pitch that leads down to address 0 */
	card_read(c, before);
	launch = set_copy(c, (struct copy){ 0x1000, HALF, (uint32_t)-0x1000, 0x1000, 0x1000, 2 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_DONE);
	expect_copied(c, 0, HALF + 0x1000, 0x1000, before);
	card_destroy(c);
}

/* Huge launches stop at once when asked to, and no number overflows. */
TEST(test_huge_launches_stop)
{
	static const struct copy huge[] = {
		{ 0, 0x1000, 0, 0, 0xffffffff, 0xffffffff },
		{ 0, 0x1000, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0xffffffff },
		{ 0, 0x1000, 0x80000000, 0x80000000, 0x80000000, 0xffffffff },
		{ 0xffffffffff, 0xffffffffff, 1, 1, 1, 0xffffffff },
		{ 0, 0x1000, 0x10, 0x10, 4, 0xffffffff },
	};
	struct card *c = card_create(4);
	unsigned int i, remap;
	enum eng_ret ret;

	c->stop_after = 1;
	for (i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
		for (remap = 0; remap < 2; remap++) {
			uint32_t launch = set_copy(c, huge[i]);

			card_method(c, 0, A0B5_SET_REMAP_COMPONENTS, 0x03333210);
			ret = card_method(c, 0, A0B5_LAUNCH_DMA,
					  launch | (remap ? A0B5_LAUNCH_REMAP : 0));
			assert_true(ret == ENG_FAULT || ret == ENG_STALL || ret == ENG_AGAIN);
			c->g.regs[(GK110_CE(0) + GK110_CE_INTR) / 4] = 0;
			atomic_store(&c->chan.stop, false);
		}
	}
	card_destroy(c);
}

/* RAMFC is guest memory. A forged place of a launch leads to no fault. */
TEST(test_forged_place)
{
	struct card *c = card_create(8);
	unsigned int i;
	uint32_t launch;

	for (i = 0; i < 20000; i++) {
		launch = set_copy(c, (struct copy){ 0, HALF, 100, 100, 100, 50 });
		c->chan.ce_state[CE_RENDER_C] = card_rand(c) & ~0x7u;
		c->chan.ce_state[CE_SRC_PHYS] = card_rand(c) & (i & 1 ? 0xff : ~0x3u);
		c->chan.ce_state[CE_DST_PHYS] = card_rand(c) & (i & 2 ? 0x1ff : ~0x3u);
		card_method(c, 0, A0B5_LAUNCH_DMA, launch);
		assert_int_equal(c->chan.ce_state[CE_SRC_PHYS] & ~3u, 0);
	}
	assert_int_equal(c->fault.count, 0);
	card_destroy(c);
}

/*
 * A channel whose launch was stopped sends another method: it does not continue that launch. Its
 * next launch starts at the beginning.
 */
TEST(test_stopped_launch_given_up)
{
	static uint8_t before[CARD_BYTES];
	struct card *c = card_create(12);
	uint32_t launch = set_copy(c, (struct copy){ 0, HALF, 0, 0, 0x8000, 1 });

	c->g.ce->engine[0].pacer.per_s = 1;
	c->stop_after = 2;
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_AGAIN);
	atomic_store(&c->chan.stop, false);
	c->stop_after = 0;
	card_method(c, 0, A0B5_OFFSET_IN_LOWER, 0x20000);
	card_read(c, before);
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_DONE);
	expect_copied(c, 0x20000, HALF, 0x8000, before);
	card_destroy(c);
}

/* ------------------------------------------------------------------ faults and errors */

TEST(test_fault_in_the_middle)
{
	static uint8_t before[CARD_BYTES];
	static const uint8_t unit[] = { 0x15, 0x16, 0x1b }, client[] = { 0x01, 0x02, 0x19 };
	unsigned int inst, write;

	for (inst = 0; inst < GK110_CE_NR; inst++) {
		for (write = 0; write < 2; write++) {
			struct card *c = card_create(20 + inst);
			uint64_t hole = write ? HALF + 0x5000 : 0x5000;
			uint32_t launch =
				set_copy(c, (struct copy){ 0x123, HALF + 0x123, 0, 0, 0x9000, 1 });

			c->absent[hole / GK110_PAGE] = true;
			card_read(c, before);
			launch |= FIELD_PREP(A0B5_LAUNCH_SEMAPHORE, A0B5_SEMAPHORE_ONE_WORD);
			assert_int_equal(card_method(c, inst, A0B5_LAUNCH_DMA, launch), ENG_FAULT);
			assert_int_equal(c->fault.count, 1);
			assert_int_equal(c->fault.unit, unit[inst]);
			assert_int_equal(c->fault.client, client[inst]);
			assert_int_equal(c->fault.va, hole);
			assert_int_equal(c->fault.why, MMU_PTE);
			assert_int_equal(c->fault.acc, write ? ACC_WRITE : ACC_READ);
			expect_copied(c, 0x123, HALF + 0x123, 0x5000 - 0x123, before);
			assert_int_equal(*card_byte(c, HALF + 0x5000), before[HALF + 0x5000]);
			assert_int_equal(c->kicks, 0);
			assert_memory_equal(card_byte(c, 0), before, 0x123);
			card_destroy(c);
		}
	}
}

TEST(test_rights)
{
	struct card *c = card_create(30);
	uint32_t launch = set_copy(c, (struct copy){ 0x1000, HALF, 0, 0, 64, 1 });

	c->read_only[HALF / GK110_PAGE] = true;
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_FAULT);
	assert_int_equal(c->fault.why, MMU_RO);
	c->read_only[HALF / GK110_PAGE] = false;
	c->fault.count = 0;
	c->privileged[1] = true;
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_FAULT);
	assert_int_equal(c->fault.why, MMU_PRIV);
	c->chan.pb_priv = true;
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch), ENG_DONE);
	card_destroy(c);
}

TEST(test_physical)
{
	struct card *c = card_create(31);
	uint32_t launch = set_copy(c, (struct copy){ 0x3210, 0x8765, 0, 0, 20000, 1 });
	const uint32_t phys = A0B5_LAUNCH_SRC_PHYSICAL | A0B5_LAUNCH_DST_PHYSICAL;
	uint8_t *was = malloc(20000);
	unsigned int i;

	memcpy(was, c->guest + 0x8765, 20000);
	card_method(c, 0, A0B5_SET_SRC_PHYS_MODE, A0B5_PHYS_LOCAL_FB);
	card_method(c, 0, A0B5_SET_DST_PHYS_MODE, A0B5_PHYS_COHERENT);
	/*
	 * without .hce_priv a launch with a physical source or target is refused, also one without
	 * a transfer
	 */
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch | phys), ENG_PRIV);
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch | A0B5_LAUNCH_SRC_PHYSICAL),
			 ENG_PRIV);
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, A0B5_LAUNCH_DST_PHYSICAL), ENG_PRIV);
	c->chan.pb_priv = true; /* the privilege of the pushbuffer is not enough */
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch | phys), ENG_PRIV);
	assert_memory_equal(was, c->guest + 0x8765, 20000);
	assert_int_equal(atomic_load(&c->g.stats.ce_launches), 0);

	c->chan.hce_priv = true;
	for (i = 0; i < CARD_PAGES; i++)
		/* physical addresses must not be looked up in the page table */
		c->absent[i] = true;
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch | phys), ENG_DONE);
	assert_memory_equal(c->vram + 0x3210, c->guest + 0x8765, 20000);
	assert_int_equal(c->fault.count, 0);
	assert_int_equal(atomic_load(&c->g.stats.vram_rd_bytes), 20000);
	assert_int_equal(atomic_load(&c->g.stats.dma_wr_bytes), 20000);

	launch = set_copy(c, (struct copy){ CARD_BYTES - 0x80, 0, 0, 0, 0x100, 1 });
	assert_int_equal(card_method(c, 0, A0B5_LAUNCH_DMA, launch | phys), ENG_FAULT);
	assert_int_equal(c->fault.va, CARD_BYTES);
	assert_int_equal(c->fault.acc, ACC_READ);
	free(was);
	card_destroy(c);
}

struct wrong {
	const char *name;
	uint32_t mthd[3], data[3]; /* changes to a copy that is right */
	uint32_t set, clear; /* bits of LAUNCH_DMA */
	enum gk110_ce_launcherr want;
};

#define BLOCK_OK   FIELD_PREP(A0B5_BLOCK_GOB_HEIGHT, A0B5_GOB_HEIGHT_FERMI_8)
#define SRC_BLOCKS .clear = A0B5_LAUNCH_SRC_PITCH
#define DST_BLOCKS .clear = A0B5_LAUNCH_DST_PITCH

static const struct wrong wrongs[] = {
	{ "unused bit", .set = 1u << 20, .want = CE_UNUSED_FIELD },
	{ "transfer type 3", .set = 3, .want = CE_INVALID_VALUE },
	{ "semaphore type 3", .set = 3 << 3, .want = CE_INVALID_VALUE },
	{ "interrupt type 3", .set = 3 << 5, .want = CE_INVALID_VALUE },
	{ "reduction 8", .set = 1 << 3 | 8 << 14 | 1 << 19, .want = CE_INVALID_VALUE },
	{ "reduction 15", .set = 1 << 3 | 15 << 14 | 1 << 19, .want = CE_INVALID_VALUE },
	{ "semaphore at odd address",
	  { A0B5_SET_SEMAPHORE_B },
	  { 2 },
	  .set = 1 << 3,
	  .want = CE_INVALID_ARGUMENT },
	{ "long semaphore at 8",
	  { A0B5_SET_SEMAPHORE_B },
	  { 8 },
	  .set = 2 << 3,
	  .want = CE_INVALID_ARGUMENT },
	{ "source pitch", { A0B5_PITCH_IN }, { 0xff }, .want = CE_SRC_LINE_EXCEEDS_PITCH },
	{ "negative source pitch",
	  { A0B5_PITCH_IN },
	  { (uint32_t)-0xff },
	  .want = CE_SRC_LINE_EXCEEDS_NEG_PITCH },
	{ "destination pitch", { A0B5_PITCH_OUT }, { 0 }, .want = CE_DST_LINE_EXCEEDS_PITCH },
	{ "negative destination pitch",
	  { A0B5_PITCH_OUT },
	  { (uint32_t)-1 },
	  .want = CE_DST_LINE_EXCEEDS_NEG_PITCH },
	{ "selector 7",
	  { A0B5_SET_REMAP_COMPONENTS },
	  { 0x7 },
	  .set = 1 << 10,
	  .want = CE_INVALID_VALUE },
	{ "component that is not there",
	  { A0B5_SET_REMAP_COMPONENTS },
	  { 0x1 },
	  .set = 1 << 10,
	  .want = CE_BAD_SRC_PIXEL_COMP_REF },
	{ "quarter GOB",
	  { A0B5_SET_SRC_BLOCK_SIZE },
	  { BLOCK_OK | 0xe },
	  SRC_BLOCKS,
	  .want = CE_INVALID_OPERATION },
	{ "block width",
	  { A0B5_SET_SRC_BLOCK_SIZE },
	  { BLOCK_OK | 1 },
	  SRC_BLOCKS,
	  .want = CE_INVALID_VALUE },
	{ "block height",
	  { A0B5_SET_DST_BLOCK_SIZE },
	  { BLOCK_OK | 6 << 4 },
	  DST_BLOCKS,
	  .want = CE_INVALID_VALUE },
	{ "block depth",
	  { A0B5_SET_DST_BLOCK_SIZE },
	  { BLOCK_OK | 6 << 8 },
	  DST_BLOCKS,
	  .want = CE_INVALID_VALUE },
	{ "GOB height",
	  { A0B5_SET_DST_BLOCK_SIZE },
	  { 2 << 12 },
	  DST_BLOCKS,
	  .want = CE_INVALID_VALUE },
	{ "layer", { A0B5_SET_DST_LAYER }, { 3 }, DST_BLOCKS, .want = CE_2D_LAYER_EXCEEDS_DEPTH },
	{ "width",
	  { A0B5_SET_DST_WIDTH },
	  { 0xff },
	  DST_BLOCKS,
	  .want = CE_MEM2MEM_RECT_OUT_OF_BOUNDS },
	{ "height",
	  { A0B5_SET_SRC_HEIGHT },
	  { 3 },
	  SRC_BLOCKS,
	  .want = CE_MEM2MEM_RECT_OUT_OF_BOUNDS },
	{ "origin x",
	  { A0B5_SET_SRC_ORIGIN },
	  { 1 },
	  SRC_BLOCKS,
	  .want = CE_MEM2MEM_RECT_OUT_OF_BOUNDS },
	{ "origin y",
	  { A0B5_SET_DST_ORIGIN },
	  { 1 << 16 },
	  DST_BLOCKS,
	  .want = CE_MEM2MEM_RECT_OUT_OF_BOUNDS },
	{ "physical target",
	  { A0B5_SET_DST_PHYS_MODE },
	  { 3 },
	  .set = A0B5_LAUNCH_DST_PHYSICAL,
	  .want = CE_INVALID_VALUE },
};

static void one_wrong(const struct wrong *w)
{
	static const uint32_t surface[6] = { BLOCK_OK, 0x100, 4, 3, 2, 0 };
	static uint8_t before[CARD_BYTES], after[CARD_BYTES];
	struct card *c = card_create(60);
	uint32_t launch = set_copy(c, (struct copy){ 0, HALF, 0x100, 0x100, 0x100, 4 });
	unsigned int i;

	c->chan.hce_priv = true;
	card_methods(c, 0, A0B5_SET_SRC_BLOCK_SIZE, 6, surface);
	card_methods(c, 0, A0B5_SET_DST_BLOCK_SIZE, 6, surface);
	for (i = 0; i < 3 && w->mthd[i]; i++)
		card_method(c, 0, w->mthd[i], w->data[i]);
	card_read(c, before);
	if (card_method(c, 0, A0B5_LAUNCH_DMA, (launch | w->set) & ~w->clear) != ENG_STALL)
		fail_msg("%s: not refused", w->name);
	if (c->g.regs[(GK110_CE(0) + GK110_CE_LAUNCHERR) / 4] != w->want)
		fail_msg("%s: code %u", w->name, c->g.regs[(GK110_CE(0) + GK110_CE_LAUNCHERR) / 4]);
	assert_int_equal(c->g.regs[(GK110_CE(0) + GK110_CE_INTR) / 4], GK110_CE_INTR_LAUNCHERR);
	assert_int_equal(c->pmc_level, 1 << 5);
	assert_true(ce_engine.stalled(&c->g, 0));
	assert_int_equal(c->kicks + c->fault.count + atomic_load(&c->g.stats.ce_launches), 0);
	card_read(c, after);
	assert_memory_equal(before, after, CARD_BYTES);
	card_destroy(c);
}

TEST(test_launch_errors)
{
	unsigned int i;

	for (i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++)
		one_wrong(&wrongs[i]);
}

TEST_MAIN(NULL, NULL)
