// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts (docs/interrupts.md): what a guest can raise takes some of the interrupt thread only
 * (S5, S6), what comes late is not the next tenant's (S4, S5), and a guest is told of its own only
 * (S4).
 */
#include "gk110/ce.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "gk110/mmu.h"
#include "gk110/pmc.h"
#include "gk110/ram.h"
#include "selftests/module/harness/steps.h"
#include "selftests/module/harness/work.h"

#include <linux/bitfield.h>

#define G      V(0)
#define EVENTS 32 /* so many events wait until the guest is told */
#define SECRET 0x01230456u /* what another vGPU's registers have */
#define INTR0  (chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4])

/* ------------------------------------------------------------------ storms */

/* A channel does nothing but NON_STALL_INTERRUPTs, and no other channel has work. */
static void nonstalls(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(2500))
		chip_nonstall();
}

/*
 * vGPU 0 has a kernel of 1.9 s, and is driven off. Then a channel of it does nothing but
 * NON_STALL_INTERRUPTs for 2 ms. vGPU 1, whose turn it is, has a copy end 10 ms later.
 * scene_count[0]: ms until its driver is told, which waits for that.
 */
static void nonstalls_in_a_switch(const struct role *r)
{
	struct world_vgpu *g = V(1);
	u64 began;

	g_write(g, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL);
	UNTIL(chip_hold(id_of(0, 1), 1900 * MS));
	UNTIL(chip_is_stuck() && chip.preempting);
	harness_sleep(5 * MS);
	for (began = harness_now; harness_now < began + 2 * MS * !r->arg; harness_sleep(2500))
		chip_nonstall();
	harness_sleep(10 * MS);
	g_read(g, PFIFO_INTR);
	g_write(g, PFIFO_INTR, PFIFO_INTR_NONSTALL);
	NEEDS(!(g_read(g, PFIFO_INTR) & PFIFO_INTR_NONSTALL));
	began = harness_now;
	chip_nonstall();
	UNTIL((harness_sleep(MS), g_read(g, PFIFO_INTR) & PFIFO_INTR_NONSTALL));
	scene_count[0] = (harness_now - began) / MS;
}

/* The driver stops wanting interrupts as soon as it has said that it wants them. */
static void wants_and_does_not(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(5000)) {
		g_write(G, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL);
		g_write(G, PFIFO_INTR_EN, 0);
	}
}

/* Bad methods on PBDMA .arg, which names a channel that is nobody's. */
static void nobodys_methods(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(20 * US))
		scene_count[0] += chip_pbdma_raise(r->arg, CHIP_NOBODY, PBDMA_INTR0_DEVICE);
}

/* These reads take .arg[1] us more. */
static void reads_slowly(u32 reg)
{
	if (reg == PBDMA(0) + PBDMA_CHANNEL || reg == PBDMA(1) + PBDMA_CHANNEL ||
	    reg == GK110_CE(2) + GK110_CE_LAUNCHERR)
		harness_now += scene->arg[1] * US;
}

/*
 * A bad method of nobody's, and the next one is there before the thread has looked whether all is
 * served: scene_count[0] of them, scene_count[1] at most in one run of the thread.
 */
static void again(u32 reg)
{
	static u32 in_run, run;

	reads_slowly(reg);
	if (INTR0 || !(scene->arg[0] ? scene_count[0] < scene->arg[0] : scene_goes_on()))
		return;
	in_run = run == the_irq.runs ? in_run + 1 : 1;
	run = the_irq.runs;
	scene_count[0]++;
	scene_count[1] = max_t(u64, scene_count[1], in_run);
	chip_pbdma_raise(0, CHIP_NOBODY, PBDMA_INTR0_DEVICE);
}

STEP(goes_on_again)
{
	irq_has_read = again;
	chip_nonstall();
	chip_pbdma_raise(0, CHIP_NOBODY, PBDMA_INTR0_DEVICE);
	return true;
}
/* clang-format off */
STEP(serves_slowly) { irq_has_read = reads_slowly; return true; }
/* .a: a channel, or 0: nobody's */
STEP(interrupts) { work_interrupts(a ? id_of(i, a) : CHIP_NOBODY, b); return true; }
STEP(chip_has) { return ASK(chip.reg[a / 4] == b); }
STEP(ends_in_time) { return ASK(scene_goes_on() && (scene_stop(), true)); }
/* clang-format on */

/* Channels 2 to 9 fault, one after the other, and then all begin anew. */
static void faults_often(const struct role *r)
{
	struct world_vgpu *g = V(r->vgpu);
	u16 id;
	u32 i;

	while (scene_goes_on()) {
		g_write(g, PMC_ENABLE, 0);
		g_write(g, PMC_ENABLE, ~0u);
		work_chans(r->vgpu, 2, 9);
		for (i = 2; i < 10 && scene_goes_on(); i++) {
			harness_sleep(600 * US);
			id = id_of(r->vgpu, i);
			if (id == CHIP_NOBODY || !chip_may_load(id, 0))
				continue;
			chip_load_on_gr(id);
			scene_count[0] += chip_fault_now(id);
			UNTIL_OVER(2 * US, !(chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1));
		}
	}
}

/* Exceptions with all the registers that explain them, until the channel is ended. */
static void dear_exceptions(const struct role *r)
{
	struct admin_chan c = admin_chan(0, 1);
	u32 g;

	for (g = 0; g < 5; g++)
		chip_put(GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), ~0u);
	while (scene_count[0] < PER_SECOND && admin_chan_lives(0, 1)) {
		chip_gr_trap(c.inst, 0, ~0u, ~0u);
		scene_count[0]++;
		UNTIL_IN(5000 * MS, 100 * US, !chip.gr_halts);
	}
}

/* ------------------------------------------------------------ late interrupts, other owners */

