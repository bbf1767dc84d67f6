// SPDX-License-Identifier: GPL-2.0-only
/*
 * An unbind waits for what the interrupt thread has read of its channel, so that no other tenant is
 * told of it (docs/locking.md). A reset of the engine may take the cause away while the thread is
 * between its reads and its report: also then, and also while the thread serves in a rest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "gk110/ce.h"
#include "gk110/pmc.h"
#include "hw/internal.h"
#include "selftests/harness/tests/partners.h"

#include <linux/bitfield.h>

enum { STORMER, NEIGHBOUR, VGPUS };

#define COPIES	2
#define CE_INTR (chip.reg[(GK110_CE(COPIES) + GK110_CE_INTR) / 4])
#define INTR0	(chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4])

static const struct chip_manners manners = { .idles = true };
static struct kvgpu_hw_events mine;
static const struct kvgpu_hw_events *real;
static bool armed, inside, gone, in_rest;
static u64 reset_us;
static u16 id;

static void raise_and_wait(u16 chan)
{
	chip.reg[(PBDMA(0) + PBDMA_CHANNEL) / 4] = PBDMA_CHANNEL_VALID |
						   FIELD_PREP(PBDMA_CHANNEL_ID, chan);
	INTR0 |= PBDMA_INTR0_DEVICE;
	chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(0);
	chip_raise(0);
	while (INTR0)
		harness_sleep(5 * US);
}

/*
 * The thread has read whose the interrupt is, and gets no CPU for a while. Meanwhile the engine is
 * reset, because the channel does not leave it: that ends its interrupt.
 */
static void ce_late(void *ctx, u8 engine, u32 intr, u32 code, int chan, bool tsg)
{
	u64 end = harness_now + 5 * MS;

	if (armed) {
		armed = false;
		CE_INTR = 0;
		in_rest = world.gpu->hw.p->intr_served ==
			  (unsigned int)atomic_read(&world.gpu->hw.p->intr_raised);
		inside = true;
		while (!gone && harness_now < end)
			harness_sleep(20 * US);
	}
	real->ce(ctx, engine, intr, code, chan, tsg);
}

static void attacker(void *arg)
{
	struct world_vgpu *g = &world.vgpu[STORMER], *n = &world.vgpu[NEIGHBOUR];
	bool rests = *(bool *)arg;
	u64 list[] = { 1, 9 }, began;

	id = g_hchid(g, 1);
	if (rests) {
		/* the thread rests for an interrupt of nobody's, beyond the budget */
		world.gpu->chip->unowned = (struct intr_budget){ harness_now, EVENTS_PER_SECOND };
		raise_and_wait(KVGPU_MAX_CHAN - 1);
	}
	chip_copies(id, harness_now + 300 * US);
	armed = true;
	CE_INTR |= GK110_CE_INTR_LAUNCHERR;
	chip.reg[(GK110_CE(COPIES) + GK110_CE_LAUNCHERR) / 4] = 8;
	chip_raise(0);
	while (!inside)
		harness_sleep(2 * US);
	began = harness_now;
	g_write(g, PMC_ENABLE, 0);
	reset_us = (harness_now - began) / US;
	g_inst(n, 9, 0, 0);
	g_bind(n, 9);
	g_list(n, list, 2);
	gone = true;
	harness_sleep(5 * MS);
}

static void judge(bool rests)
{
	struct kvgpu_machine *n;
	u32 told, paid, had;

	armed = inside = gone = in_rest = false;
	setup_begin(&coarse, &manners, VGPUS);
	n = world.vgpu[NEIGHBOUR].v->m;
	had = n->event_put;
	real = world.gpu->hw.events;
	mine = *real;
	mine.ce = ce_late;
	world.gpu->hw.events = &mine;
	actor_new("attacker", setup_mm, false, attacker, &rests);
	actors_run();
	told = n->event_put - had;
	paid = n->intrs.events;
	printf("# served in a rest: %u; the reset of PFIFO took %llu us, the neighbour's new channel has %s id; the neighbour is told %u events, pays for %u interrupts\n",
	       in_rest, reset_us, g_hchid(&world.vgpu[NEIGHBOUR], 9) == id ? "the same" : "another",
	       told, paid);
	world.gpu->hw.events = real;
	if (told || paid)
		harness_fail("S4: a neighbour is told an interrupt of its id's last owner");
	setup_end();
}

static void in_a_run(void **state)
{
	judge(false);
}

static void in_its_rest(void **state)
{
	judge(true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_a_run),
		cmocka_unit_test(in_its_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
