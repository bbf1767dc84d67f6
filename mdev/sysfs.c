// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters and knobs: of a vGPU in /sys/bus/mdev/devices/<uuid>/kvgpu/, of a card in
 * /sys/bus/pci/devices/<card>/kvgpu/. A file has one value. Counters of a vGPU count from its
 * creation on. Counters are read without locks, and may be a little old. All knobs but policy,
 * which takes a name, take a decimal number with or without a newline. A write of other text, also
 * of a hexadecimal or negative number, fails with EINVAL, and a write of another number out of
 * range with ERANGE. A write that fails changes nothing.
 *
 * Runs in the process that reads or writes a file, without a lock of the module. The machine
 * (mdev/machine/, which keeps the values) takes slicer->lock for a read of entitlement_ppm and for
 * a write of a knob other than watchdog_ms. A write of suspended waits for the slicer. A vGPU's
 * files exist only between probe and remove (vgpu.c).
 */
#include <linux/device.h>
#include <linux/pci.h>
#include <linux/sizes.h>
#include <linux/sysfs.h>

#include "mdev/internal.h"
#include "mdev/machine/machine.h"

#define WATCHDOG_MIN_MS 100
#define WATCHDOG_MAX_MS 30000

#define COUNTER(name, expr)                                                                      \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{                                                                                        \
		const struct kvgpu_vgpu *v = dev_get_drvdata(dev);                               \
                                                                                                 \
		return sysfs_emit(buf, "%llu\n", (u64)(expr));                                   \
	}                                                                                        \
	static DEVICE_ATTR_RO(name)

/* Numbers of trapped accesses by kind, of page faults on BARs, and of removals of mappings. */
COUNTER(exits_bar0_read, atomic64_read(&v->count.bar0_reads));
COUNTER(exits_bar0_write, atomic64_read(&v->count.bar0_writes));
COUNTER(exits_bar1_bar3, atomic64_read(&v->count.bar_trapped));
COUNTER(exits_config, atomic64_read(&v->count.config));
COUNTER(page_faults, atomic64_read(&v->count.mmaps));
COUNTER(zaps, atomic64_read(&v->count.zaps));
/*
 * Time in ns that the trapped accesses and page faults above took, with waits for locks. Not
 * included are copies from and to user memory, the wait of a write while the VMM unmaps memory
 * (kvgpu_machine_unmap_wait()), and page faults on the vGPU's own memory.
 */
COUNTER(handler_ns, atomic64_read(&v->count.handler_ns));

COUNTER(interrupts, atomic64_read(&v->count.irqs));
COUNTER(faults, atomic64_read(&v->count.faults));

static ssize_t machine_counter_emit(struct device *dev, size_t offset, char *buf)
{
	struct machine_stats st;

	kvgpu_machine_stats_get(dev_get_drvdata(dev), &st);
	return sysfs_emit(buf, "%llu\n", *(const u64 *)((const char *)&st + offset));
}

/* A file with a value that the machine keeps: @member of struct machine_stats, a u64. */
#define MACHINE_COUNTER(name, member)                                                            \
	static_assert(sizeof(((struct machine_stats *)0)->member) == sizeof(u64));               \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{                                                                                        \
		return machine_counter_emit(dev, offsetof(struct machine_stats, member), buf);   \
	}                                                                                        \
	static DEVICE_ATTR_RO(name)

/*
 * trapped writes to the doorbells (the USERDs of channels in BAR1); exits_bar1_bar3 counts these
 * writes, too
 */
MACHINE_COUNTER(doorbells_trapped, doorbells_trapped);

/*
 * registers_unlisted: accesses to registers that no table of mmio-trap/ has. registers_denied
 * counts three cases:
 * - accesses to registers that these tables deny
 * - writes of fewer than four bytes to a register whose write is a command
 * - writes that name a memory target, a runlist or an instance block that can't be used there,
 *   except a bind of a channel and a save of a graphics context
 */
MACHINE_COUNTER(registers_unlisted, registers_unlisted);
MACHINE_COUNTER(registers_denied, registers_denied);

/*
 * Counters of the shadow page tables (gtt-shadow/) and of pins. spaces_kept: how often the use of
 * an address space by a channel ended and the space was not freed, because the channel was not off
 * the chip. pinned_pages: number of pages that are pinned now, not a count from the creation on.
 */
