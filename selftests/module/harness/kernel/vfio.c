// SPDX-License-Identifier: GPL-2.0-only
/*
 * VFIO's group, container and mdev sides. The container follows drivers/vfio/vfio_iommu_type1.c,
 * with iommu->lock and device_list_lock and their order. An unmap asks all devices of the container
 * to unpin each mapping that has pins. It drops iommu->lock while it asks, then looks at the
 * mapping again. When a mapping has pins after it was asked for eleven times, the kernel hits a
 * BUG_ON(). vfio_dma_rw() accesses the VMM's memory with iommu->lock held.
 */
#include "selftests/module/harness/chip/chip.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/oracle.h"
#include "selftests/module/harness/task.h"

#define ROUNDS_MAX 10
#define CONTAINERS 16

static struct container containers[CONTAINERS];
u32 container_most_rounds;
void (*container_answer)(void);

/* ------------------------------------------------------------------ containers */

struct container *container_new(void)
{
	struct container *c = containers;

	while (c->nr)
		if (++c == containers + CONTAINERS)
			abort();
	memset(c, 0, sizeof(*c));
	c->nr = c - containers + 1;
	c->mm = mm_new();
	c->maps_end = c->map;
	c->ram = calloc(RAM_PAGES, PAGE_SIZE);
	c->pins = calloc(RAM_PAGES, sizeof(*c->pins));
	mutex_init(&c->lock);
	mutex_init(&c->device_list_lock);
	INIT_LIST_HEAD(&c->devices);
	return c;
}

u32 container_pins(const struct container *c)
{
	u32 i, n = 0;

	for (i = 0; i < RAM_PAGES; i++)
		n += c->pins[i];
	return n;
}

void containers_end(void)
{
	struct container *c;

	for (c = containers; c < containers + CONTAINERS; c++) {
		if (!c->nr)
			continue;
		FAIL_ON(container_pins(c),
			"S2: %u pages are pinned in a container that has no device",
			container_pins(c));
		free(c->ram);
		free(c->pins);
		mm_free(c->mm);
		c->nr = 0;
	}
}

bool container_pinned(u64 pfn, const struct container *c)
{
	return c && pfn >> 20 == c->nr && c->pins[pfn & (RAM_PAGES - 1)];
}

u8 *container_page(u64 pfn)
{
	u64 nr = pfn >> 20;

	if (!nr || nr > CONTAINERS || !container_pinned(pfn, &containers[nr - 1]))
		return NULL;
	return containers[nr - 1].ram + ((pfn & (RAM_PAGES - 1)) << PAGE_SHIFT);
}

struct mapping *container_find(struct container *c, u64 first, u64 last)
{
	struct mapping *m, *best = NULL;

	for (m = c->map; m < c->maps_end; m++)
		if (m->used && first < m->iova + m->size && last >= m->iova &&
		    (!best || m->iova < best->iova))
			best = m;
	return best;
}

int container_map(struct container *c, u64 iova, u64 ram, u64 size)
{
	struct mapping *m = c->map;
	int ret = 0;

	mutex_lock(&c->lock);
	while (m < c->map + MAPPINGS_MAX && m->used)
		m++;
	if (container_find(c, iova, iova + size - 1)) {
		ret = -EEXIST;
	} else if (m == c->map + MAPPINGS_MAX) {
		ret = -ENOSPC;
	} else {
		*m = (struct mapping){ .used = true, .iova = iova, .size = size, .ram = ram };
		c->maps_end = max(c->maps_end, m + 1);
	}
	mutex_unlock(&c->lock);
	return ret;
}

/* Call with iommu->lock held. It is dropped while the devices are asked, then taken again. */
static void notify(struct container *c, u64 iova, u64 size)
{
	struct vfio_device *v;

	if (list_empty(&c->devices))
		return;
	mutex_lock(&c->device_list_lock);
	mutex_unlock(&c->lock);
	list_for_each_entry(v, &c->devices, iommu_entry)
		v->ops->dma_unmap(v, iova, size);
	mutex_unlock(&c->device_list_lock);
	mutex_lock(&c->lock);
}

