// SPDX-License-Identifier: GPL-2.0-only
/*
 * The opcodes of boot scripts. The bytes that .length in the table at the end counts are in the
 * ROM. A condition that is not met turns the opcodes behind it off, up to a RESUME, or a NOT.
 */
#include <linux/bitfield.h>
#include <linux/minmax.h>

#include "gk110/devinit.h"
#include "gk110/pfuse.h"
#include "gk110/pmc.h"
#include "hw/post.h"

#define MS	1000u
#define POLL_MS 20

/* operands at @off of the opcode */
static u8 op8(struct hw_post *p, u32 off)
{
	return hw_post_rom8(p, p->at + off);
}

static u16 op16(struct hw_post *p, u32 off)
{
	return hw_post_rom16(p, p->at + off);
}

static u32 op32(struct hw_post *p, u32 off)
{
	return hw_post_rom32(p, p->at + off);
}

/* The opcode has a list of @bytes behind it, all of which must be in the ROM. */
static void list(struct hw_post *p, u32 bytes)
{
	p->next += bytes;
	hw_post_rom8(p, p->next - 1);
}

static u32 shifted(u32 v, u8 shift)
{
	if (shift < 0x80)
		return shift < 32 ? v >> shift : 0;
	return 0x100 - shift < 32 ? v << (0x100 - shift) : 0;
}

/* While opcodes are decoded only, .off says that they may be off. */
static void require(struct hw_post *p, bool met)
{
	if (!met || !p->run)
		p->off = true;
}

/* ------------------------------------------------------------------ conditions */

static bool condition_met(struct hw_post *p, u8 i)
{
	u32 at = hw_post_table(p, BIT_I_CONDITIONS) + i * INIT_CONDITION_SIZE;
	u32 reg = hw_post_rom32(p, at), mask = hw_post_rom32(p, at + 4),
	    val = hw_post_rom32(p, at + 8);

	return (hw_post_read(p, reg) & mask) == val;
}

static void op_condition(struct hw_post *p)
{
	require(p, condition_met(p, op8(p, 1)));
}

static void op_condition_time(struct hw_post *p)
{
	u8 i = op8(p, 1), polls = min_t(u32, op8(p, 2) * 50u, 100);
	bool met = false;

	/* polls is 0 where the opcode has 0 tries; then the condition counts as not met */
	if (!hw_post_on(p))
		condition_met(p, i);
	while (hw_post_on(p) && !met && polls--) {
		met = condition_met(p, i);
		if (!met)
			hw_post_delay(p, POLL_MS * MS);
	}
	require(p, met);
}

static void op_io_condition(struct hw_post *p)
{
	u32 at = hw_post_table(p, BIT_I_IO_CONDITIONS) + op8(p, 1) * INIT_IO_CONDITION_SIZE;
	u16 port = hw_post_rom16(p, at);
	u8 index = hw_post_rom8(p, at + 2), mask = hw_post_rom8(p, at + 3),
	   val = hw_post_rom8(p, at + 4);

	require(p, (hw_post_vga_read(p, port, index) & mask) == val);
}

static void op_io_flag_condition(struct hw_post *p)
{
	u32 at = hw_post_table(p, BIT_I_IO_FLAGS) + op8(p, 1) * INIT_IO_FLAG_SIZE;
	u16 port = hw_post_rom16(p, at), table = hw_post_rom16(p, at + 5);
	u8 index = hw_post_rom8(p, at + 2), mask = hw_post_rom8(p, at + 3),
	   shift = hw_post_rom8(p, at + 4), flags = hw_post_rom8(p, at + 7),
	   val = hw_post_rom8(p, at + 8);
	u8 i = shifted(hw_post_vga_read(p, port, index) & mask, shift & 0x1f);

	require(p, (hw_post_rom8(p, table + i) & flags) == val);
}

/* All but one of these ask for a display's output, which boot scripts do not have. */
static void op_generic_condition(struct hw_post *p)
{
	u8 i = op8(p, 1), size = op8(p, 2);

	switch (i) {
	case INIT_GENERIC_SPPLL0:
	case INIT_GENERIC_SPPLL1:
		size = 0;
		break;
	case INIT_GENERIC_INTERNAL_DP:
	case INIT_GENERIC_ASSR:
	case INIT_GENERIC_NO_PANEL_DELAYS:
		require(p, false);
		size = 0;
		break;
	}
	list(p, size);
}

