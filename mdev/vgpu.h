/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The two main objects of the module, and their locks.
 *
 * struct kvgpu_gpu: one physical GPU. The PCI driver's probe makes it, its remove frees it.
 * struct kvgpu_vgpu: one mediated device. .init of its vfio_device_ops (vgpu_init()) reserves its
 *   resources, .release (vgpu_release()) gives them back.
 *
 * The folder mdev/ has two halves: the VFIO face (the files in mdev/ itself), and the machine
 * behind it (mdev/machine/). The face calls the functions in machine/machine.h, and the machine
 * those at the end of this file.
 *
 * Locks (docs/locking.md has the whole order; map_lock and irq_lock are taken inside vgpu->lock,
 * gpu->lock is not):
 *
 * vgpu->lock: protects the state of one vGPU, also the state that the machine keeps (registers,
 *   shadow page tables, channels), except what another lock protects. Taken in process context. Its
 *   holder may sleep, and may pin guest memory.
 * gpu->lock: protects the list of vGPUs. No lock is taken inside it.
 * vgpu->map_lock: protects what the page fault handler reads to find the frame behind a page
 *   (kvgpu_machine_pfn_find()). That is changed with vgpu->lock and map_lock held, so a thread that
 *   holds vgpu->lock may read it without map_lock.
 * the locks of struct kvgpu_hw_priv (hw/internal.h)
 *
 * The page fault handler runs with the process's mmap_lock held, and a pin or vfio_dma_rw() under
 * vgpu->lock may take the mmap_lock. So the handler must not wait for vgpu->lock, nor for a lock
 * under which other code takes the mmap_lock. The handler may take map_lock, and vma_lock inside
 * it. No code pins, zaps or touches user memory under map_lock.
 *
 * vgpu->irq_lock (spin) protects the pointers to eventfd contexts and the state of INTx. No eventfd
 * is signalled under it.
 *
 * Pins are made with vgpu->lock held, and .dma_unmap takes vgpu->lock. That is no deadlock: a pin
 * needs iommu->lock of VFIO's container and mmap_lock, and the caller of .dma_unmap holds neither.
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

/* A type of vGPU. Its members but .base are constant after vgpu_types_init(). */
struct kvgpu_type {
	struct mdev_type base;
	u64 vram; /* bytes, a multiple of 512 MiB */
	/*
	 * sizes of BAR1 and BAR3 that the guest sees, and of the vGPU's slices of the card's BARs;
	 * bytes
	 */
	u64 bar[KVGPU_NR_BARS];
};

struct kvgpu_gpu {
	struct kvgpu_hw hw;
	struct mdev_parent parent;
	struct kvgpu_type type[4];
	struct mdev_type *types[4];
	u8 nr_types;

	struct mutex lock;
	struct list_head vgpus; /* by struct kvgpu_vgpu.node; protected by gpu->lock */
	/*
	 * Protects .part_map, .bar_map and .next_id. Do not take it while a tenant's access to its
	 * vGPU is served: any process can make the kernel take it again and again, by reads of
	 * available_instances in sysfs.
	 */
	struct mutex types_lock;
	/* bitmaps of the units of video memory and of the BARs that are taken; units: type.c */
	unsigned long part_map[4], bar_map[KVGPU_NR_BARS][4];
	/* counts 1 for the PCI driver, and 1 for each vGPU until vgpu_type_unreserve() */
	refcount_t users;
	struct completion idle; /* completed when .users becomes 0 */
	u32 next_id;
	/* true: a write-combining memory type is reserved for the slices of this BAR */
	bool wc[KVGPU_NR_BARS];
	struct kvgpu_chip *chip; /* the machine's state of the card (machine/internal.h) */
	struct dentry *debugfs;
};

/* The log of a vGPU's latest faults, which debugfs shows; vgpu->fault_lock. */
#define KVGPU_FAULT_LOG 32
struct kvgpu_fault_entry {
	ktime_t when; /* time since boot */
	const char *what; /* kind of fault, a constant string */
	s32 chid; /* the guest's channel id; -1: unknown or none */
	u32 code; /* depends on .what: fault info word, interrupt bits, ... */
	u64 addr; /* depends on .what: an address, a number or 0 */
};

/*
 * Counters of one vGPU, which sysfs reads without locks. .bar_trapped: trapped accesses of BAR1 and
 * BAR3. .mmaps: page faults on BARs. .handler_ns: ns that the trapped accesses and page faults
 * took, but for parts that sysfs.c names.
 */
struct kvgpu_counters {
	atomic64_t bar0_reads, bar0_writes, bar_trapped, config, irqs, mmaps, zaps, faults,
		handler_ns;
};

/*
 * Areas of a vGPU's BAR0 that are host memory of this vGPU: the VMM can map them into the guest.
 * The memory stays the same from .init to .release.
 */
