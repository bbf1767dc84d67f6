// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels that hang, fault or cause storms of interrupts, and a card that does not let go of a
 * channel. The vGPU that did it suffers, the others go on (S5). No guest reaches memory that is not
 * its own (S1, S2).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/mmu.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS	    1000000ull
#define WATCHDOG_MS 2000
#define OVER_MS	    600 /* for a poll, an eviction and a reset */
#define DEBT_MS	    12000
#define SYS_PD	    0x90000ull /* in SETUP_RAM */
#define SEEDS	    24
#define A_METHOD    0x80002004u /* in METHOD0 of a PBDMA */

static const struct chip_manners steady = { .eager = true,
					    .load_ppm = 2000,
					    .late = 2,
					    .idles = true };
static const struct policy coarse = { .seed = 1, .oversleep_ns = 100000 };

static struct kvgpu_chan *chan(u32 i, u32 id)
{
	return vmach_chan_find(world.vgpu[i].v, (gchid_t){ id });
}

static u64 strikes(u32 i)
{
	return world.vgpu[i].v->m->slice.strikes.total;
}

static bool wait_dead(u32 i, u32 id, u64 ns)
{
	u64 end = harness_now + ns;

	while (harness_now < end && !chan(i, id)->dead)
		harness_sleep(MS);
	kvgpu_hw_lock(&world.gpu->lock);
	kvgpu_hw_unlock(&world.gpu->lock);
	return chan(i, id)->dead;
}

static bool wait_loaded(u16 hchid, u64 ns)
{
	u64 end = harness_now + ns;

	while (harness_now < end && !chip_loaded(hchid))
		harness_sleep(MS / 10);
	return chip_loaded(hchid);
}

/* ------------------------------------------------------------------ one of two does it */

static void a_hang(void **state)
{
	u16 other;

	setup_begin(&coarse, &steady, 2);
	other = g_hchid(&world.vgpu[1], 1);
	assert_true(chip_hang(g_hchid(&world.vgpu[0], 1), false));
	assert_true(wait_dead(0, 1, (WATCHDOG_MS + OVER_MS) * MS));
	assert_false(chan(1, 1)->dead);
	assert_int_equal(strikes(0), 1);
	assert_int_equal(strikes(1), 0);
	assert_true(wait_loaded(other, 100 * MS));
	assert_false(chip_loaded(g_hchid(&world.vgpu[0], 1)));
	assert_false(world.gpu->chip->lost);
	/* The guest of vGPU 0 sees the interrupt for a switch that does not end. */
	harness_sleep(10 * MS);
	assert_int_equal(g_read(&world.vgpu[0], PFIFO_INTR) & PFIFO_INTR_SCHED_ERROR,
			 PFIFO_INTR_SCHED_ERROR);
	assert_int_equal(g_read(&world.vgpu[1], PFIFO_INTR) & PFIFO_INTR_SCHED_ERROR, 0);
	setup_end();
}

/*
 * The chip's own alarm comes before the watchdog's time is over: the result is as in a_hang(), but
 * sooner.
 */
static void a_switch_that_does_not_end(void **state)
{
	u64 end;
	bool asked = false;

	setup_begin(&coarse, &steady, 2);
	assert_true(chip_hang(g_hchid(&world.vgpu[0], 1), false));
	for (end = harness_now + 500 * MS; harness_now < end && !asked; harness_sleep(MS / 4))
		asked = chip_switch_timeout();
	assert_true(asked);
	assert_true(wait_dead(0, 1, 500 * MS));
	assert_false(chan(1, 1)->dead);
	assert_int_equal(strikes(0), 1);
	setup_end();
}

