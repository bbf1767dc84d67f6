// SPDX-License-Identifier: GPL-2.0-only
/*
 * iommufd's side of a mediated device, after drivers/iommu/iommufd (device.c, io_pagetable.c) and
 * drivers/vfio (iommufd.c, main.c): what a driver is asked, when, and with which locks held.
 * A device is bound before it is opened, and unbound after it was closed. In between it is attached
 * to an IOAS and detached from it at any time. A detach forbids new pins, then asks the driver to
 * unpin everything, [0, ULONG_MAX). The unbind detaches a device that is still attached, after
 * .close_device.
 * An unmap takes one mapping after the other. If a mapping has pins, it forbids new ones, asks all
 * devices that are attached to unpin the mapping, and looks again, TRIES_MAX times at most. The
 * number of looks begins anew at a mapping that does not begin where the last one ended, and only
 * there. Pages are unpinned in the same pieces as they were pinned.
 */
#include "selftests/module/harness/chip/chip.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"

#define TRIES_MAX 100
/* a destroy of an access waits so long for its calls (iommufd_object_dec_wait_shortterm()) */
#define DESTROY_NS (60 * NSEC_PER_SEC)

void (*ioas_asks)(void);

struct piece {
	struct list_head node;
	u64 iova;
	int nr;
};

struct iommufd_access {
	struct vfio_device *v;
	struct container *ictx, *ioas, *ioas_unpin;
	struct mutex ioas_lock;
	struct list_head pieces; /* what is pinned, as it was pinned */
	u32 calls; /* ioas_unmap()'s calls of .dma_unmap that go on: unbind waits for them */
};

/* ------------------------------------------------------------------ what a driver calls */

int iommufd_pin(struct iommufd_access *a, u64 iova, int npage, struct page **pages)
{
	struct piece *p;
	int ret = -ENOENT;

	mutex_lock(&a->ioas_lock);
	if (a->ioas)
		ret = container_pin_pages(a->ioas, iova, npage, pages) < 0 ? -EINVAL : npage;
	if (ret >= 0) {
		p = calloc(1, sizeof(*p));
		p->iova = iova;
		p->nr = npage;
		list_add(&p->node, &a->pieces);
	}
	mutex_unlock(&a->ioas_lock);
	return ret;
}

void iommufd_unpin(struct iommufd_access *a, u64 iova, int npage)
{
	struct piece *p;

	mutex_lock(&a->ioas_lock);
	FAIL_ON(!a->ioas_unpin, "S2: 0x%llx is unpinned by a device that is not attached", iova);
	list_for_each_entry(p, &a->pieces, node)
		if (p->iova == iova && p->nr == npage)
			break;
	FAIL_ON(&p->node == &a->pieces,
		"S2: %d pages at 0x%llx are unpinned, and were not pinned in one piece", npage,
		iova);
	list_del(&p->node);
	free(p);
	container_unpin_pages(a->ioas_unpin, iova, npage);
	mutex_unlock(&a->ioas_lock);
}

int iommufd_rw(struct iommufd_access *a, u64 iova, void *data, size_t len, bool write)
{
	int ret = -ENOENT;

	mutex_lock(&a->ioas_lock);
	if (a->ioas)
		ret = container_rw(a->ioas, iova, data, len, write);
	mutex_unlock(&a->ioas_lock);
	return ret;
}

/* ------------------------------------------------------------------ what the core calls */

static void change_ioas(struct iommufd_access *a, struct container *to)
{
	struct container *was = a->ioas;

	FAIL_ON(was != a->ioas_unpin, "two threads attach a device");
	a->ioas = NULL;
	if (to)
		list_add_tail(&a->v->iommu_entry, &to->devices);
	if (was) {
		mutex_unlock(&a->ioas_lock);
		a->v->ops->dma_unmap(a->v, 0, ULONG_MAX);
		mutex_lock(&a->ioas_lock);
		list_del(&a->v->iommu_entry);
		FAIL_ON(!list_empty(&a->pieces),
			"S2: a device was asked for everything and has pages pinned");
	}
	a->ioas = a->ioas_unpin = to;
	a->v->container = to;
}

