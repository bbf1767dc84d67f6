// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt thread rests at times (docs/interrupts.md; interrupt_test has when). What comes
 * during a rest is served late. It must not become another tenant's (S4, S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS    1000000ull
#define US    1000ull
#define INTR0 (chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4])

enum { STORMER, NEIGHBOUR, VGPUS };

static const struct chip_manners manners = { .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 3000 };

static void raise_for(u16 id, u32 bits)
{
	chip.reg[(PBDMA(0) + PBDMA_CHANNEL) / 4] = PBDMA_CHANNEL_VALID |
						   FIELD_PREP(PBDMA_CHANNEL_ID, id);
	INTR0 |= bits;
	chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(0);
	chip_raise(0);
}

static void raise_and_wait(u16 id)
{
	raise_for(id, PBDMA_INTR0_DEVICE);
	while (INTR0)
		harness_sleep(5 * US);
}

/*
 * The guest resets PFIFO while the thread sleeps, with a fatal interrupt of its channel pending. A
 * neighbour gets the channel's id next.
 */
static void storm_and_reset(void *arg)
{
	struct world_vgpu *g = &world.vgpu[STORMER], *n = &world.vgpu[NEIGHBOUR];
	u16 id = g_hchid(g, 1);
	u64 list[] = { 1, 9 };
	u32 i;

	for (i = 0; i < EVENTS_PER_SECOND + 100; i++)
		raise_and_wait(id);
	raise_for(id, PBDMA_INTR0_FATAL & ~(PBDMA_INTR0_FATAL - 1));
	g_write(g, PMC_ENABLE, 0);
	g_inst(n, 9, 0, 0);
	g_bind(n, 9);
	g_list(n, list, 2);
	g_enable(n, 9, true);
	assert_int_equal(g_hchid(n, 9), id);
	harness_sleep(20 * MS);
	if (!chip.chan[id].enabled)
		harness_fail(
			"S5: a neighbour's channel is disabled for an interrupt of the id's last owner");
	if (n->v->m->event_put)
		harness_fail("S4: a neighbour is told an interrupt of the id's last owner");
}

static void an_id_of_a_storm(void **state)
{
	setup_begin(&coarse, &manners, VGPUS);
	actor_new("guest", setup_mm, false, storm_and_reset, NULL);
	actors_run();
	setup_end();
}

/*
 * Copy engines do not stop at an interrupt. If it is served late, another channel may be on the
 * engine: it is told, and does not pay.
 */
static void late_copies_are_free(void **state)
{
	struct kvgpu_chan *c;
	u32 i;

	setup_begin(&coarse, &manners, 1);
	c = vmach_chan_find(world.vgpu[0].v, (gchid_t){ 1 });
	world.gpu->hw.intr_late = true;
	for (i = 0; i < 2 * EVENTS_PER_SECOND; i++)
		kvgpu_machine_events.ce(world.gpu, 1, 1, 0, c->hchid.v, false);
	world.gpu->hw.intr_late = false;
	harness_sleep(5 * MS);
	if (c->dead)
		harness_fail("S5: a channel is ended for interrupts that may be another's");
	for (i = 0; i < 2 * EVENTS_PER_SECOND; i++)
		kvgpu_machine_events.ce(world.gpu, 1, 1, 0, c->hchid.v, false);
	harness_sleep(5 * MS);
	assert_true(c->dead);
	setup_end();
}

/* A fault beyond the budget, which makes the thread sleep, is a strike. */
static void faults_beyond_the_budget(void **state)
{
	struct kvgpu_machine *m;
	struct kvgpu_hw_fault f = {};

	setup_begin(&coarse, &manners, 1);
	m = world.vgpu[0].v->m;
	f.inst = vmach_chan_find(world.vgpu[0].v, (gchid_t){ 1 })->inst.at.v;
	m->intrs = (struct intr_budget){ harness_now, EVENTS_PER_SECOND };
	kvgpu_machine_events.mmu_fault(world.gpu, &f);
	harness_sleep(50 * MS);
	if (m->slice.strikes.total != 1)
		harness_fail("S5: a fault beyond the budget costs %llu strikes",
			     m->slice.strikes.total);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_of_a_storm),
		cmocka_unit_test(late_copies_are_free),
		cmocka_unit_test(faults_beyond_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
