// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of the chip. The hard handler masks all interrupts. The interrupt thread reads the
 * cause, reports it through struct kvgpu_hw_events or only logs it, and acknowledges it. An
 * interrupt can stall a unit that tenants share, so it is acknowledged when it is reported, and not
 * only when the guest's driver responds. Order of register accesses: nouveau nvkm/subdev/mc and
 * nvkm/subdev/pci, nvkm/engine/fifo/gk104.c.
 *
 * The interrupt thread holds no lock of hw/ while it reports. To acknowledge an exception of GR, it
 * takes gr_lock.
 */
#include <linux/interrupt.h>

#include "gk110/ce.h"
#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "gk110/pbus.h"
#include "gk110/ppci.h"
#include "gk110/privring.h"
#include "gk110/ptimer.h"
#include "hw/internal.h"

/*
 * offset in BAR0: a byte of 0xff, written there, lets the card send the next message (nouveau
 * pci/nv40.c nv40_pci_msi_rearm())
 */
#define MSI_REARM (PPCI_BASE + GK110_PCI_MSI)
/* How many times kvgpu_hw_intr_settle() sleeps, for 100 us or more, before it gives up. */
#define SETTLE_POLLS 20000
/*
 * Rounds of one run of the interrupt thread: an interrupt that does not go away must not keep the
 * thread spinning.
 */
#define ROUNDS 16
/* least us of a rest of the interrupt thread that was asked for (kvgpu_hw_intr_pace()) */
#define PACE_US 1000
/* most us for which rest_us() asks at once when the thread has worked too much */
#define REST_MOST_US 4000
/* least us between two readings of the causes in a rest */
#define REST_STEP_US 50
/* a rest gets longer by what is served in it, up to so many times its length */
#define REST_TIMES 8
/* most ns of work of the thread that may be saved up */
#define WORK_BURST_NS (20 * (s64)NSEC_PER_MSEC)
/* us in which an engine switches channels, if nothing holds the switch up */
#define SWITCH_US 1000
/* us between two polls of an engine that switches channels */
#define SWITCH_POLL_US 100
/* Fields of an engine's status that stay the same during one phase of a switch. */
#define SWITCH_FIELDS                                                                  \
	(PFIFO_STATUS_ID | PFIFO_STATUS_TSG | PFIFO_STATUS_VALID | PFIFO_STATUS_SAVE | \
	 PFIFO_STATUS_CHSW | PFIFO_STATUS_NEXT_ID | PFIFO_STATUS_NEXT_TSG | PFIFO_STATUS_BUSY)

static void intr_note(struct kvgpu_hw *hw, const char *what, u32 val)
{
	hw->stats.unhandled++;
	dev_warn_ratelimited(&hw->pdev->dev, "%s 0x%08x\n", what, val);
}

/* ------------------------------------------------------------------ interrupts of PFIFO */

static void fifo_mmu_faults(struct kvgpu_hw *hw)
{
	u32 mask = hw_rd(hw, GMMU_FAULT_SOURCE);
	struct kvgpu_hw_fault f;
	unsigned int u;

	for (u = 0; u < GMMU_FAULT_UNITS; u++) {
		if (!(mask & BIT(u)))
			continue;
		f.unit = u;
		f.inst = (u64)FIELD_GET(GMMU_FAULT_INST_ADDR, hw_rd(hw, GMMU_FAULT_INST(u)))
			 << GMMU_ADDR_SHIFT;
		f.va = hw_rd(hw, GMMU_FAULT_VA_LO(u)) | (u64)hw_rd(hw, GMMU_FAULT_VA_HI(u)) << 32;
		f.info = hw_rd(hw, GMMU_FAULT_INFO(u));
		f.since = hw->p->intr_read_at;
		hw->events->mmu_fault(hw->events_ctx, &f);
		hw_wr(hw, GMMU_FAULT_SOURCE, BIT(u));
	}
}

