/* SPDX-License-Identifier: GPL-2.0-only */
/* The subtests of kvgpu-client. Each prints its own TAP lines. */
#ifndef KVGPU_SELFTESTS_CLIENT_H
#define KVGPU_SELFTESTS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "gpu.h"

struct client_options {
	const char *node;
	uint64_t seed;
	uint64_t bytes; /* copied in all by "copy" */
	unsigned int seconds; /* 0: the subtest's own measure */
	/* a file: its being there ends "busy", "latency" and "acquire"; NULL: none */
	const char *until;
	bool quick;
	bool self_test; /* damage one expected byte per round: every round must notice */
	int runlists; /* as told by --runlists: 1, or 2 for several; 0: not told */
	bool marks; /* measured stretches wait for an answer at their ends: mark.h */
};

void test_copy(const struct client_options *o);
void test_tiled(const struct client_options *o);
void test_sync(const struct client_options *o);
void test_sleep(const struct client_options *o);
void test_channels(const struct client_options *o);
void test_groups(const struct client_options *o);
void test_cycles(const struct client_options *o);
void test_fault(const struct client_options *o);
void test_classes(const struct client_options *o);
void test_inline(const struct client_options *o);
void test_compute(const struct client_options *o);
void test_switch(const struct client_options *o);
void test_exec(const struct client_options *o);
void test_stress(const struct client_options *o);
void test_steady(const struct client_options *o);
void test_wakeups(const struct client_options *o);
void test_mapcost(const struct client_options *o);
void test_bandwidth(const struct client_options *o);
void test_busy(const struct client_options *o);
void test_latency(const struct client_options *o);
void test_endless(const struct client_options *o);
void test_halt(const struct client_options *o);
void test_acquire(const struct client_options *o);

/* "bench": measures the rows that are named, a line of JSON for each sample; the exit code */
int client_bench(const struct client_options *o, char **names, int nr);

/* o->seconds (or @otherwise) have passed since @start (us), or o->until is there */
bool time_is_over(const struct client_options *o, unsigned int otherwise, uint64_t start);

/* a stream of verified copies of one channel */
struct stream {
	struct gpu_chan c;
	struct nouveau_bo *host, *vram; /* host: source in the first half, result in the second */
	uint64_t rounds;
	uint64_t seed;
	uint32_t len;
};

/* Makes the channel and the buffers. A failure ends the program. */
void stream_open(struct stream *s, struct gpu *g, enum gpu_engine engine, uint32_t len,
		 uint64_t seed);
/* Close a stream before its session. */
void stream_close(struct stream *s);
/*
 * Begins a round: call it again only after stream_check(), because it overwrites the buffer.
 * 0 or -errno of the submission; another failure ends the program.
 */
int stream_kick(struct stream *s);
/* Waits for the round. 0, -errno, or -EILSEQ when what came back is not what was sent */
int stream_check(struct stream *s, unsigned int timeout_ms);

#endif
