// SPDX-License-Identifier: GPL-2.0-only
/*
 * An engine thread works while the socket's thread reads and writes registers, commands FECS and
 * resets the engine. Meant for the thread sanitizer; without it, it tests locks and that no thread
 * hangs.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gr/fake.h"

#define PD     0x400000u
#define INST   0x10000u
#define CTX    0x100000u
#define LIST   0x180000u
#define ROUNDS 200
/* most rounds, if the engine's thread does not get to run for long */
#define LONGEST 200000

static struct fake *f;
static atomic_bool quit;
static atomic_uint loads;

static void patch_list(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		vram32_set(f, PD + LIST + 8 * i, FAKE_VICTIM + 4 * i);
		vram32_set(f, PD + LIST + 8 * i + 4, i);
	}
	vram32_set(f, PD + CTX, n);
	vram32_set(f, PD + CTX + 4, LIST >> 8);
}

static void *engine_thread(void *arg)
{
	struct chan c;

	fake_chan(f, &c, 1, INST);
	while (!atomic_load(&quit)) {
		patch_list(100);
		if (gr_engine.load(&f->g, 0, &c))
			continue;
		atomic_fetch_add(&loads, 1);
		for (uint32_t i = 0; i < 50; i++) {
			method(f, &c, 0, 0x0d80, i);
			method(f, &c, 0, 0x3400 + 4 * i, i);
			method(f, &c, 2, 0x180, 4);
			method(f, &c, 2, 0x184, 1);
			method(f, &c, 2, 0x18c, 0x2000);
			method(f, &c, 2, 0x1b0, 1);
			method(f, &c, 2, 0x1b4, i);
			method(f, &c, 1, M_SEND_SIGNALING_PCAS_B, M_PCAS_SCHEDULE);
			method(f, &c, 0, M_BEGIN, 4);
		}
		gr_engine.save(&f->g, 0, &c);
	}
	return NULL;
}

static void socket_thread_round(unsigned int round)
{
	rd32(f, GR_STATUS);
	rd32(f, GR_INTR);
	wr32(f, GR_ICMD_DATA, round);
	wr32(f, GR_ICMD, round % 0x1000);
	wr32(f, GR_MTHD_DATA, round);
	wr32(f, GR_MTHD, 0x80000000 | 0xa197 | 0x0d80 << 14);
	wr32(f, 0x419e44, round);
	wr32(f, GR_FECS + FECS_WRCMD_CMD, 0x40 + round % 8);
	wr32(f, GR_FECS + FECS_INTR_UP_CLR, ~0u);
	wr32(f, GR_INTR, ~0u);
	wr32(f, GR_TRAP, ~0u);
	wr32(f, GR_CTRL, GR_CTRL_FIFO | GR_CTRL_RESTART);
	if (round % 50 == 49) {
		pthread_mutex_lock(&f->g.lock);
		gr_engine.reset(&f->g, 0);
		pthread_mutex_unlock(&f->g.lock);
		fake_enable_exceptions(f);
		fake_boot_nouveau(f);
	}
}

static void engine_and_socket_thread_do_not_race(void **state)
{
	pthread_t thread;

	f = fake_create();
	fake_enable_exceptions(f);
	fake_instance(f, INST, PD, CTX);
	fake_boot_nouveau(f);
	assert_int_equal(pthread_create(&thread, NULL, engine_thread, NULL), 0);
	for (unsigned int i = 0; i < ROUNDS || (!atomic_load(&loads) && i < LONGEST); i++)
		socket_thread_round(i);
	atomic_store(&quit, true);
	pthread_join(thread, NULL);
	assert_int_not_equal(atomic_load(&loads), 0);
	assert_false(f->g.gr->fecs.busy);
	fake_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_and_socket_thread_do_not_race),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
