/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of the module and who owns them.
 *
 *   struct kvgpu_gpu   one physical GPU. Made by the PCI driver's probe, ended by remove after all vGPUs are gone.
 *   struct kvgpu_vgpu  one mediated device. Made by vfio .init (resources reserved, memory scrubbed), ended by .release.
 *   struct kvgpu_chan  one channel that a guest has bound. Owned by its vGPU.
 *
 * Two halves of this room: the VFIO face (driver.c, type.c, vgpu.c, config.c, region.c, irq.c, sysfs.c) and the machine
 * behind it (command.c, chan.c, runlist.c, memory.c, window.c, grctx.c, event.c). The face calls the functions named
 * vgpu_machine_*; the machine calls vgpu_irq_update() and vgpu_zap_bar().
 *
 * Locks, outer to inner (docs/locking.md has the whole order):
 *   vgpu->lock     everything of one vGPU: trap state, shadows, channels. Process context, may sleep, held during pins.
 *   gpu->lock      lists of vGPUs, channel-id groups, merged runlists. Never held across a pin.
 *   vgpu->map_lock what the fault handler looks at, see vgpu_machine_fault(). Leaf: only hw's locks below it.
 *   hw's own locks
 * The fault handler runs with the process's mmap_lock held, and a pin or vfio_dma_rw() under vgpu->lock takes the
 * mmap_lock. So the fault handler must not wait for vgpu->lock, directly or by anything that is held with it: it takes
 * map_lock only, under which nobody pins, zaps or touches user memory.
 * vgpu->irq_lock (spin) guards the change of eventfd contexts and the state of INTx only; nothing is signalled under it.
 * The vfio core calls .dma_unmap with its own locks held; it takes vgpu->lock. The pin path therefore pins *without*
 * holding vgpu->lock when the core could need it: see memory.c for the argument.
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
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/vfio.h>
#include <linux/workqueue.h>

#include "hw/hw.h"
#include "kvgpu/shadow.h"
#include "kvgpu/trap.h"

#define KVGPU_GROUP		8			/* channels whose USERD shares a page */
#define KVGPU_NR_GROUPS		(KVGPU_MAX_CHAN / KVGPU_GROUP)

/* a type that admins can create; named by its video memory */
struct kvgpu_type {
	struct mdev_type base;
	u64 vram;			/* bytes, multiple of 4 MiB */
	u64 bar1, bar3;			/* sizes shown to the guest, powers of two; slices of the card's */
};

struct kvgpu_gpu {
	struct kvgpu_hw hw;
	struct mdev_parent parent;
	struct kvgpu_type type[4];
	struct mdev_type *types[4];
	u8 nr_types;

