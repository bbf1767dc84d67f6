// SPDX-License-Identifier: GPL-2.0-only
/*
 * Methods: classes, state, inline uploads compared with a naive oracle, report semaphores, macros,
 * loads of constant buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gr/fake.h"
#include "gk110/qmd.h"

#define PD   0x400000u
#define INST 0x10000u
#define CTX  0x100000u

struct world {
	struct fake *f;
	struct chan c;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->f = fake_create();
	fake_enable_exceptions(w->f);
	fake_instance(w->f, INST, PD, CTX);
	fake_boot_nouveau(w->f);
	fake_chan(w->f, &w->c, 7, INST);
	*state = w;
	return gr_engine.load(&w->f->g, 0, &w->c);
}

static int teardown(void **state)
{
	struct world *w = *state;

	fake_destroy(w->f);
	free(w);
	return 0;
}

static enum eng_ret m(struct world *w, unsigned int subc, uint32_t mthd, uint32_t data)
{
	return method(w->f, &w->c, subc, mthd, data);
}

static void set(struct world *w, unsigned int subc, uint32_t mthd, uint32_t data)
{
	assert_int_equal(m(w, subc, mthd, data), ENG_DONE);
}

static uint32_t mem(struct world *w, uint32_t va)
{
	return vram32(w->f, PD + va);
}

/*
 * Handles a plain exception as nouveau's gf100_gr_intr() does. Checks that the engine is halted
 * until the end of it.
 */
static void acknowledge(struct world *w, uint32_t bits)
{
	struct fake *f = w->f;

	assert_true(gr_engine.stalled(&f->g, 0));
	assert_int_equal(f->irq_lines, 1 << 12);
	assert_int_equal(rd32(f, 0x409b00) & 0x0fffffff, INST >> 12);
	assert_int_equal(rd32(f, 0x400100), bits);
	wr32(f, 0x400100, bits);
	assert_int_equal(f->irq_lines, 0);
	assert_true(gr_engine.stalled(&f->g, 0));
	wr32(f, 0x400500, 0x00010001);
	assert_false(gr_engine.stalled(&f->g, 0));
	assert_int_equal(f->resumed, 1);
	f->resumed = 0;
}

/* Handles a trap of a front end unit as nouveau's gf100_gr_trap_intr() does. */
static void acknowledge_trap(struct world *w, uint32_t trap, uint32_t esr)
{
	struct fake *f = w->f;

	assert_int_equal(rd32(f, 0x400100), 1 << 21);
	assert_int_equal(f->irq_lines, 1 << 12);
	assert_int_equal(rd32(f, 0x400108), trap);
	wr32(f, 0x400100, 1 << 21);
	assert_int_equal(f->irq_lines, 1 << 12);
	wr32(f, esr, 0xc0000000);
	assert_int_equal(rd32(f, esr) & 0x3fffffff, 0);
	wr32(f, 0x400108, trap);
	assert_int_equal(f->irq_lines, 0);
	assert_true(gr_engine.stalled(&f->g, 0));
	wr32(f, 0x400500, 0x00010001);
	assert_false(gr_engine.stalled(&f->g, 0));
	f->resumed = 0;
}

/* ---------------------------------------------------------------- classes */

static void classes_are_wired_to_their_subchannels(void **state)
{
	static const uint32_t cls[] = { 0xa197, 0xa1c0, 0xa140, 0x902d };
	struct world *w = *state;

	for (unsigned int i = 0; i < 4; i++) {
		assert_true(gr_engine.has_class(cls[i]));
		assert_int_equal(m(w, i, 0, cls[i]), ENG_DONE);
	}
	assert_false(gr_engine.has_class(0xa0b5));
	assert_int_equal(m(w, 1, 0, 0xa197), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x404000) & 0x3fffffff, 2);
	acknowledge_trap(w, 1, 0x404000);
	assert_int_equal(m(w, 1, 0, 0x1234), ENG_STALL);
	acknowledge(w, 0x20);
	assert_int_equal(m(w, 5, 0x100, 0), ENG_STALL);
	acknowledge(w, 0x20);
}

