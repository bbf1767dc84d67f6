// SPDX-License-Identifier: MIT
/*
 * The arena of a client of this machine grows and becomes smaller: what is refused, and that no
 * refusal leaves anything behind. The test says what memory the machine has.
 */
#include <stdio.h>
#include <unistd.h>

#include <remote/channel/carrier.h>

#include "ask.h"

enum { FIRST = 1 << 20, MIB = 1 << 20 };
static unsigned int available_mib;

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	char text[200];
	int pipe_ends[2], n;

	if (strcmp(path, "/proc/meminfo"))
		return __real_open(path, flags, 0600);
	n = snprintf(text, sizeof(text),
		     "MemTotal:  819200 kB\nMemFree: 1 kB\nMemAvailable:  %u kB\nBuffers: 1 kB\n",
		     available_mib << 10);
	assert_false(pipe(pipe_ends));
	assert_int_equal(write(pipe_ends[1], text, n), n);
	close(pipe_ends[1]);
	return pipe_ends[0];
}

static int begin(void **state)
{
	set_up(state);
	fake_share(&s);
	available_mib = 800;
	return 0;
}

static int end(void **state)
{
	fake_no_register = fake_own_address = false;
	return tear_down(state);
}

#define GROW_TO(n)                                   \
	({                                           \
		OK(ASK(grow, .bytes = FIRST + (n))); \
		ANSWER(grow)->bound;                 \
	})
#define GROWS(n) assert_int_equal(GROW_TO(n), KVGPU_REMOTE_BOUND_NONE)

static void copy_at(uint64_t at, uint64_t bytes, CUresult wanted)
{
	assert_int_equal(ASK(copy_in, .dst = 1 << 20, .at = at, .bytes = bytes), wanted);
	assert_int_equal(ASK(copy_out, .src = 1 << 20, .at = at, .bytes = bytes), wanted);
}

TEST(places)
{
	context();
	copy_at(FIRST, 4096, CUDA_ERROR_INVALID_VALUE);
	GROWS(2 * MIB);
	copy_at(FIRST, 2 * MIB, CUDA_SUCCESS);
	copy_at(FIRST + 1, 2 * MIB, CUDA_ERROR_INVALID_VALUE);
	copy_at(UINT64_MAX - 4095, 4096, CUDA_ERROR_INVALID_VALUE);
	s.arena[FIRST] = 7;
	GROWS(0);
	copy_at(FIRST, 4096, CUDA_ERROR_INVALID_VALUE);
	copy_at(FIRST - 4096, 4096, CUDA_SUCCESS);
	GROWS(1 * MIB);
	assert_int_equal(s.arena[FIRST], 0);
	assert_int_equal(s.arena_bytes, FIRST + MIB);
}

TEST(sizes_that_can_not_be)
{
	const uint64_t sizes[] = { 0,	       FIRST,	     FIRST - MIB,
				   FIRST + 1,  FIRST + 4096, FIRST + MIB + 8,
				   UINT64_MAX, INT64_MAX };
	unsigned int i;

	context();
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		FAILS(ASK(grow, .bytes = sizes[i]), INVALID_VALUE);
	assert_int_equal(GROW_TO(1ull << 50), KVGPU_REMOTE_BOUND_PINNED);
	assert_int_equal(GROW_TO(-(1ull << 40)), KVGPU_REMOTE_BOUND_PINNED);
	assert_int_equal(GROW_TO(FAKE_MORE + MIB), KVGPU_REMOTE_BOUND_PINNED);
	s.options.pinned = UINT64_MAX;
	assert_int_equal(GROW_TO(FAKE_MORE + MIB), KVGPU_REMOTE_BOUND_LIBRARY);
	GROWS(FAKE_MORE);
	/* only where a part begins can it be cut */
	assert_int_equal(GROW_TO(MIB), KVGPU_REMOTE_BOUND_LIBRARY);
	assert_int_equal(s.arena_bytes, FIRST + FAKE_MORE);
	s.port->shared = false;
	FAILS(ASK(grow, .bytes = FIRST), INVALID_VALUE);
}