	struct kvgpu_hw_lock lock;
	struct list_head vgpus;		/* struct kvgpu_vgpu.node */
	DECLARE_BITMAP(groups, KVGPU_NR_GROUPS);	/* channel-id groups in use; group 0 is the host's */
	DECLARE_BITMAP(tsgs, 4096);
	/* anybody may ask how many vGPUs fit: no tenant ever waits for this lock */
	struct mutex types_lock;
	/* partitions, BAR1 and BAR3 slices: first fit, 1 = taken; units and sizes are type.c's; types_lock, as next_id is */
	unsigned long part_map[4], bar_map[4], bar3_map[4];
	refcount_t users;		/* the PCI driver's, and one for each vGPU until it is released altogether */
	struct completion idle;		/* the last of them has gone */
	u32 next_id;
	bool wc1, wc3;			/* memory type of BAR1's slices, of BAR3 is reserved */
	struct kvgpu_chip *chip;	/* the machine's: who is on the chip, events and recovery (machine.h) */
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

/* one of the guest's channels */
struct kvgpu_chan {
	struct rb_node by_gchid;	/* in vgpu->chans */
	struct hlist_node by_inst;	/* in gpu-wide hash of shadow instance blocks */
	struct kvgpu_vgpu *vgpu;
	gchid_t gchid;
	hchid_t hchid;
	u8 grunl, hrunl;		/* as the guest numbers runlists, and on the chip */
	struct kvgpu_gaddr ginst;	/* the guest's instance block */
	struct kvgpu_inst_guest g;	/* what it said when last read */
	struct kvgpu_vram inst;		/* the shadow */
	struct kvgpu_as *as;
	struct kvgpu_space *space;	/* whose ->as that is */
	bool enabled, dead;		/* dead: written under gpu->lock */
	bool listed;			/* in what the guest last submitted */
	bool ran;			/* was enabled since it was bound */
	bool held;			/* disabled on the chip while what it loads, or its group, changes */
	struct { bool valid, idle; u32 get, idle_put; } look;	/* look.c; gpu->lock */
	struct { u8 why, unit, engine; bool storm; u32 info; u64 va; } fault;	/* what killed it; gpu->chip->event_lock */
	int gtsg, htsg;			/* -1: none */
	struct kvgpu_grctx *gr;		/* host-owned context image, shared by channels with the same context VA */
};

struct kvgpu_counters {			/* per vGPU, read by sysfs without locks */
	/* counted by the face; faults by vgpu_note_fault() */
	atomic64_t bar0_reads, bar0_writes, bar_trapped, doorbells_trapped, config, irqs, mmaps, zaps, faults, handler_ns;
	/* counted by the machine: TLB invalidates of the chip for this vGPU, time on GR */
	atomic64_t flushes, gpu_ns;	/* gpu_ns: charged by look.c */
	atomic64_t spaces_kept;		/* machine_space_put() refused: 0, or there is a bug */
};

/* memory of the vGPU's own that its VMM maps into BAR0; constant from .init to .release */
enum {
	VGPU_OWN_FLUSH,			/* registers that ask for a flush: mdev/flush.c */
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
	u64 pramin_slice;		/* 1 MiB of the card's BAR1 that shows the guest's PRAMIN window */
	struct kvgpu_vram scrap;	/* one page behind everything that is not mapped */
	struct vgpu_own own[VGPU_NR_OWN];

	struct mutex lock;
	bool open;
	u8 config[4096] __aligned(4);	/* little endian, see vgpu_config_word() */
	struct kvgpu_trap trap;
	struct kvgpu_shadow shadow;
	struct kvgpu_win *win1, *win3;	/* BAR1 and BAR3 through the guest's tables */
	struct { bool bound, is_virtual; struct kvgpu_gaddr inst, pd; u64 limit; } bar1, bar3;
	u64 userd_bar1;			/* where the guest's doorbells are in its BAR1; ~0 = unset */
	s16 group[KVGPU_NR_GROUPS];	/* guest channel group -> group of the chip, -1 = none */
	struct rb_root chans;
	struct list_head grctxs;
	u64 *runl_entries[KVGPU_MAX_RUNL];	/* what the guest last submitted, per runlist of the guest */
	u16 runl_nr[KVGPU_MAX_RUNL];
	unsigned long *touched;		/* pages the CPU may have written since their last look: one bit per 4 KiB of the partition */
	struct kvgpu_machine *m;	/* the machine's own */

	struct mutex map_lock;
	struct mutex vma_lock;		/* vmas; inside map_lock. Used where the kernel gives a device no inode (vmas.c) */
	struct list_head vmas;

	spinlock_t irq_lock;
	struct eventfd_ctx __rcu *msi, *intx, *req;	/* signalled under RCU, without irq_lock: irq.c */
	struct virqfd *intx_unmask;
	bool intx_masked, intx_pending;	/* pending: the level of the guest's line */

	spinlock_t fault_lock;
	struct kvgpu_fault_entry fault_log[KVGPU_FAULT_LOG];
	u32 nr_faults;			/* ever; the newest is at (nr_faults - 1) % KVGPU_FAULT_LOG */

