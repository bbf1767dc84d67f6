// SPDX-License-Identifier: MIT
/*
 * Memory that a client's process shares with a client by a UNIX socket. The client has a descriptor
 * of it, and can keep that when its process here has ended, while the pages are charged to the
 * cgroup of that process, or to nobody's any more. So the first process has a descriptor, too, and
 * has the pages given back. A page that the client touches later is charged to the client.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <remote/channel/memory.h>
#include <remote/channel/rights.h>

#include "supervisor.h"

/* how long a program may save what it has in pinned memory, after its process here has crashed */
enum { KEPT_MS = 60000 };

int shared_begin(int fd, int *memory)
{
	socklen_t bytes = sizeof(int);
	int family = AF_UNSPEC;

	*memory = -1;
	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &bytes) || family != AF_UNIX)
		return 0;
	*memory = memory_begin();
	return *memory < 0 ? *memory : 0;
}

/* whether poll() sees one of @events, or an end, at @fd */
static bool sees_event(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	return poll(&p, 1, 0) > 0;
}

/*
 * Whether a program goes on without its process here, and may want what it has in pinned memory.
 * If memory was used up, or the admin has ended the client, the pages are wanted back: SIGKILL. A
 * process that exits by itself has not crashed: a client can make it exit, by a wrong byte.
 */
static bool goes_on(const struct client *c, int status)
{
	return c->state == CLIENT_SERVED && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL &&
	       c->program >= 0 && !sees_event(c->program, POLLIN) && c->life >= 0 &&
	       !sees_event(c->life, POLLRDHUP);
}

/*
 * A client can make this wait, so it is done by a process, which has nothing but @memory. That ends
 * with the first process, and by SIGTERM, which the first process blocks.
 */
static pid_t give_back(int memory)
{
	pid_t parent = getpid(), pid = fork();
	sigset_t none;

	if (pid)
		return pid;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(memory, 0) < 0)
		_exit(1);
	closefrom(1);
	_exit(memory_give_back(0) != 0);
}

static void shut(int *fd)
{
	if (*fd >= 0)
		rights_close(*fd);
	*fd = -1;
}

bool shared_stays(struct client *c, int status)
{
	bool has = c->memory >= 0 && memory_has_pages(c->memory);
	bool waits = has && !c->reaped && goes_on(c, status);

	shut(&c->life); /* by which the client sees the end of its process */
	c->state = CLIENT_ENDING;
	c->reaped = true;
	c->pid = 0;
	c->deadline_ms = now_ms() + KEPT_MS;
	if (waits)
		return true;
	shut(&c->program);
	if (has)
		c->pid = give_back(c->memory);
	if (c->pid < 0) { /* not by this process, which a client could make wait */
		c->pid = 0;
		c->deadline_ms = now_ms() + AGAIN_MS;
		return true;
	}
	shut(&c->memory);
	return c->pid > 0;
}