static void fifo_pbdma(struct kvgpu_hw *hw, unsigned int p)
{
	struct kvgpu_hw_pbdma s = { .pbdma = p };
	u32 base = PBDMA(p);

	/*
	 * The causes first: a PBDMA that stops keeps its channel and its methods until the
	 * acknowledge. If the channel were read first, the PBDMA could go on to another channel,
	 * and stop there for a cause that is read later.
	 */
	s.intr0 = hw_rd(hw, base + PBDMA_INTR0) & hw_rd(hw, base + PBDMA_INTR0_EN);
	s.intr1 = hw_rd(hw, base + PBDMA_INTR1) & hw_rd(hw, base + PBDMA_INTR1_EN);
	s.chid.v = FIELD_GET(PBDMA_CHANNEL_ID, hw_rd(hw, base + PBDMA_CHANNEL));
	s.method = hw_rd(hw, base + PBDMA_METHOD0);
	s.data = hw_rd(hw, base + PBDMA_DATA0);
	s.hce_method = hw_rd(hw, base + PBDMA_HCE_METHOD);
	s.hce_data = hw_rd(hw, base + PBDMA_HCE_DATA);
	if (s.intr0 || s.intr1)
		hw->events->pbdma(hw->events_ctx, &s);
	/*
	 * At an interrupt that does not stall, the PBDMA goes on. Its method may then be another
	 * channel's, and is not skipped.
	 */
	hw_pbdma_ack(hw, p, s.intr0, s.intr1, s.intr0 & ~(u32)PBDMA_INTR0_NO_STALL);
}

static void fifo_pbdmas(struct kvgpu_hw *hw)
{
	u32 mask = hw_rd(hw, PFIFO_PBDMA_INTR_SOURCE);
	unsigned int p;

	for (p = 0; p < hw->topo.nr_pbdma; p++) {
		if (!(mask & BIT(p)))
			continue;
		fifo_pbdma(hw, p);
		hw_wr(hw, PFIFO_PBDMA_INTR_SOURCE, BIT(p));
	}
}

/*
 * Returns the id of the channel or group that an engine of status @st loads or saves, and sets
 * *@tsg to true if the id is that of a group. Returns -1 if the engine is in no context switch.
 */
static int stuck_id(u32 st, bool *tsg)
{
	if (!(st & PFIFO_STATUS_BUSY) || !(st & PFIFO_STATUS_CHSW))
		return -1;
	if ((st & PFIFO_STATUS_VALID) && !(st & PFIFO_STATUS_SAVE)) {
		*tsg = st & PFIFO_STATUS_NEXT_TSG;
		return FIELD_GET(PFIFO_STATUS_NEXT_ID, st);
	}
	*tsg = st & PFIFO_STATUS_TSG;
	return FIELD_GET(PFIFO_STATUS_ID, st);
}

/*
 * Sleeps in the interrupt thread, for @us us at least and twice as long at most. The sleep does not
 * count as work of the thread.
 */
static void intr_sleep(struct kvgpu_hw *hw, unsigned int us)
{
	u64 began = ktime_get_ns();

	usleep_range(us, 2 * us);
	hw->p->intr_slept_ns += ktime_get_ns() - began;
}

/*
 * A context switch did not end in time. The chip does not say on which engine. An engine that is in
 * a switch may have begun that switch just now, with another tenant's channel. It may be the only
 * engine in a switch, because the switch that took too long may have ended before this thread ran.
 * So the engines' status is read again and again for SWITCH_US. A switch is reported if nothing
 * about it has changed at any poll. An engine that ends one switch and begins another, even of the
 * same channel, shows another phase at some of the polls.
 */
