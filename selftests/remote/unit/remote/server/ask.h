/* SPDX-License-Identifier: MIT */
/*
 * A server with a library that does nothing, for each test anew, and short forms of a client's
 * questions.
 */
#ifndef KVGPU_TESTS_REMOTE_ASK_H
#define KVGPU_TESTS_REMOTE_ASK_H

#include <selftests/unit_test.h>

#include "../result.h"
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
#define ANSWER(name) ((const struct a_##name *)fake_payload)

/* a member of the answer to a question that succeeds */
#define GET(member, name, ...)              \
	({                                  \
		OK(ASK(name, __VA_ARGS__)); \
		ANSWER(name)->member;       \
	})

static uint64_t context(void)
{
	uint64_t id = GET(ctx, cuCtxCreate_v2, .dev = 0);

	OK(ASK(current, .ctx = id));
	assert_int_equal(s.current, id);
	return id;
}

static inline uint64_t stream(void)
{
	return GET(stream, cuStreamCreate, .flags = 0);
}

static inline uint64_t new_event(void)
{
	return GET(event, cuEventCreate, .flags = CU_EVENT_DISABLE_TIMING);
}

static inline uint64_t new_graph(void)
{
	return GET(graph, cuGraphCreate, .flags = 0);
}

static inline uint64_t new_module(void)
{
	memcpy(s.arena, ".version 7.8\n", 14);
	return GET(module, image, .at = 0, .bytes = 14);
}

static inline uint64_t function_of(uint64_t module)
{
	struct {
		struct q_function q;
		char name[8];
	} get = { .q = { .module = module, .name_bytes = 2 }, .name = "f" };

	OK(fake_frame(&s, OP_function, &get, sizeof(get)));
	return ANSWER(function)->function;
}

/* Looks until no frame waits. */
static inline void end_waits(void)
{
	while (s.waits.list)
		if (!waits_look(&s))
			waits_give(&s);
}

/* ends of boxes: memory of the device, and @at in the arena */
#define DEVICE_END(pitch, height)                                                              \
	{                                                                                      \
		[END_TYPE] = CU_MEMORYTYPE_DEVICE, [END_WHERE] = 1 << 20, [END_PITCH] = pitch, \
		[END_HEIGHT] = height                                                          \
	}
#define HOST_END(at, pitch, height)                                                     \
	{                                                                               \
		[END_TYPE] = CU_MEMORYTYPE_HOST, [END_WHERE] = at, [END_PITCH] = pitch, \
		[END_HEIGHT] = height                                                   \
	}

/*
 * Makes a copy node from the client's memory: bounce buffer number @id for memory @mine of the
 * client, packed at @at in the arena.
 */
static inline struct q_copy_node copy_in(uint64_t graph, uint64_t id, uint64_t at, uint64_t mine)
{
	struct q_copy_node q = { .graph = graph,
				 .size = { 100, 1, 1 },
				 .mine = { mine, 100, 1 },
				 .src = HOST_END(at, 100, 1),
				 .dst = DEVICE_END(100, 1) };

	q.src[END_BOUNCE] = id;
	return q;
}

/* a copy out of stream @st, whose answer comes with @n bytes when the copy is over */
#define OUT(n)                                                                              \
	ASK(copy_out, .src = 1 << 20, .stream = st, .at = KVGPU_REMOTE_NOWHERE, .bytes = n, \
	    .flags = COPY_WHOLE)

#endif
