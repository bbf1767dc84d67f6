// SPDX-License-Identifier: GPL-2.0-only
/* The first free place that is large enough is taken, as the module does. */
#include "plan.h"

#include <string.h>

/* units in MiB; a slice of BAR1 starts at a multiple of two units */
#define VRAM_UNIT  512
#define BAR1_UNIT  1
#define BAR1_ALIGN 2
#define BAR3_UNIT  2
/* what shows the video memory behind a guest's PRAMIN window, in units of BAR1 */
#define PRAMIN 1

static void limit(uint8_t *map, int64_t units)
{
	memset(map, 1, PLAN_UNITS);
	if (units > 0)
		memset(map, 0, units < PLAN_UNITS ? units : PLAN_UNITS);
}

void plan_begin(struct plan *p, const struct plan_size *room)
{
	limit(p->vram, room->vram / VRAM_UNIT);
	limit(p->bar1, room->bar1 / BAR1_UNIT);
	limit(p->bar3, room->bar3 / BAR3_UNIT);
}

static bool take(uint8_t *map, int64_t units, int align)
{
	for (int64_t at = 0; units <= PLAN_UNITS - at; at += align)
		if (!memchr(map + at, 1, units)) {
			memset(map + at, 1, units);
			return true;
		}
	return false;
}

bool plan_add(struct plan *p, const struct plan_size *type)
{
	struct plan next = *p;

	if (!take(next.vram, type->vram / VRAM_UNIT, 1) ||
	    !take(next.bar1, type->bar1 / BAR1_UNIT, BAR1_ALIGN) || !take(next.bar1, PRAMIN, 1) ||
	    !take(next.bar3, type->bar3 / BAR3_UNIT, 1))
		return false;
	*p = next;
	return true;
}

unsigned int plan_count(const struct plan *p, const struct plan_size *type)
{
	struct plan next = *p;
	unsigned int n = 0;

	/* each one takes a unit of BAR1, so this ends */
	while (plan_add(&next, type))
		n++;
	return n;
}
