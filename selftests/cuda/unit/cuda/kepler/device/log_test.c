// SPDX-License-Identifier: MIT
/* Why a device died, from a log that is a pipe here. Threads ask at once, for TSan. */
#define _GNU_SOURCE /* pipe2() */
#include <fcntl.h>
#include <pthread.h>
#include <selftests/unit_test.h>
#include <stdio.h>
#include <unistd.h>

#include <cuda/kepler/device/nv.h>

enum { THREADS = 3 };

static struct nv_device device;
static int log_end;

/* O_DIRECT: a read gives one line, as of /dev/kmsg */
static int set_up(void **state)
{
	int ends[2];

	if (pipe2(ends, O_DIRECT | O_NONBLOCK | O_CLOEXEC))
		return 1;
	memset(&device, 0, sizeof(device));
	pthread_mutex_init(&device.check_lock, NULL);
	device.log = ends[0];
	log_end = ends[1];
	return 0;
}

static int tear_down(void **state)
{
	nv_log_close(&device);
	close(log_end);
	return pthread_mutex_destroy(&device.check_lock);
}

static void log_fault(void)
{
	char name[32] = "", line[256];
	FILE *f = fopen("/proc/self/comm", "r");
	int n;

	assert_non_null(f);
	assert_non_null(fgets(name, sizeof(name), f));
	fclose(f);
	name[strcspn(name, "\n")] = 0;
	n = snprintf(
		line, sizeof(line),
		"3,900,12345,-;nouveau 0000:01:00.0: fifo: fault 01 [WRITE] at 000000dead000000 "
		"engine 00 [GR] client 01 [GPC0/T1_0] reason 02 [PTE] on channel 2 "
		"[003fbec000 %s[%d]]\n",
		name, (int)getpid());
	assert_int_equal(write(log_end, line, n), n);
}

static void *ask(void *arg)
{
	*(enum device_cause *)arg = nv_cause(&device.base);
	return NULL;
}

static void ask_at_once(enum device_cause want)
{
	enum device_cause said[THREADS];
	pthread_t threads[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &said[i]), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(said[i], want);
	}
}

TEST(a_cause)
{
	log_fault();
	ask_at_once(CAUSE_ADDRESS);
	assert_int_equal(nv_cause(&device.base), CAUSE_ADDRESS);
}

TEST(no_cause)
{
	ask_at_once(CAUSE_UNKNOWN);
	log_fault();
	assert_int_equal(nv_cause(&device.base), CAUSE_ADDRESS);
}

TEST_MAIN(set_up, tear_down)
