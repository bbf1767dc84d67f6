// SPDX-License-Identifier: GPL-2.0-only
/* What the device tells about itself, and its configuration space. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>

#include <linux/pci_regs.h>

#include "check.h"
#include "tests.h"

enum { NR_REGIONS = VFIO_PCI_NUM_REGIONS, NR_IRQS = VFIO_PCI_NUM_IRQS, RW = 3, MMAP = 4, CAPS = 8 };
enum { PM_AT = 0x60, MSI_AT = 0x68, EXP_AT = 0x78 };

static void check_device(struct device *d)
{
	struct vfio_device_info i = { .argsz = sizeof(i) };

	CHECK(!ioctl(d->fd, VFIO_DEVICE_GET_INFO, &i));
	CHECK(i.num_regions == NR_REGIONS && i.num_irqs == NR_IRQS);
	CHECK((i.flags & (VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET)) ==
	      (VFIO_DEVICE_FLAGS_PCI | VFIO_DEVICE_FLAGS_RESET));
	i.argsz = 4;
	CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_GET_INFO, &i), EINVAL);
	i.argsz = 0;
	CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_GET_INFO, &i), EINVAL);
	CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_GET_INFO, nowhere), EFAULT);
	CHECK_ERRNO(ioctl(d->fd, 0x1234, 0), ENOTTY);
	CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_PCI_HOT_RESET, &i), ENOTTY);
}

static void check_region(struct device *d, unsigned int index, uint64_t size, uint32_t flags)
{
	union {
		struct vfio_region_info r;
		char bytes[256];
	} u = { .r = { .argsz = sizeof(u.r), .index = index } };

	CHECK(!ioctl(d->fd, VFIO_DEVICE_GET_REGION_INFO, &u));
	CHECK(u.r.size == size && u.r.offset == (uint64_t)REGION_AT(index));
	CHECK((u.r.flags & (RW | MMAP | CAPS)) == flags);
	if (!(flags & CAPS))
		return;
	CHECK(u.r.argsz > sizeof(u.r) && u.r.argsz <= sizeof(u));
	u.r.argsz = sizeof(u);
	CHECK(!ioctl(d->fd, VFIO_DEVICE_GET_REGION_INFO, &u));
	CHECK(u.r.cap_offset >= sizeof(u.r) && u.r.cap_offset < sizeof(u) / 2);
	if (u.r.cap_offset >= sizeof(u.r) && u.r.cap_offset < sizeof(u) / 2) {
		struct vfio_region_info_cap_sparse_mmap *s = (void *)(u.bytes + u.r.cap_offset);

		CHECK(s->header.id == VFIO_REGION_INFO_CAP_SPARSE_MMAP && s->header.version == 1 &&
		      s->header.next == 0);
		CHECK(s->nr_areas == 5 && s->areas[0].offset == FLUSH_AT &&
		      s->areas[0].size == 0x1000);
		CHECK(s->areas[1].offset == PLAIN_AT && s->areas[1].size == PLAIN_LEN);
		CHECK(s->areas[2].offset == PROM_AT && s->areas[2].size &&
		      !(s->areas[2].size & 0xfff));
		CHECK(s->areas[3].offset == MMU_AT && s->areas[3].size == 0x1000);
		CHECK(s->areas[4].offset == PRAMIN_AT && s->areas[4].size == PRAMIN_LEN);
	}
}

static void check_regions(struct device *d)
{
	static const unsigned int bad[] = { NR_REGIONS, 77, 0x80000000, ~0u };
	struct vfio_region_info r = { .argsz = sizeof(r) };
	unsigned int i;

	check_region(d, VFIO_PCI_BAR0_REGION_INDEX, BAR0_SIZE, RW | MMAP | CAPS);
	check_region(d, VFIO_PCI_BAR1_REGION_INDEX, d->bar1_size, RW | MMAP);
	check_region(d, VFIO_PCI_BAR3_REGION_INDEX, d->bar3_size, RW | MMAP);
	check_region(d, VFIO_PCI_CONFIG_REGION_INDEX, 4096, RW);
	check_region(d, VFIO_PCI_BAR2_REGION_INDEX, 0, 0);
	check_region(d, VFIO_PCI_BAR4_REGION_INDEX, 0, 0);
	check_region(d, VFIO_PCI_BAR5_REGION_INDEX, 0, 0);
	check_region(d, VFIO_PCI_ROM_REGION_INDEX, 0, 0);
	check_region(d, VFIO_PCI_VGA_REGION_INDEX, 0, 0);
	CHECK(d->bar1_size && !(d->bar1_size & (d->bar1_size - 1)) && d->bar3_size &&
	      !(d->bar3_size & (d->bar3_size - 1)));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		r.index = bad[i];
		CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_GET_REGION_INFO, &r), EINVAL);
	}
	r.index = 0;
	r.argsz = sizeof(r) - 1;
	CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_GET_REGION_INFO, &r), EINVAL);
}

static void check_irqs(struct device *d)
{
	static const int counts[NR_IRQS] = { 1, 1, 0, -1, 1 };
	struct vfio_irq_info q;
	unsigned int i;
	int ret;

	for (i = 0; i < NR_IRQS; i++) {
		q = (struct vfio_irq_info){ .argsz = sizeof(q), .index = i };
		ret = ioctl(d->fd, VFIO_DEVICE_GET_IRQ_INFO, &q);
		CHECK(counts[i] < 0 ? ret == -1 : !ret && q.count == (uint32_t)counts[i]);
		q.argsz = 3;
		CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_GET_IRQ_INFO, &q), EINVAL);
	}
	q = (struct vfio_irq_info){ .argsz = sizeof(q), .index = NR_IRQS };
	CHECK_ERRNO(ioctl(d->fd, VFIO_DEVICE_GET_IRQ_INFO, &q), EINVAL);
}

void test_info(struct device *d, const struct options *o)
{
	checks_begin();
	check_device(d);
	check_regions(d);
	check_irqs(d);
	checks_end(
		"the device, its regions and interrupts as a K20m has them; malformed questions are refused");
}

/* ------------------------------------------------------------------ configuration space */