/* The alarm names no engine. A copy engine saves the neighbour's channel at that moment. */
static void a_switch_beside_it(void **state)
{
	u64 end;
	bool asked = false;

	setup_begin(&coarse, &steady, 2);
	assert_true(chip_hang(g_hchid(&world.vgpu[0], 1), false));
	for (end = harness_now + 500 * MS; harness_now < end && !asked; harness_sleep(MS / 4)) {
		chip_switch(g_hchid(&world.vgpu[1], 1), MS / 5);
		asked = chip_switch_timeout();
	}
	assert_true(asked);
	assert_true(wait_dead(0, 1, 500 * MS));
	harness_sleep(100 * MS);
	if (chan(1, 1)->dead)
		harness_fail(
			"S5: a channel of a neighbour is ended because it switches beside a hung one");
	assert_int_equal(strikes(1), 0);
	setup_end();
}

/*
 * The switch that hung is over when the interrupt thread reads the engines' status, as its guest
 * decides when its kernel ends. The neighbour's switch is then the only one.
 */
static void a_switch_that_is_over(void **state)
{
	u64 end;
	bool asked = false;

	setup_begin(&coarse, &steady, 2);
	assert_true(chip_hang(g_hchid(&world.vgpu[0], 1), false));
	for (end = harness_now + 500 * MS; harness_now < end && !asked; harness_sleep(MS / 4)) {
		asked = chip_switch_timeout();
		if (!asked)
			continue;
		chip.engine[0].stuck = false;
		chip_switch(g_hchid(&world.vgpu[1], 1), MS / 5);
	}
	assert_true(asked);
	harness_sleep(100 * MS);
	if (chan(1, 1)->dead)
		harness_fail("S5: a channel of a neighbour is ended for a switch that took 0.2 ms");
	assert_int_equal(strikes(1), 0);
	setup_end();
}

/*
 * The switch that hung is over, as above. The neighbour's two channels alternate on a copy engine
 * in short pieces, so that the engine is in a switch at each poll.
 */
static void switches_one_after_the_other(void **state)
{
	u64 worked;
	u32 i;

	setup_begin(&coarse, &steady, 2);
	setup_run(1, 2, 1);
	worked = world.gpu->hw.intr_ns;
	for (i = 0; i < 20; i++) {
		chip_switch_between(g_hchid(&world.vgpu[1], 1), g_hchid(&world.vgpu[1], 2),
				    10 * MS);
		chip_alarm();
		harness_sleep(10 * MS);
		if (chan(1, 1)->dead || chan(1, 2)->dead)
			harness_fail(
				"S5: a channel of a neighbour is ended for switches of 0.06 ms");
	}
	assert_int_equal(strikes(1), 0);
	if (world.gpu->hw.intr_ns - worked > MS)
		harness_fail(
			"S5: the interrupt thread's sleeps between polls are taken from the vGPUs' budget");
	setup_end();
}

static void eight_hangs(void **state)
{
	struct world_vgpu *g;
	u32 i;

	setup_begin(&coarse, &steady, 2);
	g = &world.vgpu[0];
	for (i = 1; !vmach_vgpu_suspended(g->v->m); i++) {
		assert_in_range(i, 1, KVGPU_STRIKES_MAX);
		assert_true(wait_loaded(g_hchid(g, 1), DEBT_MS * MS));
		assert_true(chip_hang(g_hchid(g, 1), false));
		assert_true(wait_dead(0, 1, (WATCHDOG_MS + OVER_MS) * MS));
		g_enable(g, 1, false);
		g_unbind(g, 1);
		if (!vmach_vgpu_suspended(g->v->m))
			setup_run(0, 1, 0);
	}
	assert_int_equal(i, KVGPU_STRIKES_MAX + 1);
	setup_run(0, 2, 1);
	for (i = 0; i < 100; i++) {
		harness_sleep(MS);
		if (chip_loaded(g_hchid(g, 2)))
			harness_fail("S5: a suspended vGPU has the chip");
	}
	assert_true(wait_dead(0, 2, 1000 * MS));
	assert_true(wait_loaded(g_hchid(&world.vgpu[1], 1), 100 * MS));
	world_reset(0);
	assert_false(vmach_vgpu_suspended(g->v->m));
	setup_run(0, 1, 0);
	assert_true(wait_loaded(g_hchid(g, 1), DEBT_MS * MS));
	setup_end();
}

