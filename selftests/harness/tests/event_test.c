// SPDX-License-Identifier: GPL-2.0-only
/*
 * The chip's events come faster than a guest can be told of them. The guest is told of the oldest,
 * of each once, and as they were (S4).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define INJECTED 0x1000ull /* event number n faults at (n + 1) times this address */

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

static void push(struct world_vgpu *g, u8 unit, u32 nr)
{
	struct machine_event ev = { .kind = EVENT_FAULT,
				    .fault = { unit, 0, (nr + 1) * INJECTED, 0 } };

	vmach_event_push(g->v->m, &ev);
}

static u64 told_va(struct world_vgpu *g, u8 unit)
{
	u32 rec = PFIFO_MMU_FAULT_RECORDS + unit * 16;

	return (u64)g_read(g, rec + 8) << 32 | g_read(g, rec + 4);
}

/*
 * The queue is filled from five places in it, and more events come before the guest is told of the
 * first.
 */
static void what_does_not_fit_is_dropped(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 round, i, more;
	u64 dropped;

	setup_begin(&quiet, &calm, 1);
	for (round = 0; round < 5; round++) {
		more = round + 1;
		dropped = g->v->m->events_dropped;
		mutex_lock(&g->v->lock);
		for (i = 0; i < EVENTS + more; i++)
			push(g, i % EVENTS, i);
		vmach_events_deliver(g->v);
		mutex_unlock(&g->v->lock);
		if (g_read(g, PFIFO_MMU_FAULT_SOURCE) != GENMASK(EVENTS - 1, 0))
			harness_fail("S4: of the %u events that fit the guest is told 0x%08x",
				     EVENTS, g_read(g, PFIFO_MMU_FAULT_SOURCE));
		for (i = 0; i < EVENTS; i++)
			if (told_va(g, i) != (i + 1) * INJECTED)
				harness_fail("S4: event %u is told as that of 0x%llx", i,
					     (unsigned long long)told_va(g, i));
		assert_int_equal(g->v->m->events_dropped - dropped, more);
		g_write(g, PFIFO_MMU_FAULT_SOURCE, ~0u);
		assert_int_equal(g_read(g, PFIFO_MMU_FAULT_SOURCE), 0);
		for (i = 0; i < 7; i++) {
			mutex_lock(&g->v->lock);
			push(g, i, i);
			vmach_events_deliver(g->v);
			mutex_unlock(&g->v->lock);
		}
		g_write(g, PFIFO_MMU_FAULT_SOURCE, ~0u);
	}
	setup_end();
}

/*
 * Reading an exception of GR takes many register accesses. So a channel may cause fewer exceptions
 * than other events before it is ended (S5, S6).
 */
static void exceptions_of_gr_are_dear(void **state)
{
	struct kvgpu_hw_gr e = { .nr_regs = ARRAY_SIZE(e.regs) };
	struct kvgpu_chan *c;
	u32 n = 0, i;

	setup_begin(&quiet, &calm, 1);
	c = vmach_chan_find(world.vgpu[0].v, (gchid_t){ 1 });
	assert_non_null(c);
	for (i = 0; i < e.nr_regs; i++)
		e.regs[i].reg = 0x400100 + i * 4;
	e.inst = c->inst.at.v;
	for (; n < EVENTS_PER_SECOND && !c->dead; n++) {
		world.gpu->hw.events->gr(world.gpu, &e);
		harness_sleep(100000);
	}
	assert_true(n >= 20);
	if (n > EVENTS_PER_SECOND / 10)
		harness_fail(
			"S5: %u exceptions of GR with all their registers, and the channel goes on",
			n);
	setup_end();
}

/*
 * Events name the guest's own instance block and the offset in the guest's own BAR1, not the card's
 * (S4).
 */
static void what_is_told_is_the_guests(void **state)
{
	struct kvgpu_hw_gr e = { .intr = GR_INTR_DATA_ERROR };
	struct kvgpu_hw_fault f = { .info = 2 };
	struct world_vgpu *g;
	u32 i, want, is;

	setup_begin(&quiet, &calm, 2);
	for (i = 0; i < 2; i++) {
		g = &world.vgpu[i];
		e.inst = vmach_chan_find(g->v, (gchid_t){ 1 })->inst.at.v;
		world.gpu->hw.events->gr(world.gpu, &e);
		harness_sleep(10000000);
		want = FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, G_INST(1) >> 12);
		is = g_read(g, GR_FECS + FECS_CHAN_ADDR);
		if (is != want)
			harness_fail(
				"S4: an exception names the block 0x%08x, the guest's is 0x%08x",
				is, want);
		f.unit = GMMU_UNIT_BAR1;
		f.va = g->v->slice[KVGPU_BAR1] + 0x5000;
		world.gpu->hw.events->mmu_fault(world.gpu, &f);
		harness_sleep(10000000);
		if (told_va(g, GMMU_UNIT_BAR1) != 0x5000)
			harness_fail("S4: a fault of BAR1 is told at 0x%llx of the guest's",
				     (unsigned long long)told_va(g, GMMU_UNIT_BAR1));
	}
	setup_end();
}

/*
 * A channel hangs, and its guest preempts it. The guest is told of the hang by its own ids, of the
 * channel or of its group: by the chip's ids it would recover another one of its own (S4).
 */
static void a_hang_has_the_guests_id(void **state)
{
	u64 list[] = { RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, 1) | 5, 1 };
	struct world_vgpu *g = &world.vgpu[0];
	u32 tsg, want, is, e;
	struct kvgpu_chan *c;

	for (tsg = 0; tsg < 2; tsg++) {
		setup_begin(&quiet, &(struct chip_manners){ .eager = true, .late = 1 }, 1);
		if (tsg)
			g_list(g, list, 2);
		c = vmach_chan_find(g->v, (gchid_t){ 1 });
		assert_int_not_equal(c->hchid.v, 1);
		assert_true(tsg ? c->htsg >= 0 && c->htsg != 5 : c->htsg < 0);
		while (!chip_hang(c->hchid.v, false))
			harness_sleep(1000000);
		g_preempt(g, tsg, tsg ? 5 : 1);
		assert_true(c->dead);
		harness_sleep(10000000);
		for (e = 0, is = 0; e < world.gpu->hw.topo.nr_engines && !is; e++)
			is = g_read(g, PFIFO_ENGINE_STATUS(e));
		want = PFIFO_STATUS_BUSY | PFIFO_STATUS_CHSW | PFIFO_STATUS_SAVE |
		       (tsg ? PFIFO_STATUS_TSG | 5 : 1);
		if (is != want)
			harness_fail(
				"S4: a guest is told of a hang by the status 0x%08x, not 0x%08x",
				is, want);
		setup_end();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_is_dropped),
		cmocka_unit_test(exceptions_of_gr_are_dear),
		cmocka_unit_test(what_is_told_is_the_guests),
		cmocka_unit_test(a_hang_has_the_guests_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