static void op_ram_condition(struct hw_post *p)
{
	require(p, (hw_post_read(p, INIT_RAM_CONFIG) & op8(p, 1)) == op8(p, 2));
}

static void op_strap_condition(struct hw_post *p)
{
	require(p, (hw_post_read(p, PSTRAPS_BOOT0) & op32(p, 1)) == op32(p, 5));
}

static void op_not(struct hw_post *p)
{
	p->off = !p->run || !p->off;
}

static void op_resume(struct hw_post *p)
{
	p->off = false;
}

/* ------------------------------------------------------------------ control flow */

static void target(struct hw_post *p, u32 to)
{
	if (p->run)
		return;
	if (!to)
		hw_post_fail(p, "calls or jumps to nowhere");
	else if (p->nr_targets == POST_TARGETS)
		hw_post_fail(p, "calls or jumps to too many places");
	else
		p->target[p->nr_targets++] = to;
}

static void frame_push(struct hw_post *p, u32 back, u32 body, u8 left)
{
	if (p->nr_frames == POST_DEPTH) {
		hw_post_fail(p, "calls or repeats too deeply");
		return;
	}
	p->frame[p->nr_frames].back = back;
	p->frame[p->nr_frames].body = body;
	p->frame[p->nr_frames++].left = left;
}

/* An end of a script, of a call, or of the opcodes that are repeated. @end: the opcode behind it */
static void leave(struct hw_post *p, u32 end)
{
	if (!p->nr_frames) {
		p->next = 0;
		return;
	}
	if (end)
		p->frame[p->nr_frames - 1].back = end;
	if (p->frame[p->nr_frames - 1].left) {
		p->frame[p->nr_frames - 1].left--;
		p->next = p->frame[p->nr_frames - 1].body;
		return;
	}
	p->next = p->frame[--p->nr_frames].back;
}

static void op_done(struct hw_post *p)
{
	leave(p, 0);
}

static void call(struct hw_post *p, u32 to)
{
	target(p, to);
	if (!hw_post_on(p))
		return;
	frame_push(p, p->next, 0, 0);
	p->next = to;
}

static void op_sub_direct(struct hw_post *p)
{
	call(p, op16(p, 1));
}

static void op_sub(struct hw_post *p)
{
	u32 to = hw_post_rom16(p, hw_post_table(p, BIT_I_SCRIPTS) + op8(p, 1) * 2);

	if (to)
		call(p, to);
}

static void op_jump(struct hw_post *p)
{
	u32 to = op16(p, 1);

	target(p, to);
	if (!p->off)
		p->next = p->run ? to : 0;
}

/* A repeat's opcodes run even where no END_REPEAT follows: then up to the script's DONE. */
static void op_repeat(struct hw_post *p)
{
	u8 nr = op8(p, 1);

	if (p->run && nr)
		frame_push(p, p->next, p->next, nr - 1);
}

static void op_end_repeat(struct hw_post *p)
{
	if (p->run && p->nr_frames && p->frame[p->nr_frames - 1].body)
		leave(p, p->next);
}

static void op_skip(struct hw_post *p)
{
}

/* ------------------------------------------------------------------ time */

static void op_ltime(struct hw_post *p)
{
	hw_post_delay(p, op16(p, 1) * MS);
}

static void op_time(struct hw_post *p)
{
	u16 us = op16(p, 1);

	hw_post_delay(p, us < MS ? us : (us + 900) / MS * MS);
}

/* ------------------------------------------------------------------ registers */

static void op_andn_reg(struct hw_post *p)
{
	hw_post_mask(p, op32(p, 1), op32(p, 5), 0);
}

static void op_or_reg(struct hw_post *p)
{
	hw_post_mask(p, op32(p, 1), 0, op32(p, 5));
}

static void op_nv_reg(struct hw_post *p)
{
	hw_post_mask(p, op32(p, 1), ~op32(p, 5), op32(p, 9));
}