static void fifo_switch_timeout(struct kvgpu_hw *hw)
{
	u32 st[KVGPU_MAX_ENGINE], stuck = 0;
	unsigned int e, poll;
	bool tsg = false;
	int id;

	for (e = 0; e < hw->topo.nr_engines; e++) {
		st[e] = kvgpu_hw_engine_status(hw, e) & SWITCH_FIELDS;
		if (stuck_id(st[e], &tsg) >= 0)
			stuck |= BIT(e);
	}
	for (poll = 0; stuck && poll < SWITCH_US / SWITCH_POLL_US; poll++) {
		intr_sleep(hw, SWITCH_POLL_US);
		for (e = 0; e < hw->topo.nr_engines; e++)
			if ((kvgpu_hw_engine_status(hw, e) & SWITCH_FIELDS) != st[e])
				stuck &= ~BIT(e);
	}
	for (e = 0; e < hw->topo.nr_engines; e++) {
		if (!(stuck & BIT(e)))
			continue;
		id = stuck_id(st[e], &tsg);
		hw->events->ctxsw_timeout(hw->events_ctx, e, id, tsg);
	}
}

static void fifo_sched_error(struct kvgpu_hw *hw)
{
	u32 code = FIELD_GET(PFIFO_SCHED_ERROR_CODE, hw_rd(hw, PFIFO_SCHED_ERROR));

	if (code == PFIFO_SCHED_CTXSW_TIMEOUT)
		fifo_switch_timeout(hw);
	else
		intr_note(hw, "scheduler error", code);
}

static void fifo_intr(struct kvgpu_hw *hw)
{
	u32 stat = hw_rd(hw, PFIFO_INTR) & hw_rd(hw, PFIFO_INTR_EN), rest;

	/* first: it has stopped a runlist, and what follows may sleep */
	if (stat & PFIFO_INTR_MMU_FAULT)
		fifo_mmu_faults(hw);
	if (stat & PFIFO_INTR_BIND_ERROR)
		intr_note(hw, "channel bind error", hw_rd(hw, PFIFO_BIND_ERROR));
	if (stat & PFIFO_INTR_SCHED_ERROR)
		fifo_sched_error(hw);
	if (stat & PFIFO_INTR_CHSW_ERROR) {
		u32 v = hw_rd(hw, PFIFO_CHSW_ERROR);

		intr_note(hw, "channel switch error", v);
		hw_wr(hw, PFIFO_CHSW_ERROR, v);
	}
	if (stat & PFIFO_INTR_PBDMA)
		fifo_pbdmas(hw);
	if (stat & PFIFO_INTR_NONSTALL) {
		hw_wr(hw, PFIFO_INTR, PFIFO_INTR_NONSTALL);
		hw->events->nonstall(hw->events_ctx);
	}
	rest = stat & ~(PFIFO_INTR_LEVELS | PFIFO_INTR_NONSTALL);
	if (rest & ~(PFIFO_INTR_BIND_ERROR | PFIFO_INTR_SCHED_ERROR | PFIFO_INTR_CHSW_ERROR))
		intr_note(hw, "PFIFO interrupt", rest);
	if (rest)
		hw_wr(hw, PFIFO_INTR, rest);
}

/*
 * Tells whether the chip holds a record of a fault of instance block @inst that is not acknowledged
 * yet. False for KVGPU_HW_ALL_INST: other channels may fault again and again. A record that waits
 * is also a cause in PMC_INTR, so that the next run of the thread reports it.
 */
static bool fault_waits(struct kvgpu_hw *hw, u64 inst)
{
	u32 mask = hw_rd(hw, GMMU_FAULT_SOURCE);
	unsigned int u;

	for (u = 0; u < GMMU_FAULT_UNITS; u++)
		if ((mask & BIT(u)) &&
		    (u64)FIELD_GET(GMMU_FAULT_INST_ADDR, hw_rd(hw, GMMU_FAULT_INST(u)))
				    << GMMU_ADDR_SHIFT ==
			    inst)
			return true;
	return false;
}

/*
 * Tells whether the interrupt thread was woken, and has not yet served what there was. In the rest
 * at the end of a run, tells whether the thread serves just now.
 */
