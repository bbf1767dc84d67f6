// SPDX-License-Identifier: MIT
/* Frames for a server that must endure any: see flood.h. */
#include "flood.h"

enum { KEPT = 8, WORDS = FAKE_WORDS, KNOWN = 16, FIRST = OP_current, OPS = KVGPU_REMOTE_OPS };

/* for each operation: frames that reached the library */
static struct {
	unsigned int nr;
	struct flood_frame frame[KEPT];
	uint64_t reached;
} kept[OPS + 1];

/* by class: handles in the answers of this session */
static struct {
	uint64_t id[KNOWN];
	unsigned int nr;
} known[NR_CLASSES];

static uint64_t random_state, arena;

void flood_begin(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ull + 1;
	memset(kept, 0, sizeof(kept));
}

void flood_session(uint64_t arena_bytes)
{
	memset(known, 0, sizeof(known));
	arena = arena_bytes;
}

/* xorshift64* */
uint64_t flood_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545f4914f6cdd1dull;
}

unsigned int flood_below(unsigned int n)
{
	return (flood_random() >> 33) % n;
}

static unsigned int below(unsigned int n)
{
	return flood_below(n);
}

void flood_learn(const uint64_t *payload, size_t bytes)
{
	unsigned int i, class;

	for (i = 0; i < bytes / 8 && i < 8; i++) {
		class = KVGPU_REMOTE_CLASS(payload[i]);
		if (class && class < NR_CLASSES)
			known[class].id[known[class].nr++ % KNOWN] = payload[i];
	}
}

uint64_t flood_handle(unsigned int class)
{
	unsigned int n = known[class].nr;

	return n ? known[class].id[below(n < KNOWN ? n : KNOWN)] : 0;
}

