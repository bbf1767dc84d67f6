// SPDX-License-Identifier: GPL-2.0-only
/* Inside a tenant's process: its channel, and the work that the tenant does with it. */
#include "tenant.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/bitfield.h>

#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/push.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "device.h"
#include "pattern.h"

/*
 * A job copies a page of host memory to video memory, does copies there, and copies the page back
 * to host memory.
 */
enum {
	PAGE = 4096,
	/* jobs in the ring; the pushbuffer has room for 24 short jobs, or for 8 greedy ones */
	SLOTS = 24,
	GREEDY_SLOTS = 8,
	BLOCK = 0x10000,
	RING = 512,
	SRC_VA = BARE_VA_FREE,
	DST_VA = SRC_VA + SLOTS * PAGE,
	A_VA = BARE_VA_FREE + 0x100000,
	B_VA = A_VA + BLOCK,
	NOWHERE_VA = 0xe00000,
	STREAM_COPIES = 12,
	GREEDY_COPIES = 60,
	SLEEPERS_WORD = 16, /* offset in the semaphore's page, in words */
};

#define STALLED_NS 60000000000ull /* what takes longer hangs */
#define NEVER_NS   1000000000ull /* so long nothing of a suspended vGPU may run */

struct work {
	struct device d;
	struct bare_gpu g;
	struct bare_space s;
	struct bare_chan c;
	uint8_t *src, *dst;
	uint64_t submitted, done, seed;
	unsigned int slots; /* most jobs in the ring, SLOTS or less */
};

static uint8_t *map_host(struct work *w, uint64_t va, size_t size)
{
	uint64_t bus;
	uint8_t *p = bare_host(&w->g, size, &bus);

	bare_space_map_range(&w->g, &w->s, va, BARE_HOST, bus, size);
	return p;
}

static void open_channel(struct work *w, unsigned int id)
{
	struct bare_chan_config cfg = { .id = id, .runlist = w->g.engine[BARE_CE0].runlist };
	uint32_t entry = id;

	bare_chan_create(&w->g, &w->s, &cfg, &w->c);
	bare_runlist(&w->g, cfg.runlist, &entry, 1);
	w->submitted = w->done = 0;
}

static void prepare(struct work *w)
{
	uint64_t vram;

	gpu_attach(&w->d, &w->g);
	bare_space_create(&w->g, &w->s);
	w->src = map_host(w, SRC_VA, SLOTS * PAGE);
	w->dst = map_host(w, DST_VA, SLOTS * PAGE);
	vram = bare_vram(&w->g, 2 * BLOCK, PAGE);
	bare_space_map_range(&w->g, &w->s, A_VA, BARE_VRAM, vram, 2 * BLOCK);
	open_channel(w, 1);
}

static void begin(struct work *w, const char *uuid)
{
	device_open(&w->d, uuid);
	prepare(w);
}

static unsigned int slot_words(const struct work *w)
{
	return BARE_PUSH_BYTES / w->slots / 4;
}

/*
 * Ring for the words in the slot's own part of the pushbuffer. So a ring has several jobs at a
 * time.
 */
static void ring_slot(struct work *w, unsigned int slot)
{
	struct bare_chan *c = &w->c;
	uint64_t va = c->push_va + slot * slot_words(w) * 4;
	uint32_t entry = c->put % RING;

	c->ring[2 * entry] = va;
	c->ring[2 * entry + 1] = va >> 32 |
				 FIELD_PREP(GP_ENTRY1_LENGTH, c->words - slot * slot_words(w));
	c->put++;
	__sync_synchronize();
	*(volatile uint32_t *)(w->g.bars.bar1 + c->userd_bar1 + USERD_GP_PUT) = c->put % RING;
}

/*
 * @acquire: value that the semaphore's word must have before the job begins; 0: the job does not
 * wait.
 */
