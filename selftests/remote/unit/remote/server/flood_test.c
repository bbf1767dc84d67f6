// SPDX-License-Identifier: MIT
/*
 * Frames without an end (flood.h) for the server's decoder, on a library that does nothing. The
 * address sanitizer and the library's check of handles judge. KVGPU_FLOOD=N runs N frames or a few
 * more, KVGPU_FLOOD_SEED=N uses that seed again. Prints TAP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "flood.h"

enum { REACHED_LEAST = 210 }; /* number of operations */
enum {
	SESSION = 1000,
	ENDS_LEAST_OF = 2000, /* of so many frames, one copies from or to host memory at least */
	ARENA = 1 << 16,
	FIRST = OP_current,
	OPS = KVGPU_REMOTE_OPS
};

static unsigned int below(unsigned int n)
{
	return flood_below(n);
}

static void learn(void)
{
	flood_learn(fake_payload, fake_last.bytes);
}

static void frame_step(struct server *s)
{
	unsigned int calls = fake_calls;
	struct flood_frame f;

	flood_make(&f);
	fake_frame(s, f.op, f.word, 8 * f.words);
	learn();
	if (fake_calls != calls)
		flood_reached(&f);
}

static void enter(struct server *s)
{
	if (!flood_handle(CLASS_CONTEXT) || !below(8)) {
		fake_frame(s, OP_cuCtxCreate_v2, (uint64_t[1]){ 0 }, 8);
		learn();
	}
	fake_frame(s, OP_current, (uint64_t[2]){ flood_handle(CLASS_CONTEXT), 0 }, 16);
}

static void session(uint64_t frames)
{
	static struct server s;
	uint64_t i;

	fake_begin(&s, ARENA);
	if (below(2))
		fake_share(&s);
	if (below(2))
		fake_others(&s);
	for (i = 0; i < 64; i++)
		((uint64_t *)s.arena)[below(ARENA / 8)] = flood_word();
	if (below(2))
		memcpy(s.arena, ".version 7.8\n", 14);
	flood_session(ARENA);
	enter(&s);
	for (i = 0; i < frames; i++) {
		frame_step(&s);
		if (!below(16))
			fake_busy = below(4);
		if (!below(16))
			fake_error = below(8) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
		if (!below(32) && !waits_look(&s))
			waits_give(&s);
		if (!s.current)
			enter(&s);
	}
	fake_error = CUDA_SUCCESS;
	fake_busy = 0;
	fake_end(&s);
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

int main(void)
{
	uint64_t frames = number("KVGPU_FLOOD", 200000),
		 seed = number("KVGPU_FLOOD_SEED", time(NULL) / 86400), done, calls;
	unsigned int reached;
	bool fine;

	flood_begin(seed);
	printf("1..3\n# seed %" PRIu64 "\n", seed);
	for (done = 0; done < frames; done += SESSION)
		session(SESSION);
	reached = flood_operations(&calls);
	printf("ok 1 - %" PRIu64 " frames # %" PRIu64 " of them reached the library\n", done,
	       calls);
	printf("%s 2 - operations that reached it # %u of %u\n",
	       reached >= REACHED_LEAST ? "ok" : "not ok", reached, OPS - FIRST);
	fine = fake_ends >= frames / ENDS_LEAST_OF;
	printf("%s 3 - copies with bytes of host memory # %" PRIu64 " ends\n",
	       fine ? "ok" : "not ok", fake_ends);
	return reached < REACHED_LEAST || !fine;
}