#define NEIGHBOUR V(1)

/*
 * The guest resets PFIFO, and the neighbour gets the id of its channel 1 next. It must not be told,
 * nor pay, for the last owner.
 */
static void neighbour_gets(u16 id)
{
	g_write(G, PMC_ENABLE, 0);
	g_inst(NEIGHBOUR, 9, 0, 0);
	g_bind(NEIGHBOUR, 9);
	LIST(NEIGHBOUR, 1, 9);
	g_enable(NEIGHBOUR, 9, true);
	NEEDS(id_of(1, 9) == id);
}

static void neighbour_is_told_nothing(const struct scene *s)
{
	FAIL_ON(!admin_chan_lives(1, 9) || !chip.chan[id_of(1, 9)].enabled,
		"S5: a neighbour's channel ends by one of its id's last owner's");
	if (g_read(NEIGHBOUR, PFIFO_PBDMA_INTR_SOURCE) | g_read(NEIGHBOUR, PFIFO_MMU_FAULT_SOURCE) |
	    g_read(NEIGHBOUR, GK110_CE(2) + GK110_CE_INTR))
		harness_fail("S4: a neighbour is told an interrupt of its id's last owner");
}

/*
 * The thread has read whose the copy engine's interrupt is, and gets no CPU for a while. Meanwhile
 * the guest resets PFIFO, because the channel does not leave the engine: that ends its interrupt.
 */
static bool inside, gone;

static void ce_late(u32 reg)
{
	if (reg != GK110_CE(2) + GK110_CE_LAUNCHERR || inside)
		return;
	chip_put(GK110_CE(2) + GK110_CE_INTR, 0);
	inside = true;
	WITHIN(5 * MS, 20 * US, gone);
}

STEP(reports_late)
{
	chip_copies(id_of(0, 1), harness_now + 300 * US);
	irq_has_read = ce_late;
	chip_copy_raise(GK110_CE_INTR_LAUNCHERR, 8);
	UNTIL(inside);
	return true;
}
/* clang-format off */
STEP(resets_meanwhile) { neighbour_gets(id_of(0, 1)); gone = true; return true; }
/* clang-format on */
/* The guest resets PFIFO while an interrupt is pending that would end the channel. */
STEP(resets_with_fatal)
{
	u16 id = id_of(0, 1);
	chip_pbdma_raise(0, id, FATAL);
	neighbour_gets(id);
	return true;
}

/* Interrupts of a tenant in its last second are not counted for the next tenant of the vGPU. */
static void last_second(const struct role *r)
{
	u64 began = harness_now;
	u32 i;

	for (i = 0; i < PER_SECOND + 5 && admin_chan_lives(0, 1); i++)
		work_interrupts(id_of(0, 1), 1);
	FAIL_ON(admin_chan_lives(0, 1), "S5: %u interrupts in a second, and the channel goes on",
		i);
	harness_sleep(20 * MS);
	world_close(0);
	setup_open(0);
	scene_count[0] = admin_read(0, "strikes");
	NEEDS(harness_now - began <= 1000 * MS);
	work_interrupts(id_of(0, 1), 1);
	harness_sleep(50 * MS);
	scene_count[0] = admin_read(0, "strikes") - scene_count[0];
}

/*
 * Copy engines do not stop at an interrupt. If it is served in a rest, another channel may be on
 * the engine: that is told, and does not pay.
 */
static void copies_in_a_rest(const struct role *r)
{
	u16 id = id_of(0, 1);
	u32 i;

	chip_copies(id, harness_now + 20000 * MS);
	for (i = 0; i < 2 * PER_SECOND; i++) {
		/* interrupts of nobody's keep the thread in rests, if .arg says so */
		if (r->arg)
			chip_pbdma_raise(1, CHIP_NOBODY, PBDMA_INTR0_DEVICE);
		chip_copy_raise(2, 0);
		UNTIL_IN(5000 * MS, 5 * US, !chip_copy_raised());
	}
	harness_sleep(5 * MS);
}

/* ------------------------------------------------------------------ what a guest is told */

static u64 told_va(u32 vgpu, u8 unit)
{
	struct world_vgpu *g = V(vgpu);
	u32 rec = PFIFO_MMU_FAULT_RECORDS + unit * 16;

	return (u64)g_read(g, rec + 8) << 32 | g_read(g, rec + 4);
}

static void bar_fault(u32 unit, u64 va)
{
	UNTIL(chip_bar_fault(unit, va));
	UNTIL(!(chip.reg[GMMU_FAULT_SOURCE / 4] & BIT(unit)));
}

static int set_irqs(u32 vgpu, u32 index, u32 flags, u32 start, u32 count, s32 data)
{
	struct {
		struct vfio_irq_set hdr;
		s32 data;
	} s = { { sizeof(s.hdr) + 4, flags, index, start, count }, data };
	struct vfio_device *dev = world.vgpu[vgpu].dev;

	return dev->ops->ioctl(dev, VFIO_DEVICE_SET_IRQS, (unsigned long)&s);
}

#define MASK	VFIO_IRQ_SET_ACTION_MASK
#define UNMASK	VFIO_IRQ_SET_ACTION_UNMASK
#define TRIGGER VFIO_IRQ_SET_ACTION_TRIGGER
#define NONE	VFIO_IRQ_SET_DATA_NONE
#define BOOL	VFIO_IRQ_SET_DATA_BOOL
#define EVENTFD VFIO_IRQ_SET_DATA_EVENTFD
#define INTX	VFIO_PCI_INTX_IRQ_INDEX
#define MSI	VFIO_PCI_MSI_IRQ_INDEX
#define REQ	VFIO_PCI_REQ_IRQ_INDEX

/* The VMM's thread is busy with the vGPU when more_than_fit() asks: it signals to many waiters. */
static u32 rounds;

