// SPDX-License-Identifier: GPL-2.0-only
/*
 * What functions of hw/ write to the card: the registers, their values, and bounds in time and
 * number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "gk110/mmu.h"
#include "hw/internal.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS 1000000ull

static const struct chip_manners calm = { .eager = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };

static u32 last(u32 reg)
{
	u32 val = 0;

	assert_true(chip_written(reg, &val) > 0);
	return val;
}

/* An invalidate names the address space, and whether it is for all TLBs or the hub's alone (S2). */
static void an_invalidate_names_its_space(void **state)
{
	u32 hub;

	setup_begin(&quiet, &calm, 1);
	for (hub = 0; hub < 2; hub++) {
		chip_watch_writes();
		assert_int_equal(
			kvgpu_hw_tlb_flush(&world.gpu->hw, 0x9876543000ull + hub * 0x1000, hub), 0);
		if (last(FB_MMU_INVALIDATE_PDB) !=
		    FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, 0x9876543 + hub))
			harness_fail("S2: an invalidate names 0x%08x", last(FB_MMU_INVALIDATE_PDB));
		if (last(FB_MMU_INVALIDATE) !=
		    (FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA |
		     (hub ? FB_MMU_INVALIDATE_HUB_ONLY : 0)))
			harness_fail("S2: an invalidate of %s is 0x%08x",
				     hub ? "the hub" : "all TLBs", last(FB_MMU_INVALIDATE));
	}
	setup_end();
}

/*
 * A register that reads all ones for a moment, as one does whose read the bus has lost, does not
 * say that an invalidate has ended (S2).
 */
static void all_ones_end_no_invalidate(void **state)
{
	u32 reads;

	setup_begin(&quiet, &calm, 1);
	for (reads = 1; reads < 20; reads++) {
		chip.ones = reads;
		assert_int_equal(kvgpu_hw_tlb_flush(&world.gpu->hw, 0x9876543000ull, false), 0);
		if (chip.ones || chip.nr_inval)
			harness_fail("S2: an invalidate counts as done after %u reads of all ones",
				     reads - chip.ones);
	}
	setup_end();
}

/* A flush of L2 forgets lines of system memory and writes back dirty lines of video memory (S2). */
static void l2_is_flushed_both_ways(void **state)
{
	setup_begin(&quiet, &calm, 1);
	chip_watch_writes();
	assert_int_equal(kvgpu_hw_l2_flush(&world.gpu->hw), 0);
	if (last(FLUSH_L2_SYSMEM_INVALIDATE) != FLUSH_TRIGGER ||
	    last(FLUSH_L2_DIRTY) != FLUSH_TRIGGER)
		harness_fail("S2: L2 is flushed by half");
	setup_end();
}

static void a_preempt_waits(void **state)
{
	static const u32 ms[] = { 5, 50 };
	u64 began;
	u32 i;

	setup_begin(&quiet, &calm, 1);
	while (!chip_loaded(g_hchid(&world.vgpu[0], 1)))
		harness_sleep(MS / 10);
	assert_true(chip_hang(g_hchid(&world.vgpu[0], 1), false));
	kvgpu_hw_lock(&world.gpu->lock); /* no other thread ends the hang now */
	for (i = 0; i < ARRAY_SIZE(ms); i++) {
		began = harness_now;
		assert_int_equal(kvgpu_hw_preempt(&world.gpu->hw, false, g_hchid(&world.vgpu[0], 1),
						  ms[i]),
				 -ETIMEDOUT);
		assert_in_range(harness_now - began, ms[i] * MS, (ms[i] + 5) * MS);
	}
	kvgpu_hw_unlock(&world.gpu->lock);
	setup_end();
}

/* The host's own channel is alone on its runlist, which is not the one of guests' channels (S5). */
static void the_hosts_channel_is_alone(void **state)
{
	static u64 entry[2 * KVGPU_MAX_CHAN];
	u8 own;

	setup_begin(&quiet, &calm, 1);
	own = world.gpu->hw.p->copy.runl;
	assert_int_not_equal(own, vmach_gr_runl_get(world.gpu));
	assert_int_equal(chip_list(own, entry), 1);
	assert_int_equal(entry[0], HW_COPY_CHID);
	setup_end();
}