static void illegal_methods_carry_their_name(void **state)
{
	struct world *w = *state;

	assert_int_equal(m(w, 2, 0x0abc, 0x55aa), ENG_STALL);
	assert_int_equal((rd32(w->f, 0x400704) & 0x70000) >> 16, 2);
	assert_int_equal(rd32(w->f, 0x400704) & 0x3ffc, 0x0abc);
	assert_int_equal(rd32(w->f, 0x400708), 0x55aa);
	acknowledge(w, 0x10);
}

static void drawing_raises_a_named_exception(void **state)
{
	static const struct {
		unsigned int subc;
		uint32_t mthd;
	} draw[] = {
		{ 0, M_BEGIN },
		{ 0, M_CLEAR_SURFACE },
		{ 0, M_DRAW_VERTEX_ARRAY },
		{ 0, M_DRAW_INDEX_BUFFER },
		{ 0, M_DRAW_INDEX_BUFFER_LAST },
		{ 0, M_DRAW_AUTO },
		{ 0, M_DRAW_INLINE_VERTEX },
		{ 0, M_LAUNCH_VERTEX },
		{ 3, M_TWOD_PIXELS_FROM_MEMORY },
		{ 3, M_TWOD_PIXELS_FROM_CPU_DATA },
		{ 3, M_TWOD_SOLID_POINT + 4 },
		{ 1, M_SEND_PCAS_B },
	};
	struct world *w = *state;

	for (unsigned int i = 0; i < sizeof(draw) / sizeof(draw[0]); i++) {
		assert_int_equal(m(w, draw[i].subc, draw[i].mthd, i), ENG_STALL);
		assert_int_equal(rd32(w->f, 0x400704) & 0x3ffc, draw[i].mthd);
		acknowledge(w, 0x10);
	}
	/*
	 * methods that only set state around a draw raise nothing: END, X of a point, clear values
	 */
	set(w, 0, M_END, 0);
	set(w, 3, M_TWOD_SOLID_POINT, 1);
	set(w, 0, 0x0d80, 1);
}

static void halting_bit_stops_methods(void **state)
{
	struct world *w = *state;

	wr32(w->f, 0x400500, 0);
	assert_true(gr_engine.stalled(&w->f->g, 0));
	wr32(w->f, 0x400500, 1);
	assert_false(gr_engine.stalled(&w->f->g, 0));
	assert_int_equal(w->f->resumed, 1);
}

static void firmware_methods_go_to_fecs(void **state)
{
	struct world *w = *state;

	set(w, 1, 0x0510, 0x1111);
	assert_int_equal(rd32(w->f, 0x409814), 3);
	assert_int_equal(rd32(w->f, 0x40980c) & 0x3ffc, 0x510);
	assert_int_equal((rd32(w->f, 0x40980c) >> 16) & 7, 1);
	assert_int_equal(rd32(w->f, 0x409810), 0x1111);
	assert_int_equal(rd32(w->f, 0x409c18), 1);
	assert_int_equal(rd32(w->f, 0x400100), 0x80000);
	wr32(w->f, 0x409c20, 1);
	assert_int_equal(w->f->irq_lines, 0);
	set(w, 0, 0x2310, 1);
	assert_int_equal(rd32(w->f, 0x409c18), 1);
}

static void method_port_sets_state_and_refuses_action(void **state)
{
	struct world *w = *state;

	wr32(w->f, GR_MTHD_DATA, 0x1357);
	wr32(w->f, GR_MTHD, 0x80000000 | 0x902d | 0x0200 << 14);
	assert_int_equal(state_get(w->f->g.gr, GR_2D, 0x200), 0x1357);
	wr32(w->f, GR_MTHD, 0x80000000 | 0xa197 | 0x1618 << 14);
	assert_int_equal(rd32(w->f, 0x400100), 0x10);
}

/*
 * Methods and bundles in the ranges of nouveau's lists for the golden context:
 * gk110_grctx_init_a197_0, gf100_grctx_init_902d_0, gk110_grctx_init_icmd_0.
 */
