// SPDX-License-Identifier: GPL-2.0-only
/*
 * The boot scripts of a VBIOS: ordered writes equal those of nouveau's interpreter on the same
 * registers, and a VBIOS with an error is refused before the first access. KVGPU_VBIOS names the
 * VBIOS of a real card, which is decoded and run on a file of registers.
 */
#include <linux/errno.h>
#include <selftests/unit_test.h>
#include <stdio.h>

#include "gk110/devinit.h"
#include "gk110/map.h"
#include "gk110/ptop.h"
#include "hw/post.h"
#include "postrom.h"

#define REFERENCE "selftests/module/unit/hw/nouveau_post.writes"
#define ACKED	  PMGR_I2C(0) /* each byte is acknowledged, and reads give 0 */

#define R16(v) POSTROM_16(v)
#define R32(v) POSTROM_32(v)

static u32 *reg;
static struct hw_post *post;
static struct postrom rom;
static u64 us;
static u32 nr_writes;
/* compared with each write, if not NULL */
static FILE *reference;

/* What registers hold at first: recordings depend on it. */
static u32 first_value(u32 i)
{
	u32 v = i * 2654435761u ^ 1;

	v ^= v >> 15;
	v *= 2246822519u;
	return v ^ v >> 13;
}

static u32 card_read(void *ctx, u32 at)
{
	u32 v = reg[at / 4];

	assert_true(at < GK110_BAR0_SIZE && at % 4 == 0);
	if (at < PMGR_I2C(0) || at >= PMGR_I2C(4) || (at - PMGR_I2C(0)) % 0x20)
		return v;
	v &= ~(PMGR_I2C_SCL_IN | PMGR_I2C_SDA_IN);
	v |= v & PMGR_I2C_SCL ? PMGR_I2C_SCL_IN : 0;
	return v | (at != ACKED && v & PMGR_I2C_SDA ? PMGR_I2C_SDA_IN : 0);
}

static void compare(const char *kind, u32 at, u32 val)
{
	char line[80], want[160];

	nr_writes++;
	if (!reference)
		return;
	do
		if (!fgets(want, sizeof(want), reference))
			fail_msg("write %u: there is one more than nouveau's", nr_writes);
	while (want[0] == '#');
	snprintf(line, sizeof(line), "%s %06x %x\n", kind, at, val);
	if (strcmp(line, want))
		fail_msg("write %u: %snouveau: %s", nr_writes, line, want);
}

static void card_write(void *ctx, u32 at, u32 val)
{
	assert_true(at < GK110_BAR0_SIZE && at % 4 == 0);
	compare("w", at, val);
	reg[at / 4] = val;
}

static u8 card_read8(void *ctx, u32 at)
{
	return ((u8 *)reg)[at];
}

static void card_write8(void *ctx, u32 at, u8 val)
{
	compare("b", at, val);
	((u8 *)reg)[at] = val;
}

static void card_delay(void *ctx, unsigned int n)
{
	us += n;
}

static const struct hw_post_io io = { card_read,   card_write, card_read8,
				      card_write8, card_delay, NULL };

static int make(void **state)
{
	u32 i;

	reg = malloc(GK110_BAR0_SIZE);
	post = malloc(sizeof(*post));
	if (!reg || !post)
		return -1;
	for (i = 0; i < GK110_BAR0_SIZE / 4; i++)
		reg[i] = first_value(i);
	reg[0x101000 / 4] = (reg[0x101000 / 4] & ~0x3c) | 1 << 2; /* strap 1 */
	us = nr_writes = 0;
	postrom_begin(&rom);
	return 0;
}

static int unmake(void **state)
{
	if (reference)
		fclose(reference);
	reference = NULL;
	free(reg);
	free(post);
	return 0;
}

static int run(void)
{
	return hw_post_run(post, rom.rom, sizeof(rom.rom), &io);
}

