// SPDX-License-Identifier: MIT
/*
 * Frames without an end for the server's decoder, on a library that does nothing. A frame is made
 * new, or is one that reached the library before, with some words replaced. Chance makes hardly any
 * copy with bytes of host memory, so these are made on purpose. The address sanitizer and the
 * library's check of handles judge. KVGPU_FLOOD=N runs N frames or a few more,
 * KVGPU_FLOOD_SEED=N uses that seed again. Prints TAP.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fake.h"

enum { REACHED_LEAST = 210 };	/* number of operations */
enum {
	SESSION = 1000,
	KEPT = 8,
	WORDS = FAKE_WORDS,
	KNOWN = 16,
	ENDS_LEAST_OF = 2000,	/* of so many frames, one copies from or to host memory at least */
	ARENA = 1 << 16,
	FIRST = OP_current,
	OPS = KVGPU_REMOTE_OPS
};

struct frame {
	unsigned int words;
	uint64_t word[WORDS];
};

/* for each operation: frames that reached the library */
static struct {
	unsigned int nr;
	struct frame frame[KEPT];
	uint64_t reached;
} kept[OPS + 1];

/* by class: handles in the answers of this session */
static struct {
	uint64_t id[KNOWN];
	unsigned int nr;
} known[NR_CLASSES];

static uint64_t random_state;

