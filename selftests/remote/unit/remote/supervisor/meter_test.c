// SPDX-License-Identifier: MIT
/* The process that asks NVML, which is played here, and what the first process takes from it. */
#include <selftests/unit_test.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/supervisor/supervisor.h>

enum { GPU_BYTES = 1 << 30, OTHERS = 100000, INSUFFICIENT_SIZE = 7 };

static struct remoted_conf conf;
static struct client client = { .pid = 77 };
static struct supervisor s;
static unsigned int listed; /* how many processes are on the GPU; the client's is the last one */
static char said[512];

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

uint64_t now_ms(void)
{
	return 1000000;
}

int log_pipe(int ends[2])
{
	return pipe2(ends, O_CLOEXEC | O_NONBLOCK | O_DIRECT);
}

void clients_part(struct supervisor *all, struct client *c, bool here)
{
}

void arbiter_part(struct supervisor *all)
{
}

bool child_helps(const struct supervisor *all, pid_t parent, int *fd)
{
	return true;
}

/* ------------------------------------------------------------------ NVML */

static int init(void)
{
	return 0;
}

static int count(unsigned int *n)
{
	*n = 1;
	return 0;
}

static int device(unsigned int i, void **gpu)
{
	*gpu = &listed;
	return 0;
}

static int text(void *gpu, char *to, unsigned int size)
{
	snprintf(to, size, "GPU-00");
	return 0;
}

static int memory(void *gpu, unsigned long long *bytes)
{
	bytes[0] = GPU_BYTES;
	bytes[1] = GPU_BYTES / 2;
	return 0;
}

static int processes(void *gpu, unsigned int *n, void *list)
{
	struct {
		unsigned int pid;
		unsigned long long bytes;
		unsigned int instances[2];
	} *to = list;
	unsigned int i, room = *n;

	*n = listed;
	for (i = 0; i < listed && i < room; i++) {
		to[i].pid = i + 1 < listed ? OTHERS + i : (unsigned int)client.pid;
		to[i].bytes = 1 << 20;
	}
	return listed > room ? INSUFFICIENT_SIZE : 0;
}

void *__wrap_dlopen(const char *path, int flags)
{
	return &listed;
}

void *__wrap_dlsym(void *library, const char *name)
{
	return strstr(name, "Init")   ? (void *)(uintptr_t)init :
	       strstr(name, "Count")  ? (void *)(uintptr_t)count :
	       strstr(name, "Handle") ? (void *)(uintptr_t)device :
	       strstr(name, "Memory") ? (void *)(uintptr_t)memory :
	       strstr(name, "Comp")   ? (void *)(uintptr_t)processes :
					(void *)(uintptr_t)text;
}

/* ------------------------------------------------------------------ */

static int set_up(void **state)
{
	s = (struct supervisor){ .conf = &conf, .clients = &client, .nr_clients = 1 };
	s.meter.fd = -1;
	*said = 0;
	return 0;
}

static int tear_down(void **state)
{
	meter_end(&s);
	while (waitpid(-1, NULL, 0) > 0)
		;
	return 0;
}

static void read_with(unsigned int n)
{
	struct pollfd p;

	listed = n;
	meter_begin(&s);
	p = (struct pollfd){ .fd = s.meter.fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 10000), 1);
	meter_hear(&s);
}

TEST(a_reading)
{
	read_with(200);
	assert_false(s.sleepers.blind);
	assert_int_equal(s.sleepers.nr_gpus, 1);
	assert_int_equal(s.sleepers.gpus[0].free, GPU_BYTES / 2);
	assert_int_equal(client.sleeper.uses[0], 1 << 20);
}

/* A client that is not listed would be taken to be on GPU 0. */
TEST(more_processes_than_there_is_room_for)
{
	read_with(201);
	assert_true(s.sleepers.blind);
	assert_non_null(strstr(said, "more than 200 processes"));
}

TEST_MAIN(set_up, tear_down)
