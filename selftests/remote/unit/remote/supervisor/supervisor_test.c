// SPDX-License-Identifier: MIT
/*
 * The exit code of the first process, which tells systemd whether to start it again; clients whose
 * processes were reaped, while memory of them is kept; the next program of a client; a report with
 * a descriptor; and silent peers, for which the loop has nothing to do.
 */
#include <selftests/unit_test.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/vm_sockets.h>

#include <remote/channel/channel.h>
#include <remote/channel/memory.h>
#include <remote/channel/rights.h>
#include <remote/channel/shmem.h>
#include <remote/supervisor/supervisor.h>
#include <remote/wire/frame.h>

#include "selftests/own_folder.h"
#include "selftests/remote/unit/remote/linger.h"

static struct remoted_conf conf;
static struct supervisor s;
static char said[512];
static int poll_errno; /* the next poll() fails with it; 0: it does not fail */
static bool drains; /* a drain has begun by the time of the next poll() */
static unsigned int polls;
static int poll_ms; /* how long the last poll() may take */
static struct pollfd *polled; /* what it looks at */
static nfds_t nr_polled;
static uint64_t clock_ms = 1000000; /* moves only where a scene moves it */
/* what happens by the time of the poll() number @polls; false: SIGTERM comes, too */
static bool (*scene)(void);

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(said, sizeof(said), format, args);
	va_end(args);
}

/* ------------------------------------------------- in the place of the supervisor's other files */

int log_pipe(int ends[2])
{
	return -EMFILE;
}
void log_hear(struct client *c)
{
}
int log_wait(const struct client *c)
{
	return 0;
}
void child_try_library(const struct supervisor *s)
{
}
void cgroup_end(unsigned int tenant, unsigned int slot, bool last)
{
}

void child_main(const struct supervisor *s, unsigned int slot, const struct listener *l, int fd,
		int report, int log, int memory, struct counters *counters)
{
	abort();
}

static uint64_t entered_with; /* @more of the last call */

void cgroup_enter(unsigned int tenant, unsigned int slot, pid_t pid, const struct conf_share *share,
		  uint64_t more, uint64_t tasks)
{
	entered_with = more;
}

uint64_t __wrap_now_ms(void)
{
	return clock_ms;
}

int __real_poll(struct pollfd *fds, nfds_t n, int ms);

/* A poll() that does not fail sees SIGTERM, which the loop reads from a descriptor. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int ms)
{
	int error = poll_errno;

	if (fds->events == POLLRDHUP)
		return __real_poll(fds, n, ms); /* not the loop's, where signals are the first */
	polls++;
	poll_ms = ms;
	polled = fds;
	nr_polled = n;
	poll_errno = 0;
	if (scene && scene())
		return __real_poll(fds, n, 0);
	s.draining |= drains;
	if (error) {
		errno = error;
		return -1;
	}
	raise(SIGTERM);
	return __real_poll(fds, n, ms);
}

/* ------------------------------------------------------------------ */

static unsigned int most; /* .clients of the configuration; 0: the default */

static int exit_code(int error)
{
	sigset_t old;
	int code;

	s = (struct supervisor){ .conf = &conf, .build = { .version = 1 }, .admin_fd = -1 };
	remoted_conf_default(&conf);
	conf.turns = false;
	conf.clients = most ? most : conf.clients;
	*said = 0;
	polls = 0;
	poll_errno = error;
	sigprocmask(SIG_BLOCK, NULL, &old);
	code = supervisor_run(&s);
	sigprocmask(SIG_SETMASK, &old, NULL);
	free(s.preauth);
	free(s.clients);
	free(s.sleepers.rows);
	free(s.tenants);
	return code;
}

TEST(told_to_end)
{
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(polls, 1);
}

TEST(a_signal_during_poll)
{
	assert_int_equal(exit_code(EINTR), 0);
	assert_int_equal(polls, 2);
	assert_string_equal(said, "");
}

/* It fails while a drain goes on, which has not ended then. */
TEST(a_poll_that_fails)
{
	drains = true;
	scene = NULL;
	assert_int_equal(exit_code(ENOMEM), 1);
	assert_int_equal(polls, 1);
	assert_string_equal(said, "poll: Cannot allocate memory");
	drains = false;
}

/* ------------------------------------------------------------------ memory that is kept */

enum { BYTES = 1 << 20 };

static int memory;
static pid_t gives_back; /* what the row's .pid was by the time of the second poll() */

/* the process of a client crashed, and its program, which is this process, may save its memory */
static struct client *kept(uint64_t ms)
{
	struct client *c = client_row(&s);

