// SPDX-License-Identifier: GPL-2.0-only
/*
 * OpenCL C kernels of many kinds through stock rusticl, each result compared with the host's.
 *
 *   kvgpu-cl-kernels [--device NAME] [TEST...]
 *
 * The tests run one after the other in a process of their own, since a compiler's assertion ends it; after a test that fails the
 * next one gets a new process, and with it a new channel. --device takes another device than the card, to try out the tests themselves.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cl_cases.h"
#include "tap.h"

/* a test may take that long, s: compilers are slow on emulated processors */
enum { LIMIT_S = 180, MAX_CASES = 64, MAX_SAID = 6 };

struct shared {
	/* the test that runs, or that ran last; -1 while the device is opened */
	int at;
	char device[128];
	/* where its words begin in what the worker says */
	off_t said_from[MAX_CASES];
	struct job_result results[MAX_CASES];
};

struct worker {
	pid_t pid;
	/* a byte for each test that is done; what it says on its outputs */
	int done, said;
};

static const struct job_case *cases[MAX_CASES];
static const char *device_name;
static struct shared *shared;
static int nr_cases, kernel_log = -1;

static void add_cases(const struct job_case *list, char **names)
{
	char **n;

	for (; list->name; list++) {
		for (n = names; *n && strcmp(*n, list->name); n++)
			;
		if ((!*names || *n) && nr_cases < MAX_CASES)
			cases[nr_cases++] = list;
	}
}

/* in the worker: everything from this test on; a byte says that one is done */
static void work(int first, int done)
{
	struct job j = { 0 };
	int i;

	j.device = find_device(device_name);
	if (!j.device)
		_exit(2);
	clGetDeviceInfo(j.device, CL_DEVICE_NAME, sizeof(shared->device), shared->device, NULL);
	for (i = first; i < nr_cases; i++) {
		shared->said_from[i] = lseek(2, 0, SEEK_END);
		shared->at = i;
		j.what = cases[i];
		j.result = &shared->results[i];
		job_begin(&j);
		cases[i]->run(&j);
		job_end(&j);
		j.result->done = true;
		if (write(done, "", 1) != 1)
			break;
	}
	fflush(NULL);
	_exit(0);
}

static struct worker start_worker(int first)
{
	struct worker w = { .said = memfd_create("said", MFD_CLOEXEC) };
	int done[2];

	shared->at = -1;
	fflush(NULL);
	/* appended to, so that the reader's place is its own */
	if (w.said < 0 || fcntl(w.said, F_SETFL, O_APPEND) || pipe(done))
		abort();
	w.pid = fork();
	if (w.pid < 0)
		abort();
	if (!w.pid) {
		close(done[0]);
		dup2(w.said, 1);
		dup2(w.said, 2);
		work(first, done[1]);
	}
	close(done[1]);
	w.done = done[0];
	return w;
}

/* prints the first lines of what the worker said since @from; true if @sign is in it */
static bool said(struct worker *w, off_t from, const char *sign)
{
	char text[4096], *line, *rest;
	ssize_t len = pread(w->said, text, sizeof(text) - 1, from);
	bool found;
	int n = 0;

	text[len > 0 ? len : 0] = 0;
	found = sign && strstr(text, sign);
	for (line = strtok_r(text, "\n", &rest); line && n < MAX_SAID; line = strtok_r(NULL, "\n", &rest), n++)
		tap_diag("%.300s", line);
	return found;
}

/* prints what the driver said in the kernel's log since the last time; true if @sign is in it. Silent for who may not read it */
static bool kernel_said(const char *sign)
{
	char record[1024], *text;
	bool found = false;
	ssize_t len;
	int n = 0;

	for (;;) {
		len = read(kernel_log, record, sizeof(record) - 1);
		if (len < 0 && errno == EPIPE)
			continue;	/* records were overwritten: the next one is the oldest that is left */
		if (len <= 0)
			return found;
		record[len] = 0;
		text = strchr(record, ';');
		if (!text || !strstr(text, "nouveau"))
			continue;
		found |= sign && strstr(text, sign);
		if (n++ < MAX_SAID)
			tap_diag("kernel: %.*s", (int)strcspn(text + 1, "\n"), text + 1);
	}
}

