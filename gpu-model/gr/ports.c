// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of PGRAPH. Most are storage: the driver programs them, contexts save and load them. The
 * icmd and method ports change class state as a method would. A method that does more than that is
 * refused there as illegal (open).
 */
#include "gr.h"

#include <linux/bitfield.h>

#define IN(reg, base, size) ((reg) >= (base) && (reg) < (base) + (size))

static bool is_esr(uint32_t reg)
{
	switch (reg) {
	case GR_FE_ESR:
	case GR_MME_ESR:
	case GR_M2MF_ESR:
	case GR_DS_ESR:
	case GR_PD_ESR:
	case GR_UNK6_ESR:
	case GR_SKED_ESR:
	case GR_SCC_ESR:
		return true;
	}
	return false;
}

static bool is_gpc_esr(uint32_t off)
{
	return off == GPC_PROP_ESR || off == GPC_ESETUP_ESR || off == GPC_ZCULL_ESR ||
	       off == GPC_CCACHE_ESR;
}

static bool is_tpc_esr(uint32_t off)
{
	return off == TPC_POLY_ESR || off == TPC_TEX_ESR || off == TPC_MPC_ESR ||
	       off == TPC_L1C_ESR;
}

static void esr_write(struct gk110 *g, uint32_t reg, uint32_t val)
{
	uint32_t status = reg_get(g, reg) & (uint32_t)GR_ESR_STATUS;

	if (val & GR_ESR_CLEAR)
		status = 0;
	reg_set(g, reg, (val & (uint32_t)GR_ESR_ENABLE) | status);
}

static void w1c_write(struct gk110 *g, uint32_t reg, uint32_t val)
{
	reg_set(g, reg, reg_get(g, reg) & ~val);
}

/* ---------------------------------------------------------------- GPCs */

static void tpc_write(struct gk110 *g, unsigned int gpc, unsigned int tpc, uint32_t off,
		      uint32_t val, uint32_t be)
{
	uint32_t reg = GR_GPC(gpc, GPC_TPC + tpc * GPC_TPC_STRIDE + off);

	if (is_tpc_esr(off))
		esr_write(g, reg, val);
	else if (off == TPC_MP_GLOBAL_ESR)
		w1c_write(g, reg, val);
	else if (off != TPC_TRAP)
		reg_merge(g, reg, val, be);
}

static void gpc_write(struct gk110 *g, unsigned int gpc, uint32_t off, uint32_t val, uint32_t be)
{
	uint32_t reg = GR_GPC(gpc, off);

	if (IN(off, GPC_TPC_BCAST, GPC_TPC_STRIDE)) {
		for (unsigned int t = 0; t < gpc_tpcs(g, gpc); t++)
			tpc_write(g, gpc, t, off - GPC_TPC_BCAST, val, be);
	} else if (IN(off, GPC_PPC_BCAST, GPC_PPC_STRIDE)) {
		for (unsigned int p = 0; p < gpc_ppcs(g, gpc); p++)
			reg_merge(g,
				  GR_GPC(gpc, GPC_PPC + p * GPC_PPC_STRIDE + off - GPC_PPC_BCAST),
				  val, be);
	} else if (IN(off, GPC_GPCCS, FALCON_WINDOW)) {
		gpccs_write(g, gpc, off - GPC_GPCCS, val);
	} else if (IN(off, GPC_TPC, gpc_tpcs(g, gpc) * GPC_TPC_STRIDE)) {
		off -= GPC_TPC;
		tpc_write(g, gpc, off / GPC_TPC_STRIDE, off % GPC_TPC_STRIDE, val, be);
	} else if (is_gpc_esr(off)) {
		esr_write(g, reg, val);
	} else if (off != GPC_PPC_TPC_MASK(0) && off != GPC_PPC_TPC_MASK(1)) {
		reg_merge(g, reg, val, be);
	}
}

static uint32_t tpc_read(struct gk110 *g, unsigned int gpc, unsigned int tpc, uint32_t off)
{
	if (off == TPC_TRAP)
		return tpc_trap_level(g, gpc, tpc);
	return reg_get(g, GR_GPC(gpc, GPC_TPC + tpc * GPC_TPC_STRIDE + off));
}

/* Open: what a broadcast read gives; here the first unit's value. */
static uint32_t gpc_read(struct gk110 *g, unsigned int gpc, uint32_t off)
{
	uint32_t val;

	if (IN(off, GPC_TPC_BCAST, GPC_TPC_STRIDE))
		return tpc_read(g, gpc, 0, off - GPC_TPC_BCAST);
	if (IN(off, GPC_PPC_BCAST, GPC_PPC_STRIDE))
		return reg_get(g, GR_GPC(gpc, GPC_PPC + off - GPC_PPC_BCAST));
	if (IN(off, GPC_GPCCS, FALCON_WINDOW) &&
	    falcon_read(&g->gr->gpccs[gpc], off - GPC_GPCCS, &val))
		return val;
	if (IN(off, GPC_TPC, gpc_tpcs(g, gpc) * GPC_TPC_STRIDE))
		return tpc_read(g, gpc, (off - GPC_TPC) / GPC_TPC_STRIDE,
				(off - GPC_TPC) % GPC_TPC_STRIDE);
	return reg_get(g, GR_GPC(gpc, off));
}

