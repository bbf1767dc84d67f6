// SPDX-License-Identifier: GPL-2.0-only
/*
 * mmio-trap: a register access by the class of its table line; and the registers that stock nouveau
 * touched when it was recorded.
 */
#include <stdio.h>
#include <stdlib.h>

#include <gk110/map.h>

#include "selftests/module/unit/mmio-trap/guest.h"
#include "rooms.h"

enum { MAX_REGS = 1024, CANDIDATES = GK110_BAR0_SIZE / 4, REPEAT = 16 };

struct trap_record {
	uint32_t reg, reads, writes, first, last;
};

static const struct trap_record load[] = {
#include "selftests/module/unit/mmio-trap/trace_load.inc"
};

static struct guest *guest;
static uint32_t regs[MAX_REGS], nr_regs;
static uint32_t *trace, nr_trace; /* offset, bit 0: a write */
static uint64_t rng = 88172645463325252ull;

static uint32_t random_below(uint32_t n)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng % n;
}

static void shuffle(uint32_t *at, uint32_t nr)
{
	uint32_t i, j, t;

	for (i = nr; i > 1; i--) {
		j = random_below(i);
		t = at[i - 1];
		at[i - 1] = at[j];
		at[j] = t;
	}
}

static uint8_t class_of[2][CANDIDATES]; /* by read and write, then register */

static void classify(void)
{
	struct kvgpu_reg_info info;
	uint32_t i;

	for (i = 0; i < CANDIDATES; i++) {
		kvgpu_trap_info(i * 4, &info);
		class_of[0][i] = info.rd;
		class_of[1][i] = info.wr;
	}
}

/* up to MAX_REGS registers of a class, evenly from all that there are */
static void registers_of(enum kvgpu_reg_class class, bool writes)
{
	static uint32_t all[CANDIDATES];
	uint32_t nr = 0, i;

	for (i = 0; i < CANDIDATES; i++)
		if (class_of[writes][i] == class)
			all[nr++] = i * 4;
	nr_regs = nr < MAX_REGS ? nr : MAX_REGS;
	for (i = 0; i < nr_regs; i++)
		regs[i] = all[(uint64_t)i * nr / nr_regs];
	shuffle(regs, nr_regs);
}

static void by_class(const struct room_case *c)
{
	static const struct room_case *last;

	if (last == c)
		return;
	last = c;
	kvgpu_trap_reset(&guest->t);
	registers_of(c->arg, c->arg2);
}

static uint64_t run_reads(const struct room_case *c)
{
	uint32_t i, n;

	for (n = 0; n < REPEAT; n++)
		for (i = 0; i < nr_regs; i++)
			kvgpu_trap_read(&guest->t, regs[i], guest->now += 1024);
	return (uint64_t)REPEAT * nr_regs;
}

static uint64_t run_writes(const struct room_case *c)
{
	uint32_t i, n;

	for (n = 0; n < REPEAT; n++)
		for (i = 0; i < nr_regs; i++)
			kvgpu_trap_write(&guest->t, regs[i], regs[i] * n, 0xffffffff,
					 guest->now += 1024, &guest->cmd);
	return (uint64_t)REPEAT * nr_regs;
}

/* each record's reads and writes, at most 64 of each */
static void make_trace(const struct room_case *c)
{
	uint32_t i, n, reads, writes;

	if (!trace) {
		trace = calloc(ARRAY_SIZE(load), 128 * sizeof(*trace));
		for (i = 0; i < ARRAY_SIZE(load); i++) {
			reads = load[i].reads < 64 ? load[i].reads : 64;
			writes = load[i].writes < 64 ? load[i].writes : 64;
			for (n = 0; n < reads + writes; n++)
				trace[nr_trace++] = load[i].reg | (n >= reads);
		}
		shuffle(trace, nr_trace);
	}
	kvgpu_trap_reset(&guest->t);
}

static uint64_t run_trace(const struct room_case *c)
{
	uint32_t i;

	for (i = 0; i < nr_trace; i++)
		if (trace[i] & 1)
			kvgpu_trap_write(&guest->t, trace[i] & ~1u, i, 0xffffffff,
					 guest->now += 1024, &guest->cmd);
		else
			kvgpu_trap_read(&guest->t, trace[i], guest->now += 1024);
	return nr_trace;
}

static uint64_t run_reset(const struct room_case *c)
{
	kvgpu_trap_reset(&guest->t);
	return 1;
}

void bench_trap(void)
{
	static const struct room_case cases[] = {
		{ "trap/read-const", "access", by_class, run_reads, KVGPU_REG_CONST, 0 },
		{ "trap/read-file", "access", by_class, run_reads, KVGPU_REG_FILE, 0 },
		{ "trap/read-emulate", "access", by_class, run_reads, KVGPU_REG_EMULATE, 0 },
		{ "trap/read-unlisted", "access", by_class, run_reads, KVGPU_REG_UNLISTED, 0 },
		{ "trap/write-const", "access", by_class, run_writes, KVGPU_REG_CONST, 1 },
		{ "trap/write-file", "access", by_class, run_writes, KVGPU_REG_FILE, 1 },
		{ "trap/write-emulate", "access", by_class, run_writes, KVGPU_REG_EMULATE, 1 },
		{ "trap/write-trap", "access", by_class, run_writes, KVGPU_REG_TRAP, 1 },
		{ "trap/write-deny", "access", by_class, run_writes, KVGPU_REG_DENY, 1 },
		{ "trap/write-unlisted", "access", by_class, run_writes, KVGPU_REG_UNLISTED, 1 },
		{ "trap/nouveau-load", "access", make_trace, run_trace, 0, 0 },
		{ "trap/reset", "reset", NULL, run_reset, 0, 0 },
	};

	guest = guest_new();
	classify();
	rooms_measure(cases, ARRAY_SIZE(cases));
	guest_free(guest);
	free(trace);
}
