// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses at random: registers, runlists, doorbells, tables. And the switches with which a driver
 * can stop a whole card.
 */
#include "hostile.h"

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/map.h>
#include <gk110/mmu.h>
#include <gk110/pmc.h>
#include <gk110/ram.h>

/* Areas of registers that do something: their first register, and their size in words. */
static const struct {
	uint32_t reg, words;
} doors[] = {
	{ 0x000000, 0x400 },  { 0x001000, 0x400 }, { 0x002000, 0x400 },	 { 0x002800, 0x80 },
	{ 0x009000, 0x100 },  { 0x00d600, 0x80 },  { 0x020000, 0x100 },	 { 0x022000, 0x400 },
	{ 0x040000, 0x800 },  { 0x060000, 8 },	   { 0x070000, 8 },	 { 0x088000, 0x400 },
	{ 0x100000, 0x400 },  { 0x104000, 0x400 }, { 0x10a000, 0x400 },	 { 0x121000, 0x400 },
	{ 0x137000, 0x400 },  { 0x17e000, 0x400 }, { 0x300000, 0x400 },	 { 0x400000, 0x400 },
	{ 0x404000, 0x800 },  { 0x409000, 0x400 }, { 0x418000, 0x800 },	 { 0x41a000, 0x400 },
	{ 0x500000, 0x2000 }, { 0x610000, 0x100 }, { 0x700000, 0x1000 }, { 0x800000, 0x2000 },
};

enum { NR_DOORS = sizeof(doors) / sizeof(doors[0]) };

static uint32_t some_register(struct hostile *h)
{
	unsigned int d = rng_range(&h->rng, 0, NR_DOORS);

	if (d == NR_DOORS)
		return rng_range(&h->rng, 0, GK110_BAR0_SIZE / 4 - 1) * 4;
	return doors[d].reg + rng_range(&h->rng, 0, doors[d].words - 1) * 4;
}

static uint32_t some_value(struct hostile *h)
{
	uint64_t r = rng_next(&h->rng);

	switch (r >> 60) {
	case 0 ... 3:
		return 1u << (r & 31);
	case 4 ... 5:
		return ~0u;
	case 6 ... 8:
		return r & 0xff;
	case 9 ... 10: /* looks like a pointer with its "go" bit */
		return 0x80000000u | (r & 0x3fffff);
	default:
		return r;
	}
}

/* Write to @reg, in a width that the bus has. */
static void poke(struct hostile *h, uint32_t reg, uint32_t v)
{
	volatile uint8_t *at = h->gpu.bars.bar0 + reg;

	switch (v % 8) {
	case 0:
		at[v >> 3 & 3] = v;
		break;
	case 1:
		*(volatile uint16_t *)(at + (v >> 3 & 2)) = v;
		break;
	case 2:
		if (reg % 8 == 0)
			*(volatile uint64_t *)at = (uint64_t)v << 32 | ~v;
		break;
	default:
		*(volatile uint32_t *)at = v;
	}
}

void hostile_registers(struct hostile *h)
{
	unsigned long i;
	uint64_t sum = 0;

	for (i = 0; i < h->ops; i++) {
		uint32_t reg = some_register(h);

		if (rng_next(&h->rng) & 1)
			sum += bare_read(&h->gpu, reg);
		else
			poke(h, reg, some_value(h));
		if (i % 500 == 499)
			hostile_restart(h); /* so that there is a channel to break */
	}
	printf("COUNT: registers %lu\n", i);
	report_info("%lu accesses of registers, sum of what was read %lx", i, (unsigned long)sum);
	report(hostile_alive(h), "own work runs after %lu random accesses", i);
}

/*
 * Writes that a driver that owns the card may do to all users; a guest may do them only to itself.
 */
void hostile_switches(struct hostile *h)
{
	static const struct {
		uint32_t reg, value;
		const char *what;
	} writes[] = {
		{ 0x000200, 0, "all units off" },
		{ 0x000200, 0xfffffeff, "PFIFO off" },
		{ 0x000204, 0, "all PBDMAs off" },
		{ 0x002140, 0, "no interrupts of PFIFO" },
		{ 0x002630, ~0u, "all runlists blocked" },
		{ 0x100c80, 0x80000001, "address translation off, other size of large pages" },
		{ 0x100cb8, 0, "TLB directory" },
		{ 0x100cbc, 0x80000001, "all TLBs invalidated" },
		{ 0x100c10, 0x12345, "flush page elsewhere" },
		{ 0x100cc8, 0x12345, "fault buffer elsewhere" },
		{ 0x17e8d4, 0x12345, "compression tags elsewhere" },
		{ 0x137000, 0, "core clock off" },
		{ 0x132000, 0, "memory clock off" },
		{ 0x10f210, 0, "memory self-refresh off" },
		{ 0x409100, 0x02, "FECS started anew" },
		{ 0x409500, 0x8000beef, "FECS told to switch" },
		{ 0x409504, 0x00000003, "FECS: bind" },
		{ 0x400500, 0, "graphics front end off" },
		{ 0x260, 0, "pause" },
		{ 0x088004, 0, "bus mastering off by the mirror" },
		{ 0x088010, 0, "BAR moved by the mirror" },
		{ 0x009200, 0, "time" },
		{ 0x009410, 0xffffffff, "timer's fraction" },
		{ 0x122128, 1, "privilege ring" },
		{ 0x022110, 0, "fuses" },
		{ 0x021100, 0xffffffff, "fuse request" },
	};
	enum { NR = sizeof(writes) / sizeof(writes[0]) };
	unsigned int i, dead = 0;

	for (i = 0; i < NR; i++) {
		bare_write(&h->gpu, writes[i].reg, writes[i].value);
		if (!hostile_alive(h)) {
			dead++;
			report_info("no work runs after: %s", writes[i].what);
		}
	}
	report(!dead,
	       "after each of %u switches thrown a driver that starts anew gets its work done", i);
}