static int run_script(const void *script, u32 len)
{
	postrom_script(&rom, 0, postrom_put(&rom, script, len));
	return run();
}
#define RUN(...)                                     \
	({                                           \
		const u8 script[] = { __VA_ARGS__ }; \
		run_script(script, sizeof(script));  \
	})

/* ------------------------------------------------------------------ what opcodes do */

TEST(writes_equal_nouveaus)
{
	char line[80];
	int ret;

	reference = fopen(REFERENCE, "r");
	assert_non_null(reference);
	postrom_full(&rom);
	ret = run();
	if (ret)
		fail_msg("opcode at 0x%x %s", post->at, post->why);
	while (fgets(line, sizeof(line), reference))
		fail_msg("nouveau writes one more: %s", line);
	assert_true(nr_writes > 1000);
	/* the opcodes' own delays, without those of I2C, are 2,025 ms */
	assert_true(us > 2020000 && us < 2100000);
}

TEST(each_opcode_is_there)
{
	static const u8 rest[] = { INIT_ZM_REG_INDIRECT };
	unsigned int op, known = 0;

	postrom_full(&rom);
	for (op = 0; op < POST_OPS; op++) {
		known += !!hw_post_ops[op].exec;
		if (hw_post_ops[op].exec && op != rest[0])
			assert_non_null(memchr(rom.rom + 0x200, op, rom.at - 0x200));
	}
	assert_int_equal(known, 69);
}

TEST(indirect_writes_what_it_names)
{
	u32 data = postrom_put(&rom, (u8[]){ R32(0x12345678) }, 4);

	assert_int_equal(RUN(INIT_ZM_REG_INDIRECT, R32(0x10f000), R16(data), INIT_DONE), 0);
	assert_int_equal(nr_writes, 1);
	assert_int_equal(reg[0x10f000 / 4], 0x12345678);
}

/* Behind a jump that is always taken there may be something else than opcodes. */
TEST(a_jump_ends_a_script)
{
	u32 tail = postrom_put(&rom, (u8[]){ INIT_DONE }, 1);

	assert_int_equal(RUN(INIT_JUMP, R16(tail), 0, 0), 0);
	assert_int_equal(RUN(INIT_CONDITION, 0, INIT_JUMP, R16(tail), 0, 0), -EINVAL);
}

/* ------------------------------------------------------------------ what is refused */

static void refused(const char *why, u8 op)
{
	assert_int_equal(nr_writes, 0);
	assert_string_equal(post->why, why);
	if (op && rom.rom[post->at] != op)
		fail_msg("the fault is told of opcode %02x at %x", rom.rom[post->at], post->at);
}

#define WRITE INIT_ZM_REG, R32(0x10f000), R32(1)

TEST(an_unknown_opcode)
{
	static const char unknown[] = "unknown opcode";
	u32 bad = postrom_put(&rom, (u8[]){ WRITE, 0x5d, INIT_DONE }, 11);

	assert_int_equal(RUN(WRITE, 0xff), -EINVAL);
	refused(unknown, 0xff);
	assert_int_equal(RUN(WRITE, INIT_SUB_DIRECT, R16(bad), INIT_DONE), -EINVAL);
	refused(unknown, 0x5d);
	assert_int_equal(post->at, bad + 9);
	/* also where it would be off at run time, or comes in a later script */
	assert_int_equal(RUN(WRITE, INIT_CONDITION, 1, INIT_SUB_DIRECT, R16(bad), INIT_DONE),
			 -EINVAL);
	refused(unknown, 0x5d);
	postrom_script(&rom, 1, bad);
	assert_int_equal(RUN(WRITE, INIT_DONE), -EINVAL);
	refused(unknown, 0x5d);
}

