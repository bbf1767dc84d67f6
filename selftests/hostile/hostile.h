/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest without an operating system that owns one GPU and means ill. Runs under kvm-unit-tests'
 * start-up code or under harness/: all it needs is libcflat.h, the first 4 GiB mapped one to one,
 * and BARs placed by the firmware.
 *
 * The tests hold for a vGPU. What each does works on a bare card: selftests/attacks shows it.
 */
#ifndef KVGPU_HOSTILE_H
#define KVGPU_HOSTILE_H

#include <libcflat.h>

#include "attacks/bare/chan.h"
#include "client/pattern.h"

/*
 * What others keep where this guest must not look: words of video memory written by a guest in the
 * part of the victim, and of server memory written by canary.c. Eight bytes at each multiple of 64.
 */
#define VICTIM_MARK	0x4d41525655504756ull
#define SERVER_MARK	0x59524e4143555047ull

struct hostile {
	struct bare_gpu gpu;
	volatile uint8_t *bar3;
	uint64_t bar3_size;
	uint64_t vram;			/* bytes that the card says it has */
	struct rng rng;
	unsigned long ops;		/* how much of everything random; argument */
	unsigned int next_id;
	/* of the last restart */
	struct bare_space space;
	struct bare_chan chan;
	uint8_t *loot;
	uint64_t loot_bus;
	volatile uint32_t *shown;	/* see hostile_show() */
};

enum {
	PAGE = 4096,
	LOOT_VA = BARE_VA_FREE,
	AIM_VA = BARE_VA_FREE + 0x10000,
	RUN_MS = 4000,
	REFUSED_MS = 250
};

/* finds the GPU, switches it on; false: there is none */
bool hostile_open(struct hostile *h);
/*
 * function level reset: what a VMM does between two guests, asked for by the guest; false: no GPU
 * that offers it
 */
bool hostile_reset(void);
/* as a driver would after loading: everything off and on, one channel with a loot page */
void hostile_restart(struct hostile *h);
/*
 * PRAMIN shows what was allocated since the restart, and goes on doing so: words of it by
 * hostile_vram(), which cost no exit, as those of bare_mem_write() do. A MiB in all.
 */
void hostile_show(struct hostile *h);
volatile uint32_t *hostile_vram(struct hostile *h, uint64_t at);
/*
 * restart, and copies through video memory and back: the guest's own GPU still does what it is told
 */
bool hostile_alive(struct hostile *h);
/* one copy between two addresses of the channel's space; false when it did not end within @ms */
bool hostile_copy(struct hostile *h, uint64_t src, uint64_t dst, uint32_t len, unsigned int ms);
/*
 * one that ought not to end: waits no longer when the GPU says that the channel has faulted, as
 * nothing of it runs any more then
 */
bool hostile_refused(struct hostile *h, uint64_t src, uint64_t dst, uint32_t len);
/* the same of what the channel has been given */
bool hostile_run_refused(struct hostile *h);
/* is anything in there that only others could have written? */
bool holds_mark(const void *buf, size_t len);
/* one character waits at the serial port */
bool told_to_stop(void);
/* likewise, and takes it */
bool told_to_go_on(void);

void hostile_window(struct hostile *h);
void hostile_window_host(struct hostile *h);
void hostile_tables(struct hostile *h);
void hostile_directories(struct hostile *h);
void hostile_instances(struct hostile *h);
void hostile_bars(struct hostile *h);
void hostile_physical(struct hostile *h);
void hostile_userd(struct hostile *h);
void hostile_remap(struct hostile *h);
void hostile_stale(struct hostile *h);
void hostile_registers(struct hostile *h);
void hostile_switches(struct hostile *h);
void hostile_runlists(struct hostile *h);
void hostile_doorbells(struct hostile *h);
void hostile_random_tables(struct hostile *h);
void hostile_blocks(struct hostile *h);
void hostile_invalidates(struct hostile *h);
void hostile_rings(struct hostile *h);
void hostile_acquire(struct hostile *h);
void hostile_endless(struct hostile *h);
void hostile_methods(struct hostile *h);
void hostile_faults(struct hostile *h);
void hostile_context(struct hostile *h);
void victim(struct hostile *h);

#endif
