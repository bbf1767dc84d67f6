// SPDX-License-Identifier: MIT
/* The server's copies through the arena. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"

static CUresult refuse_record(CUevent e, CUstream s)
{
	return CUDA_ERROR_OUT_OF_MEMORY;
}

/* The GPU copies from and to the arena by itself. */
TEST(pinned_copies)
{
	uint64_t ctx, st, seq;
	unsigned int answers;

	fake_share(&s);
	OK(fake_frame(&s, OP_pin, NULL, 0));
	assert_int_equal(ANSWER(pin)->pinned, 0); /* no context */
	ctx = context();
	st = stream();
	OK(fake_frame(&s, OP_pin, NULL, 0));
	assert_int_equal(ANSWER(pin)->pinned, 1);
	assert_int_equal(ANSWER(pin)->device, 1ull << 40);
	assert_int_equal(fake_registered, 1);

	fake_busy = 100;
	OK(ASK(copy_out, .src = 1 << 20, .stream = st, .at = 4096, .bytes = 4096));
	seq = s.frame.head.seq;
	assert_int_equal(fake_last.seq, seq);
	OK(ASK(copy_in, .dst = 1 << 20, .stream = st, .at = 4096, .bytes = 4096));
	assert_int_equal(fake_busy, 100);
	OK(ASK(fence, .upto = seq - 1));
	assert_int_equal(fake_last.seq, s.frame.head.seq);
	/* one fence waits for the copy out alone, the other one for both copies */
	fake_busy = 4;
	answers = fake_answers;
	ASK(fence, .upto = seq);
	ASK(fence, .upto = UINT64_MAX);
	ASK(copy_out, .src = 1 << 20, .stream = st, .at = 4096, .bytes = 4096, .flags = COPY_WHOLE);
	assert_int_equal(fake_answers, answers);
	end_waits();
	assert_int_equal(fake_answers, answers + 3);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	/* the answer to a copy in with COPY_WHOLE comes when the copy is over, too */
	fake_busy = 4;
	answers = fake_answers;
	ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = 4096, .flags = COPY_WHOLE);
	assert_int_equal(fake_answers, answers);
	end_waits();
	assert_int_equal(fake_answers, answers + 1);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	/* When a context ends, its copies and its registration of the arena end, too. */
	fake_busy = 100;
	OK(ASK(copy_in, .dst = 1 << 20, .stream = st, .at = 4096, .bytes = 4096));
	answers = fake_answers;
	ASK(fence, .upto = UINT64_MAX);
	assert_int_equal(fake_answers, answers);
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(fake_registered, 0);
	assert_int_equal(s.current, 0);
	assert_true(waits_look(&s));
	assert_int_equal(fake_answers, answers + 2);
}

/* The arena is registered for copies of more than a few bytes. */
TEST(registered_for_more)
{
	fake_share(&s);
	context();
	/* not for a few, which the library has read when its function returns */
	OK(ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = KVGPU_REMOTE_INLINE_IN_MAX));
	assert_int_equal(fake_registered, 0);
	assert_int_equal(s.pinned.nr_noted, 0);
	OK(ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = KVGPU_REMOTE_INLINE_IN_MAX + 8));
	assert_int_equal(fake_registered, 1);
	assert_int_equal(s.pinned.nr_noted, 1);
}

/* What is known of copies is forgotten when their stream was waited for, with no question more. */
TEST(noted_until_waited)
{
	uint64_t first, second;
	unsigned int i;

	fake_share(&s);
	context();
	first = stream();
	second = stream();
	OK(fake_frame(&s, OP_pin, NULL, 0));
	for (i = 0; i < 3; i++)
		OK(ASK(copy_in, .dst = 1 << 20, .stream = first, .at = 4096, .bytes = 4096));
	OK(ASK(copy_in, .dst = 1 << 20, .stream = second, .at = 4096, .bytes = 4096));
	OK(ASK(copy_in, .dst = 1 << 20, .stream = 0, .at = 4096, .bytes = 4096));
	assert_int_equal(s.pinned.nr_noted, 5);
	OK(ASK(cuStreamSynchronize, .stream = second));
	assert_int_equal(s.pinned.nr_noted, 5); /* another stream's is the first */
	fake_busy = 2;
	ASK(cuStreamSynchronize, .stream = first);
	assert_int_equal(s.pinned.nr_noted, 5);
	/* begun later than the wait */
	OK(ASK(copy_in, .dst = 1 << 20, .stream = first, .at = 4096, .bytes = 4096));
	end_waits();
	assert_int_equal(s.pinned.nr_noted, 3);
	OK(ASK(cuStreamSynchronize, .stream = second));
	assert_int_equal(s.pinned.nr_noted, 2);
	OK(ASK(cuStreamSynchronize, .stream = 0));
	OK(ASK(cuStreamSynchronize, .stream = first));
	assert_int_equal(s.pinned.nr_noted, 2); /* nothing is concluded from the null stream */
	OK(ASK(fence, .upto = UINT64_MAX));
	assert_int_equal(s.pinned.nr_noted, 0);
}