MACHINE_COUNTER(shadow_syncs, syncs);
MACHINE_COUNTER(shadow_tables_read, tables_read);
MACHINE_COUNTER(shadow_bytes_read, bytes_read);
MACHINE_COUNTER(shadow_entries_compared, entries_compared);
MACHINE_COUNTER(shadow_entries_written, entries_written);
MACHINE_COUNTER(shadow_entries_rejected, entries_rejected);
MACHINE_COUNTER(tlb_flushes, tlb_flushes);
MACHINE_COUNTER(spaces_kept, spaces_kept);
MACHINE_COUNTER(pinned_pages, pinned_pages);

/* ----------------------- a vGPU's use of the GPU, its strikes, and the knobs of its time slices */

COUNTER(gpu_time_ns, kvgpu_machine_gpu_time_get(v));
COUNTER(copy_time_ns, kvgpu_machine_copy_time_get(v));
COUNTER(entitlement_ppm, kvgpu_machine_entitlement_get(v));
MACHINE_COUNTER(slices, slices);
MACHINE_COUNTER(preempts, preempts);
MACHINE_COUNTER(preempt_ns_total, preempt_ns);
MACHINE_COUNTER(preempt_ns_max, preempt_ns_max);
MACHINE_COUNTER(strikes, strikes);

static ssize_t runnable_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct machine_stats st;

	kvgpu_machine_stats_get(dev_get_drvdata(dev), &st);
	return sysfs_emit(buf, "%u\n", st.runnable);
}
static DEVICE_ATTR_RO(runnable);

static ssize_t set_knob(struct device *dev, enum machine_knob knob, const char *buf, size_t len)
{
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	ret = ret ?: kvgpu_machine_knob_set(dev_get_drvdata(dev), knob, val);
	return ret ?: len;
}

#define KNOB(name, knob)                                                                         \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{                                                                                        \
		struct machine_stats st;                                                         \
                                                                                                 \
		kvgpu_machine_stats_get(dev_get_drvdata(dev), &st);                              \
		return sysfs_emit(buf, "%u\n", st.name);                                         \
	}                                                                                        \
	static ssize_t name##_store(struct device *dev, struct device_attribute *attr,           \
				    const char *buf, size_t len)                                 \
	{                                                                                        \
		return set_knob(dev, knob, buf, len);                                            \
	}                                                                                        \
	static DEVICE_ATTR_RW(name)

KNOB(weight, MACHINE_WEIGHT);
KNOB(cap, MACHINE_CAP);

static ssize_t suspended_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct machine_stats st;

	kvgpu_machine_stats_get(dev_get_drvdata(dev), &st);
	return sysfs_emit(buf, "%u\n", st.suspended);
}

/*
 * Writing 0 ends the vGPU's suspension, and forgives its strikes (marks for harm to other vGPUs, of
 * which too many suspend a vGPU). The file "strikes" counts forgiven strikes, too. An admin can't
 * suspend a vGPU.
 */
static ssize_t suspended_store(struct device *dev, struct device_attribute *attr, const char *buf,
			       size_t len)
{
	struct kvgpu_vgpu *v = dev_get_drvdata(dev);
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	if (ret || val)
		return ret ?: -ERANGE;
	kvgpu_machine_strikes_clear(v);
	return len;
}
static DEVICE_ATTR_RW(suspended);

static struct attribute *vgpu_attrs[] = { &dev_attr_exits_bar0_read.attr,
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
					  &dev_attr_copy_time_ns.attr,
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
					  NULL };

static const struct attribute_group vgpu_group = {
	.name = "kvgpu",
	.attrs = vgpu_attrs,
};

const struct attribute_group *kvgpu_vgpu_groups[] = { &vgpu_group, NULL };

/* ------------------------------------------------------------ counters and knobs of a card */

#define CARD_ATTR(name, fmt, expr)                                                               \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{                                                                                        \
		struct kvgpu_gpu *gpu = dev_get_drvdata(dev);                                    \
		struct machine_gpu_stats st;                                                     \
                                                                                                 \
		kvgpu_machine_gpu_stats_get(gpu, &st);                                           \
		return sysfs_emit(buf, fmt "\n", expr);                                          \
	}

