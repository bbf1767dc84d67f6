/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Work that guests have the GPU do, and a meter of it: for rows about shares and about who pays.
 * All of it is what a guest can do, or what the chip sees.
 */
#ifndef KVGPU_HARNESS_WORK_H
#define KVGPU_HARNESS_WORK_H

#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/scene.h"

/* ------------------------------------------------------------------ what the chip sees */

u32 work_listed(u32 vgpu); /* GR's list has so many channels of the vGPU, or of all (CARD) */
bool work_alone(u32 vgpu); /* it has channels of this vGPU only */
bool work_runs(u32 vgpu); /* an engine works for a channel of the vGPU */
bool work_leaves(u32 vgpu); /* the chip was asked to preempt a channel of it, which has not left */

/*
 * A role: notes in steps of .arg ns (0: 20 us) for whom engines work. Measures begin with it.
 * CARD: for anybody.
 */
void meter(const struct role *r);
extern const struct measure m_had;
/* By how much gpu_time_ns grows less, or more, than the time that the vGPU has an engine. */
extern const struct measure m_unpaid, m_overpaid;
extern const struct measure m_stopped; /* GR's list is blocked or in error */

/* ------------------------------------------------------------------ what a guest does */

void work_sleep(u64 ns); /* or until the scene ends */
/* A guest stores through BAR1, which is mapped: the module does not see it happen. */
void work_put(u32 vgpu, u32 chan, u32 put);
/* Have channels @first to @last run, and be the vGPU's list. */
void work_chans(u32 vgpu, u32 first, u32 last);
/* Submit the vGPU's list again, of two entries. */
void work_kick(u32 vgpu);
/*
 * Give the vGPU a channel 2, which an error has ended for the chip: it never works, but work_put()
 * can have it tell of work. Empty the ring of channel 1.
 */
void work_second(u32 vgpu);
/* Have channel 1 on GR, if it may run: what the chip would serve next. */
void work_serve(u32 vgpu);
/* The word of a flush register in the page of such registers, which a guest has mapped. */
volatile u32 *work_flush_word(u32 vgpu, u32 reg);
/* Ask for a flush of L2 by these words. */
void work_flush(u32 vgpu);
/* Flushes of L2 take up to so many reads of their register, until the row ends. */
void work_slow_flushes(u32 reads);

/* .arg of a role: so many us of work, and then so many of something else */
#define EACH(work, pause) ((u64)(pause) << 32 | (work))
/* Roles, of channel 1: jobs of one entry of the ring each, which the chip serves at once, */
void work_jobs(const struct role *r);
#define JOB_QUIET  BIT(28) /* the ring alone tells of them, and only until the chip has the entry */
#define JOB_UNSEEN BIT(29) /* they come in a queue, and no engine works for them */
#define JOB_STAYS  BIT(30) /* a PBDMA whose ring ran dry keeps the channel (T13) */
#define JOB_STOPS  BIT(31) /* the PBDMA interrupts at the end */
/* kernels, of which the ring does not tell. The time in which it has GR counts. */
void work_kernels(const struct role *r);
/* Preempt channel 1, which is idle, without a break. */
void work_preempts(const struct role *r);
/* GR gets channel 1 whenever it works for nobody, and its PBDMA has not stopped. */
void work_served(const struct role *r);
/* Submit the list each .arg ns. */
void work_kicks(const struct role *r);
/*
 * Each .arg ns copies have ended, and told so. Their channels have left the engine when that is
 * served.
 */
void work_nobodys_copies(const struct role *r);

#define FATAL	   (PBDMA_INTR0_FATAL & ~(PBDMA_INTR0_FATAL - 1)) /* one that ends a channel */
#define PER_SECOND 2000 /* docs/interrupts.md: the budget of a vGPU, and of nobody's */
/* PBDMA 0 interrupts so many times for the channel, each when the last time is served. */
void work_interrupts(u16 id, u32 times);

#endif