/*
 * The copy of a few bytes is submitted to the stream at once. The answer has those bytes, and is
 * sent when the copy is done.
 */
TEST(small_answers)
{
	uint64_t ctx = context(), st = stream();
	unsigned int i, answers = fake_answers;

	fake_busy = 3;
	OUT(13);
	assert_int_equal(fake_answers, answers); /* the copy does not hold other frames up */
	/* nor does the server ask whether the stream is busy */
	assert_int_equal(fake_busy, 3);
	OK(ASK(cuCtxSetLimit, .limit = 0, .value = 1));
	end_waits();
	assert_int_equal(fake_answers, answers + 2);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	assert_int_equal(fake_last.bytes, 16);
	assert_int_equal(fake_payload[0], 0x1111111111111111ull);
	assert_int_equal(fake_blocks, 1);
	/* more copies than there are slots, and then their context ends */
	fake_busy = 1000;
	for (i = 0; i < 40; i++)
		OUT(KVGPU_REMOTE_INLINE_MAX);
	assert_true(s.waits.list);
	answers = fake_answers;
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_null(s.waits.list);
	assert_true(fake_answers > answers + 32);
	/* if the copy fails, its error is the answer; if no event can be recorded, the bytes are */
	fake_busy = 0;
	context();
	st = stream();
	fake_error = CUDA_ERROR_ILLEGAL_ADDRESS;
	FAILS(OUT(8), ILLEGAL_ADDRESS);
	fake_error = CUDA_SUCCESS;
	s.library.cuEventRecord = refuse_record;
	OK(OUT(8));
	assert_int_equal(fake_payload[0], 0x1111111111111111ull);
	/* all slots are free again */
	s.library.cuEventRecord = NULL;
	for (i = 0; i < 100; i++)
		OK(OUT(8));
}

static CUresult stays(CUcontext c)
{
	return CUDA_ERROR_INVALID_CONTEXT;
}

/*
 * cuCtxDestroy() does not destroy a primary context. The server continues to use what it has in
 * that context.
 */
TEST(context_stays)
{
	uint64_t ctx = context(), st = stream();
	unsigned int i;

	s.library.cuCtxDestroy_v2 = stays;
	for (i = 0; i < 100; i++) {
		OK(OUT(8));
		FAILS(ASK(cuCtxDestroy_v2, .ctx = ctx), INVALID_CONTEXT);
		OK(ASK(current, .ctx = ctx));
	}
	assert_int_equal(fake_blocks, 1);
}

/*
 * To memory without a device address the library copies with the CPU, during the call. So the
 * server waits for the stream first.
 */
TEST(no_small_answers)
{
	uint64_t st;
	unsigned int answers;

	fake_no_address = true;
	context();
	st = stream();
	fake_busy = 2;
	answers = fake_answers;
	OUT(8);
	assert_int_equal(fake_busy, 1);
	assert_int_equal(fake_blocks, 0);
	end_waits();
	assert_int_equal(fake_answers, answers + 1);
	assert_int_equal(fake_payload[0], 0x1111111111111111ull);
}

/*
 * A library without cuMemHostGetDevicePointer(): the arena is not registered, and copies wait as
 * without pinned memory.
 */
TEST(not_pinned)
{
	uint64_t st;
	unsigned int answers;

	fake_share(&s);
	context();
	st = stream();
	s.library.cuMemHostGetDevicePointer_v2 = NULL;
	OK(fake_frame(&s, OP_pin, NULL, 0));
	assert_int_equal(ANSWER(pin)->pinned, 0);
	assert_int_equal(fake_registered, 0);
	fake_busy = 2;
	answers = fake_answers;
	ASK(copy_out, .src = 1 << 20, .stream = st, .at = 4096, .bytes = 4096, .flags = COPY_WHOLE);
	assert_int_equal(fake_answers, answers);
	end_waits();
	assert_int_equal(fake_answers, answers + 1);
	OK(ASK(fence, .upto = UINT64_MAX));
}

/*
 * Bytes that a relay takes from the arena are not sent to the client. A frame whose piece did not
 * come is not carried out.
 */
