// SPDX-License-Identifier: GPL-2.0-only
/* The ROM, the registers and the time, as boot scripts use them. post.h has the contracts. */
#include <linux/errno.h>
#include <linux/string.h>

#include "gk110/devinit.h"
#include "gk110/map.h"
#include "gk110/vbios.h"
#include "hw/post.h"

#define WAITED_MAX 50000000u /* us */

void hw_post_fail(struct hw_post *p, const char *why)
{
	if (!p->why)
		p->why = why;
}

/* ------------------------------------------------------------------ the ROM */

static u32 rom_get(struct hw_post *p, u32 at, unsigned int bytes)
{
	u32 v = 0;

	if (at > p->size || p->size - at < bytes) {
		hw_post_fail(p, "points past the end of the VBIOS");
		return 0;
	}
	while (bytes--)
		v = v << 8 | p->rom[at + bytes];
	return v;
}

u8 hw_post_rom8(struct hw_post *p, u32 at)
{
	return rom_get(p, at, 1);
}

u16 hw_post_rom16(struct hw_post *p, u32 at)
{
	return rom_get(p, at, 2);
}

u32 hw_post_rom32(struct hw_post *p, u32 at)
{
	return rom_get(p, at, 4);
}

static u32 bit_find(const struct hw_post *p)
{
	u32 at;

	for (at = 0; at + BIT_HEADER_LENGTH <= p->size; at++)
		if (!memcmp(p->rom + at, BIT_SIGNATURE, BIT_SIGNATURE_LENGTH))
			return at;
	return 0;
}

void hw_post_tables(struct hw_post *p)
{
	u32 bit = bit_find(p), at, i, nr, step;

	if (!bit) {
		hw_post_fail(p, "the VBIOS has no BIT");
		return;
	}
	nr = hw_post_rom8(p, bit + BIT_ENTRY_COUNT);
	step = hw_post_rom8(p, bit + BIT_ENTRY_SIZE);
	for (i = 0, at = bit + BIT_HEADER_LENGTH; i < nr && !p->why; i++, at += step) {
		u8 id = hw_post_rom8(p, at + BIT_ENTRY_ID);
		u32 size = hw_post_rom16(p, at + BIT_ENTRY_TABLE_LENGTH),
		    table = hw_post_rom16(p, at + BIT_ENTRY_TABLE);

		if (id == 'I' && !p->bit_i) {
			p->bit_i = table;
			p->bit_i_size = size;
		} else if (id == 'M' && !p->bit_m && hw_post_rom8(p, at + BIT_ENTRY_VERSION) == 2) {
			p->bit_m = table;
			p->bit_m_size = size;
		}
	}
	if (!p->bit_i)
		hw_post_fail(p, "the VBIOS has no table of boot scripts (BIT I)");
	p->dcb = hw_post_rom16(p, ROM_DCB_POINTER);
	if (p->dcb && hw_post_rom32(p, p->dcb + DCB_SIGNATURE_AT) != DCB_SIGNATURE)
		p->dcb = 0;
}

u32 hw_post_table(struct hw_post *p, u32 slot)
{
	u32 at = slot + 2 <= p->bit_i_size ? hw_post_rom16(p, p->bit_i + slot) : 0;

	if (!at)
		hw_post_fail(p, "needs a table that the VBIOS lacks");
	return at;
}

/* ------------------------------------------------------------------ the card */

bool hw_post_step(struct hw_post *p)
{
	if (++p->steps > POST_STEPS)
		hw_post_fail(p, "takes too many steps: is it an endless loop?");
	return !p->why;
}

bool hw_post_on(struct hw_post *p)
{
	return p->run && !p->off && !p->why;
}

/* No head or output is chosen in boot scripts: then nouveau takes the first one, too. */
static u32 reg_of(struct hw_post *p, u32 reg)
{
	reg &= ~3u;
	if (reg & INIT_REG_OR)
		reg &= ~INIT_REG_LINK;
	reg &= ~(INIT_REG_HEAD | INIT_REG_OR);
	if (reg >= GK110_BAR0_SIZE)
		hw_post_fail(p, "names a register that does not exist");
	return reg;
}

u32 hw_post_read(struct hw_post *p, u32 reg)
{
	reg = reg_of(p, reg);
	return hw_post_step(p) && hw_post_on(p) ? p->io->read(p->io->ctx, reg) : 0;
}

void hw_post_write(struct hw_post *p, u32 reg, u32 val)
{
	reg = reg_of(p, reg);
	if (hw_post_step(p) && hw_post_on(p))
		p->io->write(p->io->ctx, reg, val);
}

u32 hw_post_mask(struct hw_post *p, u32 reg, u32 clear, u32 set)
{
	u32 old = hw_post_read(p, reg);

	hw_post_write(p, reg, (old & ~clear) | set);
	return old;
}

u8 hw_post_port_read(struct hw_post *p, u16 port)
{
	return hw_post_step(p) && hw_post_on(p) ? p->io->read8(p->io->ctx, PRMIO_PORT(port)) : 0;
}

void hw_post_port_write(struct hw_post *p, u16 port, u8 val)
{
	if (hw_post_step(p) && hw_post_on(p))
		p->io->write8(p->io->ctx, PRMIO_PORT(port), val);
}

static bool has_index(u16 port)
{
	return port == VGA_PORT_SEQUENCER || port == VGA_PORT_GRAPHICS || port == VGA_PORT_CRTC;
}

u8 hw_post_vga_read(struct hw_post *p, u16 port, u8 index)
{
	if (!has_index(port))
		return 0;
	hw_post_port_write(p, port, index);
	return hw_post_port_read(p, port + 1);
}

void hw_post_vga_write(struct hw_post *p, u16 port, u8 index, u8 val)
{
	if (!has_index(port))
		return;
	hw_post_port_write(p, port, index);
	hw_post_port_write(p, port + 1, val);
}

void hw_post_delay(struct hw_post *p, u32 us)
{
	if (!hw_post_step(p) || !hw_post_on(p))
		return;
	p->waited_us += us;
	if (p->waited_us > WAITED_MAX)
		hw_post_fail(p, "waits for too long");
	else
		p->io->delay(p->io->ctx, us);
}