static void op_zm_reg(struct hw_post *p)
{
	u32 reg = op32(p, 1), val = op32(p, 5);

	/* nouveau keeps the first engine bit set */
	hw_post_write(p, reg, reg == PMC_ENABLE ? val | 1 : val);
}

static void op_zm_reg16(struct hw_post *p)
{
	hw_post_write(p, op32(p, 1), op16(p, 5));
}

static void op_zm_reg_indirect(struct hw_post *p)
{
	hw_post_write(p, op32(p, 1), hw_post_rom32(p, op16(p, 5)));
}

static void registers_write(struct hw_post *p, u32 step)
{
	u32 reg = op32(p, 1), i, nr = op8(p, 5);

	for (i = 0; i < nr && !p->why; i++)
		hw_post_write(p, reg + i * step, op32(p, 6 + i * 4));
	list(p, nr * 4);
}

static void op_zm_reg_sequence(struct hw_post *p)
{
	registers_write(p, 4);
}

static void op_zm_reg_group(struct hw_post *p)
{
	registers_write(p, 0);
}

static void op_copy_nv_reg(struct hw_post *p)
{
	u32 v = shifted(hw_post_read(p, op32(p, 1)), op8(p, 5));

	hw_post_mask(p, op32(p, 14), ~op32(p, 18), (v & op32(p, 6)) ^ op32(p, 10));
}

static void op_copy_zm_reg(struct hw_post *p)
{
	hw_post_write(p, op32(p, 5), hw_post_read(p, op32(p, 1)));
}

static void op_zm_mask_add(struct hw_post *p)
{
	u32 reg = op32(p, 1), mask = op32(p, 5), v = hw_post_read(p, reg);

	hw_post_write(p, reg, (v & mask) | ((v + op32(p, 9)) & ~mask));
}

static void op_xlat(struct hw_post *p)
{
	u32 i = shifted(hw_post_read(p, op32(p, 1)), op8(p, 5)) & op8(p, 6);
	u32 table = hw_post_rom16(p, hw_post_table(p, BIT_I_XLAT) + op8(p, 7) * 2), v = 0;

	if (table)
		v = hw_post_rom8(p, table + i);
	hw_post_mask(p, op32(p, 8), ~op32(p, 12), op8(p, 16) < 32 ? v << op8(p, 16) : 0);
}

static void op_macro(struct hw_post *p)
{
	u32 at = hw_post_table(p, BIT_I_MACROS) + op8(p, 1) * INIT_MACRO_SIZE;

	hw_post_write(p, hw_post_rom32(p, at), hw_post_rom32(p, at + 4));
}

static void op_index_address_latched(struct hw_post *p)
{
	u32 control = op32(p, 1), data = op32(p, 5), mask = op32(p, 9), set = op32(p, 13), i,
	    nr = op8(p, 17);

	for (i = 0; i < nr && !p->why; i++) {
		hw_post_write(p, data, op8(p, 19 + i * 2));
		hw_post_mask(p, control, ~mask, set | op8(p, 18 + i * 2));
	}
	list(p, nr * 2);
}

/* Forced: also where a condition was not met. */
static void op_reset(struct hw_post *p)
{
	bool off = p->off;
	u32 timing;

	p->off = false;
	timing = hw_post_mask(p, INIT_PCI_TIMING, INIT_PCI_TIMING_BITS, 0);
	hw_post_write(p, op32(p, 1), op32(p, 5));
	hw_post_delay(p, 10);
	hw_post_write(p, op32(p, 1), op32(p, 9));
	hw_post_write(p, INIT_PCI_TIMING, timing);
	hw_post_mask(p, INIT_PCI_ROM, INIT_PCI_ROM_BIT, 0);
	p->off = off;
}

/* ------------------------------------------------------------------ variants of the memory */

static u32 ram_count(struct hw_post *p)
{
	return p->bit_m && p->bit_m_size >= 3 ? hw_post_rom8(p, p->bit_m + BIT_M_COUNT) : 0;
}