/*
 * A channel that a PBDMA or an engine has is not unbound: its instance block would be freed while
 * in use (S2).
 */
static void one_that_is_somewhere_is_not_unbound(void **state)
{
	struct context was;
	hchid_t id;

	setup_begin(&quiet, &calm, 1);
	id.v = g_hchid(&world.vgpu[0], 1);
	kvgpu_hw_lock(&world.gpu->lock);
	kvgpu_hw_chan_enable(&world.gpu->hw, id, 0, false);
	was = (struct context){ .chid = id.v, .id = id.v, .inst = chip.chan[id.v].inst };
	chip.pbdma[0] = was;
	chip.engine[0].chid = NO_CHAN;
	if (kvgpu_hw_chan_unbind(&world.gpu->hw, id) != -EBUSY)
		harness_fail("S2: a channel is unbound that a PBDMA has");
	chip.engine[0] = was;
	chip.pbdma[0].chid = NO_CHAN;
	if (kvgpu_hw_chan_unbind(&world.gpu->hw, id) != -EBUSY)
		harness_fail("S2: a channel is unbound that an engine has");
	chip.engine[0].chid = NO_CHAN;
	assert_int_equal(kvgpu_hw_chan_unbind(&world.gpu->hw, id), 0);
	assert_int_equal(kvgpu_hw_chan_bind(&world.gpu->hw, id, chip.chan[id.v].inst, 0), 0);
	kvgpu_hw_unlock(&world.gpu->lock);
	setup_end();
}

/*
 * What is written to acknowledge an interrupt is the bit that stands; otherwise the interrupt would
 * come again at once (S5).
 */
static void traps_are_acknowledged(void **state)
{
	u32 g;

	setup_begin(&quiet, &calm, 1);
	for (g = 0; g < world.gpu->hw.topo.gpcs; g++) {
		chip.reg[GR_INTR / 4] = GR_INTR_TRAP | GR_INTR_DATA_ERROR;
		chip.reg[GR_TRAP / 4] = GR_TRAP_GPC;
		chip.reg[GR_TRAP_GPC_MASK / 4] = BIT(g);
		chip_watch_writes();
		hw_gr_ack(&world.gpu->hw);
		if (last(GR_TRAP_GPC_MASK) != BIT(g))
			harness_fail("S5: of GPC %u's trap 0x%x is acknowledged", g,
				     last(GR_TRAP_GPC_MASK));
		if (last(GR_INTR) != (GR_INTR_TRAP | GR_INTR_DATA_ERROR))
			harness_fail("S5: of GR's interrupt 0x%x is acknowledged", last(GR_INTR));
	}
	setup_end();
}

/* A vGPU gets as many blocks of channel ids as its share is (S5). */
static void groups_of_ids_are_shared(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 c, n = 0;

	setup_begin(&quiet, &calm, 1);
	for (c = 1; c < KVGPU_MAX_CHAN; c += KVGPU_ID_BLOCK) {
		g_inst(g, c, 0, 0);
		g_bind(g, c);
		n += vmach_chan_find(g->v, (gchid_t){ c }) != NULL;
		if (n < c / KVGPU_ID_BLOCK + 1)
			break;
	}
	if (n != g->v->m->max_id_blocks)
		harness_fail("S5: a vGPU has %u blocks of channels, its share is %u", n,
			     g->v->m->max_id_blocks);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_invalidate_names_its_space),
		cmocka_unit_test(all_ones_end_no_invalidate),
		cmocka_unit_test(l2_is_flushed_both_ways),
		cmocka_unit_test(a_preempt_waits),
		cmocka_unit_test(the_hosts_channel_is_alone),
		cmocka_unit_test(one_that_is_somewhere_is_not_unbound),
		cmocka_unit_test(traps_are_acknowledged),
		cmocka_unit_test(groups_of_ids_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
