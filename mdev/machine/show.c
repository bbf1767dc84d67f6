// SPDX-License-Identifier: GPL-2.0-only
/*
 * Prints the machine's state into debugfs files (debugfs.c). The format may change. A reader that
 * waits for vgpu->lock, whose holder may wait for the VMM, can be interrupted.
 */
#include <linux/seq_file.h>

#include "mdev/machine/internal.h"

/* ------------------- print the slicer of a card, its knowledge of each vGPU, and the ids in use */

static void show_slice(struct seq_file *s, struct machine_slicer *slicer,
		       const struct machine_slice *sl)
{
	const struct kvgpu_sched *sched = &sl->runl->sched;
	const struct kvgpu_sched_ent *e = &sl->ent;

	spin_lock(&slicer->lock);
	seq_printf(
		s,
		"%u weight %u cap %u entitled %u ppm busy %llu ns vtime %lld slices %llu%s%s%s%s%s%s\n",
		sl->m->v->id, e->weight, e->cap, kvgpu_sched_entitlement(sched, e), e->busy_ns,
		(s64)(e->vtime - sched->vclock), e->slices, sl->on_chip ? " on-chip" : "",
		sl->found.work ? " work" : "", sl->charge.busy ? " busy" : "",
		e->work && !e->runnable ? " parked" : "", e->suspended ? " suspended" : "",
		e->throttled ? " throttled" : "");
	spin_unlock(&slicer->lock);
}

static void show_policy(struct seq_file *s, struct machine_slicer *slicer,
			const struct machine_runl *r)
{
	const struct machine_slice *owner = READ_ONCE(r->lists.owner);

	spin_lock(&slicer->lock);
	seq_printf(s,
		   "runlist %u policy %s slice %llu us watchdog %u ms switches %llu busy %llu ns\n",
		   r->id, r->sched.policy->name, div_u64(r->sched.slice_ns, NSEC_PER_USEC),
		   slicer->watchdog_ms, r->lists.switches, r->samples.busy_ns);
	seq_printf(s, "chip %s%s present %u runnable %u\n", r->lists.shared ? "open" : "owned by ",
		   r->lists.shared ? "" :
		   owner	   ? dev_name(owner->m->v->vdev.dev) :
				     "nobody",
		   r->sched.nr_ents, r->sched.nr_runnable);
	spin_unlock(&slicer->lock);
}

/*
 * event_lock keeps the vGPUs as they are. Each line has the policy's values of one moment
 * (slicer->lock); two lines may be of different moments.
 */
void kvgpu_machine_gpu_show(struct kvgpu_gpu *gpu, struct seq_file *s)
{
	struct machine_slicer *slicer = &gpu->chip->slicer;
	struct machine_slice *sl;
	struct machine_runl *r;

	spin_lock(&gpu->chip->event_lock);
	for_each_runl(r, gpu->chip) {
		show_policy(s, slicer, r);
		list_for_each_entry(sl, &r->slices, node)
			show_slice(s, slicer, sl);
	}
	spin_unlock(&gpu->chip->event_lock);
	seq_printf(s, "requests %llu took %llu ns, ran %llu ns\n", slicer->requests.nr,
		   slicer->requests.took_ns, slicer->requests.ran_ns);
}

void kvgpu_machine_gpu_ids_show(struct kvgpu_gpu *gpu, struct seq_file *s)
{
	u32 blocks = 1 /* the host's */, tsgs = 0, i;

	for (i = 1; i < KVGPU_NR_ID_BLOCKS; i++)
		blocks += !!READ_ONCE(gpu->chip->has_id[0][i * KVGPU_ID_BLOCK]);
	for (i = 1; i < GK110_FIFO_NR_TSG; i++)
		tsgs += !!READ_ONCE(gpu->chip->has_id[1][i]);
	seq_printf(s, "channel groups in use %u of %u, TSGs %u\n", blocks, KVGPU_NR_ID_BLOCKS,
		   tsgs);
}

/* ---------------------------------------------------- print a vGPU's state, channels and shadow */

static void show_window(struct seq_file *s, const struct machine_win *w)
{
	seq_printf(s, "bar%u ", kvgpu_bar_number(w->bar));
	if (!w->guest.bound)
		seq_puts(s, "unbound\n");
	else if (!w->guest.is_virtual)
		seq_puts(s, "physical\n");
	else
		seq_printf(s, "instance 0x%llx limit 0x%llx\n", w->guest.inst.addr, w->guest.limit);
}

static void show_vgpu_state(struct seq_file *s, struct kvgpu_vgpu *v)
{
	unsigned int i;

	for (i = 0; i < KVGPU_NR_BARS; i++)
		show_window(s, &v->m->view.win[i]);
	seq_printf(s, "doorbells at bar1 0x%llx\n", v->m->view.userd_bar1);
	seq_printf(s, "interrupt line %d sources 0x%08x 0x%08x pfifo 0x%08x\n", v->m->trap.line,
		   v->m->trap.intr_src, v->m->trap.intr_nrhost, v->m->trap.fifo_intr);
	seq_printf(
		s,
		"registers in use %u read %llu written %llu unlisted %llu dropped %llu denied %llu\n",
		v->m->trap.nr_slots_used, v->m->trap.nr_reads, v->m->trap.nr_writes,
		v->m->trap.nr_unlisted, v->m->trap.nr_dropped, v->m->trap.nr_denied);
	seq_printf(s, "events waiting %u dropped %llu\n", v->m->event.put - v->m->event.get,
		   v->m->event.dropped);
	if (v->m->runl.nr)
		seq_printf(s, "runlist 0 entries %u%s\n", v->m->runl.nr,
			   v->m->trap.runl_blocked ? " blocked" : "");
}