uint64_t flood_word(void)
{
	uint64_t w = flood_random();

	switch (below(12)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return flood_handle(1 + below(NR_CLASSES - 1));
	case 4:
	case 5:
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
		return flood_word();
	if (class)
		return flood_handle(class);
	return below(3) ? below(3) : flood_word();
}

static void make_new(struct flood_frame *f, const struct fake_shape *shape)
{
	unsigned int i, n = shape->words;

	for (i = 0; i < n; i++)
		f->word[i] = word_of(shape->class[i]);
	if (shape->behind)
		n += below(below(4) ? 4 : WORDS - n);
	for (; i < n; i++)
		f->word[i] = shape->behind < FAKE_TEXT ? flood_handle(shape->behind) :
							 flood_random() & 0x7f;
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
	if (bytes > arena || !below(8))
		return flood_word();
	if (!below(8)) /* where it may have grown */
		return arena + flood_random() % FAKE_MORE;
	return below(2) ? arena - bytes : flood_random() % (arena - bytes + 1);
}

static void make_grow(struct flood_frame *f)
{
	f->word[0] = arena + ((uint64_t)below((FAKE_MORE >> 20) + 2) << 20);
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
	end[END_PITCH] = below(8) ? size[0] + below(2) * below(64) : flood_word();
	end[END_HEIGHT] = below(8) ? size[1] + below(2) * below(4) : flood_word();
	end[END_CONTEXT] = below(2) ? flood_handle(CLASS_CONTEXT) : 0;
	if (host) {
		end[END_TYPE] = CU_MEMORYTYPE_HOST;
		end[END_WHERE] = place_for(bytes_of(end, size));
	} else if (below(4)) {
		end[END_TYPE] = CU_MEMORYTYPE_DEVICE;
		end[END_WHERE] = 1 << 20;
	} else {
		end[END_TYPE] = CU_MEMORYTYPE_ARRAY;
		end[END_WHERE] = flood_handle(CLASS_ARRAY);
	}
}

static void make_ends(uint64_t *src, uint64_t *dst, uint64_t *size)
{
	unsigned int host = 1 + below(3);

	make_size(size);
	make_end(src, size, host & 1);
	make_end(dst, size, host & 2);
}

static void make_box(struct flood_frame *f)
{
	struct q_box q = { .stream = below(2) ? flood_handle(CLASS_STREAM) : 0,
			   .form = below(NR_FORMS) | (below(2) ? FORM_ASYNC : 0) };

	make_ends(q.src, q.dst, q.size);
	memcpy(f->word, &q, f->words * 8);
}

static void make_run(struct flood_frame *f)
{
	struct q_run q = { .bytes = below(256),
			   .stream = flood_handle(CLASS_STREAM),
			   .what = below(2) ? RUN_IN_TO_ARRAY : RUN_ARRAY_TO_OUT };
	uint64_t *host = q.what == RUN_IN_TO_ARRAY ? &q.src : &q.dst,
		 *array = q.what == RUN_IN_TO_ARRAY ? &q.dst : &q.src;

	*host = place_for(q.bytes);
	*array = flood_handle(CLASS_ARRAY);
	memcpy(f->word, &q, f->words * 8);
}

/* one line, of or to the device memory at 1 << 20 */
static void make_in(struct flood_frame *f)
{
	struct q_copy_in q = { .dst = (1 << 20) + below(256),
			       .stream = below(2) ? flood_handle(CLASS_STREAM) : 0,
			       .bytes = 1 + below(below(2) ? 64 : 16384),
			       .flags = below(4) };

	q.at = place_for(q.bytes);
	memcpy(f->word, &q, f->words * 8);
}

static void make_out(struct flood_frame *f)
{
	struct q_copy_out q = { .src = (1 << 20) + 4 * below(64),
				.stream = below(2) ? flood_handle(CLASS_STREAM) : 0,
				.at = KVGPU_REMOTE_NOWHERE,
				.bytes = below(2) ? 4 * (1 + below(16)) : 1 + below(16384),
				.flags = below(4) };

	if (below(2))
		q.at = place_for(q.bytes);
	memcpy(f->word, &q, f->words * 8);
}

static void make_copy_node(struct flood_frame *f)
{
	struct q_copy_node q = { .graph = flood_handle(CLASS_GRAPH),
				 .node = below(2) ? flood_handle(CLASS_NODE) : 0,
				 .exec = below(4) ? 0 : flood_handle(CLASS_EXEC),
				 .ctx = flood_handle(CLASS_CONTEXT),
				 .captured = !below(8) };

	make_ends(q.src, q.dst, q.size);
	q.src[END_CONTEXT] = q.dst[END_CONTEXT] = 0;
	q.src[END_BOUNCE] = below(2) * below(16);
	q.dst[END_BOUNCE] = below(2) * below(16);
	q.mine[0] = below(4);
	q.mine[3] = below(4);
	memcpy(f->word, &q, f->words * 8);
}

/* False: frames of @op have no end in host memory, and are not about its size. */
static bool make_copy(struct flood_frame *f, unsigned int op)
{
	memset(f, 0, sizeof(*f));
	f->words = fake_shapes[op].words;
	if (op == OP_box)
		make_box(f);
	else if (op == OP_run)
		make_run(f);
	else if (op == OP_copy_in)
		make_in(f);
	else if (op == OP_copy_out)
		make_out(f);
	else if (op == OP_copy_node)
		make_copy_node(f);
	else if (op == OP_grow)
		make_grow(f);
	else
		return false;
	return true;
}

/* ------------------------------------------------------------------ */

/* A good frame with up to four words replaced, and sometimes with another length. */
static void make_of(struct flood_frame *f, const struct flood_frame *good)
{
	unsigned int n = below(5);

	*f = *good;
	while (n-- && f->words)
		f->word[below(f->words)] = flood_word();
	if (!below(16)) {
		n = below(WORDS);
		if (n > f->words)
			memset(f->word + f->words, 0, 8 * (n - f->words));
		f->words = n;
	}
}

void flood_make_of(struct flood_frame *f, unsigned int op)
{
	if (below(2) && make_copy(f, op))
		;
	else if (kept[op].nr && below(8))
		make_of(f, &kept[op].frame[below(kept[op].nr < KEPT ? kept[op].nr : KEPT)]);
	else
		make_new(f, &fake_shapes[op]);
	f->op = op;
}

void flood_make(struct flood_frame *f)
{
	flood_make_of(f, below(OPS + 1));
}

void flood_reached(const struct flood_frame *f)
{
	kept[f->op].reached++;
	if (kept[f->op].nr < KEPT || !below(64))
		kept[f->op].frame[kept[f->op].nr++ % KEPT] = *f;
}

unsigned int flood_operations(uint64_t *frames)
{
	unsigned int op, n = 0;

	*frames = 0;
	for (op = 0; op < OPS; op++) {
		*frames += kept[op].reached;
		n += kept[op].reached > 0;
	}
	return n;
}