static bool intr_runs(struct kvgpu_hw *hw)
{
	if ((unsigned int)atomic_read(&hw->p->intr_raised) != READ_ONCE(hw->p->intr_served))
		return true;
	/* pairs with the release in rest_serve(): what was served there is reported */
	return smp_load_acquire(&hw->p->intr_rest_serves);
}

void kvgpu_hw_intr_settle(struct kvgpu_hw *hw, u64 inst)
{
	unsigned int i, raised;

	if (hw->p->irq < 0)
		return;
	for (i = 0; i < SETTLE_POLLS && fault_waits(hw, inst); i++)
		usleep_range(100, 200);
	/*
	 * The causes first: if there is none, all that was raised until now is served, or the
	 * thread is serving it.
	 */
	if (!hw_rd(hw, PMC_INTR(PMC_LEAF_HOST)) && !intr_runs(hw))
		return;
	/*
	 * Wait for a run of the thread that begins from now on. synchronize_irq() may wait for as
	 * long as interrupts of other channels keep coming, because the hard handler wakes the
	 * thread again before the thread's run counts as ended.
	 */
	raised = atomic_inc_return(&hw->p->intr_raised);
	irq_wake_thread(hw->p->irq, hw);
	for (; i < SETTLE_POLLS && (int)(READ_ONCE(hw->p->intr_served) - raised) < 0; i++)
		usleep_range(100, 200);
	if (i == SETTLE_POLLS)
		intr_note(hw, "interrupts are not served", i);
}

/* ------------------------------------------------------------ interrupts of GR and copy engines */

/*
 * Adds register @reg to the snapshot @s, if it has room. @says: the register belongs to this
 * exception; false: 0 is stored, because its value may be left from another tenant's exception.
 */
static void gr_reg_snap(struct kvgpu_hw *hw, struct kvgpu_hw_gr *s, u32 reg, bool says)
{
	if (s->nr_regs == ARRAY_SIZE(s->regs))
		return;
	s->regs[s->nr_regs].reg = reg;
	s->regs[s->nr_regs++].val = says ? hw_rd(hw, reg) : 0;
}

static void snap_tpc(struct kvgpu_hw *hw, struct kvgpu_hw_gr *s, unsigned int g, unsigned int t)
{
	static const u16 regs[] = { TPC_TRAP,	  TPC_TEX_ESR, TPC_MP_WARP_ESR, TPC_MP_GLOBAL_ESR,
				    TPC_POLY_ESR, TPC_L1C_ESR, TPC_MPC_ESR };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(regs); i++)
		gr_reg_snap(hw, s, GR_GPC(g, GPC_TPC + t * GPC_TPC_STRIDE + regs[i]), true);
}

static void snap_gpcs(struct kvgpu_hw *hw, struct kvgpu_hw_gr *s)
{
	/*
	 * .only_with: the value is reported only if GPCCS_TRAP has this bit, else 0 is reported;
	 * .only_with 0: the value is always reported. An acknowledge clears the ESR (error status
	 * register) of a unit. But PROP, a unit of the GPC, keeps coordinates, format and storage
	 * type of its last error, which may be another tenant's.
	 */
	static const struct {
		u16 reg, only_with;
	} regs[] = {
		{ GPC_PROP_ESR },
		{ GPC_PROP_ESR_COORDS, GPCCS_TRAP_PROP },
		{ GPC_PROP_ESR_FORMAT, GPCCS_TRAP_PROP },
		{ GPC_PROP_ESR_STORAGE, GPCCS_TRAP_PROP },
		{ GPC_ZCULL_ESR },
		{ GPC_CCACHE_ESR },
		{ GPC_ESETUP_ESR },
	};
	u32 mask = hw_rd(hw, GR_TRAP_GPC_MASK), trap;
	unsigned int g, t, i;

	gr_reg_snap(hw, s, GR_TRAP_GPC_MASK, true);
	for (g = 0; g < hw->topo.gpcs; g++) {
		if (!(mask & BIT(g)))
			continue;
		gr_reg_snap(hw, s, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP), true);
		trap = hw_rd(hw, GR_GPC(g, GPC_GPCCS + GPCCS_TRAP));
		for (i = 0; i < ARRAY_SIZE(regs); i++)
			gr_reg_snap(hw, s, GR_GPC(g, regs[i].reg),
				    !regs[i].only_with || trap & regs[i].only_with);
		for (t = 0; t < hw->topo.tpcs[g]; t++)
			if (trap & GPCCS_TRAP_TPC(t))
				snap_tpc(hw, s, g, t);
	}
}

