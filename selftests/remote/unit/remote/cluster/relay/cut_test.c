// SPDX-License-Identifier: MIT
/*
 * Sizes of messages: each size has room for the bytes for which it was chosen, and little more. And
 * when bytes that were read are sent.
 */
#include <selftests/unit_test.h>

#include <remote/cluster/relay/cut.h>

TEST(smallest_with_room)
{
	size_t n;

	for (n = 1; n <= CUT_MAX; n++) {
		unsigned int class = cut_class(n);

		assert_true(class < CUT_CLASSES);
		assert_true(cut_bytes(class) >= n);
		assert_true(!class || cut_bytes(class - 1) < n);
	}
}

TEST(an_eighth_at_most)
{
	size_t n;

	for (n = CUT_MIN; n <= CUT_MAX; n++)
		assert_true(cut_bytes(cut_class(n)) - n <= n / 8);
}

TEST(ends_of_the_range)
{
	assert_int_equal(cut_bytes(0), 256);
	assert_int_equal(cut_bytes(cut_class(CUT_MAX)), 128 << 10);
	assert_int_equal(cut_class(CUT_MAX), CUT_CLASSES - 1);
}

TEST(when_it_goes)
{
	assert_false(cut_goes(0, 100, 1, 0, 4)); /* no bytes to send */
	assert_true(cut_goes(100, 100, 0, 3, 4)); /* full, even into the last slot */
	assert_true(cut_goes(1, 100, 1, 0, 2)); /* no message is under way */
	assert_true(cut_goes(1, 100, 1, 2, 4)); /* sent: another slot stays free */
	assert_false(cut_goes(1, 100, 1, 3, 4)); /* not sent: the last slot waits for more */
	assert_false(cut_goes(1, 100, 0, 0, 4)); /* more bytes can be read */
}

TEST_MAIN(NULL, NULL)
