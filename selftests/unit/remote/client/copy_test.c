// SPDX-License-Identifier: MIT
/*
 * A long copy to pageable memory, where the server's library has registered the arena: what the
 * client says of managed memory with each frame. Where a few bytes for the GPU travel, and how
 * often the kernel is asked about the program's memory. There is no server.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/uio.h>

#include <remote/client/peer_copy.h>

enum { SRC = 0x100000, BYTES = 3 << 20 };

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
bool several;
static uint8_t arena[4 << 20];
static bool managed; /* SRC is managed memory */
static unsigned int queued, asked, staged, in_frames, looks;
static bool shared = true, readable, denied;

bool managed_has(CUdeviceptr ptr)
{
	return managed && ptr >= SRC && ptr < SRC + BYTES;
}
bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return shared;
}
bool arena_is_pinned(struct peer *p)
{
	return true;
}
uint64_t arena_get(struct peer *p, uint64_t bytes)
{
	return 0;
}
void arena_put(struct peer *p, uint64_t at)
{
}

uint64_t pinned_at(const struct peer *p, const void *host, uint64_t bytes)
{
	return KVGPU_REMOTE_NOWHERE;
}

const struct kvgpu_remote_relayed *kvgpu_remote_relay(const struct kvgpu_remote_channel *c)
{
	return NULL;
}

CUresult call_async(struct call *c)
{
	assert_int_equal(c->op, OP_copy_out);
	assert_int_equal(c->apart, !managed);
	queued++;
	return CUDA_SUCCESS;
}

CUresult call_sync(struct call *c, size_t fixed)
{
	if (c->op == OP_pointer)
		return CUDA_ERROR_INVALID_VALUE;
	assert_int_equal(c->op, OP_copy_out);
	assert_int_equal(c->apart, !managed);
	asked++;
	return CUDA_SUCCESS;
}

CUresult call_fence(struct peer *p, uint64_t upto)
{
	return CUDA_SUCCESS;
}
void stream_through(uint64_t stream, const struct call *c)
{
}

/* what line_out() does not call here */
CUresult peer_copy_line(CUdeviceptr dst, enum side_of to, CUdeviceptr src, enum side_of from,
			size_t bytes, bool waits, CUstream stream)
{
	return CUDA_ERROR_UNKNOWN;
}

CUresult line_capture(const struct route *route, uint64_t stream, CUdeviceptr dst, enum side_of to,
		      CUdeviceptr src, enum side_of from, size_t bytes)
{
	return CUDA_ERROR_UNKNOWN;
}

struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r)
{
	staged++;
	*r = CUDA_ERROR_UNKNOWN;
	return NULL;
}

void staging_sent(struct peer *p, struct staged *piece, uint64_t seq)
{
}
bool answer_bytes(struct call *c, void *to, uint64_t n)
{
	return false;
}
CUresult call_begin(struct call *c, unsigned int completion)
{
	return CUDA_ERROR_UNKNOWN;
}
CUresult call_take(struct call *c, unsigned int completion, size_t fixed)
{
	return CUDA_ERROR_UNKNOWN;
}
CUresult call_enter(unsigned int flags)
{
	return CUDA_ERROR_UNKNOWN;
}
bool captures_any(void)
{
	return false;
}
bool device_span(CUdeviceptr ptr, uint64_t n, unsigned int size)
{
	return false;
}
bool own_stream(CUstream stream)
{
	return false;
}
static bool named; /* a server says that it has all that is asked for */
bool range_has(CUdeviceptr ptr)
{
	return named;
}
CUresult device_holds(const struct route *to, CUdeviceptr at, uint64_t bytes)
{
	return CUDA_SUCCESS;
}

bool pinned_device_has(CUdeviceptr at)
{
	return false;
}
bool host_find(const void *host, struct host_range *out)
{
	return false;
}
bool pinned_may_change(const struct host_range *r)
{
	return false;
}
bool host_functions_pending(void)
{
	return false;
}
void pinned_written(void)
{
}
unsigned int kvgpu_remote_completion_get(struct kvgpu_remote_channel *c)
{
	return 0;
}
void kvgpu_remote_completion_put(struct kvgpu_remote_channel *c, unsigned int completion)
{
}
struct peer *route_peer(struct route *to)
{
	return peers;
}
void route_address(struct route *to, CUdeviceptr ptr)
{
}
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status)
{
	return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream s)
{
	return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
	return CUDA_SUCCESS;
}

