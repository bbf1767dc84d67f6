// SPDX-License-Identifier: GPL-2.0-only
/*
 * PFIFO: interrupts, runlists, preemption, faults. Each of the bits 30:28 of PFIFO_INTR
 * (PFIFO_INTR_LEVELS) shows whether a register is not 0: PFIFO_RUNLIST_EVENT (bit 30),
 * PFIFO_PBDMA_INTR_SOURCE (29), PFIFO_MMU_FAULT_SOURCE (28). The guest clears such a bit by a write
 * to that register, not to PFIFO_INTR. A submit of a runlist and a preempt are pending until the
 * host reports that they are done.
 *
 * A guest has one runlist with all engines (README.md).
 */
#include <linux/string.h>

#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/pmc.h>

#include "units.h"

static u32 fifo_status(const struct kvgpu_trap *t)
{
	u32 levels = 0;

	if (t->fault_pending)
		levels |= PFIFO_INTR_MMU_FAULT;
	if (t->pbdma_pending)
		levels |= PFIFO_INTR_PBDMA;
	if (t->runl_event)
		levels |= PFIFO_INTR_RUNLIST;
	return (t->fifo_intr & ~(u32)PFIFO_INTR_LEVELS) | levels;
}

void vtrap_fifo_update(struct kvgpu_trap *t)
{
	u32 status = fifo_status(t), host = vtrap_reg_get(t, PFIFO_INTR_EN),
	    nrhost = vtrap_reg_get(t, PFIFO_INTR_EN_NRHOST);

	t->wants_nonstall = (host | nrhost) & PFIFO_INTR_NONSTALL;
	vtrap_intr_host_set(t, PMC_INTR_FIFO, status & host);
	vtrap_intr_nrhost_set(t, PMC_INTR_FIFO, status & nrhost);
}

static void pfifo_raise(struct kvgpu_trap *t, u32 bits)
{
	t->fifo_intr |= bits;
	vtrap_fifo_update(t);
}

/* ----------------------------------------------------------------- interrupt registers of PFIFO */

static u32 fifo_intr_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return fifo_status(t);
}

static void fifo_intr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->fifo_intr &= ~a->bits;
	vtrap_fifo_update(t);
}

static void fifo_intr_en_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val);
	vtrap_fifo_update(t);
}

static u32 fault_source_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->fault_pending;
}

static void fault_source_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->fault_pending &= ~a->bits;
	vtrap_fifo_update(t);
}

static u32 fault_record_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->fault_rec[a->idx / 4][a->idx % 4];
}

static u32 pbdma_source_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma_pending;
}

static void pbdma_source_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->pbdma_pending &= ~a->bits;
	vtrap_fifo_update(t);
}

static u32 runlist_event_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->runl_event;
}

static void runlist_event_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->runl_event &= ~a->bits;
	vtrap_fifo_update(t);
}

/* ----------------------------------------------------------- doorbells; runlists: submit, block */

static void userd_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val);
	a->cmd->kind = KVGPU_CMD_USERD;
	a->cmd->userd.valid = a->val & PFIFO_USERD_BAR1_VALID;
	a->cmd->userd.bar1_off = (u64)FIELD_GET(PFIFO_USERD_BAR1_ADDR, a->val) << 12;
}

static void runlist_submit_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 base = vtrap_reg_get(t, PFIFO_RUNLIST_BASE), runl = FIELD_GET(PFIFO_RUNLIST_ID, a->val);
	u32 count = FIELD_GET(PFIFO_RUNLIST_COUNT, a->val),
	    target = FIELD_GET(PFIFO_RUNLIST_TARGET, base);

	vtrap_reg_set(t, a->reg, a->val);
	if (runl >= KVGPU_GUEST_RUNLISTS || !kvgpu_target_ok(target)) {
		vtrap_denial_note(t);
		return;
	}
	vtrap_reg_set(t, PFIFO_ENG_RUNLIST_BASE(runl), base);
	vtrap_reg_set(t, PFIFO_ENG_RUNLIST(runl), count | PFIFO_ENG_RUNLIST_PENDING);
	a->cmd->kind = KVGPU_CMD_RUNLIST;
	a->cmd->runlist.runl = runl;
	a->cmd->runlist.count = count;
	a->cmd->runlist.list.target = target;
	a->cmd->runlist.list.addr = (u64)FIELD_GET(PFIFO_RUNLIST_ADDR, base) << 12;
}