static void golden_lists_raise_nothing(void **state)
{
	static const struct {
		uint32_t cls, first, last;
	} lists[] = { { 0xa197, 0x2800, 0x29fc },
		      { 0xa197, 0x3400, 0x35fc },
		      { 0xa197, 0x0800, 0x09fc },
		      { 0x902d, 0x0200, 0x095c } };
	static const uint32_t bundles[] = { 0x0, 0xbff, 0x1000, 0xc100, 0xc5ff, 0x1e100 };
	struct world *w = *state;
	unsigned int word;

	for (unsigned int i = 0; i < 4; i++) {
		for (uint32_t mthd = lists[i].first; mthd <= lists[i].last; mthd += 4) {
			if (lists[i].cls == 0x902d && gr_method_acts(GR_2D, mthd))
				continue;
			wr32(w->f, GR_MTHD_DATA, mthd);
			wr32(w->f, GR_MTHD, 0x80000000 | lists[i].cls | mthd << 14);
			assert_int_equal(state_get(w->f->g.gr,
						   lists[i].cls == 0xa197 ? GR_3D : GR_2D, mthd),
					 mthd);
		}
	}
	for (unsigned int i = 0; i < 5; i++) {
		wr32(w->f, GR_ICMD_DATA, i + 1);
		wr32(w->f, GR_ICMD, bundles[i]);
		assert_true(state_bundle_word(bundles[i], &word));
		assert_int_equal(strand_get(w->f->g.gr, word), i + 1);
	}
	wr32(w->f, GR_ICMD, bundles[5]);
	assert_int_equal(rd32(w->f, GR_IDLE) | rd32(w->f, GR_STATUS) | rd32(w->f, GR_INTR), 0);
}

/* ---------------------------------------------------------------- inline uploads */

static void upload_begin(struct world *w, unsigned int subc, uint32_t va, uint32_t length,
			 uint32_t lines, uint32_t launch)
{
	set(w, subc, 0x180, length);
	set(w, subc, 0x184, lines);
	set(w, subc, 0x188, 0);
	set(w, subc, 0x18c, va);
	set(w, subc, 0x1b0, launch);
}

static void upload_data(struct world *w, unsigned int subc, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		set(w, subc, 0x1b4, 0x01010101 * (i + 1));
}

static void upload_of_one_line(void **state)
{
	struct world *w = *state;

	for (unsigned int subc = 0; subc < 3; subc++) {
		uint32_t va = 0x2000 + subc * 0x100;

		vram32_set(w->f, PD + va + 8, 0xeeeeeeee);
		upload_begin(w, subc, va + 2, 9, 1, 0x41);
		upload_data(w, subc, 3);
		assert_int_equal(mem(w, va) >> 16, 0x0101);
		assert_int_equal(mem(w, va + 4), 0x02020101);
		/* the ninth byte is written, the tenth one is not */
		assert_int_equal(mem(w, va + 8), 0xee030202);
	}
}

static void upload_pitch_lines_start_on_fresh_words(void **state)
{
	struct world *w = *state;

	set(w, 2, 0x190, 0x40);
	upload_begin(w, 2, 0x3000, 5, 3, 1);
	upload_data(w, 2, 6);
	for (uint32_t line = 0; line < 3; line++) {
		assert_int_equal(mem(w, 0x3000 + line * 0x40), 0x01010101 * (2 * line + 1));
		assert_int_equal(mem(w, 0x3004 + line * 0x40) & 0xffff, 2 * line + 2);
	}
}