/*
 * Names the exceptions at which the value of a register is reported. WITH_METHOD: those of
 * METHOD_INTRS. WITH_MACRO: GR_TRAP_MACRO. WITH_FWMTHD: FECS, GR's microcontroller, refuses a
 * firmware method, a method that the program of FECS executes (bad_fwmthd()). At other exceptions
 * 0 is reported, because the register may still have data of another tenant's exception.
 * Conditions: nouveau gf100_gr_intr(), gf100_gr_trap_intr(), gf100_gr_ctxctl_isr().
 */
enum when { ALWAYS, WITH_METHOD, WITH_MACRO, WITH_FWMTHD };

#define METHOD_INTRS \
	(GR_INTR_NOTIFY | GR_INTR_ILLEGAL_MTHD | GR_INTR_ILLEGAL_CLASS | GR_INTR_DATA_ERROR)

static bool bad_fwmthd(struct kvgpu_hw *hw, u32 intr)
{
	return (intr & GR_INTR_FECS) && (hw_rd(hw, GR_FECS + FECS_INTR_UP) & FECS_INTR_UP_UCODE) &&
	       hw_rd(hw, GR_FECS + FECS_SCRATCH(FECS_OS_ERROR)) == FECS_OS_BAD_FWMTHD;
}

static void gr_intr(struct kvgpu_hw *hw)
{
	static const struct {
		u32 reg;
		enum when when;
	} regs[] = {
		{ GR_DATA_ERROR, WITH_METHOD },
		{ GR_TRAPPED_ADDR, WITH_METHOD },
		{ GR_TRAPPED_DATA, WITH_METHOD },
		{ GR_TRAPPED_DATA_HI, WITH_METHOD },
		{ GR_FE_OBJECT(0) },
		{ GR_FE_OBJECT(1) },
		{ GR_FE_OBJECT(2) },
		{ GR_FE_OBJECT(3) },
		{ GR_FE_ESR },
		{ GR_M2MF_ESR },
		{ GR_SCC_ESR },
		{ GR_DS_ESR },
		{ GR_PD_ESR },
		{ GR_UNK6_ESR },
		{ GR_SKED_ESR },
		{ GR_MME_ESR },
		{ GR_MME_ESR_PC, WITH_MACRO },
		{ GR_MME_ESR_OP, WITH_MACRO },
		{ GR_FECS + FECS_INTR_UP },
		{ GR_FECS + FECS_SCRATCH(FECS_OS_FWMTHD_CLASS), WITH_FWMTHD },
		{ GR_FECS + FECS_SCRATCH(FECS_OS_FWMTHD_ADDR), WITH_FWMTHD },
		{ GR_FECS + FECS_SCRATCH(FECS_OS_FWMTHD_DATA), WITH_FWMTHD },
		{ GR_FECS + FECS_SCRATCH(FECS_OS_ERROR) },
	};
	u32 chan = hw_rd(hw, GR_FECS + FECS_CHAN_ADDR);
	struct kvgpu_hw_gr s = {};
	bool told[4] = { [ALWAYS] = true };
	unsigned int i;

	/*
	 * Without VALID the address is that of a context which has left GR. Its channel may be
	 * unbound since, and the memory be another channel's block.
	 */
	if (chan & FECS_CHAN_VALID)
		s.inst = (u64)FIELD_GET(FECS_CHAN_INST, chan) << GMMU_ADDR_SHIFT;
	s.intr = hw_rd(hw, GR_INTR);
	s.trap = hw_rd(hw, GR_TRAP);
	told[WITH_METHOD] = s.intr & METHOD_INTRS;
	told[WITH_MACRO] = s.trap & GR_TRAP_MACRO;
	told[WITH_FWMTHD] = bad_fwmthd(hw, s.intr);
	for (i = 0; i < ARRAY_SIZE(regs); i++)
		gr_reg_snap(hw, &s, regs[i].reg, told[regs[i].when]);
	if (s.trap & GR_TRAP_GPC)
		snap_gpcs(hw, &s);
	hw->events->gr(hw->events_ctx, &s);
	hw_gr_ack(hw);
}

