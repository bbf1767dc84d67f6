// SPDX-License-Identifier: MIT
/* The server's side of cuBLAS and cuRAND. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ask.h"

static uint64_t blas(void)
{
	OK(fake_frame(&s, OP_blas_create, NULL, 0));
	return ANSWER(blas_create)->blas;
}

/* Returns the library's memory behind a handle. */
static const struct fake *inside(uint64_t id)
{
	const struct entry *e = handle_entry(&s, id);

	return e ? e->what : NULL;
}

static void handles(void **state)
{
	uint64_t ctx = context(), h = blas(), rand;

	OK(ASK(rand_create, .type = 100));
	rand = ANSWER(rand_create)->rand;
	OK(ASK(cublasScopy_v2, .handle = h, .n = 1));
	FAILS(ASK(cublasScopy_v2, .handle = rand, .n = 1), INVALID_HANDLE);
	FAILS(ASK(cublasScopy_v2, .handle = ctx, .n = 1), INVALID_HANDLE);
	FAILS(ASK(cublasScopy_v2, .handle = h + (1ull << 32), .n = 1), INVALID_HANDLE);
	FAILS(ASK(cublasScopy_v2, .handle = 0, .n = 1), INVALID_HANDLE);
	OK(ASK(curandGenerate, .handle = rand, .n = 1));
	FAILS(ASK(curandGenerate, .handle = h, .n = 1), INVALID_HANDLE);
	FAILS(ASK(blas_destroy, .blas = rand), INVALID_HANDLE);
	OK(ASK(blas_destroy, .blas = h));
	FAILS(ASK(blas_destroy, .blas = h), INVALID_HANDLE);
	FAILS(ASK(cublasScopy_v2, .handle = h, .n = 1), INVALID_HANDLE);
	OK(ASK(rand_destroy, .rand = rand));
}

static void many(void **state)
{
	uint64_t ids[FORWARDS_MAX];
	unsigned int i;

	context();
	for (i = 0; i < FORWARDS_MAX; i++)
		ids[i] = blas();
	FAILS(fake_frame(&s, OP_blas_create, NULL, 0), OUT_OF_MEMORY);
	FAILS(ASK(rand_create, .type = 100), OUT_OF_MEMORY);
	for (i = 0; i < FORWARDS_MAX; i++)
		OK(ASK(blas_destroy, .blas = ids[i]));
	blas();
}

/* A handle is charged to the client's memory with the amount that the library takes for it. */
static void quota(void **state)
{
	uint64_t h;

	s.options.memory = 64 << 20;
	context();
	h = blas();
	FAILS(fake_frame(&s, OP_blas_create, NULL, 0), OUT_OF_MEMORY);
	OK(ASK(blas_destroy, .blas = h));
	blas();
}

static void streams(void **state)
{
	uint64_t ctx = context(), st = stream(), h = blas(), other;

	OK(ASK(cublasScopy_v2, .handle = h, .stream = st, .n = 1));
	assert_ptr_equal(inside(h)->in, inside(st));
	OK(ASK(cublasScopy_v2, .handle = h, .stream = 1, .n = 1));
	assert_null(inside(h)->in);
	OK(ASK(cublasScopy_v2, .handle = h, .stream = st, .n = 1));
	/* the library forgets a stream that is destroyed */
	OK(ASK(cuStreamDestroy_v2, .stream = st));
	assert_null(inside(h)->in);
	FAILS(ASK(cublasScopy_v2, .handle = h, .stream = st, .n = 1), INVALID_VALUE);
	FAILS(ASK(cublasScopy_v2, .handle = h, .stream = h, .n = 1), INVALID_VALUE);
	/* a stream of another context */
	context();
	other = stream();
	OK(ASK(current, .ctx = ctx));
	FAILS(ASK(cublasScopy_v2, .handle = h, .stream = other, .n = 1), INVALID_VALUE);
	OK(ASK(cublasScopy_v2, .handle = h, .n = 1));
}

static void contexts(void **state)
{
	uint64_t first = context(), h = blas(), second;
	const struct fake *there = inside(h);

	second = context();
	FAILS(ASK(cublasScopy_v2, .handle = h, .n = 1), INVALID_CONTEXT);
	OK(ASK(cuCtxDestroy_v2, .ctx = first));
	/* the library's handle was destroyed with its context */
	assert_int_equal(there->class, CLASS_NONE);
	FAILS(ASK(blas_destroy, .blas = h), INVALID_HANDLE);
	assert_int_equal(s.current, second);
	OK(ASK(current, .ctx = 0));
	FAILS(fake_frame(&s, OP_blas_create, NULL, 0), INVALID_CONTEXT);
	FAILS(ASK(rand_create, .type = 100), INVALID_CONTEXT);
}

static CUresult not_known(void *v, CUpointer_attribute a, CUdeviceptr p)
{
	return CUDA_ERROR_INVALID_VALUE;
}