/*
 * Nobody competes with a suspended vGPU. Its channels are ended one after the other, and until then
 * none is listed for the chip.
 */
static void suspended_alone(void **state)
{
	static const struct chip_manners eager = { .eager = true, .late = 1 };
	u64 list[2 * KVGPU_MAX_CHAN];
	struct world_vgpu *g;
	u32 i, nr;

	setup_begin(&coarse, &eager, 1);
	g = &world.vgpu[0];
	kvgpu_hw_lock(&world.gpu->lock);
	for (i = 0; i < KVGPU_STRIKES_MAX; i++)
		vmach_strike_add(g->v->m, "of this test");
	kvgpu_hw_unlock(&world.gpu->lock);
	assert_true(vmach_vgpu_suspended(g->v->m));
	assert_true(wait_dead(0, 1, 500 * MS));
	harness_sleep(100 * MS);
	setup_run(0, 2, 1);
	assert_false(chan(0, 2)->dead);
	assert_true(world.gpu->chip->slicer.shared);
	nr = chip_list(0, list);
	for (i = 0; i < nr; i++)
		if (list[i] == g_hchid(g, 2))
			harness_fail("S5: a channel of a suspended vGPU is listed");
	if (chip_loaded(g_hchid(g, 2)))
		harness_fail("S5: a channel of a suspended vGPU is on the chip");
	assert_true(wait_dead(0, 2, 500 * MS));
	setup_end();
}

static void a_fault(void **state)
{
	struct world_vgpu *g;
	u32 i;

	for (i = 0; i < 8; i++) { /* some seeds' faults hold the engine, others don't */
		setup_begin(&(struct policy){ .seed = 1 + i, .oversleep_ns = 100000 }, &steady, 2);
		g = &world.vgpu[0];
		g_write(g, PFIFO_INTR_EN, ~0u);
		assert_true(chip_fault(g_hchid(g, 1), 0x123456000ull));
		assert_true(wait_dead(0, 1, 300 * MS));
		harness_sleep(5 * MS);
		assert_int_equal(g_read(g, GMMU_FAULT_SOURCE), 1);
		assert_int_equal(g_read(g, GMMU_FAULT_INST(0)) & GMMU_FAULT_INST_ADDR,
				 G_INST(1) >> 12);
		assert_int_equal(g_read(g, GMMU_FAULT_VA_LO(0)), 0x23456000);
		assert_int_equal(g_read(g, GMMU_FAULT_VA_HI(0)), 1);
		/* the runlist goes on, and the other vGPU was told nothing */
		assert_true(wait_loaded(g_hchid(&world.vgpu[1], 1), 100 * MS));
		assert_false(chan(1, 1)->dead);
		assert_int_equal(g_read(&world.vgpu[1], GMMU_FAULT_SOURCE), 0);
		assert_int_equal(strikes(0), 0);
		assert_false(world.gpu->chip->lost);
		setup_end();
	}
}

/*
 * Faults cost other vGPUs the use of an engine, so a vGPU has a budget of faults. Here no other
 * vGPU has work, so that the vGPU is not kept off the chip.
 */
static void faults_without_end(void **state)
{
	/*
	 * an engine is busy as long as it has a channel, so that each fault costs a reset of the
	 * engine; vGPU 1 lists no channel that the engine could have
	 */
	static const struct chip_manners holds = { .eager = true, .load_ppm = 2000, .late = 2 };
	struct world_vgpu *g;
	u32 n;

	setup_begin(&coarse, &holds, 2);
	g = &world.vgpu[0];
	g_list(&world.vgpu[1], NULL, 0);
	for (n = 0; n < 400 && !vmach_vgpu_suspended(g->v->m); n++) {
		if (!chan(0, 1)) {
			setup_run(0, 1, 0);
			continue;
		}
		if (wait_loaded(g_hchid(g, 1), 100 * MS) && chip_fault(g_hchid(g, 1), 0x1000) &&
		    wait_dead(0, 1, 300 * MS)) {
			g_enable(g, 1, false);
			g_unbind(g, 1);
		}
	}
	if (!vmach_vgpu_suspended(g->v->m))
		harness_fail(
			"S5: %u faults of one vGPU, each with the reset of an engine, and it goes on",
			n);
	assert_int_equal(strikes(1), 0);
	setup_end();
}

