// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters and knobs: of a vGPU in /sys/bus/mdev/devices/<uuid>/kvgpu/, of a card in /sys/bus/pci/devices/<card>/kvgpu/. One
 * value a file. Counters count from create on, are read without locks, and may be old but not torn; gpu_time_ns is as of now.
 * Knobs take decimal numbers, with or without a newline, as mdevctl and echo write them: EINVAL what is no number (hexadecimal
 * neither), ERANGE what is out of range; then nothing has changed.
 */
#include <linux/device.h>
#include <linux/pci.h>
#include <linux/sysfs.h>

#include "mdev/machine.h"

#define WATCHDOG_MIN_MS	100
#define WATCHDOG_MAX_MS	30000

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
/* how long the guest or its VMM waited for them and for page faults, locks included */
COUNTER(handler_ns, atomic64_read(&v->count.handler_ns));

/* the register file */
COUNTER(registers_unlisted, READ_ONCE(v->trap.nr_unlisted));
COUNTER(registers_denied, READ_ONCE(v->trap.nr_denied));

/* shadows */
COUNTER(shadow_syncs, READ_ONCE(v->shadow.stats.syncs));
COUNTER(shadow_tables_read, READ_ONCE(v->shadow.stats.tables_read));
COUNTER(shadow_bytes_read, READ_ONCE(v->shadow.stats.bytes_read));
COUNTER(shadow_entries_compared, READ_ONCE(v->shadow.stats.entries_compared));
COUNTER(shadow_entries_written, READ_ONCE(v->shadow.stats.entries_written));
COUNTER(shadow_entries_rejected, READ_ONCE(v->shadow.stats.rejected));
COUNTER(tlb_flushes, atomic64_read(&v->count.flushes));
COUNTER(spaces_kept, atomic64_read(&v->count.spaces_kept));
COUNTER(pinned_pages, READ_ONCE(v->shadow.stats.pinned) + READ_ONCE(v->m->nr_due));

COUNTER(interrupts, atomic64_read(&v->count.irqs));
COUNTER(faults, atomic64_read(&v->count.faults));
COUNTER(gpu_time_ns, machine_gpu_time(v->m));

/* ------------------------------------------------------------------ time slices of a vGPU */

static struct machine_slicer *slicer_of(const struct kvgpu_vgpu *v)
{
	return &v->gpu->chip->slicer;
}

COUNTER(slices, READ_ONCE(v->m->slice.ent.slices));
COUNTER(preempts, READ_ONCE(v->m->slice.preempts));
COUNTER(preempt_ns_total, READ_ONCE(v->m->slice.preempt_ns));
COUNTER(preempt_ns_max, READ_ONCE(v->m->slice.preempt_max));
COUNTER(strikes, READ_ONCE(v->m->slice.strikes.total));
COUNTER(runnable, READ_ONCE(v->m->slice.work));

static ssize_t entitlement_ppm_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct kvgpu_vgpu *v = dev_get_drvdata(dev);
	u32 ppm;

	spin_lock(&slicer_of(v)->lock);
	ppm = kvgpu_sched_entitlement(&slicer_of(v)->sched, &v->m->slice.ent);
	spin_unlock(&slicer_of(v)->lock);
	return sysfs_emit(buf, "%u\n", ppm);
}
static DEVICE_ATTR_RO(entitlement_ppm);

#define KNOB(name)										\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{												\
	const struct kvgpu_vgpu *v = dev_get_drvdata(dev);					\
												\
	return sysfs_emit(buf, "%u\n", READ_ONCE(v->m->slice.ent.name));			\
}												\
static ssize_t name##_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t len) \
{												\
	struct kvgpu_vgpu *v = dev_get_drvdata(dev);						\
	struct machine_slicer *s = slicer_of(v);						\
	unsigned int val;									\
	int ret = kstrtouint(buf, 10, &val);							\
												\
	if (ret)										\
		return ret;									\
	spin_lock(&s->lock);									\
	ret = kvgpu_sched_set_##name(&s->sched, &v->m->slice.ent, val, ktime_get_ns());		\
	spin_unlock(&s->lock);									\
	machine_slicer_kick(v->gpu);								\
	return ret ?: len;									\
}												\
static DEVICE_ATTR_RW(name)

KNOB(weight);
KNOB(cap);

static ssize_t suspended_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct kvgpu_vgpu *v = dev_get_drvdata(dev);

	return sysfs_emit(buf, "%u\n", machine_suspended(v->m));
}

/* only the way out: to stop a vGPU is what removing it is for */
static ssize_t suspended_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t len)
{
	struct kvgpu_vgpu *v = dev_get_drvdata(dev);
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	if (ret || val)
		return ret ?: -ERANGE;
	machine_forgive(v);
	return len;
}
static DEVICE_ATTR_RW(suspended);

static struct attribute *vgpu_attrs[] = {
	&dev_attr_exits_bar0_read.attr,
	&dev_attr_exits_bar0_write.attr,
	&dev_attr_exits_bar1_bar3.attr,
	&dev_attr_exits_config.attr,
	&dev_attr_doorbells_trapped.attr,
	&dev_attr_page_faults.attr,
	&dev_attr_zaps.attr,
	&dev_attr_handler_ns.attr,
	&dev_attr_registers_unlisted.attr,
	&dev_attr_registers_denied.attr,
	&dev_attr_shadow_syncs.attr,
	&dev_attr_shadow_tables_read.attr,
	&dev_attr_shadow_bytes_read.attr,
	&dev_attr_shadow_entries_compared.attr,
	&dev_attr_shadow_entries_written.attr,
	&dev_attr_shadow_entries_rejected.attr,
	&dev_attr_tlb_flushes.attr,
	&dev_attr_spaces_kept.attr,
	&dev_attr_pinned_pages.attr,
	&dev_attr_interrupts.attr,
	&dev_attr_faults.attr,
	&dev_attr_gpu_time_ns.attr,
	&dev_attr_slices.attr,
	&dev_attr_preempts.attr,
	&dev_attr_preempt_ns_total.attr,
	&dev_attr_preempt_ns_max.attr,
	&dev_attr_strikes.attr,
	&dev_attr_runnable.attr,
	&dev_attr_entitlement_ppm.attr,
	&dev_attr_weight.attr,
	&dev_attr_cap.attr,
	&dev_attr_suspended.attr,
	NULL
};

