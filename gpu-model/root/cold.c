// SPDX-License-Identifier: GPL-2.0-only
/*
 * What registers answer whose unit is off. A unit that PMC_ENABLE has not switched on answers a
 * code of the register ring, and loses writes; so do the GPCs until they have power (therm.c). On a
 * card that nobody has POSTed, memory and the clock generators are off, too, until the boot scripts
 * have set PTOP_DEVINIT_DONE.
 *
 * gk110/absent.h has the source of the codes. "open": the model chooses the code of a neighbour.
 */
#include <gk110/absent.h>
#include <gk110/bar.h>
#include <gk110/fifo.h>
#include <gk110/gr.h>
#include <gk110/ltc.h>
#include <gk110/pfb.h>
#include <gk110/pmc.h>
#include <gk110/ptimer.h>
#include <gk110/ptop.h>
#include <gk110/therm.h>

#include "root.h"

#define NO_MEMORY 0xffffffffu

static const struct cold {
	uint32_t base, end;
	uint32_t enable; /* bit of PMC_ENABLE that switches the unit on; 0: it waits for POST */
	uint32_t code;
} cold[] = {
	{ PFIFO_BASE, PFIFO_BASE + PFIFO_SIZE, PMC_ENABLE_FIFO, PRI_HOST_OFF },
	{ PTIMER_BASE, PTIMER_BASE + PTIMER_SIZE, PMC_ENABLE_TIMER, PRI_HOST_OFF },
	{ PBDMA(0), PBDMA(GK110_MAX_PBDMA), PMC_ENABLE_FIFO, PRI_HOST_OFF },
	{ PFFB_BASE, PFFB_BASE + PFFB_SIZE, PMC_ENABLE_PFFB, PRI_HUB_OFF },
	{ PBFB_BCAST, PBFB_END, PMC_ENABLE_PBFB, PRI_HUB_OFF }, /* open */
	{ PCLOCK_PLL(0), PCLOCK_PLL(1), 0, PRI_UNCLOCKED },
	{ LTC_BASE, LTC_BASE + LTC_SIZE, PMC_ENABLE_LTC, PRI_UNCLOCKED },
	{ GR_BASE, GR_FECS, PMC_ENABLE_GR, PRI_HUB_OFF },
	{ GR_FECS, GR_FECS + FECS_SIZE, PMC_ENABLE_GR, PRI_FECS_OFF },
	{ GR_FECS + FECS_SIZE, GR_GPC(8, 0), PMC_ENABLE_GR, PRI_UNCLOCKED },
	{ PRAMIN_BASE, PRAMIN_BASE + PRAMIN_SIZE, PMC_ENABLE_PFFB, NO_MEMORY },
};

static bool gpc_is_dark(const struct gk110 *g, uint32_t reg)
{
	return g->gpc_power_steps < GPC_POWER_STEPS &&
	       ((reg >= GR_GPC_BCAST && reg < GR_GPC_BCAST + GR_GPC_STRIDE) ||
		(reg >= GR_GPC_BASE && reg < GR_GPC(GR_NR_GPC, 0)));
}

bool cold_unit(struct gk110 *g, uint32_t reg, uint32_t *code)
{
	bool posted = reg_get(g, PTOP_DEVINIT) & PTOP_DEVINIT_DONE;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cold); i++) {
		if (reg < cold[i].base || reg >= cold[i].end)
			continue;
		*code = cold[i].code;
		if (cold[i].enable ? !(reg_get(g, PMC_ENABLE) & cold[i].enable) : !posted)
			return true;
		break;
	}
	*code = PRI_RING_NO_UNIT;
	return gpc_is_dark(g, reg);
}
