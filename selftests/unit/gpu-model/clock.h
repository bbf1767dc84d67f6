/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A time that a test can stop and move, linked in the place of gpu-model/core/clock.c. It runs like
 * the host's until clock_stop(). A stopped time moves by clock_move() and, with the thread that
 * asks, to the end of a sleep. So what the code does at which time does not depend on how long the
 * machine takes for it.
 */
#ifndef KVGPU_TEST_CLOCK_H
#define KVGPU_TEST_CLOCK_H

#include "model.h"

uint64_t real_ns(void);			/* the host's monotonic time, stopped or not */
void clock_stop(void);
bool clock_stopped(void);
/* wakes those whose deadline has come; no lock of a sleeper may be held */
void clock_move(uint64_t ns);
void clock_run(void);

unsigned int clock_sleepers(void);	/* threads that wait with a deadline */
/* becomes true when a stopped time has moved by so much */
void clock_set_at(uint64_t ns, atomic_bool *flag);

extern uint64_t clock_oversleep;	/* sleeps of a stopped time end so much late */
extern unsigned int clock_sleeps;	/* how many there were */

#endif
