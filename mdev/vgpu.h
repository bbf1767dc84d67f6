/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of the module and who owns them.
 *
 *   struct kvgpu_gpu   one physical GPU. Made by the PCI driver's probe, ended by remove after all
 *                      vGPUs are gone.
 *   struct kvgpu_vgpu  one mediated device. Made by vfio .init (resources reserved, memory
 *                      scrubbed), ended by .release.
 *
 * Two halves of this room: the VFIO face, here, and the machine behind it (machine/). The face
 * calls what is in machine/machine.h and knows nothing else of the machine; the machine calls what
 * is at the end of this file.
 *
 * Locks, outer to inner (docs/locking.md has the whole order):
 *   vgpu->lock     everything of one vGPU, the machine's state (trap, shadows, channels) too.
 *                  Process context, may sleep, held during pins.
 *   gpu->lock      lists of vGPUs, channel-id groups, merged runlists. Never held across a pin.
 *   vgpu->map_lock what the fault handler looks at, see vgpu_machine_fault(). Leaf: only hw's locks
 *   below it. hw's own locks
 * The fault handler runs with the process's mmap_lock held, and a pin or vfio_dma_rw() under
 * vgpu->lock takes the mmap_lock. So the fault handler must not wait for vgpu->lock, directly or by
 * anything that is held with it: it takes map_lock only, under which nobody pins, zaps or touches
 * user memory. vgpu->irq_lock (spin) guards the change of eventfd contexts and the state of INTx
 * only; nothing is signalled under it. The vfio core calls .dma_unmap with its own locks held, and
 * pins are made with vgpu->lock held: machine/pin.c says why the two never wait for each other.
 */
#ifndef KVGPU_MDEV_VGPU_H
#define KVGPU_MDEV_VGPU_H

#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/completion.h>
#include <linux/eventfd.h>
#include <linux/list.h>
#include <linux/mdev.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/vfio.h>
#include <linux/workqueue.h>

#include "hw/hw.h"

/* a type that admins can create; named by its video memory */
struct kvgpu_type {
	struct mdev_type base;
	u64 vram;			/* bytes, multiple of 4 MiB */
	/* sizes shown to the guest, powers of two; slices of the card's */
	u64 bar1, bar3;
};

struct kvgpu_gpu {
	struct kvgpu_hw hw;
	struct mdev_parent parent;
	struct kvgpu_type type[4];
	struct mdev_type *types[4];
	u8 nr_types;

	struct kvgpu_hw_lock lock;
	struct list_head vgpus;		/* struct kvgpu_vgpu.node; gpu->lock */
	/* anybody may ask how many vGPUs fit: no tenant ever waits for this lock */
	struct mutex types_lock;
	/*
	 * partitions, BAR1 and BAR3 slices: first fit, 1 = taken; units and sizes are type.c's;
	 * types_lock, as next_id is
	 */
	unsigned long part_map[4], bar_map[4], bar3_map[4];
	/* the PCI driver's, and one for each vGPU until it is released altogether */
	refcount_t users;
	struct completion idle;		/* the last of them has gone */
	u32 next_id;
	bool wc1, wc3;			/* memory type of BAR1's slices, of BAR3 is reserved */
	/* the machine's: who is on the chip, events and recovery (machine/internal.h) */
	struct kvgpu_chip *chip;
	struct dentry *debugfs;
};

/* what went wrong on a vGPU lately, for debugfs */
#define KVGPU_FAULT_LOG		32
struct kvgpu_fault_entry {
	ktime_t when;
	const char *what;		/* a constant string */
	s32 chid;			/* the guest's, -1: unknown */
	u32 code;			/* fault info word, interrupt bits, ... */
	u64 addr;
};

/* per vGPU, read by sysfs without locks; faults by vgpu_note_fault() */
struct kvgpu_counters {
	atomic64_t bar0_reads, bar0_writes, bar_trapped, config, irqs, mmaps, zaps, faults,
		handler_ns;
};

/* memory of the vGPU's own that its VMM maps into BAR0; constant from .init to .release */
enum {
	VGPU_OWN_FLUSH,			/* registers that ask for a flush: mdev/machine/flush.c */
	VGPU_OWN_PLAIN,			/* registers that only keep their values: trap.h */
	VGPU_OWN_ROM,			/* its copy of the card's VBIOS */
	VGPU_NR_OWN
};

struct vgpu_own {
	u32 at, size;			/* in BAR0, whole pages */
	u8 *memory;			/* vmalloc */
};

struct kvgpu_vgpu {
	struct vfio_device vdev;	/* first */
	struct kvgpu_gpu *gpu;
	const struct kvgpu_type *type;
	struct mdev_device *mdev;
	struct list_head node;		/* gpu->vgpus, gpu->lock */
	u32 id;

	/* resources, constant from .init to .release */
	hvram_t part;			/* base of the partition */
	u64 part_size;
	u64 bar1_slice, bar3_slice;	/* offsets in the card's BARs */
	/* 1 MiB of the card's BAR1 that shows the guest's PRAMIN window */
	u64 pramin_slice;
	struct vgpu_own own[VGPU_NR_OWN];

	struct mutex lock;
	bool open;
	u8 config[4096] __aligned(4);	/* little endian, see vgpu_config_word() */
	/* the machine's: all that the guest made of it (machine/internal.h) */
	struct kvgpu_machine *m;

	struct mutex map_lock;
	/* vmas; inside map_lock. Used where the kernel gives a device no inode (vmas.c) */
	struct mutex vma_lock;
	struct list_head vmas;

	spinlock_t irq_lock;
	/* signalled under RCU, without irq_lock: irq.c */
	struct eventfd_ctx __rcu *msi, *intx, *req;
	struct virqfd *intx_unmask;
	bool intx_masked, intx_pending;	/* pending: the level of the guest's line */

	spinlock_t fault_lock;
	struct kvgpu_fault_entry fault_log[KVGPU_FAULT_LOG];
	/* ever; the newest is at (nr_faults - 1) % KVGPU_FAULT_LOG */
	u32 nr_faults;

	struct kvgpu_counters count;
	struct dentry *debugfs;
};

/* ------------------------------------------------------------------ the face, for the machine */

/* the state of the virtual interrupt changed: signal eventfds. vgpu->lock held */
void vgpu_irq_update(struct kvgpu_vgpu *v);
/*
 * the CPU mapping of [off, off + len) of a region must be taken anew at the next touch; vgpu->lock
 * held, map_lock not
 */
void vgpu_zap_bar(struct kvgpu_vgpu *v, unsigned int region, u64 off, u64 len);
/*
 * counts, traces and keeps a fault; any context. @what is a constant string, @chid the guest's or
 * -1
 */
void vgpu_note_fault(struct kvgpu_vgpu *v, const char *what, int chid, u64 addr, u32 code);

#endif