static void signals(const struct role *r)
{
	u32 begun = 0;

	eventfd_cost(3, 30 * MS);
	set_irqs(0, MSI, TRIGGER | EVENTFD, 0, 1, 3);
	while (begun < 5) {
		harness_sleep(MS);
		if (rounds > begun && ++begun)
			set_irqs(0, MSI, TRIGGER | BOOL, 0, 1, 1);
	}
	eventfd_cost(3, 0);
}

/*
 * Of the events that come meanwhile the guest is told those that fit, each as it was: the queue is
 * filled from five places in it.
 */
static void more_than_fit(const struct role *r)
{
	struct admin_place p = admin_place(0);
	u32 i;
	u64 first, last;

	for (rounds = 1; rounds <= 5; rounds++) {
		UNTIL(signalled.nr >= rounds);
		first = rounds * 0x10000;
		for (i = 0; i < EVENTS - 1; i++)
			bar_fault(GMMU_UNIT_BAR1, p.bar1 + first + i * 0x1000);
		bar_fault(GMMU_UNIT_BAR3, p.bar3 + first);
		work_interrupts(g_hchid(G, 1), rounds);
		last = told_va(0, GMMU_UNIT_BAR3);
		FAIL_ON(told_va(0, GMMU_UNIT_BAR1) != first || last != first,
			"S4: faults at 0x%llx are told as at 0x%llx and 0x%llx", first,
			told_va(0, GMMU_UNIT_BAR1), last);
		FAIL_ON(g_read(G, PFIFO_PBDMA_INTR_SOURCE), "S4: more events are told than fit");
		for (i = 0; i < 7; i++) {
			g_write(G, PFIFO_MMU_FAULT_SOURCE, ~0u);
			bar_fault(GMMU_UNIT_BAR1, p.bar1);
			UNTIL(g_read(G, PFIFO_MMU_FAULT_SOURCE));
		}
		g_write(G, PFIFO_MMU_FAULT_SOURCE, ~0u);
	}
}

/* clang-format off */
STEP(traps) { chip_gr_trap(admin_chan(i, 1).inst, 0, a, b); harness_sleep(10 * MS); return true; }
/* clang-format on */
STEP(bar1_faults)
{
	bar_fault(GMMU_UNIT_BAR1, admin_place(i).bar1 + a);
	harness_sleep(10 * MS);
	return true;
}
/* clang-format off */
STEP(told_at) { return ASK(told_va(i, GMMU_UNIT_BAR1) == a); }
/* clang-format on */
/* The names of channel 1, and of its group 5 (.a), are not the chip's. */
STEP(has_other_names)
{
	struct admin_chan ac = admin_chan(i, 1);
	NEEDS(ac.id != 1 && (a ? ac.tsg >= 0 && ac.tsg != 5 : ac.tsg < 0));
	return true;
}
/* The first engine's status that is not 0. It has the guest's ids, or another channel suffers. */
STEP(an_engine_is)
{
	for (b = c = 0; b < 4 && !c; b++)
		c = g_read(V(i), PFIFO_ENGINE_STATUS(b));
	FAIL_ON(c != a, "S4: a guest is told of a hang by status 0x%llx, not 0x%llx", c, a);
	return true;
}
/* Errors of a vGPU: a trap in a GPC, an interrupt of its PBDMA (0: INTR1), one of a copy engine */
STEP(gpc_traps)
{
	chip_put(GR_TPC(0, 0, TPC_TRAP), a == GPCCS_TRAP_TPC(0) ? TPC_TRAP_MP : 0);
	traps(i, a, GR_TRAP_GPC, 0);
	return true;
}
STEP(pbdma_interrupts)
{
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_put(PBDMA(0) + PBDMA_INTR1_EN, ~0u);
	chip_put(PBDMA(0) + PBDMA_INTR1, !a);
	UNTIL(chip_pbdma_intr(id_of(i, 1), a));
	harness_sleep(10 * MS);
	chip_put(PBDMA(0) + PBDMA_INTR1, 0);
	return true;
}
STEP(copy_interrupts)
{
	chip_copies(id_of(i, 1), harness_now + 5 * MS);
	chip_copy_raise(a, 8);
	harness_sleep(10 * MS);
	return true;
}
/* registers (ENTRIES()) */
/* clang-format off */
STEP(have) { while (b--) chip_put(((u64 *)a)[b], c); return true; }
STEP(tells) { return ASK(!c || g_read(V(i), *(u64 *)a) == c); }
/* clang-format on */
STEP(tell_nothing)
{
	while (b--)
		FAIL_ON(g_read(V(i), ((u64 *)a)[b]),
			"S4: an error of a vGPU tells of another one's error");
	return true;
}
/* FECS_CHAN_ADDR keeps the block of the last context, whose memory is vGPU 0's by now. */
STEP(traps_nobody)
{
	chip_gr_trap(0, 0, GPCCS_TRAP_PROP, GR_TRAP_GPC);
	chip_put(GR_FECS + FECS_CHAN_ADDR, FIELD_PREP(FECS_CHAN_INST, admin_chan(0, 1).inst >> 12));
	harness_sleep(10 * MS);
	return true;
}
/* clang-format off */
STEP(gr_goes_on) { return ASK(!chip.gr_halts); }
/* clang-format on */

/* -------------------------------------------------------- GR's units end their exceptions */

/* .arg of the scene: ESR, GPC, bit of GPCCS_TRAP (0: a unit of the hub), bit of GR_TRAP. */
static bool error, stands;

static void cleared(u32 reg, u32 val)
{
	const u64 *unit = scene->arg;

	if (reg == unit[0] && val == (GR_ESR_ENABLE | GR_ESR_CLEAR))
		error = false;
	if (reg == (unit[2] ? GR_GPC(unit[1], GPC_GPCCS + GPCCS_TRAP) : GR_TRAP) && !error &&
	    val & (unit[2] ?: unit[3]))
		stands = false;
}