static void check_identity(struct device *d)
{
	uint8_t c[4096];
	unsigned int i, set = 0;

	CHECK(pread(d->fd, c, sizeof(c), REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX)) ==
	      (ssize_t)sizeof(c));
	CHECK(config_read(d, PCI_VENDOR_ID, 4) == 0x102810de &&
	      config_read(d, PCI_CLASS_DEVICE, 2) == 0x0302);
	CHECK(c[PCI_CAPABILITY_LIST] == PM_AT && c[PM_AT] == PCI_CAP_ID_PM &&
	      c[PM_AT + 1] == MSI_AT);
	CHECK(c[MSI_AT] == PCI_CAP_ID_MSI && c[MSI_AT + 1] == EXP_AT &&
	      c[EXP_AT] == PCI_CAP_ID_EXP && c[EXP_AT + 1] == 0);
	for (i = 256; i < sizeof(c); i++)
		set += c[i] != 0;
	CHECK(!set);
}

static void check_bar(struct device *d, unsigned int off, uint64_t size, uint32_t flags)
{
	CHECK(config_write(d, off, 4, ~0u) && config_read(d, off, 4) == ((uint32_t)-size | flags));
	CHECK(config_write(d, off, 4, 0x12345678) &&
	      config_read(d, off, 4) == ((0x12345678 & (uint32_t)-size) | flags));
}

static void check_config_writes(struct device *d)
{
	uint32_t word;

	check_bar(d, PCI_BASE_ADDRESS_0, BAR0_SIZE, 0);
	check_bar(d, PCI_BASE_ADDRESS_1, d->bar1_size, 0xc);
	check_bar(d, PCI_BASE_ADDRESS_3, d->bar3_size, 0xc);
	CHECK(config_write(d, PCI_BASE_ADDRESS_5, 4, ~0u) &&
	      config_read(d, PCI_BASE_ADDRESS_5, 4) == 0);
	CHECK(config_write(d, PCI_VENDOR_ID, 4, ~0u) &&
	      config_read(d, PCI_VENDOR_ID, 4) == 0x102810de);
	CHECK(config_write(d, PCI_COMMAND, 2, 7) && config_read(d, PCI_COMMAND, 2) == 6);
	CHECK(config_write(d, PCI_INTERRUPT_LINE, 1, 0xff) &&
	      config_read(d, PCI_INTERRUPT_LINE, 2) == 0x1ff);
	/* Ones, zeroes and mixed bits: the most that may come of them is a reset. */
	for (word = 0; word < 4096; word += 4) {
		config_write(d, word, 4, ~0u);
		config_write(d, word + 1, 2, 0x5aa5);
		config_write(d, word + 3, 1, 0);
		config_write(d, word, 4, 0);
	}
	CHECK(config_read(d, PCI_VENDOR_ID, 4) == 0x102810de);
}

static void check_config_ends(struct device *d)
{
	uint8_t c[16];

	CHECK(pread(d->fd, c, 8, REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX) + 4092) == 4);
	CHECK_ERRNO(pread(d->fd, c, 4, REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX) + 4096), EINVAL);
	CHECK_ERRNO(pwrite(d->fd, c, 4, REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX) + (1ull << 39)),
		    EINVAL);
	CHECK(pread(d->fd, c, 0, REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX)) == 0);
	CHECK_ERRNO(pread(d->fd, nowhere, 4, REGION_AT(VFIO_PCI_CONFIG_REGION_INDEX)), EFAULT);
}

void test_config(struct device *d, const struct options *o)
{
	checks_begin();
	check_identity(d);
	check_config_writes(d);
	check_config_ends(d);
	reg_write(d, 0x2310, 0x10001234);
	CHECK(reg_read(d, 0x2310) == 0x10001234);
	CHECK(config_write(d, PCI_COMMAND, 2, 6));
	CHECK(config_write(d, EXP_AT + PCI_EXP_DEVCTL, 2, PCI_EXP_DEVCTL_BCR_FLR));
	CHECK(reg_read(d, 0x2310) != 0x10001234 && config_read(d, PCI_COMMAND, 2) == 0);
	checks_end(
		"configuration space: sizes of BARs, what may change, ends, function level reset");
}