u64 container_unmap(struct container *c, u64 iova, u64 size)
{
	struct mapping *m, *last = NULL;
	u64 done = 0;
	u32 rounds = 0;

	mutex_lock(&c->lock);
	while ((m = container_find(c, iova, iova + size - 1))) {
		if (m->iova < iova || m->iova + m->size > iova + size)
			break;
		if (!m->pins) {
			done += m->size;
			m->used = false;
			continue;
		}
		rounds = m == last ? rounds + 1 : 0;
		FAIL_ON(rounds > ROUNDS_MAX, "S6: BUG_ON(++retries > 10) of vfio_dma_do_unmap()");
		container_most_rounds = max(container_most_rounds, rounds);
		last = m;
		notify(c, m->iova, m->size);
		mutex_unlock(&c->lock);
		mutex_lock(&c->lock);
	}
	mutex_unlock(&c->lock);
	if (container_answer)
		container_answer();
	task_returns();
	return done;
}

/* As vfio_pin_page_external(): -ENOMEM for a page beyond the limit, and a line in the log. */
static bool beyond(const struct container *c)
{
	const struct mapping *m;
	u32 n = 0;

	for (m = c->map; m < c->maps_end; m++)
		n += m->used ? m->pins : 0;
	return c->lock_limit && n >= c->lock_limit;
}

/*
 * The VMM gives a mapping of a device's BAR as memory. Frames of a BAR may have a struct page:
 * pfn_valid() is true for a whole section of 128 MiB if there is RAM in it (early_section()). Pages
 * of the section that are no RAM are PageReserved. vaddr_get_pfns() takes such a page if the CPU
 * has touched it before, and vfio_iommu_type1_pin_pages() returns it to the driver.
 */
int container_map_device(struct container *c, u64 iova, unsigned long at)
{
	int ret = container_map(c, iova, 0, PAGE_SIZE);

	if (!ret)
		container_find(c, iova, iova)->device_at = at;
	return ret;
}

static bool pin_device(struct container *c, struct mapping *m, struct page **page)
{
	if (!m->pins)
		m->page.pfn = mm_for_device(c->mm, m->device_at);
	if (!m->page.pfn)
		return false;
	m->pins++;
	m->page.reserved = true;
	*page = &m->page;
	return true;
}

static bool pin(struct container *c, u64 at, struct page **page)
{
	struct mapping *m = container_find(c, at, at + PAGE_SIZE - 1);
	u64 nr;

	if (m && m->device_at)
		return pin_device(c, m, page);
	if (!m || m->prevent_access || at < m->iova || at + PAGE_SIZE > m->iova + m->size ||
	    alloc_fails())
		return false;
	if (beyond(c)) {
		c->warned++;
		return false;
	}
	nr = (m->ram + (at - m->iova)) >> PAGE_SHIFT;
	c->pins[nr]++;
	m->pins++;
	/* a frame's number tells which container it is from */
	c->page[nr].pfn = (u64)c->nr << 20 | nr;
	*page = &c->page[nr];
	return true;
}

static void unpin(struct container *c, u64 at)
{
	struct mapping *m = container_find(c, at, at);
	u64 nr;

	FAIL_ON(!m || !m->pins, "S2: 0x%llx is unpinned and is not mapped or not pinned", at);
	m->pins--;
	if (m->device_at)
		return;
	nr = (m->ram + (at - m->iova)) >> PAGE_SHIFT;
	FAIL_ON(!c->pins[nr]--, "S2: 0x%llx is unpinned and was not pinned", at);
}

int container_pin_pages(struct container *c, u64 iova, int npage, struct page **pages)
{
	int i, ret;

	/* with c->lock held, pages are brought in under the process's mmap_lock */
	mutex_lock(&c->lock);
	mmap_read_lock(c->mm);
	mmap_read_unlock(c->mm);
	for (i = 0; i < npage && pin(c, iova + (u64)i * PAGE_SIZE, &pages[i]); i++)
		;
	ret = i == npage ? npage : beyond(c) ? -ENOMEM : -EFAULT;
	while (ret < 0 && i--)
		unpin(c, iova + (u64)i * PAGE_SIZE);
	mutex_unlock(&c->lock);
	return ret;
}

