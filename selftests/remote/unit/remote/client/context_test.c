// SPDX-License-Identifier: MIT
/*
 * Users of a context: threads attach to one context and detach at the same time. The handle of a
 * primary context, and what is told when contexts end.
 */
#include <pthread.h>
#include <selftests/unit_test.h>

#include <cuda/api/export/export.h>
#include <remote/client/client.h>

#include "../result.h"

enum { THREADS = 2, ROUNDS = 100000 };

/* ------------------------------------------------ in the place of the client's other files */

struct peer peers[PEERS_MAX];
static struct object context = { .id = 1, .class = CLASS_CONTEXT };
static struct object primary = { .id = 2, .class = CLASS_CONTEXT };
static unsigned int ended, told, asked;
static uint64_t number = 2; /* the server's answer */

struct object *object_of(unsigned int class, const void *handle)
{
	return handle == &context ? &context : handle == &primary ? &primary : NULL;
}
struct peer *peer_of_device(CUdevice dev, uint32_t *n)
{
	*n = 5;
	return dev == 3 ? peers : NULL;
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

TEST(no_user_is_lost)
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
TEST(handle_is_fixed)
{
	CUcontext ctx = NULL;

	told = 0;
	FAILS(export_primary(&ctx, 4), INVALID_DEVICE);
	number = 9;
	FAILS(export_primary(&ctx, 3), UNKNOWN);
	assert_null(ctx);
	number = 2;
	OK(export_primary(&ctx, 3));
	assert_ptr_equal(ctx, &primary);
	assert_true(primary.dead);
	assert_int_equal(primary.dev, 3);
	primary_retained(ctx, 3);
	assert_false(primary.dead);
	OK(export_primary(&ctx, 3));
	assert_false(primary.dead);
	OK(cuDevicePrimaryCtxReset(3));
	assert_int_equal(told, 1);
	primary_retained(ctx, 3);
	primary_released(3);
	assert_int_equal(told, 1);
	OK(cuDevicePrimaryCtxRelease(3));
	assert_int_equal(told, 2);
	assert_true(primary.dead);
	OK(export_primary(&ctx, 3));
	assert_ptr_equal(ctx, &primary);
	assert_int_equal(asked, 2);
}

/* what a library has in a context is not in the next one with that handle */
TEST(each_life_is_another)
{
	struct library_place first, second;
	CUcontext ctx = (CUcontext)&context;

	context = (struct object){ .id = 1, .class = CLASS_CONTEXT };
	primary_retained(ctx, 0);
	OK(library_place(ctx, &first));
	OK(library_place(ctx, &second));
	assert_int_equal(first.life, second.life);
	primary_reset(0);
	FAILS(library_place(ctx, &second), CONTEXT_IS_DESTROYED);
	primary_retained(ctx, 0);
	OK(library_place(ctx, &second));
	assert_int_not_equal(first.life, second.life);
}

/* The runtimes make a primary context current ahead of its first use, and after a reset. */
TEST(device_of_one_that_is_not_active)
{
	CUcontext ctx = (CUcontext)&primary;
	CUdevice dev = -1;

	FAILS(cuCtxGetDevice(&dev), INVALID_CONTEXT);
	primary_retained(ctx, 3);
	primary_reset(3);
	OK(cuCtxPushCurrent_v2(ctx));
	FAILS(current_check(), CONTEXT_IS_DESTROYED);
	OK(cuCtxGetDevice(&dev));
	assert_int_equal(dev, 3);
	FAILS(cuCtxGetDevice(NULL), INVALID_VALUE);
	/* one of the program's own that has ended, and a new one in its place */
	context = (struct object){ .id = 1, .class = CLASS_CONTEXT };
	context_created((CUcontext)&context, 3);
	OK(cuCtxGetDevice(&dev));
	context.dead = true;
	FAILS(cuCtxGetDevice(&dev), CONTEXT_IS_DESTROYED);
	context = (struct object){ .id = 3, .class = CLASS_CONTEXT };
	primary_retained((CUcontext)&context, 0);
	FAILS(cuCtxGetDevice(&dev), CONTEXT_IS_DESTROYED);
}

TEST_MAIN(NULL, NULL)
