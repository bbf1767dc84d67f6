// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any sequence of calls, with any values, at any times. After each: the accounts agree with
 * accounts of our own. At the end all vGPUs behave, and then none may be left waiting.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/kernel.h>
#include <linux/minmax.h>

#include "sched/sched.h"

#define MAX_NR 12
#define UNIT   4096 /* of virtual time, sched/internal.h */

struct book {
	bool present, runnable, suspended;
	u64 busy;
	double left; /* by our count: ns that may be left in its bucket */
};

static struct {
	const u8 *in;
	size_t left;
	struct kvgpu_sched s;
	struct kvgpu_sched_ent e[MAX_NR];
	struct book b[MAX_NR];
	u64 now, vclock;
	u32 nr;
} f;

#define check(ok)                                                        \
	do {                                                             \
		if (!(ok)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #ok); \
			abort();                                         \
		}                                                        \
	} while (0)

static u8 byte(void)
{
	if (!f.left)
		return 0;
	f.left--;
	return *f.in++;
}

static u32 number(void)
{
	return byte() | byte() << 8 | byte() << 16;
}

/* short ones, and some of days and of years */
static u64 span(void)
{
	u32 n = number();

	switch (n >> 20) {
	case 0:
	case 1:
		return n & 0xff;
	case 15:
		return (u64)(n & 0xfffff) * 1000000000;
	case 14:
		return (u64)(n & 0xfffff) << 44;
	case 13:
		return (u64)(n & 0xfffff) * 10000;
	default:
		return (n & 0xfffff) * 16ull;
	}
}

/* whether vGPU @i is runnable, not suspended and not throttled */
static bool may_run(u32 i)
{
	return f.b[i].present && f.b[i].runnable && !f.b[i].suspended && !f.e[i].throttled;
}

static void pass(u64 ns)
{
	u32 i;

	ns = ns < ~f.now ? ns : ~f.now;
	f.now += ns;
	for (i = 0; i < MAX_NR; i++)
		f.b[i].left += (double)ns * f.e[i].limit.ppm / KVGPU_SCHED_PPM;
}

/* When choose() is called, a bucket keeps no more than 400 ms' worth, or 0.5 ms. */
static void cut_buckets(void)
{
	u32 i;

	for (i = 0; i < MAX_NR; i++)
		f.b[i].left = min(f.b[i].left, max(f.e[i].limit.ppm * 400.0, 5e5));
}

static void charge(u32 i, u64 ns)
{
	kvgpu_sched_charge(&f.s, &f.e[i], ns, f.now);
	f.b[i].busy += ns;
	f.b[i].left -= min(ns, KVGPU_BUCKET_MOST / KVGPU_BUCKET_NS);
	if (f.b[i].left < -(double)KVGPU_SCHED_DEBT_MAX)
		f.b[i].left = -(double)KVGPU_SCHED_DEBT_MAX;
}

/* ------------------------------------------------------------------ what always holds */

static void check_accounts(void)
{
	struct kvgpu_sched_ent *e;
	u32 nr = 0, i;

	list_for_each_entry(e, &f.s.ents, node) {
		i = e - f.e;
		check(i < MAX_NR && f.b[i].present);
		nr++;
		check(e->runnable == f.b[i].runnable && e->suspended == f.b[i].suspended);
		check(e->busy_ns >= f.b[i].busy);
		/* clocks are near each other */
		check((s64)(e->vtime - f.s.vclock) <=
		      (s64)(KVGPU_SCHED_DEBT_MAX * UNIT / e->share));
		check((s64)(f.s.vclock - e->vtime) <=
		      (s64)(KVGPU_SCHED_DEBT_MAX * UNIT / e->share));
		check(kvgpu_sched_entitlement(&f.s, e) <= e->cap * (KVGPU_SCHED_PPM / 100));
	}
	check(nr == f.s.nr_ents && nr == f.nr);
	check(!f.s.hold_end ||
	      (f.s.current_ent && !f.s.current_ent->runnable && !f.s.current_ent->suspended));
	check(!f.s.current_ent || f.b[f.s.current_ent - f.e].present);
	check(!f.s.alone || f.b[f.s.alone - f.e].present);
	check(!f.s.left || f.b[f.s.left - f.e].present);
}