static u32 runlist_block_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->runl_blocked;
}

/* A write blocks or allows the guest's one runlist, but not both, so one command is enough. */
static void runlist_block_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 new = (u32)KVGPU_GUEST_RUNL_MASK & a->bits, blocked = new & ~t->runl_blocked;
	u32 allowed = t->runl_blocked & ~new;

	t->runl_blocked = new;
	if (blocked || allowed) {
		a->cmd->kind = blocked ? KVGPU_CMD_RUNL_BLOCK : KVGPU_CMD_RUNL_ALLOW;
		a->cmd->mask = blocked | allowed;
	}
}

static u32 pbdma_runlists_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	/*
	 * Show two PBDMAs at most: nouveau accepts no more for a runlist (gk104_fifo_runl_ctor()).
	 */
	return a->idx < 2 && a->idx < t->cfg.topo->nr_pbdma ? (u32)KVGPU_GUEST_RUNL_MASK : 0;
}

/* ------------------------------------------------ preempt, engine status, fault injection, time */

static u32 preempt_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return vtrap_reg_get(t, a->reg) | (t->preempt_pending ? (u32)PFIFO_PREEMPT_PENDING : 0);
}

static void preempt_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val & (u32)(PFIFO_PREEMPT_ID | PFIFO_PREEMPT_TSG));
	t->preempt_pending = true;
	a->cmd->kind = KVGPU_CMD_PREEMPT;
	a->cmd->preempt.tsg = a->val & PFIFO_PREEMPT_TSG;
	a->cmd->preempt.id = FIELD_GET(PFIFO_PREEMPT_ID, a->val);
}

static u32 engine_status_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->engine_status[a->idx];
}

static void fault_inject_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val);
	if (!(a->val & PFIFO_FAULT_INJECT_VALID))
		return;
	a->cmd->kind = KVGPU_CMD_FAULT_TRIGGER;
	a->cmd->trigger.engine = a->idx;
	a->cmd->trigger.unit = FIELD_GET(PFIFO_FAULT_INJECT_UNIT, a->val);
}

static u32 fifo_time_low_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return (u32)vtrap_guest_time_get(t, a->now);
}

static u32 fifo_time_high_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return vtrap_guest_time_get(t, a->now) >> 32;
}

/* Unbinds all channels, drops pending events and masks interrupts. */
void vtrap_fifo_reset(struct kvgpu_trap *t)
{
	unsigned int i;

	t->fifo_intr = 0;
	t->fault_pending = 0;
	t->pbdma_pending = 0;
	t->runl_event = 0;
	t->runl_blocked = 0;
	t->preempt_pending = false;
	memset(t->fault_rec, 0, sizeof(t->fault_rec));
	memset(t->pbdma, 0, sizeof(t->pbdma));
	memset(t->chan, 0, sizeof(t->chan));
	memset(t->engine_status, 0, sizeof(t->engine_status));
	for (i = 0; i < KVGPU_GUEST_RUNLISTS; i++) {
		vtrap_reg_set(t, PFIFO_ENG_RUNLIST_BASE(i), 0);
		vtrap_reg_set(t, PFIFO_ENG_RUNLIST(i), 0);
	}
	vtrap_reg_set(t, PFIFO_INTR_EN, 0);
	vtrap_reg_set(t, PFIFO_INTR_EN_NRHOST, 0);
	vtrap_fifo_update(t);
}

/* ----------------------------------------------------------------- events that the host reports */

