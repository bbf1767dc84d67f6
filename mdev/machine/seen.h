/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Readings of the engines' status while channels or groups (TSGs) are driven off the chip: in a
 * switch (slice.c), or in a wait under gpu->lock (vmach_wait_charge()). The slicer makes no poll
 * meanwhile. In a switch the work that the readings see is charged. In a wait they tell whether the
 * vGPU pays on whose behalf the host waits; other vGPUs pay by samples, unless the wait is long.
 */
#ifndef KVGPU_MACHINE_SEEN_H
#define KVGPU_MACHINE_SEEN_H

#include <linux/types.h>

#include "kvgpu/types.h"

struct kvgpu_chan;
struct kvgpu_chip;
struct kvgpu_gpu;
struct kvgpu_machine;

/* the status of each PBDMA and each engine names two channels or groups: ID and NEXT_ID */
#define MAX_LOADED	(2 * (KVGPU_MAX_PBDMA + KVGPU_MAX_ENGINE))
/* most entries of struct machine_seen for vGPUs: more than a card can have */
#define SEEN_MAX	32

/* A loaded channel or group, by the chip's id, that must leave the chip. .vgpu: id of its vGPU. */
struct machine_loaded {
	u32 vgpu;
	u16 id;
	bool tsg;
};

/* The readings that were made so far. */
struct machine_seen {
	struct kvgpu_gpu *gpu;
	/*
	 * how many engines recover.c has reset meanwhile for the channel that is driven off; a
	 * reset of all engines of the runlist counts as one
	 */
	u32 resets;
	/*
	 * The first .nr: vGPUs for which an engine was seen to work. .vgpu: id of the vGPU. .looks:
	 * in how many readings. .alone: in how many of .looks no engine worked for another vGPU.
	 * .late: how many of .looks were made while slicer->left_at was set. .last: .looks of the
	 * struct at the last of these readings.
	 */
	struct { u32 vgpu, looks, alone, late, last; } at[SEEN_MAX];
	u32 nr, looks;		/* .looks: number of readings */
	u32 worked;		/* readings that saw an engine work for a vGPU */
	/* how often an engine worked for an id that no vGPU has, and that is not the host's */
	u32 nobodys;
	/*
	 * .asked: names the channel or group of vmach_seen_ask() as a status does. .absent:
	 * readings since that call that saw no engine work for it.
	 */
	u32 asked, absent;
	/* ns for which evictions had the runlist blocked; U64_MAX: it stood still for a fault */
	u64 blocked_ns;
	u64 held_ns;	/* slice.c: ns that chan_drive_off() had preempt_lock for its own preempt */
};

/* Reads the status of each engine of GR's runlist into @engine; 0 for the other engines. */
void vmach_engines_read(struct kvgpu_gpu *gpu, u32 *engine);
/* Starts @w with no readings. */
void vmach_seen_begin(struct machine_seen *w, struct kvgpu_gpu *gpu);
/*
 * Notes one reading in @w: for which vGPUs the engines work, by their status @engine
 * (vmach_engines_read()). Work for a channel or group counts for the vGPU that has its id at the
 * time of the reading. The channel may be unbound later.
 */
void vmach_seen_note(struct machine_seen *w, const u32 *engine);
/* Makes one reading, and notes it in struct machine_seen *@arg. Takes no lock. */
void vmach_engines_see(void *arg);
/*
 * Returns how often @w saw an engine work for @m, but at most the number of readings in @w. Work
 * for an id that no vGPU has counts for the owner of the chip. gpu->lock is held.
 */
u32 vmach_seen_count(const struct machine_seen *w, const struct kvgpu_machine *m);

/* As vmach_seen_count(), but of the readings that were made while slicer->left_at was set. */
u32 vmach_seen_late(const struct machine_seen *w, const struct kvgpu_machine *m);

/* Counts in @w->absent, from now on, the readings in which no engine works for @id. */
void vmach_seen_ask(struct machine_seen *w, bool tsg, u16 id);

/* Returns how many readings in @w saw an engine work for a vGPU that is not @m. */
u32 vmach_seen_others(const struct machine_seen *w, const struct kvgpu_machine *m);
/* books.c: Begins a wait for the chip, with gpu->lock held: makes the first reading of @w. */
void vmach_wait_begin(struct machine_seen *w, struct kvgpu_gpu *gpu);
/*
 * books.c: Call it after a wait for the chip on behalf of @m, from @began to now, with gpu->lock
 * held since @began. Charges @m for all of the wait if a reading in @w saw it at work, else for the
 * time in which the runlist stood still and no other vGPU was at work. Charges other vGPUs
 * only if the wait was too long for samples (sample.c). @works: @m was at work in any case.
 */
void vmach_wait_charge(struct kvgpu_machine *m, struct machine_seen *w, bool works, u64 began);
/*
 * books.c: Call it when @c, whose MMU fault was reported, is about to be driven off. Charges its
 * vGPU for the time since the report, in which the fault stopped GR's runlist for all vGPUs, as far
 * as the vGPU is not charged for that time otherwise, and not for the part of the readings in @w
 * that saw an engine work for another vGPU. False: there was no report. gpu->lock is held,
 * event_lock not.
 */
bool vmach_fault_charge(struct kvgpu_chan *c, const struct machine_seen *w);
/*
 * recover.c: Takes @c off the chip, which is disabled and in no list. Evicts it only if it is
 * loaded, because an eviction blocks the runlist for all vGPUs. Makes readings in @w meanwhile.
 * gpu->lock is held. True: it was evicted.
 */
bool vmach_disabled_evict(struct machine_seen *w, struct kvgpu_chan *c);

#endif
