// SPDX-License-Identifier: GPL-2.0-only
/*
 * cuda-chains [--quick] [--marks] [--list] [--as=ROW] cuda|matrix|fft|NAME...: runs chains (and
 * launches.cu, whose rows have other names and ops), and prints a line of JSON for each sample of
 * each phase: {"row": "CHAIN-PHASE", "unit": "ns", "better": "lower", "value": ns, "ops": 1},
 * PHASE: init, in, kernel, out, close, or chain for all of them together. Each sample begins and
 * ends without a context. Exit code 1: a result was wrong.
 *
 * --marks: one sample more, not among the values, that stops before and after each phase,
 * as ../../system/client/mark.h says.
 */
#include <unistd.h>

#include "chain.h"

enum phase { INIT, IN, KERNEL, OUT, CLOSE, NR_PHASES };
static const char *const phase_names[] = { "init", "in", "kernel", "out", "close" };

struct run {
	const char *name;
	bool marks;
	enum phase phase;
	double began;
	double ns[NR_PHASES];
};

double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

void mark_row(const char *name, const char *phase, const char *what, int ops)
{
	char c;

	printf("# mark %s-%s %s ops=%d\n", name, phase, what, ops);
	fflush(stdout);
	do {
		if (read(STDIN_FILENO, &c, 1) != 1) {
			puts("FAIL: nobody answered a mark");
			exit(2);
		}
	} while (c != '\n');
}

static void mark(const struct run *r, const char *phase, const char *what, int ops)
{
	if (r->marks)
		mark_row(r->name, phase, what, ops);
}

static void begin(struct run *r, enum phase p)
{
	mark(r, phase_names[p], "begin", 0);
	r->phase = p;
	r->began = now_ns();
}

static void end(struct run *r)
{
	r->ns[r->phase] = now_ns() - r->began;
	mark(r, phase_names[r->phase], "end", 1);
}

/* ------------------------------------------------------------------ the phases */

static void *host_memory(const struct job *j, size_t bytes)
{
	void *p = NULL;

	if (j->pinned)
		CHECK(cudaMallocHost(&p, bytes));
	return p;
}

static void init(const struct job *j, void **d, void **pinned)
{
	struct cudaFuncAttributes a;

	CHECK(cudaFree(NULL));		/* makes the context */
	if (j->kernel)
		CHECK(cudaFuncGetAttributes(&a, j->kernel));
	for (unsigned int i = 0; i < j->nr; i++) {
		CHECK(cudaMalloc(&d[i], j->buffer[i].bytes));
		pinned[i] = host_memory(j, j->buffer[i].bytes);
	}
	CHECK(cudaDeviceSynchronize());
}

