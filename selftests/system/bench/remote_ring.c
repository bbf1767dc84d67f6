// SPDX-License-Identifier: GPL-2.0-only
/*
 * What remote/ring costs between two processes over a memfd (make bench-remote-ring). Prints a
 * table, and JSON into the file that is named.
 *
 * remote_ring [--cpus A B] [--quick] FILE.json
 *
 * A: CPU of the process that asks, B: of the process that answers; default: the first two that
 * there are.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "remote/ring/completion.h"
#include "remote/ring/clock.h"
#include "remote/ring/ring.h"
#include "selftests/remote/unit/remote/ring/carrier.h"

enum {
	SLOTS = 8192,
	CALL_LEN = 32,
	FRAME_LEN = 96,
	ANSWER_LEN = 16,
	BURST = 1000,
	LONG_SPIN_NS = 1000000000
};
enum { OP_CALL, OP_QUEUED, OP_END };

#define A_MINUTE_NS 60000000000ull

struct side {
	struct kvgpu_ring_shared *ring;
	struct kvgpu_completion_shared *completion;
	struct kvgpu_doorbell own, peer;
	struct kvgpu_doorbell_socket socket;
	struct kvgpu_ring_config config;
};

struct client {
	struct side side;
	struct kvgpu_ring_producer p;
	struct kvgpu_completion completion;
	pid_t server;
	int fd[2];
};

static struct {
	const char *name, *unit;
	double p50, p99;
	unsigned long of;
} row[16];
static unsigned int nr_rows;
static int cpu[2] = { -1, -1 };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void pin(int to)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(to, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void choose_cpus(void)
{
	cpu_set_t set;
	int i, n = 0;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	for (i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[n++] = i;
	if (n < 2)
		fprintf(stderr, "only one CPU: what spins waits for the other's time slice\n");
	if (n == 1)
		cpu[1] = cpu[0];
}

/* each process maps the file by itself */
static void attach(struct side *s, int memory, bool server, uint64_t spin_ns, int socket)
{
	const struct kvgpu_doorbell_ops *ops = socket < 0 ? &kvgpu_doorbell_futex_ops :
							    &kvgpu_doorbell_socket_ops;
	size_t ring = (kvgpu_ring_bytes(SLOTS) + 4095) & ~(size_t)4095;

	s->ring = mmap(NULL, ring + KVGPU_COMPLETION_BYTES, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, memory, 0);
	if (s->ring == MAP_FAILED)
		die("mmap");
	s->completion = (void *)((uint8_t *)s->ring + ring);
	s->socket.fd = socket;
	s->own = (struct kvgpu_doorbell){ .ops = ops,
					  .ctx = socket < 0 ? NULL : &s->socket,
					  .times = { spin_ns, KVGPU_SLEEP_NS } };
	s->peer = s->own;
	s->own.word = server ? &s->ring->consumer_word : &s->ring->producer_word;
	s->peer.word = server ? &s->ring->producer_word : &s->ring->consumer_word;
	s->config = (struct kvgpu_ring_config){
		.mem = s->ring,
		.slots = SLOTS,
		.max_len = 4096,
		.own = &s->own,
		.peer = &s->peer,
	};
}

static void serve(struct side *s)
{
	static uint8_t buf[4096];
	struct kvgpu_ring_consumer c;
	struct kvgpu_completion completion;
	struct kvgpu_frame f;

	if (kvgpu_ring_attach_consumer(&c, &s->config) ||
	    kvgpu_completion_attach(&completion, s->completion, KVGPU_COMPLETION_LONGEST, &s->peer))
		exit(2);
	for (;;) {
		while (kvgpu_ring_get(&c, &f, buf, sizeof(buf)) == KVGPU_RING_EMPTY)
			if (kvgpu_ring_wait_frame(&c, A_MINUTE_NS))
				exit(3);
		if (c.status)
			exit(4);
		if (f.op == OP_QUEUED)
			continue;
		kvgpu_completion_answer(&completion, f.seq, 0, buf, ANSWER_LEN);
		if (f.op == OP_END)
			exit(0);
	}
}