	memory = memory_make(BYTES);
	assert_int_equal(pwrite(memory, "x", 1, BYTES - 1), 1);
	c->state = CLIENT_ENDING;
	c->reaped = true;
	c->memory = fcntl(memory, F_DUPFD_CLOEXEC, 0);
	c->program = syscall(SYS_pidfd_open, getpid(), 0);
	c->deadline_ms = now_ms() + ms;
	return c;
}

static bool is_given_back(void)
{
	bool is;

	/* the loop may have reaped it */
	while (waitpid(-1, NULL, 0) > 0)
		;
	is = !memory_has_pages(memory);
	close(memory);
	return is;
}

static bool drained(void)
{
	if (polls > 1)
		return false;
	kept(60000);
	assert_string_equal((admin_command(&s, "drain", said, sizeof(said)), said), "ok\n");
	raise(SIGCHLD); /* the loop has something to read */
	return true;
}

/* A drain does not wait for a program without a process, nor until its memory was given back. */
TEST(a_drain_with_kept_memory)
{
	scene = drained;
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(polls, 1);
	assert_true(is_given_back());
}

static bool ended_by_admin(void)
{
	char line[32];

	gives_back = s.clients[0].pid;
	if (polls > 1)
		return false;
	snprintf(line, sizeof(line), "end %llu", (unsigned long long)kept(60000)->id);
	assert_string_equal((admin_command(&s, line, said, sizeof(said)), said), "ok\n");
	raise(SIGCHLD);
	return true;
}

TEST(an_end_of_kept_memory)
{
	scene = ended_by_admin;
	assert_int_equal(exit_code(0), 0);
	assert_true(gives_back > 0);
	assert_true(is_given_back());
}

static bool waits(void)
{
	if (polls == 1) {
		kept(50);
		raise(SIGCHLD);
		return true;
	}
	gives_back = s.clients[0].pid;
	if (polls > 2)
		return false;
	/* the loop sleeps until the deadline */
	assert_int_equal(poll_ms, 50);
	assert_int_equal(gives_back, 0);
	clock_ms += poll_ms;
	return true;
}

TEST(a_deadline_of_kept_memory)
{
	scene = waits;
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(polls, 3);
	assert_true(gives_back > 0);
	assert_true(is_given_back());
}

/* ------------------------------------------------------------------ reports */

static const struct report report = { .who = "uid:1" };
static int told[2]; /* a client's process, and what the first process reads */

static struct client *newcomer(void)
{
	struct client *c = client_row(&s);

	c->state = CLIENT_NEW;
	c->pid = 1 << 30; /* no process has that */
	c->deadline_ms = now_ms() + 60000;
	strcpy(c->peer, report.who);
	c->report = told[1];
	return c;
}

static bool comes(void)
{
	if (polls > 1)
		return false;
	kept(60000);
	newcomer();
	assert_int_equal(send(told[0], &report, sizeof(report), 0), sizeof(report));
	raise(SIGCHLD);
	return true;
}

static bool drains_for_5_s(void)
{
	if (polls == 1) {
		newcomer();
		assert_string_equal((admin_command(&s, "drain 5", said, sizeof(said)), said),
				    "ok\n");
	} else {
		assert_int_equal(poll_ms, 5000);
		clock_ms += poll_ms;
	}
	raise(SIGCHLD);
	return true;
}

/* A drain waits for who is there, until its time is over. */
TEST(a_drain_with_a_deadline)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, told), 0);
	scene = drains_for_5_s;
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(polls, 2);
	assert_non_null(strstr(said, "the drain's time is over"));
	close(told[0]);
	close(told[1]);
}

/* Kept memory takes a row of .clients. */
TEST(no_row_beside_kept_memory)
{
	uint32_t answer = 0;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, told), 0);
	scene = comes;
	most = 1;
	assert_int_equal(exit_code(0), 0);
	most = 0;
	assert_int_equal(recv(told[0], &answer, sizeof(answer), MSG_DONTWAIT), sizeof(answer));
	assert_int_equal(answer, KVGPU_REMOTE_FULL);
	close(told[0]);
	close(memory);
}

/* a served program of the newcomer's name, which has all of the memory; not @stays: it has left */
static struct client *earlier(bool stays)
{
	struct client *c = client_row(&s);
	int life[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, life), 0);
	if (!stays)
		close(life[1]);
	c->state = CLIENT_SERVED;
	c->life = life[0];
	strcpy(c->who, report.who);
	assert_true(tenants_enter(&s, c));
	assert_true(pool_take(c->tenant->pool, s.nr_clients, c - s.clients, BYTES, BYTES));
	c->pid = fork();
	if (!c->pid)
		for (;;)
			pause();
	return c;
}

static bool is_answered(uint32_t *answer)
{
	return recv(told[0], answer, sizeof(*answer), MSG_DONTWAIT) == sizeof(*answer);
}

static bool stays; /* the process of the program that has left */
static uint64_t others; /* memory that it has when the newcomer is answered */

