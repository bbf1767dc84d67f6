// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of the VFIO face into the register file: the virtual interrupt, and words of the
 * configuration space, which BAR0 shows too.
 */
#include "mdev/machine/internal.h"

bool vgpu_machine_irq(struct kvgpu_vgpu *v, bool *edge)
{
	lockdep_assert_held(&v->lock);
	return edge ? kvgpu_trap_irq(&v->m->trap, edge) : v->m->trap.line;
}

void vgpu_machine_config(struct kvgpu_vgpu *v, u32 off, u32 val)
{
	lockdep_assert_held(&v->lock);
	kvgpu_trap_config(&v->m->trap, off, val);
}
