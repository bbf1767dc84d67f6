/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A guest without an operating system that owns one GPU and means ill. It runs with kvm-unit-tests'
 * start-up code or with that of harness/. It needs libcflat.h, the first 4 GiB mapped one to one,
 * and BARs placed by the firmware.
 *
 * The tests pass on a vGPU.
 *
 * One CPU, no interrupts, no threads. With kvm-unit-tests all sources are one file (Makefile): no
 * two may have a static function, an enumerator or a macro of one name.
 */
#ifndef KVGPU_HOSTILE_H
#define KVGPU_HOSTILE_H

#include <libcflat.h>

#include "model/attacks/bare/chan.h"
#include "system/client/pattern.h"

/*
 * Marks in memory where this guest must not look: eight bytes at each multiple of 64. The guest
 * "victim" writes VICTIM_MARK in a page of each 64 KiB of its video memory but the first quarter,
 * canary.c writes SERVER_MARK in the server's memory.
 */
#define VICTIM_MARK 0x4d41525655504756ull
#define SERVER_MARK 0x59524e4143555047ull

struct hostile {
	struct bare_gpu gpu;
	volatile uint8_t *bar3;
	uint64_t bar3_size;
	uint64_t vram; /* bytes that the card says it has */
	struct rng rng;
	unsigned long ops; /* an argument: how many random operations */
	unsigned int next_id;
	/* what follows is valid since the last hostile_restart() */
	struct bare_space space;
	struct bare_chan chan;
	uint8_t *loot;
	uint64_t loot_bus;
	volatile uint32_t *shown; /* valid since the last hostile_show() after it */
};

enum {
	PAGE = 4096,
	LOOT_VA = BARE_VA_FREE,
	AIM_VA = BARE_VA_FREE + 0x10000,
	RUN_MS = 60000,
	REFUSED_MS = 250
};

/*
 * Find the GPU and switch it on. Return false when there is none with BARs below 4 GiB and with
 * video memory.
 */
bool hostile_open(struct hostile *h);
/*
 * Do a function level reset. Return false when there is no GPU that has one. Memory decoding is off
 * afterwards, until hostile_open().
 */
bool hostile_reset(void);
/*
 * Begin as a driver does after loading: bare_take_over(), and one channel, with h->loot mapped at
 * LOOT_VA.
 */
void hostile_restart(struct hostile *h);
/*
 * Let PRAMIN show 1 MiB from the first memory that was allocated since the restart, and stay there.
 * Words of that memory can then be written by hostile_vram() without an exit.
 */
void hostile_show(struct hostile *h);
volatile uint32_t *hostile_vram(struct hostile *h, uint64_t at);
/* Restart, then copy through video memory and back. Return true when that works. */
bool hostile_alive(struct hostile *h);
/*
 * Do one copy between two addresses of the channel's space. Return false when it did not end within
 * @ms.
 */
bool hostile_copy(struct hostile *h, uint64_t src, uint64_t dst, uint32_t len, unsigned int ms);
/*
 * Do a copy that ought not to end. Wait for REFUSED_MS at most, and no longer when the GPU says
 * that the channel has faulted. Return true when the copy did end.
 */
bool hostile_refused(struct hostile *h, uint64_t src, uint64_t dst, uint32_t len);
/* Submit what is in the channel's pushbuffer, and wait likewise. */
bool hostile_run_refused(struct hostile *h);
/* Return true when there is a mark in @buf. */
bool holds_mark(const void *buf, size_t len);
/* Return true when a character waits at the serial port. */
bool told_to_stop(void);
/* Likewise, and take the character. */
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