/* The bits of the unit stand, and interrupt as soon as the host lets GR go on. */
static void latch(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(20 * US)) {
		if (!stands || chip.gr_halts)
			continue;
		chip_gr_trap(admin_chan(scene_count[1], 1).inst, scene->arg[1], scene->arg[2],
			     scene->arg[3]);
		scene_count[0]++;
	}
}

/* vGPU 0 has one error of the unit, and leaves; vGPU 1 gets GR, and does nothing wrong. */
/* clang-format off */
STEP(has_one_error) { error = stands = true; return true; }
STEP(is_next) { scene_count[1] = i; return true; }
STEP(tells_if_it_stands) { scene_count[2] = stands; scene_stop(); return true; }
/* clang-format on */
#define ONE_ERROR                                                                   \
	PLAYS(0, { before_write, (u64)cleared }, { has_one_error }, { sleeps, MS }, \
	      { is_next, .i = 1 }, { unbinds, 1 }, { sleeps, 100 * MS }, { tells_if_it_stands })

/* Whatever ESR is armed at bring-up is written with CLEAR at an acknowledge. */
static u32 armed[WRITTEN_MAX], nr_armed;

static void arms(u32 reg, u32 val)
{
	u32 i;

	if ((val & ~GR_ESR_ENABLE) != GR_ESR_CLEAR)
		return;
	for (i = 0; i < nr_armed && armed[i] != reg; i++)
		;
	if (i == nr_armed)
		armed[nr_armed++] = reg;
}

static void watch_armed(const struct scene *s)
{
	chip_before_write = arms;
}

static void all_units_trap(const struct role *r)
{
	u32 gpcs = admin_word(CARD, "card", "gpcs "), rops = admin_word(CARD, "card", "rops "), g,
	    t, i;
	u32 val;

	chip_before_write = NULL;
	/* of the hub, ROPs, and each GPC with two PPCs; TEX, POLY and L1C of TPCs */
	FAIL_ON(nr_armed != 7 + 2 * rops + 6 * gpcs + 3 * GR_NR_TPC, "%u units are armed",
		nr_armed);
	for (g = 0; g < gpcs; g++) {
		for (t = 0; t < 3; t++)
			chip_put(GR_TPC(g, t, TPC_TRAP), ~0u);
		chip_put(GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), ~0u);
	}
	chip_gr_trap(0, 0, ~0u, ~0u);
	chip_put(GR_TRAP_GPC_MASK, ~0u);
	chip.nr_written = 0;
	harness_sleep(10 * MS);
	for (i = 0; i < nr_armed; i++)
		FAIL_ON(!chip_written(armed[i], &val) || !(val & GR_ESR_CLEAR),
			"S5: what 0x%06x arms is not acknowledged", armed[i]);
	FAIL_ON(chip_written(GR_TRAP_GPC_MASK, &val) < gpcs || val != BIT(gpcs - 1),
		"S5: traps of GPCs are acknowledged by 0x%x", val);
}

/* ------------------------------------------------------------------ VFIO_DEVICE_SET_IRQS */

static const struct {
	const char *name;
	u32 index, flags, start, count;
	s32 data; /* number of an eventfd, or 0 or 1 for BOOL */
	int want;
} forms[] = {
	{ "no such interrupt", VFIO_PCI_NUM_IRQS, TRIGGER | NONE, 0, 1, 0, -EINVAL },
	{ "ERR", VFIO_PCI_ERR_IRQ_INDEX, TRIGGER | EVENTFD, 0, 1, 3, -EINVAL },
	{ "MSI-X", VFIO_PCI_MSIX_IRQ_INDEX, TRIGGER | EVENTFD, 0, 1, 3, -EINVAL },
	{ "the second MSI", MSI, TRIGGER | EVENTFD, 1, 1, 3, -EINVAL },
	{ "two MSIs", MSI, TRIGGER | EVENTFD, 0, 2, 3, -EINVAL },
	{ "so many that the end wraps", MSI, TRIGGER | EVENTFD, 1, ~0u, 3, -EINVAL },
	{ "no action", MSI, EVENTFD, 0, 1, 3, -EINVAL },
	{ "two actions", INTX, MASK | UNMASK | NONE, 0, 1, 0, -EINVAL },
	{ "no data type", MSI, TRIGGER, 0, 1, 3, -EINVAL },
	{ "two data types", MSI, TRIGGER | NONE | BOOL, 0, 1, 1, -EINVAL },
	{ "a flag that is none", MSI, TRIGGER | NONE | 1 << 10, 0, 1, 0, -EINVAL },
	{ "an eventfd for nothing", MSI, TRIGGER | EVENTFD, 0, 0, 3, -EINVAL },
	{ "no eventfd", MSI, TRIGGER | EVENTFD, 0, 1, 99, -EBADF },
	{ "less than none", MSI, TRIGGER | EVENTFD, 0, 1, -2, -EINVAL },
	{ "MSI masked", MSI, MASK | NONE, 0, 1, 0, -EINVAL },
	{ "REQ unmasked", REQ, UNMASK | NONE, 0, 1, 0, -EINVAL },
	{ "masked by an eventfd", INTX, MASK | EVENTFD, 0, 1, 3, -ENOTTY },
	{ "unmasked by no eventfd", INTX, UNMASK | EVENTFD, 0, 1, 99, -EBADF },
	{ "all INTx masked", INTX, MASK | NONE, 0, 0, 0, -EINVAL },
	{ "set", MSI, TRIGGER | EVENTFD, 0, 1, 3, 0 },
	{ "set again", MSI, TRIGGER | EVENTFD, 0, 1, 3, 0 },
	{ "taken by -1", MSI, TRIGGER | EVENTFD, 0, 1, -1, 0 },
	{ "taken by a count of 0", MSI, TRIGGER | NONE, 0, 0, 0, 0 },
	{ "INTx", INTX, TRIGGER | EVENTFD, 0, 1, 4, 0 },
	{ "its unmask", INTX, UNMASK | EVENTFD, 0, 1, 5, 0 },
	{ "a second unmask", INTX, UNMASK | EVENTFD, 0, 1, 6, -EBUSY },
	{ "the unmask taken", INTX, UNMASK | EVENTFD, 0, 1, -1, 0 },
	{ "masked", INTX, MASK | NONE, 0, 1, 0, 0 },
	{ "unmasked, not really", INTX, UNMASK | BOOL, 0, 1, 0, 0 },
	{ "unmasked", INTX, UNMASK | BOOL, 0, 1, 1, 0 },
	{ "REQ", REQ, TRIGGER | EVENTFD, 0, 1, 7, 0 },
};

