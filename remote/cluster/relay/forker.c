// SPDX-License-Identifier: MIT
/*
 * The forker of a proxy: a process without MPI, since a process that has MPI should not fork. For
 * each program that comes it gets one end of a pair of sockets, and makes a server process for it:
 * as kvgpu-remoted does for a client, with the same filter, but as the user that started the job.
 */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/conn.h>
#include <remote/channel/memory.h>
#include <remote/server/server.h>
#include <remote/supervisor/supervisor.h>

#include "forker.h"
#include "registry.h"
#include "say.h"

enum { PATIENCE_S = 3, FIRST_FD = 3, ROOM = 1 << 20 };
/* more than a link has tunnels: processes that end may still be there */
enum { PROGRAMS = 128 };

/* In the forker: the server process of each row of the pool; 0: none. */
static pid_t rows[PROGRAMS];
static struct pool *pool; /* NULL: there is no limit of memory */

/* a client's library in the place of a real one must not connect to itself */
static const char no_client[] = "none: a proxy wants a libcuda.so.1 with a GPU";

union with_fd {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

/* in a server process: the library's cuDeviceGetName(), which name_and_place() calls */
static CUresult (*name_of)(char *, int, CUdevice);
static char host[64]; /* this machine's name, set before the forker begins */

static CUresult name_and_place(char *to, int size, CUdevice dev)
{
	CUresult r = name_of(to, size, dev);
	size_t n = r ? 0 : strlen(to);

	if (!r && n + strlen(host) + 5 <= (size_t)size)
		sprintf(to + n, " on %s", host);
	return r;
}

static void *watch_program(void *port)
{
	kvgpu_remote_await_end(port);
	sleep(PATIENCE_S);
	_exit(1);
	return NULL;
}

static struct library library;

static uint32_t admit(void *path)
{
	const char *why;

	setenv("KVGPU_REMOTE", no_client, 1);
	if (library_load(&library, path, &why)) {
		name_of = library.cuDeviceGetName;
		if (name_of)
			library.cuDeviceGetName = name_and_place;
		return 0;
	}
	relay_say_no_library(path, why);
	return KVGPU_REMOTE_NO_LIBRARY;
}

/* confine the process as kvgpu-remoted does, but keep the user */
static int be_careful(void)
{
	struct remoted_conf conf = { .filter = FILTER_ON };
	const char *what = "";
	int r = confine(&conf, 0, &what);

	prctl(PR_SET_TIMERSLACK, 1000);
	return r ? r : filter_install(conf.filter);
}

static void serve_one(int fd, const struct forker_gpu *gpu, unsigned int row)
	__attribute__((noreturn));
static void serve_one(int fd, const struct forker_gpu *gpu, unsigned int row)
{
	struct conn conn = { .fd = fd, .by_writev = true };
	struct server s = {
		.quota = { .pool = pool, .program = row, .nr_programs = PROGRAMS },
		.options = { .memory = gpu->memory, .arena = gpu->arena, .complain = relay_say }
	};
	pthread_t watcher;
	int r = be_careful();

	if (!r)
		r = kvgpu_remote_welcome_conn(&conn, KVGPU_REMOTE_VERSION, gpu->arena, 0, -1, admit,
					      (void *)(uintptr_t)gpu->library, &s.port);
	if (!r)
		r = stdio_capture_start(&s);
	if (r || server_init(&s) || pthread_create(&watcher, NULL, watch_program, s.port)) {
		relay_say("a server process: %s", memory_text(r ? -r : ENOMEM));
		_exit(1);
	}
	s.library = library;
	library.cuInit(0); /* an error the program is told when it asks */
	r = filter_tighten(FILTER_ON);
	if (r) {
		relay_say("a server process: %s", strerror(-r));
		_exit(1);
	}
	server_run(&s);
	/* the kernel takes back what the library still has */
	_exit(0);
}

/* take the next connection from the proxy; -1: the proxy is gone */
static int take_fd(int from)
{
	char byte;
	union with_fd with;
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &with,
			    .msg_controllen = sizeof(with) };
	struct cmsghdr *head;
	int fd = -1;
	ssize_t n;

	do {
		n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	head = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	return fd;
}

void forker_choose(unsigned int device)
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	char one[64];
	unsigned int i;