static void upload_larger_than_the_stage(void **state)
{
	struct world *w = *state;

	upload_begin(w, 2, 0x10000, 20000, 1, 1);
	for (uint32_t i = 0; i < 5000; i++)
		set(w, 2, 0x1b4, i ^ 0x5a5a0000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(mem(w, 0x10000 + 4 * i), i ^ 0x5a5a0000);
	assert_int_equal(m(w, 2, 0x1b4, 0), ENG_STALL);
}

/*
 * Naive: goes through the blocks and their GOBs, and counts bytes, until the GOB of (x, y, z)
 * comes.
 */
static uint64_t naive_offset(uint32_t width, uint32_t height, uint32_t depth, unsigned int lh,
			     unsigned int ld, uint32_t x, uint32_t y, uint32_t z)
{
	uint64_t at = 0;
	uint32_t bh = 8u << lh, bd = 1u << ld;

	for (uint32_t bz = 0; bz < depth; bz += bd)
		for (uint32_t by = 0; by < height; by += bh)
			for (uint32_t bx = 0; bx < width; bx += 64)
				for (uint32_t gz = 0; gz < bd; gz++)
					for (uint32_t gy = 0; gy < bh; gy += 8) {
						if (z == bz + gz && y >= by + gy &&
						    y < by + gy + 8 && x >= bx && x < bx + 64)
							return at + (y - by - gy) * 64 + (x - bx);
						at += 512;
					}
	return UINT64_MAX;
}

static void upload_block_linear_matches_the_naive_walk(void **state)
{
	struct world *w = *state;
	const uint32_t width = 200, height = 50, depth = 3, length = 37, lines = 19;

	for (unsigned int lh = 0; lh <= 3; lh++) {
		for (unsigned int ld = 0; ld <= 1; ld++) {
			for (uint32_t z = 0; z < depth; z++) {
				uint32_t x0 = 50 + 3 * z, y0 = 7 + z, word = 0;

				memset(w->f->g.vram + PD, 0, 0x80000);
				set(w, 2, 0x194, lh << 4 | ld << 8);
				set(w, 2, 0x198, width);
				set(w, 2, 0x19c, height);
				set(w, 2, 0x1a0, depth);
				set(w, 2, 0x1a4, z);
				set(w, 2, 0x1a8, x0);
				set(w, 2, 0x1ac, y0);
				upload_begin(w, 2, 0x4000, length, lines, 0);
				upload_data(w, 2, (length + 3) / 4 * lines);
				for (uint32_t l = 0; l < lines; l++, word += (length + 3) / 4) {
					for (uint32_t x = 0; x < length; x++) {
						uint64_t off = naive_offset(width, height, depth,
									    lh, ld, x0 + x, y0 + l,
									    z);
						uint8_t want = word + x / 4 + 1;

						assert_int_equal(w->f->g.vram[PD + 0x4000 + off],
								 want);
					}
				}
			}
		}
	}
}

static void upload_mistakes_are_errors(void **state)
{
	struct world *w = *state;

	assert_int_equal(m(w, 2, 0x1b4, 1), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x404600) & 3, 1);
	acknowledge_trap(w, 2, 0x404600);
	upload_begin(w, 2, 0x3000, 16, 1, 1);
	upload_data(w, 2, 1);
	assert_int_equal(m(w, 2, 0x1b0, 1), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x404600) & 3, 2);
	acknowledge_trap(w, 2, 0x404600);
	/* a block-linear upload that passes the end of its surface */
	set(w, 2, 0x198, 64);
	set(w, 2, 0x19c, 8);
	set(w, 2, 0x1a0, 1);
	set(w, 2, 0x180, 65);
	assert_int_equal(m(w, 2, 0x1b0, 0), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x400110), 4);
	acknowledge(w, 0x100000);
}

static void upload_to_unmapped_memory_faults(void **state)
{
	struct world *w = *state;

	upload_begin(w, 2, FAKE_SPACE, 4, 1, 1);
	assert_int_equal(m(w, 2, 0x1b4, 1), ENG_FAULT);
	assert_int_equal(w->f->fault.hub_client, GR_HUB_FE);
	/* a channel's methods cannot reach privileged pages */
	w->f->g.gr->upload.used = 0;
	strand_set(w->f->g.gr, STRAND_UPLOAD_CLASS, 0);
	upload_begin(w, 2, FAKE_PRIV_VA, 4, 1, 1);
	assert_int_equal(m(w, 2, 0x1b4, 1), ENG_FAULT);
}

static void upload_survives_a_context_switch(void **state)
{
	struct world *w = *state;

	upload_begin(w, 2, 0x3000, 32, 1, 1);
	set(w, 2, 0x1b4, 0x11);
	set(w, 2, 0x1b4, 0x22);
	assert_int_equal(gr_engine.save(&w->f->g, 0, &w->c), 0);
	assert_int_equal(mem(w, 0x3004), 0x22);
	assert_int_equal(gr_engine.load(&w->f->g, 0, &w->c), 0);
	for (uint32_t i = 0; i < 6; i++)
		set(w, 2, 0x1b4, 0x33 + i);
	assert_int_equal(mem(w, 0x3008), 0x33);
	assert_int_equal(mem(w, 0x301c), 0x38);
}