static void submit_after(struct work *w, unsigned int copies, uint32_t acquire)
{
	unsigned int slot = w->submitted % w->slots, i;
	struct bare_chan *c = &w->c;

	pattern_fill(w->src + slot * PAGE, PAGE, ++w->seed);
	memset(w->dst + slot * PAGE, 0, 64);
	c->words = slot * slot_words(w);
	if (acquire)
		bare_emit(c, SUBCH_COPY, HOST_SEMAPHORE_A, c->semaphore_va >> 32,
			  c->semaphore_va + SLEEPERS_WORD * 4, acquire,
			  HOST_SEMAPHORE_ACQUIRE | HOST_SEMAPHORE_4BYTE);
	bare_copy(c, SRC_VA + slot * PAGE, A_VA, PAGE, 0);
	for (i = 0; i < copies; i++)
		bare_copy(c, A_VA, B_VA, BLOCK, 0);
	bare_copy(c, copies ? B_VA : A_VA, DST_VA + slot * PAGE, PAGE, 0);
	bare_emit(c, SUBCH_COPY, HOST_SEMAPHORE_A, c->semaphore_va >> 32, c->semaphore_va,
		  (uint32_t)++w->submitted, HOST_SEMAPHORE_RELEASE | HOST_SEMAPHORE_4BYTE);
	ring_slot(w, slot);
}

static void submit(struct work *w, unsigned int copies)
{
	submit_after(w, copies, 0);
}

/* Check the jobs that have ended. Return true when there was one. */
static bool collect(struct work *w, struct tenant_shared *sh, unsigned int copies)
{
	uint64_t before = w->done;

	while (w->done < w->submitted &&
	       (int32_t)(*w->c.semaphore - (uint32_t)(w->done + 1)) >= 0) {
		unsigned int slot = w->done++ % w->slots;

		if (memcmp(w->src + slot * PAGE, w->dst + slot * PAGE, PAGE))
			sh->bad++;
		sh->jobs++;
		sh->bytes += 2 * PAGE + (uint64_t)copies * BLOCK;
	}
	return w->done != before;
}

static void stream(struct work *w, struct tenant_shared *sh, unsigned int copies)
{
	uint64_t moved = now_ns();

	while (sh->order != ORDER_END && !sh->killed) {
		while (w->submitted - w->done < w->slots)
			submit(w, copies);
		usleep(1000);
		if (collect(w, sh, copies))
			moved = now_ns();
		sh->dry += w->done == w->submitted;
		sh->killed = now_ns() - moved > STALLED_NS;
	}
	while (w->done < w->submitted && now_ns() - moved < STALLED_NS) {
		usleep(1000);
		if (collect(w, sh, copies))
			moved = now_ns();
	}
	sh->bad += w->submitted - w->done;
}

static void latency(struct work *w, struct tenant_shared *sh)
{
	while (sh->order != ORDER_END) {
		uint64_t at = now_ns();

		submit(w, 0);
		while (!collect(w, sh, 0) && now_ns() - at < STALLED_NS)
			usleep(50);
		if (w->done != w->submitted) {
			sh->bad++;
			return;
		}
		if (sh->order == ORDER_RUN && sh->nr_samples < MAX_SAMPLES)
			sh->sample_us[sh->nr_samples++] = (now_ns() - at) / 1000;
		while (now_ns() - at < 10000000)
			usleep(500);
	}
}

static void waiter(struct work *w, struct tenant_shared *sh)
{
	bare_emit(&w->c, SUBCH_COPY, HOST_SEMAPHORE_A, w->c.semaphore_va >> 32,
		  w->c.semaphore_va + 64, 0xdead, HOST_SEMAPHORE_ACQUIRE);
	bare_ring(&w->c);
	while (sh->order != ORDER_END)
		usleep(10000);
}

/* Jobs that first wait for the semaphore for some ms. */
static void sleeper(struct work *w, struct tenant_shared *sh)
{
	uint32_t n = 0;
	uint64_t at;

	while (sh->order != ORDER_END) {
		submit_after(w, STREAM_COPIES, ++n);
		usleep(5000 + n % 4 * 5000);
		w->c.semaphore[SLEEPERS_WORD] = n;
		at = now_ns();
		while (!collect(w, sh, STREAM_COPIES) && now_ns() - at < STALLED_NS)
			usleep(500);
		if (w->done != w->submitted) {
			sh->bad++;
			return;
		}
	}
}

