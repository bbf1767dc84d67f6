// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts of a vGPU to its VMM, by eventfd: MSI (one message for each edge of the virtual interrupt), INTx (a level,
 * masked by itself when it is told and told again at unmask if it is still up; KVM unmasks by an eventfd of its own), and
 * REQ, which asks the VMM to let go of the device.
 *
 * irq_lock guards the eventfd contexts and the state of INTx. The handler of the unmask eventfd runs inside a wake-up and
 * must not signal an eventfd itself: its thread half does.
 */
#include <linux/bitops.h>

#include "gk110/pci.h"
#include "mdev/compat.h"
#include "mdev/trace.h"
#include "mdev/vgpu.h"

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
		return -EINVAL;		/* ERR among them: with count 0 QEMU would complain */
	}
}

/* irq_lock held */
static void signal_intx(struct kvgpu_vgpu *v)
{
	if (!v->intx || v->msi || v->intx_masked || !v->intx_pending)
		return;
	v->intx_masked = true;
	atomic64_inc(&v->count.irqs);
	trace_kvgpu_irq(v->id, false);
	compat_eventfd_signal(v->intx);
}

static void signal_msi(struct kvgpu_vgpu *v)
{
	atomic64_inc(&v->count.irqs);
	trace_kvgpu_irq(v->id, true);
	compat_eventfd_signal(v->msi);
}

void vgpu_irq_update(struct kvgpu_vgpu *v)
{
	u32 word = vgpu_config_word(v, GK110_PCI_CMD_STA);
	u32 status = word & ~GK110_PCI_STA_INTERRUPT;
	unsigned long flags;
	bool line, edge;

	lockdep_assert_held(&v->lock);
	line = kvgpu_trap_irq(&v->trap, &edge);
	if (line)
		status |= GK110_PCI_STA_INTERRUPT;
	if (status != word)
		vgpu_config_set_word(v, GK110_PCI_CMD_STA, status);
	spin_lock_irqsave(&v->irq_lock, flags);
	v->intx_pending = line && !(status & GK110_PCI_CMD_INTX_DISABLE);
	if (v->msi && edge)
		signal_msi(v);
	signal_intx(v);
	spin_unlock_irqrestore(&v->irq_lock, flags);
}

/* ------------------------------------------------------------------ mask and unmask of INTx */

/* in a wake-up, interrupts off. Nonzero: run the thread half */
static int unmask_handler(void *opaque, void *unused)
{
	struct kvgpu_vgpu *v = opaque;
	unsigned long flags;
	bool again;

	spin_lock_irqsave(&v->irq_lock, flags);
	v->intx_masked = false;
	again = v->intx_pending;
	spin_unlock_irqrestore(&v->irq_lock, flags);
	return again;
}

static void unmask_thread(void *opaque, void *unused)
{
	struct kvgpu_vgpu *v = opaque;
	unsigned long flags;

	spin_lock_irqsave(&v->irq_lock, flags);
	signal_intx(v);
	spin_unlock_irqrestore(&v->irq_lock, flags);
}

static void set_masked(struct kvgpu_vgpu *v, bool masked)
{
	unsigned long flags;

	spin_lock_irqsave(&v->irq_lock, flags);
	v->intx_masked = masked;
	signal_intx(v);
	spin_unlock_irqrestore(&v->irq_lock, flags);
}

static int set_unmask_eventfd(struct kvgpu_vgpu *v, s32 fd)
{
	if (fd >= 0)
		return vfio_virqfd_enable(v, unmask_handler, unmask_thread, NULL, &v->intx_unmask, fd);
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
		set_masked(v, !unmask);
		return 0;
	case VFIO_IRQ_SET_DATA_EVENTFD:
		return unmask ? set_unmask_eventfd(v, *(const s32 *)data) : -ENOTTY;
	default:
		return -EINVAL;
	}
}

/* ------------------------------------------------------------------ triggers */

static struct eventfd_ctx **trigger_of(struct kvgpu_vgpu *v, u32 index)
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

/* takes over the reference of @ctx, which may be NULL */
static void replace_trigger(struct kvgpu_vgpu *v, u32 index, struct eventfd_ctx *ctx)
{
	struct eventfd_ctx **slot = trigger_of(v, index), *old;
	unsigned long flags;
	bool up;

	if (index == VFIO_PCI_INTX_IRQ_INDEX && !ctx)
		vfio_virqfd_disable(&v->intx_unmask);
	spin_lock_irqsave(&v->irq_lock, flags);
	old = *slot;
	*slot = ctx;
	if (index == VFIO_PCI_INTX_IRQ_INDEX)
		v->intx_masked = false;
	/* what rose while nobody listened would be lost; one interrupt too many is harmless */
	up = v->trap.line && ctx;
	if (up && index == VFIO_PCI_MSI_IRQ_INDEX)
		signal_msi(v);
	signal_intx(v);
	spin_unlock_irqrestore(&v->irq_lock, flags);
	if (old)
		eventfd_ctx_put(old);
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

/* tests of VMMs fire an interrupt by hand */
static void fire(struct kvgpu_vgpu *v, u32 index)
{
	unsigned long flags;
	struct eventfd_ctx *ctx;

	spin_lock_irqsave(&v->irq_lock, flags);
	ctx = *trigger_of(v, index);
	if (ctx)
		compat_eventfd_signal(ctx);
	spin_unlock_irqrestore(&v->irq_lock, flags);
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
		fire(v, hdr->index);
		return 0;
	default:
		return -EINVAL;
	}
}

/* @hdr's index, start, count and sizes were checked against vgpu_irq_info(): count is 0 or 1 */
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

/* the core asks again every 10 s; @count is how often it has */
void vgpu_irq_request(struct kvgpu_vgpu *v, unsigned int count)
{
	unsigned long flags;
	bool asked;

	spin_lock_irqsave(&v->irq_lock, flags);
	asked = v->req;
	if (asked)
		compat_eventfd_signal(v->req);
	spin_unlock_irqrestore(&v->irq_lock, flags);
	if (!asked && !count)
		dev_notice(v->vdev.dev, "the device is to be removed and its user can't be asked: waiting until it is closed\n");
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