void kvgpu_trap_runlist_done(struct kvgpu_trap *t, u8 runl)
{
	if (runl >= KVGPU_GUEST_RUNLISTS)
		return;
	vtrap_reg_set(t, PFIFO_ENG_RUNLIST(runl),
		      vtrap_reg_get(t, PFIFO_ENG_RUNLIST(runl)) & ~(u32)PFIFO_ENG_RUNLIST_PENDING);
	t->runl_event |= 1u << runl;
	vtrap_fifo_update(t);
}

void kvgpu_trap_preempt_done(struct kvgpu_trap *t)
{
	t->preempt_pending = false;
}

void kvgpu_trap_nonstall(struct kvgpu_trap *t)
{
	pfifo_raise(t, PFIFO_INTR_NONSTALL);
}

/*
 * A record that the guest has not acknowledged is not overwritten: the new fault is dropped
 * (PFIFO_INTR_DROPPED_FAULT), as the chip would do.
 */
void kvgpu_trap_mmu_fault(struct kvgpu_trap *t, u8 unit, u64 inst, u64 va, u32 info)
{
	if (unit >= GMMU_FAULT_UNITS)
		return;
	if (t->fault_pending & 1u << unit) {
		pfifo_raise(t, PFIFO_INTR_DROPPED_FAULT);
		return;
	}
	t->fault_rec[unit][0] = FIELD_PREP(GMMU_FAULT_INST_ADDR, inst >> 12);
	t->fault_rec[unit][1] = (u32)va;
	t->fault_rec[unit][2] = va >> 32;
	t->fault_rec[unit][3] = info;
	t->fault_pending |= 1u << unit;
	vtrap_fifo_update(t);
}

void kvgpu_trap_sched_error(struct kvgpu_trap *t, u32 code)
{
	vtrap_reg_set(t, PFIFO_SCHED_ERROR, FIELD_PREP(PFIFO_SCHED_ERROR_CODE, code));
	pfifo_raise(t, PFIFO_INTR_SCHED_ERROR);
}

void kvgpu_trap_engine_status_set(struct kvgpu_trap *t, u8 engine, u32 status)
{
	if (engine < KVGPU_MAX_ENGINE)
		t->engine_status[engine] = status;
}

/* ------------------------------------------------------------------ the tables of registers */

