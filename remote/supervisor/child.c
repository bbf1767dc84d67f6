// SPDX-License-Identifier: MIT
/*
 * The process of one client. In this order it closes what is not its own, reads the server's
 * certificate, gives up its privileges, and then reads from the client. It reports the client's
 * name, gets permission, loads the library, and serves until its client is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <remote/channel/address.h>
#include <remote/channel/conn.h>
#include <remote/channel/memory.h>
#include <remote/channel/rights.h>
#include <remote/channel/tls.h>
#include <remote/server/server.h>

#include <cuda/api/text.h>

#include "supervisor.h"

enum { PATIENCE_S = 3, FIRST_FD = 3, TRIAL_S = 20, TRIAL_BYTES = 1024 };

/* a client's library in the place of a real one must not connect to itself */
static const char no_client[] = "none: kvgpu-remoted wants a libcuda.so.1 with a GPU";

struct child {
	const struct supervisor *s;
	struct conn line; /* .fd is -1 at an endpoint */
	struct kvgpu_remote_endpoint *endpoint; /* NULL: the client came by a socket */
	int report;
	int log; /* a pipe: the process's lines, read by the first process */
	int memory; /* begun for what this process and its client share, or -1 */
	/* a copy of the log for frames as text, where these are wanted; else -1 */
	int dump;
	int doorbell; /* the descriptor that rings the arbiter of turns; -1: there is none */
	struct tls_credentials *credentials;
	struct report said;
	struct pool *pool; /* shared with other programs of the same name */
	struct images *images; /* the same; NULL: none are kept */
	struct library library;
};

/* @fds: descriptors that came with the answer, or -1; false: the first process has hung up */
static bool hear_verdict(int report, uint32_t *refusal, int fds[3])
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(3 * sizeof(int))];
	} with;
	struct iovec word = { refusal, sizeof(*refusal) };
	struct msghdr m = { .msg_iov = &word,
			    .msg_iovlen = 1,
			    .msg_control = &with,
			    .msg_controllen = sizeof(with) };
	struct cmsghdr *head;
	ssize_t n;

	fds[0] = fds[1] = fds[2] = -1;
	do {
		n = recvmsg(report, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	head = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	return n == (ssize_t)sizeof(*refusal);
}

/*
 * Report the client's name, and wait for the answer: 0, or a KVGPU_REMOTE_ result. Or report why
 * the client is refused, and end this process.
 */
static uint32_t tell_name(struct child *c)
{
	const struct conf_share *share = remoted_conf_share(c->s->conf, c->said.who);
	uint32_t refusal = KVGPU_REMOTE_FULL;
	int fds[3];

	if (send(c->report, &c->said, sizeof(c->said), MSG_NOSIGNAL) != (ssize_t)sizeof(c->said))
		_exit(1);
	if (c->said.refused)
		_exit(1);
	if (!hear_verdict(c->report, &refusal, fds))
		_exit(1);
	if (refusal)
		return refusal;
	c->pool = pool_map(fds[0], c->s->nr_clients);
	if (!c->pool) {
		say("%s: its quota: %s", c->said.who, strerror(errno));
		_exit(1);
	}
	close(fds[0]);
	if (fds[1] >= 0) {
		c->images = images_map(fds[1], share->images);
		close(fds[1]);
	}
	if (fds[2] >= 0)
		compiled_use(fds[2], share->compiled);
	return 0;
}

static void refuse_client(struct child *c, const char *why) __attribute__((noreturn));
static void refuse_client(struct child *c, const char *why)
{
	c->said.refused = 1;
	snprintf(c->said.text, sizeof(c->said.text), "%s", why);
	tell_name(c);
	_exit(1);
}

static void fail_client(const char *what, const char *why) __attribute__((noreturn));
static void fail_client(const char *what, const char *why)
{
	say("%s: %s", what, why);
	_exit(1);
}

/*
 * Keep @fds; all others are the first process's, and are closed, but the standard ones are replaced
 * by take_standard().
 */
static void close_others(int **fds, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		*fds[i] = fcntl(*fds[i], F_DUPFD_CLOEXEC, 64);
		if (*fds[i] < 0)
			fail_client("descriptors", strerror(errno));
	}
	for (i = 0; i < n; i++) {
		if (dup3(*fds[i], FIRST_FD + i, O_CLOEXEC) < 0)
			fail_client("descriptors", strerror(errno));
		*fds[i] = FIRST_FD + i;
	}
	rights_closefrom(FIRST_FD + n);
}

