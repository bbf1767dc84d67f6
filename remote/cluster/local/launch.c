// SPDX-License-Identifier: MIT
#include "launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../relay/ranks.h"
#include "carrier.h"

enum { END_MS = 3000, TEXT_MAX = 32 };

/* ends[a][b]: the socket that rank a has to rank b; -1: this process has it no more, or not yet */
static int ends[RANKS_MAX][RANKS_MAX];
static pid_t *pids; /* of all ranks, shared with them */
static struct rlimit limit;

static unsigned int count_ranks(int argc, char **argv)
{
	unsigned int n = 1;
	int i;

	for (i = 2; i < argc; i++)
		n += !strcmp(argv[i], "--next");
	return n;
}

/*
 * In the child: become the rank. A byte in @release says that all pids are known. This process
 * keeps those of ranks that have ended from being used again, since it reaps none before rank 0 has
 * ended.
 */
static void become(unsigned int rank, unsigned int n, int release, int argc, char **argv)
	__attribute__((noreturn));
static void become(unsigned int rank, unsigned int n, int release, int argc, char **argv)
{
	char *text = malloc(TEXT_MAX * (n + 1)), number[TEXT_MAX], *at = text;
	unsigned int i;

	if (!text || read(release, number, 1) != 1)
		_exit(1);
	snprintf(number, sizeof(number), "%u", rank);
	at += sprintf(at, "%u", rank);
	for (i = 0; i < n; i++) {
		at += sprintf(at, " %d:%d", ends[rank][i], i == rank ? 0 : pids[i]);
		if (i != rank)
			fcntl(ends[rank][i], F_SETFD, 0);
	}
	setrlimit(RLIMIT_NOFILE, &limit);
	if (!setenv(LAUNCH_VARIABLE, text, 1) && ranks_pick(number, &argc, &argv))
		execv(argv[0], argv);
	fprintf(stderr, "kvgpu-run: %s: %s\n", argv[0], strerror(errno));
	_exit(1);
}

static bool start_rank(unsigned int rank, unsigned int n, const int *release, int argc, char **argv)
{
	pid_t self = getpid(), pid;
	int pair[2];
	unsigned int i;

	for (i = rank + 1; i < n; i++) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
			return false;
		ends[rank][i] = pair[0];
		ends[i][rank] = pair[1];
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(1);
		close(release[1]);
		become(rank, n, release[0], argc, argv);
	}
	for (i = 0; i < n; i++)
		if (i != rank)
			close(ends[rank][i]);
	pids[rank] = pid;
	return pid > 0;
}

/* more descriptors than are usual: each two ranks have two, and this process up to half of them */
static bool begin_ranks(unsigned int n)
{
	struct rlimit more;

	if (n > RANKS_MAX || getrlimit(RLIMIT_NOFILE, &limit))
		return false;
	more = limit;
	more.rlim_cur = more.rlim_max;
	setrlimit(RLIMIT_NOFILE, &more);
	memset(ends, -1, sizeof(ends));
	pids = mmap(NULL, n * sizeof(*pids), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	return pids != MAP_FAILED;
}

int launch_ranks(int argc, char **argv)
{
	const unsigned int n = count_ranks(argc, argv);
	int release[2], status, ms = 0;
	unsigned int i;
	pid_t pid;
	bool fine = begin_ranks(n) && !pipe2(release, O_CLOEXEC);

	for (i = 0; fine && i < n; i++)
		fine = start_rank(i, n, release, argc, argv);
	for (i = 0; fine && i < n; i++)
		fine = write(release[1], "", 1) == 1;
	if (!fine) {
		fprintf(stderr, "kvgpu-run: the proxies can't be started: %s\n", strerror(errno));
		return 1;
	}
	if (waitpid(pids[0], &status, 0) != pids[0] || !WIFEXITED(status))
		return 1;
	while (!WEXITSTATUS(status) && ms < END_MS && (pid = waitpid(-1, NULL, WNOHANG)) >= 0)
		if (!pid)
			ms += !usleep(1000);
	return WEXITSTATUS(status);
}