/* Looks the strap up in table M0203. False: it has no entry for it, or there is no such table. */
static bool ram_group(struct hw_post *p, u32 strap, int *group)
{
	u32 at = p->bit_m_size >= 7 ? hw_post_rom16(p, p->bit_m + BIT_M_M0203) : 0, i;
	u8 header, size, nr;

	if (!at || hw_post_rom8(p, at) != 0x10 ||
	    hw_post_rom8(p, at + M0203_TYPE) != M0203_TYPE_STRAP)
		return false;
	header = hw_post_rom8(p, at + 1);
	size = hw_post_rom8(p, at + 2);
	nr = hw_post_rom8(p, at + 3);
	for (i = 0, at += header; i < nr && !p->why; i++, at += size) {
		if (FIELD_GET(M0203_ENTRY_STRAP, hw_post_rom8(p, at)) != strap)
			continue;
		*group = FIELD_GET(M0203_ENTRY_GROUP, hw_post_rom8(p, at + 1));
		return true;
	}
	return false;
}

/* The straps are read once in a script: scripts change what they show (nouveau). */
static u32 ram_index(struct hw_post *p)
{
	u32 strap, table;

	if (p->ram >= 0 || !p->bit_m || !hw_post_on(p))
		return max(p->ram, 0);
	strap = FIELD_GET(PSTRAPS_RAMCFG, hw_post_read(p, PSTRAPS_BOOT0));
	p->ram = strap;
	if (p->bit_m_size < 3 || ram_group(p, strap, &p->ram))
		return p->ram;
	table = hw_post_rom16(p, p->bit_m + BIT_M_XLAT);
	if (table)
		p->ram = hw_post_rom8(p, table + strap);
	return p->ram;
}

static void op_ram_restrict_zm_reg_group(struct hw_post *p)
{
	u32 reg = op32(p, 1), step = op8(p, 5), nr = op8(p, 6), i, count = ram_count(p),
	    index = ram_index(p);

	for (i = 0; i < nr && index < count && !p->why; i++)
		hw_post_write(p, reg + i * step, op32(p, 7 + (i * count + index) * 4));
	list(p, nr * count * 4);
}

static void op_ram_restrict_pll(struct hw_post *p)
{
	list(p, ram_count(p) * 4);
}

/* ------------------------------------------------------------------ VGA ports */

/* Clears the bits that are not in @mask, and sets @set. */
static void vga_mask(struct hw_post *p, u16 port, u8 index, u8 mask, u8 set)
{
	u8 v = hw_post_vga_read(p, port, index) & mask;

	hw_post_vga_write(p, port, index, v | set);
}

static u32 io_restrict_index(struct hw_post *p)
{
	return shifted(hw_post_vga_read(p, op16(p, 1), op8(p, 3)) & op8(p, 4), op8(p, 5) & 0x1f);
}

static void op_io_restrict_prog(struct hw_post *p)
{
	u32 nr = op8(p, 6), i = io_restrict_index(p);

	if (i < nr)
		hw_post_write(p, op32(p, 7), op32(p, 11 + i * 4));
	list(p, nr * 4);
}

static void op_io_restrict_pll(struct hw_post *p)
{
	u32 nr = op8(p, 7);

	io_restrict_index(p);
	list(p, nr * 2);
}

static void op_io_restrict_pll2(struct hw_post *p)
{
	u32 nr = op8(p, 6);

	io_restrict_index(p);
	list(p, nr * 4);
}

static void op_copy(struct hw_post *p)
{
	u16 port = op16(p, 7);
	u8 index = op8(p, 9), v = hw_post_vga_read(p, port, index) & op8(p, 10);

	v |= shifted(hw_post_read(p, op32(p, 1)), op8(p, 5)) & op8(p, 6);
	hw_post_vga_write(p, port, index, v);
}

/* Boot scripts have no output: it counts as number 0. */
static void op_io_mask_or(struct hw_post *p)
{
	vga_mask(p, VGA_PORT_CRTC, op8(p, 1), 0xfe, 0);
}

static void op_io_or(struct hw_post *p)
{
	vga_mask(p, VGA_PORT_CRTC, op8(p, 1), 0xff, 1);
}