/*
 * The first process's standard descriptors are its log, and may be a terminal. What the library
 * writes before stdio_capture_start() are lines of this process.
 */
static void take_standard(int log)
{
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		fail_client("descriptors", strerror(errno));
	close(nothing);
	log_part(log);
}

static void keep_own(struct child *c)
{
	int *fds[6] = { &c->report, &c->line.fd, &c->log }, *of_endpoint[2];
	unsigned int n = 3;

	if (c->endpoint) {
		kvgpu_remote_endpoint_descriptors(c->endpoint, of_endpoint);
		fds[1] = of_endpoint[0];
		if (of_endpoint[1])
			fds[n++] = of_endpoint[1];
	}
	if (c->memory >= 0)
		fds[n++] = &c->memory;
	if (c->doorbell >= 0)
		fds[n++] = &c->doorbell;
	if (c->dump >= 0)
		fds[n++] = &c->dump;
	close_others(fds, n);
	take_standard(c->log);
}

static void default_signals(void)
{
	sigset_t none;

	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* if the machine's memory is used up, the kernel is to kill a client's process first */
static void go_first(void)
{
	static const char score[] = "500";
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, score, strlen(score)) < 0)
		say("oom_score_adj: %s", strerror(errno));
	close(fd);
}

static void shake_hands(struct child *c)
{
	const char *why;

	if (!c->credentials)
		return;
	if (tls_begin(c->line.fd, c->credentials, NULL, &c->line.tls, &why))
		refuse_client(c, why);
	tls_forget(c->line.tls);
	tls_credentials_free(c->credentials); /* with the server's key */
	c->credentials = NULL;
	snprintf(c->said.who, sizeof(c->said.who), "tls:%s", tls_peer(c->line.tls));
	strcpy(c->said.fingerprint, tls_fingerprint(c->line.tls));
}

/* get permission, and load the library: 0, or a KVGPU_REMOTE_ result */
static uint32_t admit(void *arg)
{
	struct child *c = arg;
	const char *path = c->s->conf->library, *why;
	uint32_t refusal = tell_name(c);

	if (refusal)
		return refusal;
	setenv("KVGPU_REMOTE", no_client, 1);
	/* kvgpu's own library moves memory only if told to: its pages on the GPU are small then */
	if (c->s->conf->suspend_for_memory || remoted_conf_share(c->s->conf, c->said.who)->idle_s)
		setenv("KVGPU_CHECKPOINT", "1", 1);
	if (library_load(&c->library, path, &why))
		return 0;
	say("%s: %s", path, why);
	return KVGPU_REMOTE_NO_LIBRARY;
}

/* the client has been taken already: if it may not stay, it sees this process end */
static struct kvgpu_remote_port *welcome_at_endpoint(struct child *c)
{
	struct kvgpu_remote_port *port;
	int r;

	if (admit(c))
		_exit(1);
	r = kvgpu_remote_endpoint_welcome(c->endpoint, &port);
	if (r)
		fail_client(c->said.who, strerror(-r));
	return port;
}

/* by how much the arena of one program may grow */
static uint64_t more_of(const struct conf_share *share)
{
	const uint64_t pinned = remoted_conf_pinned(share),
		       most = KVGPU_REMOTE_ARENA_MAX - share->arena;

	return pinned < most ? pinned : most;
}