TEST(by_relays)
{
	struct q_box box = { .form = FORM_2D | FORM_STAYS,
			     .size = { 64, 4, 1 },
			     .src = DEVICE_END(64, 4),
			     .dst = HOST_END(4096, 64, 4) };
	struct q_copy_in in = { .dst = 1 << 20, .at = 4096, .bytes = 4096 };
	unsigned int calls;

	context();
	OK(ASK(copy_out, .src = 1 << 20, .at = 4096, .bytes = 4096,
	       .flags = COPY_WHOLE | COPY_STAYS));
	OK(fake_frame(&s, OP_box, &box, sizeof(box)));
	assert_int_equal(fake_given, 0);
	OK(ASK(copy_out, .src = 1 << 20, .at = 4096, .bytes = 4096, .flags = COPY_WHOLE));
	box.form = FORM_2D;
	OK(fake_frame(&s, OP_box, &box, sizeof(box)));
	assert_int_equal(fake_given, 2);
	FAILS(ASK(copy_out, .src = 1 << 20, .at = (1 << 20) - 8, .bytes = 4096,
		  .flags = COPY_STAYS),
	      INVALID_VALUE);
	calls = fake_calls;
	FAILS(fake_frame(&s, KVGPU_REMOTE_OP_SPOILT, &in, sizeof(in)), SYSTEM_NOT_READY);
	assert_int_equal(fake_calls, calls);
	OK(fake_frame(&s, OP_copy_in, &in, sizeof(in)));
	assert_true(fake_calls > calls);
}

static unsigned int two_dimensions; /* copies in two dimensions that reached the library */

static CUresult count_2d(const CUDA_MEMCPY2D *c)
{
	two_dimensions++;
	return CUDA_SUCCESS;
}

static CUresult count_2d_async(const CUDA_MEMCPY2D *c, CUstream stream)
{
	return count_2d(c);
}

/*
 * A copy in two dimensions has no depth: with a depth of 0 in the frame it would copy its lines all
 * the same, to and from memory behind the arena. So no box with an end in the arena may be without
 * bytes.
 */
TEST(boxes_without_bytes)
{
	static const uint32_t forms[] = { FORM_2D, FORM_2D_UNALIGNED,	 FORM_2D | FORM_ASYNC,
					  FORM_3D, FORM_3D | FORM_ASYNC, FORM_3D_PEER };
	const uint64_t host[10] = HOST_END(0, 1 << 30, 2), device[10] = DEVICE_END(64, 2);
	unsigned int i;

	context();
	s.library.cuMemcpy2D_v2 = s.library.cuMemcpy2DUnaligned_v2 = count_2d;
	s.library.cuMemcpy2DAsync_v2 = count_2d_async;
	two_dimensions = 0;
	for (i = 0; i < 3 * sizeof(forms) / sizeof(*forms); i++) {
		struct q_box q = { .form = forms[i / 3], .size = { 64, 2, 1 } };

		q.size[i % 3] = 0;
		memcpy(q.src, host, sizeof(host));
		memcpy(q.dst, device, sizeof(device));
		FAILS(fake_frame(&s, OP_box, &q, sizeof(q)), INVALID_VALUE);
		memcpy(q.src, device, sizeof(device));
		memcpy(q.dst, host, sizeof(host));
		FAILS(fake_frame(&s, OP_box, &q, sizeof(q)), INVALID_VALUE);
	}
	assert_int_equal(two_dimensions, 0);
}

/* A client that never sends a fence costs a limited number of events only. */
TEST(copies_without_end)
{
	unsigned int i;

	fake_share(&s);
	context();
	fake_busy = UINT32_MAX / 2;
	for (i = 0; i < 6000; i++)
		OK(ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = 4096));
	assert_true(s.pinned.nr_noted <= 4096);
}

#define ADD(q) fake_frame(&s, OP_copy_node, &(q), sizeof(q))

/* A graph's copy reads or writes a piece of the arena, its bounce buffer, when the graph runs. */
TEST(arena_of_bounces)
{
	struct q_copy_node q = copy_in(new_graph(), 5, 4096, 77);
	uint64_t ctx = context(), other;

	fake_no_register = true;
	FAILS(ADD(q), NOT_SUPPORTED);
	assert_false(bounces_live(&s));
	s.pinned.never = false;
	fake_no_register = false;
	OK(ADD(q));
	assert_int_equal(fake_registered, 1);
	/* copies that are not in graphs are still told that the arena is not pinned */
	OK(fake_frame(&s, OP_pin, NULL, 0));
	assert_int_equal(ANSWER(pin)->pinned, 0);
	/*
	 * another context registers the arena when the first context ends; the last one ends that
	 */
	other = context();
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(fake_registered, 1);
	assert_int_equal(s.pinned.graphs_in, other);
	assert_int_equal(s.current, other);
	OK(ASK(cuCtxDestroy_v2, .ctx = other));
	assert_int_equal(fake_registered, 0);
	context();
	q = copy_in(new_graph(), 6, 8192, 78);
	fake_no_address = true;
	OK(ADD(q));
	assert_int_equal(fake_registered, 0);
	assert_true(s.pinned.reads_late);
}

