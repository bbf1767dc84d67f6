// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boot scripts. The input is a list of changes to a VBIOS that uses all opcodes (offset, byte); or,
 * with a first byte of 0xff, a whole VBIOS. Registers read back what was written, mixed with the
 * input's bytes. Accesses stay in BAR0, and the run ends.
 */
#include <stdlib.h>
#include <string.h>

#include "gk110/map.h"
#include "hw/post.h"
#include "postrom.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static struct hw_post post;
static struct postrom made;
static u32 last, accesses;

static void check(u32 at)
{
	if (at >= GK110_BAR0_SIZE || ++accesses > POST_STEPS)
		abort();
}

static u32 card_read(void *ctx, u32 at)
{
	check(at | at % 4 << 24);
	last = last * 1664525 + 1013904223;
	return last;
}

static void card_write(void *ctx, u32 at, u32 val)
{
	check(at | at % 4 << 24);
	last ^= val;
}

static u8 card_read8(void *ctx, u32 at)
{
	check(at);
	return last >> 24;
}

static void card_write8(void *ctx, u32 at, u8 val)
{
	check(at);
	last += val;
}

static void card_delay(void *ctx, unsigned int us)
{
}

static const struct hw_post_io io = { card_read,   card_write, card_read8,
				      card_write8, card_delay, NULL };

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const u8 *rom = made.rom;
	size_t len = sizeof(made.rom);
	u8 *copy;
	u16 at;

	last = size;
	accesses = 0;
	if (size && data[0] == 0xff) {
		rom = data + 1;
		len = size - 1;
	} else {
		postrom_full(&made);
		for (; size >= 3; data += 3, size -= 3) {
			memcpy(&at, data, 2);
			made.rom[at % made.at] = data[2];
		}
		len = made.at;
	}
	copy = malloc(len + !len); /* so that a read behind the end is noticed */
	if (!copy)
		return 0;
	memcpy(copy, rom, len);
	if (hw_post_run(&post, copy, len, &io) && !post.why)
		abort();
	free(copy);
	return 0;
}
