// SPDX-License-Identifier: GPL-2.0-only
/*
 * A defective card, for tests of what a driver or a person is told: registers that read
 * something else than what the unit has. Which codes a register gives without an answer: cold.c.
 */
#include <string.h>

#include <gk110/absent.h>
#include <gk110/fifo.h>
#include <gk110/gr.h>
#include <gk110/therm.h>
#include <gk110/vbios.h>

#include "root.h"

#define PREEMPT_LATE_NS 300000000ull

static const struct defect {
	const char *name;
	uint32_t base, end;
	uint32_t keep, set; /* the value read is what the unit has & keep | set */
} defects[] = {
	{ "dead-bus", 0, GK110_BAR0_SIZE, 0, ~0u },
	{ "no-rom", PROM_BASE, PROM_BASE + PROM_SIZE, 0, ~0u },
	{ "power", PTHERM_PGOB(0), PTHERM_PGOB(PTHERM_PGOB_NR), 0, PRI_RING_NO_UNIT },
	{ "power", GR_GPC(0, 0), GR_GPC(GR_NR_GPC, 0), 0, PRI_RING_NO_UNIT },
	{ "fecs", GR_FECS + FECS_SCRATCH(FECS_OS_STATUS),
	  GR_FECS + FECS_SCRATCH(FECS_OS_STATUS) + 4, ~(uint32_t)FECS_OS_READY, 0 },
	{ "preempt", PFIFO_PREEMPT, PFIFO_PREEMPT + 4, ~0u, PFIFO_PREEMPT_PENDING },
	{ "runlist", PFIFO_ENG_RUNLIST(0), PFIFO_ENG_RUNLIST(PFIFO_ENG_RUNLIST_NR), ~0u,
	  PFIFO_ENG_RUNLIST_PENDING },
};

bool defect_known(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(defects); i++)
		if (!strcmp(defects[i].name, name))
			return true;
	return false;
}

void defect_write(struct gk110 *g, uint32_t reg)
{
	uint64_t now = mono_ns();

	/* a preempt that is asked for again takes no longer */
	if (reg == PFIFO_PREEMPT && now - g->preempt_written > PREEMPT_LATE_NS)
		g->preempt_written = now;
}

uint32_t defect_read(struct gk110 *g, uint32_t reg, uint32_t val)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(defects); i++) {
		const struct defect *f = &defects[i];

		if (reg < f->base || reg >= f->end || strcmp(f->name, g->cfg.defect))
			continue;
		if (reg == PFIFO_PREEMPT && f->keep &&
		    mono_ns() - g->preempt_written > PREEMPT_LATE_NS)
			continue;
		return (val & f->keep) | f->set;
	}
	return val;
}
