// SPDX-License-Identifier: MIT
/*
 * Copies between two servers whose streams can't be made: the copy gives the server's error, and
 * the other server's stream is kept for the next copy. And copies from host memory to another
 * server than the stream's, whose GPU is slow. There is no server.
 */
#include <selftests/unit_test.h>

#include <remote/client/peer_direct.h>

enum { DST = 0x1000, SRC = 0x2000, BYTES = 100, MOST = 4 << 20 };

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
bool several = true;
static struct object contexts[2] = { { .id = 3 }, { .id = 4 } };
static const struct object *gone; /* its server is not there any more */
static unsigned int taken, kept;
static uint64_t copied;

const struct object *range_context(CUdeviceptr ptr)
{
	return &contexts[ptr >= SRC];
}

CUresult helper_take(const struct route *to, const struct object *ctx, uint64_t *stream)
{
	assert_ptr_equal(to->ctx, ctx);
	*stream = 0;
	if (ctx == gone)
		return CUDA_ERROR_SYSTEM_NOT_READY;
	*stream = 100 + ctx->id;
	taken++;
	return CUDA_SUCCESS;
}

void helper_put(const struct object *ctx, uint64_t context, uint64_t stream)
{
	if (!stream)
		return;
	assert_int_equal(context, ctx->id);
	assert_int_equal(stream, 100 + ctx->id);
	kept++;
}

bool peer_direct_copy(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
		      const struct route *from, uint64_t out_stream, CUdeviceptr src,
		      uint64_t bytes, CUresult *r)
{
	assert_int_equal(in_stream, 103);
	assert_int_equal(out_stream, 104);
	copied += bytes;
	*r = CUDA_SUCCESS;
	return true;
}

/* The server of DST. Its GPU makes no copy before the server waits for the null stream. */
static uint8_t there[MOST]; /* the memory at DST */
static uint8_t arena[MOST + 64];
static uint64_t staged; /* bytes of the arena that are in use */
/* the source is pinned memory, and the arena is registered */
static bool registered;
static struct pending {
	CUdeviceptr dst;
	const uint8_t *from;
	uint64_t bytes;
	uint8_t small[KVGPU_REMOTE_INLINE_IN_MAX];
} pending[8];
static unsigned int nr_pending;

static void make_copies(void)
{
	const struct pending *p;

	for (p = pending; p < pending + nr_pending; p++)
		memcpy(there + (p->dst - DST), p->from, p->bytes);
	nr_pending = 0;
}

CUresult call_sync(struct call *c, size_t fixed)
{
	const struct q_copy_in *q = c->fixed;
	struct pending *p = &pending[nr_pending];

	assert_int_equal(c->op, OP_copy_in);
	assert_int_equal(q->stream, 0);
	assert_ptr_equal(c->to.ctx, &contexts[0]);
	assert_true(nr_pending++ < sizeof(pending) / sizeof(*pending));
	*p = (struct pending){ .dst = q->dst, .bytes = q->bytes };
	p->from = q->at == KVGPU_REMOTE_NOWHERE ? memcpy(p->small, c->part[0].iov_base, q->bytes) :
						  arena + q->at;
	if (q->flags & COPY_WHOLE)
		make_copies();
	return CUDA_SUCCESS;
}

CUresult call_async(struct call *c)
{
	return call_sync(c, 0);
}

CUresult call_bytes(struct call *c, const void *p, uint64_t n)
{
	c->part[c->nr_parts++] = (struct iovec){ (void *)(uintptr_t)p, n };
	return CUDA_SUCCESS;
}

struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r)
{
	static struct staged piece;

	*at = staged;
	staged += bytes;
	assert_true(staged <= sizeof(arena));
	return &piece;
}

bool arena_is_pinned(struct peer *p)
{
	return registered;
}

uint64_t pinned_at(const struct peer *p, const void *host, uint64_t bytes)
{
	return registered ? (uint64_t)((const uint8_t *)host - arena) : KVGPU_REMOTE_NOWHERE;
}

CUresult route_stream(struct route *to, CUstream stream, uint64_t *id)
{
	to->peer = &peers[1];
	*id = 7;
	return CUDA_SUCCESS;
}

void route_address(struct route *to, CUdeviceptr ptr)
{
	to->split = CUDA_ERROR_INVALID_VALUE;
}

/* so that no copy goes over the arena */
uint64_t arena_get(struct peer *p, uint64_t bytes)
{
	return KVGPU_REMOTE_NOWHERE;
}

/* ------------------------------------------------------------------ */

TEST(a_server_that_is_gone)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		gone = &contexts[i];
		assert_int_equal(peer_copy_alone(DST, SRC, BYTES), CUDA_ERROR_SYSTEM_NOT_READY);
		assert_int_equal(kept, taken);
	}
	assert_int_equal(copied, 0);
	gone = NULL;
	assert_int_equal(peer_copy_alone(DST, SRC, BYTES), CUDA_SUCCESS);
	assert_int_equal(copied, BYTES);
	assert_int_equal(kept, taken);
}

/*
 * The program's stream is of another server than DST. When it is through, so is the copy: streams
 * there that do not wait for the null stream see the bytes, and so does a later copy from there.
 */
static void copy_from_host(const uint8_t *src, size_t bytes, bool waits)
{
	memset(there, 0, sizeof(there));
	staged = nr_pending = 0;
	if (waits)
		assert_int_equal(cuMemcpyHtoD_v2(DST, src, bytes), CUDA_SUCCESS);
	else
		assert_int_equal(cuMemcpyHtoDAsync_v2(DST, src, bytes, (CUstream)&peers),
				 CUDA_SUCCESS);
	assert_memory_equal(there, src, bytes);
	assert_int_equal(nr_pending, 0);
}

TEST(copies_from_host_are_done)
{
	static const size_t sizes[] = { 1,
					KVGPU_REMOTE_INLINE_IN_MAX,
					KVGPU_REMOTE_INLINE_IN_MAX + 1,
					KVGPU_REMOTE_PIECE_MAX,
					KVGPU_REMOTE_PIECE_MAX + 1,
					MOST };
	static uint8_t pageable[MOST];
	unsigned int i;

	peers[0].arena.base = arena;
	for (i = 0; i < MOST; i++)
		pageable[i] = i % 251 + 1;
	for (i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		registered = false;
		copy_from_host(pageable, sizes[i / 2], i & 1);
		memcpy(arena, pageable, MOST);
		registered = true;
		copy_from_host(arena, sizes[i / 2], i & 1);
	}
}

TEST_MAIN(NULL, NULL)