static void upload_releases_its_semaphore_last(void **state)
{
	struct world *w = *state;

	set(w, 2, 0x1dc, 0);
	set(w, 2, 0x1e0, 0x5000);
	set(w, 2, 0x1e4, 0xabcd);
	upload_begin(w, 2, 0x3000, 8, 1, 1 | 2 << 4 | 1 << 12);
	set(w, 2, 0x1b4, 1);
	assert_int_equal(mem(w, 0x5000), 0);
	set(w, 2, 0x1b4, 2);
	assert_int_equal(mem(w, 0x5000), 0xabcd);
	assert_int_equal(mem(w, 0x5004), 0);
}

/* ---------------------------------------------------------------- report semaphores */

static void report(struct world *w, unsigned int subc, uint32_t va, uint32_t payload, uint32_t op,
		   enum eng_ret want)
{
	set(w, subc, 0x1b00, 0);
	set(w, subc, 0x1b04, va);
	set(w, subc, 0x1b08, payload);
	assert_int_equal(m(w, subc, 0x1b0c, op), want);
}

static void reports_release_one_or_four_words(void **state)
{
	struct world *w = *state;

	for (unsigned int subc = 0; subc < 2; subc++) {
		memset(w->f->g.vram + PD, 0xff, 0x100);
		report(w, subc, 0x10, 42, 0x1000f010, ENG_DONE);
		assert_int_equal(mem(w, 0x10), 42);
		assert_int_equal(mem(w, 0x14), 0xffffffff);
		report(w, subc, 0x20, 43, 0x0000f010, ENG_DONE);
		assert_int_equal(mem(w, 0x20), 43);
		assert_int_equal(mem(w, 0x24), 0);
		assert_int_equal(mem(w, 0x28), w->f->time);
		assert_int_equal(mem(w, 0x2c), 0);
	}
	assert_int_equal(w->f->kicked, 4);
}

static void addresses_have_forty_bits(void **state)
{
	struct world *w = *state;

	set(w, 1, 0x1b00, 0xfff01);
	set(w, 1, 0x1b04, 0x10);
	assert_int_equal(m(w, 1, 0x1b0c, 0x10000000), ENG_FAULT);
	assert_true(w->f->fault.va == 0x100000010ull);
}

static void pixel_counts_keep_the_payload_and_other_counters_are_zero(void **state)
{
	struct world *w = *state;

	report(w, 0, 0x40, 7, 0x0100f002, ENG_DONE);
	assert_int_equal(mem(w, 0x40), 7);
	assert_int_equal(mem(w, 0x44), 0);
	report(w, 0, 0x40, 9, 0x0980f002, ENG_DONE);
	assert_int_equal(mem(w, 0x40), 0);
}

static void reductions_compute(void **state)
{
	static const struct {
		unsigned int op, is_signed;
		uint32_t old, arg, want;
	} cases[] = {
		{ RED_ADD, 0, 0xffffffff, 2, 1 },
		{ RED_MIN, 0, 5, 0xffffffff, 5 },
		{ RED_MIN, 1, 5, 0xffffffff, 0xffffffff },
		{ RED_MAX, 0, 5, 0xffffffff, 0xffffffff },
		{ RED_MAX, 1, 5, 0xffffffff, 5 },
		{ RED_INC, 0, 4, 5, 5 },
		{ RED_INC, 0, 5, 5, 0 },
		{ RED_DEC, 0, 0, 5, 5 },
		{ RED_DEC, 0, 3, 5, 2 },
		{ RED_DEC, 0, 9, 5, 5 },
		{ RED_AND, 0, 0xf0, 0x3c, 0x30 },
		{ RED_OR, 0, 0xf0, 0x0c, 0xfc },
		{ RED_XOR, 0, 0xf0, 0x3c, 0xcc },
	};
	struct world *w = *state;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		vram32_set(w->f, PD + 0x60, cases[i].old);
		report(w, 1, 0x60, cases[i].arg,
		       1 << 28 | 1 << 3 | cases[i].op << 9 | cases[i].is_signed << 17, ENG_DONE);
		assert_int_equal(mem(w, 0x60), cases[i].want);
	}
}

