// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables, for each of the 4 Mi registers: the engine's search against a simple map of lines to
 * registers that is made without it.
 */
#include <gk110/map.h>

#include "guest.h"

TEST(tables_are_sound)
{
	const char *bad = kvgpu_trap_check_tables();

	if (bad)
		fail_msg("%s", bad);
}

struct owner {
	const struct kvgpu_reg_unit *unit;
	const struct kvgpu_reg_line *line;
	uint32_t inst, idx;
};

static struct owner *owners;

static void own(uint32_t reg, const struct kvgpu_reg_unit *u, const struct kvgpu_reg_line *l,
		uint32_t inst, uint32_t idx)
{
	struct owner *o = &owners[reg / 4];

	assert_true(reg < GK110_BAR0_SIZE);
	assert_true(o->unit == (l ? u : NULL));
	assert_null(o->line);
	*o = (struct owner){ u, l, inst, idx };
}

static void fill_owners(void)
{
	uint32_t i, j, n, k, copies;

	owners = calloc(GK110_BAR0_SIZE / 4, sizeof(*owners));
	assert_non_null(owners);
	for (i = 0; i < kvgpu_trap_nr_units; i++) {
		const struct kvgpu_reg_unit *u = kvgpu_trap_units[i];

		copies = u->copies ? u->copies : 1;
		for (k = 0; k < u->size * copies; k += 4)
			own(u->base + k, u, NULL, k / u->size, 0);
		for (j = 0; j < u->nr_lines; j++) {
			const struct kvgpu_reg_line *l = &u->line[j];

			for (k = 0; k < copies; k++)
				for (n = 0; n < (l->count ? l->count : 1); n++)
					own(l->off + k * u->size + n * (l->stride ? l->stride : 4),
					    u, l, k, n);
		}
	}
}

TEST(search_finds_every_register)
{
	uint32_t reg;

	fill_owners();
	for (reg = 0; reg < GK110_BAR0_SIZE; reg += 4) {
		struct kvgpu_access a = { .reg = reg };
		const struct kvgpu_reg_unit *u;
		const struct kvgpu_reg_line *l = vtrap_line_find(&a, &u);
		const struct owner *o = &owners[reg / 4];

		assert_ptr_equal(u, o->unit);
		if (o->line) {
			assert_ptr_equal(l, o->line);
			assert_int_equal(a.idx, o->idx);
		} else if (u) {
			assert_ptr_equal(l, &u->rest);
		} else {
			assert_int_equal(l->rd, KVGPU_REG_UNLISTED);
		}
		if (u)
			assert_int_equal(a.inst, o->inst);
	}
	free(owners);
}

TEST(info_agrees_with_class)
{
	struct kvgpu_reg_info info;
	uint32_t reg, listed = 0;

	for (reg = 0; reg < GK110_BAR0_SIZE; reg += 4) {
		bool is = kvgpu_trap_info(reg, &info);

		assert_true(is == (info.rd != KVGPU_REG_UNLISTED));
		assert_true(is == (info.wr != KVGPU_REG_UNLISTED));
		if (is) {
			assert_true(info.name[0] && info.why[0] && info.src[0] && info.unit[0]);
			/* a number: the macro of the register was expanded */
			assert_null(strchr("0123456789(", info.name[0]));
		}
		listed += is;
	}
	assert_true(listed > 100000);
}

/*
 * Registers that no guest may write, from gk110/facts.md. They are written here a second time on
 * purpose.
 */
static const struct {
	uint32_t first, last;
} dangerous[] = {
	{ 0x001718, 0x001718 }, { 0x005000, 0x005ffc }, { 0x0026c4, 0x0026c8 },
	{ 0x007000, 0x007ffc }, { 0x010000, 0x01fffc }, { 0x002638, 0x002638 },
	{ 0x1c0000, 0x1c0ffc }, { 0x060000, 0x060ffc }, { 0x139000, 0x13affc },
	{ 0x180000, 0x1bfffc }, { 0x084000, 0x087ffc }, { 0x1c2000, 0x1c2ffc },
	{ 0x108000, 0x109ffc }, { 0x409728, 0x409728 }, { 0x409a04, 0x409a04 },
	{ 0x409a0c, 0x409a10 }, { 0x409a20, 0x409a20 },
};