static void op_cr_index_address_latched(struct hw_post *p)
{
	u8 at = op8(p, 1), data = op8(p, 2), first = op8(p, 3), saved;
	u32 i, nr = op8(p, 4);

	saved = hw_post_vga_read(p, VGA_PORT_CRTC, at);
	for (i = 0; i < nr && !p->why; i++) {
		hw_post_vga_write(p, VGA_PORT_CRTC, at, first + i);
		hw_post_vga_write(p, VGA_PORT_CRTC, data, op8(p, 5 + i));
	}
	hw_post_vga_write(p, VGA_PORT_CRTC, at, saved);
	list(p, nr);
}

static void op_cr(struct hw_post *p)
{
	vga_mask(p, VGA_PORT_CRTC, op8(p, 1), op8(p, 2), op8(p, 3));
}

static void op_zm_cr(struct hw_post *p)
{
	hw_post_vga_write(p, VGA_PORT_CRTC, op8(p, 1), op8(p, 2));
}

static void op_zm_cr_group(struct hw_post *p)
{
	u32 i, nr = op8(p, 1);

	for (i = 0; i < nr && !p->why; i++)
		hw_post_vga_write(p, VGA_PORT_CRTC, op8(p, 2 + i * 2), op8(p, 3 + i * 2));
	list(p, nr * 2);
}

static void op_index_io(struct hw_post *p)
{
	vga_mask(p, op16(p, 1), op8(p, 3), op8(p, 4), op8(p, 5));
}

static void op_zm_index_io(struct hw_post *p)
{
	hw_post_vga_write(p, op16(p, 1), op8(p, 3), op8(p, 4));
}

static void heads_clock(struct hw_post *p, u32 clock)
{
	hw_post_write(p, INIT_VGA_CLOCK(0), clock);
	hw_post_write(p, INIT_VGA_CLOCK(1), clock);
}

static void vga_switch_on(struct hw_post *p)
{
	hw_post_mask(p, INIT_VGA_CLOCK(0), INIT_VGA_CLOCK_BITS, INIT_VGA_CLOCK_HOLD);
	hw_post_mask(p, INIT_VGA_PLL, INIT_VGA_PLL_BIT, INIT_VGA_PLL_BIT);
	hw_post_mask(p, INIT_VGA_CLOCK(1), INIT_VGA_CLOCK_BITS, INIT_VGA_CLOCK_HOLD);
	hw_post_mask(p, PMC_ENABLE, PMC_ENABLE_DISP, 0);
	hw_post_delay(p, 10 * MS);
	hw_post_mask(p, INIT_VGA_PLL, INIT_VGA_PLL_BIT, 0);
	hw_post_mask(p, PMC_ENABLE, PMC_ENABLE_DISP, PMC_ENABLE_DISP);
	heads_clock(p, INIT_VGA_CLOCK_SET);
	hw_post_delay(p, 10 * MS);
	heads_clock(p, INIT_VGA_CLOCK_RUN);
}

static void op_io(struct hw_post *p)
{
	u16 port = op16(p, 1);
	u8 mask = op8(p, 3), set = op8(p, 4);

	if (port == VGA_PORT_ENABLE && set == 1)
		vga_switch_on(p);
	hw_post_port_write(p, port, (hw_post_port_read(p, port) & mask) | set);
}

/* ------------------------------------------------------------------ displays */

static void op_tmds_byte(struct hw_post *p)
{
	u32 i = op8(p, 1), addr = op8(p, 2), mask = op8(p, 3), set = op8(p, 4);

	if (i < INIT_TMDS_NR) {
		hw_post_write(p, INIT_TMDS(i), addr | INIT_TMDS_READ);
		hw_post_mask(p, INIT_TMDS(i) + INIT_TMDS_DATA, ~mask, set);
		hw_post_write(p, INIT_TMDS(i), addr);
	}
}

static void op_zm_tmds_group(struct hw_post *p)
{
	u32 i = op8(p, 1), k, nr = op8(p, 2);

	for (k = 0; k < nr && i < INIT_TMDS_NR && !p->why; k++) {
		hw_post_write(p, INIT_TMDS(i) + INIT_TMDS_DATA, op8(p, 4 + k * 2));
		hw_post_write(p, INIT_TMDS(i), op8(p, 3 + k * 2));
	}
	list(p, nr * 2);
}

