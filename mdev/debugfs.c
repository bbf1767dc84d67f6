// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: kvgpu/<card>/{card,vgpus,sched} and kvgpu/<card>/<uuid>/{state,channels,shadow,registers,unlisted,hardware,faults}. For people:
 * the format may change. Everything is read only.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "mdev/machine.h"

static struct dentry *root;

/* ------------------------------------------------------------------ the card */

static int card_show(struct seq_file *s, void *unused)
{
	struct kvgpu_gpu *gpu = s->private;
	const struct kvgpu_hw *hw = &gpu->hw;
	unsigned int i;

	seq_printf(s, "boot0 0x%08x vram %llu MiB partitions 0x%llx-0x%llx\n", hw->topo.boot0, hw->vram_size / SZ_1M,
		   hw->part_first, hw->part_end);
	seq_printf(s, "gpcs %u rops %u fbps %u ltcs %u graphics context %u bytes\n", hw->topo.gpcs, hw->topo.rops,
		   hw->topo.fbps, hw->topo.ltcs, hw->gr_ctx_size);
	for (i = 0; i < hw->topo.nr_engines; i++) {
		const struct kvgpu_engine *e = &hw->topo.engine[i];

		seq_printf(s, "engine %u type %u.%u runlist %u fault unit 0x%02x base 0x%06x\n", e->id, e->type, e->inst,
			   e->runl, e->fault, e->base);
	}
	seq_printf(s, "tlb flushes %llu bar flushes %llu runlists %llu preempts %llu resets %llu interrupts %llu unhandled %llu\n",
		   hw->stats.tlb_flushes, hw->stats.bar_flushes, hw->stats.runlists, hw->stats.preempts,
		   hw->stats.resets, hw->stats.intrs, hw->stats.unhandled);
	kvgpu_hw_lock(&gpu->lock);
	seq_printf(s, "channel groups in use %u of %u, TSGs %u\n", bitmap_weight(gpu->groups, KVGPU_NR_GROUPS),
		   KVGPU_NR_GROUPS, bitmap_weight(gpu->tsgs, 4096));
	kvgpu_hw_unlock(&gpu->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(card);

static int vgpus_show(struct seq_file *s, void *unused)
{
	struct kvgpu_gpu *gpu = s->private;
	struct kvgpu_vgpu *v;

	kvgpu_hw_lock(&gpu->lock);
	list_for_each_entry(v, &gpu->vgpus, node)
		seq_printf(s, "%u %s %s %s partition 0x%llx bar1 0x%llx bar3 0x%llx pramin 0x%llx\n", v->id,
			   dev_name(v->vdev.dev), v->type->base.sysfs_name, READ_ONCE(v->open) ? "open" : "closed",
			   v->part.v, v->bar1_slice, v->bar3_slice, v->pramin_slice);
	kvgpu_hw_unlock(&gpu->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vgpus);

static int sched_show(struct seq_file *s, void *unused)
{
	struct kvgpu_gpu *gpu = s->private;
	struct machine_slicer *sl = &gpu->chip->slicer;
	struct kvgpu_machine *m;

	kvgpu_hw_lock(&gpu->lock);
	seq_printf(s, "policy %s slice %llu us watchdog %u ms switches %llu busy %llu ns\n",
		   kvgpu_sched_policy_name(sl->sched.policy), div_u64(sl->sched.slice_ns, NSEC_PER_USEC), sl->watchdog_ms,
		   sl->switches, sl->busy_ns);
	seq_printf(s, "chip %s%s present %u runnable %u\n", sl->open ? "open" : "owned by ",
		   sl->open ? "" : sl->owner ? dev_name(sl->owner->v->vdev.dev) : "nobody", sl->sched.nr_ents,
		   sl->sched.nr_runnable);
	list_for_each_entry(m, &gpu->chip->live, node) {
		const struct kvgpu_sched_ent *e = &m->slice.ent;

		seq_printf(s, "%u weight %u cap %u entitled %u ppm busy %llu ns vtime %lld slices %llu%s%s%s%s%s%s%s\n", m->v->id,
			   e->weight, e->cap, kvgpu_sched_entitlement(&sl->sched, e), e->busy_ns,
			   (s64)(e->vtime - sl->sched.vclock), e->slices, m->slice.on_chip ? " on-chip" : "",
			   m->slice.work ? " work" : "", m->slice.busy ? " busy" : "", m->slice.parked ? " parked" : "",
			   e->suspended ? " suspended" : "", e->cap_out ? " cap-out" : "", e->share_out ? " share-out" : "");
	}
	kvgpu_hw_unlock(&gpu->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sched);

/* ------------------------------------------------------------------ one vGPU */

/* The holder of vgpu->lock may wait for memory of the VMM's, as long as the VMM likes: an admin who reads can be interrupted. */

static void show_window(struct seq_file *s, const char *name, bool bound, bool is_virtual, u64 inst, u64 limit)
{
	if (!bound)
		seq_printf(s, "%s unbound\n", name);
	else if (!is_virtual)
		seq_printf(s, "%s physical\n", name);
	else
		seq_printf(s, "%s instance 0x%llx limit 0x%llx\n", name, inst, limit);
}

static int state_show(struct seq_file *s, void *unused)
{
	struct kvgpu_vgpu *v = s->private;
	unsigned int i;

	if (mutex_lock_interruptible(&v->lock))
		return -EINTR;
	seq_printf(s, "id %u type %s open %d\n", v->id, v->type->base.sysfs_name, v->open);
	show_window(s, "bar1", v->bar1.bound, v->bar1.is_virtual, v->bar1.inst.addr, v->bar1.limit);
	show_window(s, "bar3", v->bar3.bound, v->bar3.is_virtual, v->bar3.inst.addr, v->bar3.limit);
	seq_printf(s, "doorbells at bar1 0x%llx\n", v->userd_bar1);
	seq_printf(s, "interrupt line %d sources 0x%08x 0x%08x pfifo 0x%08x\n", v->trap.line, v->trap.intr_src,
		   v->trap.intr_nrhost, v->trap.fifo_intr);
	seq_printf(s, "msi %d intx %d masked %d pending %d request %d\n", !!READ_ONCE(v->msi), !!READ_ONCE(v->intx),
		   READ_ONCE(v->intx_masked), READ_ONCE(v->intx_pending), !!READ_ONCE(v->req));
	seq_printf(s, "registers in use %u read %llu written %llu unlisted %llu dropped %llu denied %llu\n",
		   v->trap.nr_slots_used, v->trap.nr_reads, v->trap.nr_writes, v->trap.nr_unlisted, v->trap.nr_dropped,
		   v->trap.nr_denied);
	for (i = 0; i < KVGPU_MAX_RUNL; i++)
		if (v->runl_nr[i])
			seq_printf(s, "runlist %u entries %u%s\n", i, v->runl_nr[i],
				   v->trap.runl_blocked & BIT(i) ? " blocked" : "");
	mutex_unlock(&v->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static int channels_show(struct seq_file *s, void *unused)
{
	struct kvgpu_vgpu *v = s->private;
	struct rb_node *n;

	if (mutex_lock_interruptible(&v->lock))
		return -EINTR;
	for (n = rb_first(&v->chans); n; n = rb_next(n)) {
		const struct kvgpu_chan *c = rb_entry(n, struct kvgpu_chan, by_gchid);

		seq_printf(s, "guest %u chip %u runlist %u -> %u instance %u:0x%llx shadow 0x%llx tsg %d -> %d%s%s%s\n",
			   c->gchid.v, c->hchid.v, c->grunl, c->hrunl, c->ginst.target, c->ginst.addr, c->inst.at.v,
			   c->gtsg, c->htsg, c->enabled ? " enabled" : "", c->dead ? " dead" : "", c->gr ? " gr" : "");
	}
	mutex_unlock(&v->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(channels);

static int shadow_show(struct seq_file *s, void *unused)
{
	struct kvgpu_vgpu *v = s->private;
	struct kvgpu_shadow_stats st;
	u32 tables;

	if (mutex_lock_interruptible(&v->lock))
		return -EINTR;
	st = v->shadow.stats;
	tables = v->shadow.nr_tables;
	mutex_unlock(&v->lock);
	seq_printf(s, "tables %u of %u\n", tables, v->shadow.cfg.max_tables);
	seq_printf(s, "syncs %llu tables read %llu bytes read %llu\n", st.syncs, st.tables_read, st.bytes_read);
	seq_printf(s, "entries compared %llu written %llu rejected %llu\n", st.entries_compared, st.entries_written,
		   st.rejected);
	seq_printf(s, "pages pinned %llu of %llu, pins %llu unpins %llu\n", st.pinned, v->shadow.cfg.max_pinned, st.pins,
		   st.unpins);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(shadow);

static const char *class_name(enum kvgpu_reg_class c)
{
	static const char *const names[] = {
		[KVGPU_REG_UNLISTED] = "unlisted",
		[KVGPU_REG_CONST] = "const",
		[KVGPU_REG_FILE] = "file",
		[KVGPU_REG_EMULATE] = "emulate",
		[KVGPU_REG_TRAP] = "trap",
		[KVGPU_REG_DENY] = "deny",
	};

	return c < ARRAY_SIZE(names) ? names[c] : "?";
}

/* in the order of the hash: pipe it through sort */
static int show_registers(struct seq_file *s, struct kvgpu_vgpu *v, bool only_unlisted)
{
	unsigned int i;

	if (mutex_lock_interruptible(&v->lock))
		return -EINTR;
	for (i = 0; v->trap.slot && i < KVGPU_TRAP_SLOTS; i++) {
		const struct kvgpu_reg_slot *slot = &v->trap.slot[i];
		struct kvgpu_reg_info info = { };
		u32 reg = slot->reg & ~1u;
		bool listed;

		if (!slot->reg || (!slot->rd && !slot->wr))
			continue;
		listed = kvgpu_trap_info(reg, &info);
		if (listed && only_unlisted)
			continue;
		seq_printf(s, "0x%06x 0x%08x rd %u wr %u %s/%s %s %s\n", reg, slot->val, slot->rd, slot->wr,
			   class_name(info.rd), class_name(info.wr), info.unit ?: "-", info.name ?: "-");
	}
	mutex_unlock(&v->lock);
	return 0;
}

static int registers_show(struct seq_file *s, void *unused)
{
	return show_registers(s, s->private, false);
}
DEFINE_SHOW_ATTRIBUTE(registers);

static int unlisted_show(struct seq_file *s, void *unused)
{
	return show_registers(s, s->private, true);
}
DEFINE_SHOW_ATTRIBUTE(unlisted);

/*
 * What the guest believes beside what the card says, for the registers that the guest used and that only hold a value:
 * those of the other classes mean something else on the card, or do something when they are read.
 */
static int hardware_show(struct seq_file *s, void *unused)
{
	struct kvgpu_vgpu *v = s->private;
	unsigned int i;

	if (mutex_lock_interruptible(&v->lock))
		return -EINTR;
	for (i = 0; v->trap.slot && i < KVGPU_TRAP_SLOTS; i++) {
		const struct kvgpu_reg_slot *slot = &v->trap.slot[i];
		u32 reg = slot->reg & ~1u, chip;
		struct kvgpu_reg_info info;

		if (!slot->reg || (!slot->rd && !slot->wr) || !kvgpu_trap_info(reg, &info))
			continue;
		if (info.rd != KVGPU_REG_FILE)
			continue;
		chip = kvgpu_hw_peek(&v->gpu->hw, reg);
		seq_printf(s, "0x%06x guest 0x%08x chip 0x%08x %s %s %s\n", reg, slot->val, chip,
			   slot->val == chip ? "same" : "differs", info.unit, info.name ?: "-");
	}
	mutex_unlock(&v->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(hardware);

static int faults_show(struct seq_file *s, void *unused)
{
	struct kvgpu_vgpu *v = s->private;
	struct kvgpu_fault_entry e;
	u32 i, nr = READ_ONCE(v->nr_faults);

	seq_printf(s, "%u faults\n", nr);
	for (i = nr > KVGPU_FAULT_LOG ? nr - KVGPU_FAULT_LOG : 0; i < nr; i++) {
		spin_lock_irq(&v->fault_lock);
		e = v->fault_log[i % KVGPU_FAULT_LOG];
		spin_unlock_irq(&v->fault_lock);
		seq_printf(s, "%lld.%06lld %s channel %d addr 0x%llx code 0x%08x\n", ktime_to_us(e.when) / USEC_PER_SEC,
			   ktime_to_us(e.when) % USEC_PER_SEC, e.what, e.chid, e.addr, e.code);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(faults);

/* ------------------------------------------------------------------ making and removing; errors cost only the files */

void kvgpu_debugfs_init(void)
{
	root = debugfs_create_dir("kvgpu", NULL);
}

void kvgpu_debugfs_exit(void)
{
	debugfs_remove(root);
	root = NULL;
}

void kvgpu_debugfs_gpu_add(struct kvgpu_gpu *gpu)
{
	gpu->debugfs = debugfs_create_dir(pci_name(gpu->hw.pdev), root);
	debugfs_create_file("card", 0400, gpu->debugfs, gpu, &card_fops);
	debugfs_create_file("sched", 0400, gpu->debugfs, gpu, &sched_fops);
	debugfs_create_file("vgpus", 0400, gpu->debugfs, gpu, &vgpus_fops);
}

void kvgpu_debugfs_gpu_remove(struct kvgpu_gpu *gpu)
{
	debugfs_remove(gpu->debugfs);
	gpu->debugfs = NULL;
}

void kvgpu_debugfs_vgpu_add(struct kvgpu_vgpu *v)
{
	struct dentry *d = debugfs_create_dir(dev_name(v->vdev.dev), v->gpu->debugfs);

	debugfs_create_file("state", 0400, d, v, &state_fops);
	debugfs_create_file("channels", 0400, d, v, &channels_fops);
	debugfs_create_file("shadow", 0400, d, v, &shadow_fops);
	debugfs_create_file("registers", 0400, d, v, &registers_fops);
	debugfs_create_file("unlisted", 0400, d, v, &unlisted_fops);
	debugfs_create_file("hardware", 0400, d, v, &hardware_fops);
	debugfs_create_file("faults", 0400, d, v, &faults_fops);
	v->debugfs = d;
}

void kvgpu_debugfs_vgpu_remove(struct kvgpu_vgpu *v)
{
	debugfs_remove(v->debugfs);
	v->debugfs = NULL;
}