	for (i = 0; list && *list && i < device; i++)
		list = strchr(list, ',') ? strchr(list, ',') + 1 : "";
	if (list && *list)
		snprintf(one, sizeof(one), "%.*s", (int)strcspn(list, ","), list);
	else
		snprintf(one, sizeof(one), "%u", device);
	setenv("CUDA_VISIBLE_DEVICES", one, 1);
}

static void reap_servers(void)
{
	unsigned int i;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (i = 0; i < PROGRAMS; i++)
			if (rows[i] == pid) {
				rows[i] = 0;
				if (pool)
					pool_clear(pool, i);
			}
}

static unsigned int free_row(void)
{
	unsigned int i;

	for (i = 0; i < PROGRAMS && rows[i]; i++)
		;
	return i;
}

static void on_child(int signal)
{
}

/* Wait for a connection from the proxy. Only ppoll() lets SIGCHLD in: no child's end is missed. */
static void await_fd(int from, int registry)
{
	struct pollfd p[] = { { .fd = from, .events = POLLIN },
			      { .fd = registry, .events = POLLIN } };
	struct sigaction act = { .sa_handler = on_child };
	sigset_t child, before;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigaction(SIGCHLD, &act, NULL);
	sigprocmask(SIG_BLOCK, &child, &before);
	do {
		reap_servers();
		p[0].revents = p[1].revents = 0;
		if (ppoll(p, 2, NULL, &before) > 0 && p[1].revents)
			registry_answer(registry);
	} while (!p[0].revents);
	reap_servers();
	sigprocmask(SIG_SETMASK, &before, NULL);
}

static bool make_pool(const struct forker_gpu *gpu)
{
	int fd;

	if (!gpu->memory)
		return true;
	fd = pool_make(PROGRAMS);
	if (fd < 0)
		return false;
	pool = pool_map(fd, PROGRAMS);
	close(fd);
	return pool;
}

static void make_child(int fd, int from, int registry, const struct forker_gpu *gpu)
{
	pid_t self = getpid(), pid;
	unsigned int row = free_row();

	if (row == PROGRAMS)
		return;
	pid = fork();
	if (pid > 0)
		rows[row] = pid;
	if (pid)
		return;
	close(from);
	if (registry >= 0)
		close(registry);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != self)
		_exit(1);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	serve_one(fd, gpu, row);
}

static void raise_children(int from, int registry, const struct forker_gpu *gpu)
	__attribute__((noreturn));
static void raise_children(int from, int registry, const struct forker_gpu *gpu)
{
	int fd;

	setpgid(0, 0);
	signal(SIGTERM, SIG_IGN);
	if (!make_pool(gpu)) {
		relay_say("the quota of memory: %s", strerror(errno));
		_exit(1);
	}
	while (await_fd(from, registry), (fd = take_fd(from)) >= 0) {
		make_child(fd, from, registry, gpu);
		close(fd);
	}
	signal(SIGCHLD, SIG_DFL);
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

int forker_begin(const struct forker_gpu *gpu)
{
	pid_t parent = getpid();
	int pair[2], registry;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	gethostname(host, sizeof(host) - 1);
	/* before the program can begin: else its own first look at the list would not find it */
	registry = registry_enter(gpu->uuid, gpu->device, gpu->label);
	switch (fork()) {
	case -1:
		return -1;
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		dup2(pair[1], FIRST_FD);
		if (registry >= 0)
			registry = dup2(registry, FIRST_FD + 1);
		closefrom(FIRST_FD + 2);
		forker_choose(gpu->device);
		raise_children(FIRST_FD, registry, gpu);
	}
	if (registry >= 0)
		close(registry);
	close(pair[1]);
	return pair[0];
}

static int give_fd(int to, int fd)
{
	char byte = 0;
	union with_fd with = { .room = { 0 } };
	struct iovec part = { &byte, 1 };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &with,
			    .msg_controllen = sizeof(with) };

	with.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(fd)),
				      .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&with.head), &fd, sizeof(fd));
	return sendmsg(to, &m, MSG_NOSIGNAL) == 1 ? 0 : -ECONNRESET;
}

int forker_connect(int forker)
{
	int pair[2], room = ROOM, i, r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	for (i = 0; i < 2; i++)
		setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	r = give_fd(forker, pair[1]);
	close(pair[1]);
	if (r) {
		close(pair[0]);
		return r;
	}
	return pair[0];
}

void forker_end(int forker)
{
	close(forker);
	while (wait(NULL) > 0)
		;
}