void hw_ce_ack(struct kvgpu_hw *hw, u8 engine, u32 intr)
{
	hw_wr(hw, hw->topo.engine[engine].base + GK110_CE_INTR, intr);
}

static void ce_intr(struct kvgpu_hw *hw, u8 engine)
{
	const struct kvgpu_engine *e = &hw->topo.engine[engine];
	u32 intr = hw_rd(hw, e->base + GK110_CE_INTR), st = kvgpu_hw_engine_status(hw, engine);

	hw->events->ce(hw->events_ctx, engine, intr, hw_rd(hw, e->base + GK110_CE_LAUNCHERR),
		       st & PFIFO_STATUS_VALID ? (int)FIELD_GET(PFIFO_STATUS_ID, st) : -1,
		       st & PFIFO_STATUS_TSG);
	hw_ce_ack(hw, engine, intr);
}

/*
 * Logs and acknowledges interrupts of PBUS (the interface to PCI) and PRIVRING (the register ring).
 */
static void host_intr(struct kvgpu_hw *hw, u32 bits)
{
	if (bits & BIT(PMC_INTR_BUS)) {
		/* only failed accesses of registers are enabled */
		intr_note(hw, "PBUS interrupt, record of a failed access",
			  hw_rd(hw, PTIMER_MMIO_FAULT_ADDR));
		hw_wr(hw, PTIMER_MMIO_FAULT_ADDR, 0);
		hw_wr(hw, PBUS_INTR, hw_rd(hw, PBUS_INTR));
	}
	if (bits & BIT(PMC_INTR_PRIVRING)) {
		intr_note(hw, "PRIVRING interrupt", hw_rd(hw, PRIVRING_INTR0));
		hw_mask(hw, PRIVRING_COMMAND, PRIVRING_COMMAND_CODE, PRIVRING_COMMAND_ACK_INTR);
	}
}

static void intr_service(struct kvgpu_hw *hw, u32 stat)
{
	unsigned int e;

	if (stat & BIT(PMC_INTR_FIFO))
		fifo_intr(hw);
	for (e = 0; e < hw->topo.nr_engines; e++) {
		if (!(stat & BIT(hw->topo.engine[e].intr)))
			continue;
		if (hw->topo.engine[e].type)
			ce_intr(hw, e);
		else
			gr_intr(hw);
	}
	host_intr(hw, stat);
}

/* ------------------------------------------------------------ hard handler and interrupt thread */

static irqreturn_t intr_hard(int irq, void *arg)
{
	struct kvgpu_hw *hw = arg;

	/*
	 * INTx is shared, and may be another device's. With threadirqs irq_wake_thread() calls this
	 * function, too: then the thread has to run although no interrupt may be pending.
	 */
	if (!hw->pdev->msi_enabled && !hw_rd(hw, PMC_INTR(PMC_LEAF_HOST)) && !intr_runs(hw))
		return IRQ_NONE;
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_HOST), 0);
	hw_rd(hw, PMC_INTR_EN(PMC_LEAF_HOST));
	atomic_inc(&hw->p->intr_raised);
	return IRQ_WAKE_THREAD;
}