/* ---------------------------------------------------------------- front end */

static void icmd(struct gk110 *g, uint32_t val)
{
	unsigned int word;

	reg_set(g, GR_ICMD, val);
	if (state_bundle_word(FIELD_GET(GR_ICMD_ADDR, val), &word))
		strand_set(g->gr, word, reg_get(g, GR_ICMD_DATA));
}

static void port_method(struct gk110 *g, uint32_t val)
{
	uint32_t mthd = FIELD_GET(GR_MTHD_ADDR, val) << 2;
	enum gr_class cls;
	unsigned int word;

	if (!(val & GR_MTHD_TRIGGER))
		return;
	if (class_of_id(FIELD_GET(GR_MTHD_CLASS, val), &cls) && state_word(cls, mthd, &word) &&
	    !gr_method_acts(cls, mthd)) {
		strand_set(g->gr, word, reg_get(g, GR_MTHD_DATA));
		return;
	}
	reg_set(g, GR_TRAPPED_ADDR, mthd);
	reg_set(g, GR_TRAPPED_DATA, reg_get(g, GR_MTHD_DATA));
	reg_set(g, GR_INTR, reg_get(g, GR_INTR) | (uint32_t)GR_INTR_ILLEGAL_MTHD);
	trap_update(g);
}

static void ctrl_write(struct gk110 *g, uint32_t val, uint32_t be)
{
	bool was = gr_halted(g);

	val = reg_merge(g, GR_CTRL, val, be);
	if ((val & GR_CTRL_FIFO) && (val & GR_CTRL_RESTART))
		g->gr->halted = false;
	if (!was || gr_halted(g))
		return;
	for (unsigned int i = 0; i < g->nr_engines; i++) {
		if (g->engine[i].type == ENGINE_GR)
			fifo_engine_resume(g, i);
	}
}

static void hub_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	switch (reg) {
	case GR_INTR:
	case GR_TRAP:
	case GR_TRAP_GPC_MASK:
		w1c_write(g, reg, val);
		trap_update(g);
		return;
	case GR_INTR_EN:
	case GR_TRAP_EN:
		reg_merge(g, reg, val, be);
		trap_update(g);
		return;
	case GR_CTRL:
		ctrl_write(g, val, be);
		return;
	case GR_ICMD:
		icmd(g, val);
		return;
	case GR_MTHD:
		reg_merge(g, reg, val, be);
		port_method(g, val);
		return;
	case GR_FE_PWR:
		reg_set(g, reg, ((reg_get(g, reg) & ~be) | val) & ~(uint32_t)GR_FE_PWR_PENDING);
		return;
	case GR_DATA_ERROR:
	case GR_IDLE:
	case GR_STATUS:
	case GR_TRAPPED_ADDR:
	case GR_TRAPPED_DATA:
	case GR_TRAPPED_DATA_HI:
		return;
	}
	if (is_esr(reg))
		esr_write(g, reg, val);
	else
		reg_merge(g, reg, val, be);
}

static uint32_t hub_read(struct gk110 *g, uint32_t reg)
{
	bool busy = atomic_load(&g->gr->busy);

	switch (reg) {
	case GR_INTR:
		return trap_intr(g);
	case GR_IDLE:
		return busy ? GR_IDLE_BUSY : 0;
	case GR_STATUS:
		return busy ? GR_STATUS_BUSY : 0;
	}
	return reg_get(g, reg);
}

/* ---------------------------------------------------------------- dispatch */

uint32_t gr_port_read(struct gk110 *g, uint32_t reg)
{
	uint32_t val;

	if (IN(reg, GR_FECS, FALCON_WINDOW))
		return fecs_read(g, reg - GR_FECS, &val) ? val : reg_get(g, reg);
	if (IN(reg, GR_GPC_BCAST, GR_GPC_STRIDE))
		return gpc_read(g, 0, reg - GR_GPC_BCAST);
	if (IN(reg, GR_GPC_BASE, GR_NR_GPC * GR_GPC_STRIDE))
		return gpc_read(g, (reg - GR_GPC_BASE) / GR_GPC_STRIDE,
				(reg - GR_GPC_BASE) % GR_GPC_STRIDE);
	return hub_read(g, reg);
}

void gr_port_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (IN(reg, GR_FECS, FALCON_WINDOW)) {
		fecs_write(g, reg - GR_FECS, val);
	} else if (IN(reg, GR_GPC_BCAST, GR_GPC_STRIDE)) {
		for (unsigned int i = 0; i < GR_NR_GPC; i++)
			gpc_write(g, i, reg - GR_GPC_BCAST, val, be);
	} else if (IN(reg, GR_GPC_BASE, GR_NR_GPC * GR_GPC_STRIDE)) {
		gpc_write(g, (reg - GR_GPC_BASE) / GR_GPC_STRIDE,
			  (reg - GR_GPC_BASE) % GR_GPC_STRIDE, val, be);
	} else if (IN(reg, GR_ROP_BCAST, GR_ROP_STRIDE)) {
		reg_merge(g, reg, val, be);
		for (unsigned int i = 0; i < board_fbps(&g->cfg.board); i++)
			reg_merge(g, GR_ROP(i, reg - GR_ROP_BCAST), val, be);
	} else {
		hub_write(g, reg, val, be);
	}
}
