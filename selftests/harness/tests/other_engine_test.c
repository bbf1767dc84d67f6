// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unreported work on one engine does not hide reported work on another one (S5). On the shared chip
 * the worker has a short copy of which its doorbell words do not tell. A poll sees it, because the
 * worker submits its list, and notes the engine (slice.works_on), which stays noted while that
 * engine works for another vGPU. Then the accomplice keeps the copy engine, and the worker has a
 * kernel on GR of which its words do tell. It must pay for the kernel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

#define TEN_S 10000

static u64 copy_ns, piece_ns, cycles;
static bool hides;

static bool copies(u32 i)
{
	return harness_now < chip.copying_until && chip.copying == chan_at(i, 2);
}

static void meter(void *arg)
{
	for (; !done; harness_sleep(MS / 50), all++)
		had += chip_engine_works(chan_at(WORKER, 1)) || copies(WORKER);
}

/* a copy ends when its channel is preempted */
static void preempts(u32 reg, u32 val)
{
	if (reg == PFIFO_PREEMPT && !(val & PFIFO_PREEMPT_TSG) &&
	    FIELD_GET(PFIFO_PREEMPT_ID, val) == chip.copying)
		chip.copying_until = 0;
}

static void piece(u16 id)
{
	u64 end = harness_now + piece_ns;

	g_ring(&world.vgpu[WORKER], 1, 1);
	chip_at_work(id, true);
	if (chip.engine[0].chid != id) {
		chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
		chip_load_some(0, id);
	}
	/* one of the two sees that its work stands still when the chip is not shared any more */
	while (harness_now < end && listed(WORKER) && listed(ACCOMPLICE))
		harness_sleep(10 * US);
	chip_at_work(id, false);
	g_ring(&world.vgpu[WORKER], 1, 0);
}

static void partners(void *arg)
{
	u64 end = harness_now + TEN_S * MS;
	u16 id = chan_at(WORKER, 1);

	while (harness_now < end) {
		/* a poll that finds no work makes the chip shared */
		kick(ACCOMPLICE);
		until_open(end);
		if (hides)
			chip_copies(chan_at(WORKER, 2), harness_now + copy_ns);
		kick(WORKER);
		harness_sleep(copy_ns / 2);
		if (!listed(WORKER) || !listed(ACCOMPLICE)) {
			chip.copying_until = 0;
			continue;
		}
		cycles++;
		chip_copies(chan_at(ACCOMPLICE, 2), harness_now + piece_ns + 20 * US);
		piece(id);
		chip.copying_until = 0;
	}
	done = true;
}

static void judge(const char *cap, u32 copy_us, u32 piece_us, bool hide)
{
	u32 share = strtoul(cap, NULL, 10), has, charged, i;
	u64 began, took;

	copy_ns = copy_us * US;
	piece_ns = piece_us * US;
	hides = hide;
	had = all = cycles = 0;
	done = false;
	setup_begin(&coarse, &plain, BOTH);
	setup_knob(WORKER, "cap", cap);
	for (i = 0; i < BOTH; i++)
		second_channel(i);
	harness_sleep(1500 * MS);
	chip_before_write = preempts;
	began = harness_now;
	took = vmach_gpu_time_get(world.vgpu[WORKER].v->m);
	actor_new("meter", setup_mm, false, meter, NULL);
	actor_new("partners", setup_mm, false, partners, NULL);
	actors_run();
	chip_before_write = NULL;
	has = 1000 * had / all;
	charged = thousandths(WORKER, took, began);
	printf("# %s copies of %u us, pieces of %u us, at a cap of %u %%: has %u.%u %%, is charged %u.%u %%; %llu cycles\n",
	       hide ? "with" : "without", copy_us, piece_us, share, has / 10, has % 10,
	       charged / 10, charged % 10, (unsigned long long)cycles);
	if (hide)
		must_keep_to(share, has, charged);
	setup_end();
}

static void without_a_copy(void **state)
{
	judge("10", 100, 500, false);
	judge("30", 100, 500, false);
}

static void behind_a_copy(void **state)
{
	judge("30", 100, 500, true);
	judge("10", 100, 500, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(without_a_copy),
						   cmocka_unit_test(behind_a_copy) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