void kvgpu_hw_intr_pace(struct kvgpu_hw *hw)
{
	hw->p->intr_pace = true;
}

/*
 * Returns the ns for which the thread may work in the run that began at @began (ktime, ns); < 0: it
 * has worked too much. It may work for half of the time, and WORK_BURST_NS more.
 */
static s64 work_left(const struct kvgpu_hw_priv *p, u64 began)
{
	s64 apart = min_t(u64, began - p->intr_ended, WORK_BURST_NS);

	return min(p->intr_left + apart, WORK_BURST_NS);
}

/*
 * Returns the us for which the thread has to rest at the end of the run that began at @began; 0:
 * not at all. @worked: ns for which it has worked in the run.
 */
static unsigned int rest_us(struct kvgpu_hw_priv *p, u64 began, u64 worked)
{
	p->intr_left = work_left(p, began) - (s64)worked;
	p->intr_ended = ktime_get_ns();
	if (p->intr_left < 0)
		return clamp_t(u64, -p->intr_left / NSEC_PER_USEC, PACE_US, REST_MOST_US);
	return p->intr_pace ? PACE_US : 0;
}

/*
 * Serves all that there is, or without @full only faults and PBDMAs. Returns the ns that it took,
 * and sets *@all if all was served. kvgpu_hw_intr_settle() sees that the thread is in here.
 */
static u64 rest_serve(struct kvgpu_hw *hw, bool full, bool *all)
{
	u64 began = ktime_get_ns();
	u32 stat;

	hw->p->intr_slept_ns = 0;
	WRITE_ONCE(hw->p->intr_rest_serves, true);
	smp_mb(); /* settle reads the causes first: without them there, it has to see this */
	stat = hw_rd(hw, PMC_INTR(PMC_LEAF_HOST));
	*all = stat && full;
	if (*all) {
		intr_service(hw, stat);
	} else if (stat & BIT(PMC_INTR_FIFO)) {
		fifo_mmu_faults(hw);
		fifo_pbdmas(hw);
	}
	/* pairs with the acquire in intr_runs() */
	smp_store_release(&hw->p->intr_rest_serves, false);
	return stat ? ktime_get_ns() - began - hw->p->intr_slept_ns : 0;
}

/*
 * Rests for @us us at least: sleeps, but serves faults and PBDMAs every REST_STEP_US or twice that,
 * and all that there is ever more seldom, down to once a millisecond. Without that a runlist that
 * has stopped for a fault, or a unit that has for an interrupt, would stay stopped for all tenants
 * for as long as the rest, and so would a preempt that waits for an interrupt of its PBDMA. A
 * service is work of the thread, too: it makes the rest longer by twice what it took, up to
 * REST_TIMES its length, and the next one of its kind comes after as much, or twice as much. So the
 * thread works for about half of a rest at most.
 */
static void intr_rest(struct kvgpu_hw *hw, unsigned int us)
{
	u64 now = ktime_get_ns(), end = now + (u64)us * NSEC_PER_USEC, next = now, took;
	u64 apart = 2 * REST_STEP_US * NSEC_PER_USEC, most = now + REST_TIMES * (end - now);
	unsigned int step = REST_STEP_US;
	bool all;

	do {
		hw->p->intr_read_at = now;
		usleep_range(step, 2 * step);
		now = ktime_get_ns();
		took = rest_serve(hw, now >= next, &all);
		/* what is urgent comes soon, also after a long service of all */
		step = REST_STEP_US;
		if (!all)
			step = max_t(u64, step, div_u64(4 * took, NSEC_PER_USEC));
		hw->p->intr_left -= (s64)took;
		hw->p->intr_ended += took;
		end = min(end + 2 * took, most);
		if (!all)
			continue;
		next = now + took + max(apart, 2 * took);
		apart = min(2 * apart, (u64)NSEC_PER_MSEC);
	} while (ktime_get_ns() < end);
}

