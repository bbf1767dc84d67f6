// SPDX-License-Identifier: GPL-2.0-only
/* Blocks that liblz4 makes, whole, cut off and damaged; liblz4 is the judge. */
#include <selftests/unit_test.h>

#include <lz4.h>
#include <lz4hc.h>

#include "cuda/api/lz4.h"

enum { MOST = 1 << 17, ROUNDS = 400, DAMAGES = 100 };

static uint32_t seed = 1;

static uint32_t any(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (uint64_t)seed * n >> 32;
}

/* runs of new bytes, and of bytes that came before, near and far */
static void make_text(uint8_t *to, size_t n)
{
	size_t at = 0, run, back;

	while (at < n) {
		run = any(any(8) ? 40 : 1000) + 1;
		back = at && any(2) ? any(any(2) || at < 70 ? (at < 70 ? at : 70) : at) + 1 : 0;
		for (; run-- && at < n; at++)
			to[at] = back ? to[at - back] : any(256);
	}
}

/* in blocks of their own, so that the sanitizer sees what is read or written beyond */
static bool unpacks(const char *packed, size_t n, uint8_t *to, size_t bytes)
{
	uint8_t *from = malloc(n), *exact = malloc(bytes);
	bool is;

	memcpy(from, packed, n);
	is = lz4_unpack(from, n, exact, bytes);
	memcpy(to, exact, is ? bytes : 0);
	free(from);
	free(exact);
	return is;
}

TEST(what_liblz4_packs)
{
	uint8_t *text = malloc(MOST), *back = malloc(MOST), *theirs = malloc(MOST);
	const int room = LZ4_compressBound(MOST);
	char *packed = malloc(room);
	int i, k, n, bytes, refused = 0;
	bool is;

	for (i = 0; i < ROUNDS; i++) {
		bytes = any(i % 8 ? 3000 : MOST) + 1;
		make_text(text, bytes);
		n = i & 1 ? LZ4_compress_default((char *)text, packed, bytes, room) :
			    LZ4_compress_HC((char *)text, packed, bytes, room, 9);
		assert_true(unpacks(packed, n, back, bytes));
		assert_memory_equal(back, text, bytes);
		/* it tells no length of its own */
		assert_false(unpacks(packed, n, back, bytes + 1));
		assert_false(unpacks(packed, n, back, bytes - 1));
		assert_false(unpacks(packed, any(n), back, bytes));
		for (k = 0; k < DAMAGES && bytes < 3000; k++) {
			packed[any(n)] ^= 1 << any(8);
			is = unpacks(packed, n, back, bytes);
			refused += !is;
			/* it takes less: the end of a block has rules for who packs */
			if (LZ4_decompress_safe(packed, (char *)theirs, n, bytes) == bytes) {
				assert_true(is);
				assert_memory_equal(back, theirs, bytes);
			}
		}
	}
	assert_true(refused > ROUNDS * DAMAGES / 4);
	free(text);
	free(back);
	free(theirs);
	free(packed);
}

TEST(small_blocks)
{
	static const struct {
		const char *block;
		size_t n, bytes;
		const char *text; /* NULL: it is none */
	} cases[] = {
		{ "\060abc", 4, 3, "abc" },
		{ "\000", 1, 0, "" },
		{ "", 0, 0, NULL },
		/* a match that repeats a byte, and one that repeats two */
		{ "\021a\001\000\020b", 6, 7, "aaaaaab" },
		{ "\041ab\002\000\020c", 7, 8, "abababac" },
		/* matches from before the begin, and from nowhere */
		{ "\021a\002\000\020b", 6, 7, NULL },
		{ "\021a\000\000\020b", 6, 7, NULL },
		/* it ends in a match, in an offset, in a length */
		{ "\021a\001\000", 4, 6, NULL },
		{ "\021a\001", 3, 6, NULL },
		{ "\360\377", 2, 300, NULL },
		/* literals that are not there */
		{ "\100abc", 4, 4, NULL },
	};
	uint8_t text[512];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(unpacks(cases[i].block, cases[i].n, text, cases[i].bytes),
				 !!cases[i].text);
		if (cases[i].text)
			assert_memory_equal(text, cases[i].text, cases[i].bytes);
	}
}

TEST_MAIN(NULL, NULL)
