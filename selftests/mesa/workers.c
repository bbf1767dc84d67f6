// SPDX-License-Identifier: GPL-2.0-only
/*
 * workers.h has the contracts. The worker runs the tests in order and writes a byte after each.
 * Verdicts lie in memory that both processes share, without a lock: one is read after its byte, or
 * when the worker has ended.
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

#include "tap.h"
#include "workers.h"

enum { LIMIT_S = 180, MAX_SAID = 6 };

struct shared {
	/* the test that runs, or ran last; -1 while the device is opened */
	int at;
	char device[128];
	/* where its words begin in what the worker says */
	off_t said_from[MAX_TESTS];
	struct verdict verdicts[MAX_TESTS];
};

struct worker {
	pid_t pid;
	/* a byte for each test that is done; its outputs */
	int done, said;
};

static const struct suite *suite;
static struct shared *shared;
static int kernel_log = -1;

/* in the worker: from this test on */
static void work(unsigned int first, int done)
{
	unsigned int i;

	if (!suite->open(shared->device, sizeof(shared->device)))
		_exit(2);
	for (i = first; i < suite->nr; i++) {
		shared->said_from[i] = lseek(2, 0, SEEK_END);
		shared->at = i;
		suite->run(i, &shared->verdicts[i]);
		shared->verdicts[i].done = true;
		if (write(done, "", 1) != 1)
			break;
	}
	fflush(NULL);
	_exit(0);
}

static struct worker start_worker(unsigned int first)
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
	for (line = strtok_r(text, "\n", &rest); line && n < MAX_SAID;
	     line = strtok_r(NULL, "\n", &rest), n++)
		tap_diag("%.300s", line);
	return found;
}

/* prints what the driver said in the kernel's log since the last time; true if @sign is in it */
static bool kernel_said(const char *sign)
{
	char record[1024], *text;
	bool found = false;
	ssize_t len;
	int n = 0;

	for (;;) {
		len = read(kernel_log, record, sizeof(record) - 1);
		if (len < 0 && errno == EPIPE)
			/* overwritten records: the next read gives the oldest that is left */
			continue;
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

/* @how: the process's end, or NULL; true if the test went wrong, expected or not */
static bool report(struct worker *w, unsigned int i, const char *how)
{
	const struct test *c = &suite->tests[i];
	struct verdict *r = &shared->verdicts[i];
	char text[VERDICT_TEXT + 80];
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
		snprintf(text, sizeof(text), "%s%s%llu of %llu wrong: %s",
			 r->done || !how ? "" : how, r->done || !how ? "" : "; ",
			 (unsigned long long)r->wrong, (unsigned long long)r->checked, r->text);
		if (known) {
			tap_diag("%s: %s", c->name, text);
			tap_known_bug(false, c->name, c->bug);
			return true;
		}
	}
	if (ok && c->bug)
		tap_known_bug(true, c->name, c->bug);
	else
		tap_result(ok, c->name, "%s", text);
	return !ok;
}

/* waits for a test; NULL, or the process's end */
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
	unsigned int i;

	for (i = 0; i < suite->nr; i++) {
		const char *how = next_done(&w);

		if (how && shared->at < 0) {
			said(&w, 0, NULL);
			tap_result(false, "the device is there", "%s", how);
			end_worker(&w, false);
			return;
		}
		if (!i)
			tap_diag("on %s", shared->device);
		if (report(&w, i, how) && i + 1 < suite->nr) {
			end_worker(&w, !how);
			/* the old worker may have run later tests: the new one runs them again */
			memset(&shared->verdicts[i + 1], 0,
			       (suite->nr - i - 1) * sizeof(struct verdict));
			w = start_worker(i + 1);
		} else if (how) {
			end_worker(&w, false);
			return;
		}
	}
	end_worker(&w, true);
}

int run_suite(const struct suite *s)
{
	suite = s;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED || !s->nr) {
		fprintf(stderr, "%s: no such test\n", program_invocation_short_name);
		return 2;
	}
	kernel_log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	lseek(kernel_log, 0, SEEK_END);
	run_all();
	return tap_finish();
}

char **names_of_tests(char **argv, const char **device)
{
	if (!argv[1] || !argv[2] || strcmp(argv[1], "--device"))
		return argv + 1;
	*device = argv[2];
	return argv + 3;
}

void add_test(struct suite *s, const struct test *t, char **names)
{
	char **n;

	for (n = names; *n && strcmp(*n, t->name); n++)
		;
	if ((!*names || *n) && s->nr < MAX_TESTS)
		s->tests[s->nr++] = *t;
}
