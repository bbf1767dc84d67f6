// SPDX-License-Identifier: MIT
/* The begin of a message from a peer: wrong bytes are refused. */
#include <selftests/unit_test.h>

#include <remote/cluster/relay/message.h>

enum { ARENA = 4 << 20 };

static const struct message apart = { .bytes = 40,
				      .before = 8,
				      .kind = PIECE_APART,
				      .chunk = 1 << 20,
				      .piece = { 4096, 3 << 20 } };
static const struct message inside = { .bytes = 40,
				       .before = 40,
				       .kind = PIECE_HERE,
				       .piece = { ARENA - 8192, 8192 } };

static const struct message pulled = { .bytes = 40,
				       .before = 40,
				       .kind = PIECE_PULL,
				       .piece = { 4096, KVGPU_REMOTE_RELAYED_MAX } };
enum { SOURCE = sizeof(struct kvgpu_remote_source) };

TEST(sound_ones)
{
	const struct message last = { .last = 1 }, full = { .bytes = MESSAGE_ROOM };

	assert_true(message_is_sound(&apart, sizeof(apart) + 40, ARENA));
	assert_true(message_is_sound(&inside, sizeof(apart) + 40 + 8192, ARENA));
	assert_true(message_is_sound(&pulled, sizeof(pulled) + 40 + SOURCE, ARENA));
	assert_true(message_is_sound(&last, sizeof(last), 0));
	assert_true(message_is_sound(&full, MESSAGE_MAX, 0));
}

#define REFUSED(of, got, change)                                \
	do {                                                    \
		struct message m = of;                          \
                                                                \
		m.change;                                       \
		assert_false(message_is_sound(&m, got, ARENA)); \
	} while (0)

TEST(others)
{
	assert_false(message_is_sound(&apart, sizeof(apart) + 39, ARENA));
	assert_false(message_is_sound(&inside, sizeof(apart) + 40 + 8191, ARENA));
	assert_false(message_is_sound(&apart, MESSAGE_MAX, 0));
	assert_false(message_is_sound(&inside, MESSAGE_MAX, 0));
	assert_false(message_is_sound(&pulled, sizeof(pulled) + 40 + SOURCE - 1, ARENA));
	assert_false(message_is_sound(&pulled, MESSAGE_MAX, 0));
	REFUSED(pulled, MESSAGE_MAX, piece.bytes = KVGPU_REMOTE_RELAYED_MAX + 1);
	REFUSED(pulled, MESSAGE_MAX, piece.bytes = 0);
	REFUSED(pulled, MESSAGE_MAX, piece.at = ARENA - 8);
	REFUSED(pulled, MESSAGE_MAX, bytes = MESSAGE_ROOM - SOURCE + 1);
	REFUSED(apart, MESSAGE_MAX, kind = PIECE_PULL + 1);
	REFUSED(apart, MESSAGE_MAX, last = 2);
	REFUSED(apart, MESSAGE_MAX, before = 41);
	REFUSED(apart, MESSAGE_MAX, bytes = MESSAGE_ROOM + 1);
	REFUSED(apart, MESSAGE_MAX, bytes = UINT32_MAX);
	REFUSED(apart, MESSAGE_MAX, chunk = CHUNK_MIN - 1);
	REFUSED(apart, MESSAGE_MAX, chunk = CHUNK_MAX + 1);
	REFUSED(apart, MESSAGE_MAX, piece.bytes = 0);
	REFUSED(apart, MESSAGE_MAX, piece.at = ARENA - 4096);
	REFUSED(apart, MESSAGE_MAX, piece.at = UINT64_MAX);
	REFUSED(inside, MESSAGE_MAX, piece.bytes = UINT64_MAX);
	REFUSED(inside, MESSAGE_MAX, bytes = MESSAGE_ROOM - 8191);
}

/*
 * Sound messages with up to three random bytes: a message that is accepted never leads out of the
 * message or the arena.
 */
TEST(any_bytes)
{
	struct message m;
	unsigned int i, k, sound = 0;
	uint8_t *at = (uint8_t *)&m;

	srandom(7);
	for (i = 0; i < 1000000; i++) {
		m = i % 3 ? i % 3 == 1 ? apart : pulled : inside;
		for (k = random() % 4; k; k--)
			at[random() % sizeof(m)] = random();
		if (!message_is_sound(&m, MESSAGE_MAX, ARENA))
			continue;
		sound++;
		assert_true(sizeof(m) + m.bytes <= MESSAGE_MAX && m.before <= m.bytes);
		if (m.kind)
			assert_true(m.piece.at < ARENA && m.piece.bytes <= ARENA - m.piece.at);
		if (m.kind == PIECE_HERE)
			assert_true(sizeof(m) + m.bytes + m.piece.bytes <= MESSAGE_MAX);
		if (m.kind == PIECE_PULL)
			assert_true(sizeof(m) + m.bytes + SOURCE <= MESSAGE_MAX &&
				    m.piece.bytes <= KVGPU_REMOTE_RELAYED_MAX);
	}
	assert_true(sound > 1000);
}

TEST_MAIN(NULL, NULL)