static void misaligned_reports_are_data_errors(void **state)
{
	struct world *w = *state;

	report(w, 0, 0x12, 1, 0x1000f010, ENG_STALL);
	assert_int_equal(rd32(w->f, 0x400110), 0xb);
	acknowledge(w, 0x100000);
	report(w, 0, 0x14, 1, 0x0000f010, ENG_STALL);
	acknowledge(w, 0x100000);
	report(w, 1, 0x10, 1, 0x10000001, ENG_STALL);
	assert_int_equal(rd32(w->f, 0x400110), 5);
	acknowledge(w, 0x100000);
}

static void acquire_waits_without_holding_the_engine(void **state)
{
	struct world *w = *state;

	vram32_set(w->f, PD + 0x70, 5);
	report(w, 0, 0x70, 5, 0x10000001, ENG_DONE);
	report(w, 0, 0x70, 4, 0x10010001, ENG_DONE);
	atomic_store(&w->c.stop, true);
	report(w, 0, 0x70, 6, 0x10010001, ENG_AGAIN);
}

static void awaken_interrupts_without_halting(void **state)
{
	struct world *w = *state;

	report(w, 1, 0x80, 1, 0x10100000, ENG_DONE);
	assert_int_equal(rd32(w->f, 0x400100), 1);
	assert_false(gr_engine.stalled(&w->f->g, 0));
	wr32(w->f, 0x400100, 1);
	assert_int_equal(w->f->irq_lines, 0);
	set(w, 3, 0x104, 0);
	set(w, 3, 0x108, 0x90);
	set(w, 3, 0x10c, 1);
	assert_int_equal(rd32(w->f, 0x400100), 1);
	assert_int_equal(mem(w, 0x90), w->f->time);
	assert_int_equal(mem(w, 0x9c), 0);
}

/* ---------------------------------------------------------------- 3D */

static void constant_buffer_loads_reach_memory(void **state)
{
	struct world *w = *state;

	set(w, 0, 0x2380, 0x100);
	set(w, 0, 0x2384, 0);
	set(w, 0, 0x2388, 0x6000);
	set(w, 0, 0x238c, 0x20);
	for (uint32_t i = 0; i < 4; i++)
		set(w, 0, 0x2390 + 4 * i, 0x100 + i);
	set(w, 0, 0x2390, 0x104);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(mem(w, 0x6020 + 4 * i), 0x100 + i);
	set(w, 0, 0x238c, 0x100);
	set(w, 0, 0x2390, 0xbad);
	assert_int_equal(mem(w, 0x6100), 0);
}

/* ---------------------------------------------------------------- macros */

#define EXIT		   0x80
#define DST(n)		   ((n) << 8)
#define A(n)		   ((n) << 11)
#define B(n)		   ((n) << 14)
#define IMM(v)		   ((uint32_t)(v) << 14)
#define ASSIGN(n)	   ((n) << 4)
#define ALU(n)		   ((n) << 17)
#define BF(src, size, dst) ((src) << 17 | (size) << 22 | (uint32_t)(dst) << 27)
#define MTHD(m, inc)	   ((m) >> 2 | (inc) << 12)

static void macro_load(struct world *w, uint32_t macro, uint32_t at, const uint32_t *code,
		       unsigned int n)
{
	set(w, 0, 0x11c, macro);
	set(w, 0, 0x120, at);
	set(w, 0, 0x114, at);
	for (unsigned int i = 0; i < n; i++)
		set(w, 0, 0x118, code[i]);
}

static enum eng_ret macro_call(struct world *w, uint32_t macro, const uint32_t *p, unsigned int n)
{
	enum eng_ret ret = ENG_DONE;

