// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: their description, and accesses that come as messages. BAR0 is the chip's registers,
 * BAR1 and BAR3 are windows to memory, region 7 is configuration space. The expansion ROM region
 * has size 0: drivers read the image through BAR0.
 *
 * While memory decoding is off the BARs read as ones and ignore writes.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

static uint64_t region_size(uint32_t index)
{
	switch (index) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		return GK110_BAR0_SIZE;
	case VFIO_PCI_BAR1_REGION_INDEX:
		return GK110_BAR1_SIZE;
	case VFIO_PCI_BAR3_REGION_INDEX:
		return GK110_BAR3_SIZE;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return sizeof(((struct gk110 *)0)->config);
	default:
		return 0;
	}
}

/* Whether to offer mapping. Decided once for a client: its regions must fit together. */
static bool mapping_offered(struct vfio_server *s)
{
	if (!s->client.asked_mapping) {
		s->client.asked_mapping = true;
		s->client.mapping = s->barmap && barmap_wait_helper(s->barmap, s->client.pid);
	}
	return s->client.mapping;
}

/*
 * Describe a region. A region that can be mapped in part has a capability that says which part. A
 * client asks first with room for the plain structure only, learns the size, and asks again. QEMU
 * needs the capability's offset in the first answer already.
 */
int region_info(struct vfio_server *s, struct vu_msg *m)
{
	struct vfio_region_info ask, info = { .argsz = sizeof(info) };
	struct vu_sparse_cap cap = { .header = { VFIO_REGION_INFO_CAP_SPARSE_MMAP, 1, 0 },
				     .nr_areas = 1 };
	uint64_t off, size;

	memcpy(&ask, m->data, sizeof(ask));
	if (ask.argsz < sizeof(info) || ask.index >= NR_REGIONS)
		return -EINVAL;
	info.index = ask.index;
	info.size = region_size(ask.index);
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	m->reply_len = sizeof(info);
	if (barmap_region_area(ask.index, &off, &size) && mapping_offered(s)) {
		info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
		m->reply_fd = barmap_region_fd(s->barmap, ask.index);
		if (size != info.size) {
			info.flags |= VFIO_REGION_INFO_FLAG_CAPS;
			info.cap_offset = sizeof(info);
			info.argsz = sizeof(info) + sizeof(cap);
			cap.area.offset = off;
			cap.area.size = size;
			if (ask.argsz < info.argsz) {
				m->reply_fd = -1;
			} else {
				memcpy(m->reply + sizeof(info), &cap, sizeof(cap));
				m->reply_len = info.argsz;
			}
		}
	}
	memcpy(m->reply, &info, sizeof(info));
	return 0;
}

/* ------------------------------------------------------------------ accesses */

static uint64_t bar_access_read(struct gk110 *g, uint32_t region, uint64_t off, unsigned int size)
{
	if (!pci_memory_enabled(g))
		return ~0ull;
	switch (region) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		return gk110_mmio_read(g, off, size);
	case VFIO_PCI_BAR1_REGION_INDEX:
		return bar_read(g, WIN_BAR1, off, size);
	default:
		return bar_read(g, WIN_BAR3, off, size);
	}
}

static void bar_access_write(struct gk110 *g, uint32_t region, uint64_t off, unsigned int size,
			     uint64_t val)
{
	if (!pci_memory_enabled(g))
		return;
	switch (region) {
	case VFIO_PCI_BAR0_REGION_INDEX:
		gk110_mmio_write(g, off, size, val);
		break;
	case VFIO_PCI_BAR1_REGION_INDEX:
		bar_write(g, WIN_BAR1, off, size, val);
		break;
	default:
		bar_write(g, WIN_BAR3, off, size, val);
	}
}

static unsigned int piece(uint64_t off, uint32_t left, uint32_t count)
{
	unsigned int n = 8;

	if (count == 1 || count == 2 || count == 4 || count == 8)
		return count;
	while (n > left || off % n)
		n /= 2;
	return n;
}