static bool comes_next(void)
{
	static pid_t pid;
	struct client *next;
	uint32_t answer = 1;
	siginfo_t ended;

	if (polls == 1) {
		pid = earlier(false)->pid;
		return true;
	}
	if (polls == 2) {
		newcomer()->came_ms = now_ms();
		assert_int_equal(send(told[0], &report, sizeof(report), 0), sizeof(report));
		return true;
	}
	if (polls == 3) /* this one sees the report, the one before the program's end */
		return true;
	next = &s.clients[1];
	if (is_answered(&answer)) {
		assert_int_equal(answer, 0);
		others = pool_others(next->tenant->pool, s.nr_clients, 1);
		kill(pid, SIGKILL);
		return false;
	}
	assert_int_equal(polls, 4);
	assert_int_equal(next->state, CLIENT_NEW);
	assert_int_equal(poll_ms, 6000);
	if (stays) {
		clock_ms += poll_ms;
		return true;
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, pid, &ended, WEXITED | WNOWAIT), 0);
	return true;
}

/* A program waits until nothing of an earlier one of its name counts, but not for ever. */
TEST(the_next_program)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, told), 0);
		scene = comes_next;
		stays = i;
		assert_int_equal(exit_code(0), 0);
		assert_int_equal(others, stays ? BYTES : 0);
		close(told[0]);
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
}

static bool comes_beside_a_sleeper(void)
{
	static struct client *asleep;
	uint32_t answer = 1;

	if (polls == 1) {
		asleep = earlier(true);
		asleep->sleep.raised = BYTES;
		s.cgroups = true;
		newcomer();
		assert_int_equal(send(told[0], &report, sizeof(report), 0), sizeof(report));
	}
	if (!is_answered(&answer) && polls < 4)
		return true;
	assert_int_equal(answer, 0);
	kill(asleep->pid, SIGKILL);
	return false;
}

/*
 * The bound of host memory that a client's programs share is never lower than what those that sleep
 * have: the kernel would end them.
 */
TEST(the_next_program_beside_one_that_sleeps)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, told), 0);
	scene = comes_beside_a_sleeper;
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(entered_with, BYTES);
	close(told[0]);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static int lingers; /* the other end of the descriptor */

static bool comes_with_a_descriptor(void)
{
	if (polls == 1) {
		newcomer();
		lingers = linger_send(told[0], &report, sizeof(report), 0);
		assert_true(lingers >= 0);
	}
	if (polls < 3)
		return true;
	assert_int_equal(s.clients[0].report, -1);
	assert_int_equal(s.clients[0].state, CLIENT_NEW);
	return false;
}

/* The loop does not wait for it, nor takes the report that it came with. */
TEST(a_report_with_a_descriptor)
{
	uint32_t answer;

	old_kernel = true;
	alarm(HANGS_S);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, told), 0);
	scene = comes_with_a_descriptor;
	assert_int_equal(exit_code(0), 0);
	assert_int_equal(polls, 3);
	assert_true(recv(told[0], &answer, sizeof(answer), MSG_DONTWAIT) <= 0);
	linger_ends(lingers);
	close(told[0]);
	alarm(0);
	old_kernel = false;
}

/* ------------------------------------------------------------------ silent peers */

/*
 * What a peer says by the time of the first poll(), before it is silent: a byte for each letter, !
 * for an urgent byte, $ for its end. No deadline passes, as the clock stands still: once the loop
 * has heard this, it is to sleep, whatever the peer has sent.
 */
static const char *const patterns[] = {
	"",	"!",	      "!!",
	"a",	"a!",	      "!a",
	"!a!",	"abcd!abcd!", "0123456789abcdef0123456789abcdef0123456789abcdef",
	"!a!$", "a$",	      "0123456789abcdef0123456789abcdef!0123456789abcdef!",
};

/* HEARD: rounds in which the loop may hear them: a connection, and each part of what it sends */
enum { NR_PATTERNS = sizeof(patterns) / sizeof(*patterns), HEARD = 8, QUIET_MS = 20 };

/* what a peer comes to: one of these is served alone */
struct carrier {
	const char *name;
	int family;
	bool tls, admin, doorbell;
};

static const struct carrier carriers[] = {
	{ .name = "unix:", .family = AF_UNIX },
	{ .name = "tcp:", .family = AF_INET },
	{ .name = "tls:", .family = AF_INET, .tls = true },
	{ .name = "vsock:", .family = AF_VSOCK },
	{ .name = "the admin's socket", .family = AF_UNIX, .admin = true },
	{ .name = "an aperture's bell", .family = AF_UNIX, .doorbell = true },
};

static const struct carrier *carrier;
static unsigned int pattern;
static int listening, peer;
static bool quiet;
static union {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in in;
	struct sockaddr_vm vm;
} at;
static socklen_t at_bytes;