TEST(dangerous_registers_are_denied)
{
	uint32_t i, reg;

	for (i = 0; i < ARRAY_SIZE(dangerous); i++) {
		for (reg = dangerous[i].first; reg <= dangerous[i].last; reg += 4) {
			uint64_t denied = g->t.nr_denied;
			struct kvgpu_reg_info info;

			kvgpu_trap_info(reg, &info);
			assert_int_equal(info.wr, KVGPU_REG_DENY);
			assert_int_equal(wr(g, reg, 0xffffffff), KVGPU_CMD_NONE);
			assert_int_equal(g->t.nr_denied, denied + 1);
		}
	}
}

/*
 * No register but the TRAP lines may produce a command other than IRQ and ALARM. Each gets all
 * values, a register that has no line of its own one of them: its neighbours get the others.
 */
TEST(only_trap_lines_command)
{
	static const uint32_t vals[] = { 0xffffffff, 0x80000001, 0x00000001, 0x00000000,
					 0x90000fff };
	uint32_t reg, i;

	for (reg = 0; reg < GK110_BAR0_SIZE; reg += 4) {
		struct kvgpu_access a = { .reg = reg };
		const struct kvgpu_reg_unit *u;
		const struct kvgpu_reg_line *l = vtrap_line_find(&a, &u);
		bool own = u && l != &u->rest;

		if (l->wr == KVGPU_REG_TRAP)
			continue;
		for (i = own ? 0 : reg / 4 % ARRAY_SIZE(vals); i < ARRAY_SIZE(vals);
		     i += own ? 1 : ARRAY_SIZE(vals)) {
			wr(g, reg, vals[i]);
			if (g->cmd.kind != KVGPU_CMD_NONE && g->cmd.kind != KVGPU_CMD_IRQ &&
			    g->cmd.kind != KVGPU_CMD_ALARM)
				fail_msg("%06x gives command %d", reg, g->cmd.kind);
		}
	}
}

/*
 * Every TRAP line makes a command for some value, and every command of the interface comes from
 * some line. IRQ and ALARM are not looked for here; intr_test.c has them.
 */
TEST(every_trap_line_commands)
{
	static const uint32_t vals[] = { 0xffffffff, 0x8f000fff, 0x80000001, 0x80010001,
					 0x00000101, 0x00000001, 0x00000002, 0 };
	uint32_t seen = 0, i, j, v;

	for (i = 0; i < kvgpu_trap_nr_units; i++) {
		for (j = 0; j < kvgpu_trap_units[i]->nr_lines; j++) {
			const struct kvgpu_reg_line *l = &kvgpu_trap_units[i]->line[j];
			struct kvgpu_pbdma_snap snap = { .intr0 = ~0u, .intr1 = ~0u };
			struct guest *g = guest_new();
			uint32_t here = 0;

			/*
			 * bring the vGPU into states in which each TRAP register has something to
			 * do
			 */
			kvgpu_trap_pbdma(&g->t, &snap);
			kvgpu_trap_gr(&g->t, 1, 0, NULL, 0);
			kvgpu_trap_ce(&g->t, 1, 1, 0);
			wr(g, 0x409100, 2);
			wr(g, 0x409500, 0x80000123);
			wr(g, 0x409b00, 0x80000123);
			for (v = 0; v < ARRAY_SIZE(vals) && l->wr == KVGPU_REG_TRAP; v++) {
				if (l->off == 0x800004) {
					wr(g, 0x800000, 0x80000123);
					here |= 1u << wr(g, l->off, 0x400);
				}
				here |= 1u << wr(g, l->off, vals[v]);
			}
			if (l->wr == KVGPU_REG_TRAP &&
			    !(here & ~(1u << KVGPU_CMD_NONE | 1u << KVGPU_CMD_IRQ)))
				fail_msg("%s never commands", l->name);
			seen |= here;
			guest_free(g);
		}
	}
	for (i = KVGPU_CMD_CHAN_BIND; i < KVGPU_CMD_IRQ; i++)
		if (!(seen & 1u << i))
			fail_msg("command %d comes from no register", i);
}

TEST_MAIN(guest_begin, guest_end)
