// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual FECS, and the GPCCS broadcast (the registers by which a driver reaches the GPCCS of
 * all GPCs at once). The virtual FECS answers in place of nouveau's program for FECS. After its
 * start it reports that it is ready, and the size of a context. It obeys "set channel", "save", and
 * the channel switch by which nouveau makes FECS save the golden context (the context from which
 * nouveau makes new ones). It reports a stop or a start of context switches as done, and other
 * commands as errors. A program that a guest loads does not run.
 *
 * NVIDIA's program is not served, because its contexts have another layout. It would report by bit
 * 0 of scratch register 0 that it is ready; the virtual FECS sets bit 31, as nouveau's program
 * does.
 */
#include <linux/string.h>

#include <gk110/gr.h>

#include "falcon.h"

#define AT(off) (GR_FECS + (off))

static u32 *scratch(struct kvgpu_trap *t, unsigned int i)
{
	return &t->falcon[FALCON_FECS].scratch[i];
}

static bool fecs_inst_decode(u32 word, struct kvgpu_gaddr *inst)
{
	u32 target = FIELD_GET(FECS_CHAN_TARGET, word);

	if (!(word & FECS_CHAN_VALID) || !kvgpu_target_ok(target))
		return false;
	inst->target = target;
	inst->addr = (u64)FIELD_GET(FECS_CHAN_INST, word) << 12;
	return true;
}

void vtrap_fecs_start(struct kvgpu_trap *t)
{
	*scratch(t, FECS_OS_STATUS) |= FECS_OS_READY;
	*scratch(t, FECS_OS_SIZE) = t->cfg.gr_ctx_size;
}

/* ---------------------------------------------------------------- commands of the guest to FECS */

static void set_channel(struct kvgpu_trap *t, const struct kvgpu_access *a, u32 word)
{
	struct kvgpu_gaddr inst;

	if (!fecs_inst_decode(word, &inst)) {
		vtrap_denial_note(t);
		return;
	}
	vtrap_reg_set(t, AT(FECS_CHAN_ADDR), word);
	vtrap_reg_set(t, AT(FECS_CHAN_NEXT), word);
	*scratch(t, FECS_OS_STATUS) |= FECS_OS_READY;
	a->cmd->kind = KVGPU_CMD_GR_BIND;
	a->cmd->inst = inst;
}

/* asks the host to write the host's golden image for the instance block in FECS_CHAN_ADDR */
static void fecs_ctx_save(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	struct kvgpu_gaddr inst;

	if (!fecs_inst_decode(vtrap_reg_get(t, AT(FECS_CHAN_ADDR)), &inst))
		return;
	a->cmd->kind = KVGPU_CMD_GR_SAVE;
	a->cmd->inst = inst;
}

static void fecs_command_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 data = vtrap_reg_get(t, AT(FECS_WRCMD_DATA));

	vtrap_reg_set(t, a->reg, a->val);
	if (!t->falcon[FALCON_FECS].started)
		return;
	switch (a->val) {
	case FECS_OS_CMD_SET_CHAN:
		set_channel(t, a, data);
		break;
	case FECS_OS_CMD_SAVE:
		fecs_ctx_save(t, a);
		*scratch(t, FECS_OS_STATUS) |= FECS_OS_READY;
		break;
	case FECS_EXT_CMD_STOP_CTXSW:
	case FECS_EXT_CMD_START_CTXSW:
		*scratch(t, FECS_EXT_STATUS2) = FECS_EXT_OK;
		break;
	default:
		*scratch(t, FECS_OS_ERROR) = FECS_OS_BAD_COMMAND | a->val << 16;
	}
}

/*
 * The guest asks for a channel switch from the channel in FECS_CHAN_ADDR, whose context is saved,
 * to the channel in FECS_CHAN_NEXT.
 */
static void fecs_trigger_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	u32 next = vtrap_reg_get(t, AT(FECS_CHAN_NEXT));

	if (!(a->bits & FECS_INTR_CHSW) || !t->falcon[FALCON_FECS].started)
		return;
	fecs_ctx_save(t, a);
	vtrap_reg_set(t, AT(FECS_CHAN_ADDR), next);
	if (a->cmd->kind == KVGPU_CMD_NONE && fecs_inst_decode(next, &a->cmd->inst))
		a->cmd->kind = KVGPU_CMD_GR_BIND;
}

/* -------------------------------- scratch registers of FECS, and the interrupt that FECS raises */

static u32 scratch_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return *scratch(t, a->idx);
}

static void scratch_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	*scratch(t, a->idx) = a->val;
}

static void scratch_clr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	*scratch(t, a->idx) &= ~a->bits;
}

static void scratch_set_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	*scratch(t, a->idx) |= a->bits;
}

static void intr_up_set_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, AT(FECS_INTR_UP), vtrap_reg_get(t, AT(FECS_INTR_UP)) | a->bits);
}

static void intr_up_clr_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	vtrap_reg_set(t, AT(FECS_INTR_UP), vtrap_reg_get(t, AT(FECS_INTR_UP)) & ~a->bits);
}

static u32 fecs_units_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return FIELD_PREP(FECS_UNITS_GPC, t->cfg.topo->gpcs) |
	       FIELD_PREP(FECS_UNITS_ROP, t->cfg.topo->rops);
}

