// SPDX-License-Identifier: GPL-2.0-only
/*
 * Want of memory in the kernel, exhaustively. Calls of a VMM are made again and again: first the
 * first allocation fails, then the second, and so on until the call makes fewer
 * (/proc/thread-self/fail-nth). A call that fails must have done nothing, so that it can be made
 * again. A call that succeeds nevertheless is undone. This needs a kernel with fault injection: the
 * debug kernel. Its settings in debugfs stay as they are set here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/mmu.h>
#include <gk110/pmc.h>

#include "bare/chan.h"
#include "check.h"
#include "pattern.h"
#include "tap.h"
#include "tests.h"

enum {
	PAGE = 4096,
	NTH_MAX = 3000,
	LENT_IOVA = 0x60000000,
	LENT_LEN = 1 << 20,
	LENT_PAGES = 32,
	RUN_MS = 60000,
	/*
	 * kvgpu pins nothing of a vGPU for 5 s after VFIO has refused ten pins for want of memory
	 * (mdev/machine/pin.c). A call may try twice.
	 */
	REFUSALS = 4,
	REFUSED_S = 6
};
enum { SRC_VA = BARE_VA_FREE, LENT_VA = BARE_VA_FREE + 0x200000 };

struct nth {
	struct device d;
	char group_path[64];
	const char *create; /* path of the type's file create */
	struct bare_gpu g;
	struct bare_space s;
	struct bare_chan c;
	uint32_t entry;
	uint8_t *lent, *src;
	int eventfd[3];
	void *map;
	unsigned int round;
	bool pins; /* a call may pin pages */
};

static int nth_fd;
static unsigned long all_failed;

/* ------------------------------------------------------------------ the kernel's side */

static bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/*
 * Let allocations that may sleep fail as well, and single pages. The kernel is to print nothing
 * about that.
 */
static bool injection(void)
{
	static const struct {
		const char *file, *value;
	} set[] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/verbose", "0" },
	};
	char path[128];
	unsigned int i;

	for (i = 0; i < sizeof(set) / sizeof(set[0]); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", set[i].file);
		if (!put(path, set[i].value))
			return false;
	}
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	return nth_fd >= 0;
}

static void arm(unsigned int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(nth_fd, text, len, 0) != len)
		abort();
}

/* did it fail? */
static bool disarm(void)
{
	char text[16] = "";

	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0)
		abort();
	arm(0);
	return !atoi(text);
}

/* ------------------------------------------------------------------ each call */

static void each(struct nth *x, const char *name, int (*call)(struct nth *x),
		 void (*undo)(struct nth *x))
{
	unsigned int n, refused = 0;
	bool hit = true;
	int ret, err;

	for (n = 1; n < NTH_MAX; n++) {
		arm(n);
		ret = call(x);
		err = errno;
		hit = disarm();
		if (!hit)
			break;
		refused += ret < 0;
		if (ret >= 0 && undo)
			undo(x);
		if (x->pins && !(n % REFUSALS))
			sleep(REFUSED_S);
	}
	if (x->pins && n > 1)
		sleep(REFUSED_S);
	if (!hit && ret < 0)
		tap_diag("%s: fails with memory at hand, after %u were: %s", name, n - 1,
			 strerror(err));
	else
		tap_diag("%s: each of %u allocations failed once, %u times the call did", name,
			 n - 1, refused);
	CHECK(!hit && ret >= 0);
	all_failed += n - 1;
}

static int open_container(struct nth *x)
{
	return x->d.container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
}

static void close_container(struct nth *x)
{
	close(x->d.container);
}

static int open_group(struct nth *x)
{
	return x->d.group = open(x->group_path, O_RDWR | O_CLOEXEC);
}

static void close_group(struct nth *x)
{
	close(x->d.group);
}

static int set_container(struct nth *x)
{
	return ioctl(x->d.group, VFIO_GROUP_SET_CONTAINER, &x->d.container);
}

static void unset_container(struct nth *x)
{
	CHECK(!ioctl(x->d.group, VFIO_GROUP_UNSET_CONTAINER));
}

static int set_iommu(struct nth *x)
{
	return ioctl(x->d.container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU);
}

static void unset_iommu(struct nth *x)
{
	unset_container(x);
	CHECK(!set_container(x));
}