/* Scalars in the frame and on the device, in turn. The fake reads them as the pointer mode says. */
static void scalars(void **state)
{
	double two = 2;
	uint64_t bits, h;
	unsigned int i;

	memcpy(&bits, &two, sizeof(bits));
	context();
	h = blas();
	for (i = 0; i < 4; i++) {
		OK(ASK(cublasDscal_v2, .handle = h, .alpha = i & 1 ? 0x1000 : bits,
		       .flags = i & 1 ? FORWARD_ON_DEVICE : 0, .n = 1));
		assert_int_equal(inside(h)->count, i & 1);
		OK(ASK(cublasDgemm_v2, .handle = h, .alpha = i & 2 ? 0x1000 : bits,
		       .flags = i & 2 ? FORWARD_ON_DEVICE : 0, .m = 1));
		assert_int_equal(inside(h)->count, i >> 1);
	}
	/* an address that the library does not know is refused as a scalar's and as a vector's */
	s.library.cuPointerGetAttribute = not_known;
	FAILS(ASK(cublasDscal_v2, .handle = h, .alpha = 0x1000, .flags = FORWARD_ON_DEVICE, .n = 1),
	      INVALID_VALUE);
	FAILS(ASK(cublasDscal_v2, .handle = h, .alpha = bits, .x = 0x1000, .n = 1), INVALID_VALUE);
	FAILS(ASK(cublasDasum_v2, .handle = h, .result = 0x1000, .flags = FORWARD_ON_DEVICE,
		  .n = 1),
	      INVALID_VALUE);
	OK(ASK(cublasDscal_v2, .handle = h, .alpha = bits, .n = 1));
	s.library.cuPointerGetAttribute = NULL;
	FAILS(ASK(cublasDscal_v2, .handle = h, .alpha = bits, .x = 0x1000, .n = 1), INVALID_VALUE);
}

/* The answer is sent after the stream's work, and answers to other frames are sent before it. */
static void results(void **state)
{
	unsigned int answers;
	uint64_t h;

	context();
	h = blas();
	fake_busy = 3;
	answers = fake_answers;
	ASK(cublasSasum_v2, .handle = h, .n = 1);
	assert_int_equal(fake_answers, answers);
	fake_frame(&s, OP_cuCtxGetLimit, &(struct q_cuCtxGetLimit){ 0 },
		   sizeof(struct q_cuCtxGetLimit));
	assert_int_equal(fake_answers, answers + 1);
	while (fake_answers == answers + 1)
		waits_look(&s);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	assert_int_equal(fake_last.bytes, 8);
	/*
	 * pinned memory without a device address: the frame is put aside, and then the library
	 * waits
	 */
	fake_no_address = true;
	s.library.cuMemHostGetDevicePointer_v2 = NULL;
	small_forget(&s, s.current);
	fake_busy = 3;
	answers = fake_answers;
	ASK(cublasDdot_v2, .handle = h, .n = 1);
	assert_int_equal(fake_answers, answers);
	while (fake_answers == answers)
		waits_look(&s);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	assert_int_equal(fake_last.bytes, 8);
	OK(ASK(cublasDdot_v2, .handle = h, .n = 1, .result = 0x1000, .flags = FORWARD_ON_DEVICE));
}

/*
 * A status is returned unchanged if the client awaits the answer. If not, it comes later as a CUDA
 * error.
 */
static void statuses(void **state)
{
	struct q_cublasScopy_v2 q = { .n = 1 };
	uint64_t room[sizeof(q) / 8];
	struct kvgpu_remote_head head = { .seq = 1, .op = OP_cublasScopy_v2, .bytes = sizeof(q) };

	context();
	q.handle = blas();
	fake_error = CUDA_ERROR_UNKNOWN;
	q.x = 0;
	assert_int_equal(fake_frame(&s, OP_cublasScopy_v2, &q, sizeof(q)),
			 KVGPU_REMOTE_STATUS + BLAS_EXECUTION_FAILED);
	memcpy(room, &q, sizeof(q));
	serve_frame(&s, &head, room);
	assert_int_equal(s.late_error, CUDA_ERROR_LAUNCH_FAILED);
	fake_error = CUDA_SUCCESS;
	s.late_error = CUDA_SUCCESS;
	s.forward.blas_is = FORWARD_NOT;
	FAILS(fake_frame(&s, OP_blas_create, NULL, 0), NOT_SUPPORTED);
	s.forward.library->cublasScopy_v2 = NULL;
	FAILS(fake_frame(&s, OP_cublasScopy_v2, &q, sizeof(q)), NOT_SUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_SERVER(handles),  ON_SERVER(many),	 ON_SERVER(quota),   ON_SERVER(streams),
		ON_SERVER(contexts), ON_SERVER(scalars), ON_SERVER(results), ON_SERVER(statuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