#define WHY_RAW "takes raw addresses; for microcode only, and none runs"
#define WHY_PRI "accesses registers with full authority; for microcode only, and none runs"

static const struct kvgpu_reg_line fecs[] = {
	KVGPU_LINE_AT(
		GR_FECS, FALCON_INTR_TRIGGER, CONST, TRAP, .write = fecs_trigger_write,
		.src = SRC_NV,
		.why = "the guest asks for a channel switch; the host writes its golden image for the guest"),
	FALCON_LINES(GR_FECS),
	KVGPU_LINE_AT(GR_FECS, FECS_SIGNAL, FILE, FILE, .src = SRC_NV,
		      .why = "debug output of the program"),
	KVGPU_LINE_AT(GR_FECS, FECS_WRCMD_DATA, FILE, FILE, .src = SRC_NV,
		      .why = "argument of the next command"),
	KVGPU_LINE_AT(
		GR_FECS, FECS_WRCMD_CMD, FILE, TRAP, .write = fecs_command_write, .src = SRC_NV,
		.why = "set channel, save, and stop and start of context switches are answered; other commands report an error"),
	KVGPU_LINE_AT(GR_FECS, FECS_UNITS, CONST, CONST, .read = fecs_units_read, .src = SRC_NVRNN,
		      .why = "counts of GPCs and ROPs of the card"),
	KVGPU_LINE_AT(GR_FECS, FECS_MMIO_CTRL, DENY, DENY, .src = SRC_NV, .why = WHY_PRI),
	KVGPU_LINE_AT(GR_FECS, FECS_MMIO_RDVAL, DENY, DENY, .src = SRC_NV, .why = WHY_PRI),
	KVGPU_LINE_AT(GR_FECS, FECS_MMIO_WRVAL, DENY, DENY, .src = SRC_NV, .why = WHY_PRI),
	KVGPU_LINE_AT(GR_FECS, FECS_SCRATCH(0), EMULATE, EMULATE, .count = FECS_NR_SCRATCH,
		      .read = scratch_read, .write = scratch_write, .src = SRC_NV,
		      .why = "scratch 0 says ready, scratch 1 the size of a context"),
	KVGPU_LINE_AT(GR_FECS, FECS_SCRATCH_CLR(0), CONST, EMULATE, .count = FECS_NR_SCRATCH,
		      .write = scratch_clr_write, .src = SRC_NV,
		      .why = "clears bits of the scratch registers"),
	KVGPU_LINE_AT(GR_FECS, FECS_SCRATCH_SET(0), CONST, EMULATE, .count = FECS_NR_SCRATCH,
		      .write = scratch_set_write, .src = SRC_NV,
		      .why = "sets bits of the scratch registers"),
	KVGPU_LINE_AT(GR_FECS, FECS_MEM_BASE, DENY, DENY, .src = SRC_NV, .why = WHY_RAW),
	KVGPU_LINE_AT(GR_FECS, FECS_MEM_CHAN, DENY, DENY, .src = SRC_NV, .why = WHY_RAW),
	KVGPU_LINE_AT(GR_FECS, FECS_MEM_CMD, DENY, DENY, .src = SRC_NV, .why = WHY_RAW),
	KVGPU_LINE_AT(GR_FECS, FECS_MEM_TARGET, DENY, DENY, .src = SRC_NV, .why = WHY_RAW),
	KVGPU_LINE_AT(
		GR_FECS, FECS_CHAN_ADDR, FILE, FILE, .src = SRC_NV,
		.why = "instance on the engine, by set channel, a channel switch or a reported exception"),
	KVGPU_LINE_AT(GR_FECS, FECS_CHAN_NEXT, FILE, FILE, .src = SRC_NV,
		      .why = "instance to switch to"),
	KVGPU_LINE_AT(GR_FECS, FECS_INTR_UP, FILE, FILE, .src = SRC_NV,
		      .why = "report of the program, set with an exception"),
	KVGPU_LINE_AT(GR_FECS, FECS_INTR_UP_SET, CONST, EMULATE, .write = intr_up_set_write,
		      .src = SRC_NV, .why = "sets bits of FECS_INTR_UP"),
	KVGPU_LINE_AT(GR_FECS, FECS_INTR_UP_CLR, CONST, EMULATE, .write = intr_up_clr_write,
		      .src = SRC_NV, .why = "clears bits of FECS_INTR_UP"),
};

const struct kvgpu_reg_unit kvgpu_unit_fecs = {
	.name = "FECS",
	.base = GR_FECS,
	.size = FALCON_WINDOW,
	KVGPU_UNIT_LINES(fecs),
	KVGPU_REST(FILE, FILE,
		   "context switch machinery of the real FECS, unused by the virtual one", SRC_NV),
};

static const struct kvgpu_reg_line gpccs[] = {
	FALCON_LINES(GR_GPCCS_BCAST),
};

const struct kvgpu_reg_unit kvgpu_unit_gpccs = {
	.name = "GPCCS",
	.base = GR_GPCCS_BCAST,
	.size = FALCON_WINDOW,
	KVGPU_UNIT_LINES(gpccs),
	KVGPU_REST(FILE, FILE,
		   "context switch machinery of the real GPCCS, unused by the virtual one", SRC_NV),
};