/* single words, which have to lie in the arena */
static void words_of_mapped_memory(void)
{
	struct {
		struct q_mapped_in q;
		uint32_t pair[2][2];
	} f = { .q = { s.arena_bytes - 8192, 2 }, .pair = { { 0, 0x12345678 }, { 8188, 5 } } };
	uint32_t *last = (uint32_t *)(s.arena + s.arena_bytes - 4);

	OK(fake_frame(&s, OP_mapped_in, &f, sizeof(f)));
	assert_int_equal(*(uint32_t *)(s.arena + f.q.at), 0x12345678);
	assert_int_equal(*last, 5);
	f.pair[1][1] = 6;
	FAILS(fake_frame(&s, OP_mapped_in, &f, sizeof(f) - 8), INVALID_VALUE);
	f.q.words = 1;
	FAILS(fake_frame(&s, OP_mapped_in, &f, sizeof(f)), INVALID_VALUE);
	f.q.words = 2;
	f.pair[1][0] = 8190;
	FAILS(fake_frame(&s, OP_mapped_in, &f, sizeof(f)), INVALID_VALUE);
	f.pair[1][0] = 8192;
	FAILS(fake_frame(&s, OP_mapped_in, &f, sizeof(f)), INVALID_VALUE);
	f.q.at = UINT64_MAX - 3;
	FAILS(fake_frame(&s, OP_mapped_in, &f, sizeof(f)), INVALID_VALUE);
	f.q.words = UINT64_MAX / 8;
	FAILS(fake_frame(&s, OP_mapped_in, &f, sizeof(f)), INVALID_VALUE);
	assert_int_equal(*last, 5);
}

/*
 * The arena as mapped memory: registered when the client wants it, in another context when the
 * first one ends, and only where the GPU sees it at the CPU's address.
 */
TEST(mapped_arena)
{
	uint64_t ctx, other;

	assert_int_equal(GET(arena, init, .pid = 1), (uintptr_t)s.arena);
	OK(fake_frame(&s, OP_map, NULL, 0));
	assert_int_equal(ANSWER(map)->mapped, 0); /* no context */
	ctx = context();
	OK(fake_frame(&s, OP_map, NULL, 0));
	assert_int_equal(ANSWER(map)->mapped, 0); /* at another address */
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	fake_own_address = true;
	ctx = context();
	OK(fake_frame(&s, OP_map, NULL, 0));
	OK(fake_frame(&s, OP_map, NULL, 0));
	assert_int_equal(ANSWER(map)->mapped, 1);
	assert_int_equal(fake_registered, 1);
	other = context();
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(s.pinned.graphs_in, other);
	OK(ASK(cuCtxDestroy_v2, .ctx = other));
	assert_int_equal(fake_registered, 0);
	/* beside the ring, which is registered by itself */
	context();
	OK(ASK(ring, .bytes = 256 << 10));
	OK(fake_frame(&s, OP_map, NULL, 0));
	assert_int_equal(ANSWER(map)->mapped, 1);
	assert_int_equal(fake_registered, 2);
	fake_given = 0;
	OK(ASK(mapped_out, .at = s.arena_bytes - 8192, .bytes = 8192));
	assert_int_equal(fake_given, 1);
	FAILS(ASK(mapped_out, .at = s.arena_bytes - 8192, .bytes = 8193), INVALID_VALUE);
	words_of_mapped_memory();
	fake_share(&s);
	FAILS(ASK(mapped_out, .at = 0, .bytes = 4096), INVALID_VALUE);
	FAILS(fake_frame(&s, OP_map, NULL, 0), INVALID_VALUE);
	assert_int_equal(GET(arena, init, .pid = 1), 0);
	assert_int_equal(fake_given, 1);
}

/* what the library reads in copies from the arena: where, and the first byte */
static const uint8_t *read_at;
static uint8_t read_byte;

static CUresult read_now(const void *from)
{
	read_at = from;
	read_byte = *read_at;
	return CUDA_SUCCESS;
}

static CUresult see_line(CUdeviceptr d, const void *from, size_t n, CUstream stream)
{
	return read_now(from);
}

static CUresult see_run(CUarray d, size_t at, const void *from, size_t n, CUstream stream)
{
	return read_now(from);
}

static CUresult see_box(const CUDA_MEMCPY3D *c, CUstream stream)
{
	return read_now(c->srcHost);
}

