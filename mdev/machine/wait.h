/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A *wait* for the chip, in which the slicer makes no poll: channels or groups (TSGs) are driven
 * off in an eviction (recover.c) or at an unbind (chan.c). Neither samples (usage.c) nor turns
 * count meanwhile, because guests decide when a wait begins. The slicer *observes* the
 * engines all the time instead, and charges each vGPU while it sees an engine work for it. The vGPU
 * on whose behalf the slicer waits pays for the rest. Waits may be inside of each other: no time is
 * charged twice, by slicer->samples.paid_ns.
 */
#ifndef KVGPU_MACHINE_WAIT_H
#define KVGPU_MACHINE_WAIT_H

#include <linux/types.h>

#include "kvgpu/types.h"

struct kvgpu_chan;
struct kvgpu_chip;
struct kvgpu_gpu;
struct kvgpu_machine;
struct machine_runl;
struct machine_slice;

/* the status of each PBDMA and each engine names two channels or groups: ID and NEXT_ID */
#define MAX_LOADED (2 * (KVGPU_MAX_PBDMA + KVGPU_MAX_ENGINE))

/* The chip's id of a channel, or, if .tsg, of a group: as the chip's status registers name it. */
struct machine_hid {
	u16 id;
	bool tsg;
};

/* A loaded channel or group that must leave the chip. .vgpu: id of its vGPU. */
struct machine_loaded {
	u32 vgpu;
	struct machine_hid hid;
};

/*
 * A wait for runlist .runl. .late: the channel that is driven off, and all that it may wait for,
 * had their time. .resets: how many engines recover.c has reset in it for that channel; a reset of
 * all engines of the runlist counts as one. .began, .paid: ktime and .runl->samples.paid_ns at its
 * begin, ns. .blocked_ns: for so long evictions had the runlist blocked; U64_MAX: it stood still
 * for a fault.
 */
struct machine_wait {
	struct machine_runl *runl;
	bool late;
	u32 resets;
	u64 began, paid, blocked_ns;
};

/* Observes the engines of struct kvgpu_gpu *@arg, if a wait is under way. For the slicer. */
void vmach_engines_observe(void *arg);
/*
 * Returns the ns from @from to the last settlement for which no vGPU was charged on @r. @paid:
 * r->samples.paid_ns at @from.
 */
u64 vmach_remainder_ns(const struct machine_runl *r, u64 from, u64 paid);
/* Charges @sl for @ns that no vGPU was charged. slicer->acct_lock is held for writing. */
void vmach_remainder_charge(struct machine_slice *sl, u64 ns);
/* From this call until the end of the wait for @r samples do not count. For the slicer. */
void vmach_wait_begin(struct machine_wait *w, struct machine_runl *r);
/*
 * Ends wait @w, on behalf of @sl. Charges @sl for the part of it in which engines worked for no
 * vGPU: for all of that part if @works, else for as long as the runlist stood still. For the
 * slicer.
 */
void vmach_wait_charge(struct machine_slice *sl, struct machine_wait *w, bool works);
/*
 * Call it when @c, whose MMU fault was reported, is about to be driven off. Charges its vGPU for
 * the time since the report, in which the fault stopped the runlist for all vGPUs, as far as no
 * vGPU was charged for it. False: there was no report. For the slicer; event_lock is not held.
 */
bool vmach_fault_charge(struct kvgpu_chan *c);
/*
 * recover.c: Takes @c off the chip, which is disabled and in no list. Evicts it only if it is
 * loaded, because an eviction blocks the runlist for all vGPUs. For the slicer. True: it was
 * evicted.
 */
bool vmach_disabled_evict(struct machine_wait *w, struct kvgpu_chan *c);

#endif