/* --------------------------------------------------- the chip has a name that the host does not */

static u16 name_of_nobody(void)
{
	u16 id = KVGPU_MAX_CHAN - 1;

	while (world.gpu->chip->by_hchid[id])
		id--;
	return id;
}

/*
 * The engine names a channel that no vGPU has. Its work must not go on for ever, and no vGPU gets a
 * strike for it.
 */
static void work_of_nobody(void **state)
{
	u64 end;

	setup_begin(&coarse, &steady, 2);
	assert_true(wait_loaded(g_hchid(&world.vgpu[0], 1), 100 * MS));
	assert_true(chip_misname(g_hchid(&world.vgpu[0], 1), name_of_nobody(), false));
	end = harness_now + (WATCHDOG_MS + OVER_MS) * MS;
	while (harness_now < end && chip_is_stuck())
		harness_sleep(MS);
	if (chip_is_stuck())
		harness_fail(
			"S5: an engine works for a channel that nobody has, and nobody ends that");
	assert_true(wait_loaded(g_hchid(&world.vgpu[1], 1), 100 * MS));
	assert_int_equal(strikes(0), 0);
	assert_int_equal(strikes(1), 0);
	assert_false(chan(1, 1)->dead);
	assert_false(world.gpu->chip->lost);
	setup_end();
}

/*
 * At an unbind no engine names the channel, but the channel's own status says that it is on one.
 * All engines are reset, and a vGPU that goes on with that is suspended.
 */
static void unbinds_without_end(void **state)
{
	static const struct chip_manners holds = { .eager = true, .load_ppm = 2000, .late = 2 };
	struct world_vgpu *g;
	u32 n;

	setup_begin(&coarse, &holds, 2);
	g = &world.vgpu[0];
	g_list(&world.vgpu[1], NULL, 0);
	for (n = 0; n < 400 && !vmach_vgpu_suspended(g->v->m); n++) {
		if (!chan(0, 1))
			setup_run(0, 1, 0);
		if (!wait_loaded(g_hchid(g, 1), 100 * MS) ||
		    !chip_misname(g_hchid(g, 1), name_of_nobody(), false))
			continue;
		g_enable(g, 1, false);
		g_unbind(g, 1);
		assert_false(chip_is_stuck());
	}
	if (!vmach_vgpu_suspended(g->v->m))
		harness_fail(
			"S5: %u unbinds of one vGPU, each with the reset of all engines, and it goes on",
			n);
	assert_int_equal(strikes(1), 0);
	assert_false(world.gpu->chip->lost);
	setup_end();
}

/*
 * When the resets do not help either, the card is lost: the channel's instance block must not
 * become memory of another vGPU (S2).
 */
static void an_unbind_that_fails(void **state)
{
	static const struct chip_manners holds = { .eager = true, .load_ppm = 2000, .late = 2 };
	struct world_vgpu *g;

	setup_begin(&coarse, &holds, 2);
	g = &world.vgpu[0];
	assert_true(wait_loaded(g_hchid(g, 1), 100 * MS));
	assert_true(chip_misname(g_hchid(g, 1), name_of_nobody(), true));
	g_enable(g, 1, false);
	g_unbind(g, 1);
	if (!world.gpu->chip->lost)
		harness_fail("S2: a channel could not be unbound, and the card goes on");
	setup_end();
}

