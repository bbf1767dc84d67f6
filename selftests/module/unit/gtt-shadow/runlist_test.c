// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runlists: groups, bad counts, foreign and repeated ids, lists that do not fit; and random lists
 * against the rules of the result.
 */
#include <selftests/unit_test.h>

#include "gtt-shadow/shadow.h"

/*
 * Channels 0..99 are bound, and have the id 1000 + id on the chip. Groups 0..9 are bound, and have
 * 50 + id.
 */
static int map(void *ctx, bool tsg, u16 id)
{
	(*(u32 *)ctx)++;
	if (tsg)
		return id < 10 ? 50 + id : -1;
	return id < 100 ? 1000 + id : -1;
}

static u64 tsg(u32 id, u32 count)
{
	return id | 1u << 13 | 15u << 14 | 255u << 18 | (u64)count << 26;
}

#define HTSG(id, count, slice) ((u64)((id) | 1u << 13 | (slice) | (u32)(count) << 26))
/* 1 ms: 976 ticks of 1024 ns, written as 244 << 2 */
#define SLICE_1MS (1u << 14 << 1 | (976u >> 2) << 18)

static u32 run(const u64 *in, u32 nr, u64 *out, u32 max)
{
	u32 calls = 0;
	int n = kvgpu_shadow_runlist_build(in, nr, map, &calls, 1000, out, max);

	assert_true(n >= 0 && (u32)n <= max);
	assert_true(calls <= nr);
	return (u32)n;
}

TEST(plain)
{
	u64 in[] = { 5, 6, 200, 7, 0xfffff0000000cull << 4 & ~0x2000ull, 99 }, out[8];

	assert_int_equal(run(in, 3, out, 8), 2);
	assert_int_equal(out[0], 1005);
	assert_int_equal(out[1], 1006);
	assert_int_equal(run(in, 0, out, 8), 0);
	/* all bits that are not part of the id, but for the one that makes a group's header */
	in[0] = (5 | ~0xfffull) & ~0x2000ull;
	assert_int_equal(run(in, 1, out, 8), 1);
	assert_int_equal(out[0], 1005);
}

TEST(groups)
{
	u64 in[] = { tsg(3, 2), 1, 2, tsg(4, 1), 3, 9 }, out[8];

	assert_int_equal(run(in, 6, out, 8), 6);
	assert_int_equal(out[0], HTSG(53, 2, SLICE_1MS));
	assert_int_equal(out[1], 1001);
	assert_int_equal(out[2], 1002);
	assert_int_equal(out[3], HTSG(54, 1, SLICE_1MS));
	assert_int_equal(out[4], 1003);
	assert_int_equal(out[5], 1009);
}

TEST(members_that_are_left)
{
	u64 in[] = { tsg(3, 3), 1, 500, 2, tsg(4, 2), 600, 700, 8 }, out[8];

	assert_int_equal(run(in, 8, out, 8), 4);
	assert_int_equal(out[0], HTSG(53, 2, SLICE_1MS));
	assert_int_equal(out[3], 1008); /* group 4 has no members left, and is left out */
}

TEST(bad_counts)
{
	u64 in[] = { tsg(3, 63), 1, 2, tsg(4, 0), 5, tsg(5, 4), 6 }, out[8];

	/*
	 * The first group claims more members than there are, and ends at the next header. The
	 * second one claims none, so 5 stands alone.
	 */
	assert_int_equal(run(in, 7, out, 8), 6);
	assert_int_equal(out[0], HTSG(53, 2, SLICE_1MS));
	assert_int_equal(out[3], 1005);
	assert_int_equal(out[4], HTSG(55, 1, SLICE_1MS));
	assert_int_equal(out[5], 1006);
}

TEST(foreign_group)
{
	u64 in[] = { tsg(77, 2), 1, 2, 3 }, out[8];

	/* the members of a group that is not bound may not run outside of it */
	assert_int_equal(run(in, 4, out, 8), 1);
	assert_int_equal(out[0], 1003);
}

static int map_counted(void *ctx, bool tsg, u16 id)
{
	u32 *asked = ctx;

	asked[tsg]++;
	return tsg ? (id < 10 ? 50 + id : -1) : (id < 100 ? 1000 + id : -1);
}

/*
 * The chip has few group ids, so one is asked for only if the group has members. The members of a
 * group that gets no id do not come elsewhere in the list, either.
 */