/* xorshift64* */
static uint64_t random_word(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

static unsigned int below(unsigned int n) { return (random_word() >> 33) % n; }

static void learn(void)
{
	unsigned int i, class;

	for (i = 0; i < fake_last.bytes / 8 && i < 8; i++) {
		class = KVGPU_REMOTE_CLASS(fake_payload[i]);
		if (class && class < NR_CLASSES)
			known[class].id[known[class].nr++ % KNOWN] = fake_payload[i];
	}
}

/* Returns a handle of the class, or 0 if there was none. */
static uint64_t some_handle(unsigned int class)
{
	unsigned int n = known[class].nr;

	return n ? known[class].id[below(n < KNOWN ? n : KNOWN)] : 0;
}

static uint64_t some_word(void)
{
	uint64_t w = random_word();

	switch (below(12)) {
	case 0: case 1: case 2: case 3:
		return some_handle(1 + below(NR_CLASSES - 1));
	case 4: case 5:
		return below(8);
	case 6:
		return below(256);
	case 7:
		return (uint64_t)below(17) << 12;
	case 8:
		return 1ull << below(64);
	case 9:
		return ~(uint64_t)below(16);
	case 10:
		return (w & 0xff) << 32 | below(64);
	default:
		return w;
	}
}

/*
 * Returns a word for the struct: mostly a handle of @class, or a small number if that is
 * CLASS_NONE; sometimes anything.
 */
static uint64_t word_of(unsigned int class)
{
	if (!below(12))
		return some_word();
	if (class)
		return some_handle(class);
	return below(3) ? below(3) : some_word();
}

static void make_new(struct frame *f, const struct fake_shape *shape)
{
	unsigned int i, n = shape->words;

	for (i = 0; i < n; i++)
		f->word[i] = word_of(shape->class[i]);
	if (shape->behind)
		n += below(below(4) ? 4 : WORDS - n);
	for (; i < n; i++)
		f->word[i] = shape->behind < FAKE_TEXT ? some_handle(shape->behind) :
							 random_word() & 0x7f;
	/* usually the struct tells how many bytes follow it */
	if (n > shape->words && shape->words && below(4))
		f->word[below(shape->words)] = (uint64_t)(8 * (n - shape->words) - below(8))
					       << 32 * below(2);
	if (!below(16))
		n = below(WORDS);
	for (; i < n; i++)
		f->word[i] = 0;
	f->words = n;
}

/* ----------------------------------------------------------- copies from and to host memory */

/* A place in the arena for @bytes, often the last one. */
static uint64_t place_for(uint64_t bytes)
{
	if (bytes > ARENA || !below(8))
		return some_word();
	return below(2) ? ARENA - bytes : below(ARENA - bytes + 1);
}

static void make_size(uint64_t *size)
{
	size[0] = below(8) ? 1 + below(256) : 0;
	size[1] = below(8) ? 1 + below(4) : 0;
	size[2] = below(8) ? 1 + below(2) * below(4) : 0;
}

static uint64_t bytes_of(const uint64_t *end, const uint64_t *size)
{
	uint64_t lines = end[END_HEIGHT] * (size[2] - 1) + size[1] - 1;

	return size[0] && size[1] && size[2] ? end[END_PITCH] * lines + size[0] : 0;
}

static void make_end(uint64_t *end, const uint64_t *size, bool host)
{
	end[END_PITCH] = below(8) ? size[0] + below(2) * below(64) : some_word();
	end[END_HEIGHT] = below(8) ? size[1] + below(2) * below(4) : some_word();
	end[END_CONTEXT] = below(2) ? some_handle(CLASS_CONTEXT) : 0;
	if (host) {
		end[END_TYPE] = CU_MEMORYTYPE_HOST;
		end[END_WHERE] = place_for(bytes_of(end, size));
	} else if (below(4)) {
		end[END_TYPE] = CU_MEMORYTYPE_DEVICE;
		end[END_WHERE] = 1 << 20;
	} else {
		end[END_TYPE] = CU_MEMORYTYPE_ARRAY;
		end[END_WHERE] = some_handle(CLASS_ARRAY);
	}
}

static void make_ends(uint64_t *src, uint64_t *dst, uint64_t *size)
{
	unsigned int host = 1 + below(3);

	make_size(size);
	make_end(src, size, host & 1);
	make_end(dst, size, host & 2);
}

static void make_box(struct frame *f)
{
	struct q_box q = { .stream = below(2) ? some_handle(CLASS_STREAM) : 0,
			   .form = below(NR_FORMS) | (below(2) ? FORM_ASYNC : 0) };

	make_ends(q.src, q.dst, q.size);
	memcpy(f->word, &q, f->words * 8);
}

static void make_run(struct frame *f)
{
	struct q_run q = { .bytes = below(256), .stream = some_handle(CLASS_STREAM),
			   .what = below(2) ? RUN_IN_TO_ARRAY : RUN_ARRAY_TO_OUT };
	uint64_t *host = q.what == RUN_IN_TO_ARRAY ? &q.src : &q.dst,
		 *array = q.what == RUN_IN_TO_ARRAY ? &q.dst : &q.src;

	*host = place_for(q.bytes);
	*array = some_handle(CLASS_ARRAY);
	memcpy(f->word, &q, f->words * 8);
}

static void make_copy_node(struct frame *f)
{
	struct q_copy_node q = { .graph = some_handle(CLASS_GRAPH),
				 .node = below(2) ? some_handle(CLASS_NODE) : 0,
				 .exec = below(4) ? 0 : some_handle(CLASS_EXEC),
				 .ctx = some_handle(CLASS_CONTEXT),
				 .captured = !below(8) };

	make_ends(q.src, q.dst, q.size);
	q.src[END_CONTEXT] = q.dst[END_CONTEXT] = 0;
	q.src[END_FERRY] = below(2) * below(16);
	q.dst[END_FERRY] = below(2) * below(16);
	q.mine[0] = below(4);
	q.mine[3] = below(4);
	memcpy(f->word, &q, f->words * 8);
}

/* False: frames of @op have no such end. */
static bool make_copy(struct frame *f, unsigned int op)
{
	memset(f, 0, sizeof(*f));
	f->words = fake_shapes[op].words;
	if (op == OP_box)
		make_box(f);
	else if (op == OP_run)
		make_run(f);
	else if (op == OP_copy_node)
		make_copy_node(f);
	else
		return false;
	return true;
}

/* ------------------------------------------------------------------ */

/* A good frame with up to four words replaced, and sometimes with another length. */
static void make_of(struct frame *f, const struct frame *good)
{
	unsigned int n = below(5);

	*f = *good;
	while (n-- && f->words)
		f->word[below(f->words)] = some_word();
	if (!below(16)) {
		n = below(WORDS);
		if (n > f->words)
			memset(f->word + f->words, 0, 8 * (n - f->words));
		f->words = n;
	}
}

static void frame_step(struct server *s)
{
	unsigned int op = below(OPS + 1), calls = fake_calls;
	struct frame f;

	if (below(2) && make_copy(&f, op))
		;
	else if (kept[op].nr && below(8))
		make_of(&f, &kept[op].frame[below(kept[op].nr < KEPT ? kept[op].nr : KEPT)]);
	else
		make_new(&f, &fake_shapes[op]);
	fake_frame(s, op, f.word, 8 * f.words);
	learn();
	if (fake_calls == calls)
		return;
	kept[op].reached++;
	if (kept[op].nr < KEPT || !below(64))
		kept[op].frame[kept[op].nr++ % KEPT] = f;
}

static void enter(struct server *s)
{
	if (!known[CLASS_CONTEXT].nr || !below(8)) {
		fake_frame(s, OP_cuCtxCreate_v2, (uint64_t [1]){ 0 }, 8);
		learn();
	}
	fake_frame(s, OP_current, (uint64_t [2]){ some_handle(CLASS_CONTEXT), 0 }, 16);
}

static void session(uint64_t frames)
{
	static struct server s;
	uint64_t i;

	fake_begin(&s, ARENA);
	if (below(2))
		fake_share(&s);
	for (i = 0; i < 64; i++)
		((uint64_t *)s.arena)[below(ARENA / 8)] = some_word();
	if (below(2))
		memcpy(s.arena, ".version 7.8\n", 14);
	memset(known, 0, sizeof(known));
	enter(&s);
	for (i = 0; i < frames; i++) {
		frame_step(&s);
		if (!below(16))
			fake_busy = below(4);
		if (!below(16))
			fake_error = below(8) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
		if (!below(32))
			waits_look(&s);
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
		 seed = number("KVGPU_FLOOD_SEED", time(NULL) / 86400), done, calls = 0;
	unsigned int op, reached = 0;
	bool fine;

	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	printf("1..3\n# seed %" PRIu64 "\n", seed);
	for (done = 0; done < frames; done += SESSION)
		session(SESSION);
	for (op = 0; op < OPS; op++) {
		calls += kept[op].reached;
		reached += kept[op].reached > 0;
	}
	printf("ok 1 - %" PRIu64 " frames # %" PRIu64 " of them reached the library\n", done,
	       calls);
	printf("%s 2 - operations that reached it # %u of %u\n", reached >= REACHED_LEAST ? "ok" : "not ok", reached, OPS - FIRST);
	fine = fake_ends >= frames / ENDS_LEAST_OF;
	printf("%s 3 - copies with bytes of host memory # %" PRIu64 " ends\n", fine ? "ok" : "not ok",
	       fake_ends);
	return reached < REACHED_LEAST || !fine;
}