enum {
	VGPU_OWN_FLUSH, /* registers by which the guest asks for a flush: machine/flush.c */
	/* registers that keep what the guest writes (mmio-trap/trap.h) */
	VGPU_OWN_PLAIN,
	VGPU_OWN_ROM, /* the vGPU's copy of the card's VBIOS */
	/* registers of the MMU, which are mapped at times only: machine/dirty.c */
	VGPU_OWN_MMU,
	VGPU_NR_OWN
};

struct vgpu_own {
	u32 at, size; /* offset in BAR0, and size: bytes, whole pages */
	u8 *memory; /* vmalloc */
};

struct kvgpu_vgpu {
	struct vfio_device vdev; /* has to be the first member */
	struct kvgpu_gpu *gpu;
	const struct kvgpu_type *type;
	struct mdev_device *mdev;
	struct list_head node; /* in gpu->vgpus; protected by gpu->lock */
	u32 id;

	/* Resources, constant from .init to .release. */
	hvram_t part; /* start of the vGPU's partition of video memory */
	u64 part_size; /* bytes */
	u64 slice[KVGPU_NR_BARS]; /* offsets of the slices in the card's BARs, bytes */
	/* offset in the card's BAR1 of the 1 MiB that shows the guest's PRAMIN window, bytes */
	u64 pramin_slice;
	struct vgpu_own own[VGPU_NR_OWN];

	struct mutex lock; /* see "Locks" above */
	/* the device is open; .lock to write; debugfs reads it without a lock */
	bool open;
	/* number of calls of .dma_unmap that are under way: vgpu_iommufd_unbind() */
	atomic_t unmaps;
	/* PCI configuration space, little endian (vgpu_config_word()); protected by .lock */
	u8 config[GK110_PCI_CONFIG_SIZE] __aligned(4);
	/* all other state of the guest, owned by the machine (machine/internal.h) */
	struct kvgpu_machine *m;

	struct mutex map_lock; /* see "Locks" above */
	/*
	 * protects .vmas and .nr_vmas; inside map_lock; for kernels that give a VFIO device no
	 * inode of its own (vmas.c)
	 */
	struct mutex vma_lock;
	struct list_head vmas;
	u32 nr_vmas;

	spinlock_t irq_lock; /* see "Locks" above */
	/*
	 * eventfds of MSI, of INTx, and of REQ, which asks the VMM to close the device; .lock and
	 * irq_lock to change; signalled under RCU or .lock
	 */
	struct eventfd_ctx __rcu *msi, *intx, *req;
	/* handler of the eventfd by which KVM unmasks INTx; protected by .lock */
	struct virqfd *intx_unmask;
	/*
	 * Protected by irq_lock. .intx_masked: INTx is not signalled until the VMM or KVM unmasks
	 * it. .intx_pending: the guest's interrupt line is up, and the guest has not disabled INTx.
	 */
	bool intx_masked, intx_pending;

	spinlock_t fault_lock; /* leaf lock; protects fault_log and nr_faults */
	struct kvgpu_fault_entry fault_log[KVGPU_FAULT_LOG];
	/* faults noted since .init; the newest is at (nr_faults - 1) % KVGPU_FAULT_LOG */
	u32 nr_faults;

	struct kvgpu_counters count;
	struct dentry *debugfs;
};

/* ---------------------------------------------- functions of the face that the machine calls */

/**
 * kvgpu_mdev_irq_update() - signal a changed virtual interrupt
 * @v: the vGPU
 *
 * Reads the level and the edge of the virtual interrupt (kvgpu_machine_irq_get()). Signals MSI if
 * there was an edge. If MSI has no eventfd and the level is up, signals and masks INTx, unless INTx
 * is masked or disabled. Updates the interrupt bit in the status word of the configuration space.
 *
 * Context: process, vgpu->lock held, and none of the locks that are taken inside it, because a
 *   signal calls the waiters of an eventfd.
 */
void kvgpu_mdev_irq_update(struct kvgpu_vgpu *v);
/**
 * kvgpu_mdev_bar_zap() - remove user mappings of a region
 * @v: the vGPU
 * @region: VFIO_PCI_..._REGION_INDEX
 * @off: offset in the region, bytes
 * @len: bytes
 *
 * A later access of user space faults, and gets the frame that the machine has for the page then.
 *
 * Context: process, vgpu->lock held, and none of the locks that are taken inside it, because the
 *   removal may wait for mmap_lock (vmas.c), whose holder may wait for map_lock in a page fault.
 */
void kvgpu_mdev_bar_zap(struct kvgpu_vgpu *v, unsigned int region, u64 off, u64 len);
/**
 * kvgpu_mdev_fault_note() - count and trace a fault, and add it to the vGPU's fault_log
 * @v: the vGPU
 * @what: a constant string: the kind of fault
 * @chid: the guest's channel id, or -1 if unknown or none
 * @addr: virtual address of the GPU's access, another address or a number, depending on @what; or 0
 * @code: fault info word, interrupt bits, error code or the like, depending on @what
 *
 * Context: any; fault_lock is not held.
 */
void kvgpu_mdev_fault_note(struct kvgpu_vgpu *v, const char *what, int chid, u64 addr, u32 code);

#endif
