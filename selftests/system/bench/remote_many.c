// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote_many [--quick] NAME SERVER FILE.json: how much CPU time a million calls cost, of several
 * client processes together, alone and beside busy processes; and what clients cost that do
 * nothing. The clients are processes of this program, on the remote libcuda.so.1 that it finds;
 * SERVER is the process number of their kvgpu-remoted, whose children serve them. NAME says by
 * which carrier.
 */
#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cuda/api/api.h>

enum { MOST = 64, WARM_UP = 200 };

static const char *where;
static bool quick, begun;
static pid_t server;
static FILE *json;

/* a client, and the two pipes to it */
struct client {
	pid_t pid;
	int to, from;
};

static double clock_of(clockid_t c)
{
	struct timespec t = { 0 };

	clock_gettime(c, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu_of(pid_t pid)
{
	clockid_t c;

	return clock_getcpuclockid(pid, &c) ? 0 : clock_of(c);
}

static void die(const char *what)
{
	fprintf(stderr, "remote_many: %s\n", what);
	exit(1);
}

static pid_t parent_of(const char *pid)
{
	char path[300], text[512] = "";
	const char *at;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	at = fgets(text, sizeof(text), f) ? strrchr(text, ')') : NULL;
	fclose(f);
	return at && sscanf(at, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* CPU time of the first process and of those that serve; *serving: how many these are */
static double cpu_of_server(unsigned int *serving)
{
	double sum = cpu_of(server);
	DIR *d = opendir("/proc");
	struct dirent *e;

	*serving = 0;
	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)*e->d_name) && parent_of(e->d_name) == server) {
			sum += cpu_of(atoi(e->d_name));
			++*serving;
		}
	if (d)
		closedir(d);
	return sum;
}

/* ------------------------------------------------------------------ a client */

static void call(void)
{
	unsigned int value;

	if (cuCtxGetFlags(&value))
		_exit(1);
}

/*
 * says that it is ready; then for each number that it is told: makes so many calls, and says what
 * CPU time they took
 */
static void be_client(int in, int out)
{
	uint32_t calls = 0, i;
	double cpu = 0;
	CUcontext ctx;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (cuInit(0) || cuCtxCreate_v2(&ctx, 0, 0))
		_exit(1);
	for (i = 0; i < WARM_UP; i++)
		call();
	while (write(out, &cpu, sizeof(cpu)) == sizeof(cpu) &&
	       read(in, &calls, sizeof(calls)) == sizeof(calls)) {
		cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
		for (i = 0; i < calls; i++)
			call();
		cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	}
	_exit(0);
}

static void start(struct client *c)
{
	int to[2], from[2];

	if (pipe(to) || pipe(from))
		die("no pipes");
	c->to = to[1];
	c->from = from[0];
	c->pid = fork();
	if (!c->pid) {
		close(c->to);
		close(c->from);
		be_client(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
}

static double answer(const struct client *c)
{
	double cpu;

	if (read(c->from, &cpu, sizeof(cpu)) != sizeof(cpu))
		die("a client has ended: what it said is above, or in the server's log");
	return cpu;
}

static void tell(const struct client *c, uint32_t calls)
{
	if (write(c->to, &calls, sizeof(calls)) != sizeof(calls))
		die("a client has ended");
}

/* ------------------------------------------------------------------ the measurement */

static void row(const char *name, double value, const char *unit)
{
	printf("%-10s %-64s %10.3f %s\n", where, name, value, unit);
	fprintf(json,
		"%s\n  {\"where\": \"%s\", \"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\"}",
		begun ? "," : "", where, name, value, unit);
	begun = true;
}

static unsigned int occupy_cpus(pid_t *pids)
{
	unsigned int n = sysconf(_SC_NPROCESSORS_ONLN), i;

	n = n < MOST ? n : MOST;
	for (i = 0; i < n; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				;
		}
	}
	return n;
}

/* all @n make their part of @calls at once; what a million would have cost */
static void million(const struct client *clients, unsigned int n, uint32_t calls, bool busy)
{
	double own = 0, theirs, began, took, scale = 1e6 / (calls / n * (double)n);
	unsigned int serving, hogs = 0, i;
	pid_t pids[MOST];
	char name[160];

	if (busy)
		hogs = occupy_cpus(pids);
	theirs = cpu_of_server(&serving);
	began = clock_of(CLOCK_MONOTONIC);
	for (i = 0; i < n; i++)
		tell(&clients[i], calls / n);
	for (i = 0; i < n; i++)
		own += answer(&clients[i]);
	took = clock_of(CLOCK_MONOTONIC) - began;
	theirs = cpu_of_server(&serving) - theirs;
	for (i = 0; i < hogs; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	if (serving != n)
		die("another number of processes serves than there are clients");
	snprintf(name, sizeof(name), "a million calls by %u, CPUs %s: CPU time of clients", n,
		 busy ? "busy" : "idle");
	row(name, own * scale, "s");
	snprintf(name, sizeof(name), "a million calls by %u, CPUs %s: CPU time of the server", n,
		 busy ? "busy" : "idle");
	row(name, theirs * scale, "s");
	snprintf(name, sizeof(name), "a million calls by %u, CPUs %s: time", n,
		 busy ? "busy" : "idle");
	row(name, took * scale, "s");
}

/* both sides of clients that make no call */
static void idle(const struct client *clients, unsigned int n, unsigned int seconds)
{
	double before, after;
	unsigned int serving, i;
	char name[160];

	sleep(1); /* a process that has just answered looks for more for a while */
	before = cpu_of_server(&serving);
	for (i = 0; i < n; i++)
		before += cpu_of(clients[i].pid);
	sleep(seconds);
	after = cpu_of_server(&serving);
	for (i = 0; i < n; i++)
		after += cpu_of(clients[i].pid);
	snprintf(name, sizeof(name), "%u clients that make no call: CPU time of both sides", n);
	row(name, (after - before) / seconds * 1000, "ms/s");
}

static void measure(unsigned int n)
{
	struct client clients[MOST];
	unsigned int i;

	for (i = 0; i < n; i++)
		start(&clients[i]);
	for (i = 0; i < n; i++)
		answer(&clients[i]);
	million(clients, n, quick ? 20000 : 1000000, false);
	million(clients, n, quick ? 5000 : 1000000, true);
	idle(clients, n, quick ? 1 : 10);
	for (i = 0; i < n; i++) {
		close(clients[i].to);
		close(clients[i].from);
	}
	for (i = 0; i < n; i++)
		waitpid(clients[i].pid, NULL, 0);
	while (cpu_of_server(&i), i) /* the next clients find none of these */
		usleep(10000);
}

int main(int argc, char **argv)
{
	static const unsigned int counts[] = { 1, 8, MOST };
	unsigned int i;

	quick = argc > 1 && !strcmp(argv[1], "--quick");
	if (argc - quick != 4 || atoi(argv[2 + quick]) <= 0) {
		fprintf(stderr, "usage: remote_many [--quick] NAME SERVER FILE.json\n");
		return 2;
	}
	where = argv[1 + quick];
	server = atoi(argv[2 + quick]);
	json = fopen(argv[3 + quick], "w");
	if (!json) {
		perror(argv[3 + quick]);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	fprintf(json, "{\"rows\": [");
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		fflush(NULL); /* a child has a copy of what is not written yet */
		measure(counts[i]);
	}
	fprintf(json, "\n]}\n");
	return fclose(json) ? 1 : 0;
}