/* Makes a copy of each kind of bytes at 4096 in the arena. @there: the library reads them there. */
static void uploads(uint64_t array, bool there)
{
	const struct q_box box = { .size = { 100, 2, 1 },
				   .src = HOST_END(4096, 100, 2),
				   .dst = DEVICE_END(100, 2),
				   .form = FORM_3D | FORM_ASYNC };
	unsigned int kind;

	for (kind = 0; kind < 3; kind++) {
		s.arena[4096] = 10 + kind;
		read_at = NULL;
		if (kind == 0)
			OK(ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = 100));
		else if (kind == 1)
			OK(ASK(run, .what = RUN_IN_TO_ARRAY, .dst = array, .src = 4096,
			       .bytes = 100));
		else
			OK(fake_frame(&s, OP_box, &box, sizeof(box)));
		assert_non_null(read_at);
		assert_int_equal(read_at == s.arena + 4096, there);
		assert_int_equal(read_byte, 10 + kind);
	}
}

/*
 * The answer tells the client that the library has read the piece. So the library must not take the
 * arena, which it has registered for copies of graphs, for memory that the GPU may read later.
 */
TEST(uploads_beside_bounces)
{
	struct q_copy_node q;
	uint64_t array;

	context();
	s.library.cuMemcpyHtoDAsync_v2 = see_line;
	s.library.cuMemcpyHtoAAsync_v2 = see_run;
	s.library.cuMemcpy3DAsync_v2 = see_box;
	array = GET(array, cuArrayCreate_v2, .desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 });
	uploads(array, true);
	q = copy_in(new_graph(), 5, 8192, 77);
	OK(ADD(q));
	assert_int_equal(fake_registered, 1);
	uploads(array, false);
}

/*
 * An arena that is not shared: the client has its first bytes registered. The GPU reads a late
 * piece when it likes, until a fence, and no other piece.
 */
TEST(late_copies)
{
	enum { RING = 64 << 10 };
	uint64_t ctx, array, seq;
	unsigned int i;

	assert_int_equal(GET(pinned, ring, .bytes = RING), 0); /* no context */
	FAILS(ASK(ring, .bytes = (1 << 20) + 4096), INVALID_VALUE);
	FAILS(ASK(ring, .bytes = 4095), INVALID_VALUE);
	ctx = context();
	array = GET(array, cuArrayCreate_v2, .desc = { 16, 16, CU_AD_FORMAT_FLOAT, 1 });
	s.library.cuMemcpyHtoDAsync_v2 = see_line;
	s.library.cuMemcpyHtoAAsync_v2 = see_run;
	s.library.cuMemcpy3DAsync_v2 = see_box;
	assert_int_equal(fake_registered, 0);
	uploads(array, true);
	assert_int_equal(GET(pinned, ring, .bytes = RING), 1);
	assert_int_equal(fake_registered, 1);
	uploads(array, false);
	assert_int_equal(s.pinned.nr_noted, 0);
	OK(ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = 4096, .flags = COPY_LATE));
	assert_ptr_equal(read_at, s.arena + 4096);
	assert_int_equal(s.pinned.nr_noted, 1);
	/* behind the ring it is no late piece, whatever the client says */
	OK(ASK(copy_in, .dst = 1 << 20, .at = RING - 8, .bytes = 16, .flags = COPY_LATE));
	assert_ptr_not_equal(read_at, s.arena + RING - 8);
	assert_int_equal(s.pinned.nr_noted, 1);
	seq = s.frame.head.seq;
	fake_busy = 1;
	i = fake_answers;
	ASK(fence, .upto = seq);
	assert_int_equal(fake_answers, i);
	end_waits();
	assert_int_equal(fake_answers, i + 1);
	assert_int_equal(s.pinned.nr_noted, 0);
	/* the registration ends with its context, and another one has it when it needs it */
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(fake_registered, 0);
	ctx = context();
	OK(ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = 4096, .flags = COPY_LATE));
	assert_int_equal(fake_registered, 1);
	assert_int_equal(s.pinned.ring_in, ctx);
	/* shared memory is registered as a whole, not so */
	fake_share(&s);
	FAILS(ASK(ring, .bytes = RING), INVALID_VALUE);
}

