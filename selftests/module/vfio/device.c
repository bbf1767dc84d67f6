// SPDX-License-Identifier: GPL-2.0-only
/*
 * device.h has the contracts. selftests/module/tenants links this file, too: it may use nothing of
 * check.h.
 */
#include "device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

enum { PCI_COMMAND = 4, COMMAND_MEMORY_MASTER = 6 };

static void __attribute__((noreturn, format(printf, 1, 2))) bail(const char *fmt, ...)
{
	va_list ap;

	printf("Bail out! ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf(": %s\n", strerror(errno));
	exit(1);
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/*
 * Open the group's node, and try again for a while: udev may still be making the node, or the core
 * ending the last user's device.
 */
static int open_group(const char *uuid)
{
	char path[256], link[256];
	uint64_t end = now_ms() + 60000;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/iommu_group", uuid);
	n = readlink(path, link, sizeof(link) - 1);
	if (n < 0)
		bail("%s", path);
	link[n] = 0;
	snprintf(path, sizeof(path), "/dev/vfio/%s", strrchr(link, '/') + 1);
	while ((fd = open(path, O_RDWR | O_CLOEXEC)) < 0) {
		if (now_ms() > end)
			bail("%s", path);
		usleep(50000);
	}
	return fd;
}

static uint64_t region_size(struct device *d, unsigned int index)
{
	struct vfio_region_info r = { .argsz = sizeof(r), .index = index };

	if (ioctl(d->fd, VFIO_DEVICE_GET_REGION_INFO, &r))
		bail("region %u", index);
	return r.size;
}

static const char *container = "/dev/vfio/vfio";

void device_container(const char *path)
{
	container = path;
}

/* The first group that enters a container sets the container's kind of IOMMU. */
static void enter(struct device *d, bool first)
{
	struct vfio_group_status st = { .argsz = sizeof(st) };

	d->group = open_group(d->uuid);
	if (ioctl(d->group, VFIO_GROUP_GET_STATUS, &st) || !(st.flags & VFIO_GROUP_FLAGS_VIABLE) ||
	    ioctl(d->group, VFIO_GROUP_SET_CONTAINER, &d->container) ||
	    (first && ioctl(d->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU)))
		bail("container");
	d->fd = ioctl(d->group, VFIO_GROUP_GET_DEVICE_FD, d->uuid);
	if (d->fd < 0)
		bail("device %s", d->uuid);
	d->bar1_size = region_size(d, VFIO_PCI_BAR1_REGION_INDEX);
	d->bar3_size = region_size(d, VFIO_PCI_BAR3_REGION_INDEX);
}

void device_open(struct device *d, const char *uuid)
{
	d->uuid = uuid;
	d->iommufd = !strcmp(container, "/dev/iommu");
	d->container = open(container, O_RDWR | O_CLOEXEC);
	if (d->container < 0)
		bail("%s", container);
	enter(d, true);
}

void device_join(struct device *d, const char *uuid, const struct device *first)
{
	d->uuid = uuid;
	d->iommufd = first->iommufd;
	d->container = dup(first->container);
	if (d->container < 0)
		bail("dup");
	enter(d, false);
}

void device_close(struct device *d)
{
	close(d->fd);
	close(d->group);
	close(d->container);
}

/* ------------------------------------------------------------------ accesses */

uint32_t reg_read(struct device *d, uint32_t reg)
{
	uint32_t v = 0;

	if (pread(d->fd, &v, 4, REGION_AT(VFIO_PCI_BAR0_REGION_INDEX) + reg) != 4)
		bail("reading register %06x", reg);
	return v;
}

void reg_write(struct device *d, uint32_t reg, uint32_t value)
{
	if (pwrite(d->fd, &value, 4, REGION_AT(VFIO_PCI_BAR0_REGION_INDEX) + reg) != 4)
		bail("writing register %06x", reg);
}

uint32_t config_read(struct device *d, unsigned int off, unsigned int len)
{
	uint32_t v = 0;

	return pread(d->fd, &v, len, REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX) + off) ==
			       (ssize_t)len ?
		       v :
		       ~0u;
}

bool config_write(struct device *d, unsigned int off, unsigned int len, uint32_t value)
{
	return pwrite(d->fd, &value, len, REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX) + off) ==
	       (ssize_t)len;
}