static void a_storm_of_pbdma(void **state)
{
	struct world_vgpu *g;
	u32 n = 0, i;

	setup_begin(&coarse, &steady, 2);
	g = &world.vgpu[0];
	g_ring(&world.vgpu[1], 1, 0);
	for (i = 0; i < 2 * EVENTS_PER_SECOND && !chan(0, 1)->dead; i++) {
		n += chip_pbdma_intr(g_hchid(g, 1), PBDMA_INTR0_DEVICE);
		harness_sleep(MS / 5);
	}
	if (!chan(0, 1)->dead)
		harness_fail("S5: %u interrupts of one channel in a second, and it goes on", n);
	assert_in_range(n, EVENTS_PER_SECOND / 2, 2 * EVENTS_PER_SECOND);
	assert_true(strikes(0) > 0);
	assert_int_equal(strikes(1), 0);
	assert_false(chan(1, 1)->dead);
	setup_end();
}

/*
 * At most interrupts the PBDMA stops at a method, which the host skips and tells the guest. At
 * others it goes on, and the method is perhaps that of a neighbour's channel.
 */
static void a_pbdma_that_goes_on(void **state)
{
	static const struct {
		u32 bits, left, told;
	} cases[] = {
		{ PBDMA_INTR0_UNK28, A_METHOD, 0 },
		{ PBDMA_INTR0_DEVICE, PBDMA_METHOD_SKIP, A_METHOD },
		{ PBDMA_INTR0_UNK28 | PBDMA_INTR0_DEVICE, PBDMA_METHOD_SKIP, A_METHOD },
	};
	u32 at = PBDMA(0) + PBDMA_METHOD0, i;

	setup_begin(&coarse, &steady, 2);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(wait_loaded(g_hchid(&world.vgpu[0], 1), 100 * MS));
		chip.reg[at / 4] = A_METHOD;
		assert_true(chip_pbdma_intr(g_hchid(&world.vgpu[0], 1), cases[i].bits));
		harness_sleep(5 * MS);
		if (cases[i].left == A_METHOD && chip.reg[at / 4] != A_METHOD)
			harness_fail(
				"S5: a method is skipped at an interrupt that did not stop the PBDMA");
		assert_int_equal(chip.reg[at / 4], cases[i].left);
		if (!cases[i].told && g_read(&world.vgpu[0], at))
			harness_fail(
				"S4: a guest is told a method at an interrupt that did not stop the PBDMA");
		assert_int_equal(g_read(&world.vgpu[0], at), cases[i].told);
		g_write(&world.vgpu[0], PBDMA(0) + PBDMA_INTR0, cases[i].bits);
	}
	setup_end();
}

/*
 * A PBDMA goes on from an interrupt of one tenant, and stops at a fatal error of the next one while
 * the host reads why it was interrupted.
 */
static void a_pbdma_that_stops_later(void **state)
{
	u16 first, next;

	setup_begin(&coarse, &steady, 2);
	first = g_hchid(&world.vgpu[0], 1);
	next = g_hchid(&world.vgpu[1], 1);
	assert_true(wait_loaded(first, 100 * MS));
	chip_pbdma_stop_next(next, PBDMA_INTR0_GPPTR);
	assert_true(chip_pbdma_intr(first, PBDMA_INTR0_UNK28));
	harness_sleep(5 * MS);
	if (!chip.chan[first].enabled)
		harness_fail("S5: a channel is stopped for a fatal error of a neighbour's");
	assert_false(chip.chan[next].enabled);
	setup_end();
}

/* ------------------------------------------------------------------ the card does it */

static void unmaps(void *arg)
{
	if (container_unmap(setup_c, SETUP_RAM, SETUP_RAM) != SETUP_RAM)
		harness_fail("S6: memory can't be taken back from a card that is lost");
}

/*
 * Run channel 2 on an address space whose directory is in the VMM's memory. The host reads that
 * without the card.
 */