static int access_check(const struct vfio_server *s, const struct vu_region_access *a)
{
	uint64_t size = a->region < NR_REGIONS ? region_size(a->region) : 0;

	if (!a->count || a->count > VU_DEFAULT_XFER || a->offset >= size ||
	    a->count > size - a->offset)
		return -EINVAL;
	return 0;
}

int region_read(struct vfio_server *s, struct vu_msg *m)
{
	struct vu_region_access a;
	uint8_t *out = m->reply + sizeof(a);
	uint32_t done, n;
	uint64_t val;

	memcpy(&a, m->data, sizeof(a));
	if (access_check(s, &a) || a.count > s->client.max_xfer)
		return -EINVAL;
	if (a.region == VFIO_PCI_CONFIG_REGION_INDEX) {
		pthread_mutex_lock(&s->g->lock);
		pci_config_read(s->g, a.offset, out, a.count);
		pthread_mutex_unlock(&s->g->lock);
	} else {
		for (done = 0; done < a.count; done += n) {
			n = piece(a.offset + done, a.count - done, a.count);
			val = bar_access_read(s->g, a.region, a.offset + done, n);
			memcpy(out + done, &val, n);
		}
	}
	memcpy(m->reply, &a, sizeof(a));
	m->reply_len = sizeof(a) + a.count;
	return 0;
}

static void config_write(struct vfio_server *s, uint64_t off, const uint8_t *data, uint32_t count)
{
	struct gk110 *g = s->g;
	bool mem, master;

	pthread_mutex_lock(&g->lock);
	mem = pci_memory_enabled(g);
	master = pci_bus_master(g);
	pci_config_write(g, off, data, count);
	irq_update_intx(s);
	pthread_mutex_unlock(&g->lock);

	if (master != pci_bus_master(g)) {
		/*
		 * wait until transfers under way are done, as posted requests are flushed before a
		 * completion
		 */
		dma_write_lock(g);
		dma_write_unlock(g);
		if (s->barmap)
			barmap_recheck_sysmem(s->barmap);
	}
	if (mem != pci_memory_enabled(g) && s->barmap)
		barmap_enable(s->barmap, !mem);
}

static void access_write(struct vfio_server *s, const struct vu_region_access *a,
			 const uint8_t *data)
{
	uint32_t done, n;
	uint64_t val;

	if (a->region == VFIO_PCI_CONFIG_REGION_INDEX) {
		config_write(s, a->offset, data, a->count);
		return;
	}
	for (done = 0; done < a->count; done += n) {
		n = piece(a->offset + done, a->count - done, a->count);
		val = 0;
		memcpy(&val, data + done, n);
		bar_access_write(s->g, a->region, a->offset + done, n, val);
	}
}

int region_write(struct vfio_server *s, struct vu_msg *m)
{
	struct vu_region_access a;

	memcpy(&a, m->data, sizeof(a));
	if (access_check(s, &a) || m->len - sizeof(a) != a.count)
		return -EINVAL;
	access_write(s, &a, m->data + sizeof(a));
	memcpy(m->reply, &a, sizeof(a));
	m->reply_len = sizeof(a);
	return 0;
}

/* Several short writes in one message. All are checked before the first is done. */
int region_write_multi(struct vfio_server *s, struct vu_msg *m)
{
	struct vu_write_multi multi;
	struct vu_single_write w;
	struct vu_region_access a;
	uint64_t i;
	int pass;

	memcpy(&multi, m->data, sizeof(multi));
	if (multi.wr_cnt > m->len / sizeof(w) || m->len != sizeof(multi) + multi.wr_cnt * sizeof(w))
		return -EINVAL;
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < multi.wr_cnt; i++) {
			memcpy(&w, m->data + sizeof(multi) + i * sizeof(w), sizeof(w));
			a = (struct vu_region_access){ .offset = w.offset,
						       .region = w.region,
						       .count = w.count };
			if (pass)
				access_write(s, &a, (const uint8_t *)&w.data);
			else if (w.count > sizeof(w.data) || access_check(s, &a))
				return -EINVAL;
		}
	memcpy(m->reply, &multi, sizeof(multi));
	m->reply_len = sizeof(multi);
	return 0;
}
