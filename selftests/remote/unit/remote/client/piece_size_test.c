// SPDX-License-Identifier: MIT
/* Into which pieces a copy by way of a relay is cut. */
#include <selftests/unit_test.h>

#include <remote/client/piece_size.h>

static const struct kvgpu_remote_relayed relay = { .piece = 1 << 20, .overhead = 64 << 10 };

/*
 * The time of a copy, as the number of bytes that cross in that time. There are three steps, each
 * of which takes a piece as a whole, and each piece costs @overhead.
 */
static double takes(uint64_t bytes, uint64_t piece, uint64_t overhead)
{
	double n = (double)((bytes + piece - 1) / piece);

	return bytes * (1 + 2 / n) + n * overhead;
}

TEST(small_ones_are_whole)
{
	uint64_t bytes;

	for (bytes = 1; bytes <= relay.overhead; bytes += 997)
		assert_true(piece_size(&relay, bytes) >= bytes);
}

/* a relay that says so gets each copy as one piece, as far as a piece goes */
TEST(without_pipelining_all_are_whole)
{
	const struct kvgpu_remote_relayed whole = { .piece = 1u << 31,
						    .overhead = KVGPU_REMOTE_OVERHEAD_WHOLE };
	uint64_t bytes;

	for (bytes = 1; bytes <= whole.piece; bytes *= 2)
		assert_true(piece_size(&whole, bytes) >= bytes);
	assert_int_equal(piece_size(&whole, 1ull << 40), whole.piece);
}

TEST(large_ones_fill_the_buffers)
{
	assert_int_equal(piece_size(&relay, 1ull << 40), relay.piece);
	assert_int_equal(piece_size(&relay, 64 << 20), relay.piece);
}

/* For a copy of two turns and more, the time is at most 1.2 times that of the best power of two. */
TEST(near_the_best)
{
	static const uint32_t turns[] = { 16 << 10, 64 << 10, 1 << 20 };
	struct kvgpu_remote_relayed r = relay;
	uint64_t bytes, piece, cut;
	double best;
	unsigned int i;

	for (i = 0; i < 3; i++)
		for (bytes = 2 * turns[i]; bytes <= 1ull << 28; bytes = bytes * 5 / 4) {
			r.overhead = turns[i];
			best = takes(bytes, r.piece, r.overhead);
			for (piece = PIECE_LEAST; piece < r.piece; piece *= 2)
				if (takes(bytes, piece, r.overhead) < best)
					best = takes(bytes, piece, r.overhead);
			cut = piece_size(&r, bytes);
			assert_true(cut <= r.piece && cut >= PIECE_LEAST && !(cut & (cut - 1)));
			assert_true(takes(bytes, cut, r.overhead) <= 1.2 * best);
		}
}

TEST(no_turn_at_all)
{
	const struct kvgpu_remote_relayed r = { .piece = 64 << 10, .overhead = 0 },
					  most = { .piece = 64 << 10, .overhead = UINT32_MAX };

	assert_int_equal(piece_size(&r, 1 << 20), PIECE_LEAST);
	assert_int_equal(piece_size(&most, UINT64_MAX), 64 << 10);
	assert_int_equal(piece_size(&most, 1 << 20), 64 << 10);
}

TEST_MAIN(NULL, NULL)
