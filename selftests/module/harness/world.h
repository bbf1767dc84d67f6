/* SPDX-License-Identifier: GPL-2.0-only */
/* A card with the module loaded, its vGPUs, their VMMs, and guests that program the vGPUs. */
#ifndef KVGPU_HARNESS_WORLD_H
#define KVGPU_HARNESS_WORLD_H

#include "selftests/module/harness/chip/chip.h"
#include "selftests/module/harness/kernel/services.h"
#include "selftests/module/harness/task.h"

#define WORLD_VGPUS 4

struct kvgpu_gpu; /* the module's own: inside.h */
struct kvgpu_vgpu;

struct world_vgpu {
	bool made, open;
	struct mdev_device *mdev;
	struct kvgpu_vgpu *v;
	struct vfio_device *dev;
};

struct world {
	struct pci_dev pdev;
	struct kvgpu_gpu *gpu;
	struct world_vgpu vgpu[WORLD_VGPUS];
};

extern struct world world;
#define V(i) (&world.vgpu[i])

/* Calls of the module since the program began, by guests, and in actors_fuzz by VMMs. */
enum asked { ASKED_REGISTER, ASKED_MEMORY, ASKED_DOORBELL, ASKED_CALL, NR_ASKED };
extern u64 world_asked[NR_ASKED];

void world_begin(u64 seed, const struct chip_manners *m);
/* Ask all oracles, close and remove vGPUs that are left, and free containers. */
void world_end(void);
/* The module takes the card, and returns what its probe does. The card is taken from it. */
int world_probe(void);
void world_unprobe(void);
/* Fail if an oracle finds anything wrong. The caller must not be in a call of the module. */
void world_check(const char *when);

struct world_vgpu *world_make_type(u32 i, const char *type); /* NULL: refused */
#define world_make(i) world_make_type(i, "512m")
void world_unmake(u32 i);
bool world_open(u32 i, struct container *c);
bool world_open_ioas(u32 i, struct container *c); /* binds to iommufd, opens, attaches */
void world_close(u32 i);
void world_reset(u32 i); /* VFIO_DEVICE_RESET */
/* Memory @nr of the vGPU's own, which a VMM's CPU sees in BAR0 in the place of registers. */
u8 *world_own(u32 i, u32 nr, u64 *size);

/* ---------------------------------------------------------- guest.c: what a guest's driver does */

/* Addresses in the vGPU's video memory, as all below. */
#define G_INST(c)  (0x010000ull + (c)*0x1000)
#define G_USERD(c) (0x008000ull + (c)*0x200)
#define G_LIST	   0x006000ull
#define G_PD(s)	   (0x100000ull + (s)*0x100000)
#define G_TABLE(s) (G_PD(s) + 0x40000)
#define G_DATA	   0x800000ull
#define G_SPACES   4

u32 g_read(struct world_vgpu *g, u32 reg);
void g_write(struct world_vgpu *g, u32 reg, u32 val);
/* Loads and stores go through BAR1, which shows video memory from its start after a reset. */
void g_store32(struct world_vgpu *g, u64 at, u32 val);
void g_store64(struct world_vgpu *g, u64 at, u64 val);
u32 g_load32(struct world_vgpu *g, u64 at);

/* Have the space's directory name its table, which may have entries from before. */
void g_space(struct world_vgpu *g, u32 space);
/* @page: number of the page in the space's virtual memory. */
void g_map_sys(struct world_vgpu *g, u32 space, u32 page, u64 iova);
void g_map_vram(struct world_vgpu *g, u32 space, u32 page, u64 at);
void g_unmap(struct world_vgpu *g, u32 space, u32 page);
/* Write the channel's instance block: its space, and the VA of its graphics context; 0: none. */
void g_inst(struct world_vgpu *g, u32 chan, u32 space, u64 ctx);
/* The same at @at of the partition, with the channel's USERD at @userd. */
void g_inst_at(struct world_vgpu *g, u64 at, u64 userd, u32 space, u64 ctx);
void g_tlb(struct world_vgpu *g, u32 space);
/* Write a register of the MMU: by @g_mmu, vGPU 0's page of them as a VMM mapped it, or a call. */
void g_write_mmu(struct world_vgpu *g, u32 reg, u32 val);
extern unsigned long g_mmu;
extern struct mm_struct *g_mmu_mm;
void g_bind(struct world_vgpu *g, u32 chan);
/* The same, with the instance block at @at. */
void g_bind_at(struct world_vgpu *g, u32 chan, u64 at);
void g_unbind(struct world_vgpu *g, u32 chan);
/* Write the channel's instance block, in space 0, bind and enable it. */
void g_run(struct world_vgpu *g, u32 chan);
void g_enable(struct world_vgpu *g, u32 chan, bool on);
void g_list(struct world_vgpu *g, const u64 *entry, u32 nr);
/* g_list() of these entries; TSG: the header of group @id with @n members */
#define LIST(g, ...) g_list(g, (u64[]){ __VA_ARGS__ }, sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64))
#define TSG(id, n)   (RUNLIST_TSG | FIELD_PREP(RUNLIST_TSG_COUNT, n) | (id))
/* Disable and unbind the channel, and bind, list (it alone) and enable it again, in space 0. */
void g_chan_anew(struct world_vgpu *g, u32 chan);
void g_preempt(struct world_vgpu *g, bool tsg, u32 id);

/* Write GP_PUT of the channel's doorbell. The channel has work when @put differs from GP_GET. */
void g_ring(struct world_vgpu *g, u32 chan, u32 put);
/* The chip's id of a channel; CHIP_NOBODY: it is not bound. */
u16 g_hchid(struct world_vgpu *g, u32 chan);
#define id_of(vgpu, chan) g_hchid(V(vgpu), chan)

/* ------------------------------------------------------------------ a VMM whose vGPUs run */

#define SETUP_RAM 0x100000ull /* IOVA of its memory, and the size */

extern struct mm_struct *setup_mm;
extern struct container *setup_c;
/* Begin a world with @vgpus vGPUs of one VMM, each of which runs channel 1 and has work. */
void setup_begin(const struct policy *p, const struct chip_manners *m, u32 vgpus);
/*
 * Run a channel of vGPU @i on @space. Page 16 is a page of the VMM's memory that only this vGPU
 * has, page 17 one that all vGPUs have.
 */
void setup_run(u32 i, u32 chan, u32 space);
/* Open vGPU @i for the VMM, and run channel 1. */
void setup_open(u32 i);

#endif