void container_unpin_pages(struct container *c, u64 iova, int npage)
{
	int i;

	mutex_lock(&c->lock);
	for (i = 0; i < npage; i++)
		unpin(c, iova + (u64)i * PAGE_SIZE);
	mutex_unlock(&c->lock);
}

int vfio_pin_pages(struct vfio_device *v, dma_addr_t iova, int npage, int prot, struct page **pages)
{
	int ret = -EINVAL;

	if (v->iommufd_access) {
		ret = iommufd_pin(v->iommufd_access, iova, npage, pages);
	} else if (v->container) {
		work_waits_for_vmm("the container's lock");
		ret = container_pin_pages(v->container, iova, npage, pages);
	}
	harness_trace("pins %d pages at 0x%llx: %d", npage, iova, ret);
	return ret;
}

void vfio_unpin_pages(struct vfio_device *v, dma_addr_t iova, int npage)
{
	if (v->iommufd_access) {
		iommufd_unpin(v->iommufd_access, iova, npage);
	} else {
		work_waits_for_vmm("the container's lock");
		container_unpin_pages(v->container, iova, npage);
	}
	harness_trace("unpins %d pages at 0x%llx", npage, iova);
	chip_look("pages were unpinned");
}

int container_rw(struct container *c, u64 iova, void *data, size_t len, bool write)
{
	struct mapping *m;
	int ret = -EINVAL;

	work_waits_for_vmm("the container's lock");
	mutex_lock(&c->lock);
	m = container_find(c, iova, iova + len - 1);
	if (m && !m->prevent_access && iova >= m->iova && iova + len <= m->iova + m->size) {
		mmap_read_lock(c->mm);
		mmap_read_unlock(c->mm);
		ret = 0;
		if (c->slow_ns) /* like a fault in copy_from_user() */
			harness_sleep(c->slow_ns);
		if (write)
			memcpy(c->ram + m->ram + (iova - m->iova), data, len);
		else
			memcpy(data, c->ram + m->ram + (iova - m->iova), len);
	}
	mutex_unlock(&c->lock);
	return ret;
}

int vfio_dma_rw(struct vfio_device *v, dma_addr_t iova, void *data, size_t len, bool write)
{
	if (v->iommufd_access)
		return iommufd_rw(v->iommufd_access, iova, data, len, write);
	return v->container ? container_rw(v->container, iova, data, len, write) : -EINVAL;
}

/* ------------------------------------------------------------------ devices */

void *harness_vfio_alloc(size_t n, struct device *d, const struct vfio_device_ops *ops)
{
	struct vfio_device *v = kzalloc(n, GFP_KERNEL);
	int ret;

	if (!v)
		return ERR_PTR(-ENOMEM);
	v->dev = d;
	v->ops = ops;
	v->refs = 1;
	ret = ops->init(v);
	if (!ret)
		return v;
	kfree(v);
	return ERR_PTR(ret);
}

void vfio_unregister_group_dev(struct vfio_device *v)
{
	FAIL_ON(v->container, "a device is removed while it is open");
}

void vfio_put_device(struct vfio_device *v)
{
	if (!--v->refs)
		v->ops->release(v);
}

struct device *get_device(struct device *d)
{
	d->refs++;
	return d;
}

void put_device(struct device *d)
{
	if (!d->refs)
		harness_fail("a device is given back once too often");
	else if (!--d->refs && d->release)
		d->release(d);
}

static DEFINE_MUTEX(mdev_list_lock);
/* devices with a type that are not freed yet */
static unsigned int mdevs;

/* As the kernel's, reads memory of the parent's driver, by the type. The lock is a point. */
static void mdev_release(struct device *d)
{
	struct mdev_device *m = container_of(d, struct mdev_device, dev);

	if (m->type) {
		mutex_lock(&mdev_list_lock);
		FAIL_ON(!m->type->parent->mdev_driver->get_available,
			"the core counts free vGPUs by itself");
		mutex_unlock(&mdev_list_lock);
		mdevs--;
	}
	free(m);
}