static void check_choice(const struct kvgpu_sched_choice *c)
{
	u32 i, wants = 0, may = 0;

	cut_buckets();
	check(c->until > f.now || f.now == ~0ull);
	for (i = 0; i < MAX_NR; i++) {
		wants += f.b[i].present && f.b[i].runnable && !f.b[i].suspended;
		may += may_run(i);
	}
	if (c->ent) {
		i = c->ent - f.e;
		check(may_run(i) || (f.s.hold_end && c->ent == f.s.current_ent));
		check(f.b[i].present && !f.b[i].suspended && !c->ent->throttled);
		/* by our own count too there is something left of its budget */
		check(c->ent->limit.ppm >= KVGPU_SCHED_PPM || f.b[i].left > -1000);
	} else {
		check(!may);
	}
	check(f.s.alone == (c->shared ? NULL : c->ent));
	if (c->shared) {
		/* while a vGPU has a shared chip, no parked vGPU has work: it could run, too */
		for (i = 0; c->ent && i < MAX_NR; i++)
			check(!f.b[i].present || f.b[i].suspended || f.e[i].runnable ||
			      !f.e[i].work);
		check(wants <= 1 && may == wants);
		for (i = 0; i < MAX_NR; i++)
			check(!f.b[i].present || f.b[i].suspended || !f.e[i].throttled);
	} else if (c->ent) {
		check(f.s.current_ent == c->ent || (!f.s.current_ent && c->ent == f.s.alone));
		check(c->until != KVGPU_SCHED_NEVER || f.now > ~0ull - 1000000000);
	}
	/* a vGPU that has to wait is polled again */
	check(c->until != KVGPU_SCHED_NEVER || may == wants || f.now > ~0ull - (1ull << 62));
}

static void choose(void)
{
	struct kvgpu_sched_choice c, again;

	kvgpu_sched_choose(&f.s, f.now, &c);
	check_choice(&c);
	if (byte() & 1)
		return;
	check(kvgpu_sched_started(&f.s, f.now) > f.now || f.now == ~0ull);
	/* a second decision at the same time is the same as the first one */
	kvgpu_sched_choose(&f.s, f.now, &again);
	check_choice(&again);
	check(!f.s.started || (again.ent == c.ent && again.shared == c.shared));
}

/* ------------------------------------------------------------------ what may happen */

static void add(u32 i)
{
	if (f.b[i].present)
		return;
	f.e[i] = (struct kvgpu_sched_ent){ .weight = number(),
					   .cap = byte(),
					   .fixed_ppm = number() };
	if (byte() & 1)
		f.e[i].weight %= 20000;
	kvgpu_sched_add(&f.s, &f.e[i], f.now);
	f.b[i] = (struct book){ .present = true, .left = 1e12 };
	f.nr++;
}

/* all vGPUs are polled; some of those that have work do not get on */
static void poll_all(void)
{
	u32 often = byte() & 1 ? 1 : 7, bits, i;
	bool was[MAX_NR], gets_on[MAX_NR] = {}, had = f.s.alone, parked;

	for (i = 0; i < MAX_NR; i++) {
		was[i] = f.now < f.e[i].park.until;
		if (!f.b[i].present)
			continue;
		bits = byte();
		gets_on[i] = (bits & 1) && (bits >> 1 & often);
		kvgpu_sched_note(&f.e[i], bits & 1, gets_on[i]);
	}
	kvgpu_sched_polled(&f.s, f.now);
	for (i = 0; i < MAX_NR; i++) {
		if (!f.b[i].present)
			continue;
		parked = f.now < f.e[i].park.until;
		f.b[i].runnable = f.e[i].work && !parked;
		check(!parked || !gets_on[i]);
		/* only the vGPU that has the chip alone can have been parked by this poll */
		check(!parked || was[i] || had);
		check(f.e[i].park.ns <= 32000000);
	}
}