static void op_auxch(struct hw_post *p)
{
	list(p, op8(p, 5) * 2);
}

static void op_zm_auxch(struct hw_post *p)
{
	list(p, op8(p, 5));
}

/* ------------------------------------------------------------------ I2C and pins */

static void op_i2c_byte(struct hw_post *p)
{
	u8 port = op8(p, 1), addr = op8(p, 2) >> 1, out[2], v;
	u32 i, nr = op8(p, 3);

	for (i = 0; i < nr && !p->why; i++) {
		out[0] = op8(p, 4 + i * 3);
		if (!hw_post_i2c(p, port, addr, out, 1, &v))
			continue;
		out[1] = (v & op8(p, 5 + i * 3)) | op8(p, 6 + i * 3);
		hw_post_i2c(p, port, addr, out, 2, NULL);
	}
	list(p, nr * 3);
}

static void op_zm_i2c_byte(struct hw_post *p)
{
	u8 port = op8(p, 1), addr = op8(p, 2) >> 1, out[2];
	u32 i, nr = op8(p, 3);

	for (i = 0; i < nr && !p->why; i++) {
		out[0] = op8(p, 4 + i * 2);
		out[1] = op8(p, 5 + i * 2);
		hw_post_i2c(p, port, addr, out, 2, NULL);
	}
	list(p, nr * 2);
}

static void op_zm_i2c(struct hw_post *p)
{
	u32 nr = op8(p, 3);

	list(p, nr);
	if (!p->why)
		hw_post_i2c(p, op8(p, 1), op8(p, 2) >> 1, p->rom + p->at + 4, nr, NULL);
}

/* Forced: also where a condition was not met. @mask: offset of the operand */
static void i2c_condition(struct hw_post *p, u8 addr, const u8 *reg, unsigned int nr, u32 mask)
{
	bool off = p->off, met;
	u8 v;

	p->off = false;
	met = hw_post_i2c(p, op8(p, 1), addr, reg, nr, &v) &&
	      (v & op8(p, mask)) == op8(p, mask + 1);
	p->off = off;
	require(p, met);
}

/* The address has no bit for reads here. */
static void op_i2c_if(struct hw_post *p)
{
	u8 reg = op8(p, 3);

	i2c_condition(p, op8(p, 2), &reg, 1, 4);
}

static void op_i2c_long_if(struct hw_post *p)
{
	u8 reg[2] = { op8(p, 4), op8(p, 3) };

	i2c_condition(p, op8(p, 2) >> 1, reg, 2, 5);
}

static void op_gpio(struct hw_post *p)
{
	hw_post_gpio_reset(p, 0, 0);
}

static void op_gpio_ne(struct hw_post *p)
{
	u32 nr = op8(p, 1);

	list(p, nr);
	hw_post_gpio_reset(p, p->at + 2, nr);
}

