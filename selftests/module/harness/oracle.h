/* SPDX-License-Identifier: GPL-2.0-only */
/* What must always hold: S1 to S6 of docs/invariants.md, as far as a chip and a CPU can tell. */
#ifndef KVGPU_HARNESS_ORACLE_H
#define KVGPU_HARNESS_ORACLE_H

#include <linux/types.h>

struct vfio_device;

/* a frame of a vGPU's own memory: this bit and the address; it lies in no BAR */
#define OWN_PFN (1ul << 50)

/* task.c. Call it where something may fail, such as an allocation; true: it fails. */
bool alloc_fails(void);
/* id of the vGPU whose lock the running thread holds; 0: none */
u32 oracle_vgpu_of_task(void);
/* Return the id of the vGPU that has this channel id of the chip; 0: none has it. */
u32 oracle_vgpu_of_chan(u16 chid);
/* S1, S2: fail the run if a channel of @vgpu must not reach this entry, or this table. */
void oracle_leaf(u32 vgpu, u64 va, u64 pte, bool big, const char *when);
void oracle_table(u32 vgpu, u64 at, u64 size, const char *when);
/*
 * S3: a channel of @vgpu is loaded, by the instance block at @inst and the directory at @pd. Fail
 * the run if FECS would load a context that a guest can write, or a patch list at an address of a
 * guest's choice. No context is mapped: nothing is checked.
 */
void oracle_context(u32 vgpu, u64 inst, u64 pd, const char *when);
/* how many contexts oracle_context() has found mapped, since the program began */
extern u64 oracle_contexts;
/* S2: a BAR shows DMA address @dma. Return its page, which must be mapped, and pinned. */
u8 *oracle_host_page(u64 dma, const char *when);
/* S1, S2: a VMM's CPUs have this frame mapped. The caller must not be in a call of the module. */
void oracle_mapping(const struct vfio_device *vdev, unsigned long pfn, const char *when);
/*
 * Fail the run if vGPU @i of the world has a channel, or if an address space was to be let go under
 * a channel and so was kept (spaces_kept). A kept space is right on a chip that answers with
 * errors. Call after the vGPU's close, and before its remove.
 */
void oracle_closed(u32 i);

#endif
