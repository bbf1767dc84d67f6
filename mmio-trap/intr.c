// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt tree. Units raise and drop sources. In each leaf a mask selects sources, and an
 * enable gates the output. Leaf 0 (host) and leaf 1 (non-redirectable host) share the function's
 * one interrupt. nouveau disables the outputs, re-arms MSI, handles the pending sources and enables
 * the outputs again. A message is therefore due on every rise of the line, and on a re-arm while
 * the line is high.
 */
#include <gk110/pmc.h>

#include "internal.h"

u32 kvgpu_intr_leaf(const struct kvgpu_trap *t, unsigned int leaf)
{
	u32 src = leaf == PMC_LEAF_HOST	  ? t->intr_src :
		  leaf == PMC_LEAF_NRHOST ? t->intr_nrhost :
					    0;

	return src & kvgpu_reg_get(t, PMC_INTR_MASK(leaf));
}

bool kvgpu_intr_output(const struct kvgpu_trap *t, unsigned int leaf)
{
	return (kvgpu_reg_get(t, PMC_INTR_EN(leaf)) & PMC_INTR_EN_HARDWARE) &&
	       kvgpu_intr_leaf(t, leaf);
}

void kvgpu_intr_update(struct kvgpu_trap *t)
{
	bool line = kvgpu_intr_output(t, PMC_LEAF_HOST) || kvgpu_intr_output(t, PMC_LEAF_NRHOST);

	if (line && !t->line)
		t->edge = true;
	t->line = line;
}

void kvgpu_intr_rearm(struct kvgpu_trap *t)
{
	if (t->line)
		t->edge = true;
}

void kvgpu_intr_source(struct kvgpu_trap *t, unsigned int bit, bool on)
{
	u32 src = on ? t->intr_src | 1u << bit : t->intr_src & ~(1u << bit);

	if (src == t->intr_src)
		return;
	t->intr_src = src;
	kvgpu_intr_update(t);
}

void kvgpu_intr_source_nrhost(struct kvgpu_trap *t, unsigned int bit, bool on)
{
	u32 src = on ? t->intr_nrhost | 1u << bit : t->intr_nrhost & ~(1u << bit);

	if (src == t->intr_nrhost)
		return;
	t->intr_nrhost = src;
	kvgpu_intr_update(t);
}

bool kvgpu_trap_irq(struct kvgpu_trap *t, bool *edge)
{
	*edge = t->edge;
	t->edge = false;
	return t->line;
}
