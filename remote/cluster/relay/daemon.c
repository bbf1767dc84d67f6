// SPDX-License-Identifier: MIT
#include "daemon.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include <remote/cluster/run/children.h>

enum { LOOK_US = 50000, LOOKS_S = 1000000 / LOOK_US, GRACE_S = 2, END_S = 5, CHILDREN_MAX = 1024 };

static pid_t parent;

void daemon_note(void)
{
	parent = getppid();
}

/* the least pid of the daemon's other children; 0: there is none */
static pid_t other_child(void)
{
	pid_t child[CHILDREN_MAX], least = 0;
	unsigned int i, n = children_of(parent, child, CHILDREN_MAX);

	for (i = 0; i < n; i++)
		if (child[i] != getpid() && (!least || child[i] < least))
			least = child[i];
	return least;
}

/* whether the daemon has gone, looking for @s seconds */
static bool gone_within(unsigned int s)
{
	unsigned int i;

	for (i = 0; getppid() == parent && i < s * LOOKS_S; i++)
		usleep(LOOK_US);
	return getppid() != parent;
}

/* SIGALRM: MPI_Init() is not through in time. Makes only calls that a signal handler may make. */
static bool late_ends;
static void on_late(int signal)
{
	static bool asked;

	if (!late_ends || getppid() != parent)
		_exit(1);
	kill(parent, asked ? SIGKILL : SIGTERM);
	asked = true;
	alarm(END_S);
}

void daemon_limit(unsigned int s, bool end)
{
	late_ends = end;
	signal(SIGALRM, on_late);
	alarm(s);
}

void daemon_begun(void)
{
	alarm(0);
	signal(SIGALRM, SIG_DFL);
}

void daemon_end(unsigned int patience_s)
{
	pid_t other;
	unsigned int i;

	/* where mpirun is in reach after all, it ends all of this itself */
	if (gone_within(GRACE_S))
		return;
	for (i = 0; (other = other_child()); i++) {
		if (other < getpid() || i == patience_s * LOOKS_S || getppid() != parent)
			return;
		usleep(LOOK_US);
	}
	if (getppid() != parent)
		return;
	kill(parent, SIGTERM);
	if (!gone_within(END_S))
		kill(parent, SIGKILL);
}
