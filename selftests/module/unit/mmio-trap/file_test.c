// SPDX-License-Identifier: GPL-2.0-only
/* The register file: the values that it keeps, and what happens when it is full. */
#include <gk110/gr.h>
#include <gk110/map.h>
#include <gk110/pmc.h>

#include "guest.h"

TEST(values_are_kept)
{
	uint32_t reg;

	for (reg = 0x400800; reg < 0x408800; reg += 8)
		wr(g, reg, ~reg);
	for (reg = 0x400800; reg < 0x408800; reg += 8)
		if (reg != 0x404000 && reg != 0x404490 && reg != 0x404600 && reg != 0x405840 &&
		    reg != 0x406018 && reg != 0x407020 && reg != 0x408030)
			assert_int_equal(rd(g, reg), ~reg);
	assert_int_equal(g->t.nr_dropped, 0);
}

/* 8000 writes each time, in patterns that units have. */
TEST(room_for_twice_what_nouveau_uses)
{
	static const struct {
		uint32_t base, stride, rows, row;
	} patterns[] = {
		{ 0x400800, 4, 1, 0 },
		{ 0x500000, 0x40, 1, 0 },
		{ 0x500000, 4, 8, 0x8000 },
		{ 0x110000, 0x10, 16, 0x1000 },
	};
	unsigned int p, i, n;

	for (p = 0; p < ARRAY_SIZE(patterns); p++) {
		struct guest *g = guest_new();
		unsigned int per_row = 8000 / patterns[p].rows;

		for (n = 0; n < patterns[p].rows; n++)
			for (i = 0; i < per_row; i++)
				wr(g,
				   patterns[p].base + n * patterns[p].row +
					   (i * patterns[p].stride) % 0x40000,
				   1);
		assert_int_equal(g->t.nr_dropped, 0);
		guest_free(g);
	}
}

TEST(a_write_to_a_denied_constant_is_no_lost_value)
{
	uint32_t before = rd(g, PMC_BOOT_1);

	wr(g, PMC_BOOT_1, ~before);
	assert_int_equal(rd(g, PMC_BOOT_1), before);
	assert_int_equal(g->t.nr_denied, 1);
	assert_int_equal(g->t.nr_dropped, 0);
}

static void fill(struct guest *g)
{
	uint32_t reg;

	for (reg = 0x800000; reg < GK110_BAR0_SIZE; reg += 4)
		wr(g, reg, reg);
	for (reg = 0x400000; reg < 0x420000; reg += 4)
		rd(g, reg);
}

TEST(full_file_drops_only_new_registers)
{
	uint32_t reg, kept = 0;
	uint64_t dropped;

	wr(g, 0x405800, 0x1234);
	fill(g);
	assert_true(g->t.nr_dropped > 0);
	assert_in_range(g->t.nr_slots_used, KVGPU_TRAP_SLOTS * 3 / 4, KVGPU_TRAP_SLOTS);
	assert_int_equal(rd(g, 0x405800), 0x1234);
	/* each register either has its own value or reads as after POST */
	for (reg = 0x808000; reg < GK110_BAR0_SIZE; reg += 4) {
		uint32_t val = rd(g, reg);

		assert_true(val == reg || val == 0);
		kept += val != 0;
	}
	assert_true(kept > KVGPU_TRAP_SLOTS / 2);
	/* constants and reset values do not need room */
	assert_int_equal(rd(g, 0x000000), 0x0f0000a1);
	assert_int_equal(rd(g, 0x022438), KVGPU_GUEST_FBP);
	dropped = g->t.nr_dropped;
	wr(g, 0x111204, 5);
	assert_int_equal(g->t.nr_dropped, dropped);
}

TEST(full_file_leaves_commands_and_interrupts)
{
	fill(g);
	wr(g, 0x000640, 0xffffffff);
	wr(g, 0x002140, 0xffffffff);
	wr(g, 0x000140, 1);
	kvgpu_trap_nonstall(&g->t);
	assert_true(message_due(g));
	assert_int_equal(rd(g, 0x000100), 0x100);
	assert_int_equal(wr(g, 0x002634, 7), KVGPU_CMD_PREEMPT);
	assert_int_equal(rd(g, 0x002634), 0x00100007);
	assert_int_equal(wr(g, 0x800000, 0x80000123), KVGPU_CMD_CHAN_BIND);
	assert_int_equal(rd(g, 0x800000), 0x80000123);
	assert_int_equal(wr(g, 0x001704, 0x80000123), KVGPU_CMD_BAR_BIND);
	wr(g, 0x409100, 2);
	assert_int_equal(rd(g, 0x409800), 0x80000000);
}

TEST(accesses_are_counted)
{
	const struct kvgpu_reg_slot *s;

	rd(g, 0x000ffc);
	rd(g, 0x000ffc);
	wr(g, 0x000ffc, 9);
	assert_int_equal(rd(g, 0x000ffc), 9);
	assert_int_equal(g->t.nr_unlisted, 4);
	assert_int_equal(g->t.nr_reads, 3);
	assert_int_equal(g->t.nr_writes, 1);
	s = vtrap_slot_find(&g->t, 0x000ffc);
	assert_non_null(s);
	assert_int_equal(s->rd, 3);
	assert_int_equal(s->wr, 1);
	rd(g, 0x300000);
	assert_null(vtrap_slot_find(&g->t, 0x300000));
}

