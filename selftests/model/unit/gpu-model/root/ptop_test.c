// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device table, decoded by a parser that knows only its format, must agree with the model's
 * engine table, on each board.
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

static const struct entry want[] = {
	{ .type = 0, .addr = 0x400000, .fault = 0x00, .intr = 12, .reset = 12 },
	{ .type = 1, .addr = 0x104000, .fault = 0x15, .intr = 5, .reset = 6 },
	{ .type = 2, .addr = 0x105000, .fault = 0x16, .intr = 6, .reset = 7 },
	{ .type = 3, .addr = 0x106000, .fault = 0x1b, .intr = 7, .reset = 21 },
	{ .type = 8, .addr = 0x085000, .fault = 0x14, .intr = 17, .reset = 17 },
	{ .type = 9, .addr = 0x086000, .fault = 0x11, .intr = 0, .reset = 1 },
	{ .type = 10, .addr = 0x084000, .fault = 0x10, .intr = 15, .reset = 15 },
	{ .type = 11, .addr = 0x1c2000, .fault = 0x19, .intr = 16, .reset = 18 },
};

static const struct entry *entry_of(uint32_t type)
{
	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (want[i].type == type)
			return &want[i];
	fail_msg("an engine of type %u", type);
	return NULL;
}

/* @wiring: type, engine id and runlist of each engine, in the table's order */
static void check_table(struct card *c, const uint8_t wiring[][3], unsigned int nr)
{
	struct entry e[8];
	unsigned int i;

	assert_int_equal(decode(c, e, 8), nr);
	assert_int_equal(c->g.nr_engines, 4);
	for (i = 0; i < nr; i++) {
		const struct entry *w = entry_of(e[i].type);
		const struct engine *m = &c->g.engine[e[i].type < 4 ? e[i].type : 0];

		assert_int_equal(e[i].type, wiring[i][0]);
		assert_int_equal(e[i].engine, wiring[i][1]);
		assert_int_equal(e[i].runlist, wiring[i][2]);
		assert_int_equal(e[i].addr, w->addr);
		assert_int_equal(e[i].fault, w->fault);
		assert_int_equal(e[i].intr, w->intr);
		assert_int_equal(e[i].reset, w->reset);
		if (e[i].type > 3)
			continue;
		assert_int_equal(m->type, w->type);
		assert_int_equal(m->id, e[i].engine);
		assert_int_equal(m->runlist, e[i].runlist);
		assert_int_equal(m->intr_bit, w->intr);
		assert_int_equal(m->reset_bit, w->reset);
		assert_int_equal(m->fault_unit, w->fault);
		assert_ptr_equal(m->ops, e[i].type ? &ce_engine : &gr_engine);
		assert_int_equal(m->inst, e[i].type ? e[i].type - 1 : 0);
	}
}

static void test_flat(void **state)
{
	static const uint8_t wiring[][3] = { { 0, 0, 0 }, { 1, 1, 0 }, { 2, 2, 0 }, { 3, 3, 0 } };
	struct card *c = card_new("flat", list, 1);

	check_table(c, wiring, 4);
	assert_int_equal(c->g.nr_runlists, 1);
	card_free(c);
}

/* nouveau's table of Linux 4.1: GR and CE2, MSPDEC, MSPPP, MSVLD, CE0, CE1, MSENC */
static void test_boards(void **state)
{
	static const char *const boards[] = { "k20m", "k20c", "k20x", "k40m", "k40c" };
	static const uint8_t wiring[][3] = { { 0, 0, 0 }, { 8, 1, 1 }, { 9, 2, 2 },  { 10, 3, 3 },
					     { 1, 4, 4 }, { 2, 5, 5 }, { 11, 6, 6 }, { 3, 7, 0 } };
	unsigned int i;

	for (i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
		struct card *c = card_new(boards[i], list, 1);

		check_table(c, wiring, 8);
		assert_int_equal(c->g.nr_runlists, 7);
		/* as a K80 has them */
		assert_int_equal(c->g.pbdma_runlists[0], 0x01);
		assert_int_equal(c->g.pbdma_runlists[1], 0x6e);
		assert_int_equal(c->g.pbdma_runlists[2], 0x10);
		card_free(c);
	}
}

static void test_what_is_switched_off(void **state)
{
	struct card *c = card_new("flat", list, 1);
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
	struct card *c = card_new("k20m", list, 1);
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
		cmocka_unit_test(test_flat),
		cmocka_unit_test(test_boards),
		cmocka_unit_test(test_what_is_switched_off),
		cmocka_unit_test(test_constants_can_not_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