	for (unsigned int i = 0; i < n; i++) {
		ret = gr_engine.method(&w->f->g, 0, &w->c, 0, 0x3800 + 8 * macro + (i ? 4 : 0),
				       p[i], i == n - 1);
		if (i < n - 1)
			assert_int_equal(ret, ENG_DONE);
	}
	return ret;
}

static void macros_send_methods(void **state)
{
	static const uint32_t code[] = {
		/*
		 * start with method 0x0d80, counting up; send the parameter in r1, the next
		 * parameter, and that one plus 1
		 */
		1 | ASSIGN(2) | IMM(MTHD(0xd80, 1)),
		1 | ASSIGN(4) | A(1),
		1 | ASSIGN(0) | DST(2),
		1 | ASSIGN(4) | A(2) | EXIT,
		1 | ASSIGN(4) | A(2) | IMM(1),
	};
	static const uint32_t p[] = { 0x111, 0x222 };
	struct world *w = *state;

	macro_load(w, 3, 0x10, code, 5);
	assert_int_equal(macro_call(w, 3, p, 2), ENG_DONE);
	assert_int_equal(state_get(w->f->g.gr, GR_3D, 0xd80), 0x111);
	assert_int_equal(state_get(w->f->g.gr, GR_3D, 0xd84), 0x222);
	assert_int_equal(state_get(w->f->g.gr, GR_3D, 0xd88), 0x223);
}

static void macros_compute_loop_and_read_state(void **state)
{
	/*
	 * Add up the numbers from 1 to r1 in a loop with a delay slot, and send the sum to 0x3400.
	 * Then send r4, with bits of state 0x3404 in it, to 0x3408.
	 */
	static const uint32_t code[] = {
		1 | ASSIGN(1) | DST(2), /* 0: r2 = 0 */
		0 | ASSIGN(1) | DST(2) | A(2) | B(1) | ALU(0), /* 1: r2 += r1 */
		1 | ASSIGN(1) | DST(1) | A(1) | IMM(-1), /* 2: r1 -= 1 */
		7 | 1 << 4 | A(1) | IMM(-2), /* 3: branch to 1 while r1 */
		1 | ASSIGN(1) | DST(4) | A(4) | IMM(1), /* 4: delay slot: r4 += 1 */
		1 | ASSIGN(2) | IMM(MTHD(0x3400, 2)), /* 5 */
		1 | ASSIGN(4) | A(2), /* 6: 0x3400 = sum */
		5 | ASSIGN(1) | DST(3) | IMM(0x3404 >> 2), /* 7: r3 = state of 0x3404 */
		/* 8: r5 = r4 with bits 11:4 of r3 at 23:16 */
		2 | ASSIGN(1) | DST(5) | A(4) | B(3) | BF(4, 8, 16),
		1 | ASSIGN(4) | A(5) | EXIT, /* 9: 0x3408 */
		1 | ASSIGN(1), /* 10: delay slot of the exit */
	};
	static const uint32_t p[] = { 10 };
	struct world *w = *state;

	set(w, 0, 0x3404, 0xabc0);
	macro_load(w, 0, 0, code, 11);
	assert_int_equal(macro_call(w, 0, p, 1), ENG_DONE);
	assert_int_equal(state_get(w->f->g.gr, GR_3D, 0x3400), 55);
	assert_int_equal(state_get(w->f->g.gr, GR_3D, 0x3408), 0xbc0000 | 10);
}

static void macro_errors(struct world *w, uint32_t want, const uint32_t *code, unsigned int n,
			 unsigned int params)
{
	static const uint32_t p[MME_MAX_PARAMS + 1];

	macro_load(w, 1, 0x40, code, n);
	assert_int_equal(macro_call(w, 1, p, params), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x404490) & 0x1fffffff, want);
	acknowledge_trap(w, 0x80, 0x404490);
}