/* ------------------------------------------------------------------ runlists */

static uint32_t some_entry(struct hostile *h)
{
	uint64_t r = rng_next(&h->rng);

	switch (r >> 61) {
	case 0: /* a group of any size: it may say it has more members than follow */
		return bare_tsg_entry(r & 0xfff, r >> 12 & 0xff);
	case 1:
		return h->chan.id;
	case 2:
		return r & 0xfff; /* any channel id, most of them not ours */
	case 3:
		return bare_tsg_entry(r & 7, 1);
	default:
		return r;
	}
}

void hostile_runlists(struct hostile *h)
{
	struct bare_gpu *g = &h->gpu;
	unsigned long i, lists = h->ops / 20 ?: 1;

	for (i = 0; i < lists; i++) {
		unsigned int n = rng_size(&h->rng, 300), e, runl = rng_range(&h->rng, 0, 15);
		volatile uint32_t *list;
		uint64_t at;

		if (i % 64 == 0) {
			hostile_restart(h);
			hostile_show(h);
		}
		at = bare_vram(g, PAGE, PAGE);
		list = hostile_vram(h, at);
		for (e = 0; e < n; e++) {
			list[2 * e] = some_entry(h);
			list[2 * e + 1] = rng_next(&h->rng) & 1 ? 0 : rng_next(&h->rng);
		}
		if (i % 7 == 6)
			at = rng_range(&h->rng, 0, (8ull << 30) / PAGE - 1) * PAGE;
		bare_write(g, PFIFO_RUNLIST_BASE,
			   FIELD_PREP(PFIFO_RUNLIST_TARGET, i % 11 ? 0 : i) |
				   FIELD_PREP(PFIFO_RUNLIST_ADDR, at >> 12));
		bare_write(g, PFIFO_RUNLIST_SUBMIT,
			   FIELD_PREP(PFIFO_RUNLIST_ID, i % 3 ? h->chan.runlist : runl) |
				   (i % 13 ? n : 0xfffff));
		bare_copy(&h->chan, LOOT_VA, LOOT_VA + PAGE, 64, 0);
		bare_ring(&h->chan);
		bare_write(g, PFIFO_PREEMPT,
			   FIELD_PREP(PFIFO_PREEMPT_ID, rng_next(&h->rng)) |
				   (i & 1 ? PFIFO_PREEMPT_TSG : 0));
	}
	printf("COUNT: runlists %lu\n", i);
	report(hostile_alive(h), "own work runs after %lu random runlists", i);
}

/* ------------------------------------------------------------------ doorbells */

/* Write any value to words of doorbells: of our channel, and of channels 0 to 31. */
void hostile_doorbells(struct hostile *h)
{
	volatile uint8_t *bells;
	unsigned long i;

	hostile_restart(h);
	bells = h->gpu.bars.bar1 + h->chan.userd_bar1 - h->chan.id * USERD_SIZE;
	for (i = 0; i < h->ops * 50; i++) {
		uint32_t id = i % 5 ? rng_range(&h->rng, 0, 31) : h->chan.id;

		*(volatile uint32_t *)(bells + id * USERD_SIZE +
				       (i % 3 ? USERD_GP_PUT : rng_range(&h->rng, 0, 127) * 4)) =
			rng_next(&h->rng);
	}
	printf("COUNT: doorbells %lu\n", i);
	report(hostile_alive(h), "own work runs after %lu random doorbells", i);
}

/* ------------------------------------------------------------------ tables */

void hostile_random_tables(struct hostile *h)
{
	struct bare_gpu *g = &h->gpu;
	unsigned long i, rounds = h->ops / 100 ?: 1, e, seen = 0;

	for (i = 0; i < rounds; i++) {
		hostile_restart(h);
		for (e = 0; e < 64; e++) {
			uint64_t v = rng_next(&h->rng);
			uint64_t at = e % 4 ? h->space.table + (AIM_VA >> 12) * 8 + e * 8 :
					      h->space.pdb + 8 * (e / 4);

			bare_mem_write(g, BARE_VRAM, at, &v, 8);
		}
		bare_tlb_invalidate(g, BARE_VRAM,
				    i % 3 ? h->space.pdb : rng_next(&h->rng) & 0xfffffff000);
		memset(h->loot, 0, PAGE);
		hostile_copy(h, AIM_VA + (i % 64) * PAGE, LOOT_VA, PAGE, 20);
		seen += holds_mark(h->loot, PAGE);
	}
	report(!seen, "random tables lead to nothing of others (%lu of 64 entries each)", rounds);
	report(hostile_alive(h), "own work runs");
}
