// SPDX-License-Identifier: MIT
/* The exit code of the first process, which tells systemd whether to start it again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <remote/starter/starter.h>

static struct remoted_conf conf;
static struct starter s;
static char said[512];
static int poll_errno;		/* the next poll() fails with it; 0: it does not fail */
static bool drains;		/* a drain has begun by the time of the next poll() */
static unsigned int polls;

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

/* ------------------------------------------------- in the place of the starter's other files */

void say_of_clients(enum about about, const struct address_source *from, const char *format, ...)
{
}
int log_pipe(int ends[2]) { return -EMFILE; }
void log_hear(struct client *c) { }
int log_wait(const struct client *c) { return 0; }
void child_try_library(const struct starter *s) { }
void cgroup_end(unsigned int tenant, unsigned int slot, bool last) { }

void child_main(const struct starter *s, unsigned int slot, const struct listener *l, int fd,
		int report, int log, int memory, struct counters *counters)
{
	abort();
}

void cgroup_enter(unsigned int tenant, unsigned int slot, pid_t pid, const struct conf_share *share,
		  uint64_t tasks)
{
}

int __real_poll(struct pollfd *fds, nfds_t n, int ms);

/* A poll() that does not fail sees SIGTERM, which the loop reads from a descriptor. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	int error = poll_errno;

	polls++;
	poll_errno = 0;
	s.draining = drains;
	if (error) {
		errno = error;
		return -1;
	}
	raise(SIGTERM);
	return __real_poll(fds, n, ms);
}

/* ------------------------------------------------------------------ */

static int exit_code(int error)
{
	sigset_t old;
	int code;

	s = (struct starter){ .conf = &conf, .version = 1, .admin_fd = -1 };
	remoted_conf_default(&conf);
	conf.turns = false;
	*said = 0;
	polls = 0;
	poll_errno = error;
	sigprocmask(SIG_BLOCK, NULL, &old);
	code = starter_run(&s);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(s.hall);
	free(s.clients);
	free(s.tenants);
	return code;
}

static void told_to_end(void **state)
{
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(polls, 1);
}

static void a_signal_during_poll(void **state)
{
	assert_int_equal(exit_code(EINTR), 0);
	assert_int_equal(polls, 2);
	assert_string_equal(said, "");
}

/* It fails while a drain goes on, which has not ended then. */
static void a_poll_that_fails(void **state)
{
	drains = true;
	assert_int_equal(exit_code(ENOMEM), 1);
	assert_int_equal(polls, 1);
	assert_string_equal(said, "poll: Cannot allocate memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(told_to_end),
		cmocka_unit_test(a_signal_during_poll),
		cmocka_unit_test(a_poll_that_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