static void all_forms(const struct role *r)
{
	struct vfio_irq_set small = {
		.argsz = sizeof(small), .flags = TRIGGER | EVENTFD, .index = MSI, .count = 1
	};
	struct vfio_device *dev = world.vgpu[0].dev;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		FAIL_ON(set_irqs(0, forms[i].index, forms[i].flags, forms[i].start, forms[i].count,
				 forms[i].data) != forms[i].want,
			"SET_IRQS, %s: not %d", forms[i].name, forms[i].want);
	FAIL_ON(dev->ops->ioctl(dev, VFIO_DEVICE_SET_IRQS, (unsigned long)&small) != -EINVAL,
		"SET_IRQS takes an eventfd that is not there");
}

/* clang-format off */
#define LINE_CAN_RISE { writes, PMC_INTR_MASK(PMC_LEAF_HOST), ~0u }, \
	{ writes, PMC_INTR_EN(PMC_LEAF_HOST), PMC_INTR_EN_HARDWARE }, \
	{ writes, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL | PFIFO_INTR_PBDMA }

/* SET_IRQS (.a index, .b flags) with NONE or an eventfd (.c), which is not refused */
STEP(sets) { return ASK(!set_irqs(i, a, b, 0, !(a == MSI && b & NONE), c) || scene->interleaved); }
/* Eventfd .a has got .b signals since it was asked last. */
STEP(got) { return ASK(user_eventfd_read(a) == b); }
STEP(line_rises)
{
	chip_nonstall();
	harness_sleep(3 * MS);
	NEEDS(g_read(V(i), PFIFO_INTR) & PFIFO_INTR_NONSTALL);
	return true;
}
STEP(line_falls) { g_write(V(i), PFIFO_INTR, PFIFO_INTR_NONSTALL); return true; }
STEP(signals_fd)
{
	user_eventfd_write(a);
	harness_sleep(scene->interleaved ? 0 : 5 * MS);
	return true;
}
STEP(closes_fd) { user_eventfd_close(a); return true; }
STEP(cost) { eventfd_cost(a, b); return true; } /* ns */
STEP(pbdma_stops) { chip_pbdma_intr(id_of(i, a), PBDMA_INTR0_DEVICE); return true; }
STEP(line_moves)
{
	for (c = 0; c < 3; c++, harness_sleep(4000)) {
		chip_nonstall();
		g_read(V(i), PFIFO_INTR);
		line_falls(i, 0, 0, 0);
	}
	return true;
}
/* The vfio core does so, without the vGPU's lock, while an admin removes the device. */
STEP(is_removed) { for (c = 0; c < 8; c++) V(i)->dev->ops->request(V(i)->dev, c); return true; }
STEP(next_tenant) { world_close(i); setup_open(i); return true; }
STEP(signalled_within) { return ASK(WITHIN(a, MS, signalled.nr)); }
/* clang-format on */

/* ---------------------------------------------------------- what a signal costs, and whom */

#define SIGNAL_MS 25

static void raises(const struct role *r)
{
	u32 p;

	while (scene_goes_on()) {
		chip_pbdma_intr(g_hchid(G, 1), PBDMA_INTR0_DEVICE);
		harness_sleep(MS);
		for (p = 0; p < 3; p++)
			g_write(G, PBDMA(p) + PBDMA_INTR0, ~0u);
		g_write(G, PFIFO_PBDMA_INTR_SOURCE, ~0u);
	}
}

/* Another way to a signal: the line of INTx stays up, and user space unmasks it. */
static void unmasks(const struct role *r)
{
	for (; scene_goes_on(); harness_sleep(SIGNAL_MS * MS))
		user_eventfd_write(4);
}

/* scene_count[0]: most us that a bind and an unbind take */
static void neighbour_binds(const struct role *r)
{
	u64 began;

	for (; scene_goes_on(); harness_sleep(3 * MS)) {
		began = harness_now;
		g_bind(V(1), 2);
		g_unbind(V(1), 2);
		scene_count[0] = max(scene_count[0], (harness_now - began) / US);
	}
}

/* An eighth of a CPU is the vGPU's for signals by the host's threads. Some come from them. */
MEASURE(host_signals, "signals by the host", signalled.by_host, VALUE);
#define AN_EIGHTH 2, 2 + 2000 / 8 / SIGNAL_MS
MEASURE(locked_signals, "signals under a lock of the card", signalled.locked, VALUE);

/* ------------------------------------------------------------------ the table */

/* clang-format off */

#define IDLES { .idles = true }
#define ROUGH { .oversleep_ns = 3000, .switch_ppm = 500 }
#define CHANCE { .switch_ppm = 3000 }
#define UNKNOWN_GPCCS BIT(4) /* bits that no source tells for a GK110 */
#define UNKNOWN_TRAP  BIT(2)
#define PPC(g, p) { GR_PPC(g, p, PPC_ESR), g, UNKNOWN_GPCCS, GR_TRAP_GPC }

