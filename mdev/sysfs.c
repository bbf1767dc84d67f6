// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of a vGPU, /sys/bus/mdev/devices/<uuid>/kvgpu/: one number a file, read only, without locks. A counter that
 * changes while it is read may be old but not torn. They count from create on.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "mdev/vgpu.h"

#define COUNTER(name, expr)									\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{												\
	const struct kvgpu_vgpu *v = dev_get_drvdata(dev);					\
												\
	return sysfs_emit(buf, "%llu\n", (u64)(expr));						\
}												\
static DEVICE_ATTR_RO(name)

/* accesses that left the guest, by class */
COUNTER(exits_bar0_read, atomic64_read(&v->count.bar0_reads));
COUNTER(exits_bar0_write, atomic64_read(&v->count.bar0_writes));
COUNTER(exits_bar1_bar3, atomic64_read(&v->count.bar_trapped));
COUNTER(exits_config, atomic64_read(&v->count.config));
COUNTER(doorbells_trapped, atomic64_read(&v->count.doorbells_trapped));
COUNTER(page_faults, atomic64_read(&v->count.mmaps));
COUNTER(zaps, atomic64_read(&v->count.zaps));

/* the register file */
COUNTER(registers_unlisted, READ_ONCE(v->trap.nr_unlisted));
COUNTER(registers_denied, READ_ONCE(v->trap.nr_denied));

/* shadows */
COUNTER(shadow_syncs, READ_ONCE(v->shadow.stats.syncs));
COUNTER(shadow_tables_read, READ_ONCE(v->shadow.stats.tables_read));
COUNTER(shadow_bytes_read, READ_ONCE(v->shadow.stats.bytes_read));
COUNTER(shadow_entries_written, READ_ONCE(v->shadow.stats.entries_written));
COUNTER(shadow_entries_rejected, READ_ONCE(v->shadow.stats.rejected));
COUNTER(tlb_flushes, atomic64_read(&v->count.flushes));
COUNTER(pinned_pages, READ_ONCE(v->shadow.stats.pinned));

COUNTER(interrupts, atomic64_read(&v->count.irqs));
COUNTER(faults, atomic64_read(&v->count.faults));
COUNTER(gpu_time_ns, atomic64_read(&v->count.gpu_ns));

static struct attribute *counters[] = {
	&dev_attr_exits_bar0_read.attr,
	&dev_attr_exits_bar0_write.attr,
	&dev_attr_exits_bar1_bar3.attr,
	&dev_attr_exits_config.attr,
	&dev_attr_doorbells_trapped.attr,
	&dev_attr_page_faults.attr,
	&dev_attr_zaps.attr,
	&dev_attr_registers_unlisted.attr,
	&dev_attr_registers_denied.attr,
	&dev_attr_shadow_syncs.attr,
	&dev_attr_shadow_tables_read.attr,
	&dev_attr_shadow_bytes_read.attr,
	&dev_attr_shadow_entries_written.attr,
	&dev_attr_shadow_entries_rejected.attr,
	&dev_attr_tlb_flushes.attr,
	&dev_attr_pinned_pages.attr,
	&dev_attr_interrupts.attr,
	&dev_attr_faults.attr,
	&dev_attr_gpu_time_ns.attr,
	NULL
};

static const struct attribute_group counter_group = {
	.name = "kvgpu",
	.attrs = counters,
};

const struct attribute_group *kvgpu_vgpu_groups[] = {
	&counter_group,
	NULL
};
