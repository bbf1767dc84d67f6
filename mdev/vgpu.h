/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of the module and their owners.
 *
 * struct kvgpu_gpu: one physical GPU. Made by the PCI driver's probe, freed by its remove after all
 *   vGPUs are gone.
 * struct kvgpu_vgpu: one mediated device. Made by vfio's .init (resources reserved, memory
 *   scrubbed), freed by .release.
 *
 * This room has two halves: the VFIO face here, and the machine behind it (machine/). The face
 * calls the functions in machine/machine.h and knows nothing else of the machine. The machine calls
 * the functions at the end of this file.
 *
 * Locks, outer to inner (docs/locking.md has the whole order):
 *
 * vgpu->lock: all state of one vGPU, with the machine's (trap, shadows, channels). Process context,
 *   may sleep, held during pins.
 * gpu->lock: the list of vGPUs, groups of channel ids, merged runlists. Never held during a pin.
 * vgpu->map_lock: the data that the fault handler reads, see kvgpu_machine_pfn_find(). Only hw's
 *   locks and vma_lock are taken inside of it.
 * the locks of hw/
 *
 * The fault handler runs with the process's mmap_lock held, and a pin or vfio_dma_rw() under
 * vgpu->lock takes the mmap_lock. So the fault handler must not wait for vgpu->lock, nor for a lock
 * that is held together with it. It takes map_lock only, and no code pins, zaps or touches user
 * memory under map_lock.
 *
 * vgpu->irq_lock (spin) protects the change of eventfd contexts and the state of INTx only. No
 * eventfd is signalled under it.
 *
 * The vfio core calls .dma_unmap with its own locks held, and pins are made with vgpu->lock held.
 * machine/pin.c explains why the two never wait for each other.
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

#include "gk110/pci.h"
#include "hw/hw.h"

/* A type that admins can create, named by its video memory. Constant after vgpu_types_init(). */
struct kvgpu_type {
	struct mdev_type base;
	u64 vram;			/* bytes, a multiple of 4 MiB */
	/* sizes of the guest's BARs and of the slices of the card's BARs; bytes, powers of two */
	u64 bar[KVGPU_NR_BARS];
};

struct kvgpu_gpu {
	struct kvgpu_hw hw;
	struct mdev_parent parent;
	struct kvgpu_type type[4];
	struct mdev_type *types[4];
	u8 nr_types;

	struct kvgpu_hw_lock lock;
	struct list_head vgpus;		/* struct kvgpu_vgpu.node; gpu->lock */
	/*
	 * Protects the maps and next_id. Any process may ask how many vGPUs fit, so that no tenant
	 * ever waits for this lock.
	 */
	struct mutex types_lock;
	/* Taken partitions and slices, first fit; units and sizes: type.c. */
	unsigned long part_map[4], bar_map[KVGPU_NR_BARS][4];
	/* the PCI driver, and each vGPU until it is released completely */
	refcount_t users;
	struct completion idle;		/* completed when .users becomes 0 */
	u32 next_id;
	/* a write-combining memory type is reserved for the BAR's slices */
	bool wc[KVGPU_NR_BARS];
	struct kvgpu_chip *chip;	/* the machine's state of the card (machine/internal.h) */
	struct dentry *debugfs;
};

/* The latest faults of a vGPU, for debugfs; fault_lock. */
#define KVGPU_FAULT_LOG		32
struct kvgpu_fault_entry {
	ktime_t when;
	const char *what;		/* a constant string */
	s32 chid;			/* the guest's id, -1: unknown */
	u32 code;			/* fault info word, interrupt bits, ... */
	u64 addr;
};

struct kvgpu_counters {			/* of one vGPU; sysfs reads them without locks */
	atomic64_t bar0_reads, bar0_writes, bar_trapped, config, irqs, mmaps, zaps, faults,
		handler_ns;
};

