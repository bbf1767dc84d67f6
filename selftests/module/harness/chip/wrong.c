// SPDX-License-Identifier: GPL-2.0-only
/* What goes wrong: hangs, faults, also of BARs, interrupts, a full queue, a chip_hold()'s end. */
#include "gk110/ce.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/mmu.h"
#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/task.h"

#include <linux/bitfield.h>

/* With .switching_to an engine saves or loads a channel for so long. */
#define PHASE_NS 30000

static struct context *loaded(u16 chid)
{
	u8 runl = chip.chan[chid].runl;

	if (runl >= CHIP_RUNLS || !chip_may_load(chid, runl))
		return NULL;
	if (chip.pbdma[runl].chid != chid)
		chip_load_some(runl, chid);
	return chip.pbdma[runl].chid == chid ? &chip.pbdma[runl] : NULL;
}

bool chip_hang(u16 chid, bool for_good)
{
	struct context *c = loaded(chid);
	u8 runl = chip.chan[chid].runl;

	if (!c || chip.engine[runl].stuck)
		return false;
	chip.engine[runl] = *c;
	chip.engine[runl].stuck = true;
	chip.engine[runl].for_good = for_good;
	harness_trace("channel %u hangs", chid);
	return true;
}

bool chip_misname(u16 chid, u16 id, bool for_good)
{
	struct context *c = &chip.engine[chip.chan[chid].runl];

	if (!chip_hang(chid, for_good))
		return false;
	c->id = id;
	c->tsg = false;
	harness_trace("the engine calls channel %u %u", chid, id);
	return true;
}

/* Set @bits in PFIFO_INTR, and interrupt. 0: for a bit that is set in another register. */
static void pfifo_raise(u32 bits)
{
	chip.reg[PFIFO_INTR / 4] |= bits;
	if (chip_intr())
		irq_line();
}

void chip_nonstall(void)
{
	if (harness_now < chip.nonstall_at)
		return;
	chip.nonstall_at = harness_now + NONSTALL_NS;
	pfifo_raise(PFIFO_INTR_NONSTALL);
}

static bool unit_faults(u32 unit)
{
	return chip.reg[GMMU_FAULT_SOURCE / 4] & BIT(unit);
}

static void unit_fault(u32 unit, u64 inst, u64 va, u32 info)
{
	chip_put(GMMU_FAULT_INST(unit), FIELD_PREP(GMMU_FAULT_INST_ADDR, inst >> GMMU_ADDR_SHIFT));
	chip_put(GMMU_FAULT_VA_LO(unit), lower_32_bits(va));
	chip_put(GMMU_FAULT_VA_HI(unit), upper_32_bits(va));
	chip_put(GMMU_FAULT_INFO(unit), info);
	chip.reg[GMMU_FAULT_SOURCE / 4] |= BIT(unit);
	pfifo_raise(0);
}

bool chip_fault(u16 chid, u64 va)
{
	struct context *c = loaded(chid);

	if (!c || unit_faults(GR_FAULT_UNIT))
		return false;
	unit_fault(GR_FAULT_UNIT, c->inst, va, 2);
	chip.reg[PFIFO_RUNLIST_ERROR / 4] |= BIT(chip.chan[chid].runl);
	harness_trace("channel %u faults", chid);
	chip.at_work[chid] = true; /* the channel was in the middle of something */
	/* Half of the faults hold GR until its reset. */
	if (harness_below(2) && !chip.engine[0].stuck) {
		chip.engine[0] = *c;
		chip.engine[0].stuck = true;
	}
	return true;
}

static void pbdma_raise(u32 p, u16 chid, u32 bits)
{
	chip_put(PBDMA(p) + PBDMA_CHANNEL,
		 PBDMA_CHANNEL_VALID | FIELD_PREP(PBDMA_CHANNEL_ID, chid));
	chip.reg[(PBDMA(p) + PBDMA_INTR0) / 4] |= bits;
	chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(p);
	pfifo_raise(0);
}