/* Bytes from the GPU go into the ring while other frames are served; then comes the answer. */
TEST(copies_that_land)
{
	uint64_t ctx = context(), st = stream();
	CUresult (*record)(CUevent e, CUstream s) = s.library.cuEventRecord;
	unsigned int i, answers;

	OK(ASK(ring, .bytes = 64 << 10));
	fake_busy = 3;
	answers = fake_answers;
	for (i = 0; i < 4; i++)
		ASK(copy_out, .src = 1 << 20, .stream = st, .at = 16384 * i, .bytes = 16384,
		    .flags = COPY_WHOLE);
	assert_int_equal(fake_answers, answers);
	assert_int_equal(fake_given, 0);
	OK(ASK(cuCtxSetLimit, .limit = 0, .value = 1));
	end_waits();
	assert_int_equal(fake_answers, answers + 5);
	assert_int_equal(fake_given, 4);
	assert_int_equal(s.arena[16384 * 3], 0x11);
	/* no event: the library waits */
	s.library.cuEventRecord = refuse_record;
	OK(ASK(copy_out, .src = 1 << 20, .stream = st, .at = 0, .bytes = 16384,
	       .flags = COPY_WHOLE));
	s.library.cuEventRecord = record;
	assert_int_equal(fake_given, 5);
	/* nothing is given of a copy that failed, or whose context ended */
	fake_error = CUDA_ERROR_ILLEGAL_ADDRESS;
	FAILS(ASK(copy_out, .src = 1 << 20, .stream = st, .at = 0, .bytes = 16384,
		  .flags = COPY_WHOLE),
	      ILLEGAL_ADDRESS);
	fake_error = CUDA_SUCCESS;
	fake_busy = 1000;
	answers = fake_answers;
	ASK(copy_out, .src = 1 << 20, .stream = st, .at = 0, .bytes = 16384, .flags = COPY_WHOLE);
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(fake_answers, answers + 2);
	assert_null(s.waits.list);
	assert_int_equal(fake_given, 5);
}

/*
 * The server gives one piece, and answers whatever else is over, before it looks for the next
 * frame.
 */
TEST(frames_between_pieces)
{
	uint64_t ctx = context(), st = stream(), other = stream();
	unsigned int i, answers;

	OK(ASK(ring, .bytes = 64 << 10));
	fake_given = 0;
	fake_busy = 1000;
	answers = fake_answers;
	for (i = 0; i < 4; i++)
		ASK(copy_out, .src = 1 << 20, .stream = st, .at = 16384 * i, .bytes = 16384,
		    .flags = COPY_WHOLE);
	ASK(cuStreamSynchronize, .stream = other);
	assert_int_equal(fake_answers, answers);
	fake_busy = 0;
	assert_true(waits_look(&s));
	assert_int_equal(fake_answers, answers + 1);
	assert_false(waits_look(&s));
	for (i = 1; i <= 4; i++) {
		assert_int_equal(fake_given, i - 1);
		assert_true(waits_give(&s));
		assert_int_equal(fake_answers, answers + 1 + i);
	}
	assert_false(waits_give(&s));
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
}

/* Copies of graphs register what the ring has not. */
TEST(ring_beside_bounces)
{
	struct q_copy_node q = copy_in(new_graph(), 5, 128 << 10, 77);
	uint64_t ctx = context(), other;

	OK(ASK(ring, .bytes = 64 << 10));
	OK(ADD(q));
	assert_int_equal(fake_registered, 2);
	assert_int_equal(s.pinned.graphs_from, 64 << 10);
	other = context();
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	/* as a whole: the bounce buffer is needed, and no copy needs the ring yet */
	assert_int_equal(fake_registered, 1);
	assert_int_equal(s.pinned.graphs_from, 0);
	assert_int_equal(GET(pinned, ring, .bytes = 64 << 10), 1);
	assert_int_equal(fake_registered, 1);
	OK(ASK(cuCtxDestroy_v2, .ctx = other));
	assert_int_equal(fake_registered, 0);
}

/* A library without an address for registered memory: copies wait, as without a ring. */
TEST(ring_refused)
{
	uint64_t st;

	context();
	st = stream();
	fake_no_address = true;
	assert_int_equal(GET(pinned, ring, .bytes = 64 << 10), 0);
	assert_int_equal(fake_registered, 0);
	OK(ASK(copy_in, .dst = 1 << 20, .at = 4096, .bytes = 4096, .flags = COPY_LATE));
	assert_int_equal(s.pinned.nr_noted, 0);
	OK(ASK(copy_out, .src = 1 << 20, .stream = st, .at = 0, .bytes = 16384,
	       .flags = COPY_WHOLE));
	assert_int_equal(fake_given, 1);
	assert_int_equal(fake_registered, 0);
}

/*
 * A copy of the client's memory is a child graph for the library, and a copy node for the client.
 * The client is told when no graph needs the memory any more.
 */
