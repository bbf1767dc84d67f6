// SPDX-License-Identifier: MIT
/* Waiting for moments: polling at first, then with sleeps. */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "driver.h"

/*
 * First poll without giving up the CPU, for short kernels, then yield, then sleep longer and
 * longer. CU_CTX_SCHED_BLOCKING_SYNC leaves out the yielding, another CU_CTX_SCHED_ flag the
 * sleeping.
 */
enum { SPIN_US = 30, YIELD_US = 1000, PAUSE_US = 50, PAUSE_MAX_US = 1000, LOOK_US = 10000 };

static CUresult poll_once(CUcontext ctx, const struct moment *m, bool look)
{
	CUresult r = CUDA_SUCCESS;
	unsigned int i;

	for (i = 0; i < NR_QUEUES && !r; i++)
		if (m->seq[i])
			r = error_of(ctx->device->ops->poll(ctx->device, i, m->seq[i], look));
	if (!r) /* the context may keep an error that poll() does not tell: host_need() */
		return __atomic_load_n(&ctx->sticky, __ATOMIC_ACQUIRE);
	return r == CUDA_ERROR_NOT_READY ? r : ctx_set_sticky(ctx, r);
}

CUresult moment_poll(CUcontext ctx, const struct moment *m)
{
	return poll_once(ctx, m, true);
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

CUresult moment_wait(CUcontext ctx, const struct moment *m)
{
	uint64_t start = now_us(), looked = start, now;
	unsigned int sched = __atomic_load_n(&ctx->flags, __ATOMIC_RELAXED) & CU_CTX_SCHED_MASK;
	uint64_t yield_us = sched == CU_CTX_SCHED_BLOCKING_SYNC ? SPIN_US :
			    sched				? UINT64_MAX :
								  YIELD_US;
	unsigned int pause = PAUSE_US;
	bool look = false;
	CUresult r;

	while ((r = poll_once(ctx, m, look)) == CUDA_ERROR_NOT_READY) {
		messages_take(ctx);
		now = now_us();
		look = now - looked > LOOK_US;
		if (look)
			looked = now;
		if (now - start < SPIN_US)
			continue;
		if (now - start < yield_us) {
			sched_yield();
			continue;
		}
		usleep(pause);
		pause = pause < PAUSE_MAX_US ? pause * 2 : PAUSE_MAX_US;
	}
	if (messages_take(ctx) == CUDA_ERROR_ASSERT)
		return ctx_set_sticky(ctx, CUDA_ERROR_ASSERT);
	return r;
}