TEST(headers_alone)
{
	u64 in[] = { tsg(1, 0), tsg(2, 3), tsg(3, 2), 500, 600, tsg(4, 1), 7, tsg(5, 1), 7 },
	    out[9];
	u64 refused[] = { tsg(77, 2), 1, 2, 1, tsg(6, 2), 2, 3 };
	u32 asked[2] = { 0 };

	assert_int_equal(kvgpu_shadow_runlist_build(in, 9, map_counted, asked, 1000, out, 9), 2);
	assert_int_equal(asked[true], 1);
	assert_int_equal(out[0], HTSG(54, 1, SLICE_1MS));
	assert_int_equal(out[1], 1007);
	assert_int_equal(run(refused, 7, out, 9), 2);
	assert_int_equal(out[0], HTSG(56, 1, SLICE_1MS));
	assert_int_equal(out[1], 1003);
}

/*
 * A channel counts only where it comes first. In the shorter list there is no room for 5, and room
 * for 6 when group 77 is dropped.
 */
TEST(first_entries_count)
{
	u64 in[] = { tsg(77, 2), 4, 5, 6, tsg(3, 2), 6, 7 }, out[9];

	assert_int_equal(run(in, 7, out, 9), 3);
	assert_int_equal(out[0], 1006);
	assert_int_equal(out[1], HTSG(53, 1, SLICE_1MS));
	assert_int_equal(out[2], 1007);
	assert_int_equal(run(in, 7, out, 2), 1);
	assert_int_equal(out[0], 1006);
}

TEST(repeated)
{
	u64 in[] = { 1, 1, tsg(3, 2), 1, 2, tsg(4, 1), 2 }, out[8];

	assert_int_equal(run(in, 7, out, 8), 3);
	assert_int_equal(out[0], 1001);
	assert_int_equal(out[1], HTSG(53, 1, SLICE_1MS));
	assert_int_equal(out[2], 1002);
}

TEST(no_room)
{
	u64 in[] = { 1, tsg(3, 3), 2, 3, 4, tsg(4, 1), 5 }, out[9];
	u32 max;

	for (max = 0; max < 8; max++) {
		memset(out, 0xa5, sizeof(out));
		run(in, 7, out, max);
		assert_int_equal(out[max], 0xa5a5a5a5a5a5a5a5ull);
	}
	assert_int_equal(run(in, 7, out, 4), 4);
	assert_int_equal(out[1], HTSG(53, 2, SLICE_1MS));
	/* room for the header alone, so the group is left out */
	assert_int_equal(run(in, 7, out, 2), 1);
}

TEST(slices)
{
	static const struct {
		u32 us;
		/*
		 * one tick, or more: the longest time that the fields hold and that is not above
		 * .us
		 */
		u64 ticks;
	} cases[] = { { 0, 1 },
		      { 1, 1 },
		      { 2, 1 },
		      { 261, 254 },
		      { 1048, 1020 },
		      { 10000, 9728 },
		      { 0xffffffff, 255 << 15 } };
	u64 in[] = { tsg(1, 1), 1 }, out[2];
	u32 i, calls = 0;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(
			kvgpu_shadow_runlist_build(in, 2, map, &calls, cases[i].us, out, 2), 2);
		assert_int_equal((out[0] >> 18 & 0xff) << (out[0] >> 14 & 15), cases[i].ticks);
	}
	kvgpu_shadow_runlist_build(in, 2, map, &calls, 0xffffffff, out, 2);
	assert_true((out[0] >> 18 & 0xff) << (out[0] >> 14 & 15) <= 0xffffffffull * 1000 / 1024);
}

TEST(random_lists)
{
	static u64 in[300], out[200];
	bool seen[100];
	u32 round, i, n, max, left;

	srand(1);
	for (round = 0; round < 20000; round++) {
		for (i = 0; i < 300; i++)
			in[i] = rand() % 4 ? (u64)(rand() % 120) : tsg(rand() % 14, rand() % 6);
		if (round % 3 == 0)
			in[rand() % 300] = (u64)rand() << 32 | rand();
		max = rand() % 200;
		n = run(in, rand() % 300, out, max);
		memset(seen, 0, sizeof(seen));
		for (i = 0, left = 0; i < n; i++) {
			if (out[i] >> 13 & 1) {
				assert_int_equal(left, 0);
				left = out[i] >> 26;
				assert_true(left > 0 && left <= 63 && i + left < n);
				assert_in_range(out[i] & 0xfff, 50, 59);
				continue;
			}
			assert_in_range(out[i], 1000, 1099);
			assert_false(seen[out[i] - 1000]);
			seen[out[i] - 1000] = true;
			left -= left ? 1 : 0;
		}
	}
}

TEST_MAIN(NULL, NULL)
