// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work that never ends, and what the driver does about it. Not part of 'all': it needs another user
 * of the GPU, or a GPU that keeps quiet (selftests/system/guest/hang_steps.sh).
 */
#include "compute.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ce.h"
#include "methods.h"
#include "tap.h"

enum {
	PATIENCE_MS = 60000,
	HANGS_BEFORE_MS = 300,
	PAYLOAD = 0x600d,
	ACQUIRE_S = 8,
	COPY_LEN = 4096,
	HALTS = 40 /* a vGPU is suspended at eight strikes, and one in 30 s is forgiven */
};

/* cla0b5.h LAUNCH_DMA_INTERRUPT_TYPE_BLOCKING: the engine waits for the driver's acknowledge */
#define CE_INTERRUPT_BLOCKING (1u << 5)

/* ms until the channel was killed, or -1 */
static long await_death(struct gpu_chan *c)
{
	uint64_t start = now_us();

	while (now_us() - start < PATIENCE_MS * 1000ull) {
		if (chan_dead(c))
			return (now_us() - start) / 1000;
		usleep(5000);
	}
	return -1;
}

static bool await_release(struct compute *k)
{
	uint64_t start = now_us();

	while (*compute_release_word(k, 1, 0) != PAYLOAD)
		if (now_us() - start > PATIENCE_MS * 1000ull)
			return false;
		else
			usleep(5000);
	return true;
}

/* ------------------------------------------------------------------ a kernel that never ends */

/* a kernel that jumps to itself: a reset of the engine ends it */
void test_endless(const struct client_options *o)
{
	struct compute k, other;
	struct gpu g;
	long ms;
	int ret;

	gpu_open(&g, o->node);
	compute_open(&k, &g);
	compute_open(&other, &g);
	ret = compute_run_released(&k, PAYLOAD);
	tap_result(!ret, "endless: a kernel that ends, on the same channel, ends", "result %d",
		   ret);
	compute_write_shader(&k, true);
	compute_prepare(&k, 1, PAYLOAD);
	ret = compute_submit(&k, 1);
	usleep(HANGS_BEFORE_MS * 1000);
	tap_result(!ret && *compute_release_word(&k, 1, 0) == 0,
		   "endless: one that jumps to itself does not", "result %d", ret);
	/* this one wants the engine when it is reset */
	compute_prepare(&other, 1, PAYLOAD);
	ret = compute_submit(&other, 1);
	ms = await_death(&k.c);
	tap_result(ms >= 0, "endless: its channel is killed", "after %ld ms", ms);
	tap_result(!ret && await_release(&other),
		   "endless: a kernel of another channel, which waited behind it, runs",
		   "result %d", ret);
	compute_close(&other);
	tap_result(*compute_release_word(&k, 1, 0) == 0, "endless: it has released nothing", NULL);
	compute_close(&k);
	compute_open(&k, &g);
	ret = compute_run_released(&k, PAYLOAD + 1);
	tap_result(!ret, "endless: a new channel's kernel runs", "result %d", ret);
	compute_close(&k);
	gpu_close(&g);
}

/* ----------------------------------------------------------------- a copy that halts its engine */

static int halting_copy(struct gpu_chan *c, struct nouveau_bo *bo)
{
	job_begin(c, 32);
	job_use(c, bo, NOUVEAU_BO_RDWR);
	emit(c, SUBC_COPY, CE_OFFSET_IN, bo->offset >> 32, bo->offset,
	     (bo->offset + COPY_LEN) >> 32, bo->offset + COPY_LEN, COPY_LEN, COPY_LEN, COPY_LEN, 1);
	emit(c, SUBC_COPY, CE_LAUNCH_DMA,
	     CE_NON_PIPELINED | CE_FLUSH | CE_SRC_PITCH | CE_DST_PITCH | CE_INTERRUPT_BLOCKING);
	return job_kick(c);
}

/* a channel whose first job is done; false: it was killed, as those of a suspended vGPU are */
static bool open_working(struct gpu *g, struct gpu_chan *c)
{
	if (chan_open(g, ENGINE_CE, c))
		return false;
	job_begin(c, 8);
	emit(c, SUBC_COPY, SET_OBJECT, CLASS_COPY);
	if (!job_run(c))
		return true;
	chan_close(c);
	return false;
}

/*
 * The copy's interrupt halts the engine until it is acknowledged; the test that starts this program
 * prevents that. Channels are lost in this way, until none works any more or HALTS (quick: one) are
 * lost. No graphics object: a driver that has not used its graphics engine must survive this, too.
 */
void test_halt(const struct client_options *o)
{
	unsigned int rounds = o->quick ? 1 : HALTS, i;
	long ms = 0, longest = 0;
	struct nouveau_bo *bo;
	struct gpu_chan c;
	struct gpu g;
	int ret = 0;

	gpu_open(&g, o->node);
	bo = bo_new(&g, NOUVEAU_BO_VRAM, 2 * COPY_LEN);
	for (i = 0; i < rounds && !ret && ms >= 0 && open_working(&g, &c); i++) {
		ret = halting_copy(&c, bo);
		ms = ret ? -1 : await_death(&c);
		longest = ms > longest ? ms : longest;
		chan_close(&c);
	}
	tap_result(i && !ret && ms >= 0, "halt: each channel that halts its copy engine is killed",
		   "%u of %u, result %d, %ld ms at most", i, rounds, ret, longest);
	bo_free(&bo);
	gpu_close(&g);
}

/* ---------------------------------------------------------- an acquire that is satisfied late */

/* waits for a number that comes when time is over: until then the channel has work and does none */
void test_acquire(const struct client_options *o)
{
	uint64_t start;
	struct nouveau_bo *sem;
	struct gpu_chan c;
	struct gpu g;
	int ret, early;

	gpu_open(&g, o->node);
	chan_must_open(&g, ENGINE_CE, &c);
	sem = bo_new(&g, NOUVEAU_BO_GART, 4096);
	memset(sem->map, 0, 4096);
	job_begin(&c, 16);
	job_use(&c, sem, NOUVEAU_BO_RD);
	emit_semaphore(&c, sem->offset, 1, SEMAPHORE_ACQUIRE);
	ret = job_kick(&c);
	for (start = now_us(); !time_is_over(o, ACQUIRE_S, start);)
		usleep(50000);
	early = *(volatile uint32_t *)c.done->map == c.seq;
	tap_result(!ret && !early && !chan_dead(&c),
		   "acquire: a channel waits for a number, and is left to it", "%llu ms",
		   (unsigned long long)(now_us() - start) / 1000);
	*(volatile uint32_t *)sem->map = 1;
	ret = ret ? ret : job_wait(&c, JOB_TIMEOUT_MS);
	tap_result(!ret, "acquire: when the number comes it goes on", "result %d", ret);
	bo_free(&sem);
	chan_close(&c);
	gpu_close(&g);
}