int vfio_iommufd_emulated_bind(struct vfio_device *v, struct iommufd_ctx *ictx, u32 *out_device_id)
{
	struct iommufd_access *a = calloc(1, sizeof(*a));

	a->v = v;
	a->ictx = (struct container *)ictx;
	mutex_init(&a->ioas_lock);
	INIT_LIST_HEAD(&a->pieces);
	v->iommufd_access = a;
	*out_device_id = 1;
	return 0;
}

void vfio_iommufd_emulated_unbind(struct vfio_device *v)
{
	struct iommufd_access *a = v->iommufd_access;
	u64 until = harness_now + DESTROY_NS;

	while (a->calls && harness_now < until)
		harness_wait(a, until);
	FAIL_ON(a->calls, "S6: WARN_ON(ret) of iommufd_object_destroy_user()");
	vfio_iommufd_emulated_detach_ioas(v);
	v->iommufd_access = NULL;
	free(a);
}

int vfio_iommufd_emulated_attach_ioas(struct vfio_device *v, u32 *pt_id)
{
	struct iommufd_access *a = v->iommufd_access;
	int ret = -EBUSY;

	mutex_lock(&a->ioas_lock);
	if (!a->ioas) {
		change_ioas(a, a->ictx);
		ret = 0;
	}
	mutex_unlock(&a->ioas_lock);
	return ret;
}

void vfio_iommufd_emulated_detach_ioas(struct vfio_device *v)
{
	struct iommufd_access *a = v->iommufd_access;

	mutex_lock(&a->ioas_lock);
	if (a->ioas)
		change_ioas(a, NULL);
	mutex_unlock(&a->ioas_lock);
}

int ioas_attach(struct vfio_device *v)
{
	u32 id = 1;

	return v->ops->attach_ioas(v, &id);
}

void ioas_detach(struct vfio_device *v)
{
	v->ops->detach_ioas(v);
	task_returns();
}

/* Ask each device that is attached now, whatever is attached or detached meanwhile. */
static void notify(struct container *c, u64 iova, u64 size)
{
	struct iommufd_access *asked[16];
	struct vfio_device *v;
	u32 nr = 0, i;

	list_for_each_entry(v, &c->devices, iommu_entry) {
		asked[nr++] = v->iommufd_access;
		v->iommufd_access->calls++;
	}
	for (i = 0; i < nr; i++) {
		v = asked[i]->v;
		if (ioas_asks)
			ioas_asks();
		v->ops->dma_unmap(v, iova, size);
		asked[i]->calls--;
		harness_wake(asked[i]);
	}
}

int ioas_unmap(struct container *c, u64 iova, u64 size)
{
	u64 start = iova, last = iova + size - 1;
	struct mapping *m;
	u32 tries = 0;
	int ret = -ENOENT;

	mutex_lock(&c->lock);
	while ((m = container_find(c, start, last))) {
		if (m->iova < start || m->iova + m->size - 1 > last) {
			ret = -ENOENT;
			break;
		}
		if (m->iova != start)
			tries = 0;
		if (m->pins) {
			start = m->iova;
			m->prevent_access = true;
			mutex_unlock(&c->lock);
			notify(c, m->iova, m->size);
			FAIL_ON(++tries > TRIES_MAX,
				"S6: WARN_ON(tries > 100) of iopt_unmap_iova_range()");
			mutex_lock(&c->lock);
			continue;
		}
		m->used = false;
		ret = 0;
		if (m->iova + m->size - 1 >= last)
			break;
		/* what "iommufd: Fix a race with concurrent allocation and unmap" has added */
		start = m->iova + m->size;
	}
	mutex_unlock(&c->lock);
	task_returns();
	return ret;
}