static void run_on_sys_directory(u32 i)
{
	struct world_vgpu *g = &world.vgpu[i];
	u64 list[] = { 1, 2 };

	g_inst(g, 2, 0, 0);
	g_store32(g, G_INST(2) + GMMU_INST_PDB_LO,
		  (SETUP_RAM + SYS_PD) |
			  FIELD_PREP(GMMU_INST_PDB_LO_TARGET, GMMU_PTE_APERTURE_SYS_COH));
	g_bind(g, 2);
	g_list(g, list, 2);
	g_enable(g, 2, true);
}

/*
 * Neither a preempt nor a reset gets the channel off the chip. The card is cut off from system
 * memory before anything is freed, and the VMM gets all its memory back. The channel goes on with
 * what it has in video memory, which must never become tables of another vGPU.
 */
static void one_that_never_leaves(void **state)
{
	static const struct policy p = { .seed = 1, .oversleep_ns = 1000000 };
	u64 began, pde;
	u32 i;

	setup_begin(&p, &steady, 2);
	run_on_sys_directory(1);
	assert_true(wait_loaded(g_hchid(&world.vgpu[0], 1), 100 * MS));
	assert_true(chip_hang(g_hchid(&world.vgpu[0], 1), true));
	began = harness_now;
	while (!world.gpu->chip->lost && harness_now < began + 10000 * MS)
		harness_sleep(MS);
	assert_true(world.gpu->chip->lost);
	assert_false(world.pdev.master);
	actor_new("unmaps", setup_mm, false, unmaps, NULL);
	actors_run();
	assert_int_equal(container_pins(setup_c), 0);
	world_check("the card was lost");
	world_close(0);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
	for (i = 0; i < 8; i++) {
		pde = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
		      FIELD_PREP(GMMU_PDE_SMALL_ADDR, (G_TABLE(1) + i * 0x40000) >> 12);
		memcpy(container_ram(setup_c) + SYS_PD + i * GMMU_ENTRY_SIZE, &pde, sizeof(pde));
		g_tlb(&world.vgpu[1], 0);
		world_check("a table was made after the card was lost");
	}
	assert_false(world_open(0, setup_c));
	assert_null(world_make(2));
	setup_end();
}

/* ------------------------------------------------------------------ all of it, at any time */

static bool stop;
static u32 ended, lost;

static void guest(void *arg)
{
	u32 i = (struct world_vgpu *)arg - world.vgpu, k, put = 2;

	for (k = 0; k < 60; k++) {
		switch (harness_below(6)) {
		case 0:
			g_tlb(arg, 0);
			break;
		case 1:
			g_map_sys(arg, 0, 16 + harness_below(8),
				  SETUP_RAM + harness_below(200) * 0x1000);
			break;
		case 2:
			g_unmap(arg, 0, 16 + harness_below(8));
			break;
		case 3:
			g_preempt(arg, false, 1);
			break;
		case 4:
			g_ring(arg, 1, put++ & 7);
			break;
		default:
			if (chan(i, 1) && chan(i, 1)->dead) {
				ended++;
				g_enable(arg, 1, false);
				g_unbind(arg, 1);
			}
			if (!chan(i, 1) && !vmach_vgpu_suspended(world.vgpu[i].v->m))
				setup_run(i, 1, 0);
		}
		harness_sleep(harness_below(4 * MS));
	}
	stop = true;
}

static void vmm(void *arg)
{
	while (!stop) {
		container_unmap(setup_c, SETUP_RAM, SETUP_RAM);
		world_check("memory was taken back");
		container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
		harness_sleep(harness_below(20 * MS));
	}
}

static void run_seed(u64 seed, const struct chip_manners *m)
{
	struct policy p = { .seed = seed, .switch_ppm = 2000 << seed % 3, .oversleep_ns = 100000 };

	stop = false;
	setup_begin(&p, m, 2);
	actor_new("guest 0", setup_mm, false, guest, &world.vgpu[0]);
	actor_new("guest 1", setup_mm, false, guest, &world.vgpu[1]);
	actor_new("VMM", setup_mm, true, vmm, NULL);
	actors_run();
	lost += world.gpu->chip->lost;
	setup_end();
}

