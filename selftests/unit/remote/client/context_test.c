// SPDX-License-Identifier: MIT
/* Users of a context: threads attach to one context and detach at the same time. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <remote/client/client.h>

enum { THREADS = 2, ROUNDS = 100000 };

/* ------------------------------------------------ in the place of the client's other files */

struct peer peers[PEERS_MAX];
static struct object context = { .id = 1, .class = CLASS_CONTEXT };
static unsigned int ended;

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
	return handle == &context ? &context : NULL;
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
void object_empty(void *handle)
{
	__atomic_add_fetch(&ended, 1, __ATOMIC_RELAXED);
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
	assert_true(context.dead);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_user_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