bool chip_pbdma_intr(u16 chid, u32 bits)
{
	struct context *c = loaded(chid);

	if (c)
		pbdma_raise(c - chip.pbdma, chid, bits);
	return c;
}

bool chip_pbdma_raise(u32 p, u16 chid, u32 bits)
{
	if (chip.reg[(PBDMA(p) + PBDMA_INTR0) / 4])
		return false;
	pbdma_raise(p, chid, bits);
	return true;
}

#define COPIES 2 /* number of runlist 0's copy engine */

void chip_copy_raise(u32 intr, u32 code)
{
	chip_put(GK110_CE(COPIES) + GK110_CE_LAUNCHERR, code);
	chip.reg[(GK110_CE(COPIES) + GK110_CE_INTR) / 4] |= intr;
	pfifo_raise(0);
}

bool chip_copy_raised(void)
{
	return chip.reg[(GK110_CE(COPIES) + GK110_CE_INTR) / 4];
}

bool chip_fault_now(u16 chid)
{
	if (!chip_loaded(chid))
		return false;
	unit_fault(GR_FAULT_UNIT, chip.chan[chid].inst, 0x1000, 2);
	chip.reg[PFIFO_RUNLIST_ERROR / 4] |= BIT(0);
	return true;
}

bool chip_bar_fault(u32 unit, u64 va)
{
	if (unit_faults(unit))
		return false;
	unit_fault(unit, 0, va, 2);
	return true;
}

bool bar_access(unsigned int bar, u64 off)
{
	u32 unit = bar == 3 ? GMMU_UNIT_BAR3 : GMMU_UNIT_BAR1;
	u64 pte = mmu_translate(chip_bar_pd(bar), off);

	if (pte & GMMU_PTE_VALID &&
	    !(pte & (GMMU_PTE_RO | GMMU_PTE_WRITE_DISABLE | GMMU_PTE_READ_DISABLE)))
		return true;
	if (unit_faults(unit)) {
		pfifo_raise(GMMU_PFIFO_INTR_DROPPED_FAULT);
		return false;
	}
	unit_fault(unit, chip_bar_inst(bar), off & ~0xfffull, 0x7c6);
	return false;
}

void chip_gr_trap(u64 inst, u32 gpc, u32 gpccs, u32 trap)
{
	chip_put(GR_FECS + FECS_CHAN_ADDR,
		 (inst ? FECS_CHAN_VALID : 0) | FIELD_PREP(FECS_CHAN_INST, inst >> 12));
	chip_put(GR_GPC(gpc, GPC_GPCCS + GPCCS_TRAP), gpccs);
	chip_put(GR_TRAP_GPC_MASK, gpccs ? BIT(gpc) : 0);
	chip_put(GR_TRAP, trap);
	chip_put(GR_INTR, GR_INTR_TRAP);
	chip.gr_halts = true;
	pfifo_raise(0);
}

void chip_put(u32 reg, u32 val)
{
	chip.reg[reg / 4] = val;
}

void chip_load_on_gr(u16 chid)
{
	if (!chip_may_load(chid, 0) || chip.engine[0].stuck || chip.engine[0].chid == chid)
		return;
	chip.pbdma[0].chid = chip.engine[0].chid = NO_CHAN;
	chip_load_some(0, chid);
}

u32 chip_pbdma_channel(void)
{
	u32 *channel = &chip.reg[(PBDMA(0) + PBDMA_CHANNEL) / 4], was = *channel;

	if (chip.next_intr && chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4]) {
		*channel = PBDMA_CHANNEL_VALID | FIELD_PREP(PBDMA_CHANNEL_ID, chip.next_chid);
		chip.reg[(PBDMA(0) + PBDMA_INTR0) / 4] |= chip.next_intr;
		chip.next_intr = 0;
	}
	return was;
}