TEST(bounces)
{
	uint64_t one = new_graph(), two = new_graph(), node, clone;
	struct q_copy_node q = copy_in(one, 5, 4096, 77), out;

	context();
	OK(ADD(q));
	node = ANSWER(copy_node)->node;
	assert_int_equal(ANSWER(copy_node)->bounce[0], 5);
	assert_int_equal(ANSWER(copy_node)->bounce[1], 0);
	assert_true(fake_notified[KVGPU_REMOTE_NOTIFY_FILL]);
	assert_int_equal(fake_event_id, 5);
	assert_int_equal(GET(type, cuGraphNodeGetType, .node = node), CU_GRAPH_NODE_TYPE_MEMCPY);
	FAILS(ASK(cuGraphChildGraphNodeGetGraph, .node = node), INVALID_VALUE);
	OK(ASK(copy_node_get, .node = node));
	assert_int_equal(ANSWER(copy_node_get)->src[END_BOUNCE], 5);
	assert_int_equal(ANSWER(copy_node_get)->dst[END_WHERE], 1 << 20);
	/*
	 * a copy of the same client memory gets the same bounce buffer, a copy of other memory
	 * another one
	 */
	q = copy_in(two, 6, 8192, 77);
	OK(ADD(q));
	assert_int_equal(ANSWER(copy_node)->bounce[0], 5);
	q = copy_in(two, 7, 8192, 78);
	OK(ADD(q));
	assert_int_equal(ANSWER(copy_node)->bounce[0], 7);
	clone = GET(clone, cuGraphClone, .graph = two);
	OK(ASK(cuGraphDestroy, .graph = one));
	OK(ASK(cuGraphDestroy, .graph = two));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FREE], 0);
	OK(ASK(cuGraphDestroy, .graph = clone));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FREE], 2);
	assert_false(bounces_live(&s));
	/*
	 * a copy to the client's memory; then the node is changed to a copy from it, and keeps its
	 * number
	 */
	one = new_graph();
	out = copy_in(one, 9, 4096, 77);
	memcpy(out.dst, q.src, sizeof(out.dst));
	memcpy(out.src, q.dst, sizeof(out.src));
	memcpy(out.mine + 3, q.mine, 3 * sizeof(q.mine[0]));
	OK(ADD(out));
	node = ANSWER(copy_node)->node;
	assert_int_equal(ANSWER(copy_node)->bounce[1], 7);
	assert_true(fake_notified[KVGPU_REMOTE_NOTIFY_DRAIN]);
	q = copy_in(0, 8, 4096, 77);
	q.node = node;
	OK(ADD(q));
	OK(ASK(copy_node_get, .node = node));
	assert_int_equal(ANSWER(copy_node_get)->src[END_BOUNCE], 8);
	assert_int_equal(ANSWER(copy_node_get)->dst[END_BOUNCE], 0);
	/*
	 * nodes that are wrong: no bounce buffer is kept, and the client hears nothing of a bounce
	 * buffer that it was not given
	 */
	fake_notified[KVGPU_REMOTE_NOTIFY_FREE] = 0;
	q = copy_in(one, 10, (1 << 20) - 99, 80);
	FAILS(ADD(q), INVALID_VALUE);
	q = copy_in(one, 10, 4096, 80);
	q.dst[END_BOUNCE] = 11;
	FAILS(ADD(q), INVALID_VALUE);
	q = copy_in(one, 10, 4096, 80);
	q.size[1] = 0;
	FAILS(ADD(q), INVALID_VALUE);
	q = copy_in(one, 10, 4096, 80);
	q.exec = node;
	FAILS(ADD(q), INVALID_HANDLE);
	q.exec = 0;
	fake_error = CUDA_ERROR_OUT_OF_MEMORY;
	FAILS(ADD(q), OUT_OF_MEMORY);
	fake_error = CUDA_SUCCESS;
	assert_int_equal(ANSWER(copy_node)->bounce[0], 0);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FREE], 0);
	/* without user objects in the library the bounce buffer is kept */
	s.library.cuUserObjectCreate = NULL;
	OK(ADD(q));
	OK(ASK(cuGraphDestroy, .graph = one));
	assert_true(bounces_live(&s));
}

/* the host function that the library was given last, before it called it */
static CUDA_HOST_NODE_PARAMS last_function;
static CUresult (*add_host)(CUgraphNode *node, CUgraph g, const CUgraphNode *d, size_t n,
			    const CUDA_HOST_NODE_PARAMS *p);

static CUresult note_function(CUgraphNode *node, CUgraph g, const CUgraphNode *d, size_t n,
			      const CUDA_HOST_NODE_PARAMS *p)
{
	last_function = *p;
	return add_host(node, g, d, n, p);
}

static uint64_t graph_with_bounce(void)
{
	uint64_t graph = new_graph();
	struct q_copy_node q = copy_in(graph, 5, 4096, 77);

	if (!s.current)
		context();
	add_host = s.library.cuGraphAddHostNode;
	s.library.cuGraphAddHostNode = note_function;
	OK(ADD(q));
	s.library.cuGraphAddHostNode = add_host;
	memset(fake_notified, 0, sizeof(fake_notified));
	return graph;
}

/*
 * A library may say that nothing refers to a bounce buffer while a launch is still to come to its
 * function. The function then finds no bounce buffer, also where there is a new one since.
 */
