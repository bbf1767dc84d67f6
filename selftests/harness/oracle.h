/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must hold at any moment, whatever the module thinks: S1 to S6 of docs/invariants.md, as far
 * as a chip and a CPU can tell.
 */
#ifndef KVGPU_HARNESS_ORACLE_H
#define KVGPU_HARNESS_ORACLE_H

#include <linux/types.h>

#define OWN_PFN		0x7000000ul	/* frames of a vGPU's own pages, of no BAR */

bool alloc_fails(void);
/* id of the vGPU whose lock the running thread holds; 0: none */
u32 oracle_vgpu_of_task(void);
u32 oracle_vgpu_of_chan(u16 chid);	/* whose the channel id is; 0: the host's or nobody's */
/* S1, S2: a channel of @vgpu can reach this entry */
void oracle_leaf(u32 vgpu, u64 va, u64 pte, bool big, const char *when);
void oracle_table(u32 vgpu, u64 at, u64 size, const char *when);
/* S2: memory of the host behind a BAR: it must be mapped for DMA, and pinned. The page */
u8 *oracle_host_page(u64 dma, const char *when);
/*
 * S1, S2: what the CPUs of all VMMs have mapped. Between the module's calls, when nothing is under
 * way
 */
void oracle_mappings(const char *when);
/* nothing of @vgpu is left: after close and remove */
void oracle_closed(u32 vgpu);

#endif
