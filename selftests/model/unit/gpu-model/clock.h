/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A time that a test can stop and move. Link clock.c in the place of gpu-model/core/clock.c. The
 * time runs like the host's until clock_stop(). A stopped time moves by clock_move(), and when a
 * thread sleeps: then it moves to the end of that sleep.
 */
#ifndef KVGPU_TEST_CLOCK_H
#define KVGPU_TEST_CLOCK_H

#include "model.h"

/* the host's monotonic time, even while the test's time is stopped */
uint64_t real_ns(void);
void clock_stop(void); /* at the host's time, even if it was stopped before */
bool clock_stopped(void);
/*
 * Moves a stopped time, and wakes the threads that wait with a deadline. Call with no lock that a
 * sleeping thread waits with.
 */
void clock_move(uint64_t ns);
void clock_run(void);

unsigned int clock_sleepers(void); /* number of threads that wait with a deadline */
/* Number of threads that wait without a deadline. *@waits: how often threads began to, so far. */
unsigned int clock_idlers(uint64_t *waits);
/* Sets *@flag when a stopped time has moved by @ns from now. */
void clock_set_at(uint64_t ns, atomic_bool *flag);

extern uint64_t clock_oversleep; /* ns by which each sleep of a stopped time ends late */
extern unsigned int clock_sleeps; /* number of sleeps since clock_stop() */

#endif