	struct kvgpu_counters count;
	struct dentry *debugfs;
};

/* ------------------------------------------------------------------ the face, for the machine */

/* interrupt state of vgpu->trap changed: signal eventfds. vgpu->lock held */
void vgpu_irq_update(struct kvgpu_vgpu *v);
/* the CPU mapping of [off, off + len) of a region must be taken anew at the next touch; vgpu->lock held, map_lock not */
void vgpu_zap_bar(struct kvgpu_vgpu *v, unsigned int region, u64 off, u64 len);
/* counts, traces and keeps a fault; any context. @what is a constant string, @chid the guest's or -1 */
void vgpu_note_fault(struct kvgpu_vgpu *v, const char *what, int chid, u64 addr, u32 code);

/* ------------------------------------------------------------------ inside the face */

/* type.c */
int kvgpu_types_init(struct kvgpu_gpu *gpu);		/* which types this card offers; takes what is not for slices */
unsigned int kvgpu_type_available(struct kvgpu_gpu *gpu, const struct kvgpu_type *t);
unsigned int kvgpu_type_max(const struct kvgpu_gpu *gpu, const struct kvgpu_type *t);	/* on an empty card */
int kvgpu_type_reserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v);	/* fills the constants of @v; -ENOSPC */
void kvgpu_type_unreserve(struct kvgpu_gpu *gpu, struct kvgpu_vgpu *v);
extern struct mdev_driver kvgpu_mdev_driver;		/* vgpu.c */

/* config.c; vgpu->lock held */
void vgpu_config_reset(struct kvgpu_vgpu *v);
void vgpu_config_set_word(struct kvgpu_vgpu *v, u32 off, u32 val);
void vgpu_config_read(struct kvgpu_vgpu *v, u32 off, void *buf, size_t len);
/* returns true when the guest asked for a function level reset */
bool vgpu_config_write(struct kvgpu_vgpu *v, u32 off, const void *buf, size_t len);
void vgpu_reset(struct kvgpu_vgpu *v);			/* vgpu.c */

/* region.c */
ssize_t vgpu_region_read(struct vfio_device *vdev, char __user *buf, size_t count, loff_t *ppos);
ssize_t vgpu_region_write(struct vfio_device *vdev, const char __user *buf, size_t count, loff_t *ppos);
int vgpu_region_mmap(struct vfio_device *vdev, struct vm_area_struct *vma);
int vgpu_region_info(struct vfio_device *vdev, struct vfio_region_info *info, struct vfio_info_cap *caps);

/* irq.c */
int vgpu_irq_info(struct vfio_irq_info *info);
int vgpu_irq_set(struct kvgpu_vgpu *v, const struct vfio_irq_set *hdr, const void *data);	/* vgpu->lock held */
void vgpu_irq_request(struct kvgpu_vgpu *v, unsigned int count);
void vgpu_irq_close(struct kvgpu_vgpu *v);		/* vgpu->lock held */

/* sysfs.c, debugfs.c */
extern const struct attribute_group *kvgpu_vgpu_groups[], *kvgpu_gpu_groups[];
void kvgpu_debugfs_init(void);
void kvgpu_debugfs_exit(void);
void kvgpu_debugfs_gpu_add(struct kvgpu_gpu *gpu);
void kvgpu_debugfs_gpu_remove(struct kvgpu_gpu *gpu);
void kvgpu_debugfs_vgpu_add(struct kvgpu_vgpu *v);
void kvgpu_debugfs_vgpu_remove(struct kvgpu_vgpu *v);

static inline u32 vgpu_config_word(const struct kvgpu_vgpu *v, u32 off)
{
	return le32_to_cpup((const __le32 *)(v->config + off));
}

static inline struct kvgpu_vgpu *to_vgpu(struct vfio_device *vdev)
{
	return container_of(vdev, struct kvgpu_vgpu, vdev);
}