/* Offsets beyond BAR0 and unaligned ones are cut to a register inside. */
TEST(offsets_wrap)
{
	wr(g, 0x405803, 0x77);
	assert_int_equal(rd(g, 0xff405800), 0x77);
}

/*
 * Registers that a guest reaches by mapped memory, without traps. An access that traps all the same
 * works as with the register file, and takes no slots there.
 */
TEST(plain_registers_are_memory)
{
	static uint32_t memory[KVGPU_TRAP_PLAIN_SIZE / 4 + 1];
	struct guest *other = guest_new();
	const uint32_t first = KVGPU_TRAP_PLAIN_BASE, end = first + KVGPU_TRAP_PLAIN_SIZE;
	uint32_t reg, used;

	memset(memory, 0xee, sizeof(memory));
	g->t.cfg.plain = memory;
	g->topo.nr_seed = other->topo.nr_seed = 1;
	g->topo.seed[0].reg = other->topo.seed[0].reg = first + 0x160;
	g->topo.seed[0].val = other->topo.seed[0].val = 0xcafe;
	kvgpu_trap_reset(&g->t);
	kvgpu_trap_reset(&other->t);
	used = g->t.nr_slots_used;
	for (reg = first - 16; reg < end + 16; reg += 4) {
		assert_int_equal(rd(g, reg), rd(other, reg));
		kvgpu_trap_write(&g->t, reg, reg * 3, 0x00ffff00, g->now, &g->cmd);
		kvgpu_trap_write(&other->t, reg, reg * 3, 0x00ffff00, other->now, &other->cmd);
		assert_int_equal(g->cmd.kind, KVGPU_CMD_NONE);
		assert_int_equal(rd(g, reg), rd(other, reg));
	}
	assert_int_equal(g->t.nr_reads, other->t.nr_reads);
	assert_int_equal(g->t.nr_writes, other->t.nr_writes);
	assert_in_range(g->t.nr_slots_used, used, used + 8);
	assert_int_equal(memory[0x160 / 4],
			 (0xcafe & ~0xffff00) | ((first + 0x160) * 3 & 0xffff00));
	memory[7] = 0x1234;
	assert_int_equal(rd(g, first + 28), 0x1234);
	assert_int_equal(memory[KVGPU_TRAP_PLAIN_SIZE / 4], 0xeeeeeeee);
	kvgpu_trap_reset(&g->t);
	for (reg = first; reg < end; reg += 4)
		assert_int_equal(memory[(reg - first) / 4], reg == first + 0x160 ? 0xcafe : 0);
	guest_free(other);
}

/* The same for the page of the MMU's registers, of which one makes commands. */
TEST(mmu_registers_are_memory)
{
	static uint32_t memory[KVGPU_TRAP_MMU_SIZE / 4 + 1];
	struct guest *other = guest_new();
	const uint32_t first = KVGPU_TRAP_MMU_BASE, end = first + KVGPU_TRAP_MMU_SIZE;
	const uint32_t vals[] = { 0, 0xffffffff, 0x80000005, 0x12345670 };
	uint32_t reg, i;

	memset(memory, 0xee, sizeof(memory));
	g->t.cfg.mmu = memory;
	kvgpu_trap_reset(&g->t);
	kvgpu_trap_reset(&other->t);
	for (reg = first - 16; reg < end + 16; reg += 4) {
		for (i = 0; i < 4; i++) {
			assert_int_equal(rd(g, reg), rd(other, reg));
			assert_int_equal(wr(g, reg, vals[i]), wr(other, reg, vals[i]));
			assert_memory_equal(&g->cmd, &other->cmd, sizeof(g->cmd));
			assert_int_equal(rd(g, reg), rd(other, reg));
			if (reg >= first && reg < end)
				assert_int_equal(memory[(reg - first) / 4], rd(other, reg));
		}
	}
	assert_int_equal(memory[KVGPU_TRAP_MMU_SIZE / 4], 0xeeeeeeee);
	/* what a guest writes to its mapping is there until the host restores it */
	memory[0xc80 / 4] = 1;
	memory[0xcbc / 4] = 0x80000001;
	kvgpu_trap_mmu_restore(&g->t);
	wr(other, 0x100c80, 1);
	assert_int_equal(rd(g, 0x100c80), rd(other, 0x100c80));
	assert_int_equal(rd(g, 0x100cbc), 1);
	kvgpu_trap_reset(&g->t);
	kvgpu_trap_reset(&other->t);
	for (reg = first; reg < end; reg += 4)
		assert_int_equal(memory[(reg - first) / 4], rd(other, reg));
	guest_free(other);
}

TEST_MAIN(guest_begin, guest_end)
