// SPDX-License-Identifier: MIT
/*
 * What one proxy says to another: nothing without the job's secret is heard, and what is accepted
 * stays inside the arena, the tunnels and their slots.
 */
#include <selftests/unit_test.h>

#include <remote/cluster/relay/note.h>

enum { VERSION = 77, ARENA = 4 << 20 };

static const uint8_t secret[SECRET_BYTES] = { 1, 2, 3, [31] = 9 };
static const struct note good = { .version = VERSION,
				  .kind = NOTE_PULL,
				  .tunnel = TUNNELS - 1,
				  .wants = TUNNELS - 1,
				  .slot = SLOTS_MAX - 1,
				  .piece = { 4096, 8192 },
				  .key = { 5, 6 },
				  .secret = { 1, 2, 3, [31] = 9 } };

#define SOUND(of, change)                                      \
	({                                                     \
		struct note n = of;                            \
                                                               \
		n.change;                                      \
		note_is_sound(&n, sizeof(n), secret, VERSION); \
	})

TEST(notes)
{
	unsigned int i;

	assert_true(note_is_sound(&good, sizeof(good), secret, VERSION));
	assert_true(SOUND(good, kind = NOTE_REFUSED));
	assert_false(note_is_sound(&good, sizeof(good) - 1, secret, VERSION));
	assert_false(SOUND(good, version = VERSION + 1));
	assert_false(SOUND(good, kind = 0));
	assert_false(SOUND(good, kind = NOTE_REFUSED + 1));
	assert_false(SOUND(good, tunnel = TUNNELS));
	assert_false(SOUND(good, wants = TUNNELS));
	assert_false(SOUND(good, wants = UINT32_MAX));
	assert_false(SOUND(good, slot = SLOTS_MAX));
	for (i = 0; i < SECRET_BYTES; i++)
		assert_false(SOUND(good, secret[i] ^= 0x80));
}

static bool in_arena(uint64_t at, uint64_t bytes)
{
	return pull_is_sound(&(struct kvgpu_remote_piece){ at, bytes }, ARENA);
}

TEST(places)
{
	assert_true(in_arena(0, 1));
	assert_true(in_arena(ARENA - KVGPU_REMOTE_RELAYED_MAX, KVGPU_REMOTE_RELAYED_MAX));
	assert_false(in_arena(0, 0));
	assert_false(in_arena(0, KVGPU_REMOTE_RELAYED_MAX + 1));
	assert_false(in_arena(ARENA - 8, 16));
	assert_false(in_arena(UINT64_MAX, 8));
	assert_false(in_arena(8, UINT64_MAX));
	/* a tunnel without an arena */
	assert_false(pull_is_sound(&(struct kvgpu_remote_piece){ 0, 1 }, 0));
}

static bool is_source(uint32_t rank, uint32_t tunnel)
{
	return source_is_sound(&(struct kvgpu_remote_source){ .rank = rank, .tunnel = tunnel }, 2,
			       4);
}

/* rank 0 is the broker, and this is rank 2 of 4 */
TEST(sources)
{
	assert_true(is_source(1, 0));
	assert_true(is_source(3, TUNNELS - 1));
	assert_false(is_source(0, 0));
	assert_false(is_source(2, 0));
	assert_false(is_source(4, 0));
	assert_false(is_source(UINT32_MAX, 0));
	assert_false(is_source(1, TUNNELS));
}

TEST(any_bytes)
{
	unsigned int i, k, sound = 0;
	struct note n;

	srandom(7);
	for (i = 0; i < 1000000; i++) {
		n = good;
		for (k = random() % 3; k; k--)
			((uint8_t *)&n)[random() % sizeof(n)] = random();
		if (!note_is_sound(&n, sizeof(n), secret, VERSION))
			continue;
		sound++;
		assert_true(n.tunnel < TUNNELS && n.wants < TUNNELS && n.slot < SLOTS_MAX);
		assert_memory_equal(n.secret, secret, sizeof(secret));
		if (pull_is_sound(&n.piece, ARENA))
			assert_true(n.piece.at < ARENA && n.piece.bytes <= ARENA - n.piece.at);
	}
	assert_true(sound > 1000);
}

TEST_MAIN(NULL, NULL)
