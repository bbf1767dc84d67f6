// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: kvgpu/<card>/{card,registers,vgpus,sched} and
 * kvgpu/<card>/<uuid>/{state,channels,shadow,registers,unlisted,hardware,faults}. Their format may
 * change.
 *
 * A read of "vgpus" takes gpu->lock, of another file of a card event_lock and slicer->lock at most.
 * A read of a vGPU's "faults" takes fault_lock alone. A read of another file of a vGPU takes
 * vgpu->lock, and can be interrupted while it waits for that lock.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>

#include "gk110/falcon.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/pfb.h"
#include "gk110/pfuse.h"
#include "gk110/pmc.h"
#include "gk110/ptop.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"

static struct dentry *root;

/* ------------------------------------------------------------------ print the files of a card */

static int card_show(struct seq_file *s, void *unused)
{
	struct kvgpu_gpu *gpu = s->private;
	const struct kvgpu_hw *hw = &gpu->hw;
	unsigned int i;

	seq_printf(s, "boot0 0x%08x vram %llu MiB partitions 0x%llx-0x%llx\n", hw->topo.boot0,
		   hw->vram_size / SZ_1M, hw->part_first, hw->part_end);
	seq_printf(s, "gpcs %u rops %u fbps %u ltcs %u graphics context %u bytes\n", hw->topo.gpcs,
		   hw->topo.rops, hw->topo.fbps, hw->topo.ltcs, hw->gr_ctx_size);
	for (i = 0; i < hw->topo.nr_engines; i++) {
		const struct kvgpu_engine *e = &hw->topo.engine[i];

		seq_printf(s, "engine %u type %u.%u runlist %u fault unit 0x%02x base 0x%06x\n",
			   e->id, e->type, e->inst, e->runl, e->fault, e->base);
	}
	seq_printf(
		s,
		"tlb flushes %llu bar flushes %llu runlists %llu preempts %llu resets %llu interrupts %llu unhandled %llu\n",
		hw->stats.tlb_flushes, hw->stats.bar_flushes, hw->stats.runlists,
		hw->stats.preempts, hw->stats.resets, hw->stats.intrs, hw->stats.unhandled);
	kvgpu_machine_gpu_ids_show(gpu, s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(card);

/*
 * Registers that say what the board is, for kvgpu-verify (tools/verify/registers.py). Memory
 * controllers that are off are left out: to read them is an error, which the card reports.
 */
static int board_show(struct seq_file *s, void *unused)
{
	static const struct {
		u32 first, step;
		u16 nr;
	} regs[] = {
		{ PMC_BOOT_0, 4, 1 },
		{ PMC_ENABLE, 4, 2 },
		{ PFIFO_PBDMA_RUNLISTS(0), 4, 3 },
		{ PTOP_DEVINIT, 4, 1 },
		{ PTOP_GPC_COUNT, 4, 7 },
		{ PTOP_DISABLE, 4, 24 },
		{ PTOP_DEVICE(0), 4, PTOP_DEVICE_NR },
		{ PSTRAPS_BOOT0, 4, 1 },
		{ PFFB_LTC_COUNT, 4, 1 },
		{ PBFB_BASE(0) + PBFB_AMOUNT, PBFB_BASE(1) - PBFB_BASE(0), GK110_DESIGN_FBP },
		{ GR_FECS + FALCON_CAPS, 4, 1 },
		{ GR_FECS + FECS_UNITS, 4, 1 },
		{ GR_GPC(0, GPC_GPCCS + FALCON_CAPS), 4, 1 },
		{ GR_GPC(0, GPC_GPCCS + GPCCS_UNITS), GR_GPC_STRIDE, GK110_DESIGN_GPC },
	};
	struct kvgpu_gpu *gpu = s->private;
	u32 off = kvgpu_hw_peek(&gpu->hw, PTOP_DISABLE_FBPA);
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(regs); i++)
		for (n = 0; n < regs[i].nr; n++) {
			u32 reg = regs[i].first + n * regs[i].step;

			if (regs[i].first == PBFB_BASE(0) + PBFB_AMOUNT && off & BIT(n))
				continue;
			seq_printf(s, "0x%06x 0x%08x\n", reg, kvgpu_hw_peek(&gpu->hw, reg));
		}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(board);

static int vgpus_show(struct seq_file *s, void *unused)
{
	struct kvgpu_gpu *gpu = s->private;
	struct kvgpu_vgpu *v;

	mutex_lock(&gpu->lock);
	list_for_each_entry(v, &gpu->vgpus, node)
		seq_printf(s,
			   "%u %s %s %s partition 0x%llx bar1 0x%llx bar3 0x%llx pramin 0x%llx\n",
			   v->id, dev_name(v->vdev.dev), v->type->base.sysfs_name,
			   READ_ONCE(v->open) ? "open" : "closed", v->part.v, v->slice[KVGPU_BAR1],
			   v->slice[KVGPU_BAR3], v->pramin_slice);
	mutex_unlock(&gpu->lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(vgpus);

static int sched_show(struct seq_file *s, void *unused)
{
	kvgpu_machine_gpu_show(s->private, s);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(sched);

/* ------------------------------------------------------------------ print the files of a vGPU */

static int state_show(struct seq_file *s, void *unused)
{
	struct kvgpu_vgpu *v = s->private;

	seq_printf(s, "id %u type %s open %d\n", v->id, v->type->base.sysfs_name,
		   READ_ONCE(v->open));
	seq_printf(s, "msi %d intx %d masked %d pending %d request %d\n", !!READ_ONCE(v->msi),
		   !!READ_ONCE(v->intx), READ_ONCE(v->intx_masked), READ_ONCE(v->intx_pending),
		   !!READ_ONCE(v->req));
	return kvgpu_machine_vgpu_show(v, s, MACHINE_STATE);
}
DEFINE_SHOW_ATTRIBUTE(state);

#define MACHINE_FILE(name, what)                                     \
	static int name##_show(struct seq_file *s, void *unused)     \
	{                                                            \
		return kvgpu_machine_vgpu_show(s->private, s, what); \
	}                                                            \
	DEFINE_SHOW_ATTRIBUTE(name)

MACHINE_FILE(channels, MACHINE_CHANNELS);
MACHINE_FILE(shadow, MACHINE_SHADOW);
MACHINE_FILE(registers, MACHINE_REGISTERS);
MACHINE_FILE(unlisted, MACHINE_UNLISTED);
MACHINE_FILE(hardware, MACHINE_HARDWARE);

static int fault_log_show(struct seq_file *s, void *unused)
{
	struct kvgpu_vgpu *v = s->private;
	struct kvgpu_fault_entry e;
	u32 i, nr = READ_ONCE(v->nr_faults);

	seq_printf(s, "%u faults\n", nr);
	for (i = nr > KVGPU_FAULT_LOG ? nr - KVGPU_FAULT_LOG : 0; i < nr; i++) {
		spin_lock_irq(&v->fault_lock);
		e = v->fault_log[i % KVGPU_FAULT_LOG];
		spin_unlock_irq(&v->fault_lock);
		seq_printf(s, "%lld.%06lld %s channel %d addr 0x%llx code 0x%08x\n",
			   ktime_to_us(e.when) / USEC_PER_SEC, ktime_to_us(e.when) % USEC_PER_SEC,
			   e.what, e.chid, e.addr, e.code);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(fault_log);

/*
 * Create and remove the files. Errors of debugfs are ignored: without the files all else works.
 */

void vgpu_debugfs_init(void)
{
	root = debugfs_create_dir("kvgpu", NULL);
}

void vgpu_debugfs_exit(void)
{
	debugfs_remove(root);
	root = NULL;
}

void vgpu_debugfs_gpu_add(struct kvgpu_gpu *gpu)
{
	gpu->debugfs = debugfs_create_dir(pci_name(gpu->hw.pdev), root);
	debugfs_create_file("card", 0400, gpu->debugfs, gpu, &card_fops);
	debugfs_create_file("registers", 0400, gpu->debugfs, gpu, &board_fops);
	debugfs_create_file("sched", 0400, gpu->debugfs, gpu, &sched_fops);
	debugfs_create_file("vgpus", 0400, gpu->debugfs, gpu, &vgpus_fops);
}

void vgpu_debugfs_gpu_remove(struct kvgpu_gpu *gpu)
{
	debugfs_remove(gpu->debugfs);
	gpu->debugfs = NULL;
}

void vgpu_debugfs_vgpu_add(struct kvgpu_vgpu *v)
{
	struct dentry *d = debugfs_create_dir(dev_name(v->vdev.dev), v->gpu->debugfs);

	debugfs_create_file("state", 0400, d, v, &state_fops);
	debugfs_create_file("channels", 0400, d, v, &channels_fops);
	debugfs_create_file("shadow", 0400, d, v, &shadow_fops);
	debugfs_create_file("registers", 0400, d, v, &registers_fops);
	debugfs_create_file("unlisted", 0400, d, v, &unlisted_fops);
	debugfs_create_file("hardware", 0400, d, v, &hardware_fops);
	debugfs_create_file("faults", 0400, d, v, &fault_log_fops);
	v->debugfs = d;
}

void vgpu_debugfs_vgpu_remove(struct kvgpu_vgpu *v)
{
	debugfs_remove(v->debugfs);
	v->debugfs = NULL;
}