static int get_device(struct nth *x)
{
	return x->d.fd = ioctl(x->d.group, VFIO_GROUP_GET_DEVICE_FD, x->d.uuid);
}

static void put_device(struct nth *x)
{
	close(x->d.fd);
}

static int get_infos(struct nth *x)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct {
		struct vfio_region_info r;
		char caps[1024];
	} region;
	unsigned int i;

	if (ioctl(x->d.fd, VFIO_DEVICE_GET_INFO, &info))
		return -1;
	for (i = 0; i < VFIO_PCI_NUM_REGIONS; i++) {
		region.r = (struct vfio_region_info){ .argsz = sizeof(region), .index = i };
		/* some regions don't exist: only ENOMEM is a failure */
		if (ioctl(x->d.fd, VFIO_DEVICE_GET_REGION_INFO, &region) && errno == ENOMEM)
			return -1;
		if (i == VFIO_PCI_BAR1_REGION_INDEX)
			x->d.bar1_size = region.r.size;
		if (i == VFIO_PCI_BAR3_REGION_INDEX)
			x->d.bar3_size = region.r.size;
	}
	return 0;
}

static int map_lent(struct nth *x)
{
	return dma_map(&x->d, x->lent, LENT_IOVA, LENT_LEN);
}

static void unmap_lent(struct nth *x)
{
	CHECK(!dma_unmap(&x->d, LENT_IOVA, LENT_LEN));
}

static int irq(struct nth *x, uint32_t index, uint32_t flags, int fd)
{
	union {
		struct vfio_irq_set s;
		char bytes[64];
	} u = { .s = { .argsz = sizeof(u.s) + sizeof(fd),
		       .flags = flags,
		       .index = index,
		       .count = 1 } };

	memcpy(u.s.data, &fd, sizeof(fd));
	return ioctl(x->d.fd, VFIO_DEVICE_SET_IRQS, &u);
}

static int set_msi(struct nth *x)
{
	return irq(x, VFIO_PCI_MSI_IRQ_INDEX,
		   VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, x->eventfd[0]);
}

static int set_intx(struct nth *x)
{
	return irq(x, VFIO_PCI_INTX_IRQ_INDEX,
		   VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, x->eventfd[1]);
}

static int set_unmask(struct nth *x)
{
	return irq(x, VFIO_PCI_INTX_IRQ_INDEX,
		   VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_UNMASK, x->eventfd[2]);
}

static void unset_unmask(struct nth *x)
{
	CHECK(!irq(x, VFIO_PCI_INTX_IRQ_INDEX,
		   VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_UNMASK, -1));
}

static int set_req(struct nth *x)
{
	return irq(x, VFIO_PCI_REQ_IRQ_INDEX,
		   VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER, x->eventfd[0]);
}

static int map_bar1(struct nth *x)
{
	x->map = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, x->d.fd,
		      REGION_AT(VFIO_PCI_BAR1_REGION_INDEX));
	return x->map == MAP_FAILED ? -1 : 0;
}

static int map_pramin(struct nth *x)
{
	x->map = mmap(NULL, PRAMIN_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, x->d.fd, PRAMIN_AT);
	return x->map == MAP_FAILED ? -1 : 0;
}

static void unmap(struct nth *x)
{
	CHECK(!munmap(x->map, 1 << 20));
}

/* --------------------------------------------- a guest's registers: written by the VMM's thread */

static int write_reg(struct nth *x, uint32_t reg, uint32_t value)
{
	return pwrite(x->d.fd, &value, 4, REGION_AT(VFIO_PCI_BAR0_REGION_INDEX) + reg) == 4 ? 0 :
											      -1;
}

static int bind_channel(struct nth *x)
{
	return write_reg(x, PCCSR_INST(x->c.id),
			 PCCSR_INST_BIND | FIELD_PREP(PCCSR_INST_PTR, x->c.inst >> 12));
}

static void unbind_channel(struct nth *x)
{
	CHECK(!write_reg(x, PCCSR_INST(x->c.id), 0));
}

static int list_channel(struct nth *x)
{
	return write_reg(x, PFIFO_RUNLIST_SUBMIT,
			 FIELD_PREP(PFIFO_RUNLIST_ID, x->c.runlist) |
				 FIELD_PREP(PFIFO_RUNLIST_COUNT, 1));
}

