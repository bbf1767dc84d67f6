// SPDX-License-Identifier: MIT
/*
 * Copies of several lines to the device of another server than the stream's. By NVIDIA's "API
 * synchronization behavior" a library may return from a copy of pageable memory before the GPU has
 * made it. The servers' part, which stands in for the channel here, always does.
 */
#include <selftests/unit_test.h>

#include <remote/client/peer_direct.h>

#include "../result.h"

enum { DST = 0x100000, SRC = 0x900000, PITCH = 512, WIDTH = 300, LINES = 5000 };

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
bool several = true;
static struct object contexts[2]; /* of DST, of SRC */
static uint8_t arena[KVGPU_REMOTE_PIECE_MAX];
static bool direct;
static unsigned int boxes, begun; /* .begun: in the null stream at DST, and maybe not over */
static uint16_t fails; /* calls of this operation fail */
static uint64_t room = PITCH * (LINES - 1) + WIDTH; /* bytes that each end may have */
static unsigned int held;

CUresult call_sync(struct call *c, size_t fixed)
{
	const bool at_dst = c->to.ctx == &contexts[0];

	if (c->op == fails)
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	if (c->op == OP_cuStreamSynchronize) {
		assert_int_equal(((const struct q_cuStreamSynchronize *)c->fixed)->stream, 0);
		if (at_dst)
			begun = 0;
		return CUDA_SUCCESS;
	}
	assert_int_equal(c->op, OP_box);
	assert_int_equal(((const struct q_box *)c->fixed)->stream, 0);
	boxes++;
	begun += at_dst;
	return CUDA_SUCCESS;
}

static unsigned int end_of(CUdeviceptr ptr)
{
	return ptr >= SRC;
}

void route_address(struct route *to, CUdeviceptr ptr)
{
	*to = (struct route){ .peer = &peers[end_of(ptr)], .ctx = &contexts[end_of(ptr)] };
}

/* the stream is of a third server */
CUresult route_stream(struct route *to, CUstream stream, uint64_t *id)
{
	to->peer = &peers[2];
	*id = 7;
	return CUDA_SUCCESS;
}

void route_merge(struct route *to, const struct route *end)
{
	if (end->peer)
		to->split = CUDA_ERROR_INVALID_VALUE;
}

struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r)
{
	static uint8_t piece;

	assert_true(bytes <= sizeof(arena));
	*at = 0;
	return (struct staged *)&piece;
}

enum memory_kind memory_kind_of(CUdeviceptr at, bool host)
{
	return host ? MEMORY_HOST : MEMORY_DEVICE;
}

CUresult device_holds(const struct route *to, CUdeviceptr at, uint64_t bytes)
{
	held++;
	return bytes == room ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool peer_direct_possible(const struct peer *to, const struct peer *from)
{
	return direct;
}

struct kvgpu_remote_source peer_direct_source(const struct peer *from, uint64_t at)
{
	return (struct kvgpu_remote_source){ .at = at };
}

/* ------------------------------------------------------------------ */

static CUresult copy(CUmemorytype from, CUmemorytype to)
{
	static uint8_t host[PITCH * LINES];
	const CUDA_MEMCPY2D c = { .srcMemoryType = from,
				  .srcDevice = SRC,
				  .srcHost = host,
				  .srcPitch = PITCH,
				  .dstMemoryType = to,
				  .dstDevice = DST,
				  .dstHost = host,
				  .dstPitch = PITCH,
				  .WidthInBytes = WIDTH,
				  .Height = LINES };

	boxes = begun = 0;
	peers[0].arena.base = peers[1].arena.base = arena;
	return cuMemcpy2DAsync_v2(&c, (CUstream)&peers);
}

TEST(copies_are_done)
{
	OK(copy(CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE));
	assert_int_equal(boxes, 2);
	assert_int_equal(begun, 0);
	for (direct = false;; direct = true) {
		OK(copy(CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE));
		assert_int_equal(boxes, 4);
		assert_int_equal(begun, 0);
		if (direct)
			break;
	}
	direct = false;
	OK(copy(CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST));
	assert_int_equal(boxes, 2);
}

/* Without memory at the program's end: what is packed first would end the test. */
TEST(ranges_come_first)
{
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = (void *)64,
			    .srcPitch = PITCH,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstDevice = DST,
			    .dstPitch = PITCH,
			    .WidthInBytes = WIDTH,
			    .Height = LINES + 1 };

	held = 0;
	FAILS(cuMemcpy2DAsync_v2(&c, (CUstream)&peers), INVALID_VALUE);
	assert_int_equal(held, 1);
	c.dstPitch = WIDTH - 1;
	FAILS(cuMemcpy2DAsync_v2(&c, (CUstream)&peers), INVALID_VALUE);
	assert_int_equal(held, 1);
}

TEST(errors_are_told)
{
	fails = OP_box;
	FAILS(copy(CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE), ILLEGAL_ADDRESS);
	fails = OP_cuStreamSynchronize;
	FAILS(copy(CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE), ILLEGAL_ADDRESS);
	/* a copy to host memory has ended with its answer */
	OK(copy(CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST));
	fails = 0;
}

TEST_MAIN(NULL, NULL)
