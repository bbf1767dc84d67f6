// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries of dead channels leave a list before it is published. The source is included, under other
 * names, for its static functions; the module of the program has its own copy.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/holder.h"
#include "mdev/machine/internal.h"
#include "mdev/trace.h"

/* each field of an entry that the source looks at counts */
static u32 looks;
#undef FIELD_GET
#define FIELD_GET(mask, v) (looks++, ((v) & (mask)) / ((mask) & ~((mask) << 1)))

#define vmach_runlists_init	copy_runlists_init
#define vmach_runlists_fini	copy_runlists_fini
#define vmach_runlist_publish	copy_runlist_publish
#define vmach_runlist_clear	copy_runlist_clear
#define vmach_runlist_submit	copy_runlist_submit
#define vmach_runlist_chan_add	copy_runlist_chan_add
#define vmach_runlist_block	copy_runlist_block
#define vmach_runlist_allow	copy_runlist_allow
#define vmach_chan_preempt_wait copy_chan_preempt_wait
#define vmach_chan_preempt	copy_chan_preempt
#include "mdev/machine/runlist.c"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define SEEDS 200

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };
static struct kvgpu_chan chans[KVGPU_MAX_CHAN], *was[KVGPU_MAX_CHAN];
static u64 want[KVGPU_MAX_CHAN];
static struct kvgpu_machine *m;
static u32 nr_want, next_id;

/* The vGPU's list is the test's from here to end(), and nobody else looks at it. */
static void begin(void)
{
	setup_begin(&quiet, &calm, 1);
	m = world.vgpu[0].v->m;
	kvgpu_hw_lock(&world.gpu->lock);
	memcpy(was, world.gpu->chip->by_hchid, sizeof(was));
}

static void end(void)
{
	memcpy(world.gpu->chip->by_hchid, was, sizeof(was));
	m->list_nr[0] = 0;
	kvgpu_hw_unlock(&world.gpu->lock);
	setup_end();
}

static void new_list(void)
{
	memset(world.gpu->chip->by_hchid, 0, sizeof(was));
	m->list_nr[0] = 0;
	nr_want = 0;
	next_id = 0;
}

/* @is: a channel of that id is there still */
static void add_chan(bool is, bool dead)
{
	struct kvgpu_chan *c = &chans[next_id];

	c->dead = dead;
	world.gpu->chip->by_hchid[next_id] = is ? c : NULL;
	m->list[0][m->list_nr[0]++] = next_id;
	if (is && !dead)
		want[nr_want++] = next_id;
	next_id++;
}

/* A group's id may be that of a channel, dead or not. */
static void add_group(u32 count, u32 dead_in)
{
	u64 header = RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_SCALE, 3) |
		     FIELD_PREP(RUNLIST_TSG_TIMEOUT, 128) | harness_below(KVGPU_MAX_CHAN);
	u32 at = nr_want++, i;

	m->list[0][m->list_nr[0]++] = header | FIELD_PREP(RUNLIST_TSG_COUNT, count);
	for (i = 0; i < count; i++)
		add_chan(harness_below(8), !harness_below(dead_in));
	if (nr_want == at + 1)
		nr_want--;
	else
		want[at] = header | FIELD_PREP(RUNLIST_TSG_COUNT, nr_want - at - 1);
}

static void check_list(u64 seed)
{
	drop_dead_chans(m, 0);
	if (m->list_nr[0] != nr_want || memcmp(m->list[0], want, nr_want * sizeof(u64)))
		harness_fail(
			"S5: seed %llu: the list without its dead channels has %u entries, of %u, or others",
			(unsigned long long)seed, m->list_nr[0], nr_want);
}

static void the_living_stay(void **state)
{
	u64 seed;
	u32 dead_in;

	begin();
	for (seed = 1; seed <= SEEDS; seed++) {
		struct policy p = { .seed = seed };

		harness_policy(&p);
		new_list();
		dead_in = 1 + harness_below(4);
		while (m->list_nr[0] + 64 < m->runl_max)
			if (harness_below(2))
				add_group(1 + harness_below(63), dead_in);
			else
				add_chan(harness_below(8), !harness_below(dead_in));
		check_list(seed);
	}
	harness_policy(&quiet);
	end();
}

/* Recovery has ended the second half of a long list. Others wait for gpu->lock. */
static void in_one_pass(void **state)
{
	u32 max, i;

	begin();
	max = m->runl_max;
	new_list();
	for (i = 0; i < max; i++)
		add_chan(true, i >= max / 2);
	looks = 0;
	check_list(0);
	if (looks > 4 * max)
		harness_fail("S5: %u looks at a list of %u entries, with gpu->lock held", looks,
			     max);
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_living_stay),
		cmocka_unit_test(in_one_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
