/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tenant: a process with a vGPU of its own and no guest, which keeps the vGPU at work in a
 * certain way.
 */
#ifndef KVGPU_TENANTS_TENANT_H
#define KVGPU_TENANTS_TENANT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum role {
	ROLE_STREAM, /* verified copies */
	ROLE_GREEDY, /* as ROLE_STREAM, in larger jobs */
	ROLE_LATENCY, /* one small verified copy every 10 ms, timed */
	ROLE_WAITER, /* waits for ever for a semaphore */
	ROLE_FAULTER, /* one page fault after the other, each in a channel of its own */
	/*
	 * Whenever it is told to: does a copy after which the engine waits for an acknowledge, then
	 * opens a fresh channel.
	 */
	ROLE_HANGER,
	/* Does copies that first wait for a semaphore, which the CPU releases some ms later. */
	ROLE_SLEEPER,
	/*
	 * Streams for a while, is reset through VFIO with work under way, then unmaps its memory
	 * and maps it anew.
	 */
	ROLE_RESETTER,
};

enum state { TENANT_STARTING, TENANT_READY, TENANT_RUNNING, TENANT_ENDED };
enum order { ORDER_WAIT, ORDER_RUN, ORDER_END };
enum { MAX_SAMPLES = 8192 };

struct tenant_shared {
	volatile int state, order, killed; /* killed: no job ended for long */
	volatile uint64_t jobs, bad, bytes, faults;
	/* how many times a tenant that should always have work found its ring empty */
	volatile uint64_t dry;
	/* ROLE_HANGER: hangs it was told to do, and hangs done; ROLE_RESETTER: resets done */
	volatile uint32_t rounds, rounds_done;
	volatile int suspended; /* ROLE_HANGER: its vGPU is, as the test has seen */
	volatile uint32_t nr_samples, sample_us[MAX_SAMPLES];
};

struct tenant {
	char uuid[40];
	enum role role;
	pid_t pid;
	struct tenant_shared *shared;
};

/* Make a vGPU that no process uses. Return 0 or an errno. */
int vgpu_make(struct tenant *t, unsigned int nr, const char *type);
/* Make the vGPU and what is shared with its process. The program ends when that fails. */
void tenant_create(struct tenant *t, unsigned int nr, const char *type);
void tenant_start(struct tenant *t, enum role role);
bool tenant_await(struct tenant *t, enum state state, unsigned int ms);
/* Return true when the process ended by itself and its work was right. */
bool tenant_end(struct tenant *t);
void tenant_remove(struct tenant *t);

/* Read or write a file of the vGPU's group kvgpu in sysfs, or of the card's. */
uint64_t vgpu_value(const struct tenant *t, const char *name);
int vgpu_write(const struct tenant *t, const char *name, const char *text); /* 0 or errno */
/* Open a file with a number for value_read(). The program ends when that fails. */
int vgpu_open(const struct tenant *t, const char *name);
uint64_t value_read(int fd);
uint64_t card_value(const char *name);
int card_write(const char *name, const char *text);
bool card_read(const char *name, char *text, unsigned int size);
void find_card(const char *address); /* NULL: any that kvgpu has */
/*
 * Map the card's registers, behind the driver's back, for tests that break something. Return NULL
 * when this kernel does not allow it.
 */
volatile uint32_t *card_registers(void);
/*
 * For @seconds no interrupt of the copy engines is raised, so that a copy that waits for an
 * acknowledge hangs. Return false when the registers can't be mapped.
 */
bool mute_engines(unsigned int seconds);
uint64_t now_ns(void);

void tenant_main(const char *uuid, enum role role, struct tenant_shared *sh)
	__attribute__((noreturn));

#endif
