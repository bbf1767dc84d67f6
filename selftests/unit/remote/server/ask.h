/* SPDX-License-Identifier: MIT */
/*
 * A server with a library that does nothing, for each test anew, and short forms of a client's
 * questions.
 */
#ifndef KVGPU_TESTS_REMOTE_ASK_H
#define KVGPU_TESTS_REMOTE_ASK_H

#include <cmocka.h>

#include "fake.h"

static struct server s;

static int set_up(void **state)
{
	fake_begin(&s, 1 << 20);
	return 0;
}

static int tear_down(void **state)
{
	fake_end(&s);
	return 0;
}

#define ASK(name, ...) \
	fake_frame(&s, OP_##name, &(struct q_##name){ __VA_ARGS__ }, sizeof(struct q_##name))
#define ANSWER(name)	 ((const struct a_##name *)fake_payload)
#define OK(call)	 assert_int_equal(call, CUDA_SUCCESS)
#define FAILS(call, why) assert_int_equal(call, CUDA_ERROR_##why)

static uint64_t context(void)
{
	uint64_t id;

	OK(ASK(cuCtxCreate_v2, .dev = 0));
	id = ANSWER(cuCtxCreate_v2)->ctx;
	OK(ASK(current, .ctx = id));
	assert_int_equal(s.current, id);
	return id;
}

static inline uint64_t stream(void)
{
	OK(ASK(cuStreamCreate, .flags = 0));
	return ANSWER(cuStreamCreate)->stream;
}

static inline uint64_t new_graph(void)
{
	OK(ASK(cuGraphCreate, .flags = 0));
	return ANSWER(cuGraphCreate)->graph;
}

/* a copy out of stream @st, whose answer comes with @n bytes when the copy is over */
#define OUT(n)                                                                              \
	ASK(copy_out, .src = 1 << 20, .stream = st, .at = KVGPU_REMOTE_NOWHERE, .bytes = n, \
	    .flags = COPY_WHOLE)

#define ON_SERVER(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
