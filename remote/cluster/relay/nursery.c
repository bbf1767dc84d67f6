// SPDX-License-Identifier: MIT
/*
 * The nursery of a proxy: a process without MPI, since a process that has MPI should not fork. For
 * each program that comes it gets one end of a pair of sockets, and makes a server process for it:
 * as kvgpu-remoted does for a client, with the same filter, but as the user that started the job.
 * None of its sockets has a name, so none can be left behind.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/line.h>
#include <remote/server/server.h>
#include <remote/starter/starter.h>

#include "nursery.h"

enum { PATIENCE_S = 3, FIRST_FD = 3, ROOM = 1 << 20 };

/* KVGPU_REMOTE for the library: if that is itself a client's library, it must not connect here */
static const char no_client[] = "none: a proxy wants a libcuda.so.1 with a GPU";

union with_fd {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

static CUresult (*name_of)(char *, int, CUdevice);
static char host[64];

/* add the host to the GPU's name */
static CUresult name_and_place(char *to, int size, CUdevice dev)
{
	CUresult r = name_of(to, size, dev);
	size_t n = r ? 0 : strlen(to);

	if (!r && n + strlen(host) + 5 <= (size_t)size)
		sprintf(to + n, " on %s", host);
	return r;
}

static void *watch(void *port)
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
	nursery_say("%s: %s", (const char *)path, why);
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

static void serve_one(int fd, const char *path, uint64_t arena) __attribute__((noreturn));
static void serve_one(int fd, const char *path, uint64_t arena)
{
	struct line line = { .fd = fd };
	struct server s = { .options = { .arena = arena, .complain = nursery_say } };
	pthread_t watcher;
	FILE *log;
	int r = be_careful();

	if (!r)
		r = kvgpu_remote_welcome_line(&line, KVGPU_REMOTE_VERSION, arena, admit,
					      (void *)(uintptr_t)path, &s.port);
	if (!r)
		r = text_catch(&s, &log);
	if (r || server_init(&s) || pthread_create(&watcher, NULL, watch, s.port)) {
		nursery_say("a server process: %s", strerror(r ? -r : ENOMEM));
		_exit(1);
	}
	s.library = library;
	serve(&s);
	/* what the library still does is not needed: the kernel takes all of it back */
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

/*
 * Choose the device by CUDA_VISIBLE_DEVICES. If that has a list already, @device counts in that
 * list.
 */
static void choose_device(unsigned int device)
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

static void raise_children(int from, const char *path, uint64_t arena) __attribute__((noreturn));
static void raise_children(int from, const char *path, uint64_t arena)
{
	pid_t self = getpid();
	int fd;

	setpgid(0, 0);
	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	while ((fd = take_fd(from)) >= 0) {
		if (!fork()) {
			close(from);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != self)
				_exit(1);
			signal(SIGCHLD, SIG_DFL);
			signal(SIGTERM, SIG_DFL);
			serve_one(fd, path, arena);
		}
		close(fd);
	}
	kill(0, SIGTERM);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

int nursery_begin(const char *path, uint64_t arena, unsigned int device)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	gethostname(host, sizeof(host) - 1);
	switch (fork()) {
	case -1:
		return -1;
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		dup2(pair[1], FIRST_FD);
		closefrom(FIRST_FD + 1);
		choose_device(device);
		raise_children(FIRST_FD, path, arena);
	}
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

int nursery_connect(int nursery)
{
	int pair[2], room = ROOM, i, r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	for (i = 0; i < 2; i++)
		setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	r = give_fd(nursery, pair[1]);
	close(pair[1]);
	if (r) {
		close(pair[0]);
		return r;
	}
	return pair[0];
}

void nursery_end(int nursery)
{
	close(nursery);
	while (wait(NULL) > 0)
		;
}