static void unlist_channel(struct nth *x)
{
	CHECK(!write_reg(x, PFIFO_RUNLIST_SUBMIT, FIELD_PREP(PFIFO_RUNLIST_ID, x->c.runlist)));
}

static int enable_channel(struct nth *x)
{
	return write_reg(x, PCCSR_CHAN(x->c.id),
			 FIELD_PREP(PCCSR_CHAN_RUNLIST, x->c.runlist) | PCCSR_CHAN_ENABLE_SET);
}

static void disable_channel(struct nth *x)
{
	CHECK(!write_reg(x, PCCSR_CHAN(x->c.id),
			 FIELD_PREP(PCCSR_CHAN_RUNLIST, x->c.runlist) | PCCSR_CHAN_ENABLE_CLR));
}

static int invalidate(struct nth *x)
{
	if (write_reg(x, FB_MMU_INVALIDATE_PDB,
		      FIELD_PREP(FB_MMU_INVALIDATE_PDB_ADDR, x->s.pdb >> GMMU_ADDR_SHIFT)))
		return -1;
	return write_reg(x, FB_MMU_INVALIDATE,
			 FB_MMU_INVALIDATE_TRIGGER | FB_MMU_INVALIDATE_ALL_VA);
}

/* Unmap the pages of the lent memory that are mapped, and map other pages of it elsewhere. */
static void map_others(struct nth *x)
{
	unsigned int i, first = ++x->round % 3 * LENT_PAGES;

	for (i = 0; i < LENT_PAGES * 3; i++)
		bare_space_unmap(&x->g, &x->s, LENT_VA + i * PAGE);
	bare_space_map_range(&x->g, &x->s, LENT_VA + first * PAGE, BARE_HOST,
			     LENT_IOVA + first * PAGE, LENT_PAGES * PAGE);
}

static void begin_channel(struct nth *x)
{
	struct bare_chan_config cfg = { .id = 1 };
	uint64_t bus;

	bare_take_over(&x->g);
	x->g.host.used = 0;
	cfg.runlist = x->g.engine[BARE_CE0].runlist;
	bare_space_create(&x->g, &x->s);
	x->src = bare_host(&x->g, PAGE, &bus);
	bare_space_map(&x->g, &x->s, SRC_VA, BARE_HOST, bus);
	bare_chan_create(&x->g, &x->s, &cfg, &x->c);
	x->entry = cfg.id;
	bare_runlist(&x->g, cfg.runlist, &x->entry, 1);
	map_others(x);
	CHECK(!invalidate(x));
}

static bool copies(struct nth *x)
{
	uint64_t first = x->round % 3 * LENT_PAGES * PAGE;

	pattern_fill(x->src, PAGE, x->round);
	memset(x->lent + first, 0, PAGE);
	bare_copy(&x->c, SRC_VA, LENT_VA + first, PAGE, 0);
	return bare_run(&x->c, RUN_MS) && !memcmp(x->src, x->lent + first, PAGE);
}

static int take_lent(struct nth *x)
{
	return dma_unmap(&x->d, LENT_IOVA, LENT_LEN);
}

static void lend_again(struct nth *x)
{
	CHECK(!map_lent(x));
	begin_channel(x);
}

static int reset(struct nth *x)
{
	return ioctl(x->d.fd, VFIO_DEVICE_RESET);
}

static void after_reset(struct nth *x)
{
	CHECK(config_write(&x->d, 4, 2, 6));
	begin_channel(x);
}

/*
 * Map the device and begin a channel. A mapping keeps the device's file open. So without any, as in
 * closing(), each close() is the last one and ends the device.
 */
static void attach(struct nth *x)
{
	gpu_attach(&x->d, &x->g);
	begin_channel(x);
}

static int close_device(struct nth *x)
{
	return close(x->d.fd);
}

static void open_and_attach(struct nth *x)
{
	CHECK(get_device(x) >= 0);
	CHECK(!map_lent(x));
	attach(x);
	unmap_lent(x);
	gpu_detach(&x->d, &x->g);
}

/* ------------------------------------------------------------------ an admin's: another vGPU */

#define ANOTHER "6d1f1f4e-0c55-4f0b-9d3c-7a5f2a3b1cfa"

