// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel has two entries in its list: the first in a group that gets no id of the chip, since
 * the vGPU has as many as it may have, the second in a group that has an id. The chip must not know
 * the channel in another group than the host does, or the host could not drive it off the chip (S5;
 * S1 and S2 depend on that).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS	   1000000ull
#define RUN_MS	   30000
#define LIST	   0xd00000ull
#define HANGS	   1u
#define OTHER	   2u
#define KEEPERS	   12u /* channels that only keep groups' ids in use */
#define WITHOUT_ID 4000u /* the guest's group that gets no id of the chip */
#define WITH_ID	   3000u

static const struct chip_manners steady = { .eager = true,
					    .load_ppm = 2000,
					    .late = 1,
					    .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 100000 };
static u64 list[4096], there[4096];
static struct world_vgpu *g;
static bool done;
static u64 samples, had[2];

static u64 group(u32 id, u32 members)
{
	return RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, members) | id;
}

static struct kvgpu_chan *chan(u32 id)
{
	return vmach_chan_find(g->v, (gchid_t){ id });
}

static void submit(u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (there[i] != list[i]) {
			g_store64(g, LIST + i * RUNLIST_ENTRY_SIZE, list[i]);
			there[i] = list[i];
		}
	g_write(g, PFIFO_RUNLIST_BASE, LIST >> 12);
	g_write(g, PFIFO_RUNLIST_SUBMIT, nr);
}

/* Fill the list with @want headers of groups without members. Return @want. */
static u32 fill_with_headers(u32 want)
{
	u32 h, i, k;

	for (h = 0; h < want; h += k) {
		k = min(want - h, 4u);
		for (i = 0; i < k; i++) {
			list[h + 2 * i] = group(h + i, 1);
			list[h + 2 * i + 1] = 3 + i;
		}
		submit(h + 2 * k);
		for (i = 0; i < k; i++)
			list[h + i] = group(h + i, 0);
	}
	return want;
}

/* Channels that were listed in a group keep the group's id in use when they are listed no more. */
static void keep_some(u32 at)
{
	u32 i, k;

	for (i = 0; i < KEEPERS; i += 4) {
		for (k = 0; k < 4; k++) {
			list[at + 2 * k] = group(2000 + i + k, 1);
			list[at + 2 * k + 1] = 3 + i + k;
		}
		submit(at + 8);
	}
}

static void two_entries(void)
{
	u32 i, at;

	memset(list, 0, sizeof(list));
	memset(there, 0, sizeof(there));
	g = &world.vgpu[0];
	for (i = 2; i <= 2 + KEEPERS; i++) {
		g_inst(g, i, 0, 0);
		g_bind(g, i);
	}
	at = fill_with_headers(g->v->m->runl_max - 1 - KEEPERS);
	keep_some(at);
	g_enable(g, OTHER, true);
	list[at] = group(WITH_ID, 1);
	list[at + 1] = OTHER;
	submit(at + 2);
	list[at] = group(WITHOUT_ID, 1);
	list[at + 1] = HANGS;
	list[at + 2] = group(WITH_ID, 2);
	list[at + 3] = OTHER;
	list[at + 4] = HANGS;
	submit(at + 5);
	/* All groups that the vGPU may have must be in use, or the test would show nothing. */
	assert_int_equal(g->v->m->nr_tsgs, g->v->m->runl_max);
}

/*
 * Return the id of channel @id's group in the list that the chip has. -1: it is listed in no group;
 * -2: it is not listed.
 */
static int group_on_chip(u32 id)
{
	static u64 entry[2 * KVGPU_MAX_CHAN];
	u32 nr = chip_list(0, entry), i, left = 0;
	int h = -1;

	for (i = 0; i < nr; i++) {
		if (entry[i] & RUNLIST_TSG) {
			h = FIELD_GET(RUNLIST_ID, entry[i]);
			left = FIELD_GET(RUNLIST_TSG_COUNT, entry[i]);
			continue;
		}
		if (FIELD_GET(RUNLIST_ID, entry[i]) == chan(id)->hchid.v)
			return left ? h : -1;
		if (left)
			left--;
	}
	return -2;
}

static void one_name(void **state)
{
	int h;

	setup_begin(&coarse, &steady, 1);
	two_entries();
	h = group_on_chip(HANGS);
	if (h != -2 && chan(HANGS)->htsg != h)
		harness_fail(
			"S5: the chip has a channel in group %d, the host believes that it is in %d",
			h, chan(HANGS)->htsg);
	setup_end();
}

static void works_without_end(void *arg)
{
	u64 end = harness_now + RUN_MS * MS;

	for (; harness_now < end; harness_sleep(MS / 4))
		if (chan(HANGS) && chip_loaded(g_hchid(g, HANGS)) && !chip_is_stuck())
			chip_hang(g_hchid(g, HANGS), false);
	done = true;
}

static void meter(void *arg)
{
	u16 id;

	for (; !done; harness_sleep(MS / 4)) {
		chip_is_held(&id);
		samples++;
		had[0] += id == g_hchid(g, HANGS) || id == g_hchid(g, OTHER);
		had[1] += id == g_hchid(&world.vgpu[1], 1);
	}
}

static void run_both(void)
{
	two_entries();
	g_enable(g, HANGS, true);
	g_ring(g, HANGS, 7);
	g_ring(g, OTHER, 7);
}

/* A neighbour gets on beside an endless kernel in the channel with two entries. */
static void it_hangs(void **state)
{
	done = false;
	samples = had[0] = had[1] = 0;
	setup_begin(&coarse, &steady, 2);
	run_both();
	actor_new("attacker", setup_mm, false, works_without_end, NULL);
	actor_new("meter", setup_mm, false, meter, NULL);
	actors_run();
	if (had[1] < samples / 3)
		harness_fail("S5: of GR a vGPU has %llu %%, its neighbour %llu %%",
			     (unsigned long long)(100 * had[0] / samples),
			     (unsigned long long)(100 * had[1] / samples));
	setup_end();
}

/*
 * When the guest unbinds that channel while it hangs, the card must not be lost: that would hit
 * all vGPUs.
 */
static void it_is_unbound(void **state)
{
	u32 i;

	setup_begin(&coarse, &steady, 2);
	run_both();
	for (i = 0;
	     i < 10000 && !(chip_loaded(g_hchid(g, HANGS)) && chip_hang(g_hchid(g, HANGS), false));
	     i++)
		harness_sleep(MS / 4);
	g_enable(g, HANGS, false);
	g_unbind(g, HANGS);
	if (world.gpu->chip->lost)
		harness_fail("S5: a guest made the card be lost for all");
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_name),
		cmocka_unit_test(it_hangs),
		cmocka_unit_test(it_is_unbound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
