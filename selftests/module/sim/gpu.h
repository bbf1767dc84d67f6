/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A GPU, its driver and the work of its vGPUs, as far as sched/ can tell: discrete events, exact
 * times, no threads.
 */
#ifndef KVGPU_SELFTESTS_SIM_GPU_H
#define KVGPU_SELFTESTS_SIM_GPU_H

#include "sched/sched.h"

#define SIM_MS	     1000000ull
#define SIM_S	     1000000000ull
#define SIM_MAX_VGPU 512
#define SIM_BIN	     (100 * SIM_MS)
#define SIM_MAX_BINS 1200
#define SIM_QUEUE    64
#define SIM_MAX_LAT  8192

enum sim_kind {
	SIM_IDLE,
	SIM_BUSY, /* always more jobs of len */
	SIM_PERIODIC, /* one job of len every period, whether the last is done or not */
	SIM_LOOP, /* one job of len, period after the last was done */
	SIM_BURSTS, /* 1 to burst jobs at once, every period on average */
	/*
	 * work that the engine can't do, a semaphore that is not released: for len, then none for
	 * period
	 */
	SIM_STALL,
};

struct sim_work {
	enum sim_kind kind;
	u64 len, period;
	u64 piece; /* can't be interrupted for that long; 0: sim_cfg.piece */
	u32 burst;
	u64 from, to; /* to 0: for ever */
};

struct sim_cfg {
	u64 poll_ns; /* the driver polls so often */
	u64 jitter_ns; /* a poll is late by up to this */
	u64 preempt_ns; /* from the end of the piece until the engine is free */
	u64 load_ns; /* until the next list runs */
	u64 piece;
	u64 hw_slice; /* with all lists on the chip, it goes round after this */
	u64 seed;
};

extern const struct sim_cfg sim_ideal; /* no costs */
extern const struct sim_cfg sim_k20; /* what a card and a busy host may look like */

struct sim_vgpu {
	struct kvgpu_sched_ent ent;
	struct sim_work work;
	/* --- */
	u64 next_arrival;
	bool stalls;
	u64 queue[SIM_QUEUE]; /* when they arrived */
	u32 head, nr;
	u64 left, done; /* of the job under way: still to do, done */
	u64 arrived;
	u64 uncharged; /* ran, and the driver has not charged it yet */
	bool progress; /* ran since the last poll */
	u64 busy; /* ns on the engine, all */
	u64 held; /* part of .wasted in which this vGPU held the chip, ns */
	u64 bins[SIM_MAX_BINS]; /* by time */
	u64 jobs;
	/* from arrival to done, less what it takes alone; of periodic ones, loops and bursts */
	u64 lat[SIM_MAX_LAT];
	u32 nr_lat;
};

struct sim_gpu {
	struct kvgpu_sched sched;
	struct sim_cfg cfg;
	struct sim_vgpu *vgpu;
	u32 nr;
	u64 now, begin;
	u64 rng;
	struct kvgpu_sched_choice choice;
	/* the chip */
	bool shared; /* all lists; else owner's */
	int owner, running; /* numbers of vGPUs, -1: none */
	u64 run_start; /* of what runs: noted up to here */
	u64 charged; /* time up to which .owner is charged, while vGPUs take turns */
	u64 hw_end;
	u64 stop_at, loaded_at; /* a switch under way; ~0: none */
	u64 preempt_ns; /* last part of the time up to .stop_at: the context is saved */
	bool next_shared, next_turns;
	int next_owner;
	u64 poll_at;
	u64 switches;
	/* ns that the engine was idle and a vGPU had work */
	u64 wasted;
	/* if set */
	void (*each_choice)(struct sim_gpu *g);
	void (*each_job)(struct sim_gpu *g, u32 vgpu); /* has arrived */
	void *arg;
};

/* vGPUs of equal weight without caps, which always have jobs of @len */
struct sim_vgpu *sim_vgpus(u32 nr, u64 len);
/*
 * @vgpu: nr of them, ->ent's knobs and ->work set, the rest zero. Times of the simulation start at
 * @begin
 */
void sim_init(struct sim_gpu *g, const struct sim_cfg *cfg, struct sim_vgpu *vgpu, u32 nr,
	      u64 begin);
void sim_run(struct sim_gpu *g, u64 ns);

u64 sim_busy(const struct sim_gpu *g); /* of all */
/*
 * the worst window of @window ns from @from on: |part of what all were given - @ppm| / @ppm, in ppm
 */
u32 sim_share_error(const struct sim_gpu *g, u32 vgpu, u32 ppm, u64 from, u64 window);
/*
 * The vGPU's least and greatest part of the elapsed time, in ppm, of all windows that begin at a
 * multiple of SIM_BIN.
 */
void sim_range(const struct sim_gpu *g, u32 vgpu, u64 from, u64 window, u32 *least, u32 *most);
u64 sim_latency(struct sim_vgpu *v, u32 per_mille); /* sorts */

/* Number of seeds to try: SCHED_TEST_SEEDS, or 1. */
u32 sim_nr_seeds(void);
/*
 * Whether a unit test runs the combination of parameters whose numbers have this @sum: one in @of,
 * spread over all values; all combinations if SCHED_TEST_SEEDS is above 1.
 */
bool sim_takes(u32 sum, u32 of);
/* ns that a unit test simulates; longer if SCHED_TEST_SEEDS is above 1 */
u64 sim_run_ns(void);

#endif