static int make(struct nth *x)
{
	int fd = open(x->create, O_WRONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -1;
	ret = write(fd, ANOTHER, strlen(ANOTHER)) < 0 ? -1 : 0;
	close(fd);
	return ret;
}

static void remove_it(struct nth *x)
{
	CHECK(put("/sys/bus/mdev/devices/" ANOTHER "/remove", "1"));
}

/* ------------------------------------------------------------------ */

static void find_group(struct nth *x)
{
	char path[128], link[256];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/bus/mdev/devices/%s/iommu_group", x->d.uuid);
	n = readlink(path, link, sizeof(link) - 1);
	CHECK(n > 0);
	link[n < 0 ? 0 : n] = 0;
	snprintf(x->group_path, sizeof(x->group_path), "/dev/vfio/%s",
		 strrchr(link, '/') ? strrchr(link, '/') + 1 : "");
}

static void opening(struct nth *x)
{
	each(x, "open of the container", open_container, close_container);
	each(x, "open of the group", open_group, close_group);
	each(x, "VFIO_GROUP_SET_CONTAINER", set_container, unset_container);
	each(x, "VFIO_SET_IOMMU", set_iommu, unset_iommu);
	each(x, "VFIO_GROUP_GET_DEVICE_FD", get_device, put_device);
	each(x, "VFIO_DEVICE_GET_INFO, _REGION_INFO", get_infos, NULL);
	each(x, "VFIO_IOMMU_MAP_DMA", map_lent, unmap_lent);
	each(x, "VFIO_DEVICE_SET_IRQS, MSI", set_msi, NULL);
	each(x, "VFIO_DEVICE_SET_IRQS, INTx", set_intx, NULL);
	each(x, "VFIO_DEVICE_SET_IRQS, unmask", set_unmask, unset_unmask);
	each(x, "VFIO_DEVICE_SET_IRQS, REQ", set_req, NULL);
	each(x, "mmap of BAR1", map_bar1, unmap);
	unmap(x);
	each(x, "mmap of PRAMIN", map_pramin, unmap);
	unmap(x);
}

static void running(struct nth *x)
{
	x->pins = true;
	attach(x);
	CHECK(copies(x));
	disable_channel(x);
	unlist_channel(x);
	unbind_channel(x);
	each(x, "a channel is bound", bind_channel, unbind_channel);
	each(x, "a runlist", list_channel, unlist_channel);
	each(x, "a channel is enabled", enable_channel, disable_channel);
	map_others(x);
	each(x, "a TLB invalidate that pins and lets go", invalidate, map_others);
	begin_channel(x);
	CHECK(copies(x));
	each(x, "VFIO_IOMMU_UNMAP_DMA of pinned memory", take_lent, lend_again);
	lend_again(x);
	CHECK(copies(x));
	each(x, "VFIO_DEVICE_RESET", reset, after_reset);
	after_reset(x);
	CHECK(copies(x));
}

static void closing(struct nth *x)
{
	unmap_lent(x);
	gpu_detach(&x->d, &x->g);
	CHECK(counter(&x->d, "pinned_pages") == 0);
	each(x, "close", close_device, open_and_attach);
	x->pins = false;
	close(x->d.group);
	close(x->d.container);
}

void test_failnth(struct device *d, const struct options *o)
{
	struct nth x = { .d = *d };
	char create[512];
	unsigned int i;

	if (!injection()) {
		tap_skip("failnth", "this kernel has no fault injection");
		return;
	}
	checks_begin();
	device_close(d);
	find_group(&x);
	x.lent = mmap(NULL, LENT_LEN, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(x.lent != MAP_FAILED);
	for (i = 0; i < 3; i++)
		x.eventfd[i] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	opening(&x);
	running(&x);
	closing(&x);
	for (i = 0; i < 3; i++)
		close(x.eventfd[i]);
	munmap(x.lent, LENT_LEN);
	if (o->card) {
		snprintf(create, sizeof(create), "%s/mdev_supported_types/kvgpu-512m/create",
			 o->card);
		x.create = create;
		each(&x, "a vGPU is made", make, remove_it);
		remove_it(&x);
	}
	close(nth_fd);
	device_open(d, x.d.uuid);
	CHECK(counter(d, "pinned_pages") == 0 && reg_read(d, 0) >> 20 == 0x0f0);
	CHECK(all_failed > 100);
	tap_diag("%lu allocations failed", all_failed);
	checks_end(
		"each allocation of a VMM's calls fails once: the call can be made again, nothing is lost");
}
