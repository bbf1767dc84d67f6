// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interrupts towards the client: one eventfd per index that has been set up. INTx is a level, which
 * a vfio client sees as an event that masks itself when it fires. MSI is an event per message; a
 * message is a write by the function, so it needs bus mastering.
 */
#include <errno.h>
#include <unistd.h>

#include "internal.h"

#define DATA_FLAGS   VFIO_IRQ_SET_DATA_TYPE_MASK
#define ACTION_FLAGS VFIO_IRQ_SET_ACTION_TYPE_MASK

void irq_init(struct irq_state *irq)
{
	unsigned int i;

	for (i = 0; i < NR_IRQS; i++)
		irq->fd[i] = -1;
	irq->level = false;
	irq->masked = false;
}

unsigned int irq_count(unsigned int index)
{
	switch (index) {
	case VFIO_PCI_INTX_IRQ_INDEX:
	case VFIO_PCI_MSI_IRQ_INDEX:
	case VFIO_PCI_ERR_IRQ_INDEX:
		/* never fires; without this index QEMU warns that it can't recover from errors */
	case VFIO_PCI_REQ_IRQ_INDEX: /* never fires */
		return 1;
	default:
		return 0;
	}
}

uint32_t irq_flags(unsigned int index)
{
	if (!irq_count(index))
		return 0;
	if (index == VFIO_PCI_INTX_IRQ_INDEX)
		return VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_MASKABLE | VFIO_IRQ_INFO_AUTOMASKED;
	return VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	/* when the counter is full, the client has an event to read anyway */
	if (fd >= 0 && write(fd, &one, sizeof(one)) != sizeof(one))
		return;
}

void irq_update_intx(struct vfio_server *s)
{
	struct irq_state *irq = &s->irq;
	int fd = irq->fd[VFIO_PCI_INTX_IRQ_INDEX];

	if (!irq->level || irq->masked || fd < 0 || !pci_intx_enabled(s->g))
		return;
	irq->masked = true;
	signal_fd(fd);
}

void irq_output(void *bus, bool level, bool edge)
{
	struct vfio_server *s = bus;

	if (!s->g) /* the server does not run yet */
		return;
	if (s->irq.level != level) {
		s->irq.level = level;
		pci_show_intx(s->g, level);
	}
	if (s->irq.fd[VFIO_PCI_MSI_IRQ_INDEX] < 0) {
		irq_update_intx(s);
	} else if (edge && pci_bus_master(s->g)) {
		signal_fd(s->irq.fd[VFIO_PCI_MSI_IRQ_INDEX]);
	}
}

static void irq_replace_fd(struct irq_state *irq, unsigned int index, int fd)
{
	if (irq->fd[index] >= 0)
		close(irq->fd[index]);
	irq->fd[index] = fd;
}

static bool one_bit(uint32_t v)
{
	return v && !(v & (v - 1));
}

static int irq_check(const struct vfio_irq_set *set, size_t data_len, unsigned int nr_fds)
{
	uint32_t data = set->flags & DATA_FLAGS, action = set->flags & ACTION_FLAGS;
	bool disable = !set->count && !set->start && data == VFIO_IRQ_SET_DATA_NONE &&
		       action == VFIO_IRQ_SET_ACTION_TRIGGER;

	if (set->argsz < sizeof(*set) || set->flags & ~(DATA_FLAGS | ACTION_FLAGS) ||
	    !one_bit(data) || !one_bit(action))
		return -EINVAL;
	if (set->index >= NR_IRQS)
		return -EINVAL;
	if (!disable && (!set->count || set->start >= irq_count(set->index) ||
			 set->count > irq_count(set->index) - set->start))
		return -EINVAL;
	if (data == VFIO_IRQ_SET_DATA_EVENTFD ? nr_fds && nr_fds != set->count : nr_fds)
		return -EINVAL;
	if (data == VFIO_IRQ_SET_DATA_BOOL && data_len < set->count)
		return -EINVAL;
	if (action != VFIO_IRQ_SET_ACTION_TRIGGER && set->index != VFIO_PCI_INTX_IRQ_INDEX)
		return -EINVAL;
	if (action != VFIO_IRQ_SET_ACTION_TRIGGER && data == VFIO_IRQ_SET_DATA_EVENTFD)
		return -EOPNOTSUPP;
	return 0;
}

/* Lock held. */
static void irq_trigger(struct vfio_server *s, const struct vfio_irq_set *set, bool wanted,
			int *fds, unsigned int nr_fds)
{
	struct irq_state *irq = &s->irq;

	if (set->flags & VFIO_IRQ_SET_DATA_EVENTFD || !set->count) {
		irq_replace_fd(irq, set->index, nr_fds ? fds[0] : -1);
		if (nr_fds)
			fds[0] = -1;
		if (set->index == VFIO_PCI_INTX_IRQ_INDEX)
			irq->masked = false;
		irq_update_intx(s);
	} else if (wanted) {
		signal_fd(irq->fd[set->index]); /* the client tests its own handler */
	}
}

int irq_set(struct vfio_server *s, const struct vfio_irq_set *set, const uint8_t *data,
	    size_t data_len, int *fds, unsigned int nr_fds)
{
	int ret = irq_check(set, data_len, nr_fds);
	bool wanted;

	if (ret)
		return ret;
	wanted = !(set->flags & VFIO_IRQ_SET_DATA_BOOL) || data[0];
	pthread_mutex_lock(&s->g->lock);
	switch (set->flags & ACTION_FLAGS) {
	case VFIO_IRQ_SET_ACTION_MASK:
		s->irq.masked |= wanted;
		break;
	case VFIO_IRQ_SET_ACTION_UNMASK:
		s->irq.masked &= !wanted;
		irq_update_intx(s);
		break;
	default:
		irq_trigger(s, set, wanted, fds, nr_fds);
	}
	pthread_mutex_unlock(&s->g->lock);
	return 0;
}

void irq_disable_all(struct vfio_server *s)
{
	unsigned int i;

	pthread_mutex_lock(&s->g->lock);
	for (i = 0; i < NR_IRQS; i++)
		irq_replace_fd(&s->irq, i, -1);
	s->irq.masked = false;
	pthread_mutex_unlock(&s->g->lock);
}