static struct kvgpu_remote_port *welcome(struct child *c)
{
	const struct conf_share *share = remoted_conf_share(c->s->conf, c->said.who);
	struct kvgpu_remote_port *port;
	int r = kvgpu_remote_welcome_conn(&c->line, KVGPU_REMOTE_VERSION, share->arena,
					  more_of(share), c->memory, admit, c, &port);

	switch (r) {
	case 0:
		return port;
	case -EACCES:
		_exit(1); /* both sides were told that the client is refused */
	case -EPROTONOSUPPORT:
		refuse_client(c, kvgpu_remote_unlike());
	case -EPROTO:
		refuse_client(c, "it does not begin as a client does");
	case -ENOMEM:
		refuse_client(c, "no memory for an arena of that size");
	case -EFBIG:
		refuse_client(c, memory_text(EFBIG));
	default:
		refuse_client(c, c->line.tls && tls_complaint(c->line.tls) ?
					 tls_complaint(c->line.tls) :
					 "it closed the connection before it had said anything");
	}
}

/* end this process also if it is inside of the library, and waits for a kernel without end */
static void *watch_client(void *port)
{
	kvgpu_remote_await_end(port);
	sleep(PATIENCE_S);
	say("the client is gone, and the library does not return");
	_exit(1);
	return NULL;
}

static void serve_client(struct child *c, struct kvgpu_remote_port *port, unsigned int slot,
			 struct counters *counters) __attribute__((noreturn));
static void serve_client(struct child *c, struct kvgpu_remote_port *port, unsigned int slot,
			 struct counters *counters)
{
	const struct conf_share *share = remoted_conf_share(c->s->conf, c->said.who);
	struct server s = {
		.port = port,
		.library = c->library,
		.counters = counters,
		.quota = { .pool = c->pool, .program = slot, .nr_programs = c->s->nr_clients },
		.images = c->images,
		.options = { .memory = share->memory,
			     .arena = share->arena,
			     .pinned = remoted_conf_pinned(share),
			     .images = share->images,
			     .complain = say }
	};
	pthread_t watcher;
	int r = stdio_capture_start(&s);

	if (r)
		fail_client("the library's output can't be caught", strerror(-r));
	if (c->dump >= 0) {
		s.options.dump = fdopen(c->dump, "w");
		if (s.options.dump)
			setvbuf(s.options.dump, NULL, _IOLBF, 0);
	}
	if (server_init(&s) ||
	    (c->doorbell >= 0 && sched_begin(&s, sched_shared_of(counters), c->doorbell)))
		fail_client("serving", "out of memory");
	if (pthread_create(&watcher, NULL, watch_client, port))
		fail_client("serving", "no thread can be made");
	s.library.cuInit(0); /* an error the client is told when it asks */
	sleep_begin(&s, sleep_shared_of(counters));
	trace_begin(&s, trace_shared_of(counters), trace_text_of(counters));
	r = filter_tighten(c->s->conf->filter);
	if (r)
		fail_client("system calls", strerror(-r));
	server_run(&s);
	trace_end(&s, TRACE_GONE);
	/* the kernel takes back what the library still has */
	_exit(0);
}