/* The vGPU's own memory that its VMM maps into BAR0. Constant from .init to .release. */
enum {
	VGPU_OWN_FLUSH,			/* registers that ask for a flush: machine/flush.c */
	/* registers that only keep their values (KVGPU_TRAP_PLAIN_BASE) */
	VGPU_OWN_PLAIN,
	VGPU_OWN_ROM,			/* the vGPU's copy of the card's VBIOS */
	VGPU_NR_OWN
};

struct vgpu_own {
	u32 at, size;			/* place in BAR0 and size, bytes, whole pages */
	u8 *memory;			/* vmalloc */
};

struct kvgpu_vgpu {
	struct vfio_device vdev;	/* has to be the first member */
	struct kvgpu_gpu *gpu;
	const struct kvgpu_type *type;
	struct mdev_device *mdev;
	struct list_head node;		/* in gpu->vgpus; gpu->lock */
	u32 id;

	/* Resources, constant from .init to .release. */
	hvram_t part;			/* start of the partition; part_size is in bytes */
	u64 part_size;
	u64 slice[KVGPU_NR_BARS];	/* offsets in the card's BARs, bytes */
	/* offset of 1 MiB of the card's BAR1 that shows the guest's PRAMIN window */
	u64 pramin_slice;
	struct vgpu_own own[VGPU_NR_OWN];

	struct mutex lock;		/* see "Locks" above */
	bool open;			/* from .open_device to .close_device; written under lock */
	/* vgpu->lock; little endian, see vgpu_config_word() */
	u8 config[GK110_PCI_CONFIG_SIZE] __aligned(4);
	/* all other state of the guest, owned by the machine (machine/internal.h) */
	struct kvgpu_machine *m;

	struct mutex map_lock;		/* see "Locks" above */
	/*
	 * protects .vmas; taken inside map_lock. For kernels that give a device no inode (vmas.c)
	 */
	struct mutex vma_lock;
	struct list_head vmas;

	spinlock_t irq_lock;		/* see "Locks" above */
	/* changed under irq_lock, signalled under RCU without it: irq.c */
	struct eventfd_ctx __rcu *msi, *intx, *req;
	struct virqfd *intx_unmask;	/* handler of KVM's unmask eventfd; vgpu->lock */
	/* protected by irq_lock; .intx_pending: the guest's line is up and INTx not disabled */
	bool intx_masked, intx_pending;

	spinlock_t fault_lock;		/* leaf lock; protects fault_log and nr_faults */
	struct kvgpu_fault_entry fault_log[KVGPU_FAULT_LOG];
	/* faults ever noted; the newest is at (nr_faults - 1) % KVGPU_FAULT_LOG; fault_lock */
	u32 nr_faults;

	struct kvgpu_counters count;
	struct dentry *debugfs;
};

/* ------------------------------------------------------------------ the face, for the machine */

/**
 * kvgpu_mdev_irq_update() - signal a changed virtual interrupt
 * @v: the vGPU
 *
 * Reads line and edge of the virtual interrupt and signals the VMM's eventfds.
 *
 * Context: process, vgpu->lock held.
 */
void kvgpu_mdev_irq_update(struct kvgpu_vgpu *v);
/**
 * kvgpu_mdev_bar_zap() - remove user mappings of a region
 * @v: the vGPU
 * @region: VFIO_PCI_..._REGION_INDEX
 * @off: offset in the region, bytes
 * @len: bytes
 *
 * The next touch of a removed page faults and maps the frame that is behind the page by then.
 *
 * Context: process, vgpu->lock held, map_lock not held.
 */
void kvgpu_mdev_bar_zap(struct kvgpu_vgpu *v, unsigned int region, u64 off, u64 len);
/**
 * kvgpu_mdev_fault_note() - count, trace and log a fault
 * @v: the vGPU
 * @what: a constant string
 * @chid: the guest's channel id, or -1
 * @addr: virtual address, or 0
 * @code: fault info word, interrupt bits, ...
 *
 * Context: any.
 */
void kvgpu_mdev_fault_note(struct kvgpu_vgpu *v, const char *what, int chid, u64 addr, u32 code);

#endif
