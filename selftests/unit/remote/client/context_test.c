// SPDX-License-Identifier: MIT
/*
 * Users of a context: threads attach to one context and detach at the same time. The handle of a
 * primary context, and what is told when contexts end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cuda/api/export/export.h>
#include <remote/client/client.h>

enum { THREADS = 2, ROUNDS = 100000 };

/* ------------------------------------------------ in the place of the client's other files */

struct peer peers[PEERS_MAX];
static struct object context = { .id = 1, .class = CLASS_CONTEXT };
static struct object primary = { .id = 2, .class = CLASS_CONTEXT };
static unsigned int ended, told, asked;
static uint64_t number = 2; /* the server's answer */

void client_say(const char *format, ...)
{
}

CUresult client_ready(void)
{
	return CUDA_SUCCESS;
}
CUresult call_enter(unsigned int flags)
{
	return CUDA_SUCCESS;
}
struct object *object_of(unsigned int class, const void *handle)
{
	return handle == &context ? &context : handle == &primary ? &primary : NULL;
}
struct peer *peer_of_device(CUdevice dev, uint32_t *n)
{
	*n = 5;
	return dev == 3 ? peers : NULL;
}
void peers_slow(enum slow why, bool is)
{
}

CUresult call_sync(struct call *c, size_t fixed)
{
	static struct a_primary a;

	assert_int_equal(c->op, OP_primary);
	assert_int_equal(((const struct q_primary *)c->fixed)->dev, 5);
	asked++;
	a.context = number;
	c->answer = &a;
	return CUDA_SUCCESS;
}
bool answer_handle(void **to, const struct call *c, unsigned int class, uint64_t id, void *parent,
		   bool none)
{
	*to = &primary;
	return class == CLASS_CONTEXT && id == primary.id;
}
void export_context_ended(CUcontext ctx)
{
	told++;
}
void ranges_end(const void *ctx)
{
}
void hostmem_end(const void *ctx)
{
}
void managed_end(const void *ctx)
{
}
void kept_forget(enum kept_kind kind)
{
}
void object_empty(void *handle)
{
	__atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
}

/* names of before CUDA 11 call these */
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev)
{
	primary_released(dev);
	return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev)
{
	primary_reset(dev);
	return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags)
{
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ */

static void *attach_and_detach(void *arg)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		context_attached((CUcontext)&context);
		context_detached((CUcontext)&context);
	}
	return NULL;
}

static void no_user_is_lost(void **state)
{
	pthread_t threads[THREADS];
	unsigned int i;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, attach_and_detach, NULL), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(ended, 0);
	assert_int_equal(context.attached, 0);
	context_detached((CUcontext)&context);
	assert_int_equal(ended, 1);
	assert_int_equal(told, 1);
	assert_true(context.dead);
}

/* Known before it is retained, and after it has ended: the server is asked once. */
static void handle_is_fixed(void **state)
{
	CUcontext ctx = NULL;

	told = 0;
	assert_int_equal(export_primary(&ctx, 4), CUDA_ERROR_INVALID_DEVICE);
	number = 9;
	assert_int_equal(export_primary(&ctx, 3), CUDA_ERROR_UNKNOWN);
	assert_null(ctx);
	number = 2;
	assert_int_equal(export_primary(&ctx, 3), CUDA_SUCCESS);
	assert_ptr_equal(ctx, &primary);
	assert_true(primary.dead);
	assert_int_equal(primary.dev, 3);
	primary_retained(ctx, 3);
	assert_false(primary.dead);
	assert_int_equal(export_primary(&ctx, 3), CUDA_SUCCESS);
	assert_false(primary.dead);
	assert_int_equal(cuDevicePrimaryCtxReset(3), CUDA_SUCCESS);
	assert_int_equal(told, 1);
	primary_retained(ctx, 3);
	primary_released(3);
	assert_int_equal(told, 1);
	assert_int_equal(cuDevicePrimaryCtxRelease(3), CUDA_SUCCESS);
	assert_int_equal(told, 2);
	assert_true(primary.dead);
	assert_int_equal(export_primary(&ctx, 3), CUDA_SUCCESS);
	assert_ptr_equal(ctx, &primary);
	assert_int_equal(asked, 2);
}

/* what a library has in a context is not in the next one with that handle */
static void each_life_is_another(void **state)
{
	struct library_place first, second;
	CUcontext ctx = (CUcontext)&context;

	context = (struct object){ .id = 1, .class = CLASS_CONTEXT };
	primary_retained(ctx, 0);
	assert_int_equal(library_place(ctx, &first), CUDA_SUCCESS);
	assert_int_equal(library_place(ctx, &second), CUDA_SUCCESS);
	assert_int_equal(first.life, second.life);
	primary_reset(0);
	assert_int_equal(library_place(ctx, &second), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	primary_retained(ctx, 0);
	assert_int_equal(library_place(ctx, &second), CUDA_SUCCESS);
	assert_int_not_equal(first.life, second.life);
}

/* The runtimes make a primary context current ahead of its first use, and after a reset. */
static void device_of_one_that_is_not_active(void **state)
{
	CUcontext ctx = (CUcontext)&primary;
	CUdevice dev = -1;

	assert_int_equal(cuCtxGetDevice(&dev), CUDA_ERROR_INVALID_CONTEXT);
	primary_retained(ctx, 3);
	primary_reset(3);
	assert_int_equal(cuCtxPushCurrent_v2(ctx), CUDA_SUCCESS);
	assert_int_equal(current_check(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	assert_int_equal(cuCtxGetDevice(&dev), CUDA_SUCCESS);
	assert_int_equal(dev, 3);
	assert_int_equal(cuCtxGetDevice(NULL), CUDA_ERROR_INVALID_VALUE);
	/* one of the program's own that has ended, and a new one in its place */
	context = (struct object){ .id = 1, .class = CLASS_CONTEXT };
	context_created((CUcontext)&context, 3);
	assert_int_equal(cuCtxGetDevice(&dev), CUDA_SUCCESS);
	context.dead = true;
	assert_int_equal(cuCtxGetDevice(&dev), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	context = (struct object){ .id = 3, .class = CLASS_CONTEXT };
	primary_retained((CUcontext)&context, 0);
	assert_int_equal(cuCtxGetDevice(&dev), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_user_is_lost),
		cmocka_unit_test(handle_is_fixed),
		cmocka_unit_test(each_life_is_another),
		cmocka_unit_test(device_of_one_that_is_not_active),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