int dma_map(struct device *d, void *at, uint64_t iova, uint64_t len)
{
	struct vfio_iommu_type1_dma_map m = {
		.argsz = sizeof(m),
		.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
		.vaddr = (uintptr_t)at,
		.iova = iova,
		.size = len,
	};

	return ioctl(d->container, VFIO_IOMMU_MAP_DMA, &m);
}

int dma_unmap(struct device *d, uint64_t iova, uint64_t len)
{
	struct vfio_iommu_type1_dma_unmap u = { .argsz = sizeof(u), .iova = iova, .size = len };

	return ioctl(d->container, VFIO_IOMMU_UNMAP_DMA, &u);
}

static uint64_t number_in(const char *path)
{
	unsigned long long v;
	FILE *f = fopen(path, "r");
	int n;

	if (!f)
		return ~0ull;
	n = fscanf(f, "%llu", &v);
	fclose(f);
	return n == 1 ? v : ~0ull;
}

uint64_t counter(struct device *d, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/kvgpu/%s", d->uuid, name);
	return number_in(path);
}

uint64_t card_counter(const char *card, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/kvgpu/%s", card, name);
	return number_in(path);
}

/* ------------------------------------------------------------------ for the bare library */

static uint32_t port_read(void *port, uint32_t reg)
{
	return reg_read(port, reg);
}

static void port_write(void *port, uint32_t reg, uint32_t value)
{
	reg_write(port, reg, value);
}

static void *map_or_bail(size_t len, int flags, int fd, off_t at, void *where)
{
	void *p = mmap(where, len, PROT_READ | PROT_WRITE, flags, fd, at);

	if (p == MAP_FAILED)
		bail("mmap of %zu bytes at %llx", len, (unsigned long long)at);
	return p;
}

void gpu_attach(struct device *d, struct bare_gpu *g)
{
	gpu_attach_at(d, g, ARENA_IOVA);
}

void gpu_attach_at(struct device *d, struct bare_gpu *g, uint64_t iova)
{
	memset(g, 0, sizeof(*g));
	if (!config_write(d, PCI_COMMAND, 2, COMMAND_MEMORY_MASTER))
		bail("PCI command");
	g->bars.read = port_read;
	g->bars.write = port_write;
	g->bars.port = d;
	g->bars.bar0 =
		map_or_bail(BAR0_SIZE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0, NULL);
	map_or_bail(PRAMIN_LEN, MAP_SHARED | MAP_FIXED, d->fd, PRAMIN_AT,
		    (uint8_t *)g->bars.bar0 + PRAMIN_AT);
	g->bars.bar1_size = d->bar1_size;
	g->bars.bar1 = map_or_bail(d->bar1_size, MAP_SHARED, d->fd,
				   REGION_AT(VFIO_PCI_BAR1_REGION_INDEX), NULL);
	g->host.cpu =
		map_or_bail(ARENA_LEN, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0, NULL);
	g->host.bus = iova;
	g->host.size = ARENA_LEN;
	if (dma_map(d, g->host.cpu, iova, ARENA_LEN))
		bail("DMA map");
	bare_take_over(g);
}

void gpu_detach(struct device *d, struct bare_gpu *g)
{
	dma_unmap(d, g->host.bus, ARENA_LEN);
	munmap((void *)g->bars.bar0, BAR0_SIZE);
	munmap((void *)g->bars.bar1, g->bars.bar1_size);
	munmap(g->host.cpu, ARENA_LEN);
}
