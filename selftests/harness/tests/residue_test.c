// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a register keeps of another tenant's exception is not told with the next one. Three registers of a GPC say where its PROP's error
 * was (x and y, format, storage), and keep that until the PROP's next error (S4).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "gk110/pmc.h"
#include "mdev/machine.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS		1000000ull
#define SECRET		0x01230456u	/* x and y of what vGPU 1 draws */

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

static void put(u32 reg, u32 val)
{
	chip.reg[reg / 4] = val;
}

/* GR halts in the context of the vGPU's channel, and interrupts */
static void traps(u32 vgpu, u32 gpccs)
{
	struct kvgpu_chan *c = machine_chan_find(world.vgpu[vgpu].v, (gchid_t){ 1 });

	put(GR_FECS + FECS_CHAN_ADDR, FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, c->inst.at.v >> 12));
	put(GR_GPC(0, GPC_GPCCS + GPCCS_TRAP), gpccs);
	put(GR_TRAP_GPC_MASK, BIT(0));
	put(GR_TRAP, GR_TRAP_GPC);
	put(GR_INTR, GR_INTR_TRAP);
	chip.gr_halts = true;	/* until the host lets GR go on */
	chip_raise(0);
	harness_sleep(10 * MS);
}

static void where_a_neighbours_error_was(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 left;

	setup_begin(&quiet, &calm, 2);
	/* vGPU 1: its PROP finds an error at some place. The host acknowledges; what says where stays (kvgpu_hw_gr_ack()) */
	put(GR_GPC(0, GPC_PROP_ESR), BIT(0));
	put(GR_GPC(0, GPC_PROP_ESR_COORDS), SECRET);
	put(GR_GPC(0, GPC_PROP_ESR_FORMAT), 0xd5);
	put(GR_GPC(0, GPC_PROP_ESR_STORAGE), 0x77);
	traps(1, GPCCS_TRAP_PROP);
	assert_int_equal(g_read(&world.vgpu[1], GR_GPC(0, GPC_PROP_ESR_COORDS)), SECRET);
	/* vGPU 0: a warp of it traps in the same GPC */
	put(GR_TPC(0, 0, TPC_TRAP), TPC_TRAP_MP);
	traps(0, GPCCS_TRAP_TPC(0));
	assert_int_equal(g_read(g, GR_GPC(0, GPC_GPCCS + GPCCS_TRAP)), GPCCS_TRAP_TPC(0));
	left = g_read(g, GR_GPC(0, GPC_PROP_ESR_COORDS)) | g_read(g, GR_GPC(0, GPC_PROP_ESR_FORMAT)) |
	       g_read(g, GR_GPC(0, GPC_PROP_ESR_STORAGE));
	if (left)
		harness_fail("S4: an exception of an MP tells vGPU 0 of 0x%08x in the PROP's registers: another vGPU's", left);
	setup_end();
}

/* the same of a method that GR refused (F9): a trap says nothing of methods */
static void what_a_neighbour_asked_for(void **state)
{
	setup_begin(&quiet, &calm, 2);
	put(GR_TRAPPED_DATA, SECRET);
	put(GR_TPC(0, 0, TPC_TRAP), TPC_TRAP_MP);
	traps(0, GPCCS_TRAP_TPC(0));
	if (g_read(&world.vgpu[0], GR_TRAPPED_DATA))
		harness_fail("S4: an exception of an MP tells vGPU 0 of the method that another vGPU failed with");
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_a_neighbours_error_was),
		cmocka_unit_test(what_a_neighbour_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
