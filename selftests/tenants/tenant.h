/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tenant: a process with a vGPU of its own and no guest around it, that keeps the vGPU at work in
 * a certain way. Made on the VFIO client of selftests/vfio and the bare library of
 * selftests/attacks.
 */
#ifndef KVGPU_TENANTS_TENANT_H
#define KVGPU_TENANTS_TENANT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum role {
	ROLE_STREAM,	/* verified copies, always some ms of them queued */
	ROLE_GREEDY,	/* the same in large pieces, as many as there is room for */
	ROLE_LATENCY,	/* one small verified copy every 10 ms, timed */
	ROLE_WAITER,	/* an acquire that nobody will ever satisfy */
	ROLE_FAULTER,	/* one page fault after the other, each in a channel of its own */
	/*
	 * each time it is told: a copy whose engine then waits for an acknowledge; then a fresh
	 * channel
	 */
	ROLE_HANGER,
	/*
	 * copies that wait for a semaphore first, which its CPU releases some ms later: it is
	 * parked and wakes again
	 */
	ROLE_SLEEPER,
	/*
	 * streams for a while, is reset through VFIO with work under way, takes its memory back and
	 * maps it anew
	 */
	ROLE_RESETTER,
};

enum state { TENANT_STARTING, TENANT_READY, TENANT_RUNNING, TENANT_ENDED };
enum order { ORDER_WAIT, ORDER_RUN, ORDER_END };
enum { MAX_SAMPLES = 8192 };

struct tenant_shared {
	volatile int state, order, killed;	/* killed: nothing was done for seconds */
	volatile uint64_t jobs, bad, bytes, faults;
	/* of ROLE_HANGER: what it is told, what it has behind it */
	volatile uint32_t rounds, rounds_done;
	volatile uint32_t nr_samples, sample_us[MAX_SAMPLES];
};

struct tenant {
	char uuid[40];
	enum role role;
	pid_t pid;
	struct tenant_shared *shared;
};

/* a vGPU that nobody uses; 0 or errno */
int vgpu_make(struct tenant *t, unsigned int nr, const char *type);
/* makes the vGPU and the process; ends the program when that fails */
void tenant_create(struct tenant *t, unsigned int nr, const char *type);
void tenant_start(struct tenant *t, enum role role);
bool tenant_await(struct tenant *t, enum state state, unsigned int ms);
/* true: it ended by itself, and its work was right */
bool tenant_end(struct tenant *t);
void tenant_remove(struct tenant *t);

/* a file of the vGPU's group, of the card's */
uint64_t vgpu_value(const struct tenant *t, const char *name);
int vgpu_write(const struct tenant *t, const char *name, const char *text);	/* 0 or errno */
uint64_t card_value(const char *name);
int card_write(const char *name, const char *text);
bool card_read(const char *name, char *text, unsigned int size);
void find_card(void);
/*
 * the card's registers, past the driver: for tests that break something. NULL: this kernel does not
 * let us
 */
volatile uint32_t *card_registers(void);
/*
 * for so long nothing that the copy engines raise is told, so that a copy that waits for an
 * acknowledge hangs. false: it can't
 */
bool mute_engines(unsigned int seconds);
uint64_t now_ns(void);

void tenant_main(const char *uuid, enum role role, struct tenant_shared *sh)
	__attribute__((noreturn));

#endif
