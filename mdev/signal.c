// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals a vGPU's MSI and INTx interrupts to the VMM, by the eventfds that irq.c has set up. No
 * eventfd is signalled under irq_lock, because a signal calls the eventfd's waiters. A waiter may
 * be the handler by which KVM unmasks INTx (irq.c), which takes irq_lock.
 *
 * The threads that run these functions hold vgpu->lock: the VMM's, and the vGPU's work item
 * (machine/event.c). For an eventfd that is read here, rcu_read_lock() keeps the context alive
 * while it is signalled. For an eventfd that irq.c passes to vgpu_eventfd_signal(), vgpu->lock
 * does.
 */
#include <linux/rcupdate.h>

#include "gk110/pci.h"
#include "mdev/compat.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"
#include "mdev/trace.h"

/*
 * If INTx has to be signalled now, masks INTx and returns the context of its eventfd; else returns
 * NULL. Call with irq_lock held.
 */
static struct eventfd_ctx *intx_due(struct kvgpu_vgpu *v)
{
	struct eventfd_ctx *ctx = rcu_dereference_protected(v->intx, lockdep_is_held(&v->irq_lock));

	if (!ctx || rcu_access_pointer(v->msi) || v->intx_masked || !v->intx_pending)
		return NULL;
	v->intx_masked = true;
	return ctx;
}

void vgpu_eventfd_signal(struct kvgpu_vgpu *v, struct eventfd_ctx *ctx, bool msi)
{
	if (!ctx)
		return;
	atomic64_inc(&v->count.irqs);
	trace_kvgpu_irq(v->id, msi);
	vgpu_compat_eventfd_signal(ctx);
}

void vgpu_intx_signal(struct kvgpu_vgpu *v)
{
	struct eventfd_ctx *ctx;
	unsigned long flags;

	rcu_read_lock();
	spin_lock_irqsave(&v->irq_lock, flags);
	ctx = intx_due(v);
	spin_unlock_irqrestore(&v->irq_lock, flags);
	vgpu_eventfd_signal(v, ctx, false);
	rcu_read_unlock();
}

void kvgpu_mdev_irq_update(struct kvgpu_vgpu *v)
{
	u32 word = vgpu_config_word(v, GK110_PCI_CMD_STA);
	u32 status = word & ~GK110_PCI_STA_INTERRUPT;
	unsigned long flags;
	bool line, edge;

	lockdep_assert_held(&v->lock);
	line = kvgpu_machine_irq_get(v, &edge);
	if (line)
		status |= GK110_PCI_STA_INTERRUPT;
	if (status != word)
		vgpu_config_set_word(v, GK110_PCI_CMD_STA, status);
	spin_lock_irqsave(&v->irq_lock, flags);
	v->intx_pending = line && !(status & GK110_PCI_CMD_INTX_DISABLE);
	spin_unlock_irqrestore(&v->irq_lock, flags);
	rcu_read_lock();
	if (edge)
		vgpu_eventfd_signal(v, rcu_dereference(v->msi), true);
	rcu_read_unlock();
	vgpu_intx_signal(v);
}
