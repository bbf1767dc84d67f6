// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device table, decoded by a parser that knows only its format, must agree with the model's
 * engine table, for both layouts.
 */
#include "card.h"

#define TABLE(i) (0x022700 + 4 * (i))

struct entry {
	uint32_t type, addr;
	int fault, engine, runlist, intr, reset;
};

static const struct unit_ops *const list[] = { &ptop_unit };

/*
 * Returns the number of entries found. An entry is a chain of words; the last one has bit 31 clear.
 */
static unsigned int decode(struct card *c, struct entry *e, unsigned int max)
{
	unsigned int n = 0, i;
	bool open = false;

	for (i = 0; i < 64; i++) {
		uint32_t w = rd(c, TABLE(i));

		if (!(w & 3))
			continue;
		if (!open) {
			assert_true(n < max);
			e[n] = (struct entry){ .type = ~0u,
					       .fault = -1,
					       .engine = -1,
					       .runlist = -1,
					       .intr = -1,
					       .reset = -1 };
			open = true;
		}
		switch (w & 3) {
		case 1:
			/* the instance field is unused before later chips */
			assert_int_equal(w >> 26 & 0xf, 0);
			e[n].addr = w & 0xfff000;
			if (w & 1 << 2)
				e[n].fault = w >> 3 & 0x7f;
			break;
		case 2:
			if (w & 1 << 5)
				e[n].engine = w >> 26 & 0xf;
			if (w & 1 << 4)
				e[n].runlist = w >> 21 & 0xf;
			if (w & 1 << 3)
				e[n].intr = w >> 15 & 0x1f;
			if (w & 1 << 2)
				e[n].reset = w >> 9 & 0x1f;
			break;
		case 3:
			e[n].type = w >> 2 & 0x1fffffff;
			break;
		}
		if (!(w & 1u << 31)) {
			open = false;
			n++;
		}
	}
	assert_false(open);
	return n;
}

static void check_layout(enum gk110_layout layout, const unsigned int runlist[4])
{
	static const struct entry want[4] = {
		{ .type = 0, .addr = 0x400000, .fault = 0x00, .intr = 12, .reset = 12 },
		{ .type = 1, .addr = 0x104000, .fault = 0x15, .intr = 5, .reset = 6 },
		{ .type = 2, .addr = 0x105000, .fault = 0x16, .intr = 6, .reset = 7 },
		{ .type = 3, .addr = 0x106000, .fault = 0x1b, .intr = 7, .reset = 21 },
	};
	struct card *c = card_new(layout, list, 1);
	struct entry e[8];
	unsigned int i;

	assert_int_equal(decode(c, e, 8), 4);
	assert_int_equal(c->g.nr_engines, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(e[i].type, want[i].type);
		assert_int_equal(e[i].addr, want[i].addr);
		assert_int_equal(e[i].fault, want[i].fault);
		assert_int_equal(e[i].intr, want[i].intr);
		assert_int_equal(e[i].reset, want[i].reset);
		assert_int_equal(e[i].engine, i);
		assert_int_equal(e[i].runlist, runlist[i]);
		assert_int_equal(c->g.engine[i].type, want[i].type);
		assert_int_equal(c->g.engine[i].runlist, runlist[i]);
		assert_int_equal(c->g.engine[i].intr_bit, want[i].intr);
		assert_int_equal(c->g.engine[i].reset_bit, want[i].reset);
		assert_int_equal(c->g.engine[i].fault_unit, want[i].fault);
		assert_ptr_equal(c->g.engine[i].ops, i ? &ce_engine : &gr_engine);
		assert_int_equal(c->g.engine[i].inst, i ? i - 1 : 0);
	}
	card_free(c);
}

static void test_layout_flat(void **state)
{
	check_layout(GK110_LAYOUT_FLAT, (const unsigned int[]){ 0, 0, 0, 0 });
}

static void test_layout_card(void **state)
{
	check_layout(GK110_LAYOUT_CARD, (const unsigned int[]){ 0, 1, 2, 0 });
}

/* Every runlist has a PBDMA, and at most two, which is nouveau's limit. */
static void test_pbdmas_serve_runlists(void **state)
{
	enum gk110_layout l;

	for (l = GK110_LAYOUT_FLAT; l <= GK110_LAYOUT_CARD; l++) {
		struct card *c = card_new(l, list, 1);
		unsigned int r, p;

		assert_int_equal(c->g.nr_pbdma, 3);
		assert_int_equal(c->g.nr_runlists, l == GK110_LAYOUT_FLAT ? 1 : 3);
		for (r = 0; r < c->g.nr_runlists; r++) {
			unsigned int n = 0;

			for (p = 0; p < c->g.nr_pbdma; p++)
				n += c->g.pbdma_runlists[p] >> r & 1;
			assert_in_range(n, 1, 2);
		}
		for (p = 0; p < c->g.nr_pbdma; p++)
			assert_int_equal(c->g.pbdma_runlists[p] >> c->g.nr_runlists, 0);
		card_free(c);
	}
}

static void test_unknown_layout_is_refused(void **state)
{
	struct card *c = card_new(GK110_LAYOUT_FLAT, list, 1);

	c->g.cfg.layout = 7;
	assert_true(ptop_unit.init(&c->g) < 0);
	assert_non_null(strstr(c->err, "layout 7"));
	card_free(c);
}

static void test_what_is_switched_off(void **state)
{
	struct card *c = card_new(GK110_LAYOUT_FLAT, list, 1);
	unsigned int tpcs = 0, fbps = 0, i;

	/* display and video engines are absent, copy engines are present */
	assert_int_equal(rd(c, 0x022500) & 0x30f, 0xf);
	for (i = 0; i < rd(c, 0x022430); i++)
		tpcs += rd(c, 0x022434) - __builtin_popcount(rd(c, 0x022508 + 4 * i));
	assert_int_equal(tpcs, 13);
	for (i = 0; i < rd(c, 0x022438); i++)
		fbps += !(rd(c, 0x022554) >> i & 1);
	assert_int_equal(fbps, 5);
	assert_int_equal(rd(c, 0x022438), rd(c, 0x02243c));
	assert_int_equal(rd(c, 0x02240c) & 2, 2); /* the VBIOS has run */
	card_free(c);
}

static void test_constants_can_not_be_written(void **state)
{
	static const uint32_t ro[] = { 0x022430, 0x022438, 0x02243c, 0x022500,
				       0x022554, 0x022700, 0x022704, 0x0227fc };
	struct card *c = card_new(GK110_LAYOUT_CARD, list, 1);
	unsigned int i;

	for (i = 0; i < sizeof(ro) / sizeof(ro[0]); i++) {
		uint32_t v = rd(c, ro[i]);

		wr(c, ro[i], ~v);
		assert_int_equal(rd(c, ro[i]), v);
	}
	wr(c, 0x02241c, 0);
	assert_int_equal(rd(c, 0x02241c), 0);
	wr(c, 0x02241c, ~0u);
	assert_int_equal(rd(c, 0x02241c), 0x81);
	card_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_layout_flat),
		cmocka_unit_test(test_layout_card),
		cmocka_unit_test(test_pbdmas_serve_runlists),
		cmocka_unit_test(test_unknown_layout_is_refused),
		cmocka_unit_test(test_what_is_switched_off),
		cmocka_unit_test(test_constants_can_not_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
