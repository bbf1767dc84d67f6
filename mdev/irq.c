// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets up the eventfds by which a vGPU's interrupts reach its VMM; signal.c signals MSI and INTx.
 * MSI is a message: it is signalled when the virtual interrupt has had an edge
 * (kvgpu_machine_irq_get()). INTx is a level: vgpu_intx_signal() masks INTx when it signals INTx.
 * The VMM unmasks INTx by an ioctl, or KVM does by a second eventfd, the unmask eventfd. REQ is the
 * eventfd that asks the VMM to close the device.
 *
 * irq_lock protects the state of INTx and the change of eventfd contexts. No eventfd is signalled
 * under irq_lock, because a signal calls the waiters of the eventfd. An unmask handler may be such
 * a waiter, and takes irq_lock. A thread that signals an eventfd keeps the context alive in one of
 * two ways: it is inside rcu_read_lock(); or, in replace_trigger(), it holds vgpu->lock, without
 * which no context is replaced.
 *
 * vgpu->lock is held in all functions here, except vgpu_irq_info(), unmask_handler(),
 * vgpu_irq_request() and trigger_fire(), which do not need it.
 */
#include <linux/bitops.h>
#include <linux/rcupdate.h>

#include "mdev/compat.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"

int vgpu_irq_info(struct vfio_irq_info *info)
{
	info->flags = VFIO_IRQ_INFO_EVENTFD;
	info->count = 1;
	switch (info->index) {
	case VFIO_PCI_INTX_IRQ_INDEX:
		info->flags |= VFIO_IRQ_INFO_MASKABLE | VFIO_IRQ_INFO_AUTOMASKED;
		return 0;
	case VFIO_PCI_MSI_IRQ_INDEX:
	case VFIO_PCI_REQ_IRQ_INDEX:
		info->flags |= VFIO_IRQ_INFO_NORESIZE;
		return 0;
	case VFIO_PCI_MSIX_IRQ_INDEX:
		info->flags |= VFIO_IRQ_INFO_NORESIZE;
		info->count = 0;
		return 0;
	default:
		/* VFIO_PCI_ERR_IRQ_INDEX, too: QEMU would complain about a count of 0 */
		return -EINVAL;
	}
}

/* ------------------------------------------------------------------ mask and unmask INTx */

/*
 * Runs inside the wake-up of the unmask eventfd, with interrupts off, or in vfio_virqfd_enable() if
 * that eventfd is signalled already. If INTx has to be signalled again, the vGPU's work item does
 * so (machine/event.c), because the kernel refuses to signal an eventfd inside the wake-up of an
 * eventfd. The work item has a budget of CPU time.
 */
static int unmask_handler(void *opaque, void *unused)
{
	struct kvgpu_vgpu *v = opaque;
	unsigned long flags;
	bool again;

	spin_lock_irqsave(&v->irq_lock, flags);
	v->intx_masked = false;
	again = v->intx_pending;
	spin_unlock_irqrestore(&v->irq_lock, flags);
	if (again)
		kvgpu_machine_irq_signal(v);
	return 0;
}

static void intx_set_masked(struct kvgpu_vgpu *v, bool masked)
{
	unsigned long flags;

	spin_lock_irqsave(&v->irq_lock, flags);
	v->intx_masked = masked;
	spin_unlock_irqrestore(&v->irq_lock, flags);
	vgpu_intx_signal(v);
}

static int set_unmask_eventfd(struct kvgpu_vgpu *v, s32 fd)
{
	if (fd >= 0)
		return vfio_virqfd_enable(v, unmask_handler, NULL, NULL, &v->intx_unmask, fd);
	if (fd != -1)
		return -EINVAL;
	vfio_virqfd_disable(&v->intx_unmask);
	return 0;
}

static int set_intx_mask(struct kvgpu_vgpu *v, const struct vfio_irq_set *hdr, const void *data)
{
	bool unmask = hdr->flags & VFIO_IRQ_SET_ACTION_UNMASK;

	if (hdr->index != VFIO_PCI_INTX_IRQ_INDEX || hdr->count != 1)
		return -EINVAL;
	switch (hdr->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) {
	case VFIO_IRQ_SET_DATA_BOOL:
		if (!*(const u8 *)data)
			return 0;
		fallthrough;
	case VFIO_IRQ_SET_DATA_NONE:
		intx_set_masked(v, !unmask);
		return 0;
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return unmask ? set_unmask_eventfd(v, *(const s32 *)data) : -ENOTTY;
	default:
		return -EINVAL;
	}
}

/* --------------- set, replace and signal the eventfds of the interrupts (in VFIO: the triggers) */

static struct eventfd_ctx __rcu **trigger_of(struct kvgpu_vgpu *v, u32 index)
{
	switch (index) {
	case VFIO_PCI_INTX_IRQ_INDEX:
		return &v->intx;
	case VFIO_PCI_MSI_IRQ_INDEX:
		return &v->msi;
	case VFIO_PCI_REQ_IRQ_INDEX:
		return &v->req;
	default:
		return NULL;
	}
}