CARD_ATTR(policy, "%s", kvgpu_sched_policies[st.policy].name)
CARD_ATTR(slice_us, "%llu", st.slice_us)
CARD_ATTR(watchdog_ms, "%u", st.watchdog_ms)
CARD_ATTR(busy_ns, "%llu", st.busy_ns)
CARD_ATTR(copy_busy_ns, "%llu", st.copy_busy_ns)
CARD_ATTR(switches, "%llu", st.switches)
CARD_ATTR(engine_resets, "%llu", READ_ONCE(gpu->hw.stats.resets))
CARD_ATTR(lost, "%u", st.lost)
CARD_ATTR(chip_interrupts, "%llu", READ_ONCE(gpu->hw.stats.intrs))

static ssize_t policy_store(struct device *dev, struct device_attribute *attr, const char *buf,
			    size_t len)
{
	unsigned int policy = 0;
	int ret;

	while (policy < KVGPU_SCHED_NR_POLICIES &&
	       !sysfs_streq(buf, kvgpu_sched_policies[policy].name))
		policy++;
	/* -EINVAL if it is none of them */
	ret = kvgpu_machine_gpu_knob_set(dev_get_drvdata(dev), MACHINE_POLICY, policy);
	return ret ?: len;
}
static DEVICE_ATTR_RW(policy);

static ssize_t slice_us_store(struct device *dev, struct device_attribute *attr, const char *buf,
			      size_t len)
{
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	ret = ret ?: kvgpu_machine_gpu_knob_set(dev_get_drvdata(dev), MACHINE_SLICE_US, val);
	return ret ?: len;
}
static DEVICE_ATTR_RW(slice_us);

static ssize_t watchdog_ms_store(struct device *dev, struct device_attribute *attr, const char *buf,
				 size_t len)
{
	unsigned int val;
	int ret = kstrtouint(buf, 10, &val);

	if (ret)
		return ret;
	if (val < WATCHDOG_MIN_MS || val > WATCHDOG_MAX_MS)
		return -ERANGE;
	return kvgpu_machine_gpu_knob_set(dev_get_drvdata(dev), MACHINE_WATCHDOG_MS, val) ?: len;
}
static DEVICE_ATTR_RW(watchdog_ms);
static DEVICE_ATTR_RO(busy_ns);
static DEVICE_ATTR_RO(copy_busy_ns);
static DEVICE_ATTR_RO(switches);
static DEVICE_ATTR_RO(engine_resets);
static DEVICE_ATTR_RO(lost);
static DEVICE_ATTR_RO(chip_interrupts);

/* What all vGPUs together can have of the card, for tools that plan (kvgpu-top --plan). */
#define ROOM_ATTR(name, member)                                                                  \
	static ssize_t name##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{                                                                                        \
		struct vgpu_types_room room;                                                     \
                                                                                                 \
		vgpu_types_room_get(dev_get_drvdata(dev), &room);                                \
		return sysfs_emit(buf, "%llu\n", room.member / SZ_1M);                           \
	}                                                                                        \
	static DEVICE_ATTR_RO(name)

ROOM_ATTR(room_vram_mib, vram);
ROOM_ATTR(room_bar1_mib, bar[KVGPU_BAR1]);
ROOM_ATTR(room_bar3_mib, bar[KVGPU_BAR3]);

/* A read of the temperature or a clock fails with ENODATA if the card has no plausible value. */
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
	&dev_attr_policy.attr,		&dev_attr_slice_us.attr,
	&dev_attr_watchdog_ms.attr,	&dev_attr_busy_ns.attr,
	&dev_attr_copy_busy_ns.attr,	&dev_attr_switches.attr,
	&dev_attr_engine_resets.attr,	&dev_attr_lost.attr,
	&dev_attr_chip_interrupts.attr, &dev_attr_room_vram_mib.attr,
	&dev_attr_room_bar1_mib.attr,	&dev_attr_room_bar3_mib.attr,
	&dev_attr_temperature_mc.attr,	&dev_attr_core_clock_khz.attr,
	&dev_attr_mem_clock_khz.attr,	NULL
};

static const struct attribute_group card_group = {
	.name = "kvgpu",
	.attrs = card_attrs,
};

const struct attribute_group *kvgpu_gpu_groups[] = { &card_group, NULL };