bool chip_held_up(void)
{
	u32 r, v = chip.reg[PFIFO_PREEMPT / 4];

	if (chip.manners.copies_stay && harness_now < chip.copying_until &&
	    ((!(v & PFIFO_PREEMPT_TSG) && FIELD_GET(PFIFO_PREEMPT_ID, v) == chip.copying) ||
	     (chip.manners.waiters_stay && chip_is_preempted(&chip.pbdma[0]))))
		return true;
	for (r = 0; r < CHIP_RUNLS && chip.manners.interrupts_stay; r++)
		if (chip.reg[(PBDMA(r) + PBDMA_INTR0) / 4] && chip_is_preempted(&chip.pbdma[r]))
			return true;
	for (r = 0; r < CHIP_RUNLS; r++)
		if (chip.engine[r].stuck &&
		    (chip_is_preempted(&chip.engine[r]) ||
		     (chip.manners.waiters_stay && chip_is_preempted(&chip.pbdma[r]))))
			return true;
	return false;
}

void chip_alarm(void)
{
	chip.reg[PFIFO_SCHED_ERROR / 4] = PFIFO_SCHED_CTXSW_TIMEOUT;
	pfifo_raise(PFIFO_INTR_SCHED_ERROR);
}

bool chip_switch_timeout(void)
{
	if (!chip.engine[0].stuck || !chip.preempting || !chip_held_up())
		return false;
	chip_alarm();
	return true;
}

void chip_switch(u16 chid, u64 ns)
{
	chip.switching = chid;
	chip.switching_to = 0;
	chip.switch_until = harness_now + ns;
}

void chip_copies(u16 chid, u64 until)
{
	chip.copying = chid;
	chip.copying_until = until;
}

u32 chip_copy_engine_status(u32 e)
{
	u32 phase = chip.switching_to ? harness_now / PHASE_NS % 4 : 0;
	u16 from = phase < 2 ? chip.switching : chip.switching_to;
	u16 to = phase < 2 ? chip.switching_to : chip.switching;
	u32 tsg = chip.copies_tsg ? PFIFO_STATUS_TSG : 0;

	if (e == 3 && harness_now < chip.copying_until)
		return PFIFO_STATUS_BUSY | PFIFO_STATUS_VALID | tsg |
		       FIELD_PREP(PFIFO_STATUS_ID, chip.copying);
	if (e != 3 || harness_now >= chip.switch_until)
		return 0;
	return PFIFO_STATUS_BUSY | PFIFO_STATUS_CHSW | tsg | FIELD_PREP(PFIFO_STATUS_ID, from) |
	       FIELD_PREP(PFIFO_STATUS_NEXT_ID, to) | (tsg ? PFIFO_STATUS_NEXT_TSG : 0) |
	       (phase & 1 ? PFIFO_STATUS_VALID : PFIFO_STATUS_SAVE);
}

bool chip_mem_ops(u16 chid)
{
	if (!chip_loaded(chid))
		return false;
	chip.mem_ops = QUEUE_MAX;
	harness_trace("channel %u fills the queue of invalidates", chid);
	return true;
}

bool chip_hold(u16 chid, u64 ns)
{
	if (!chip_hang(chid, false))
		return false;
	chip.hold_until = harness_now + ns;
	return true;
}

bool chip_begin_held(u16 chid, u64 ns)
{
	if (chip.pbdma[0].chid != chid || chip.engine[0].stuck)
		return false;
	chip.engine[0] = chip.pbdma[0];
	chip.engine[0].stuck = true;
	chip.hold_until = harness_now + ns;
	return true;
}

/* What chip_hold() began ends at its time, whether or not the chip is accessed then. */
void chip_end_held_work(void)
{
	if (!chip.hold_until || harness_now < chip.hold_until)
		return;
	chip.hold_until = 0;
	chip.engine[0].stuck = false;
}

bool chip_is_stuck(void)
{
	chip_end_held_work();
	return chip.engine[0].stuck;
}

bool chip_is_held(u16 *chid)
{
	*chid = chip.engine[0].chid;
	return chip.engine[0].stuck && harness_now < chip.hold_until;
}