static struct client *connect_client(uint64_t spin_ns, bool by_socket)
{
	size_t ring = (kvgpu_ring_bytes(SLOTS) + 4095) & ~(size_t)4095;
	struct client *c = calloc(1, sizeof(*c));
	int memory = memfd_create("ring", 0);

	c->fd[0] = c->fd[1] = -1;
	if (memory < 0 || ftruncate(memory, (off_t)(ring + KVGPU_COMPLETION_BYTES)))
		die("memfd");
	if (by_socket && socketpair(AF_UNIX, SOCK_STREAM, 0, c->fd))
		die("socketpair");
	c->server = fork();
	if (!c->server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(cpu[1]);
		attach(&c->side, memory, true, spin_ns, c->fd[1]);
		serve(&c->side);
	}
	attach(&c->side, memory, false, spin_ns, c->fd[0]);
	close(memory);
	if (kvgpu_ring_attach_producer(&c->p, &c->side.config) ||
	    kvgpu_completion_attach(&c->completion, c->side.completion, KVGPU_COMPLETION_LONGEST,
				    &c->side.own))
		exit(1);
	return c;
}

static void call(struct client *c, uint16_t op)
{
	static const uint8_t args[CALL_LEN];
	struct iovec iov = { (void *)args, sizeof(args) };
	static uint8_t buf[KVGPU_COMPLETION_LONGEST];
	struct kvgpu_completion_head head;

	if (kvgpu_ring_put(&c->p, op, 0, &iov, 1)) {
		fprintf(stderr, "put\n");
		exit(1);
	}
	kvgpu_ring_kick(&c->p);
	if (kvgpu_completion_wait(&c->completion, A_MINUTE_NS) ||
	    kvgpu_completion_take(&c->completion, c->p.last_seq, &head, buf, sizeof(buf))) {
		fprintf(stderr, "no answer\n");
		exit(1);
	}
}

static void queue(struct client *c)
{
	static const uint8_t args[FRAME_LEN];
	struct iovec iov = { (void *)args, sizeof(args) };

	while (kvgpu_ring_put(&c->p, OP_QUEUED, 0, &iov, 1) == KVGPU_RING_FULL) {
		if (kvgpu_ring_wait_room(&c->p, FRAME_LEN, A_MINUTE_NS)) {
			fprintf(stderr, "no room\n");
			exit(1);
		}
	}
}