#define WHY_DEFAULT "default that drivers copy to channels; the host chooses the channels' values"
#define WHY_TIMEOUT "hang detection is the host's; a guest can't lengthen it"
#define WHY_FERMI   "a register of GF100, without effect on GK110"

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(
		PFIFO_INTR, EMULATE, EMULATE, .read = fifo_intr_read, .write = fifo_intr_write,
		.src = SRC_NVRNN,
		.why = "interrupts of the vGPU; bits 30:28 are levels of the registers at 0x2a00, 0x25a0 and 0x259c"),
	KVGPU_LINE(PFIFO_INTR_EN, FILE, EMULATE, .write = fifo_intr_en_write, .src = SRC_NVRNN,
		   .why = "selects the interrupts that reach the guest"),
	KVGPU_LINE(PFIFO_FERMI(0), FILE, FILE, .count = PFIFO_FERMI_NR, .src = SRC_NV,
		   .why = WHY_FERMI),
	KVGPU_LINE(PFIFO_ACQ_PRETEST, FILE, FILE, .reset = PFIFO_ACQ_PRETEST_RESET, .src = SRC_RNN,
		   .why = WHY_DEFAULT),
	KVGPU_LINE(
		PFIFO_USERD_BAR1, FILE, TRAP, .write = userd_write, .src = SRC_NVRNN,
		.why = "BAR1 offset of the guest's doorbells; the host maps the card's pages there"),
	KVGPU_LINE(PFIFO_IDLE_FILTER, FILE, FILE, .reset = PFIFO_IDLE_FILTER_RESET, .src = SRC_RNN,
		   .why = WHY_DEFAULT),
	KVGPU_LINE(PFIFO_RUNLIST_BASE, FILE, FILE, .src = SRC_NVRNN,
		   .why = "latched for PFIFO_RUNLIST_SUBMIT"),
	KVGPU_LINE(
		PFIFO_RUNLIST_SUBMIT, FILE, TRAP, .write = runlist_submit_write, .src = SRC_NVRNN,
		.why = "the host copies the list, drops entries without a live channel of the vGPU and schedules the rest"),
	KVGPU_LINE(PFIFO_ENG_RUNLIST_BASE(0), FILE, CONST, .count = PFIFO_ENG_RUNLIST_NR,
		   .stride = 8, .src = SRC_NVRNN, .why = "echo of the last submit"),
	KVGPU_LINE(
		PFIFO_ENG_RUNLIST(0), FILE, CONST, .count = PFIFO_ENG_RUNLIST_NR, .stride = 8,
		.src = SRC_NVRNN,
		.why = "echo of the last submit; bit 20 is set until the host has taken the list"),
	KVGPU_LINE(PFIFO_ENG_TIMESLICE(0), FILE, FILE, .count = PFIFO_ENG_TIMESLICE_NR,
		   .reset = PFIFO_ENG_TIMESLICE_RESET, .src = SRC_RNN, .why = WHY_DEFAULT),
	KVGPU_LINE(PFIFO_ENG_PB_TIMESLICE(0), FILE, FILE, .count = PFIFO_ENG_TIMESLICE_NR,
		   .reset = PFIFO_ENG_PB_TIMESLICE_RESET, .src = SRC_RNN, .why = WHY_DEFAULT),
	KVGPU_LINE(PFIFO_PBDMA_RUNLISTS(0), CONST, CONST, .count = KVGPU_MAX_PBDMA,
		   .read = pbdma_runlists_read, .src = SRC_NV,
		   .why = "the first two PBDMAs serve the guest's one runlist"),
	KVGPU_LINE(PFIFO_INTR_EN_NRHOST, FILE, EMULATE, .write = fifo_intr_en_write, .src = SRC_RNN,
		   .why = "bits of PFIFO_INTR that go to leaf 1"),
	KVGPU_LINE(PFIFO_BIND_ERROR, FILE, CONST, .src = SRC_NVRNN,
		   .why = "reason why a bind was refused"),
	KVGPU_LINE(PFIFO_INTR_HALT_MASK, FILE, FILE, .src = SRC_RNN,
		   .why = "no interrupt halts PFIFO for a guest"),
	KVGPU_LINE(PFIFO_SCHED_ERROR, FILE, CONST, .src = SRC_NVRNN,
		   .why = "code of a scheduling error that the host reports"),
	KVGPU_LINE(PFIFO_CHSW_ERROR, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NVRNN,
		   .why = "never raised for a guest"),
	KVGPU_LINE(PFIFO_LB_ERROR, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NVRNN,
		   .why = "never raised for a guest"),
	KVGPU_LINE(PFIFO_MMU_FAULT_SOURCE, EMULATE, EMULATE, .read = fault_source_read,
		   .write = fault_source_write, .src = SRC_NVRNN,
		   .why = "units with a fault record of this vGPU"),
	KVGPU_LINE(PFIFO_PBDMA_INTR_SOURCE, EMULATE, EMULATE, .read = pbdma_source_read,
		   .write = pbdma_source_write, .src = SRC_NVRNN,
		   .why = "PBDMAs with an interrupt of this vGPU"),
	KVGPU_LINE(PFIFO_ENGINE_INTR_EN, FILE, FILE, .src = SRC_NV, .why = WHY_FERMI),
	KVGPU_LINE(
		PFIFO_RUNLIST_ERROR, FILE, FILE, .w1c = ALL_BITS, .src = SRC_NVRNN,
		.why = "the host has recovered and cleared the error before it reports the fault"),
	KVGPU_LINE(PFIFO_RUNLIST_BLOCK, EMULATE, TRAP, .read = runlist_block_read,
		   .write = runlist_block_write, .src = SRC_NVRNN,
		   .why = "takes the vGPU's channels off the runlist, or puts them back"),
	KVGPU_LINE(
		PFIFO_PREEMPT, EMULATE, TRAP, .read = preempt_read, .write = preempt_write,
		.src = SRC_NVRNN,
		.why = "preempts one channel or group of the vGPU; bit 20 is set until it is off the engines"),
	KVGPU_LINE(PFIFO_RUNLIST_PREEMPT, DENY, DENY, .src = SRC_GV100,
		   .why = "would preempt a whole runlist, which all vGPUs share"),
	KVGPU_LINE(PFIFO_ENGINE_STATUS(0), EMULATE, CONST, .count = PFIFO_ENGINE_STATUS_NR,
		   .stride = 8, .read = engine_status_read, .src = SRC_NV,
		   .why = "idle (0); with the guest's id while a hang of its channel is reported"),
	KVGPU_LINE(PFIFO_BYPASS_CONFIG, DENY, DENY, .src = SRC_RNN,
		   .why = "would submit methods to any engine, for any instance"),
	KVGPU_LINE(PFIFO_BYPASS_CHSW, DENY, DENY, .src = SRC_RNN,
		   .why = "would switch any engine to any instance, for methods of the bypass port"),
	KVGPU_LINE(PFIFO_MMU_FAULT_RECORDS, EMULATE, CONST, .count = GMMU_FAULT_UNITS * 4,
		   .read = fault_record_read, .src = SRC_NVRNN,
		   .why = "faults of this vGPU, with the guest's instance addresses"),
	KVGPU_LINE(PFIFO_RUNLIST_EVENT, EMULATE, EMULATE, .read = runlist_event_read,
		   .write = runlist_event_write, .src = SRC_NV,
		   .why = "runlists that the host has taken"),
	KVGPU_LINE(PFIFO_FB_TIMEOUT, FILE, FILE, .reset = PFIFO_FB_TIMEOUT_RESET, .src = SRC_NVRNN,
		   .why = WHY_TIMEOUT),
	KVGPU_LINE(PFIFO_PB_TIMEOUT, FILE, FILE, .reset = PFIFO_PB_TIMEOUT_RESET, .src = SRC_RNN,
		   .why = WHY_TIMEOUT),
	KVGPU_LINE(PFIFO_ENG_TIMEOUT, FILE, FILE, .reset = PFIFO_ENG_TIMEOUT_RESET, .src = SRC_RNN,
		   .why = WHY_TIMEOUT),
	KVGPU_LINE(PFIFO_TIME_LOW, EMULATE, CONST, .read = fifo_time_low_read, .src = SRC_RNN,
		   .why = "the time of PTIMER"),
	KVGPU_LINE(PFIFO_TIME_HIGH, EMULATE, CONST, .read = fifo_time_high_read, .src = SRC_RNN,
		   .why = "the time of PTIMER"),
	KVGPU_LINE(PFIFO_CHSW_TIMEOUT, FILE, FILE, .reset = PFIFO_CHSW_TIMEOUT_RESET,
		   .src = SRC_RNN, .why = WHY_TIMEOUT),
	KVGPU_LINE(PFIFO_PRI_TIMEOUT, FILE, FILE, .reset = PFIFO_PRI_TIMEOUT_RESET, .src = SRC_RNN,
		   .why = WHY_TIMEOUT),
	KVGPU_LINE(
		PFIFO_FAULT_INJECT(0), FILE, TRAP, .count = PFIFO_FAULT_INJECT_NR,
		.write = fault_inject_write, .src = SRC_NV,
		.why = "nouveau's recovery of a hung engine; the host has recovered it already and reports the fault"),
	KVGPU_LINE(
		PFIFO_PBDMA_STATUS(0), CONST, CONST, .count = KVGPU_MAX_PBDMA, .src = SRC_NV,
		.why = "idle; a preempt is reported as done only when the channel is off the PBDMA"),
};

const struct kvgpu_reg_unit kvgpu_unit_pfifo = {
	.name = "PFIFO",
	.base = PFIFO_BASE,
	.size = PFIFO_SIZE,
	KVGPU_UNIT_LINES(lines),
};
