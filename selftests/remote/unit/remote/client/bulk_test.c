// SPDX-License-Identifier: MIT
/*
 * Copies by several threads, of all lengths and offsets, by one caller and by many at once. The
 * process seems to have eight CPUs.
 */
#include <selftests/unit_test.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <remote/channel/signals.h>
#include <remote/client/client.h>

enum { ROOM = 3 << 20, CALLERS = 4, CPUS = 8 };

static unsigned int started;

int signals_thread(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	started++;
	return -pthread_create(thread, NULL, run, arg);
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
	int i;

	CPU_ZERO(set);
	for (i = 0; i < CPUS; i++)
		CPU_SET(i, set);
	return 0;
}

/* copies with memory before and behind that must stay */
static void copy_some(unsigned int *seed, uint8_t *from, uint8_t *to)
{
	uint64_t bytes = rand_r(seed) % 3 ? rand_r(seed) % (ROOM - 256) :
					    64 * (rand_r(seed) % 5000),
		 at = rand_r(seed) % 128, begin = 1 + rand_r(seed) % 128;
	const uint8_t before = rand_r(seed), value = before + 1;

	memset(from, value, ROOM);
	from[at] ^= 0x55;
	if (bytes)
		from[at + bytes - 1] ^= 0xaa;
	to[begin - 1] = to[begin + bytes] = before;
	bulk_copy(to + begin, from + at, bytes, rand_r(seed) % 2);
	assert_memory_equal(to + begin, from + at, bytes);
	assert_int_equal(to[begin - 1], before);
	assert_int_equal(to[begin + bytes], before);
}

static void *call(void *arg)
{
	uint8_t *from = malloc(ROOM), *to = malloc(ROOM);
	unsigned int seed = (uintptr_t)arg, i;

	for (i = 0; i < 100; i++)
		copy_some(&seed, from, to);
	free(from);
	free(to);
	return NULL;
}

TEST(all_lengths)
{
	call((void *)1);
	assert_int_equal(started, 3);
}

TEST(many_callers)
{
	pthread_t t[CALLERS];
	uintptr_t i;

	for (i = 0; i < CALLERS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, call, (void *)(i + 2)), 0);
	for (i = 0; i < CALLERS; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(started, 3);
}

static uint64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* Helpers sleep when there is nothing to copy, and copies go on when they have slept. */
TEST(idle_helpers_sleep)
{
	uint64_t before;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		usleep(100000);
		before = cpu_us();
		usleep(500000);
		assert_in_range(cpu_us() - before, 0, 20000);
		call((void *)(uintptr_t)(10 + i));
	}
}

TEST_MAIN(NULL, NULL)