static void disconnect(struct client *c)
{
	int status;

	call(c, OP_END);
	waitpid(c->server, &status, 0);
	if (status) {
		fprintf(stderr, "server: %x\n", status);
		exit(1);
	}
	if (c->fd[0] >= 0) {
		close(c->fd[0]);
		close(c->fd[1]);
	}
	free(c);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* p99: 99 of 100 samples are no worse */
static void report(const char *name, const char *unit, double *samples, unsigned long nr)
{
	bool more_is_worse = !strcmp(unit, "ns");

	qsort(samples, nr, sizeof(*samples), compare);
	row[nr_rows].name = name;
	row[nr_rows].unit = unit;
	row[nr_rows].p50 = samples[nr / 2];
	row[nr_rows].p99 = samples[more_is_worse ? nr - 1 - nr / 100 : nr / 100];
	row[nr_rows].of = nr;
	nr_rows++;
}

static void clock_cost(double *samples, unsigned long nr)
{
	uint64_t last = clock_ns(), now;
	unsigned long i;

	for (i = 0; i < nr; i++, last = now) {
		now = clock_ns();
		samples[i] = (double)(now - last);
	}
	report("clock", "ns", samples, nr);
}

/* one reading of the clock is in each */
static void round_trips(const char *name, uint64_t spin_ns, bool by_socket, double *samples,
			unsigned long nr)
{
	struct client *c = connect_client(spin_ns, by_socket);
	uint64_t last, now;
	unsigned long i;

	for (i = 0; i < nr / 10; i++)
		call(c, OP_CALL);
	last = clock_ns();
	for (i = 0; i < nr; i++, last = now) {
		call(c, OP_CALL);
		now = clock_ns();
		samples[i] = (double)(now - last);
	}
	report(name, "ns", samples, nr);
	disconnect(c);
}

/* what the producer pays for a frame of a burst that fits */
static void bursts(const char *name, bool notify_each, double *samples, unsigned long nr)
{
	struct client *c = connect_client(LONG_SPIN_NS, false);
	uint64_t began;
	unsigned long i, j;

	for (i = 0; i < nr; i++) {
		call(c, OP_CALL);
		began = clock_ns();
		for (j = 0; j < BURST; j++) {
			queue(c);
			if (notify_each)
				kvgpu_ring_kick(&c->p);
		}
		samples[i] = (double)(clock_ns() - began) / BURST;
		kvgpu_ring_kick(&c->p);
	}
	report(name, "ns", samples, nr);
	disconnect(c);
}

/* from the first frame until the last was taken */
static void sustained(double *samples, unsigned long nr)
{
	enum { FRAMES = 500000 };
	struct client *c = connect_client(LONG_SPIN_NS, false);
	uint64_t began;
	unsigned long i, j;

	for (i = 0; i < nr; i++) {
		call(c, OP_CALL);
		began = clock_ns();
		for (j = 0; j < FRAMES; j++)
			queue(c);
		call(c, OP_CALL);
		samples[i] = FRAMES * 1e3 / (double)(clock_ns() - began);
	}
	report("frames of 96 bytes, sustained", "million/s", samples, nr);
	disconnect(c);
}

static void write_json(const char *path)
{
	FILE *f = fopen(path, "w");
	unsigned int i;

	if (!f)
		die(path);
	fprintf(f, "{\n \"cpus\": [%d, %d],\n \"rows\": [", cpu[0], cpu[1]);
	for (i = 0; i < nr_rows; i++)
		fprintf(f,
			"%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"p50\": %.1f, \"p99\": %.1f, \"samples\": %lu}",
			i ? "," : "", row[i].name, row[i].unit, row[i].p50, row[i].p99, row[i].of);
	fprintf(f, "\n ]\n}\n");
	if (fclose(f))
		die(path);
}

int main(int argc, char **argv)
{
	unsigned long scale = 10, i;
	const char *path = NULL;
	double *samples;

	choose_cpus();
	for (i = 1; i < (unsigned long)argc; i++) {
		if (!strcmp(argv[i], "--quick")) {
			scale = 1;
		} else if (!strcmp(argv[i], "--cpus") && i + 2 < (unsigned long)argc) {
			cpu[0] = atoi(argv[++i]);
			cpu[1] = atoi(argv[++i]);
		} else {
			path = argv[i];
		}
	}
	if (!path) {
		fprintf(stderr, "remote_ring [--cpus A B] [--quick] FILE.json\n");
		return 2;
	}
	pin(cpu[0]);
	samples = calloc(scale * 100000, sizeof(*samples));
	clock_cost(samples, scale * 10000);
	round_trips("call of 32 bytes and answer, both spin", LONG_SPIN_NS, false, samples,
		    scale * 100000);
	bursts("queued frame of 96 bytes, one notify a burst", false, samples, scale * 100);
	bursts("queued frame of 96 bytes, one notify a frame", true, samples, scale * 100);
	sustained(samples, scale);
	round_trips("call and answer, both sleep, futex", 0, false, samples, scale * 2000);
	round_trips("call and answer, both sleep, socket", 0, true, samples, scale * 2000);
	printf("%-46s %10s %10s  %-10s %s\n", "", "p50", "p99", "", "samples");
	for (i = 0; i < nr_rows; i++)
		printf("%-46s %10.1f %10.1f  %-10s %lu\n", row[i].name, row[i].p50, row[i].p99,
		       row[i].unit, row[i].of);
	write_json(path);
	free(samples);
	return 0;
}
