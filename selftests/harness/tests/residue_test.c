// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a register keeps of another tenant's exception is not told with a vGPU's next exception
 * (S4). Such registers tell of an error of a GPC's PROP, of the method that a PBDMA's HCE refused,
 * and of what was wrong with a copy engine's launch. FECS_CHAN_ADDR keeps the address of the last
 * context that was on GR.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/ce.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "gk110/pmc.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS     1000000ull
#define SECRET 0x01230456u /* x and y of what vGPU 1 draws */

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

static void put(u32 reg, u32 val)
{
	chip.reg[reg / 4] = val;
}

/* GR halts and interrupts, with trap bits @gpccs of GPC 0. @chan: what FECS_CHAN_ADDR says. */
static void traps(u32 chan, u32 gpccs)
{
	put(GR_FECS + FECS_CHAN_ADDR, chan);
	put(GR_GPC(0, GPC_GPCCS + GPCCS_TRAP), gpccs);
	put(GR_TRAP_GPC_MASK, BIT(0));
	put(GR_TRAP, GR_TRAP_GPC);
	put(GR_INTR, GR_INTR_TRAP);
	chip.gr_halts = true; /* until the host lets GR go on */
	chip_raise(0);
	harness_sleep(10 * MS);
}

/* The same in the context of the vGPU's channel 1. */
static void traps_of(u32 vgpu, u32 gpccs)
{
	struct kvgpu_chan *c = vmach_chan_find(world.vgpu[vgpu].v, (gchid_t){ 1 });

	traps(FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, c->inst.at.v >> 12), gpccs);
}

static void where_a_neighbours_error_was(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 left;

	setup_begin(&quiet, &calm, 2);
	/*
	 * vGPU 1: its PROP finds an error. The host acknowledges the trap, but the registers that
	 * say where the error was keep their values (hw_gr_ack()).
	 */
	put(GR_GPC(0, GPC_PROP_ESR), BIT(0));
	put(GR_GPC(0, GPC_PROP_ESR_COORDS), SECRET);
	put(GR_GPC(0, GPC_PROP_ESR_FORMAT), 0xd5);
	put(GR_GPC(0, GPC_PROP_ESR_STORAGE), 0x77);
	traps_of(1, GPCCS_TRAP_PROP);
	assert_int_equal(g_read(&world.vgpu[1], GR_GPC(0, GPC_PROP_ESR_COORDS)), SECRET);
	/* vGPU 0: one of its warps traps in the same GPC */
	put(GR_TPC(0, 0, TPC_TRAP), TPC_TRAP_MP);
	traps_of(0, GPCCS_TRAP_TPC(0));
	assert_int_equal(g_read(g, GR_GPC(0, GPC_GPCCS + GPCCS_TRAP)), GPCCS_TRAP_TPC(0));
	left = g_read(g, GR_GPC(0, GPC_PROP_ESR_COORDS)) |
	       g_read(g, GR_GPC(0, GPC_PROP_ESR_FORMAT)) |
	       g_read(g, GR_GPC(0, GPC_PROP_ESR_STORAGE));
	if (left)
		harness_fail(
			"S4: an exception of an MP tells vGPU 0 of 0x%08x in the PROP's registers: another vGPU's",
			left);
	setup_end();
}

/* The same for a method that GR refused. */
static void what_a_neighbour_asked_for(void **state)
{
	setup_begin(&quiet, &calm, 2);
	put(GR_TRAPPED_DATA, SECRET);
	put(GR_TPC(0, 0, TPC_TRAP), TPC_TRAP_MP);
	traps_of(0, GPCCS_TRAP_TPC(0));
	if (g_read(&world.vgpu[0], GR_TRAPPED_DATA))
		harness_fail(
			"S4: an exception of an MP tells vGPU 0 of the method that another vGPU failed with");
	setup_end();
}

static void pbdma_interrupts(u32 vgpu, u32 intr0, u32 intr1)
{
	u16 id = g_hchid(&world.vgpu[vgpu], 1);

	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	put(PBDMA(0) + PBDMA_INTR1_EN, ~0u);
	put(PBDMA(0) + PBDMA_INTR1, intr1);
	while (!chip_pbdma_intr(id, intr0))
		harness_sleep(MS);
	harness_sleep(10 * MS);
	put(PBDMA(0) + PBDMA_INTR1, 0);
}

static void what_the_hce_refused(void **state)
{
	u32 left;

	setup_begin(&quiet, &calm, 2);
	put(PBDMA(0) + PBDMA_HCE_METHOD, 0x404);
	put(PBDMA(0) + PBDMA_HCE_DATA, SECRET);
	pbdma_interrupts(1, 0, 1);
	assert_int_equal(g_read(&world.vgpu[1], PBDMA(0) + PBDMA_HCE_DATA), SECRET);
	pbdma_interrupts(0, 1, 0);
	left = g_read(&world.vgpu[0], PBDMA(0) + PBDMA_HCE_METHOD) |
	       g_read(&world.vgpu[0], PBDMA(0) + PBDMA_HCE_DATA);
	if (left)
		harness_fail(
			"S4: an interrupt of its own tells vGPU 0 of 0x%08x of a method that another vGPU was refused",
			left);
	setup_end();
}

/*
 * No context is on GR. The memory of the block of the context that was there last is vGPU 0's now:
 * an exception that comes then is nobody's.
 */
static void whose_context_was_there(void **state)
{
	struct kvgpu_machine *m;
	struct kvgpu_chan *c;

	setup_begin(&quiet, &calm, 1);
	m = world.vgpu[0].v->m;
	c = vmach_chan_find(world.vgpu[0].v, (gchid_t){ 1 });
	traps(FIELD_PREP(FECS_CHAN_INST, c->inst.at.v >> 12), GPCCS_TRAP_PROP);
	if (m->intrs.events || m->event_put || g_read(&world.vgpu[0], GR_INTR))
		harness_fail(
			"S4: vGPU 0 is told an exception of no context, by the address of the block of the last one");
	assert_false(chip.gr_halts); /* it is acknowledged nevertheless */
	assert_true(world.gpu->chip->unowned.events > 0);
	setup_end();
}

/* The test calls what hw/ calls for an interrupt of a copy engine. */
static void what_was_wrong_with_a_launch(void **state)
{
	enum { ENGINE = 3, CE = 2, CODE = 8 };
	u32 left;

	setup_begin(&quiet, &calm, 2);
	kvgpu_machine_events.ce(world.gpu, ENGINE, GK110_CE_INTR_LAUNCHERR, CODE,
				g_hchid(&world.vgpu[1], 1), false);
	kvgpu_machine_events.ce(world.gpu, ENGINE, GK110_CE_INTR_NONBLOCKPIPE, CODE,
				g_hchid(&world.vgpu[0], 1), false);
	harness_sleep(10 * MS);
	assert_int_equal(g_read(&world.vgpu[1], GK110_CE(CE) + GK110_CE_LAUNCHERR), CODE);
	left = g_read(&world.vgpu[0], GK110_CE(CE) + GK110_CE_LAUNCHERR);
	if (left)
		harness_fail(
			"S4: an interrupt of its own tells vGPU 0 of error %u of another vGPU's launch",
			left);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_a_neighbours_error_was),
		cmocka_unit_test(what_a_neighbour_asked_for),
		cmocka_unit_test(what_the_hce_refused),
		cmocka_unit_test(whose_context_was_there),
		cmocka_unit_test(what_was_wrong_with_a_launch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