/* ------------------------------------------------------------------ the machine, for the face; vgpu->lock held unless said */

/*
 * .init: the constant fields are set and in nobody else's sight (not on gpu->vgpus), no lock held. Makes scrap, trap with
 * its slots, shadow, windows, touched; scrubs the partition. On error it leaves nothing behind.
 */
int vgpu_machine_init(struct kvgpu_vgpu *v);
/* .release, off gpu->vgpus, no lock held: everything off the chip, pins gone, memory scrubbed */
void vgpu_machine_fini(struct kvgpu_vgpu *v);
int vgpu_machine_open(struct kvgpu_vgpu *v);	/* registers, shadows and windows are as after power-on when it returns 0 */
void vgpu_machine_close(struct kvgpu_vgpu *v);	/* stops all channels, unpins all guest memory */
/*
 * VFIO_DEVICE_RESET, FLR: as after power-on. After this and after open the face tells trap the configuration space by
 * kvgpu_trap_config() and calls vgpu_irq_update().
 */
void vgpu_machine_reset(struct kvgpu_vgpu *v);
/* one register of BAR0, not PRAMIN: aligned, @be has 0xff for each byte written. They call vgpu_irq_update() if needed. */
u32 vgpu_machine_read(struct kvgpu_vgpu *v, u32 reg);
void vgpu_machine_write(struct kvgpu_vgpu *v, u32 reg, u32 val, u32 be);
/* this thread, which is in no other call of the kernel's, calls for something. Any lock, or none */
void vgpu_machine_called(void);
/* a guest is about to write a register: waits, for a bounded time, while its VMM unmaps memory. Without vgpu->lock */
void vgpu_machine_unmap_wait(struct kvgpu_vgpu *v);
/* calls vgpu_irq_update() soon, with vgpu->lock held, within the budget of the VMM's signals. Any context */
void vgpu_machine_signal(struct kvgpu_vgpu *v);
/* guest memory is being unmapped: returns when the GPU can't reach it. Called without vgpu->lock */
void vgpu_machine_dma_unmap(struct kvgpu_vgpu *v, u64 iova, u64 len);
/*
 * Which page frame backs a page of a region for the CPU. Regions: 0 (PRAMIN window only, @off is the offset in BAR0), 1,
 * 3; @off is a page inside. Called from the fault handler with vgpu->map_lock held and *not* vgpu->lock; must not sleep for
 * anything but hw's locks. Also notes table pages that become writable (dirty tracking). The mapping is in place when
 * map_lock is released: who changes the answer does so under map_lock and calls vgpu_zap_bar() afterwards, without it.
 * 0 or an error, which sends SIGBUS to the VMM: give the scrap page instead where a guest could cause it.
 * For BAR1 the face may ask for a whole aligned 2 MiB at once, page by page, and map it as one if it is contiguous.
 */
int vgpu_machine_fault(struct kvgpu_vgpu *v, unsigned int region, u64 off, unsigned long *pfn);
/*
 * Trapped access (the CPU mapping does not exist): the same page through the host's mapping. @off as above, [off, off + len)
 * lies inside one page.
 */
int vgpu_machine_bar_access(struct kvgpu_vgpu *v, unsigned int region, u64 off, void *buf, size_t len, bool write);

/* chip-wide: hw events come in here, find the vGPU, take its lock or leave the event to who holds it */
extern const struct kvgpu_hw_events kvgpu_machine_events;
/* before kvgpu_hw_init() (which may bring events), and after kvgpu_hw_fini() */
int kvgpu_machine_gpu_init(struct kvgpu_gpu *gpu);
void kvgpu_machine_gpu_fini(struct kvgpu_gpu *gpu);
/* time slices: after the types are known, before anybody can create a vGPU; stopped when the last one is gone */
int kvgpu_machine_gpu_start(struct kvgpu_gpu *gpu);
void kvgpu_machine_gpu_stop(struct kvgpu_gpu *gpu);

#endif