struct mdev_device *mdev_create(const char *type)
{
	static unsigned int names;
	struct mdev_device *m = calloc(1, sizeof(*m));
	unsigned int i;

	for (i = 0; the_parent && i < the_parent->nr_types; i++)
		if (!strcmp(the_parent->types[i]->sysfs_name, type))
			m->type = the_parent->types[i];
	mdevs += !!m->type;
	snprintf(m->name, sizeof(m->name), "vgpu%u", ++names);
	m->dev.name = m->name;
	m->dev.refs = 1;
	m->dev.release = mdev_release;
	if (m->type && !the_mdev_driver->probe(m))
		return m;
	put_device(&m->dev);
	return NULL;
}

void card_remove(struct pci_dev *pdev)
{
	the_pci_driver->remove(pdev);
	FAIL_ON(mdevs, "S6: the card's object is gone, and a mediated device has its type there");
}

void mdev_remove(struct mdev_device *m)
{
	the_mdev_driver->remove(m);
	put_device(&m->dev);
}

/* Takes both locks, and gives way where the core waits with one of them (docs/locking.md). */
static void set_container(struct vfio_device *v, struct container *c, bool in)
{
	mutex_lock(&c->lock);
	while (!mutex_trylock(&c->device_list_lock)) {
		mutex_unlock(&c->lock);
		harness_sleep(5000);
		mutex_lock(&c->lock);
	}
	if (in)
		list_add(&v->iommu_entry, &c->devices);
	else
		list_del(&v->iommu_entry);
	mutex_unlock(&c->device_list_lock);
	mutex_unlock(&c->lock);
	v->container = in ? c : NULL;
}

/* The container has the device from before its open until after its close, as in the core. */
int device_open(struct vfio_device *v, struct container *c)
{
	int ret;

	set_container(v, c, true);
	ret = v->ops->open_device(v);
	if (ret)
		set_container(v, c, false);
	return ret;
}

void device_close(struct vfio_device *v)
{
	struct container *c = v->container;

	v->ops->close_device(v);
	set_container(v, c, false);
	FAIL_ON(list_empty(&c->devices) && container_pins(c),
		"S2: %u pages are pinned after the last device was closed", container_pins(c));
}

/* ------------------------------------------------------------------ VFIO's helpers */

int vfio_info_add_capability(struct vfio_info_cap *caps, struct vfio_info_cap_header *cap,
			     size_t size)
{
	void *buf = kmalloc(caps->size + size, GFP_KERNEL);

	if (!buf)
		return -ENOMEM;
	if (caps->size)
		memcpy(buf, caps->buf, caps->size);
	memcpy(buf + caps->size, cap, size);
	kfree(caps->buf);
	caps->buf = buf;
	caps->size += size;
	return 0;
}

int vfio_set_irqs_validate_and_prepare(struct vfio_irq_set *hdr, int num_irqs, int max_irq_type,
				       size_t *data_size)
{
	u32 type = hdr->flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	size_t size = type == VFIO_IRQ_SET_DATA_EVENTFD ? 4 : type == VFIO_IRQ_SET_DATA_BOOL;

	if (hdr->argsz < offsetofend(struct vfio_irq_set, count) || hdr->index >= max_irq_type ||
	    hdr->count >= U32_MAX - hdr->start ||
	    hdr->flags & ~(VFIO_IRQ_SET_DATA_TYPE_MASK | VFIO_IRQ_SET_ACTION_TYPE_MASK))
		return -EINVAL;
	if (hdr->start >= num_irqs || hdr->start + hdr->count > num_irqs)
		return -EINVAL;
	if (hweight32(type) != 1)
		return -EINVAL;
	if (size && hdr->argsz - offsetofend(struct vfio_irq_set, count) < hdr->count * size)
		return -EINVAL;
	if (size && !hdr->count)
		return -EINVAL;
	*data_size = hdr->count * size;
	return 0;
}
