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
 *   gpu->lock      lists of vGPUs, partitions, channel-id groups, merged runlists. Never held across a pin.
 *   hw's own locks
 * vgpu->irq_lock (spin) guards eventfd contexts only.
 * The vfio core calls .dma_unmap with its own locks held; it takes vgpu->lock. The pin path therefore pins *without*
 * holding vgpu->lock when the core could need it: see memory.c for the argument.
 */
#ifndef KVGPU_MDEV_VGPU_H
#define KVGPU_MDEV_VGPU_H

#include <linux/bitmap.h>
#include <linux/eventfd.h>
#include <linux/list.h>
#include <linux/mdev.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
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

	struct mutex lock;
	struct list_head vgpus;		/* struct kvgpu_vgpu.node */
	DECLARE_BITMAP(groups, KVGPU_NR_GROUPS);	/* channel-id groups in use; group 0 is the host's */
	DECLARE_BITMAP(tsgs, 4096);
	/* partitions, BAR1 and BAR3 slices: first fit in units of the smallest type, 1 = taken (type.c) */
	unsigned long part_map[4], bar_map[4];
	struct dentry *debugfs;
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
	bool enabled, dead;
	int gtsg, htsg;			/* -1: none */
	struct kvgpu_grctx *gr;		/* host-owned context image, shared by channels with the same context VA */
};

struct kvgpu_counters {			/* per vGPU, read by sysfs without locks */
	atomic64_t bar0_reads, bar0_writes, bar_trapped, doorbells_trapped, config, irqs, faults, gpu_ns;
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

	struct mutex lock;
	bool open;
	u8 config[4096];
	struct kvgpu_trap trap;
	struct kvgpu_shadow shadow;
	struct kvgpu_win *win1, *win3;	/* BAR1 and BAR3 through the guest's tables */
	struct { bool bound, is_virtual; struct kvgpu_gaddr inst, pd; u64 limit; } bar1, bar3;
	u64 userd_bar1;			/* where the guest's doorbells are in its BAR1; ~0 = unset */
	s16 group[KVGPU_NR_GROUPS];	/* guest channel group -> group of the chip, -1 = none */
	struct rb_root chans;
	struct list_head grctxs;
	u64 runl_entries[KVGPU_MAX_RUNL][128];	/* what the guest last submitted, per runlist of the guest */
	u16 runl_nr[KVGPU_MAX_RUNL];
	unsigned long *touched;		/* table pages written since the last sync: one bit per 4 KiB of the partition */

	spinlock_t irq_lock;
	struct eventfd_ctx *msi, *intx, *req;
	struct virqfd *intx_unmask;
	bool intx_masked, intx_pending;

	struct kvgpu_counters count;
	struct dentry *debugfs;
};

/* ------------------------------------------------------------------ the face, for the machine */

/* interrupt state of vgpu->trap changed: signal eventfds. vgpu->lock held */
void vgpu_irq_update(struct kvgpu_vgpu *v);
/* the CPU mapping of [off, off + len) of a region must be taken anew at the next touch */
void vgpu_zap_bar(struct kvgpu_vgpu *v, unsigned int region, u64 off, u64 len);

/* ------------------------------------------------------------------ the machine, for the face; vgpu->lock held */

int vgpu_machine_init(struct kvgpu_vgpu *v);	/* .init: after resources were reserved; scrubs the partition */
void vgpu_machine_fini(struct kvgpu_vgpu *v);	/* .release: everything off the chip, pins gone, memory scrubbed */
int vgpu_machine_open(struct kvgpu_vgpu *v);
void vgpu_machine_close(struct kvgpu_vgpu *v);	/* stops all channels, unpins all guest memory */
void vgpu_machine_reset(struct kvgpu_vgpu *v);	/* VFIO_DEVICE_RESET, FLR: as after power-on */
u32 vgpu_machine_read(struct kvgpu_vgpu *v, u32 reg);
void vgpu_machine_write(struct kvgpu_vgpu *v, u32 reg, u32 val, u32 be);
/* guest memory is being unmapped: returns when the GPU can't reach it. Called without vgpu->lock */
void vgpu_machine_dma_unmap(struct kvgpu_vgpu *v, u64 iova, u64 len);
/*
 * Which page frame backs a page of a region for the CPU, and whether it must be zapped when tables change. Regions: 0
 * (PRAMIN window only), 1, 3. Called from the fault handler with vgpu->lock held. Also notes table pages that become
 * writable (dirty tracking).
 */
int vgpu_machine_fault(struct kvgpu_vgpu *v, unsigned int region, u64 off, unsigned long *pfn);
/* trapped access (the CPU mapping does not exist): the same page through the host's mapping */
int vgpu_machine_bar_access(struct kvgpu_vgpu *v, unsigned int region, u64 off, void *buf, size_t len, bool write);

/* chip-wide: hw events come in here, find the vGPU, take its lock */
extern const struct kvgpu_hw_events kvgpu_machine_events;

#endif