void child_main(const struct supervisor *s, unsigned int slot, const struct listener *l, int fd,
		int report, int log, int memory, struct counters *counters)
{
	struct child c = { .s = s,
			   .report = report,
			   .log = log,
			   .memory = memory,
			   .dump = s->dump ? fcntl(fileno(s->dump), F_DUPFD_CLOEXEC, 64) : -1,
			   .doorbell = arbiter_doorbell(),
			   .line = { .fd = fd, .by_writev = true },
			   .endpoint = l->endpoint };
	struct kvgpu_remote_port *port;
	pid_t parent = getppid();
	const char *what = "";
	int r;

	default_signals();
	if (s->cgroups)
		cgroup_newcomer();
	/* the first process may have what guards an endpoint (channel/guard.c) */
	if (!l->endpoint)
		signal(SIGBUS, SIG_DFL);
	go_first();
	keep_own(&c);
	if (c.endpoint) {
		strcpy(c.said.who, l->who);
	} else {
		conn_prepare(&c.line);
		address_of_peer(c.line.fd, c.said.who, sizeof(c.said.who));
	}
	/* the first process has loaded it but where a reload took the last TLS address away */
	if (l->tls && (tls_load(&what) ||
		       tls_credentials_read(s->conf->tls_folder, true, &c.credentials, &what)))
		fail_client("tls", what);
	r = confine(s->conf, slot, &what);
	if (r)
		fail_client(what, strerror(-r));
	r = s->cgroups ? 0 : limit_memory(s->conf->share.host_memory);
	if (r)
		fail_client("memory", strerror(-r));
	/* end with the first process; a change of the user would undo this, so it comes after */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* keep the short sleeps between looks at the GPU short */
	prctl(PR_SET_TIMERSLACK, 1000);
	if (getppid() != parent)
		_exit(1);
	r = filter_install(s->conf->filter);
	if (r)
		fail_client("system calls", strerror(-r));
	shake_hands(&c);
	port = c.endpoint ? welcome_at_endpoint(&c) : welcome(&c);
	close(c.report);
	if (c.memory >= 0)
		close(c.memory);
	serve_client(&c, port, slot, counters);
}

/* in a child of the first process without a client; false: it could not */
static bool give_up_rights(const struct supervisor *s, pid_t parent)
{
	const char *what;

	if (confine(s->conf, s->nr_clients, &what))
		return false;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || filter_install(s->conf->filter))
		return false;
	setenv("KVGPU_REMOTE", no_client, 1);
	return true;
}

bool child_helps(const struct supervisor *s, pid_t parent, int *fd)
{
	int *fds[] = { fd }, nothing;

	default_signals();
	close_others(fds, 1);
	nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (nothing < 0)
		return false;
	take_standard(nothing);
	return give_up_rights(s, parent);
}

/* in a process that is confined as a client's: a library may never return */
static void try_library(const struct supervisor *s, int log) __attribute__((noreturn));
static void try_library(const struct supervisor *s, int log)
{
	const char *what = "", *path = s->conf->library;
	struct library library;
	pid_t parent = getppid();

	take_standard(log);
	alarm(TRIAL_S);
	if (!give_up_rights(s, parent))
		_exit(1);
	if (!library_load(&library, path, &what))
		say("library = %s: %s: no program can be served: install kvgpu-cuda or the driver of the GPU's vendor, or name "
		    "another library",
		    path, what);
	_exit(0);
}

/* Say the last lines that come from @fd until its end, TRIAL_BYTES at most. */
static void say_last_lines(int fd)
{
	char text[TRIAL_BYTES + 1], *line, *save;
	size_t have = 0;
	ssize_t n;

	do {
		n = read(fd, text + have, TRIAL_BYTES - have);
		have += n > 0 ? n : 0;
		if (have == TRIAL_BYTES) {
			have /= 2;
			memmove(text, text + have, TRIAL_BYTES - have);
		}
	} while (n > 0 || (n < 0 && errno == EINTR));
	text[have] = 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		text_clean(line, strlen(line) + 1);
		say("%s", line);
	}
}

/* The library's process has no copy of the log. Its parent, which loads nothing, says its lines. */
void child_try_library(const struct supervisor *s)
{
	pid_t parent = getpid();
	int log[2];

	fflush(NULL);
	if (fork())
		return;
	default_signals();
	closefrom(FIRST_FD);
	alarm(TRIAL_S + PATIENCE_S);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || pipe2(log, O_CLOEXEC))
		_exit(1);
	if (!fork()) {
		close(log[0]);
		try_library(s, log[1]);
	}
	close(log[1]);
	say_last_lines(log[0]);
	_exit(0);
}
