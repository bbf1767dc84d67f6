// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every order of both sides' accesses, for rings of 2 to 8 slots and few frames. No frame is lost,
 * torn or stuck, whether both sides live, or one or both crash at any step. model/machine.h
 * describes the machine.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include "model/machine.h"

static void explore_all(const struct plan *plans, size_t nr)
{
	struct search s;
	size_t i;

	for (i = 0; i < nr; i++) {
		search(&plans[i], &s);
		if (getenv("KVGPU_SHOW"))
			printf("# %s: %lu states, %lu steps, %lu ends\n", plans[i].name, s.states,
			       s.steps, s.ends);
		if (s.finding != FINE)
			fail_msg("%s: finding %d after %s", plans[i].name, s.finding, s.path);
		assert_true(s.ends);
	}
}

#define EXPLORE(...)                                                  \
	do {                                                          \
		const struct plan plans[] = { __VA_ARGS__ };          \
		explore_all(plans, sizeof(plans) / sizeof(plans[0])); \
	} while (0)

TEST(frames_arrive_whole)
{
	EXPLORE({ .name = "4 in a ring of 2", .slots = 2, .nr_frames = 4, .len = { 8, 0, 48, 9 } },
		{ .name = "2 slots in a ring of 4",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 56, 104, 49, 104 } },
		{ .name = "1, 3, 2, 3 slots in a ring of 8",
		  .slots = 8,
		  .nr_frames = 4,
		  .len = { 1, 160, 100, 160 } },
		{ .name = "a ring of 2, in one go",
		  .slots = 2,
		  .nr_frames = 4,
		  .len = { 8, 0, 48, 9 },
		  .in_one_go = true },
		{ .name = "a ring of 4, in one go",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 56, 3, 104, 4 },
		  .in_one_go = true },
		{ .name = "a ring of 8, in one go",
		  .slots = 8,
		  .nr_frames = 4,
		  .len = { 100, 160, 5, 160 },
		  .in_one_go = true },
		{ .name = "weak, a ring of 2",
		  .slots = 2,
		  .nr_frames = 4,
		  .len = { 8, 0, 48, 9 },
		  .order = WEAK },
		{ .name = "weak, a ring of 4",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 56, 104, 49, 104 },
		  .order = WEAK },
		{ .name = "weak, a ring of 4, in one go",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 56, 8, 104, 1 },
		  .order = WEAK,
		  .in_one_go = true },
		{ .name = "weak, a ring of 8",
		  .slots = 8,
		  .nr_frames = 3,
		  .len = { 160, 100, 160 },
		  .order = WEAK }, );
}

TEST(sleepers_are_woken)
{
	EXPLORE({ .name = "socket",
		  .slots = 2,
		  .nr_frames = 4,
		  .len = { 8, 9, 10, 11 },
		  .carrier = SOCKET },
		{ .name = "socket, in one go",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 56, 3, 104, 4 },
		  .carrier = SOCKET,
		  .in_one_go = true },
		{
			.name = "early",
			.slots = 2,
			.nr_frames = 4,
			.len = { 8, 9, 10, 11 },
			.early = 2,
		},
		{ .name = "socket, early",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 9, 10 },
		  .carrier = SOCKET,
		  .early = 2 },
		{ .name = "weak, early",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 9, 10 },
		  .order = WEAK,
		  .early = 2 }, );
}

TEST(answers_arrive)
{
	EXPLORE({ .name = "4 answers",
		  .slots = 2,
		  .nr_frames = 4,
		  .len = { 8, 0, 48, 1 },
		  .asks = true },
		{ .name = "calls of 2 slots",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 100, 1, 64, 104 },
		  .asks = true },
		{ .name = "by socket",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 0, 48 },
		  .asks = true,
		  .carrier = SOCKET },
		{ .name = "early",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 0, 48 },
		  .asks = true,
		  .early = 2 },
		{ .name = "weak",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 48, 0 },
		  .asks = true,
		  .order = WEAK,
		  .early = 1 }, );
}

TEST(crashes_end)
{
	EXPLORE({ .name = "told",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 100, 1, 64, 2 },
		  .crashes = 1 },
		{ .name = "told by a socket",
		  .slots = 2,
		  .nr_frames = 4,
		  .len = { 8, 9, 10, 11 },
		  .crashes = 1,
		  .carrier = SOCKET },
		{ .name = "told, answers",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 9, 10 },
		  .asks = true,
		  .crashes = 1 },
		{ .name = "not told",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 100, 1, 64, 2 },
		  .crashes = 1,
		  .after_crash = TIME_OUT },
		{ .name = "not told, answers",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 9, 10 },
		  .asks = true,
		  .crashes = 1,
		  .after_crash = TIME_OUT },
		{ .name = "told, in one go",
		  .slots = 4,
		  .nr_frames = 4,
		  .len = { 64, 64, 64, 64 },
		  .crashes = 1,
		  .in_one_go = true },
		{ .name = "both, told",
		  .slots = 2,
		  .nr_frames = 3,
		  .len = { 8, 9, 10 },
		  .crashes = 2 },
		{ .name = "weak",
		  .slots = 4,
		  .nr_frames = 3,
		  .len = { 64, 9, 64 },
		  .crashes = 1,
		  .order = WEAK,
		  .early = 1 },
		{ .name = "weak, answers",
		  .slots = 4,
		  .nr_frames = 2,
		  .len = { 64, 9 },
		  .asks = true,
		  .crashes = 1,
		  .order = WEAK,
		  .early = 1 }, );
}

/* clang-format off */
TEST(wrong_rooms_are_noticed)
{
	static const struct {
		struct plan plan;
		enum finding want;
	} c[] = {
		{ { .name = "no fence, asleep", .wrong = NO_FENCE_ASLEEP, .slots = 2,
			.nr_frames = 1, .len = { 8 } }, STUCK },
		{ { .name = "no fence, ringing", .wrong = NO_FENCE_RINGING, .slots = 2,
			.nr_frames = 1, .len = { 8 } }, STUCK },
		{ { .name = "socket, no fence, asleep", .wrong = NO_FENCE_ASLEEP, .slots = 2,
			.nr_frames = 1, .len = { 8 },
		    .carrier = SOCKET }, STUCK },
		{ { .name = "socket, no fence, ringing", .wrong = NO_FENCE_RINGING, .slots = 2,
			.nr_frames = 1, .len = { 8 },
		    .carrier = SOCKET }, STUCK },
		{ { .name = "no recheck", .wrong = NO_RECHECK, .slots = 2, .nr_frames = 1,
			.len = { 8 } }, STUCK },
		{ { .name = "word not cleared", .wrong = NO_CLEAR, .slots = 2, .nr_frames = 1,
			.len = { 8 } }, STUCK },
		{ { .name = "publishes before", .wrong = NO_RELEASE, .slots = 2, .nr_frames = 1,
			.len = { 8 }, .order = WEAK },
		  CORRUPT },
		{ { .name = "publishes before 2", .wrong = NO_RELEASE, .slots = 4, .nr_frames = 1,
			.len = { 64 }, .order = WEAK },
		  CORRUPT },
	};
	struct search s;
	size_t i;

	for (i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		search(&c[i].plan, &s);
		if (getenv("KVGPU_SHOW"))
			printf("# %s: %d by %s\n", c[i].plan.name, s.finding, s.path);
		if (s.finding != c[i].want)
			fail_msg("%s: finding %d, not %d", c[i].plan.name, s.finding, c[i].want);
	}
}
/* clang-format on */

TEST_MAIN(NULL, NULL)
