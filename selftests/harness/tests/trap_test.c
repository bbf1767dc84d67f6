// SPDX-License-Identifier: GPL-2.0-only
/*
 * An exception of GR ends when a write to the unit's ESR (error status register) acknowledges it,
 * and then one to its bit. Until then the unit keeps its bits of GPCCS_TRAP, GR_TRAP and GR_INTR at
 * 1, and GR interrupts again, whatever channel it has by then: the next tenant would pay for it,
 * and be struck (S5). So each unit that the host arms must be acknowledged, even if no source tells
 * the unit's bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "hw/gr.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS	      1000000ull
#define US	      1000ull
#define UNKNOWN_GPCCS BIT(4) /* bits that no source tells for a GK110 */
#define UNKNOWN_TRAP  BIT(2)

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

/*
 * The exception of the unit with this ESR. .gpccs 0: a unit of the hub. .error: its ESR is not
 * cleared. .stands: nor was its bit afterwards.
 */
static struct {
	u32 esr, gpc, gpccs, trap;
	bool error, stands;
} unit;
static bool done;
static u64 raised;

static void put(u32 reg, u32 val)
{
	chip.reg[reg / 4] = val;
}

static void cleared(u32 reg, u32 val)
{
	u32 bits = unit.gpccs ? GR_GPC(unit.gpc, GPC_GPCCS + GPCCS_TRAP) : GR_TRAP;

	if (reg == unit.esr && val == (GR_ESR_ENABLE | GR_ESR_CLEAR))
		unit.error = false;
	if (reg == bits && !unit.error && val & (unit.gpccs ? unit.gpccs : unit.trap))
		unit.stands = false;
}

/* The bits of the unit stand, and interrupt as soon as the host lets GR go on. */
static void latch(void *arg)
{
	for (; !done; harness_sleep(20 * US)) {
		if (!unit.stands || chip.gr_halts)
			continue;
		put(GR_GPC(unit.gpc, GPC_GPCCS + GPCCS_TRAP), unit.gpccs);
		put(GR_TRAP_GPC_MASK, unit.gpccs ? BIT(unit.gpc) : 0);
		put(GR_TRAP, unit.trap);
		put(GR_INTR, GR_INTR_TRAP);
		chip.gr_halts = true;
		chip_raise(0);
		raised++;
	}
}

static void gets_gr(u32 vgpu)
{
	struct kvgpu_chan *c = vmach_chan_find(world.vgpu[vgpu].v, (gchid_t){ 1 });

	put(GR_FECS + FECS_CHAN_ADDR,
	    FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, c->inst.at.v >> 12));
}

/* vGPU 0 has one error of the unit, and leaves; vGPU 1 gets GR, and does nothing wrong. */
static void one_error(const char *name)
{
	struct kvgpu_chan *c;
	u64 strikes, first;

	done = false;
	raised = 0;
	chip_before_write = cleared;
	task_new("latch", latch, NULL);
	gets_gr(0);
	unit.error = unit.stands = true;
	harness_sleep(MS);
	gets_gr(1);
	g_unbind(&world.vgpu[0], 1);
	first = raised;
	harness_sleep(100 * MS);
	done = true;
	harness_sleep(MS);
	chip_before_write = NULL;
	c = vmach_chan_find(world.vgpu[1].v, (gchid_t){ 1 });
	strikes = world.vgpu[1].v->m->slice.strikes.total;
	printf("# %s: %llu interrupts for one error, %llu of them after its vGPU left\n", name,
	       raised, raised - first);
	assert_true(raised > 0);
	if (strikes || !c || c->dead)
		harness_fail(
			"S5: an error of a %s in vGPU 0 gives vGPU 1 %llu strikes, its channel is %s",
			name, strikes, c && !c->dead ? "alive" : "ended");
	if (unit.stands)
		harness_fail("S5: an error of a %s is not acknowledged: %llu interrupts in 100 ms",
			     name, raised);
}

static void a_ppcs_error_ends(void **state)
{
	u32 g, p;

	for (g = 0; g < 5; g += 4)
		for (p = 0; p < GR_NR_PPC; p++) {
			setup_begin(&quiet, &calm, 2);
			unit.esr = GR_PPC(g, p, PPC_ESR);
			unit.gpc = g;
			unit.gpccs = UNKNOWN_GPCCS;
			unit.trap = GR_TRAP_GPC;
			one_error("PPC");
			setup_end();
		}
}

static void the_pds_error_ends(void **state)
{
	setup_begin(&quiet, &calm, 2);
	unit.esr = GR_PD_ESR;
	unit.gpc = 0;
	unit.gpccs = 0;
	unit.trap = UNKNOWN_TRAP;
	one_error("PD");
	setup_end();
}

/* All bits stand. Notes what is written until GR goes on. */
static void acknowledge_all(struct kvgpu_hw *hw)
{
	u32 g, t;

	for (g = 0; g < hw->topo.gpcs; g++) {
		put(GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), ~0u);
		for (t = 0; t < hw->topo.tpcs[g]; t++)
			put(GR_TPC(g, t, TPC_TRAP), ~0u);
	}
	put(GR_TRAP_GPC_MASK, ~0u);
	put(GR_TRAP, ~0u);
	put(GR_INTR, GR_INTR_TRAP);
	chip_watch_writes();
	hw_gr_ack(hw);
}

/* Whatever ESR is armed at bring-up is written with CLEAR at an acknowledge. */
static void what_is_armed_is_acknowledged(void **state)
{
	static u32 armed[WRITTEN_MAX];
	struct kvgpu_hw *hw;
	u32 nr = 0, i, val;

	setup_begin(&quiet, &calm, 1);
	hw = &world.gpu->hw;
	kvgpu_hw_lock(&hw->p->gr_lock);
	chip_watch_writes();
	hw_gr_enable_traps(hw);
	kvgpu_hw_unlock(&hw->p->gr_lock);
	assert_true(chip.nr_written < WRITTEN_MAX);
	for (i = 0; i < chip.nr_written; i++)
		if ((chip.written[i].val & ~GR_ESR_ENABLE) == GR_ESR_CLEAR)
			armed[nr++] = chip.written[i].reg;
	/* of the hub, ROPs, and each GPC with two PPCs; TEX, POLY and L1C of TPCs */
	assert_int_equal(nr, 7 + 2 * hw->topo.rops + 6 * hw->topo.gpcs + 3 * GR_NR_TPC);
	acknowledge_all(hw);
	for (i = 0; i < nr; i++)
		if (!chip_written(armed[i], &val) || !(val & GR_ESR_CLEAR))
			harness_fail(
				"S5: the unit of register 0x%06x is armed, and not acknowledged",
				armed[i]);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ppcs_error_ends),
		cmocka_unit_test(the_pds_error_ends),
		cmocka_unit_test(what_is_armed_is_acknowledged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