#define STORM(n, pol, ...)                                                                   \
	{ n, 1, CALM, pol, .ms = 200,                                                          \
	  .first = STEPS({ writes, PFIFO_INTR_EN, PFIFO_INTR_NONSTALL }),                      \
	  .roles = { { nonstalls }, ##__VA_ARGS__ },                                           \
	  .must = { { &m_irq_ran, CARD, AT_MOST(200), "S5: one source's interrupts" },       \
		    /* twice what docs/interrupts.md says; who waits is told in the end */ \
		    { &m_interrupts, CARD, 10, 928, "S5: one source's interrupts" } } }

/* A service takes so many us, and the next interrupt is there at once. */
#define HALF(us)                                                                            \
	{ "services of " #us " us take half of the time", 1, CALM, CHANCE, .ms = 1000,       \
	  .arg = { 0, us }, .first = STEPS({ goes_on_again }),                              \
	  .must = { { &m_irq_worked, CARD, 100, 550, "S6: the interrupt thread works" } } }

#define COPIES { work_nobodys_copies, .arg = 5 * US }
#define ALL { COPIES, { nobodys_methods, 0, 1 }, { nonstalls }, { faults_often } }
#define MIX(n, us, s, ...)                                                                  \
	{ n, 2, PLAIN(), ROUGH, .ms = 1000, .arg = { 0, us }, .slow = s, \
	  .first = STEPS({ serves_slowly }, { rings, 1, 0 }, { sleeps, 100 * MS }),           \
	  .roles = __VA_ARGS__,                                                             \
	  .must = { { &m_irq_worked, CARD, AT_MOST(550), "S6: the interrupt thread works" }, \
		    { &m_count, 0, AT_LEAST(100), "no such storm" } } }

#define UNIT(n, ...)                                                                        \
	{ n, 2, CALM, .ms = 200, .arg = __VA_ARGS__, .roles = { { latch }, ONE_ERROR },  \
	  .must = { { &m_count, 0, AT_LEAST(1), "no such error" },                          \
		    { &m_count, 2, IS(0), "S5: an error of a unit is not acknowledged" },    \
		    { &m_strikes, 1, IS(0), "S5: a neighbour pays for an error" },           \
		    { &m_lives, 1, IS(1), "S5: a neighbour pays for an error" } } }

#define LATE_TOLD(n, ...) \
	{ n, 2, IDLES, COARSE, .roles = { __VA_ARGS__ }, .after = neighbour_is_told_nothing }

/* Events name the guest's own instance block and the offset in its own BAR1, not the card's. */
#define NAMES_OF(n, v) \
	{ n, 2, CALM, .roles = { PLAYS(v, { traps, 0, BIT(2) }, \
	  { reads, GR_FECS + FECS_CHAN_ADDR, \
	    FECS_CHAN_VALID | FIELD_PREP(FECS_CHAN_INST, G_INST(1) >> 12) }, \
	  { bar1_faults, 0x5000 }, { told_at, 0x5000 }) } }
/* A channel hangs, and its guest preempts it, or its group. It is told of that by its own ids. */
#define HANGS(n, id, group, ...) \
	{ n, 1, EAGER, .roles = { PLAYS(0, __VA_ARGS__, { hangs, 1 }, \
	  { preempts, id, group }, { sleeps, 10 * MS }, { an_engine_is, PFIFO_STATUS_BUSY | \
	  PFIFO_STATUS_CHSW | PFIFO_STATUS_SAVE | ((group) ? PFIFO_STATUS_TSG : 0) | (id) }) }, \
	  .must = { { &m_lives, 0, IS(0), "S5: a channel hangs and goes on" } } }
/*
 * vGPU 1 has an error, which registers of the chip tell of, and the host acknowledges it. The
 * registers keep their values: vGPU 0 is not told them with an error of another kind. @told: vGPU 1
 * is.
 */
#define NOT_TOLD(n, raises, theirs, ours, val, told, ...) \
	{ n, 2, CALM, .roles = { PLAYS(0, { have, ENTRIES(__VA_ARGS__), val }, \
	  { raises, theirs, .i = 1 }, { tells, ENTRIES(__VA_ARGS__), (told) * (val), .i = 1 }, \
	  { raises, ours }, { tell_nothing, ENTRIES(__VA_ARGS__) }) } }
#define SCRIPT(n, ...) \
	{ n, 1, CALM, .first = STEPS(LINE_CAN_RISE), .roles = { PLAYS(0, __VA_ARGS__) } }
#define RACE(n, against, start, ...) \
	{ n, 1, .interleaved = true, .first = start, \
	  .roles = { PLAYS(0, { against }), PLAYS(0, __VA_ARGS__) } }
#define SET_FD TRIGGER | EVENTFD

static const struct scene table[] = {
	{ "the end of a copy while another one is driven off", 2, PLAIN(), COARSE,
	  .roles = { { nonstalls_in_a_switch, 0, 1 } },
	  .must = { { &m_count, 0, AT_MOST(20), "S5: a neighbour is told late" } } },
	{ "the end of a copy while one that storms is driven off", 2, PLAIN(), COARSE,
	  .roles = { { nonstalls_in_a_switch } },
	  .must = { { &m_count, 0, AT_MOST(100), "S5: a neighbour is told late" } } },
	STORM("a storm of NON_STALL", {}),
	STORM("a storm of NON_STALL that nobody wants for long", CHANCE, { wants_and_does_not }),
	{ "an interrupt that does not go away", 1, CALM, .ms = 900, .arg = { 1000 },
	  .first = STEPS({ goes_on_again }),
	  .last = STEPS({ sleeps, 10 * MS }, { chip_has, PBDMA(0) + PBDMA_INTR0, 0 }),
	  .must = { { &m_count, 0, IS(1000), "S6: an interrupt is not served" },
		    { &m_count, 1, AT_MOST(64), "S6: one run of the thread goes on and on" } } },
	{ "an unbind does not wait for later interrupts", 1, CALM, CHANCE, .ms = 50,
	  .first = STEPS({ goes_on_again }),
	  .roles = { PLAYS(0, { sleeps, MS }, { unbinds, 1 }, { ends_in_time }) } },
	HALF(30),
	HALF(90),
	HALF(270),
	HALF(810),
	{ "a storm of nobody's", 1, CALM, .ms = 2000, .roles = { { nobodys_methods } },
	  /* beyond the budget one in 50 us */
	  .must = { { &m_count, 0, PER_SECOND, 44000, "S6: nobody's budget" } } },
	MIX("all kinds, 200 us each", 200, false, ALL),
	MIX("all kinds, 60 us each", 60, false, ALL),
	MIX("all kinds, 20 us each", 20, true, ALL),
	MIX("all kinds, quick", 0, true, ALL),
	MIX("faults, 200 us each", 200, true, { { faults_often } }),
	MIX("copies and faults, 200 us each", 200, true, { COPIES, { faults_often } }),
	MIX("methods and faults, 200 us each", 200, true, { { nobodys_methods, 0, 1 },
	    { faults_often } }),
	{ "exceptions of GR are dear", 1, CALM, .roles = { { dear_exceptions } },
	  .must = { { &m_count, 0, 20, PER_SECOND / 10, "S5: reading one takes long" } } },

	LATE_TOLD("an id of a storm gets another owner",
		  PLAYS(0, { interrupts, 1, PER_SECOND + 100 }, { resets_with_fatal },
			{ sleeps, 20 * MS })),
	LATE_TOLD("a reset waits for a report",
		  PLAYS(0, { reports_late }, { resets_meanwhile }, { sleeps, 5 * MS })),
	/* interrupts of nobody's are beyond their budget */
	LATE_TOLD("a reset waits for a report in a rest",
		  PLAYS(0, { interrupts, 0, PER_SECOND + 1 }, { reports_late },
			{ resets_meanwhile }, { sleeps, 5 * MS })),
	{ "the last tenant's interrupts", 1, { .eager = true, .late = 1, .idles = true },
	  .roles = { { last_second } },
	  .must = { { &m_lives, 0, IS(1), "S5: a tenant pays for the last one's interrupts" },
		    { &m_count, 0, IS(0), "S5: a tenant pays for the last one's interrupts" } } },
	{ "copies that are told in a rest are free", 1, IDLES, COARSE,
	  .first = STEPS({ interrupts, 0, PER_SECOND }), .roles = { { copies_in_a_rest, 0, 1 } },
	  .must = { { &m_lives, 0, IS(1), "S5: a channel pays for what may be another's" } } },
	{ "copies beyond the budget end their channel", 1, IDLES, COARSE,
	  .roles = { { copies_in_a_rest } },
	  .must = { { &m_lives, 0, IS(0), "S5: a storm of copies goes on" } } },
	/* the thread rests, and a fault then is a strike */
	{ "a fault beyond the budget", 1, IDLES, COARSE,
	  .roles = { PLAYS(0, { interrupts, 1, PER_SECOND }, { loads, 1 }, { faults_now, 1 },
			   { sleeps, 50 * MS }) },
	  .must = { { &m_strikes, 0, IS(1), "S5: a fault that makes the thread rest" } } },

	{ "more events than fit", 1, CALM, .roles = { { signals }, { more_than_fit } },
	  .must = { { &m_events_dropped, 0, IS(15), "S4: events are lost" } } },
	NAMES_OF("names of vGPU 0", 0),
	NAMES_OF("names of vGPU 1", 1),
	HANGS("a channel that hangs", 1, false, { has_other_names }),
	HANGS("a group that hangs", 5, true, { lists, ENTRIES(TSG(5, 1), 1) },
	      { has_other_names, true }),
	NOT_TOLD("where a neighbour's PROP failed", gpc_traps, GPCCS_TRAP_PROP, GPCCS_TRAP_TPC(0),
		 SECRET, true, GR_GPC(0, GPC_PROP_ESR_COORDS), GR_GPC(0, GPC_PROP_ESR_FORMAT),
		 GR_GPC(0, GPC_PROP_ESR_STORAGE)),
	NOT_TOLD("what a neighbour asked GR for", gpc_traps, GPCCS_TRAP_PROP, GPCCS_TRAP_TPC(0),
		 SECRET, false, GR_TRAPPED_DATA),
	NOT_TOLD("what a neighbour's HCE refused", pbdma_interrupts, 0, 1, SECRET, true,
		 PBDMA(0) + PBDMA_HCE_DATA, PBDMA(0) + PBDMA_HCE_METHOD),
	NOT_TOLD("what was wrong with a neighbour's launch", copy_interrupts,
		 GK110_CE_INTR_LAUNCHERR, GK110_CE_INTR_NONBLOCKPIPE, 8, true,
		 GK110_CE(2) + GK110_CE_LAUNCHERR),
	/* it is nobody's, and is acknowledged */
	{ "an exception of no context", 1, CALM,
	  .roles = { PLAYS(0, { traps_nobody }, { reads, GR_INTR, 0 }, { gr_goes_on }) },
	  .must = { { &m_faults, 0, IS(0), "S4: a vGPU is told another's exception" } } },

	UNIT("an error of PPC 0 of GPC 0 ends", PPC(0, 0)),
	UNIT("an error of PPC 1 of GPC 0 ends", PPC(0, 1)),
	UNIT("an error of PPC 0 of GPC 4 ends", PPC(4, 0)),
	UNIT("an error of PPC 1 of GPC 4 ends", PPC(4, 1)),
	UNIT("an error of the PD ends", { GR_PD_ESR, 0, 0, UNKNOWN_TRAP }),
	{ "what is armed is acknowledged", 1, CALM, .probe = watch_armed,
	  .roles = { { all_units_trap } } },

	{ "forms of SET_IRQS", 1, CALM, .roles = { { all_forms } } },
	/* an eventfd that is set while the line is up is signalled at once, the former is not */
	SCRIPT("MSI goes by edges", { sets, MSI, SET_FD, 3 }, { line_rises }, { got, 3, 1 },
	       { sleeps, 5 * MS }, { got, 3, 0 }, { sets, MSI, SET_FD, 4 }, { got, 4, 1 },
	       { sleeps, 5 * MS }, { got, 3, 0 }, { line_falls }, { line_rises }, { got, 4, 1 },
	       { line_falls }, { sets, MSI, TRIGGER | NONE }, { line_rises }, { got, 4, 0 },
	       /* a VMM tests its eventfd: TRIGGER with 0 does nothing, with 1 signals it */
	       { sets, MSI, SET_FD, 5 }, { got, 5, 1 }, { sets, MSI, TRIGGER | BOOL, 0 },
	       { got, 5, 0 }, { sets, MSI, TRIGGER | BOOL, 1 }, { got, 5, 1 }),
	/* told once, which masks it; the line is up at the unmask, so told again */
	SCRIPT("INTx is a level", { sets, INTX, SET_FD, 3 }, { sets, INTX, UNMASK | EVENTFD, 4 },
	       { line_rises }, { got, 3, 1 }, { sleeps, 5 * MS }, { got, 3, 0 }, { signals_fd, 4 },
	       { got, 3, 1 }, { line_falls }, { signals_fd, 4 }, { got, 3, 0 },
	       { sets, INTX, MASK | NONE }, { line_rises }, { got, 3, 0 },
	       { sets, INTX, UNMASK | NONE }, { got, 3, 1 },
	       /* MSI takes over from INTx, then the eventfd of INTx's unmask is closed */
	       { sets, MSI, SET_FD, 5 }, { signals_fd, 4 }, { got, 3, 0 }, { closes_fd, 4 },
	       { sets, INTX, UNMASK | EVENTFD, 6 }),
	/* the unmask's handler runs inside the signal */
	SCRIPT("one eventfd for INTx and its unmask", { sets, INTX, SET_FD, 3 },
	       { sets, INTX, UNMASK | EVENTFD, 3 }, { line_rises }, { line_falls }, { line_rises },
	       { line_falls }),
	RACE("MSI is replaced while signalled", line_moves, STEPS(LINE_CAN_RISE),
	     { sets, MSI, SET_FD, 3 }, { sets, MSI, SET_FD, 4 }, { closes_fd, 3 },
	     { sets, MSI, TRIGGER | NONE }, { closes_fd, 4 }, { sets, MSI, SET_FD, 5 }),
	RACE("INTx and its unmask are replaced", line_moves, STEPS(LINE_CAN_RISE),
	     { sets, INTX, SET_FD, 3 }, { sets, INTX, UNMASK | EVENTFD, 4 }, { signals_fd, 4 },
	     { sets, INTX, UNMASK | EVENTFD, -1 }, { sets, INTX, UNMASK | EVENTFD, 3 },
	     { signals_fd, 3 }, { closes_fd, 3 }, { sets, INTX, SET_FD, -1 },
	     { sets, INTX, MASK | NONE }, { sets, INTX, UNMASK | NONE }),
	RACE("REQ is replaced while signalled", is_removed, STEPS({ sets, REQ, SET_FD, 6 }),
	     { sets, REQ, SET_FD, 7 }, { sets, REQ, TRIGGER | NONE }),

	{ "who pays for a signal", 2, { .eager = true, .late = 1, .load_ppm = 20000 }, .ms = 2000,
	  .first = STEPS({ sets, MSI, SET_FD, 3 }, LINE_CAN_RISE, { inst, 2, .i = 1 },
			 { cost, 3, SIGNAL_MS * MS }), .roles = { { raises }, { neighbour_binds } },
	  .must = { { &m_irq_ran, CARD, AT_MOST(200), "S5: signals to a VMM" },
		    { &m_host_signals, 0, AN_EIGHTH, "S5: signals to a VMM" },
		    { &m_locked_signals, 0, IS(0), "S5: signals to a VMM" },
		    { &m_count, 0, AT_MOST(10000), "S5: a neighbour waits for signals" } } },
	{ "who pays for an unmask", 1, EAGER, .ms = 2000,
	  .first = STEPS({ sets, INTX, SET_FD, 3 }, LINE_CAN_RISE,
			 { sets, INTX, UNMASK | EVENTFD, 4 }, { pbdma_stops, 1 },
			 { sleeps, 50 * MS }, { cost, 3, SIGNAL_MS * MS }),
	  .roles = { { unmasks } },
	  .must = { { &m_host_signals, 0, AN_EIGHTH, "S5: signals to a VMM that unmasks" } } },
	{ "the next tenant owes nothing", 1, EAGER,
	  .roles = { PLAYS(0, { sets, MSI, SET_FD, 3 }, LINE_CAN_RISE, { cost, 3, 2000 * MS },
			   { pbdma_stops, 1 }, { sleeps, 2100 * MS }, { next_tenant },
			   { sets, MSI, SET_FD, 4 }, LINE_CAN_RISE, { cost, 4, 1 },
			   { sleeps, 50 * MS }, { pbdma_stops, 1 },
			   { signalled_within, 50 * MS }) } },
};

/* clang-format on */

SCENES(table)
