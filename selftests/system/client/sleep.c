// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits that sleep in the kernel until an interrupt wakes them.
 *
 * Stock nouveau since 6.6 registers a sleeping waiter under the runlist id of its channel, and the
 * interrupt handler of this chip's family tells id 0 only (nvkm/engine/fifo/gk104.c,
 * gk104_fifo_intr; nouveau_fence.c). So a waiter of a channel on another runlist sleeps until its
 * time limit: a known bug, for as long as the kernel has it.
 */
#include "client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <nouveau_drm.h>
#include <xf86drm.h>

#include "methods.h"
#include "tap.h"

enum { WORK_MS = 300, PATIENCE_MS = 6000 };

#define GEM_CPU_PREP \
	DRM_IOW(DRM_COMMAND_BASE + DRM_NOUVEAU_GEM_CPU_PREP, struct drm_nouveau_gem_cpu_prep)

struct later {
	volatile uint32_t *word;
	pthread_t sleeper;
	volatile bool woken, signalled;
};

/* lets the GPU's work end after a while, and ends the sleep by a signal when that didn't */
static void *release_later(void *arg)
{
	struct later *l = arg;
	int ms;

	usleep(WORK_MS * 1000);
	*l->word = 1;
	for (ms = WORK_MS; ms < PATIENCE_MS && !l->woken; ms += 20)
		usleep(20000);
	l->signalled = !l->woken;
	while (!l->woken) {
		pthread_kill(l->sleeper, SIGUSR1);
		usleep(50000);
	}
	return NULL;
}

static void on_signal(int sig)
{
}

/* 0, or -EINTR when only the signal ended the sleep */
static int sleep_until_idle(struct gpu *g, struct nouveau_bo *bo)
{
	struct drm_nouveau_gem_cpu_prep req = { .handle = bo->handle,
						.flags = NOUVEAU_GEM_CPU_PREP_WRITE };

	/* not drmIoctl(): that starts again after a signal */
	return ioctl(g->fd, GEM_CPU_PREP, &req) ? -errno : 0;
}

static void one_sleep(struct gpu *g, enum gpu_engine engine, const struct client_options *o)
{
	struct sigaction sa = { .sa_handler = on_signal };
	struct nouveau_bo *sem = bo_new(g, NOUVEAU_BO_GART, 4096);
	struct later later = { .word = sem->map, .sleeper = pthread_self() };
	struct gpu_chan c;
	pthread_t thread;
	uint64_t start, slept_ms;
	bool other_runlist, right, known, released;
	char name[80];
	int ret, end;

	sigaction(SIGUSR1, &sa, NULL);
	chan_must_open(g, engine, &c);
	other_runlist = chan_runlist(&c) >= 0 ? chan_runlist(&c) > 0 :
						o->runlists > 1 && engine == ENGINE_CE;
	*later.word = 0;
	job_begin(&c, 16);
	job_use(&c, sem, NOUVEAU_BO_RD);
	emit_semaphore(&c, sem->offset, 1, SEMAPHORE_ACQUIRE | SEMAPHORE_SWITCH);
	ret = job_kick(&c);
	start = now_us();
	if (pthread_create(&thread, NULL, release_later, &later))
		bail("no thread");
	if (!ret)
		ret = sleep_until_idle(g, c.done);
	released = *later.word;
	slept_ms = (now_us() - start) / 1000;
	later.woken = true;
	pthread_join(thread, NULL);
	end = job_wait(&c, JOB_TIMEOUT_MS);
	snprintf(name, sizeof(name),
		 "a wait that sleeps for %d ms of work on a %s channel is woken", WORK_MS,
		 engine == ENGINE_CE ? "CE" : "GR");
	right = !ret && !end && released && !later.signalled;
	known = later.signalled && !end && released && (!ret || ret == -EINTR);
	if (other_runlist && !kernel_before(6, 6) && (right || known))
		tap_known_bug(right, name, "nouveau since 6.6 wakes waiters of runlist 0 only");
	else
		tap_result(right, name, "slept %llu ms, wait %d, work %d",
			   (unsigned long long)slept_ms, ret, end);
	chan_close(&c);
	bo_free(&sem);
}

void test_sleep(const struct client_options *o)
{
	struct gpu g;
	int i;

	gpu_open(&g, o->node);
	for (i = 0; i < (o->quick ? 1 : 5); i++) {
		one_sleep(&g, ENGINE_GR, o);
		one_sleep(&g, ENGINE_CE, o);
	}
	gpu_close(&g);
}