static const struct attribute_group vgpu_group = {
	.name = "kvgpu",
	.attrs = vgpu_attrs,
};

const struct attribute_group *kvgpu_vgpu_groups[] = {
	&vgpu_group,
	NULL
};

/* ------------------------------------------------------------------ a card */

#define CARD_ATTR(name, fmt, expr)								\
static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf)	\
{												\
	struct kvgpu_gpu *gpu = dev_get_drvdata(dev);						\
												\
	return sysfs_emit(buf, fmt "\n", expr);						\
}

CARD_ATTR(policy, "%s", kvgpu_sched_policy_name(READ_ONCE(gpu->chip->slicer.sched.policy)))
CARD_ATTR(slice_us, "%llu", div_u64(READ_ONCE(gpu->chip->slicer.sched.slice_ns), NSEC_PER_USEC))
CARD_ATTR(watchdog_ms, "%u", READ_ONCE(gpu->chip->slicer.watchdog_ms))
CARD_ATTR(busy_ns, "%llu", READ_ONCE(gpu->chip->slicer.busy_ns))
CARD_ATTR(switches, "%llu", READ_ONCE(gpu->chip->slicer.switches))
CARD_ATTR(engine_resets, "%llu", READ_ONCE(gpu->hw.stats.resets))
CARD_ATTR(chip_interrupts, "%llu", READ_ONCE(gpu->hw.stats.intrs))

static ssize_t policy_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t len)
{
	struct kvgpu_gpu *gpu = dev_get_drvdata(dev);
	struct machine_slicer *s = &gpu->chip->slicer;
	enum kvgpu_sched_policy policy;
	int ret = kvgpu_sched_policy_parse(buf, &policy);

	if (ret)
		return ret;
	spin_lock(&s->lock);
	ret = kvgpu_sched_set_policy(&s->sched, policy, ktime_get_ns());
	spin_unlock(&s->lock);
	machine_slicer_kick(gpu);
	return ret ?: len;
}
static DEVICE_ATTR_RW(policy);

static ssize_t slice_us_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t len)
{
	struct kvgpu_gpu *gpu = dev_get_drvdata(dev);
	struct machine_slicer *s = &gpu->chip->slicer;
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	if (ret)
		return ret;
	spin_lock(&s->lock);
	ret = kvgpu_sched_set_slice(&s->sched, (u64)val * NSEC_PER_USEC);
	spin_unlock(&s->lock);
	machine_slicer_kick(gpu);
	return ret ?: len;
}
static DEVICE_ATTR_RW(slice_us);

static ssize_t watchdog_ms_store(struct device *dev, struct device_attribute *attr, const char *buf, size_t len)
{
	struct kvgpu_gpu *gpu = dev_get_drvdata(dev);
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	if (ret)
		return ret;
	if (val < WATCHDOG_MIN_MS || val > WATCHDOG_MAX_MS)
		return -ERANGE;
	machine_watchdog_set(gpu, val);
	return len;
}
static DEVICE_ATTR_RW(watchdog_ms);
static DEVICE_ATTR_RO(busy_ns);
static DEVICE_ATTR_RO(switches);
static DEVICE_ATTR_RO(engine_resets);
static DEVICE_ATTR_RO(chip_interrupts);

/* the card says nothing: ENODATA */
static ssize_t temperature_mc_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct kvgpu_gpu *gpu = dev_get_drvdata(dev);
	int mc, ret = kvgpu_hw_temperature(&gpu->hw, &mc);

	return ret ?: sysfs_emit(buf, "%d\n", mc);
}
static DEVICE_ATTR_RO(temperature_mc);

static ssize_t show_clock(struct device *dev, enum kvgpu_hw_clock which, char *buf)
{
	struct kvgpu_gpu *gpu = dev_get_drvdata(dev);
	u32 khz;
	int ret = kvgpu_hw_clock(&gpu->hw, which, &khz);

	return ret ?: sysfs_emit(buf, "%u\n", khz);
}

static ssize_t core_clock_khz_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return show_clock(dev, KVGPU_HW_CLOCK_CORE, buf);
}
static DEVICE_ATTR_RO(core_clock_khz);

static ssize_t mem_clock_khz_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return show_clock(dev, KVGPU_HW_CLOCK_MEM, buf);
}
static DEVICE_ATTR_RO(mem_clock_khz);

static struct attribute *card_attrs[] = {
	&dev_attr_policy.attr,
	&dev_attr_slice_us.attr,
	&dev_attr_watchdog_ms.attr,
	&dev_attr_busy_ns.attr,
	&dev_attr_switches.attr,
	&dev_attr_engine_resets.attr,
	&dev_attr_chip_interrupts.attr,
	&dev_attr_temperature_mc.attr,
	&dev_attr_core_clock_khz.attr,
	&dev_attr_mem_clock_khz.attr,
	NULL
};

static const struct attribute_group card_group = {
	.name = "kvgpu",
	.attrs = card_attrs,
};

const struct attribute_group *kvgpu_gpu_groups[] = {
	&card_group,
	NULL
};
