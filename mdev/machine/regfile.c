// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of the VFIO face (the files in mdev/ itself) into a vGPU's register file (mmio-trap/): the
 * level and edge of the guest's interrupt, and words of the configuration space.
 */
#include "mdev/machine/internal.h"

bool kvgpu_machine_irq_changed(struct kvgpu_vgpu *v)
{
	lockdep_assert_held(&v->lock);
	return v->m->event.irq_changed;
}

bool kvgpu_machine_irq_get(struct kvgpu_vgpu *v, bool *edge)
{
	lockdep_assert_held(&v->lock);
	if (edge)
		v->m->event.irq_changed = false;
	return edge ? kvgpu_trap_irq_take(&v->m->trap, edge) : v->m->trap.line;
}

void kvgpu_machine_config_set(struct kvgpu_vgpu *v, u32 off, u32 val)
{
	lockdep_assert_held(&v->lock);
	kvgpu_trap_config_set(&v->m->trap, off, val);
}
