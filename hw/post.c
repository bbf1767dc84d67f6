// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks a VBIOS's boot scripts twice: first to decode all opcodes that they can reach, each once,
 * then to run them. post.h has the contracts.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "gk110/devinit.h"
#include "hw/post.h"

/* Executes the opcode at .at, or only decodes it (.run), and finds the next one. */
static void step(struct hw_post *p)
{
	const struct hw_post_op *op = hw_post_ops;
	u8 code;

	if (p->at >= POST_ROM_MAX)
		hw_post_fail(p, "has opcodes beyond 64 KiB");
	code = hw_post_rom8(p, p->at);
	if (p->why)
		return;
	if (code < POST_OPS)
		op += code;
	if (!op->exec) {
		hw_post_fail(p, "unknown opcode");
		return;
	}
	p->next = p->at + op->length;
	hw_post_rom8(p, p->next - 1);
	if (hw_post_step(p))
		op->exec(p);
}

/* True: the opcode there was decoded before. */
static bool mark(struct hw_post *p, u32 at)
{
	bool was = at < POST_ROM_MAX && p->seen[at / 8] & 1u << at % 8;

	if (at < POST_ROM_MAX)
		p->seen[at / 8] |= 1u << at % 8;
	return was;
}

static void decode_from(struct hw_post *p, u32 at)
{
	p->off = false;
	for (p->next = at; p->next && !p->why && !mark(p, p->next);) {
		p->at = p->next;
		step(p);
	}
}

static void decode(struct hw_post *p, u32 script)
{
	decode_from(p, script);
	while (p->nr_targets && !p->why)
		decode_from(p, p->target[--p->nr_targets]);
}

static void run(struct hw_post *p, u32 script)
{
	p->off = false;
	p->ram = -1;
	p->nr_frames = 0;
	for (p->next = script; p->next && !p->why;) {
		p->at = p->next;
		step(p);
	}
}

static void scripts(struct hw_post *p, void (*each)(struct hw_post *p, u32 script))
{
	u32 list = hw_post_table(p, BIT_I_SCRIPTS), script = hw_post_rom16(p, list);

	for (; script && !p->why; script = hw_post_rom16(p, list += 2))
		each(p, script);
	if (p->bit_i_size >= BIT_I_LAST_SCRIPT + 2 && !p->why) {
		script = hw_post_rom16(p, p->bit_i + BIT_I_LAST_SCRIPT);
		if (script)
			each(p, script);
	}
}

int hw_post_run(struct hw_post *p, const u8 *rom, u32 size, const struct hw_post_io *io)
{
	memset(p, 0, sizeof(*p));
	p->rom = rom;
	p->size = size;
	p->io = io;
	hw_post_tables(p);
	if (!p->why)
		scripts(p, decode);
	p->run = true;
	p->steps = 0;
	if (!p->why)
		scripts(p, run);
	return p->why ? -EINVAL : 0;
}
