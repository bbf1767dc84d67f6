// SPDX-License-Identifier: MIT
/*
 * Memory that a server allocates, or addresses that it reserves, where another server's are: the
 * server does it anew.
 */
#include <stdlib.h>

#include "client.h"

enum { TRIES = 64, TAKEN_MAX = 1024, PIECE_MIN = 2048 };

static CUresult ask_memory(const struct call *like, uint64_t bytes, CUdeviceptr *ptr)
{
	const struct q_cuMemAlloc_v2 q = { .bytes = bytes };
	struct call c = { .op = OP_cuMemAlloc_v2, .fixed = &q, .bytes = sizeof(q), .to = like->to };
	CUresult r = call_sync(&c, sizeof(struct a_cuMemAlloc_v2));

	if (!r)
		*ptr = ((const struct a_cuMemAlloc_v2 *)c.answer)->ptr;
	return r;
}

static void give_back(const struct call *like, CUdeviceptr ptr)
{
	const struct q_cuMemFree_v2 q = { .ptr = ptr };
	struct call c = { .op = OP_cuMemFree_v2, .fixed = &q, .bytes = sizeof(q), .to = like->to };

	call_sync(&c, 0);
}

static_assert(!offsetof(struct a_cuMemAlloc_v2, ptr) && !offsetof(struct a_cuMemAllocPitch_v2, ptr),
	      "it is taken there");

/*
 * Allocate what the server has free in [begin, end): first as much as it gives in one piece, then
 * less and less. No piece is smaller than @least. Return how many pieces are in @taken.
 */
static unsigned int fill_gap(const struct call *like, uint64_t begin, uint64_t end, uint64_t least,
			     CUdeviceptr *taken, unsigned int room)
{
	uint64_t bytes = end - begin;
	CUdeviceptr at;
	unsigned int n = 0;

	while (bytes >= least && n < room) {
		if (ask_memory(like, bytes, &at)) {
			bytes /= 2;
		} else if (at < end && at + bytes > begin) {
			taken[n++] = at;
		} else {
			give_back(like, at);
			bytes /= 2;
		}
	}
	return n;
}

/*
 * Memory at an address of another server's memory is kept, with what else the server has free
 * there, until the server gives memory elsewhere, at most TRIES times.
 */
CUresult range_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes)
{
	const size_t fixed = c->answer_used;
	CUdeviceptr *taken = NULL;
	unsigned int i, n = 0, tries = 0;
	CUresult r = CUDA_SUCCESS;

	if (!answer_memory(*ptr, bytes))
		return CUDA_ERROR_UNKNOWN;
	while (!r && !range_add(*ptr, bytes, c->serial)) {
		if (!taken)
			taken = malloc(TAKEN_MAX * sizeof(*taken));
		if (!taken || ++tries == TRIES || n == TAKEN_MAX) {
			client_say("%s gives memory only at addresses where another server's is",
				   c->to.peer->address);
			give_back(c, *ptr);
			r = CUDA_ERROR_NOT_SUPPORTED;
			break;
		}
		taken[n++] = *ptr;
		n += fill_gap(c, *ptr, ranges_foreign_end(c->to.peer, *ptr, bytes),
			      bytes > PIECE_MIN ? bytes : PIECE_MIN, taken + n, TAKEN_MAX - n);
		r = call_sync(c, fixed);
		if (!r)
			memcpy(ptr, c->answer, sizeof(*ptr));
		if (!r && !answer_memory(*ptr, bytes))
			r = CUDA_ERROR_UNKNOWN;
	}
	for (i = 0; i < n; i++)
		give_back(c, taken[i]);
	free(taken);
	return r;
}

CUresult pitch_settle(struct call *c, CUdeviceptr *ptr, uint64_t pitch, uint64_t width,
		      uint64_t height)
{
	uint64_t bytes;

	if (pitch < width || __builtin_mul_overflow(pitch, height, &bytes))
		return CUDA_ERROR_UNKNOWN;
	return range_settle(c, ptr, bytes);
}

/* addresses cost nothing: those that were taken are kept until others come */
CUresult reservation_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes)
{
	struct q_cuMemAddressFree q = { .size = bytes };
	struct call undo = { .op = OP_cuMemAddressFree, .fixed = &q, .bytes = sizeof(q) };
	const size_t fixed = c->answer_used;
	CUdeviceptr taken[TRIES], end;
	unsigned int n = 0;
	CUresult r = CUDA_SUCCESS;

	static_assert(!offsetof(struct a_cuMemAddressReserve, ptr), "it is taken there");
	while (!r) {
		if (__builtin_add_overflow(*ptr, bytes, &end))
			r = CUDA_ERROR_UNKNOWN;
		else if (reservation_add(c->to.peer, *ptr, bytes))
			break;
		else if (n == TRIES)
			r = REFUSE("this cuMemAddressReserve()",
				   "the server gives addresses only that are in use here");
		if (r)
			break;
		taken[n++] = *ptr;
		r = call_sync(c, fixed);
		if (!r)
			memcpy(ptr, c->answer, sizeof(*ptr));
	}
	undo.to = c->to;
	while (n) {
		q.ptr = taken[--n];
		call_sync(&undo, 0);
	}
	return r;
}

static void give_to_pool(const struct route *to, CUdeviceptr ptr, uint64_t stream)
{
	const struct q_cuMemFreeAsync q = { .ptr = ptr, .stream = stream };
	struct call c = { .op = OP_cuMemFreeAsync, .fixed = &q, .bytes = sizeof(q), .to = *to };

	call_sync(&c, 0);
}

static void keep_addresses(struct peer *p, CUdeviceptr at, uint64_t bytes)
{
	const struct q_cuMemAddressReserve q = { .size = bytes, .at = at };
	struct call c = {
		.op = OP_cuMemAddressReserve, .fixed = &q, .bytes = sizeof(q), .to.peer = p
	};

	call_sync(&c, 0);
}

/*
 * NVIDIA's library gives a pool, for good, twice as many addresses as there is memory: the first in
 * LOW, in each process, and where that is full in HIGH (measured with driver 580). So the second
 * server's pools lie in HIGH, and those of each further one EACH bytes behind. Another library may
 * refuse it, or do something else: then pool_settle() may fail.
 */
void pools_set_apart(struct peer *p)
{
	const uint64_t LOW = 0x302000000, LOW_END = 1ull << 40, HIGH = 0x10004000000;
	const uint64_t EACH = 1ull << 42;
	const unsigned int number = peer_number(p);

	if (number)
		keep_addresses(p, LOW, LOW_END - LOW);
	if (number > 1)
		keep_addresses(p, HIGH, (number - 1) * EACH);
}

/*
 * In a capture nobody has the memory yet: it is not noted. Pools have their addresses in order: so
 * one that is another server's is not tried again.
 */
CUresult pool_settle(struct call *c, CUdeviceptr *ptr, uint64_t bytes, CUstream stream)
{
	const struct object *ctx = own_stream(stream) ? current_context() :
							object_context((const void *)stream);
	struct route to = { 0 };
	uint64_t id;

	if (!answer_memory(*ptr, bytes))
		return CUDA_ERROR_UNKNOWN;
	if (captures_any())
		graph_allocates();
	if (captures_any() ? !ranges_foreign(c->to.peer, *ptr, bytes) :
			     range_add_of(ctx, *ptr, bytes, c->serial))
		return CUDA_SUCCESS;
	client_say("%s has memory pools at addresses where another server's memory is",
		   c->to.peer->address);
	if (!route_stream(&to, stream, &id))
		give_to_pool(&c->to, *ptr, id);
	return CUDA_ERROR_NOT_SUPPORTED;
}
