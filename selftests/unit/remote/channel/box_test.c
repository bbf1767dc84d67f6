// SPDX-License-Identifier: GPL-2.0-only
/* Boxes for answers: when an answer is taken, and what a lost channel gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <errno.h>

#include <remote/channel/carrier.h>

#define TEST	cmocka_unit_test

/* A thread takes a box in two steps: it marks the box as taken, and gives the box its payload. */
static void no_answer_before_the_payload(void **state)
{
	struct kvgpu_remote_channel c = { 0 };

	c.boxes[0].taken = true;
	assert_null(box_of(&c, 1));
}

static void an_answer_only_while_asked(void **state)
{
	struct kvgpu_remote_channel c = { 0 };
	struct kvgpu_remote_answer a;
	const void *payload;
	unsigned int box, round;

	for (round = 0; round < 3; round++) {
		box = kvgpu_remote_box_get(&c);
		assert_int_equal(box, 1);
		assert_null(box_of(&c, box));
		box_prepare(&c, box);
		assert_ptr_equal(box_of(&c, box), &c.boxes[0]);
		assert_non_null(c.boxes[0].payload);
		c.boxes[0].answer.seq = 7 + round;
		box_deliver(&c.boxes[0]);
		assert_null(box_of(&c, box));
		assert_int_equal(box_await(&c, box, 7 + round, &a, &payload), 0);
		assert_null(box_of(&c, box));
		kvgpu_remote_box_put(&c, box);
		assert_null(box_of(&c, box));
	}
	boxes_free(&c);
}

static void no_such_box(void **state)
{
	struct kvgpu_remote_channel c = { 0 };

	assert_null(box_of(&c, 0));
	assert_null(box_of(&c, KVGPU_REMOTE_BOXES + 1));
	assert_null(box_of(&c, UINT32_MAX));
}

/* A channel that was lost before a thread asks gives that thread an error. */
static void lost_before_the_question(void **state)
{
	struct kvgpu_remote_channel c = { 0 };
	struct kvgpu_remote_answer a;
	const void *payload;
	unsigned int box = kvgpu_remote_box_get(&c);

	channel_lost(&c);
	box_prepare(&c, box);
	assert_int_equal(box_await(&c, box, 1, &a, &payload), -ECONNRESET);
	boxes_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_answer_before_the_payload),
		TEST(an_answer_only_while_asked),
		TEST(no_such_box),
		TEST(lost_before_the_question),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