static bool listen_there(void)
{
	memset(&at, 0, sizeof(at));
	at.any.sa_family = carrier->family;
	at_bytes = sizeof(at.un);
	if (carrier->family == AF_UNIX) {
		snprintf(at.un.sun_path, sizeof(at.un.sun_path), "%s/s", own_folder());
		unlink(at.un.sun_path);
	} else if (carrier->family == AF_INET) {
		at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		at_bytes = sizeof(at.in);
	} else {
		at.vm.svm_cid = VMADDR_CID_LOCAL;
		at.vm.svm_port = VMADDR_PORT_ANY;
		at_bytes = sizeof(at.vm);
	}
	if (carrier->doorbell)
		return true; /* the endpoint listens */
	listening = socket(carrier->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rights_refuse(listening);
	return listening >= 0 && !bind(listening, &at.any, at_bytes) && !listen(listening, 8) &&
	       !getsockname(listening, &at.any, &at_bytes);
}

static void serve_aperture(void)
{
	struct listener *l = &s.listeners[0];
	char address[300], path[100];
	const char *why = "";
	int fd;

	snprintf(path, sizeof(path), "%s/aperture", own_folder());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(ftruncate(fd, SHMEM_MIN + (1 << 20)), 0);
	close(fd);
	snprintf(address, sizeof(address), "aperture:%s,bell=unix:%s", path, at.un.sun_path);
	*l = (struct listener){ .fd = -1, .who = "aperture:/a" };
	if (kvgpu_remote_endpoint_open(address, 0, s.build.version, &l->endpoint, &why))
		fail_msg("%s", why);
}

static void serve_carrier(void)
{
	if (carrier->doorbell)
		serve_aperture();
	else if (carrier->admin)
		s.admin_fd = listening;
	else
		s.listeners[0] = (struct listener){ .fd = listening, .tls = carrier->tls };
	s.nr_listeners = !carrier->admin;
}

/* a carrier without urgent bytes refuses them */
static void say_pattern(void)
{
	const char *c;

	peer = socket(carrier->family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(peer, &at.any, at_bytes), 0);
	for (c = patterns[pattern]; *c; c++)
		if (*c == '$')
			shutdown(peer, SHUT_WR);
		else if (send(peer, c, 1, MSG_NOSIGNAL | (*c == '!' ? MSG_OOB : 0)) < 0)
			assert_int_equal(errno, EOPNOTSUPP);
}

static bool no_descriptors; /* the process has as many as it may, when the peer has come */
static struct rlimit descriptors;

static bool is_heard(void)
{
	struct rlimit few;

	if (polls == 1) {
		serve_carrier();
		say_pattern();
		getrlimit(RLIMIT_NOFILE, &descriptors);
		few = (struct rlimit){ 3, descriptors.rlim_max };
		if (no_descriptors)
			setrlimit(RLIMIT_NOFILE, &few);
		return true;
	}
	quiet = !__real_poll(polled, nr_polled, QUIET_MS) && poll_ms;
	if (!quiet && polls < HEARD)
		return true;
	setrlimit(RLIMIT_NOFILE, &descriptors);
	return false;
}

static void hear_patterns(void)
{
	unsigned int i;

	for (pattern = 0; pattern < NR_PATTERNS; pattern++) {
		if (!listen_there()) {
			/* cmocka's skip() would print "not ok" */
			print_message("# %s: not run, this machine can't\n", carrier->name);
			return;
		}
		scene = is_heard;
		assert_int_equal(exit_code(0), 0);
		if (!quiet)
			fail_msg("%s, \"%s\": the loop does not sleep", carrier->name,
				 patterns[pattern]);
		for (i = 0; i < ADMINS; i++)
			if (s.admins[i].fd >= 0)
				close(s.admins[i].fd);
		if (carrier->admin)
			close(listening);
		close(peer);
		/* a child of rights.h may have a copy of the aperture, with its lock */
		while (waitpid(-1, NULL, 0) > 0)
			;
	}
}

TEST(silent_peers)
{
	unsigned int i;

	alarm(HANGS_S);
	for (i = 0; i < 2 * sizeof(carriers) / sizeof(*carriers); i++) {
		old_kernel = i % 2;
		carrier = &carriers[i / 2];
		hear_patterns();
	}
	old_kernel = false;
	alarm(0);
}

/* poll() goes on to see a peer that can't be accepted. */
TEST(no_descriptor_for_a_peer)
{
	unsigned int i;

	no_descriptors = true;
	for (i = 0; i < sizeof(carriers) / sizeof(*carriers); i++) {
		carrier = &carriers[i];
		if (!carrier->doorbell)
			hear_patterns();
	}
	no_descriptors = false;
}

TEST_MAIN(NULL, NULL)