static void resetter(struct work *w, struct tenant_shared *sh)
{
	uint64_t until;

	while (sh->order != ORDER_END) {
		until = now_ns() + (100 + sh->rounds_done % 4 * 100) * 1000000ull;
		while (sh->order != ORDER_END && now_ns() < until) {
			while (w->submitted - w->done < w->slots)
				submit(w, STREAM_COPIES);
			usleep(1000);
			collect(w, sh, STREAM_COPIES);
		}
		if (ioctl(w->d.fd, VFIO_DEVICE_RESET))
			sh->bad++;
		gpu_detach(&w->d, &w->g);
		prepare(w);
		sh->rounds_done++;
	}
	sh->bad += !sh->rounds_done;
}

static void faulter(struct work *w, struct tenant_shared *sh)
{
	unsigned int i;

	for (i = 2; sh->order != ORDER_END; i++) {
		bare_copy(&w->c, NOWHERE_VA, A_VA, PAGE, 0);
		if (bare_run(&w->c, 20))
			sh->bad++;
		sh->faults++;
		bare_runlist(&w->g, w->c.runlist, NULL, 0);
		bare_chan_destroy(&w->c);
		w->g.host.used = w->g.host.size / 2;
		w->g.vram_next = 0x1400000;
		open_channel(w, 1 + i % 8);
	}
}

/* Return whether what began at @at may still come. */
static bool may_come(const struct tenant_shared *sh, uint64_t at)
{
	return sh->order != ORDER_END && now_ns() - at < (sh->suspended ? NEVER_NS : STALLED_NS);
}

/*
 * The copy asks for an interrupt that halts the copy engine until it is acknowledged. The test has
 * turned that interrupt off, so it is never acknowledged.
 */
static void hang_once(struct work *w, struct tenant_shared *sh, unsigned int id)
{
	uint64_t at = now_ns();

	bare_copy(&w->c, A_VA, B_VA, PAGE,
		  FIELD_PREP(A0B5_LAUNCH_INTERRUPT, A0B5_INTERRUPT_BLOCKING));
	bare_ring(&w->c);
	while (!(bare_read(&w->g, PFIFO_INTR) & PFIFO_INTR_SCHED_ERROR) && may_come(sh, at))
		usleep(5000);
	if (bare_read(&w->g, PFIFO_INTR) & PFIFO_INTR_SCHED_ERROR)
		sh->faults++;
	bare_write(&w->g, PFIFO_INTR, PFIFO_INTR_SCHED_ERROR);
	bare_runlist(&w->g, w->c.runlist, NULL, 0);
	bare_chan_destroy(&w->c);
	open_channel(w, id);
	bare_copy(&w->c, A_VA, B_VA, PAGE, 0);
	bare_submit(&w->c);
	for (at = now_ns(); *w->c.semaphore != w->c.seq && may_come(sh, at);)
		usleep(1000);
	sh->jobs += *w->c.semaphore == w->c.seq;
}

static void hanger(struct work *w, struct tenant_shared *sh)
{
	while (sh->order != ORDER_END) {
		if (sh->rounds_done == sh->rounds) {
			usleep(2000);
			continue;
		}
		hang_once(w, sh, 1 + (sh->rounds_done + 1) % 16);
		__sync_synchronize();
		sh->rounds_done++;
	}
}

void tenant_main(const char *uuid, enum role role, struct tenant_shared *sh)
{
	static struct work w;

	w.slots = role == ROLE_GREEDY ? GREEDY_SLOTS : SLOTS;
	prctl(PR_SET_PDEATHSIG, 9);
	prctl(PR_SET_TIMERSLACK, 1000);
	begin(&w, uuid);
	sh->state = TENANT_READY;
	while (sh->order == ORDER_WAIT)
		usleep(1000);
	sh->state = TENANT_RUNNING;
	switch (role) {
	case ROLE_STREAM:
		stream(&w, sh, STREAM_COPIES);
		break;
	case ROLE_GREEDY:
		stream(&w, sh, GREEDY_COPIES);
		break;
	case ROLE_LATENCY:
		latency(&w, sh);
		break;
	case ROLE_WAITER:
		waiter(&w, sh);
		break;
	case ROLE_FAULTER:
		faulter(&w, sh);
		break;
	case ROLE_HANGER:
		hanger(&w, sh);
		break;
	case ROLE_SLEEPER:
		sleeper(&w, sh);
		break;
	case ROLE_RESETTER:
		resetter(&w, sh);
		break;
	}
	gpu_detach(&w.d, &w.g);
	device_close(&w.d);
	sh->state = TENANT_ENDED;
	_exit(sh->bad ? 1 : 0);
}
