/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the machine behind a vGPU's registers does for the face of VFIO, and all that the face knows
 * of it. vgpu->lock is held where nothing else is said.
 */
#ifndef KVGPU_MDEV_MACHINE_MACHINE_H
#define KVGPU_MDEV_MACHINE_MACHINE_H

#include "kvgpu/sched.h"
#include "mdev/vgpu.h"

/*
 * .init: the constant fields are set and in nobody else's sight (not on gpu->vgpus), no lock held.
 * Makes scrap, trap with its slots, shadow, windows, touched; scrubs the partition. On error it
 * leaves nothing behind.
 */
int vgpu_machine_init(struct kvgpu_vgpu *v);
/* .release, off gpu->vgpus, no lock held: everything off the chip, pins gone, memory scrubbed */
void vgpu_machine_fini(struct kvgpu_vgpu *v);
/* registers, shadows and windows are as after power-on when it returns 0 */
int vgpu_machine_open(struct kvgpu_vgpu *v);
void vgpu_machine_close(struct kvgpu_vgpu *v);	/* stops all channels, unpins all guest memory */
/*
 * VFIO_DEVICE_RESET, FLR: as after power-on. After this and after open the face tells the
 * configuration space by vgpu_machine_config() and calls vgpu_irq_update().
 */
void vgpu_machine_reset(struct kvgpu_vgpu *v);
/*
 * one register of BAR0, not PRAMIN: aligned, @be has 0xff for each byte written. They call
 * vgpu_irq_update() if needed.
 */
u32 vgpu_machine_read(struct kvgpu_vgpu *v, u32 reg);
void vgpu_machine_write(struct kvgpu_vgpu *v, u32 reg, u32 val, u32 be);
/*
 * the virtual interrupt: its level, and in *@edge whether it rose since this was last asked so;
 * NULL: only a look
 */
bool vgpu_machine_irq(struct kvgpu_vgpu *v, bool *edge);
/* a word of the configuration space changed, which the guest sees in BAR0 too */
void vgpu_machine_config(struct kvgpu_vgpu *v, u32 off, u32 val);
/* this thread, which is in no other call of the kernel's, calls for something. Any lock, or none */
void vgpu_machine_called(void);
/*
 * a guest is about to write a register: waits, for a bounded time, while its VMM unmaps memory.
 * Without vgpu->lock
 */
void vgpu_machine_unmap_wait(struct kvgpu_vgpu *v);
/*
 * calls vgpu_irq_update() soon, with vgpu->lock held, within the budget of the VMM's signals. Any
 * context
 */
void vgpu_machine_signal(struct kvgpu_vgpu *v);
/* guest memory is being unmapped: returns when the GPU can't reach it. Called without vgpu->lock */
void vgpu_machine_dma_unmap(struct kvgpu_vgpu *v, u64 iova, u64 len);
/*
 * Which page frame backs a page of a region for the CPU. Regions: 0 (PRAMIN window only, @off is
 * the offset in BAR0), 1, 3; @off is a page inside. Called from the fault handler with
 * vgpu->map_lock held and *not* vgpu->lock; must not sleep for anything but hw's locks. Also notes
 * table pages that become writable (dirty tracking). The mapping is in place when map_lock is
 * released: who changes the answer does so under map_lock and calls vgpu_zap_bar() afterwards,
 * without it. 0 or an error, which sends SIGBUS to the VMM: give the scrap page instead where a
 * guest could cause it. For BAR1 the face may ask for a whole aligned 2 MiB at once, page by page,
 * and map it as one if it is contiguous.
 */
int vgpu_machine_fault(struct kvgpu_vgpu *v, unsigned int region, u64 off, unsigned long *pfn);
/*
 * Trapped access (the CPU mapping does not exist): the same page through the host's mapping. @off
 * as above, [off, off + len) lies inside one page.
 */
int vgpu_machine_bar_access(struct kvgpu_vgpu *v, unsigned int region, u64 off, void *buf,
			    size_t len, bool write);

/*
 * chip-wide: hw events come in here, find the vGPU, take its lock or leave the event to who holds
 * it
 */
extern const struct kvgpu_hw_events kvgpu_machine_events;
/* before kvgpu_hw_init() (which may bring events), and after kvgpu_hw_fini() */
int kvgpu_machine_gpu_init(struct kvgpu_gpu *gpu);
void kvgpu_machine_gpu_fini(struct kvgpu_gpu *gpu);
/*
 * time slices: after the types are known, before anybody can create a vGPU; stopped when the last
 * one is gone
 */
int kvgpu_machine_gpu_start(struct kvgpu_gpu *gpu);
void kvgpu_machine_gpu_stop(struct kvgpu_gpu *gpu);

/* --------------------------------------- for people and tools: stats.c, show.c; no lock is held */

/* of a vGPU, for sysfs.c */
struct machine_stats {
	u64 registers_unlisted, registers_denied;
	u64 syncs, tables_read, bytes_read, entries_compared, entries_written, entries_rejected;
	u64 tlb_flushes, spaces_kept, pinned_pages, doorbells_trapped;
	u64 slices, preempts, preempt_ns, preempt_ns_max, strikes;
	u32 weight, cap;
	bool runnable, suspended;
};

enum machine_knob { MACHINE_WEIGHT, MACHINE_CAP };

void vgpu_machine_stats(const struct kvgpu_vgpu *v, struct machine_stats *st);
u64 vgpu_machine_gpu_time(const struct kvgpu_vgpu *v);		/* ns, as of now */
u32 vgpu_machine_entitlement(const struct kvgpu_vgpu *v);	/* millionths of the GPU's time */
/* -ERANGE, and nothing has changed */
int vgpu_machine_set(struct kvgpu_vgpu *v, enum machine_knob knob, unsigned int val);
void vgpu_machine_forgive(struct kvgpu_vgpu *v);	/* no strikes, not suspended */

/* of a card */
struct machine_gpu_stats {
	enum kvgpu_sched_policy policy;
	u64 slice_us, busy_ns, switches;
	unsigned int watchdog_ms;
};

enum machine_gpu_knob { MACHINE_POLICY, MACHINE_SLICE_US, MACHINE_WATCHDOG_MS };

void kvgpu_machine_gpu_stats(const struct kvgpu_gpu *gpu, struct machine_gpu_stats *st);
int kvgpu_machine_gpu_set(struct kvgpu_gpu *gpu, enum machine_gpu_knob knob, unsigned int val);

/*
 * debugfs: prints what the machine knows. -EINTR: who reads was interrupted while another one had
 * vgpu->lock
 */
enum machine_show {
	MACHINE_STATE,
	MACHINE_CHANNELS,
	MACHINE_SHADOW,
	MACHINE_REGISTERS,
	MACHINE_UNLISTED,
	MACHINE_HARDWARE
};

struct seq_file;
int vgpu_machine_show(struct kvgpu_vgpu *v, struct seq_file *s, enum machine_show what);
void kvgpu_machine_gpu_show(struct kvgpu_gpu *gpu, struct seq_file *s);	/* who has the chip */
/* what of the chip's ids is given to vGPUs */
void kvgpu_machine_gpu_show_ids(struct kvgpu_gpu *gpu, struct seq_file *s);

#endif
