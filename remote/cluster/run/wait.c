// SPDX-License-Identifier: MIT
/*
 * Waiting for signals, as input of a descriptor, and for brokers. A signal that a process sent to
 * kvgpu-run is passed on to PROGRAM; one from a terminal has reached it already.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/api/process.h>

#include "folder.h"
#include "run.h"

enum { FILES_MIN = 64 }; /* descriptors */

static const int passed[] = { SIGINT,  SIGQUIT, SIGTERM,  SIGHUP, SIGUSR1,
			      SIGUSR2, SIGALRM, SIGWINCH, SIGCONT };

static void ours(sigset_t *set)
{
	unsigned int i;

	sigemptyset(set);
	sigaddset(set, SIGCHLD);
	for (i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigaddset(set, passed[i]);
}

static sigset_t before;
static struct sigaction children_before;
static struct rlimit files_before;
static mode_t umask_before;

bool wait_inherit(void)
{
	unsigned long n;

	sigprocmask(SIG_SETMASK, NULL, &before);
	sigaction(SIGCHLD, NULL, &children_before);
	umask_before = umask(S_IRWXG | S_IRWXO);
	process_begin();
	getrlimit(RLIMIT_NOFILE, &files_before);
	n = process_descriptors();
	if (n >= FILES_MIN)
		return true;
	report_error(
		"here a process may have %lu descriptors (ulimit -n), and what starts proxies wants %d: raise that limit",
		n, FILES_MIN);
	return false;
}

bool wait_begin(struct run *r)
{
	sigset_t set;

	ours(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signals < 0)
		report_error("signals: %s", strerror(errno));
	return r->signals >= 0;
}

void wait_give_back(void)
{
	sigaction(SIGCHLD, &children_before, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	umask(umask_before);
	setrlimit(RLIMIT_NOFILE, &files_before);
}

void wait_clear(int out)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
	    ((fcntl(STDERR_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY &&
	     dup2(null, STDERR_FILENO) < 0) ||
	    dup2(out, STDOUT_FILENO) < 0)
		_exit(EXIT_OWN);
	closefrom(STDERR_FILENO + 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void job_ended(struct run *r, struct running *j, int status)
{
	unsigned int i, left = 0;

	j->pid = 0;
	j->status = status;
	if (r->silent || r->program_ended || r->ready < r->nr_jobs)
		return;
	if (WIFSIGNALED(status))
		report_error(
			"a job of proxies was killed by signal %d: its GPUs are gone for PROGRAM",
			WTERMSIG(status));
	else
		report_error(
			"a job of proxies has ended with exit code %d: its GPUs are gone for PROGRAM",
			WEXITSTATUS(status));
	/* a scheduler that has ended the jobs may kill this process next: remove the folder now */
	for (i = 0; i < r->nr_jobs; i++)
		left += r->jobs[i].pid > 0;
	if (!left)
		folder_remove(r->folder);
}

static void reap_children(struct run *r)
{
	unsigned int i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == r->program) {
			r->program_ended = true;
			r->status = status;
		}
		for (i = 0; i < r->nr_jobs; i++)
			if (pid == r->jobs[i].pid)
				job_ended(r, &r->jobs[i], status);
	}
}

static void take_signals(struct run *r)
{
	struct signalfd_siginfo s;

	while (read(r->signals, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGCHLD) {
			reap_children(r);
			continue;
		}
		if (!r->program) {
			if (r->interrupted || s.ssi_signo == SIGWINCH || s.ssi_signo == SIGCONT)
				continue;
			r->interrupted = true;
			r->status = s.ssi_signo;
		} else if (!r->program_ended && s.ssi_code != SI_KERNEL) {
			kill(r->program, s.ssi_signo);
		}
	}
}

static void take_broker(struct run *r)
{
	int fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
	unsigned int i;

	for (i = 0; fd >= 0 && i < r->nr_jobs; i++)
		if (r->jobs[i].fd < 0 && r->jobs[i].pid) {
			r->jobs[i].fd = fd;
			return;
		}
	if (fd >= 0)
		close(fd);
}

static void take_word(struct run *r, struct running *j)
{
	char word[16];
	ssize_t n = recv(j->fd, word, sizeof(word), MSG_DONTWAIT);

	if (n > 0) {
		r->ready++;
	} else if (!n || errno != EAGAIN) {
		close(j->fd);
		j->fd = -1;
	}
}

void wait_once(struct run *r, int ms)
{
	struct pollfd p[2 + JOBS_MAX];
	unsigned int i, jobs = r->nr_jobs;

	p[0] = (struct pollfd){ .fd = r->signals, .events = POLLIN };
	p[1] = (struct pollfd){ .fd = r->listener, .events = POLLIN };
	for (i = 0; i < jobs; i++)
		p[2 + i] = (struct pollfd){ .fd = r->jobs[i].fd, .events = POLLIN };
	if (poll(p, 2 + jobs, ms) <= 0)
		return;
	for (i = 0; i < jobs; i++)
		if (p[2 + i].revents)
			take_word(r, &r->jobs[i]);
	if (p[1].revents)
		take_broker(r);
	if (p[0].revents)
		take_signals(r);
}