TEST(bounces_that_ended)
{
	uint64_t graph = graph_with_bounce();
	const CUDA_HOST_NODE_PARAMS old = last_function;

	OK(ASK(cuGraphDestroy, .graph = graph));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FREE], 1);
	old.fn(old.userData);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FILL], 0);
	graph = graph_with_bounce();
	old.fn(old.userData);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FILL], 0);
	last_function.fn(last_function.userData);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FILL], 1);
}

static uint64_t ends_meanwhile;

static void end_graph(void)
{
	fake_in_call = NULL;
	OK(ASK(cuGraphDestroy, .graph = ends_meanwhile));
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FREE], 0);
}

/*
 * The same while the function waits for the client: the bounce buffer stays until it has returned.
 */
TEST(bounces_in_use)
{
	ends_meanwhile = graph_with_bounce();
	fake_in_call = end_graph;
	last_function.fn(last_function.userData);
	assert_null(fake_in_call);
	assert_int_equal(fake_notified[KVGPU_REMOTE_NOTIFY_FREE], 1);
	assert_false(bounces_live(&s));
}

/* ------------------------------------------------------------------ pages of the client's files */

enum { FILE_BYTES = 4 * 4096 };

/* a file of one kind: in memory and whole, or with pages that are missing, or on a disk */
static int make_file(const char *path, bool whole, struct q_lend *q)
{
	int file = path ? open(path, O_RDWR) : memfd_create("lent", MFD_ALLOW_SEALING);
	struct stat st;

	assert_true(file >= 0);
	if (!path)
		assert_int_equal(ftruncate(file, FILE_BYTES), 0);
	if (whole)
		assert_int_equal(fallocate(file, 0, 0, FILE_BYTES), 0);
	assert_int_equal(fstat(file, &st), 0);
	*q = (struct q_lend){ .dev = st.st_dev,
			      .inode = st.st_ino,
			      .size = st.st_size,
			      .at = 100,
			      .bytes = 5000,
			      .flags = 3 };
	return file;
}

static CUresult send_lend(const struct q_lend *q, int file)
{
	fake_lent = file < 0 ? -1 : dup(file);
	return fake_frame(&s, OP_lend, q, sizeof(*q));
}

/* The server maps and registers what the client has named, and nothing else. */
TEST(pages_of_files)
{
	struct q_lend q, bad;
	uint64_t ctx = context(), device;
	int file = make_file(NULL, true, &q), holes, sealed, zero;

	fake_own_address = true;
	OK(send_lend(&q, file));
	device = ANSWER(lend)->device;
	assert_int_equal(fake_registered, 1);
	assert_int_equal(device % 4096, 100);
	memset((void *)(uintptr_t)device, 5, q.bytes);
	assert_int_equal(pread(file, &bad, 1, 5099), 1);
	assert_int_equal(*(uint8_t *)&bad, 5);
	FAILS(ASK(lend_end, .device = device + 1), HOST_MEMORY_NOT_REGISTERED);
	OK(ASK(lend_end, .device = device));
	FAILS(ASK(lend_end, .device = device), HOST_MEMORY_NOT_REGISTERED);
	assert_int_equal(fake_registered, 0);
	FAILS(send_lend(&q, -1), NOT_SUPPORTED);
	bad = q;
	bad.inode++;
	FAILS(send_lend(&bad, file), INVALID_VALUE);
	bad = q;
	bad.dev++;
	FAILS(send_lend(&bad, file), INVALID_VALUE);
	bad = q;
	bad.size += 4096;
	FAILS(send_lend(&bad, file), INVALID_VALUE);
	bad = q;
	bad.bytes = FILE_BYTES;
	FAILS(send_lend(&bad, file), INVALID_VALUE);
	bad.at = -(uint64_t)4096;
	FAILS(send_lend(&bad, file), INVALID_VALUE);
	holes = make_file(NULL, false, &bad);
	FAILS(send_lend(&bad, holes), INVALID_VALUE);
	sealed = make_file(NULL, true, &bad);
	assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
	FAILS(send_lend(&bad, sealed), INVALID_VALUE);
	zero = make_file("/dev/zero", false, &bad);
	bad.size = bad.bytes = 4096;
	FAILS(send_lend(&bad, zero), INVALID_VALUE);
	/* no more in all than the arena has had at first */
	s.arena_first = 4 * 4096;
	OK(send_lend(&q, file));
	OK(send_lend(&q, file));
	FAILS(send_lend(&q, file), OUT_OF_MEMORY);
	OK(ASK(cuCtxDestroy_v2, .ctx = ctx));
	assert_int_equal(fake_registered, 0);
	assert_int_equal(s.lents.bytes, 0);
	fake_own_address = false;
	close(file);
	close(holes);
	close(sealed);
	close(zero);
}

TEST_MAIN(set_up, tear_down)
