// SPDX-License-Identifier: GPL-2.0-only
/* sched: one decision: charge the vGPU that ran, another vGPU wakes or sleeps, choose, started. */
#include <stdlib.h>

#include "sched/sched.h"
#include "rooms.h"

#define MS 1000000ull
enum { MAX_VGPUS = 512, DECISIONS = 2048 };

static struct kvgpu_sched sched;
static struct kvgpu_sched_ent ent[MAX_VGPUS];
static struct kvgpu_sched_choice choice;
static u64 now;

/* arg: vGPUs, arg2: policy */
static void fill(const struct room_case *c)
{
	u32 i, nr = c->arg;

	now = 1;
	choice = (struct kvgpu_sched_choice){};
	kvgpu_sched_init(&sched);
	for (i = 0; i < nr; i++) {
		ent[i] = (struct kvgpu_sched_ent){ .weight = 100 + i,
						   .cap = i % 2 ? 100 : 50,
						   .fixed_ppm = KVGPU_SCHED_PPM / nr };
		kvgpu_sched_add(&sched, &ent[i], now);
		vsched_runnable_set(&sched, &ent[i], true, now);
	}
	kvgpu_sched_set_policy(&sched, c->arg2, now);
}

static uint64_t decide(const struct room_case *c)
{
	u32 i, nr = c->arg;

	for (i = 0; i < DECISIONS; i++) {
		struct kvgpu_sched_ent *other = &ent[i * 7 % nr];

		now += MS;
		if (choice.ent)
			kvgpu_sched_charge(&sched, choice.ent, MS, now);
		vsched_runnable_set(&sched, other, !other->runnable, now);
		kvgpu_sched_choose(&sched, now, &choice);
		kvgpu_sched_started(&sched, now);
	}
	return DECISIONS;
}

void bench_sched(void)
{
	static const struct room_case cases[] = {
		{ "sched/best-effort-8", "decision", fill, decide, 8, KVGPU_SCHED_BEST_EFFORT },
		{ "sched/best-effort-64", "decision", fill, decide, 64, KVGPU_SCHED_BEST_EFFORT },
		{ "sched/best-effort-512", "decision", fill, decide, 512, KVGPU_SCHED_BEST_EFFORT },
		{ "sched/equal-share-8", "decision", fill, decide, 8, KVGPU_SCHED_EQUAL_SHARE },
		{ "sched/equal-share-64", "decision", fill, decide, 64, KVGPU_SCHED_EQUAL_SHARE },
		{ "sched/equal-share-512", "decision", fill, decide, 512, KVGPU_SCHED_EQUAL_SHARE },
		{ "sched/fixed-share-8", "decision", fill, decide, 8, KVGPU_SCHED_FIXED_SHARE },
		{ "sched/fixed-share-64", "decision", fill, decide, 64, KVGPU_SCHED_FIXED_SHARE },
		{ "sched/fixed-share-512", "decision", fill, decide, 512, KVGPU_SCHED_FIXED_SHARE },
	};

	rooms_measure(cases, sizeof(cases) / sizeof(cases[0]));
}
