// SPDX-License-Identifier: GPL-2.0-only
/* Completion slots: when an answer is taken, and what a lost channel gives. */
#include <selftests/unit_test.h>

#include <errno.h>

#include <remote/channel/carrier.h>

/*
 * A thread takes a completion slot in two steps: it marks the completion slot as taken, and gives
 * the completion slot its payload.
 */
TEST(no_answer_before_the_payload)
{
	struct kvgpu_remote_channel c = { 0 };

	c.completions[0].taken = true;
	assert_null(completion_of(&c, 1));
}

TEST(an_answer_only_while_asked)
{
	struct kvgpu_remote_channel c = { 0 };
	struct kvgpu_remote_answer a;
	const void *payload;
	unsigned int completion, round;

	for (round = 0; round < 3; round++) {
		completion = kvgpu_remote_completion_get(&c);
		assert_int_equal(completion, 1);
		assert_null(completion_of(&c, completion));
		completion_prepare(&c, completion);
		assert_ptr_equal(completion_of(&c, completion), &c.completions[0]);
		assert_non_null(c.completions[0].payload);
		c.completions[0].answer.seq = 7 + round;
		completion_deliver(&c.completions[0]);
		assert_null(completion_of(&c, completion));
		assert_int_equal(completion_await(&c, completion, 7 + round, &a, &payload), 0);
		assert_null(completion_of(&c, completion));
		kvgpu_remote_completion_put(&c, completion);
		assert_null(completion_of(&c, completion));
	}
	completions_free(&c);
}

TEST(no_such_completion)
{
	struct kvgpu_remote_channel c = { 0 };

	assert_null(completion_of(&c, 0));
	assert_null(completion_of(&c, KVGPU_REMOTE_COMPLETIONS + 1));
	assert_null(completion_of(&c, UINT32_MAX));
}

/* A channel that was lost before a thread asks gives that thread an error. */
TEST(lost_before_the_question)
{
	struct kvgpu_remote_channel c = { 0 };
	struct kvgpu_remote_answer a;
	const void *payload;
	unsigned int completion = kvgpu_remote_completion_get(&c);

	channel_lost(&c);
	completion_prepare(&c, completion);
	assert_int_equal(completion_await(&c, completion, 1, &a, &payload), -ECONNRESET);
	completions_free(&c);
}

TEST_MAIN(NULL, NULL)