/*
 * Replaces the eventfd of an interrupt by @ctx, which may be NULL. Takes over the caller's
 * reference to @ctx.
 */
static void replace_trigger(struct kvgpu_vgpu *v, u32 index, struct eventfd_ctx *ctx)
{
	struct eventfd_ctx __rcu **slot = trigger_of(v, index);
	struct eventfd_ctx *old;
	unsigned long flags;

	if (index == VFIO_PCI_INTX_IRQ_INDEX && !ctx)
		vfio_virqfd_disable(&v->intx_unmask);
	spin_lock_irqsave(&v->irq_lock, flags);
	old = rcu_replace_pointer(*slot, ctx, lockdep_is_held(&v->irq_lock));
	if (index == VFIO_PCI_INTX_IRQ_INDEX)
		v->intx_masked = false;
	spin_unlock_irqrestore(&v->irq_lock, flags);
	/*
	 * An edge that came before MSI had an eventfd was lost. So signal a new eventfd of MSI if
	 * the line is up: an interrupt too many is harmless.
	 */
	if (ctx && kvgpu_machine_irq_get(v, NULL) && index == VFIO_PCI_MSI_IRQ_INDEX)
		vgpu_eventfd_signal(v, ctx, true);
	vgpu_intx_signal(v);
	if (old) {
		synchronize_rcu();
		eventfd_ctx_put(old);
	}
}

static int set_trigger_eventfd(struct kvgpu_vgpu *v, u32 index, s32 fd)
{
	struct eventfd_ctx *ctx = NULL;

	if (fd < -1)
		return -EINVAL;
	if (fd >= 0) {
		ctx = eventfd_ctx_fdget(fd);
		if (IS_ERR(ctx))
			return PTR_ERR(ctx);
	}
	replace_trigger(v, index, ctx);
	return 0;
}

/*
 * Signals the eventfd of an interrupt, even if the interrupt is masked or not pending. Returns
 * false if the interrupt has no eventfd.
 */
static bool trigger_fire(struct kvgpu_vgpu *v, u32 index)
{
	struct eventfd_ctx *ctx;

	rcu_read_lock();
	ctx = rcu_dereference(*trigger_of(v, index));
	if (ctx)
		vgpu_compat_eventfd_signal(ctx);
	rcu_read_unlock();
	return ctx;
}

static int set_trigger(struct kvgpu_vgpu *v, const struct vfio_irq_set *hdr, const void *data)
{
	u32 type = hdr->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;

	if (!trigger_of(v, hdr->index))
		return -EINVAL;
	if (!hdr->count) {
		if (type != VFIO_IRQ_SET_DATA_NONE)
			return -EINVAL;
		replace_trigger(v, hdr->index, NULL);
		return 0;
	}
	switch (type) {
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return set_trigger_eventfd(v, hdr->index, *(const s32 *)data);
	case VFIO_IRQ_SET_DATA_BOOL:
		if (!*(const u8 *)data)
			return 0;
		fallthrough;
	case VFIO_IRQ_SET_DATA_NONE:
		/* signal the interrupt, for tests */
		trigger_fire(v, hdr->index);
		return 0;
	default:
		return -EINVAL;
	}
}

/*
 * Serves VFIO_DEVICE_SET_IRQS. The caller has checked the index, start, count and size of @hdr
 * against vgpu_irq_info(), so hdr->count is 0 or 1.
 */
int vgpu_irq_set(struct kvgpu_vgpu *v, const struct vfio_irq_set *hdr, const void *data)
{
	lockdep_assert_held(&v->lock);
	if (hweight32(hdr->flags & VFIO_IRQ_SET_DATA_TYPE_MASK) != 1 ||
	    hweight32(hdr->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != 1)
		return -EINVAL;
	switch (hdr->flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) {
	case VFIO_IRQ_SET_ACTION_MASK:
	case VFIO_IRQ_SET_ACTION_UNMASK:
		return set_intx_mask(v, hdr, data);
	case VFIO_IRQ_SET_ACTION_TRIGGER:
		return set_trigger(v, hdr, data);
	default:
		return -EINVAL;
	}
}

/*
 * Asks the VMM, by the eventfd REQ, to close the device. The vfio core calls this again and again
 * while the device is to be removed. @count: number of earlier calls.
 */
void vgpu_irq_request(struct kvgpu_vgpu *v, unsigned int count)
{
	bool asked = trigger_fire(v, VFIO_PCI_REQ_IRQ_INDEX);

	if (!asked && !count)
		dev_notice(
			v->vdev.dev,
			"the device is to be removed and its user can't be asked: waiting until it is closed\n");
	else if (asked && !(count % 10))
		dev_notice(v->vdev.dev, "the device is to be removed: asked its user to let go\n");
}

void vgpu_irq_close(struct kvgpu_vgpu *v)
{
	lockdep_assert_held(&v->lock);
	replace_trigger(v, VFIO_PCI_INTX_IRQ_INDEX, NULL);
	replace_trigger(v, VFIO_PCI_MSI_IRQ_INDEX, NULL);
	replace_trigger(v, VFIO_PCI_REQ_IRQ_INDEX, NULL);
}
