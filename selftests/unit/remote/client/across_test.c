// SPDX-License-Identifier: MIT
/*
 * Copies between two servers whose streams can't be made: the copy gives the server's error, and
 * the other server's stream is kept for the next copy. There is no server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <remote/client/straight.h>

enum { DST = 0x1000, SRC = 0x2000, BYTES = 100 };

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
static struct object contexts[2] = { { .id = 3 }, { .id = 4 } };
static const struct object *gone;		/* its server is not there any more */
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

bool straight_carry(const struct route *to, uint64_t in_stream, CUdeviceptr dst,
		    const struct route *from, uint64_t out_stream, CUdeviceptr src, uint64_t bytes,
		    CUresult *r)
{
	assert_int_equal(in_stream, 103);
	assert_int_equal(out_stream, 104);
	copied += bytes;
	*r = CUDA_SUCCESS;
	return true;
}

bool range_holds(CUdeviceptr ptr, uint64_t bytes) { return false; }
bool managed_has(CUdeviceptr ptr) { return false; }
bool captures_any(void) { return false; }
CUresult call_ask(struct call *c, size_t fixed) { return CUDA_ERROR_UNKNOWN; }
CUresult call_queue(struct call *c) { return CUDA_ERROR_UNKNOWN; }
CUresult cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *status) { return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream s) { return CUDA_SUCCESS; }
void *kvgpu_remote_arena_at(struct kvgpu_remote_channel *c, uint64_t where) { return NULL; }
void staging_sent(struct peer *p, struct staged *piece, uint64_t seq) { }

struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r)
{
	*r = CUDA_ERROR_UNKNOWN;
	return NULL;
}

CUresult piece_send(const struct route *to, struct q_copy_in *q, const void *src, bool fine)
{
	return CUDA_ERROR_UNKNOWN;
}

CUresult piece_fetch(const struct route *to, struct q_copy_out *q, void *dst)
{
	return CUDA_ERROR_UNKNOWN;
}

CUresult line_in(const struct route *to, struct q_copy_in *q, const void *src, bool waits,
		 bool fine)
{
	return CUDA_ERROR_UNKNOWN;
}

CUresult line_out(const struct route *to, struct q_copy_out *q, void *dst, bool waits, bool fine)
{
	return CUDA_ERROR_UNKNOWN;
}

CUresult gate_copy(CUstream stream, CUdeviceptr dst, CUdeviceptr src, uint64_t bytes)
{
	return CUDA_ERROR_UNKNOWN;
}

/* ------------------------------------------------------------------ */

static void a_server_that_is_gone(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		gone = &contexts[i];
		assert_int_equal(across_carry(DST, SRC, BYTES), CUDA_ERROR_SYSTEM_NOT_READY);
		assert_int_equal(kept, taken);
	}
	assert_int_equal(copied, 0);
	gone = NULL;
	assert_int_equal(across_carry(DST, SRC, BYTES), CUDA_SUCCESS);
	assert_int_equal(copied, BYTES);
	assert_int_equal(kept, taken);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_server_that_is_gone) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