static void macros_trap_as_nouveau_names_it(void **state)
{
	static const uint32_t exits[] = { 1 | ASSIGN(1) | EXIT, 1 | ASSIGN(1) };
	static const uint32_t fetches[] = { 1 | ASSIGN(0) | DST(2) | EXIT, 1 | ASSIGN(1) };
	static const uint32_t illegal[] = { 6 };
	static const uint32_t twice[] = { 7 | IMM(2), 7 | IMM(2), 1 | ASSIGN(1) };
	static const uint32_t forever[] = { 7 | 1 << 5 };
	struct world *w = *state;

	macro_errors(w, GR_MME_ESR_TOO_FEW, fetches, 2, 1);
	macro_errors(w, GR_MME_ESR_TOO_MANY, exits, 2, 2);
	macro_errors(w, GR_MME_ESR_TOO_MANY, exits, 2, MME_MAX_PARAMS + 1);
	macro_errors(w, GR_MME_ESR_ILLEGAL_OPCODE, illegal, 1, 1);
	macro_errors(w, GR_MME_ESR_DOUBLE_BRANCH, twice, 3, 1);
	macro_errors(w, GR_MME_ESR_WATCHDOG, forever, 1, 1);
}

static void macros_that_draw_raise_the_drawing_exception(void **state)
{
	static const uint32_t code[] = {
		1 | ASSIGN(2) | IMM(MTHD(M_BEGIN, 0)),
		1 | ASSIGN(4) | A(1) | EXIT,
		1 | ASSIGN(1),
	};
	static const uint32_t p[] = { 4 };
	struct world *w = *state;

	macro_load(w, 2, 0, code, 3);
	assert_int_equal(macro_call(w, 2, p, 1), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x400704) & 0x3ffc, M_BEGIN);
	assert_int_equal(rd32(w->f, 0x400708), 4);
	acknowledge(w, 0x10);
}

static void parameters_survive_a_context_switch(void **state)
{
	static const uint32_t code[] = {
		1 | ASSIGN(2) | IMM(MTHD(0x3400, 1)),
		1 | ASSIGN(3) | A(1) | DST(2),
		1 | ASSIGN(4) | A(2) | EXIT,
		1 | ASSIGN(1),
	};
	struct world *w = *state;

	macro_load(w, 5, 0, code, 4);
	assert_int_equal(gr_engine.method(&w->f->g, 0, &w->c, 0, 0x3828, 0xaa, false), ENG_DONE);
	assert_int_equal(gr_engine.save(&w->f->g, 0, &w->c), 0);
	pthread_mutex_lock(&w->f->g.lock);
	state_reset(w->f->g.gr);
	pthread_mutex_unlock(&w->f->g.lock);
	assert_int_equal(gr_engine.load(&w->f->g, 0, &w->c), 0);
	assert_int_equal(gr_engine.method(&w->f->g, 0, &w->c, 0, 0x382c, 0xbb, true), ENG_DONE);
	assert_int_equal(state_get(w->f->g.gr, GR_3D, 0x3400), 0xaa);
	assert_int_equal(state_get(w->f->g.gr, GR_3D, 0x3404), 0xbb);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(classes_are_wired_to_their_subchannels),
		T(illegal_methods_carry_their_name),
		T(drawing_raises_a_named_exception),
		T(halting_bit_stops_methods),
		T(firmware_methods_go_to_fecs),
		T(method_port_sets_state_and_refuses_action),
		T(golden_lists_raise_nothing),
		T(upload_of_one_line),
		T(upload_pitch_lines_start_on_fresh_words),
		T(upload_larger_than_the_stage),
		T(upload_block_linear_matches_the_naive_walk),
		T(upload_mistakes_are_errors),
		T(upload_to_unmapped_memory_faults),
		T(upload_survives_a_context_switch),
		T(upload_releases_its_semaphore_last),
		T(reports_release_one_or_four_words),
		T(addresses_have_forty_bits),
		T(pixel_counts_keep_the_payload_and_other_counters_are_zero),
		T(reductions_compute),
		T(misaligned_reports_are_data_errors),
		T(acquire_waits_without_holding_the_engine),
		T(awaken_interrupts_without_halting),
		T(constant_buffer_loads_reach_memory),
		T(macros_send_methods),
		T(macros_compute_loop_and_read_state),
		T(macros_trap_as_nouveau_names_it),
		T(macros_that_draw_raise_the_drawing_exception),
		T(parameters_survive_a_context_switch),
	};

	return cmocka_run_group_tests_name("methods", tests, NULL, NULL);
}