static void act(u32 what, u32 i)
{
	switch (what) {
	case 0:
		add(i);
		return;
	case 1:
		pass(span());
		return;
	case 2:
		choose();
		return;
	case 3:
		kvgpu_sched_set_policy(&f.s, byte() % 4, f.now);
		return;
	case 4:
		kvgpu_sched_set_slice(&f.s, number() * 8ull);
		return;
	}
	if (!f.b[i].present)
		return;
	switch (what) {
	case 5:
		kvgpu_sched_remove(&f.s, &f.e[i], f.now);
		f.b[i].present = f.b[i].runnable = f.b[i].suspended = false;
		f.nr--;
		break;
	case 6:
		poll_all();
		break;
	case 7:
	case 8:
		f.b[i].runnable = what != 8;
		vsched_runnable_set(&f.s, &f.e[i], what != 8, f.now);
		break;
	case 9:
		f.b[i].suspended = byte() & 1;
		kvgpu_sched_set_suspended(&f.s, &f.e[i], f.b[i].suspended, f.now);
		break;
	case 10:
	case 11:
		charge(i, span());
		break;
	case 12:
	case 13: /* it runs, as it should */
		if (f.s.current_ent) {
			u64 ns = number();

			i = f.s.current_ent - f.e;
			pass(ns);
			charge(i, ns);
			choose();
		}
		break;
	case 14:
		kvgpu_sched_set_weight(&f.s, &f.e[i], number() % 12000, f.now);
		break;
	case 15:
		kvgpu_sched_set_cap(&f.s, &f.e[i], byte() % 104, f.now);
		break;
	}
}

/* ------------------------------------------------------- all vGPUs behave: none is left waiting */

/*
 * of the vGPUs that want to run and are not throttled, the one furthest behind is served within 3 *
 * MAX_NR turns
 */
static void settle_down(void)
{
	struct kvgpu_sched_choice c;
	u32 turns, i, waited[MAX_NR] = { 0 };
	u64 ns;

	if (f.now > ~0ull - (1ull << 40))
		return;
	for (turns = 0; turns < 200; turns++) {
		struct kvgpu_sched_ent *behind = NULL;

		kvgpu_sched_choose(&f.s, f.now, &c);
		check_choice(&c);
		for (i = 0; i < MAX_NR; i++)
			if (may_run(i) && (!behind || (s64)(f.e[i].vtime - behind->vtime) < 0))
				behind = &f.e[i];
		if (!c.ent) {
			check(!behind);
			if (c.until == KVGPU_SCHED_NEVER)
				return;
			pass(c.until - f.now);
			continue;
		}
		kvgpu_sched_started(&f.s, f.now);
		for (i = 0; i < MAX_NR; i++)
			waited[i] = behind == &f.e[i] && c.ent != behind ? waited[i] + 1 : 0;
		if (behind)
			check(waited[behind - f.e] <= 3 * MAX_NR);
		i = c.ent - f.e;
		ns = f.s.current_ent && f.s.slice_end > f.now ? f.s.slice_end - f.now : 1000000;
		pass(ns);
		charge(i, ns);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	memset(&f, 0, sizeof(f));
	f.in = data;
	f.left = size;
	kvgpu_sched_init(&f.s);
	f.now = (u64)byte() << 56 | number();
	while (f.left) {
		u8 op = byte();

		act(op & 15, (op >> 4) % MAX_NR);
		check_accounts();
		/* the clock of all goes on, not back */
		check((s64)(f.s.vclock - f.vclock) >= 0);
		f.vclock = f.s.vclock;
	}
	settle_down();
	check_accounts();
	return 0;
}
