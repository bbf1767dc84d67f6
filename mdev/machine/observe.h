/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Observations of the engines' status while channels or groups (TSGs) are driven off the chip: in a
 * switch (slice.c), or in a wait for the chip (vmach_wait_charge()). The slicer makes no poll
 * meanwhile, and samples do not count (usage.c). The work that the observations see is charged. In
 * a wait they also tell whether the vGPU pays on whose behalf the host waits.
 */
#ifndef KVGPU_MACHINE_OBSERVE_H
#define KVGPU_MACHINE_OBSERVE_H

#include <linux/types.h>

#include "kvgpu/types.h"

struct kvgpu_chan;
struct kvgpu_chip;
struct kvgpu_gpu;
struct kvgpu_machine;

/* the status of each PBDMA and each engine names two channels or groups: ID and NEXT_ID */
#define MAX_LOADED (2 * (KVGPU_MAX_PBDMA + KVGPU_MAX_ENGINE))
/* most entries of struct machine_obs for vGPUs: more than a card can have */
#define OBS_MAX 32

/* A loaded channel or group, by the chip's id, that must leave the chip. .vgpu: id of its vGPU. */
struct machine_loaded {
	u32 vgpu;
	u16 id;
	bool tsg;
};

/* The observations that were made so far. */
struct machine_obs {
	struct kvgpu_gpu *gpu;
	/*
	 * how many engines recover.c has reset meanwhile for the channel that is driven off; a
	 * reset of all engines of the runlist counts as one
	 */
	u32 resets;
	/*
	 * The first .nr: the vGPUs there were at the begin, and those for which an engine was seen
	 * to work. .vgpu: id of the vGPU. .seen: an observation saw an engine work for it; .works:
	 * the last one did. .ns: the time for which engines worked for it; .alone: for it and no
	 * other vGPU. .waits: its charge.waits at the begin.
	 */
	struct {
		u32 vgpu;
		bool seen, works;
		u64 ns, alone, waits;
	} of[OBS_MAX];
	u32 nr;
	u64 at, total; /* of the last observation, ktime in ns; from the first one to it */
	u64 worked; /* ns for which an engine worked for a vGPU */
	/* the same for ids that no vGPU has, and that are not the host's */
	u64 unowned;
	bool unowned_works;
	/*
	 * .watched: names the channel or group of vmach_obs_watch() as a status does. .absent:
	 * observations since that call that saw no engine work for it.
	 */
	u32 watched, absent;
	/* ns for which evictions had the runlist blocked; U64_MAX: it stood still for a fault */
	u64 blocked_ns;
};

/* Reads the status of each engine of GR's runlist into @engine; 0 for the other engines. */
void vmach_engines_read(struct kvgpu_gpu *gpu, u32 *engine);
/* Starts @w with no observations. For the slicer. */
void vmach_obs_begin(struct machine_obs *w, struct kvgpu_gpu *gpu);
/*
 * Notes one observation in @w: for which vGPUs the engines work, by their status @engine
 * (vmach_engines_read()). Work for a channel or group counts for the vGPU that has its id at the
 * time of the observation. The channel may be unbound later.
 */
void vmach_obs_add(struct machine_obs *w, const u32 *engine);
/* Makes one observation, and notes it in struct machine_obs *@arg. Takes no lock. */
void vmach_engines_observe(void *arg);
/*
 * Returns the ns for which @w saw engines work for @m. Work for an id that no vGPU has counts for
 * the owner of the chip. For the slicer.
 */
u64 vmach_obs_ns(const struct machine_obs *w, const struct kvgpu_machine *m);
/*
 * Returns the part of @ns that @m was not charged by waits since @w began: a wait may be inside of
 * another wait, or of a switch. For the slicer.
 */
u64 vmach_obs_unpaid(const struct machine_obs *w, const struct kvgpu_machine *m, u64 ns);
/* Tells whether an observation in @w saw an engine work for @m. For the slicer. */
bool vmach_obs_seen(const struct machine_obs *w, const struct kvgpu_machine *m);

/* Counts in @w->absent, from now on, the observations in which no engine works for @id. */
void vmach_obs_watch(struct machine_obs *w, bool tsg, u16 id);

/* Returns the ns for which @w saw an engine work for a vGPU that is not @m. */
u64 vmach_obs_others_ns(const struct machine_obs *w, const struct kvgpu_machine *m);
/*
 * Returns the part of @ns for which no engine worked for another vGPU than @m, by the observations
 * in @w, of which there is one at least.
 */
u64 vmach_obs_idle_part(const struct machine_obs *w, const struct kvgpu_machine *m, u64 ns);
/*
 * accounting.c: Begins a wait for the chip: makes the first observation of @w.
 */
void vmach_wait_begin(struct machine_obs *w, struct kvgpu_gpu *gpu);
/*
 * accounting.c: Call it after a wait for the chip on behalf of @m, from @began to now. Charges @m
 * for all of the wait if an observation in @w saw it at work, else for the time in which the
 * runlist stood still and no other vGPU was at work. Charges other vGPUs for the time for which @w
 * saw engines work for them. @works: @m was at work in any case.
 */
void vmach_wait_charge(struct kvgpu_machine *m, struct machine_obs *w, bool works, u64 began);
/*
 * accounting.c: Call it when @c, whose MMU fault was reported, is about to be driven off. Charges
 * its vGPU for the time since the report, in which the fault stopped GR's runlist for all vGPUs, as
 * far as the vGPU is not charged for that time otherwise, and not for the part of the observations
 * in @w that saw an engine work for another vGPU. False: there was no report. For the
 * slicer; event_lock is not held.
 */
bool vmach_fault_charge(struct kvgpu_chan *c, const struct machine_obs *w);
/*
 * recover.c: Takes @c off the chip, which is disabled and in no list. Evicts it only if it is
 * loaded, because an eviction blocks the runlist for all vGPUs. Makes observations in @w meanwhile.
 * For the slicer. True: it was evicted.
 */
bool vmach_disabled_evict(struct machine_obs *w, struct kvgpu_chan *c);

#endif