CUresult call_bytes(struct call *c, const void *p, uint64_t n)
{
	in_frames++;
	return CUDA_ERROR_UNKNOWN;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
{
	return CUDA_SUCCESS;
}

bool route_handle(struct route *to, unsigned int class, const void *handle, uint64_t *id)
{
	return false;
}

CUresult route_stream(struct route *to, CUstream stream, uint64_t *id)
{
	return CUDA_ERROR_UNKNOWN;
}

/* ------------------------------------------------------------------ */

static void other_memory_is_apart(void **state)
{
	static uint8_t to_here[BYTES];
	const struct route to = { .peer = peers };
	unsigned int i;

	peers[0].arena.base = arena;
	for (i = 0; i < 2; i++) {
		struct q_copy_out q = { .src = SRC, .bytes = BYTES };

		managed = i;
		queued = asked = 0;
		assert_int_equal(line_out(&to, &q, to_here, true, true), CUDA_SUCCESS);
		assert_int_equal(queued, 2);
		assert_int_equal(asked, 1);
	}
}

static void send(uint64_t bytes)
{
	static uint8_t from_here[2 * KVGPU_REMOTE_INLINE_IN_MAX];
	const struct route to = { .peer = peers };
	struct q_copy_in q = { .dst = SRC, .bytes = bytes };

	assert_int_equal(piece_send(&to, &q, from_here, true), CUDA_ERROR_UNKNOWN);
}

/* A line in a frame is copied twice, one in a shared arena once. */
static void lines_in_frames(void **state)
{
	staged = in_frames = 0;
	send(KVGPU_REMOTE_INLINE_SHARED_MAX);
	assert_int_equal(in_frames, 1);
	send(KVGPU_REMOTE_INLINE_SHARED_MAX + 1);
	assert_int_equal(staged, 1);
	shared = false;
	send(KVGPU_REMOTE_INLINE_IN_MAX);
	assert_int_equal(in_frames, 2);
	send(KVGPU_REMOTE_INLINE_IN_MAX + 1);
	assert_int_equal(staged, 2);
	shared = true;
}

/* in the place of libc's */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n,
			 const struct iovec *from, unsigned long m, unsigned long flags)
{
	looks++;
	errno = denied ? EPERM : EFAULT;
	return readable ? 1 : -1;
}

static void pages_that_were_read(void **state)
{
	enum { PAGE = 4096 };
	const CUdeviceptr at = 0x7000001000;
	unsigned int i;

	readable = true;
	looks = 0;
	for (i = 0; i < 10; i++)
		assert_int_equal(side_of(at + 100 * i, true), SIDE_HOST);
	assert_int_equal(looks, 1);
	assert_int_equal(side_of(at + PAGE, true), SIDE_HOST);
	assert_int_equal(looks, 2);
	/* page 0, and one that can't be read, are asked for each time */
	side_of(8, true);
	side_of(8, true);
	assert_int_equal(looks, 4);
	readable = false;
	assert_int_equal(side_of(at + 2 * PAGE, true), SIDE_NOWHERE);
	assert_int_equal(side_of(at + 2 * PAGE, true), SIDE_NOWHERE);
	assert_int_equal(looks, 6);
	assert_int_equal(side_of(at, true), SIDE_HOST);
	/* so many pages later it is forgotten */
	readable = true;
	for (i = 0; i < 64; i++)
		side_of(at + (CUdeviceptr)PAGE * (i + 3), true);
	looks = 0;
	assert_int_equal(side_of(at, true), SIDE_HOST);
	assert_int_equal(looks, 1);
}

/* with several servers the kernel says what is the program's memory, also where it says little */
static void what_is_the_programs(void **state)
{
	static uint8_t own[4096];
	const CUdeviceptr here = (uintptr_t)own, nowhere = 0x7f00000000000;

	several = named = true;
	readable = true;
	assert_true(programs_own(here));
	assert_int_equal(side_of(here, true), SIDE_HOST);
	assert_int_equal(side_of(here, false), SIDE_NOWHERE);
	readable = false;
	assert_false(programs_own(here));
	assert_int_equal(side_of(here + 0x10000000, true), SIDE_DEVICE);
	assert_int_equal(side_of(here, false), SIDE_DEVICE);
	denied = true;
	assert_int_equal(side_of(here, false), SIDE_NOWHERE);
	assert_int_equal(side_of(nowhere, false), SIDE_DEVICE);
	named = false;
	assert_int_equal(side_of(here, false), SIDE_HOST);
	several = denied = false;
	assert_false(programs_own(here));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(other_memory_is_apart),
					    cmocka_unit_test(lines_in_frames),
					    cmocka_unit_test(pages_that_were_read),
					    cmocka_unit_test(what_is_the_programs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