/* all parts are registered, in whichever context, or none is */
TEST(registered)
{
	uint64_t one = context(), two = context();

	fake_own_address = true;
	GROWS(1 * MIB);
	assert_int_equal(fake_registered, 0);
	OK(fake_frame(&s, OP_pin, NULL, 0));
	assert_int_equal(ANSWER(pin)->pinned, 1);
	assert_int_equal(ANSWER(pin)->whole, 1);
	assert_int_equal(fake_registered, 2);
	OK(ASK(current, .ctx = one));
	GROWS(3 * MIB);
	assert_int_equal(fake_registered, 3);
	assert_int_equal(s.current, one);
	GROWS(1 * MIB);
	assert_int_equal(fake_registered, 2);
	fake_no_register = true;
	assert_int_equal(GROW_TO(2 * MIB), KVGPU_REMOTE_BOUND_LIBRARY);
	fake_no_register = false;
	fake_own_address = false; /* the GPU would see the part elsewhere */
	assert_int_equal(GROW_TO(2 * MIB), KVGPU_REMOTE_BOUND_LIBRARY);
	assert_int_equal(fake_registered, 2);
	assert_int_equal(s.arena_bytes, FIRST + MIB);
	OK(ASK(cuCtxDestroy_v2, .ctx = two));
	assert_int_equal(fake_registered, 0);
	OK(fake_frame(&s, OP_pin, NULL, 0));
	assert_int_equal(ANSWER(pin)->whole, 0);
	GROWS(2 * MIB);
	assert_int_equal(fake_registered, 3);
	OK(ASK(cuCtxDestroy_v2, .ctx = one));
	assert_int_equal(fake_registered, 0);
}

/* what a program has had counts until it ends, beside what others have */
TEST(by_name)
{
	int fd = pool_make(2);
	struct pool *p = pool_map(fd, 2);

	close(fd);
	s.quota.pool = p;
	s.quota.nr_programs = 2;
	context();
	assert_true(pool_pin(p, 2, 1, MIB, FAKE_MORE));
	assert_int_equal(GROW_TO(FAKE_MORE), KVGPU_REMOTE_BOUND_PINNED);
	assert_int_equal(s.arena_bytes, FIRST);
	GROWS(FAKE_MORE - MIB);
	assert_false(pool_pin(p, 2, 1, 2 * MIB, FAKE_MORE));
	GROWS(0);
	assert_false(pool_pin(p, 2, 1, 2 * MIB, FAKE_MORE));
	GROWS(FAKE_MORE - MIB);
	pool_clear(p, 0);
	assert_false(pool_pin(p, 2, 1, 2 * MIB, FAKE_MORE));
	pool_unpin(p, 0);
	assert_true(pool_pin(p, 2, 1, FAKE_MORE, FAKE_MORE));
	assert_false(pool_pin(p, 2, 0, UINT64_MAX, UINT64_MAX));
}

/* an eighth of 800 MiB is left to others */
TEST(of_the_machine)
{
	fake_others(&s);
	context();
	available_mib = 101;
	assert_int_equal(GROW_TO(2 * MIB), KVGPU_REMOTE_BOUND_MACHINE);
	assert_true(pool_pin(s.quota.pool, 1, 0, 0, 0));
	assert_int_equal(s.arena_bytes, FIRST);
	copy_at(FIRST, 4096, CUDA_ERROR_INVALID_VALUE);
	GROWS(1 * MIB);
	available_mib = 102;
	GROWS(3 * MIB);
	available_mib = 99;
	assert_int_equal(GROW_TO(4 * MIB), KVGPU_REMOTE_BOUND_MACHINE);
	assert_int_equal(s.arena_bytes, FIRST + 3 * MIB);
	copy_at(FIRST, 3 * MIB, CUDA_SUCCESS);
}

TEST_MAIN(begin, end)