/* CONFIGURE opcodes end a script on all cards of this age. */
const struct hw_post_op hw_post_ops[POST_OPS] = {
	[INIT_IO_RESTRICT_PROG] = { op_io_restrict_prog, 11 },
	[INIT_REPEAT] = { op_repeat, 2 },
	[INIT_IO_RESTRICT_PLL] = { op_io_restrict_pll, 12 },
	[INIT_END_REPEAT] = { op_end_repeat, 1 },
	[INIT_COPY] = { op_copy, 11 },
	[INIT_NOT] = { op_not, 1 },
	[INIT_IO_FLAG_CONDITION] = { op_io_flag_condition, 2 },
	[INIT_GENERIC_CONDITION] = { op_generic_condition, 3 },
	[INIT_IO_MASK_OR] = { op_io_mask_or, 2 },
	[INIT_IO_OR] = { op_io_or, 2 },
	[INIT_ANDN_REG] = { op_andn_reg, 9 },
	[INIT_OR_REG] = { op_or_reg, 9 },
	[INIT_INDEX_ADDRESS_LATCHED] = { op_index_address_latched, 18 },
	[INIT_IO_RESTRICT_PLL2] = { op_io_restrict_pll2, 11 },
	[INIT_PLL2] = { op_skip, 9 },
	[INIT_I2C_BYTE] = { op_i2c_byte, 4 },
	[INIT_ZM_I2C_BYTE] = { op_zm_i2c_byte, 4 },
	[INIT_ZM_I2C] = { op_zm_i2c, 4 },
	[INIT_TMDS_BYTE] = { op_tmds_byte, 5 },
	[INIT_ZM_TMDS_GROUP] = { op_zm_tmds_group, 3 },
	[INIT_CR_INDEX_ADDRESS_LATCHED] = { op_cr_index_address_latched, 5 },
	[INIT_CR] = { op_cr, 4 },
	[INIT_ZM_CR] = { op_zm_cr, 3 },
	[INIT_ZM_CR_GROUP] = { op_zm_cr_group, 2 },
	[INIT_CONDITION_TIME] = { op_condition_time, 3 },
	[INIT_LTIME] = { op_ltime, 3 },
	[INIT_ZM_REG_SEQUENCE] = { op_zm_reg_sequence, 6 },
	[INIT_PLL_INDIRECT] = { op_skip, 7 },
	[INIT_ZM_REG_INDIRECT] = { op_zm_reg_indirect, 7 },
	[INIT_SUB_DIRECT] = { op_sub_direct, 3 },
	[INIT_JUMP] = { op_jump, 3 },
	[INIT_I2C_IF] = { op_i2c_if, 6 },
	[INIT_COPY_NV_REG] = { op_copy_nv_reg, 22 },
	[INIT_ZM_INDEX_IO] = { op_zm_index_io, 5 },
	[INIT_COMPUTE_MEM] = { op_skip, 1 },
	[INIT_RESET] = { op_reset, 13 },
	[INIT_CONFIGURE_MEM] = { op_done, 1 },
	[INIT_CONFIGURE_CLK] = { op_done, 1 },
	[INIT_CONFIGURE_PREINIT] = { op_done, 1 },
	[INIT_IO] = { op_io, 5 },
	[INIT_SUB] = { op_sub, 2 },
	[INIT_RAM_CONDITION] = { op_ram_condition, 3 },
	[INIT_NV_REG] = { op_nv_reg, 13 },
	[INIT_MACRO] = { op_macro, 2 },
	[INIT_DONE] = { op_done, 1 },
	[INIT_RESUME] = { op_resume, 1 },
	[INIT_STRAP_CONDITION] = { op_strap_condition, 9 },
	[INIT_TIME] = { op_time, 3 },
	[INIT_CONDITION] = { op_condition, 2 },
	[INIT_IO_CONDITION] = { op_io_condition, 2 },
	[INIT_ZM_REG16] = { op_zm_reg16, 7 },
	[INIT_INDEX_IO] = { op_index_io, 6 },
	[INIT_PLL] = { op_skip, 7 },
	[INIT_ZM_REG] = { op_zm_reg, 9 },
	[INIT_RAM_RESTRICT_PLL] = { op_ram_restrict_pll, 2 },
	[INIT_RESET_BEGUN] = { op_skip, 1 },
	[INIT_RESET_END] = { op_skip, 1 },
	[INIT_GPIO] = { op_gpio, 1 },
	[INIT_RAM_RESTRICT_ZM_REG_GROUP] = { op_ram_restrict_zm_reg_group, 7 },
	[INIT_COPY_ZM_REG] = { op_copy_zm_reg, 9 },
	[INIT_ZM_REG_GROUP] = { op_zm_reg_group, 6 },
	[INIT_RESERVED_92] = { op_skip, 1 },
	[INIT_XLAT] = { op_xlat, 17 },
	[INIT_ZM_MASK_ADD] = { op_zm_mask_add, 13 },
	[INIT_AUXCH] = { op_auxch, 6 },
	[INIT_ZM_AUXCH] = { op_zm_auxch, 6 },
	[INIT_I2C_LONG_IF] = { op_i2c_long_if, 7 },
	[INIT_GPIO_NE] = { op_gpio_ne, 2 },
	[INIT_RESERVED_AA] = { op_skip, 4 },
};