static irqreturn_t intr_thread(int irq, void *arg)
{
	struct kvgpu_hw *hw = arg;
	struct kvgpu_hw_priv *p = hw->p;
	u64 began = ktime_get_ns(), worked, read_at;
	unsigned int raised = atomic_read(&p->intr_raised), round, us;
	u32 stat;

	hw->stats.intrs++;
	p->intr_read_at = began;
	p->intr_slept_ns = 0;
	/* what was asked for in the rest of the last run, if that is just over */
	p->intr_pace &= began - p->intr_ended < WORK_BURST_NS;
	if (hw->pdev->msi_enabled)
		iowrite8(PPCI_CFG_MSI_REARM, hw->bar0 + MSI_REARM);
	for (round = 0; round < ROUNDS; round++) {
		read_at = ktime_get_ns();
		stat = hw_rd(hw, PMC_INTR(PMC_LEAF_HOST));
		if (!stat)
			break;
		intr_service(hw, stat);
		p->intr_read_at = read_at;
		hw->intr_late = false;
		worked = ktime_get_ns() - began - p->intr_slept_ns;
		if (p->intr_pace || work_left(p, began) < (s64)worked)
			break;
	}
	WRITE_ONCE(p->intr_served, raised);
	worked = ktime_get_ns() - began - p->intr_slept_ns;
	us = rest_us(p, began, worked);
	p->intr_pace = false;
	hw->intr_late = us;
	if (us)
		intr_rest(hw, us);
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_HOST), PMC_INTR_EN_HARDWARE);
	return IRQ_HANDLED;
}

bool kvgpu_hw_intr_poll(struct kvgpu_hw *hw)
{
	if (!hw_rd(hw, PMC_INTR(PMC_LEAF_HOST)))
		return false;
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_HOST), 0);
	atomic_inc(&hw->p->intr_raised);
	irq_wake_thread(hw->p->irq, hw);
	return true;
}

int hw_intr_init(struct kvgpu_hw *hw)
{
	u32 mask = BIT(PMC_INTR_FIFO) | BIT(PMC_INTR_BUS) | BIT(PMC_INTR_PRIVRING);
	unsigned int e;
	int ret;

	for (e = 0; e < hw->topo.nr_engines; e++)
		mask |= BIT(hw->topo.engine[e].intr);
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_HOST), 0);
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_NRHOST), 0);
	ret = pci_alloc_irq_vectors(hw->pdev, 1, 1, PCI_IRQ_MSI);
	if (ret < 0)
		ret = pci_alloc_irq_vectors(hw->pdev, 1, 1, PCI_IRQ_ALL_TYPES);
	if (ret < 0)
		return ret;
	hw->p->irq = pci_irq_vector(hw->pdev, 0);
	ret = request_threaded_irq(hw->p->irq, intr_hard, intr_thread,
				   hw->pdev->msi_enabled ? IRQF_ONESHOT : IRQF_SHARED, "kvgpu", hw);
	if (ret) {
		pci_free_irq_vectors(hw->pdev);
		hw->p->irq = -1;
		return ret;
	}
	hw_wr(hw, PMC_INTR_MASK(PMC_LEAF_HOST), mask);
	hw_wr(hw, PMC_INTR_MASK(PMC_LEAF_NRHOST), 0);
	if (hw->pdev->msi_enabled)
		iowrite8(PPCI_CFG_MSI_REARM, hw->bar0 + MSI_REARM);
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_HOST), PMC_INTR_EN_HARDWARE);
	return 0;
}

void hw_intr_fini(struct kvgpu_hw *hw)
{
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_HOST), 0);
	hw_wr(hw, PMC_INTR_MASK(PMC_LEAF_HOST), 0);
	if (hw->p->irq < 0)
		return;
	free_irq(hw->p->irq, hw);
	pci_free_irq_vectors(hw->pdev);
	hw->p->irq = -1;
}
