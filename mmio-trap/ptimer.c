// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTIMER: the card's time in ns, which a guest can't set. The GPU stamps memory with the card's
 * time (semaphore releases, reports), and a driver compares these stamps with PTIMER: with another
 * time, they would seem to be in the future or the far past. nouveau sets the time when it loads,
 * and does not check the result.
 */
#include <gk110/ptimer.h>
#include <gk110/pmc.h>

#include "units.h"

#define TIME_BITS    (((u64)PTIMER_TIME_HIGH_BITS << 32) | PTIMER_TIME_LOW_BITS)
#define ALARM_PERIOD (1ull << 32)

u64 vtrap_guest_time_get(const struct kvgpu_trap *t, u64 now)
{
	return (now + t->ptimer_offset) & TIME_BITS;
}

static u32 ptimer_low_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return (u32)vtrap_guest_time_get(t, a->now);
}

static u32 ptimer_high_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return vtrap_guest_time_get(t, a->now) >> 32;
}

static void ptimer_intr_update(struct kvgpu_trap *t)
{
	vtrap_intr_host_set(t, PMC_INTR_TIMER,
			    vtrap_reg_get(t, PTIMER_INTR) & vtrap_reg_get(t, PTIMER_INTR_EN));
}

/*
 * The alarm rings when the low word of the time next becomes equal to PTIMER_ALARM. It is armed
 * while its interrupt is enabled.
 */
static void alarm_arm(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 low = (u32)vtrap_guest_time_get(t, a->now), at = vtrap_reg_get(t, PTIMER_ALARM);
	/* host time at which the low word became @low */
	u64 tick = a->now - ((a->now + t->ptimer_offset) & ~TIME_BITS & 0xffffffff);
	u64 alarm = 0;

	if (vtrap_reg_get(t, PTIMER_INTR_EN) & PTIMER_INTR_ALARM)
		alarm = max(tick + (u32)(at - low), (u64)1);
	if (alarm == t->ptimer_alarm)
		return;
	t->ptimer_alarm = alarm;
	a->cmd->kind = KVGPU_CMD_ALARM;
}

static void alarm_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val & PTIMER_TIME_LOW_BITS);
	alarm_arm(t, a);
}

static void ptimer_intr_en_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, a->val & PTIMER_INTR_ALARM);
	ptimer_intr_update(t);
	alarm_arm(t, a);
}

static void ptimer_intr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, a->reg, vtrap_reg_get(t, a->reg) & ~a->bits);
	ptimer_intr_update(t);
}

void kvgpu_trap_alarm_ring(struct kvgpu_trap *t, u64 now)
{
	if (!t->ptimer_alarm || now < t->ptimer_alarm)
		return;
	/* the low word is equal to PTIMER_ALARM again after each ALARM_PERIOD */
	t->ptimer_alarm += (((now - t->ptimer_alarm) >> 32) + 1) * ALARM_PERIOD;
	vtrap_reg_set(t, PTIMER_INTR, vtrap_reg_get(t, PTIMER_INTR) | PTIMER_INTR_ALARM);
	ptimer_intr_update(t);
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(
		PTIMER_MMIO_FAULT_ADDR, CONST, CONST, .src = SRC_NVRNN,
		.why = "failed register accesses are reported to the host only; a guest's accesses never reach the bus"),
	KVGPU_LINE(PTIMER_MMIO_FAULT_DATA, CONST, CONST, .src = SRC_NVRNN,
		   .why = "failed register accesses are reported to the host only"),
	KVGPU_LINE(PTIMER_INTR, FILE, EMULATE, .write = ptimer_intr_write, .src = SRC_NVRNN,
		   .why = "the alarm has rung; a written 1 clears it"),
	KVGPU_LINE(PTIMER_INTR_EN, FILE, EMULATE, .write = ptimer_intr_en_write, .src = SRC_NVRNN,
		   .why = "arms the vGPU's alarm, a timer of the host"),
	KVGPU_LINE(PTIMER_CLOCK_DIV, FILE, FILE, .reset = PTIMER_NS_DIV, .src = SRC_NVRNN,
		   .why = "the rate of PTIMER is the host's"),
	KVGPU_LINE(PTIMER_CLOCK_MUL, FILE, FILE, .reset = PTIMER_NS_MUL, .src = SRC_NVRNN,
		   .why = "the rate of PTIMER is the host's"),
	KVGPU_LINE(PTIMER_CLOCK_SOURCE, FILE, FILE, .reset = PTIMER_NS_SOURCE_MUL - 1,
		   .src = SRC_NVRNN, .why = "the rate of PTIMER is the host's"),
	KVGPU_LINE(PTIMER_TIME_LOW, EMULATE, CONST, .read = ptimer_low_read, .src = SRC_NVRNN,
		   .why = "the card's time, with which the GPU stamps memory; a guest can't set it"),
	KVGPU_LINE(PTIMER_TIME_HIGH, EMULATE, CONST, .read = ptimer_high_read, .src = SRC_NVRNN,
		   .why = "high word of the card's time; a guest can't set it"),
	KVGPU_LINE(PTIMER_ALARM, FILE, EMULATE, .write = alarm_write, .src = SRC_NVRNN,
		   .why = "the vGPU's alarm"),
};

const struct kvgpu_reg_unit kvgpu_unit_ptimer = {
	.name = "PTIMER",
	.base = PTIMER_BASE,
	.size = PTIMER_SIZE,
	KVGPU_UNIT_LINES(lines),
};
