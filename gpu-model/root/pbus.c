// SPDX-License-Identifier: GPL-2.0-only
/*
 * PBUS: status and masks of the interrupts of the host interface, accesses of registers that no
 * unit answers, which PTIMER has a record of, and the two interrupts that software can trigger.
 */
#include <gk110/absent.h>
#include <gk110/pbus.h>
#include <gk110/pmc.h>
#include <gk110/privring.h>
#include <gk110/ptimer.h>

#include "root.h"

static void lines_update(struct gk110 *g)
{
	uint32_t stat = reg_get(g, PBUS_INTR);

	pmc_intr_set(g, PMC_INTR_BUS, stat & reg_get(g, PBUS_INTR_EN));
	pmc_intr_set_nrhost(g, PMC_INTR_BUS, stat & reg_get(g, PBUS_INTR_EN_NRHOST));
}

void pbus_access_failed(struct gk110 *g, uint32_t reg, bool write, uint32_t val, uint32_t code)
{
	uint32_t intr = code == PRI_HOST_OFF ? PBUS_INTR_DISABLED_ENGINE : PBUS_INTR_MMIO_FAULT;

	if ((code & PRIVRING_ERROR_MASK) != PRIVRING_ERROR)
		return;
	if (code >= PRI_RING) {
		intr = PBUS_INTR_PRIVRING;
		privring_access_failed(g, reg, val, code);
	}
	if (!reg_get(g, PTIMER_MMIO_FAULT_ADDR)) {
		reg_set(g, PTIMER_MMIO_FAULT_ADDR,
			PTIMER_MMIO_FAULT_VALID | reg | (write ? PTIMER_MMIO_FAULT_WRITE : 0));
		reg_set(g, PTIMER_MMIO_FAULT_DATA, val);
		reg_set(g, PTIMER_MMIO_FAULT_CODE, code);
	}
	reg_set(g, PBUS_INTR, reg_get(g, PBUS_INTR) | intr);
	lines_update(g);
}

static uint32_t pbus_read(struct gk110 *g, uint32_t reg)
{
	if (reg == PBUS_USER0_TRIGGER || reg == PBUS_USER1_TRIGGER)
		return 0;
	return reg_get(g, reg);
}

static void pbus_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	switch (reg) {
	case PBUS_INTR:
		reg_set(g, reg, reg_get(g, reg) & ~val);
		break;
	case PBUS_INTR_EN:
		reg_merge(g, reg, val, be & PBUS_INTR_ALL);
		break;
	case PBUS_INTR_EN_NRHOST:
		reg_merge(g, reg, val, be & PBUS_INTR_ALL & ~PBUS_INTR_USER1);
		break;
	case PBUS_USER0_TRIGGER:
		reg_set(g, PBUS_INTR, reg_get(g, PBUS_INTR) | PBUS_INTR_USER0);
		break;
	case PBUS_USER1_TRIGGER:
		reg_set(g, PBUS_INTR, reg_get(g, PBUS_INTR) | PBUS_INTR_USER1);
		break;
	default:
		reg_merge(g, reg, val, be);
		return;
	}
	lines_update(g);
}

static void pbus_reset(struct gk110 *g)
{
	reg_set(g, PBUS_INTR, 0);
	reg_set(g, PBUS_INTR_EN, 0);
	reg_set(g, PBUS_INTR_EN_NRHOST, 0);
	lines_update(g);
}

static const struct mmio_range pbus_ranges[] = {
	{ PBUS_BASE, PBUS_HOST_MEM - PBUS_BASE, "PBUS", pbus_read, pbus_write },
	{ PBUS_HOST_MEM + PBUS_HOST_MEM_SIZE,
	  PBUS_BASE + PBUS_SIZE - PBUS_HOST_MEM - PBUS_HOST_MEM_SIZE, "PBUS_HIGH", NULL, NULL },
	/* VGA ports: boot scripts of a K80, which has no display, write them, and nouveau does */
	{ PRMIO_BASE, PRMIO_SIZE, "PRMIO", NULL, NULL },
};

const struct unit_ops pbus_unit = {
	.name = "PBUS",
	.ranges = pbus_ranges,
	.nr_ranges = ARRAY_SIZE(pbus_ranges),
	.reset = pbus_reset,
};
