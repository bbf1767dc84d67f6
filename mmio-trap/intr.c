// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt tree that the guest sees in PMC. A source is a bit of PMC_INTR. In each leaf a mask
 * selects sources (PMC_INTR_MASK), and an enable bit lets the leaf's output through (PMC_INTR_EN).
 * Leaf 0 (host) and leaf 1 (non-redirectable host) make the interrupt line of the vGPU's PCI
 * function. nouveau disables the outputs, re-arms MSI, handles the sources and enables the outputs
 * again. If a source is raised at that time, the line rises. So the vGPU sends an MSI message when
 * the line rises. A re-arm while the line is up sends a message, too, because the line can't rise
 * for the raised source any more.
 */
#include <gk110/pmc.h>

#include "internal.h"

u32 vtrap_intr_leaf_get(const struct kvgpu_trap *t, unsigned int leaf)
{
	u32 src = leaf == PMC_LEAF_HOST	  ? t->intr_src :
		  leaf == PMC_LEAF_NRHOST ? t->intr_nrhost :
					    0;

	return src & vtrap_reg_get(t, PMC_INTR_MASK(leaf));
}

bool vtrap_intr_output_high(const struct kvgpu_trap *t, unsigned int leaf)
{
	return (vtrap_reg_get(t, PMC_INTR_EN(leaf)) & PMC_INTR_EN_HARDWARE) &&
	       vtrap_intr_leaf_get(t, leaf);
}

void vtrap_intr_update(struct kvgpu_trap *t)
{
	bool line = vtrap_intr_output_high(t, PMC_LEAF_HOST) ||
		    vtrap_intr_output_high(t, PMC_LEAF_NRHOST);

	if (line && !t->line)
		t->edge = true;
	t->line = line;
}

void vtrap_intr_rearm(struct kvgpu_trap *t)
{
	if (t->line)
		t->edge = true;
}

void vtrap_intr_host_set(struct kvgpu_trap *t, unsigned int bit, bool on)
{
	u32 src = on ? t->intr_src | 1u << bit : t->intr_src & ~(1u << bit);

	if (src == t->intr_src)
		return;
	t->intr_src = src;
	vtrap_intr_update(t);
}

void vtrap_intr_nrhost_set(struct kvgpu_trap *t, unsigned int bit, bool on)
{
	u32 src = on ? t->intr_nrhost | 1u << bit : t->intr_nrhost & ~(1u << bit);

	if (src == t->intr_nrhost)
		return;
	t->intr_nrhost = src;
	vtrap_intr_update(t);
}

bool kvgpu_trap_irq_take(struct kvgpu_trap *t, bool *edge)
{
	*edge = t->edge;
	t->edge = false;
	return t->line;
}
