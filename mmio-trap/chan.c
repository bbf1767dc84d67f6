// SPDX-License-Identifier: GPL-2.0-only
/*
 * The channel table (PCCSR). An instance pointer that the guest writes here names guest memory.
 * KVGPU_CMD_CHAN_BIND carries this address to the host, which builds an instance block of its own.
 */
#include <gk110/fifo.h>

#include "units.h"

#define CHAN_HOST ((u32)(PCCSR_CHAN_ENABLED | PCCSR_CHAN_STATUS | PCCSR_CHAN_BUSY))

static void bind_error(struct kvgpu_trap *t, u32 code)
{
	vtrap_reg_set(t, PFIFO_BIND_ERROR, FIELD_PREP(PFIFO_BIND_ERROR_CODE, code));
	t->fifo_intr |= PFIFO_INTR_BIND_ERROR;
	vtrap_fifo_update(t);
}

static u32 inst_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->chan[a->idx].inst;
}

/* Returns 0, or the reason (PFIFO_BIND_*) to refuse a bind. */
static u32 bind_refusal(const struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	if (t->chan[a->idx].inst & PCCSR_INST_BIND)
		return PFIFO_BIND_NOT_UNBOUND;
	if (FIELD_GET(PCCSR_CHAN_RUNLIST, t->chan[a->idx].ctrl) >= KVGPU_GUEST_RUNLISTS)
		return PFIFO_BIND_INVALID_RUNLIST;
	return kvgpu_target_ok(FIELD_GET(PCCSR_INST_TARGET, a->val)) ? 0 :
								       PFIFO_BIND_INVALID_TARGET;
}

static void inst_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	bool was = t->chan[a->idx].inst & PCCSR_INST_BIND, bind = a->val & PCCSR_INST_BIND;
	u32 code = bind ? bind_refusal(t, a) : 0;

	if (code) {
		bind_error(t, code);
		return;
	}
	t->chan[a->idx].inst = a->val;
	t->chan[a->idx].ctrl &= ~CHAN_HOST;
	if (!bind && !was)
		return;
	a->cmd->kind = bind ? KVGPU_CMD_CHAN_BIND : KVGPU_CMD_CHAN_UNBIND;
	a->cmd->chan.id.v = a->idx;
	a->cmd->chan.runl = FIELD_GET(PCCSR_CHAN_RUNLIST, t->chan[a->idx].ctrl);
	if (bind) {
		a->cmd->chan.inst.target = FIELD_GET(PCCSR_INST_TARGET, a->val);
		a->cmd->chan.inst.addr = (u64)FIELD_GET(PCCSR_INST_PTR, a->val) << 12;
	}
}

static u32 chan_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->chan[a->idx].ctrl;
}

/* PCCSR_CHAN_ENABLE_SET and _CLR are triggers, and read 0. A write of both stops the channel. */
static void chan_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 *ctrl = &t->chan[a->idx].ctrl;

	*ctrl = (*ctrl & CHAN_HOST) | (a->val & (u32)PCCSR_CHAN_RUNLIST);
	if (!(t->chan[a->idx].inst & PCCSR_INST_BIND))
		return;
	if (a->val & PCCSR_CHAN_ENABLE_CLR) {
		*ctrl &= ~(u32)PCCSR_CHAN_ENABLED;
		a->cmd->kind = KVGPU_CMD_CHAN_DISABLE;
	} else if (a->val & PCCSR_CHAN_ENABLE_SET) {
		*ctrl |= PCCSR_CHAN_ENABLED;
		a->cmd->kind = KVGPU_CMD_CHAN_ENABLE;
	} else {
		return;
	}
	a->cmd->chan.id.v = a->idx;
	a->cmd->chan.runl = FIELD_GET(PCCSR_CHAN_RUNLIST, *ctrl);
}

void kvgpu_trap_chan_status_set(struct kvgpu_trap *t, gchid_t id, u32 status)
{
	if (id.v < KVGPU_MAX_CHAN)
		t->chan[id.v].ctrl = (t->chan[id.v].ctrl & ~CHAN_HOST) | (status & CHAN_HOST);
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(
		PCCSR_INST(0), EMULATE, TRAP, .count = KVGPU_MAX_CHAN, .stride = 8, .bulk = true,
		.read = inst_read, .write = inst_write, .src = SRC_NVRNN,
		.why = "the host builds its own instance block from the guest's block, which never reaches the chip"),
	KVGPU_LINE(
		PCCSR_CHAN(0), EMULATE, TRAP, .count = KVGPU_MAX_CHAN, .stride = 8, .bulk = true,
		.read = chan_read, .write = chan_write, .src = SRC_NVRNN,
		.why = "runlist, start and stop; enabled as the guest set it, unless the host could not start the channel; busy and status are 0"),
};

const struct kvgpu_reg_unit kvgpu_unit_chan = {
	.name = "PCCSR",
	.base = PCCSR_BASE,
	.size = PCCSR_SIZE,
	KVGPU_UNIT_LINES(lines),
};