static void show_channels(struct seq_file *s, struct kvgpu_vgpu *v)
{
	struct kvgpu_chan *c;
	unsigned long id;

	xa_for_each(&v->m->ids.chans, id, c) {
		u32 get, put;

		kvgpu_hw_userd_read(&v->gpu->hw, c->hchid, &get, &put);
		seq_printf(
			s,
			"guest %u chip %u runlist 0 -> %u instance %u:0x%llx shadow 0x%llx tsg %d -> %d get %u put %u%s%s%s\n",
			c->gchid.v, c->hchid.v, c->slice->runl->id, c->guest.inst.target,
			c->guest.inst.addr, c->host.inst.at.v, c->guest.tsg, c->host.tsg, get, put,
			c->guest.enabled ? " enabled" : "", c->dead ? " dead" : "",
			c->gr ? " gr" : "");
	}
}

static void show_shadow(struct seq_file *s, const struct kvgpu_vgpu *v)
{
	const struct kvgpu_shadow_stats *st = &v->m->mem.shadow.stats;

	seq_printf(s, "tables %u of %u\n", v->m->mem.shadow.nr_tables,
		   v->m->mem.shadow.cfg.max_tables);
	seq_printf(s, "syncs %llu tables read %llu bytes read %llu\n", st->syncs, st->tables_read,
		   st->bytes_read);
	seq_printf(s, "entries compared %llu written %llu rejected %llu\n", st->entries_compared,
		   st->entries_written, st->rejected);
	seq_printf(s, "pages pinned %llu of %llu, pins %llu unpins %llu\n", st->pinned,
		   v->m->mem.shadow.cfg.max_pinned, st->pins, st->unpins);
}

/* --------------------------- print a vGPU's registers, in the order of the register file's hash */

static const char *reg_class_name(enum kvgpu_reg_class c)
{
	static const char *const names[] = {
		[KVGPU_REG_UNLISTED] = "unlisted", [KVGPU_REG_CONST] = "const",
		[KVGPU_REG_FILE] = "file",	   [KVGPU_REG_EMULATE] = "emulate",
		[KVGPU_REG_TRAP] = "trap",	   [KVGPU_REG_DENY] = "deny",
	};

	return c < ARRAY_SIZE(names) ? names[c] : "?";
}

static void show_reg_slot(struct seq_file *s, const struct kvgpu_reg_slot *slot,
			  const struct kvgpu_reg_info *info)
{
	seq_printf(s, "0x%06x 0x%08x rd %u wr %u %s/%s %s %s\n", slot->reg & ~1u, slot->val,
		   slot->rd, slot->wr, reg_class_name(info->rd), reg_class_name(info->wr),
		   info->unit ?: "-", info->name ?: "-");
}

/* Prints the guest's stored value of a register, if reads return it, beside the chip's value. */
static void show_hardware(struct seq_file *s, struct kvgpu_vgpu *v,
			  const struct kvgpu_reg_slot *slot, const struct kvgpu_reg_info *info)
{
	u32 reg = slot->reg & ~1u, chip;

	if (info->rd != KVGPU_REG_FILE)
		return;
	chip = kvgpu_hw_peek(&v->gpu->hw, reg);
	seq_printf(s, "0x%06x guest 0x%08x chip 0x%08x %s %s %s\n", reg, slot->val, chip,
		   slot->val == chip ? "same" : "differs", info->unit, info->name ?: "-");
}

static void show_reg_slots(struct seq_file *s, struct kvgpu_vgpu *v, enum machine_show what)
{
	unsigned int i;

	for (i = 0; v->m->trap.slot && i < KVGPU_TRAP_SLOTS; i++) {
		const struct kvgpu_reg_slot *slot = &v->m->trap.slot[i];
		struct kvgpu_reg_info info = {};
		bool listed;

		if (!slot->reg || (!slot->rd && !slot->wr))
			continue;
		listed = kvgpu_trap_info(slot->reg & ~1u, &info);
		if (what == MACHINE_HARDWARE && listed)
			show_hardware(s, v, slot, &info);
		if (what == MACHINE_REGISTERS || (what == MACHINE_UNLISTED && !listed))
			show_reg_slot(s, slot, &info);
	}
}

int kvgpu_machine_vgpu_show(struct kvgpu_vgpu *v, struct seq_file *s, enum machine_show what)
{
	if (mutex_lock_interruptible(&v->lock))
		return -EINTR;
	switch (what) {
	case MACHINE_STATE:
		show_vgpu_state(s, v);
		break;
	case MACHINE_CHANNELS:
		show_channels(s, v);
		break;
	case MACHINE_SHADOW:
		show_shadow(s, v);
		break;
	case MACHINE_REGISTERS:
	case MACHINE_UNLISTED:
	case MACHINE_HARDWARE:
		show_reg_slots(s, v, what);
		break;
	}
	mutex_unlock(&v->lock);
	return 0;
}
