// SPDX-License-Identifier: GPL-2.0-only
/*
 * PBDMAs, the units of PFIFO that read the pushbuffers of channels. The guest reads a snapshot that
 * the host took at an interrupt of this vGPU's channel. The guest's writes change the snapshot and
 * the register file. The guest's acknowledgement is a command, which also says whether the guest
 * has replaced the method by a no-operation, as nouveau does. By then the host has acknowledged the
 * chip's interrupt already (hw/intr.c).
 */
#include <gk110/fifo.h>

#include "units.h"

static u32 pbdma_intr0_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma[a->inst].intr0;
}

static u32 pbdma_intr1_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma[a->inst].intr1;
}

static void pbdma_ack(struct kvgpu_trap *t, const struct kvgpu_access *a, u32 intr0, u32 intr1)
{
	if (!intr0 && !intr1)
		return;
	t->pbdma[a->inst].intr0 &= ~intr0;
	t->pbdma[a->inst].intr1 &= ~intr1;
	a->cmd->kind = KVGPU_CMD_PBDMA_ACK;
	a->cmd->pbdma.pbdma = a->inst;
	a->cmd->pbdma.intr0 = intr0;
	a->cmd->pbdma.intr1 = intr1;
	a->cmd->pbdma.skip = t->pbdma[a->inst].method == PBDMA_METHOD_SKIP;
}

static void pbdma_intr0_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	pbdma_ack(t, a, t->pbdma[a->inst].intr0 & a->bits, 0);
}

static void pbdma_intr1_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	pbdma_ack(t, a, 0, t->pbdma[a->inst].intr1 & a->bits);
}

static u32 pbdma_method_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma[a->inst].method;
}

static void pbdma_method_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->pbdma[a->inst].method = a->val;
}

static u32 pbdma_data_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma[a->inst].data;
}

static void pbdma_data_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	t->pbdma[a->inst].data = a->val;
}

static u32 pbdma_channel_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma[a->inst].chid;
}

static u32 hce_method_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma[a->inst].hce_method;
}

static u32 hce_data_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->pbdma[a->inst].hce_data;
}

void kvgpu_trap_pbdma(struct kvgpu_trap *t, const struct kvgpu_pbdma_snap *s)
{
	if (s->pbdma >= KVGPU_MAX_PBDMA)
		return;
	t->pbdma[s->pbdma].intr0 |= s->intr0;
	t->pbdma[s->pbdma].intr1 |= s->intr1;
	t->pbdma[s->pbdma].method = s->method;
	t->pbdma[s->pbdma].data = s->data;
	t->pbdma[s->pbdma].chid = FIELD_PREP(PBDMA_CHANNEL_ID, s->chid.v) | PBDMA_CHANNEL_VALID;
	t->pbdma[s->pbdma].hce_method = s->hce_method;
	t->pbdma[s->pbdma].hce_data = s->hce_data;
	t->pbdma_pending |= 1u << s->pbdma;
	vtrap_fifo_update(t);
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_METHOD0, EMULATE, EMULATE, .read = pbdma_method_read,
		      .write = pbdma_method_write, .src = SRC_NVRNN,
		      .why = "the method that stopped the channel; the host skips it by itself"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_DATA0, EMULATE, EMULATE, .read = pbdma_data_read,
		      .write = pbdma_data_write, .src = SRC_NVRNN,
		      .why = "argument of the method in PBDMA_METHOD0"),
	KVGPU_LINE_AT(
		PBDMA_BASE, PBDMA_INTR0, EMULATE, TRAP, .read = pbdma_intr0_read,
		.write = pbdma_intr0_write, .src = SRC_NVRNN,
		.why = "errors of a channel of this vGPU; the host lets the channel go on by itself"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_INTR0_EN, FILE, FILE, .src = SRC_NVRNN,
		      .why = "the host has enabled the sources that it needs"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_CHANNEL, EMULATE, CONST, .read = pbdma_channel_read,
		      .src = SRC_NV, .why = "channel of the snapshot, by the guest's id"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_TIMEOUT, FILE, FILE, .reset = PBDMA_TIMEOUT_RESET,
		      .src = SRC_RNN, .why = "timeouts are the host's"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_INTR0_STALL, FILE, FILE, .reset = PBDMA_INTR0_STALL_RESET,
		      .src = SRC_NVRNN, .why = "the host decides which interrupts stop a PBDMA"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_INTR1_STALL, FILE, FILE, .reset = PBDMA_INTR1_STALL_RESET,
		      .src = SRC_NVRNN, .why = "the host decides which interrupts stop a PBDMA"),
	KVGPU_LINE_AT(
		PBDMA_BASE, PBDMA_INTR1, EMULATE, TRAP, .read = pbdma_intr1_read,
		.write = pbdma_intr1_write, .src = SRC_NVRNN,
		.why = "errors of the copy engines' front end; the host lets the channel go on by itself"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_INTR1_EN, FILE, FILE, .src = SRC_NVRNN,
		      .why = "the host has enabled the sources that it needs"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_HCE_METHOD, EMULATE, CONST, .read = hce_method_read,
		      .src = SRC_NV, .why = "method that the copy engines' front end refused"),
	KVGPU_LINE_AT(PBDMA_BASE, PBDMA_HCE_DATA, EMULATE, CONST, .read = hce_data_read,
		      .src = SRC_NV, .why = "argument of the method in PBDMA_HCE_METHOD"),
};

const struct kvgpu_reg_unit kvgpu_unit_pbdma = {
	.name = "PBDMA",
	.base = PBDMA_BASE,
	.size = PBDMA_STRIDE,
	.copies = KVGPU_MAX_PBDMA,
	KVGPU_UNIT_LINES(lines),
};