static void in(const struct job *j, void **d, void **pinned)
{
	for (unsigned int i = 0; i < j->nr; i++)
		if (j->buffer[i].in)
			CHECK(cudaMemcpy(d[i], pinned[i] ? pinned[i] : j->buffer[i].in,
					 j->buffer[i].bytes, cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
}

static void kernel(const struct job *j, void **d)
{
	j->launch(j, d);
	CHECK_LAUNCH();
	CHECK(cudaDeviceSynchronize());
}

static void out(const struct job *j, void **d, void **pinned)
{
	for (unsigned int i = 0; i < j->nr; i++)
		if (j->buffer[i].out)
			CHECK(cudaMemcpy(pinned[i] ? pinned[i] : j->buffer[i].out, d[i],
					 j->buffer[i].bytes, cudaMemcpyDeviceToHost));
}

static void close_all(const struct job *j, void **d, void **pinned)
{
	for (unsigned int i = 0; i < j->nr; i++) {
		CHECK(cudaFree(d[i]));
		if (pinned[i])
			CHECK(cudaFreeHost(pinned[i]));
	}
	CHECK(cudaDeviceReset());
}

static bool sample(struct run *r, const struct job *j)
{
	void *d[MAX_BUFFERS], *pinned[MAX_BUFFERS];
	bool right;

	for (unsigned int i = 0; i < j->nr; i++)
		if (j->buffer[i].out)
			memset(j->buffer[i].out, 0xa5, j->buffer[i].bytes);
	begin(r, INIT);
	init(j, d, pinned);
	end(r);
	for (unsigned int i = 0; i < j->nr; i++)
		if (pinned[i])
			memcpy(pinned[i], j->buffer[i].in, j->buffer[i].bytes);
	begin(r, IN);
	in(j, d, pinned);
	end(r);
	r->ns[KERNEL] = 0;
	if (j->launch) {
		begin(r, KERNEL);
		kernel(j, d);
		end(r);
	}
	for (unsigned int i = 0; i < j->nr; i++)
		if (pinned[i])
			memset(pinned[i], 0xa5, j->buffer[i].bytes);
	begin(r, OUT);
	out(j, d, pinned);
	end(r);
	for (unsigned int i = 0; i < j->nr; i++)
		if (pinned[i])
			memcpy(j->buffer[i].out, pinned[i], j->buffer[i].bytes);
	right = j->right(j);
	begin(r, CLOSE);
	close_all(j, d, pinned);
	end(r);
	return right;
}

/* ------------------------------------------------------------------ rows */

static void print_row(const char *name, const char *phase, double ns)
{
	printf("{\"row\": \"%s-%s\", \"unit\": \"ns\", \"better\": \"lower\", \"value\": %.0f, \"ops\": 1}\n", name, phase, ns);
}

static void print_sample(const struct run *r, const struct job *j)
{
	double sum = 0;

	for (int p = 0; p < NR_PHASES; p++) {
		sum += r->ns[p];
		if (p != KERNEL || j->launch)
			print_row(r->name, phase_names[p], r->ns[p]);
	}
	print_row(r->name, "chain", sum);
	fflush(stdout);
}

static bool run_chain(const struct chain *c, const char *as, bool quick, bool marks)
{
	struct run r = { as ? as : c->name };
	int samples = quick && c->samples > 2 ? 2 : c->samples;
	struct job j = { quick ? c->quick : c->n };
	bool right = true;

	c->make(&j);
	for (int i = 0; i < samples && right; i++) {
		right = sample(&r, &j);
		if (right)
			print_sample(&r, &j);
	}
	if (right && marks) {
		r.marks = true;
		mark(&r, "chain", "begin", 0);
		right = sample(&r, &j);
		mark(&r, "chain", "end", 1);
	}
	for (unsigned int i = 0; i < j.nr; i++) {
		free(j.buffer[i].in);
		free(j.buffer[i].out);
	}
	printf("# %s: n %d, %d samples, %s\n", c->name, j.n, samples, right ? "right" : "WRONG");
	fflush(stdout);
	return right;
}

static const struct {
	const char *group;
	const struct chain *chains;
} groups[] = {
	{ "cuda", copy_chains }, { "cuda", grid_chains }, { "matrix", matrix_chains }, { "fft",
		fft_chains },
};

/* "cuda-..." is of group "cuda" in any array */
static bool in_group(const struct chain *c, const char *group, const char *wanted)
{
	if (!strcmp(wanted, c->name))
		return true;
	return !strncmp(c->name, "cuda-", 5) ? !strcmp(wanted, "cuda") : !strcmp(wanted, group);
}

int main(int argc, char **argv)
{
	bool quick = false, marks = false, list = false;
	const char *as = NULL;
	int ran = 0, wrong = 0;

	for (int i = 1; i < argc; i++) {
		quick |= !strcmp(argv[i], "--quick");
		marks |= !strcmp(argv[i], "--marks");
		list |= !strcmp(argv[i], "--list");
		if (!strncmp(argv[i], "--as=", 5))
			as = argv[i] + 5;
	}
	for (int i = 1; i < argc; i++) {
		int before = ran;

		if (argv[i][0] == '-')
			continue;
		if (!strcmp(argv[i], "cuda") || !strcmp(argv[i], "cuda-launch")) {
			if (list)
				puts("cuda-launch");
			else
				wrong += !measure_launches(quick, marks);
			ran++;
		}
		for (size_t g = 0; g < sizeof(groups) / sizeof(groups[0]); g++)
			for (const struct chain *c = groups[g].chains; c->name; c++) {
				if (!in_group(c, groups[g].group, argv[i]))
					continue;
				if (list)
					puts(c->name);
				else
					wrong += !run_chain(c, as, quick, marks);
				ran++;
			}
		if (ran == before)
			printf("FAIL: no chain or group '%s'\n", argv[i]);
		if (ran == before)
			return 2;
	}
	if (!ran) {
		fprintf(stderr, "usage: cuda-chains [--quick] [--marks] [--list] [--as=ROW] cuda|matrix|fft|NAME...\n");
		return 2;
	}
	return list ? 0 : wrong != 0;
}
