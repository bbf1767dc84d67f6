// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions of PGRAPH, laid out as nouveau's gf100_gr_intr() and gf100_gr_trap_intr() read them.
 * An exception of a channel's method halts the front end: no further method is taken until the host
 * has written GR_CTRL with its restart and enable bits, or has reset the engine.
 *
 * Open, the model chooses: an exception is recorded and halts the front end even if the unit's
 * report enable bits mask it.
 */
#include "gr.h"

#include <linux/bitfield.h>

static const struct engine *gr_engine_of(struct gk110 *g)
{
	for (unsigned int i = 0; i < g->nr_engines; i++) {
		if (g->engine[i].type == ENGINE_GR)
			return &g->engine[i];
	}
	return NULL;
}

bool gr_halted(struct gk110 *g)
{
	return g->gr->halted || !(reg_get(g, GR_CTRL) & GR_CTRL_FIFO);
}

uint32_t trap_intr(struct gk110 *g)
{
	uint32_t intr = reg_get(g, GR_INTR);

	if (reg_get(g, GR_FECS + FECS_INTR_UP) & reg_get(g, GR_FECS + FECS_INTR_UP_EN))
		intr |= GR_INTR_FECS;
	if (reg_get(g, GR_TRAP) & reg_get(g, GR_TRAP_EN))
		intr |= GR_INTR_TRAP;
	return intr;
}

void trap_update(struct gk110 *g)
{
	const struct engine *e = gr_engine_of(g);

	if (e)
		pmc_intr_set(g, e->intr_bit, trap_intr(g) & reg_get(g, GR_INTR_EN));
}

void trap_reset(struct gk110 *g)
{
	g->gr->halted = false;
	/* open: whether methods run before the driver sets these bits; in the model they do */
	reg_set(g, GR_CTRL, GR_CTRL_FIFO | GR_CTRL_RESTART);
	trap_update(g);
}

static void reg_or(struct gk110 *g, uint32_t reg, uint32_t bits)
{
	reg_set(g, reg, reg_get(g, reg) | bits);
}

/* Lock held. */
static void record(struct gr_exec *x, uint32_t intr, const char *what)
{
	struct gk110 *g = x->g;

	reg_set(g, GR_TRAPPED_ADDR,
		(x->mthd & (uint32_t)GR_TRAPPED_MTHD) | FIELD_PREP(GR_TRAPPED_SUBCH, x->subc));
	reg_set(g, GR_TRAPPED_DATA, x->data);
	reg_set(g, GR_TRAPPED_DATA_HI, 0);
	reg_or(g, GR_INTR, intr);
	g->gr->halted = true;
	gk110_note(g, "GR exception: %s, channel %u subchannel %u method 0x%04x data 0x%08x", what,
		   x->c->id, x->subc, x->mthd, x->data);
	trap_update(g);
}

static enum eng_ret raise_plain(struct gr_exec *x, uint32_t intr, const char *what)
{
	pthread_mutex_lock(&x->g->lock);
	record(x, intr, what);
	pthread_mutex_unlock(&x->g->lock);
	return ENG_STALL;
}

enum eng_ret trap_illegal_method(struct gr_exec *x)
{
	return raise_plain(x, GR_INTR_ILLEGAL_MTHD, "ILLEGAL_MTHD");
}

enum eng_ret trap_illegal_class(struct gr_exec *x)
{
	return raise_plain(x, GR_INTR_ILLEGAL_CLASS, "ILLEGAL_CLASS");
}

enum eng_ret trap_data_error(struct gr_exec *x, uint32_t code)
{
	pthread_mutex_lock(&x->g->lock);
	reg_set(x->g, GR_DATA_ERROR, code);
	record(x, GR_INTR_DATA_ERROR, "DATA_ERROR");
	pthread_mutex_unlock(&x->g->lock);
	return ENG_STALL;
}

static enum eng_ret raise_unit(struct gr_exec *x, uint32_t trap, uint32_t esr, uint32_t bits,
			       const char *what)
{
	pthread_mutex_lock(&x->g->lock);
	reg_or(x->g, esr, bits);
	reg_or(x->g, GR_TRAP, trap);
	record(x, 0, what);
	pthread_mutex_unlock(&x->g->lock);
	return ENG_STALL;
}

enum eng_ret trap_class_subch(struct gr_exec *x)
{
	return raise_unit(x, GR_TRAP_DISPATCH, GR_FE_ESR, GR_FE_ESR_CLASS_SUBCH,
			  "DISPATCH CLASS_SUBCH_MISMATCH");
}

enum eng_ret trap_m2mf(struct gr_exec *x, uint32_t esr)
{
	return raise_unit(x, GR_TRAP_M2MF, GR_M2MF_ESR, esr, "M2MF");
}

enum eng_ret trap_sked(struct gr_exec *x, uint32_t esr)
{
	return raise_unit(x, GR_TRAP_SKED, GR_SKED_ESR, esr, "SKED");
}

enum eng_ret trap_macro(struct gr_exec *x, uint32_t esr, uint32_t pc, uint32_t op)
{
	pthread_mutex_lock(&x->g->lock);
	reg_set(x->g, GR_MME_ESR_PC, GR_MME_ESR_PC_VALID | FIELD_PREP(GR_MME_ESR_PC_PC, pc));
	reg_set(x->g, GR_MME_ESR_OP, op);
	pthread_mutex_unlock(&x->g->lock);
	return raise_unit(x, GR_TRAP_MACRO, GR_MME_ESR, esr, "MACRO");
}

enum eng_ret trap_sm(struct gr_exec *x, unsigned int gpc, unsigned int tpc, uint32_t warp_esr,
		     uint32_t global_esr)
{
	struct gk110 *g = x->g;
	uint32_t base = GR_GPC(gpc, GPC_TPC + tpc * GPC_TPC_STRIDE);

	pthread_mutex_lock(&g->lock);
	reg_set(g, base + TPC_MP_WARP_ESR, warp_esr);
	reg_or(g, base + TPC_MP_GLOBAL_ESR, global_esr);
	reg_or(g, GR_GPC(gpc, GPC_GPCCS + GPCCS_TRAP), GPCCS_TRAP_TPC(tpc));
	reg_or(g, GR_TRAP_GPC_MASK, 1u << gpc);
	reg_or(g, GR_TRAP, GR_TRAP_GPC);
	record(x, 0, "SM");
	pthread_mutex_unlock(&g->lock);
	return ENG_STALL;
}

uint32_t tpc_trap_level(struct gk110 *g, unsigned int gpc, unsigned int tpc)
{
	static const struct {
		uint32_t off, bit;
	} units[] = {
		{ TPC_TEX_ESR, TPC_TRAP_TEX },
		{ TPC_POLY_ESR, TPC_TRAP_POLY },
		{ TPC_L1C_ESR, TPC_TRAP_L1C },
		{ TPC_MPC_ESR, TPC_TRAP_MPC },
	};
	uint32_t base = GR_GPC(gpc, GPC_TPC + tpc * GPC_TPC_STRIDE), level = 0;

	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (reg_get(g, base + units[i].off) & GR_ESR_STATUS)
			level |= units[i].bit;
	}
	if (reg_get(g, base + TPC_MP_WARP_ESR) || reg_get(g, base + TPC_MP_GLOBAL_ESR))
		level |= TPC_TRAP_MP;
	return level;
}

void trap_notify(struct gk110 *g)
{
	pthread_mutex_lock(&g->lock);
	reg_or(g, GR_INTR, GR_INTR_NOTIFY);
	trap_update(g);
	pthread_mutex_unlock(&g->lock);
}