TEST(what_lies_outside)
{
	static const char past[] = "points past the end of the VBIOS",
			  none[] = "names a register that does not exist";

	assert_int_equal(RUN(WRITE, INIT_SUB_DIRECT, R16(0xfff0), INIT_DONE), -EINVAL);
	refused(past, 0);
	assert_int_equal(RUN(WRITE, INIT_ZM_REG, R32(0x1000000), R32(0), INIT_DONE), -EINVAL);
	refused(none, INIT_ZM_REG);
	assert_int_equal(RUN(WRITE, INIT_NV_REG, R32(0x20000004), R32(0), R32(0), INIT_DONE),
			 -EINVAL);
	refused(none, INIT_NV_REG);
	assert_int_equal(RUN(WRITE, INIT_ZM_REG_SEQUENCE, R32(0xfffffc), 2, R32(0), R32(0),
			     INIT_DONE),
			 -EINVAL);
	refused(none, INIT_ZM_REG_SEQUENCE);
	assert_int_equal(RUN(WRITE, INIT_SUB_DIRECT, R16(0), INIT_DONE), -EINVAL);
	refused("calls or jumps to nowhere", INIT_SUB_DIRECT);
	/* a list that begins in the VBIOS, and does not end there */
	rom.rom[POSTROM_SIZE - 7] = INIT_ZM_I2C;
	rom.rom[POSTROM_SIZE - 4] = 4;
	postrom_script(&rom, 0, POSTROM_SIZE - 7);
	assert_int_equal(run(), -EINVAL);
	refused(past, INIT_ZM_I2C);
}

TEST(what_has_no_table)
{
	memset(rom.rom + 0x80 + BIT_I_MACROS, 0, 2);
	assert_int_equal(RUN(WRITE, INIT_MACRO, 0, INIT_DONE), -EINVAL);
	refused("needs a table that the VBIOS lacks", INIT_MACRO);
	rom.rom[0x40 + 12] = 'J';
	assert_int_equal(run(), -EINVAL);
	refused("the VBIOS has no table of boot scripts (BIT I)", 0);
	rom.rom[0x41] = 0;
	assert_int_equal(run(), -EINVAL);
	refused("the VBIOS has no BIT", 0);
}

/* These can't be seen before they run. */
TEST(what_does_not_end)
{
	u32 self = rom.at;

	assert_int_equal(RUN(INIT_JUMP, R16(self)), -EINVAL);
	refused("takes too many steps: is it an endless loop?", INIT_JUMP);
	self = rom.at;
	assert_int_equal(RUN(INIT_SUB_DIRECT, R16(self), INIT_DONE), -EINVAL);
	refused("calls or repeats too deeply", INIT_SUB_DIRECT);
	assert_int_equal(RUN(INIT_REPEAT, 255, INIT_LTIME, R16(60000), INIT_END_REPEAT, INIT_DONE),
			 -EINVAL);
	refused("waits for too long", INIT_LTIME);
	assert_true(us < 60000000);
}

/* A VBIOS of any length: its end is the end. */
TEST(every_length)
{
	u32 size;
	u8 *copy;

	postrom_full(&rom);
	for (size = 0; size < rom.at; size++) {
		copy = malloc(size + 1);
		assert_non_null(copy);
		memcpy(copy, rom.rom, size);
		assert_int_equal(hw_post_run(post, copy, size, &io), -EINVAL);
		assert_int_equal(nr_writes, 0);
		free(copy);
	}
}

/* ------------------------------------------------------------------ a real card's */

TEST(users_vbios)
{
	const char *path = getenv("KVGPU_VBIOS");
	static u8 data[1 << 20];
	u32 size;
	FILE *in;

	if (!path)
		skip();
	in = fopen(path, "rb");
	assert_non_null(in);
	size = fread(data, 1, sizeof(data), in);
	fclose(in);
	reg[PTOP_DEVINIT / 4] = 0;
	if (hw_post_run(post, data, size, &io))
		fail_msg("opcode 0x%02x at 0x%x %s", data[post->at], post->at, post->why);
	assert_true(nr_writes > 100);
	assert_true(reg[PTOP_DEVINIT / 4] & PTOP_DEVINIT_DONE);
}

TEST_MAIN(make, unmake)