/* @how: what became of the process, or NULL if it lives; true if the test went wrong, expected or not */
static bool report(struct worker *w, int i, const char *how)
{
	const struct job_case *c = cases[i];
	struct job_result *r = &shared->results[i];
	char text[JOB_TEXT + 80];
	bool ok = r->done && !r->wrong && r->checked;

	if (r->skipped) {
		tap_skip(c->name, r->text);
		return false;
	}
	if (ok) {
		snprintf(text, sizeof(text), "%llu values", (unsigned long long)r->checked);
	} else {
		bool known = said(w, shared->said_from[i], c->sign);

		known |= kernel_said(c->sign) || (c->sign && strstr(r->text, c->sign));
		snprintf(text, sizeof(text), "%s%s%llu of %llu wrong: %s", r->done || !how ? "" : how, r->done || !how ? "" : "; ",
			 (unsigned long long)r->wrong, (unsigned long long)r->checked, r->text);
		if (known) {
			tap_diag("%s: %s", c->name, text);
			tap_xfail(true, c->name, c->xfail);
			return true;
		}
	}
	if (ok && c->xfail)
		tap_xfail(false, c->name, c->xfail);
	else
		tap_result(ok, c->name, "%s", text);
	return !ok;
}

/* waits for the next test to be done; NULL, or what became of the process */
static const char *next_done(struct worker *w)
{
	static char how[80];
	struct pollfd p = { .fd = w->done, .events = POLLIN };
	int n, status;
	char byte;

	do {
		n = poll(&p, 1, LIMIT_S * 1000);
	} while (n < 0 && errno == EINTR);
	if (n > 0 && read(w->done, &byte, 1) == 1)
		return NULL;
	if (n == 0)
		kill(w->pid, SIGKILL);
	if (waitpid(w->pid, &status, 0) != w->pid)
		abort();
	if (n == 0)
		snprintf(how, sizeof(how), "not done after %d s", LIMIT_S);
	else if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "the process died of signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "the process ended with code %d", WEXITSTATUS(status));
	return how;
}

static void end_worker(struct worker *w, bool alive)
{
	if (alive) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	close(w->done);
	close(w->said);
}

static void run_all(void)
{
	struct worker w = start_worker(0);
	int i;

	for (i = 0; i < nr_cases; i++) {
		const char *how = next_done(&w);

		if (how && shared->at < 0) {
			said(&w, 0, NULL);
			tap_result(false, "the device is there", "%s", how);
			end_worker(&w, false);
			return;
		}
		if (!i)
			tap_diag("on %s", shared->device);
		if (report(&w, i, how) && i + 1 < nr_cases) {
			end_worker(&w, !how);
			/* what came after it is done again, from the start */
			memset(&shared->results[i + 1], 0, (nr_cases - i - 1) * sizeof(shared->results[0]));
			w = start_worker(i + 1);
		} else if (how) {
			end_worker(&w, false);
			return;
		}
	}
	end_worker(&w, true);
}

int main(int argc, char **argv)
{
	char **names = argv + 1;

	(void)argc;
	if (names[0] && names[1] && !strcmp(names[0], "--device")) {
		device_name = names[1];
		names += 2;
	}
	add_cases(cases_memory, names);
	add_cases(cases_groups, names);
	add_cases(cases_numbers, names);
	add_cases(cases_control, names);
	add_cases(cases_queues, names);
	add_cases(cases_images, names);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || !nr_cases) {
		fprintf(stderr, "kvgpu-cl-kernels: no such test\n");
		return 2;
	}
	kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	lseek(kernel_log, 0, SEEK_END);
	run_all();
	return tap_finish();
}