static void anything_goes_wrong(void **state)
{
	static const struct chip_manners m = { .eager = true,
					       .load_ppm = 20000,
					       .look_ppm = 2000,
					       .late = 4,
					       .fault_ppm = 300,
					       .hang_ppm = 50000 };
	u32 seed;

	ended = lost = 0;
	for (seed = 0; seed < SEEDS * (harness_all() ? 10 : 1); seed++)
		run_seed(seed, &m);
	assert_int_equal(lost, 0);
	assert_in_range(ended, SEEDS / 2, 1000000);
}

/*
 * Some reads of registers give an error of the register ring. If the host took such an answer for
 * the end of a wait, it would let go of memory that the chip still uses, which the oracle finds.
 * Nor may the errors cost a channel or the card.
 */
static void errors_of_the_register_ring(void **state)
{
	static const struct chip_manners m = {
		.eager = true, .load_ppm = 20000, .look_ppm = 2000, .late = 8, .error_ppm = 50000
	};
	u32 seed;

	ended = lost = 0;
	for (seed = 0; seed < SEEDS * (harness_all() ? 10 : 1); seed++)
		run_seed(seed, &m);
	assert_int_equal(lost, 0);
	assert_int_equal(ended, 0);
}

/*
 * Bind channel 1 of vGPU 0 anew and let it fault. By chance it holds GR then, as after a wrong
 * shader.
 */
static void fault_once(void)
{
	struct world_vgpu *g = &world.vgpu[0];
	u32 i;

	g_chan_anew(g, 1);
	for (i = 0; i < 100 && !chip_fault(g_hchid(g, 1), 0x1000); i++)
		harness_sleep(MS);
	harness_sleep(5 * MS);
}

/*
 * Faults of one tenant use up a budget of engine resets. However many they were, the next tenant
 * has some of the budget 10 s later.
 */
static void resets_of_the_last_tenant(void **state)
{
	static const struct chip_manners calm = { .eager = true, .late = 1 };
	static const struct policy quiet = { .seed = 1 };
	u64 before;
	u32 i;

	setup_begin(&quiet, &calm, 1);
	for (i = 0; i < 1000 && strikes(0) < 60; i++) {
		fault_once();
		if (world.vgpu[0].v->m->slice.strikes.count > 5) {
			world_reset(0); /* forgives the strikes so far */
			setup_run(0, 1, 0);
		}
	}
	assert_int_equal(strikes(0), 60);
	world_close(0);
	harness_sleep(10000 * MS);
	assert_true(world_open(0, setup_c));
	setup_run(0, 1, 0);
	before = strikes(0);
	for (i = 0; i < 9; i++)
		fault_once();
	if (strikes(0) != before)
		harness_fail(
			"S5: 10 s after the last tenant's faults the next one is struck %llu times for 9",
			(unsigned long long)(strikes(0) - before));
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hang),
		cmocka_unit_test(a_switch_that_does_not_end),
		cmocka_unit_test(a_switch_beside_it),
		cmocka_unit_test(a_switch_that_is_over),
		cmocka_unit_test(switches_one_after_the_other),
		cmocka_unit_test(eight_hangs),
		cmocka_unit_test(suspended_alone),
		cmocka_unit_test(a_fault),
		cmocka_unit_test(faults_without_end),
		cmocka_unit_test(work_of_nobody),
		cmocka_unit_test(unbinds_without_end),
		cmocka_unit_test(an_unbind_that_fails),
		cmocka_unit_test(a_storm_of_pbdma),
		cmocka_unit_test(a_pbdma_that_goes_on),
		cmocka_unit_test(a_pbdma_that_stops_later),
		cmocka_unit_test(one_that_never_leaves),
		cmocka_unit_test(anything_goes_wrong),
		cmocka_unit_test(errors_of_the_register_ring),
		cmocka_unit_test(resets_of_the_last_tenant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
