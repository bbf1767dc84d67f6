// SPDX-License-Identifier: MIT
/* Memory that a client's process and its client share, and what the client keeps of it. */
#include <selftests/unit_test.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/memory.h>
#include <remote/supervisor/supervisor.h>

#include "selftests/remote/unit/remote/linger.h"

enum { BYTES = 1 << 20, KILLED = SIGKILL, CRASHED = SIGSEGV, MINUTE = 60000 };

static uint64_t now = 5000;
static bool no_process; /* fork() fails in this process */
/* a client makes it wait that memory is given back, in all processes */
static bool waits;

uint64_t now_ms(void)
{
	return now;
}

pid_t __real_fork(void);

pid_t __wrap_fork(void)
{
	errno = EAGAIN;
	return no_process ? -1 : __real_fork();
}

int __real_memory_give_back(int memory);

int __wrap_memory_give_back(int memory)
{
	while (waits)
		pause();
	return __real_memory_give_back(memory);
}

/* A session whose memory is full. The client is this process, but for .program. */
struct session {
	struct client c;
	int socket; /* the client's end */
	int kept; /* the client's own descriptor of the memory */
	uint8_t *base;
	pid_t program; /* lives until it is killed */
};

static struct session session(void)
{
	struct session s = {
		.c = { .state = CLIENT_SERVED, .pid = 4711, .report = -1, .log = -1 },
	};
	int pair[2];

	s.program = fork();
	if (!s.program) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	s.socket = pair[0];
	s.c.life = pair[1];
	assert_int_equal(shared_begin(s.c.life, &s.c.memory), 0);
	assert_true(s.c.memory >= 0);
	s.kept = memory_of(s.c.memory, BYTES);
	assert_true(s.kept >= 0);
	s.base = memory_map(s.kept, BYTES, NULL);
	assert_non_null(s.base);
	memset(s.base, 7, BYTES);
	s.c.program = syscall(SYS_pidfd_open, s.program, 0);
	assert_true(s.c.program >= 0);
	return s;
}

/* the session's row is free afterwards */
static void is_given_back(struct session *s)
{
	int status;

	assert_true(s->c.pid > 0);
	assert_int_equal(waitpid(s->c.pid, &status, 0), s->c.pid);
	assert_int_equal(status, 0);
	assert_false(memory_has_pages(s->kept));
	assert_int_equal(s->base[0] + s->base[BYTES - 1], 0);
	assert_false(shared_stays(&s->c, status));
	assert_int_equal(s->c.memory, -1);
}

static void end(struct session *s)
{
	kill(s->program, SIGKILL);
	waitpid(s->program, NULL, 0);
	munmap(s->base, BYTES);
	close(s->socket);
	close(s->kept);
	close(s->c.program);
}

/* A client hangs up, and keeps the descriptor, and its mapping. */
TEST(client_hangs_up)
{
	struct session s = session();

	close(s.socket);
	s.socket = -1;
	assert_true(shared_stays(&s.c, 0));
	assert_int_equal(s.c.state, CLIENT_ENDING);
	is_given_back(&s);
	end(&s);
}

/* What the client has sent makes nobody wait: a descriptor whose last close() waits. */
TEST(client_sends_a_descriptor)
{
	struct session s = session();
	int other;

	alarm(HANGS_S);
	old_kernel = true;
	other = linger_send(s.socket, "x", 1, 0);
	assert_true(other >= 0);
	close(s.socket);
	s.socket = -1;
	assert_true(shared_stays(&s.c, 0));
	old_kernel = false;
	is_given_back(&s);
	end(&s);
	linger_ends(other);
	alarm(0);
}

/* The program has ended, and another one has the connection's end and the memory. */
TEST(program_ends)
{
	struct session s = session();

	kill(s.program, SIGKILL);
	assert_int_equal(waitpid(s.program, NULL, 0), s.program);
	assert_true(shared_stays(&s.c, CRASHED));
	is_given_back(&s);
	end(&s);
}

/* A program whose process here crashed has its data until it ends, and sees that process's end. */
TEST(process_crashes)
{
	struct session s = session();
	char byte;

	assert_true(shared_stays(&s.c, CRASHED));
	assert_int_equal(s.c.pid, 0);
	assert_true(s.c.reaped);
	assert_int_equal(s.c.state, CLIENT_ENDING);
	assert_int_equal(s.c.deadline_ms, now + MINUTE);
	assert_int_equal(recv(s.socket, &byte, 1, MSG_DONTWAIT), 0);
	assert_int_equal(s.base[BYTES - 1], 7);
	kill(s.program, SIGKILL);
	assert_int_equal(waitpid(s.program, NULL, 0), s.program);
	assert_true(shared_stays(&s.c, 0));
	is_given_back(&s);
	end(&s);
}

