/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chain is a whole use of the GPU, in phases: init (context, code, memory), in, kernel, out,
 * close. main.cu runs it and takes the times.
 */
#ifndef KVGPU_SELFTESTS_CUDA_CHAIN_H
#define KVGPU_SELFTESTS_CUDA_CHAIN_H

#include "../programs/check.h"

enum { MAX_BUFFERS = 4 };

struct buffer {
	size_t bytes;
	void *in; /* copied there first; NULL: nothing. Ours to free */
	void *out; /* copied to in the end; NULL: nothing */
};

struct job {
	int n; /* in the chain's own terms */
	unsigned int nr;
	struct buffer buffer[MAX_BUFFERS];
	bool pinned; /* host memory of the copies is pinned */
	const void *kernel; /* whose code is loaded in init; NULL: none */
	/* @d: the buffers on the GPU. NULL: only copies */
	void (*launch)(const struct job *j, void **d);
	bool (*right)(const struct job *j);
};

struct chain {
	const char *name; /* of the rows */
	int n, quick, samples;
	void (*make)(struct job *j); /* j->n is set */
};

/* end with a NULL name */
extern const struct chain matrix_chains[], copy_chains[], grid_chains[], fft_chains[];

/* main.cu: "# mark NAME-PHASE WHAT ops=N", then waits for a line */
void mark_row(const char *name, const char *phase, const char *what, int ops);
double now_ns(void);

/* launches.cu; false: a result was wrong */
bool measure_launches(bool quick, bool marks);

/* in and out as asked for, of malloc() */
static inline struct buffer *add_buffer(struct job *j, size_t bytes, bool in, bool out)
{
	struct buffer *b = &j->buffer[j->nr++];

	b->bytes = bytes;
	b->in = in ? malloc(bytes) : NULL;
	b->out = out ? malloc(bytes) : NULL;
	if ((in && !b->in) || (out && !b->out)) {
		puts("FAIL: no memory");
		exit(2);
	}
	return b;
}

#endif