/* The program lives when its minute is over, or the admin ends the client, or drains. */
TEST(kept_no_longer)
{
	struct session s = session();

	assert_true(shared_stays(&s.c, CRASHED));
	assert_int_equal(s.c.pid, 0);
	assert_true(shared_stays(&s.c, 0));
	assert_true(s.c.reaped);
	is_given_back(&s);
	end(&s);
}

/* A client can make its process exit, by a wrong byte: pages do not stay for that. */
TEST(process_exits)
{
	unsigned int code;

	for (code = 0; code < 3; code++) {
		struct session s = session();

		assert_true(shared_stays(&s.c, code << 8));
		is_given_back(&s);
		end(&s);
	}
}

/* The admin or the loop has ended the client, and its process crashed just before. */
TEST(ended_client_crashes)
{
	struct session s = session();

	s.c.state = CLIENT_ENDING;
	assert_true(shared_stays(&s.c, CRASHED));
	is_given_back(&s);
	end(&s);
}

/* Without a process that does it the memory is kept. This process itself never gives it back. */
TEST(no_process_for_it)
{
	struct session s = session();

	no_process = waits = true;
	assert_true(shared_stays(&s.c, KILLED));
	assert_true(shared_stays(&s.c, 0));
	no_process = waits = false;
	assert_int_equal(s.c.pid, 0);
	assert_true(s.c.memory >= 0);
	assert_true(s.c.deadline_ms > now && s.c.deadline_ms < now + 1000);
	/* else the loop would see the program's end without end */
	assert_int_equal(s.c.program, -1);
	assert_int_equal(s.base[BYTES - 1], 7);
	assert_true(shared_stays(&s.c, 0));
	is_given_back(&s);
	end(&s);
}

/* The service is stopped. The first process blocks SIGTERM, one that gives back does not. */
TEST(waiting_process_ends_by_signal)
{
	struct session s = session();
	sigset_t term, old;
	int status;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	waits = true;
	assert_true(shared_stays(&s.c, KILLED));
	waits = false;
	sigprocmask(SIG_SETMASK, &old, NULL);
	alarm(20);
	kill(s.c.pid, SIGTERM);
	assert_int_equal(waitpid(s.c.pid, &status, 0), s.c.pid);
	alarm(0);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_false(shared_stays(&s.c, status));
	end(&s);
}

/* The first process ends, and with it all that give memory back. */
TEST(waiting_process_ends_with_the_first)
{
	struct session s = session();
	pid_t first;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	waits = true;
	first = fork();
	if (!first)
		_exit(!shared_stays(&s.c, KILLED));
	waits = false;
	assert_int_equal(waitpid(first, &status, 0), first);
	assert_int_equal(status, 0);
	alarm(20);
	kill(s.program, SIGKILL);
	assert_int_equal(waitpid(s.program, &status, 0), s.program);
	assert_true(waitpid(-1, &status, 0) > 0);
	alarm(0);
	/* by the signal, or by itself where the first process had ended already */
	assert_true(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 1);
	close(s.c.life);
	close(s.c.memory);
	end(&s);
}

/* by the kernel, where memory is used up, or by the admin */
TEST(process_is_killed)
{
	struct session s = session();

	assert_true(shared_stays(&s.c, KILLED));
	is_given_back(&s);
	end(&s);
}

/* what a client has by a plain stream, or has not touched */
TEST(nothing_to_give_back)
{
	struct session s = session();
	int fd = socket(AF_INET, SOCK_STREAM, 0), memory = 0;

	assert_int_equal(memory_give_back(s.c.memory), 0);
	assert_false(shared_stays(&s.c, 0));
	assert_int_equal(s.c.memory, -1);
	end(&s);
	assert_int_equal(shared_begin(fd, &memory), 0);
	assert_int_equal(memory, -1);
	close(fd);
}

/* A client can't seal the memory so that it can't be given back. */
TEST(no_seal_of_the_clients)
{
	struct session s = session();

	munmap(s.base, BYTES);
	assert_int_equal(fcntl(s.kept, F_ADD_SEALS, F_SEAL_WRITE), -1);
	assert_int_equal(fcntl(s.kept, F_ADD_SEALS, F_SEAL_FUTURE_WRITE), -1);
	s.base = memory_map(s.kept, BYTES, NULL);
	assert_true(shared_stays(&s.c, KILLED));
	is_given_back(&s);
	end(&s);
}

TEST_MAIN(NULL, NULL)
