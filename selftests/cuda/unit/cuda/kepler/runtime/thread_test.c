// SPDX-License-Identifier: MIT
/* The runtime API from many threads. */
#include <pthread.h>
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda/kepler/driver/driver.h>

#include "../driver/fake.h"
#include "program.h"

enum { THREADS = 4, ROUNDS = 60 };

static void in_threads(void *(*f)(void *))
{
	pthread_t t[THREADS];
	intptr_t i;
	void *bad;

	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&t[i], NULL, f, (void *)i), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
}

static void *first_use(void *arg)
{
	uint64_t where = 0;
	void *args[] = { &where };
	intptr_t bad = 0;
	unsigned int v, i;
	float table[4];
	void *p;

	for (i = 0; i < ROUNDS && !bad; i++) {
		bad += cudaSetDevice(0);
		bad += cudaMalloc(&p, 64);
		bad += cudaMemsetAsync_ptsz(p, i, 64, NULL);
		bad += cudaMemcpy_ptds(&v, (char *)p + 60, 4, cudaMemcpyDeviceToHost);
		bad += v != i * 0x01010101u;
		bad += cudaMemcpyFromSymbol(table, &table_shadow, 16, 0, cudaMemcpyDeviceToHost);
		bad += table[3] != 3.5f;
		bad += cudaLaunchKernel_ptsz(&store_stub, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 },
					     args, 0, NULL);
		bad += cudaFree(p);
		bad += cudaMalloc(NULL, 1) != cudaErrorInvalidValue;
		bad += cudaGetLastError() != cudaErrorInvalidValue;
	}
	return (void *)bad;
}

TEST(one_context)
{
	register_program();
	in_threads(first_use);
	assert_int_equal(fake_open, 1);
	unregister_program();
	OK(cudaDeviceReset());
	assert_int_equal(fake_early, 0);
	assert_int_equal(fake_buffers, 0);
}

/* As dlopen() and dlclose() do. */
static void *library(void *arg)
{
	void *cubin = file_bytes("selftests/cuda/driver/kernels.cubin"), **handle, *p;
	struct wrapper w = wrap(cubin);
	intptr_t bad = 0;
	char stub, shadow;
	int i;

	for (i = 0; i < 10 && !bad; i++) {
		handle = __cudaRegisterFatBinary(&w);
		__cudaRegisterFunction(handle, &stub, NULL, "add", -1, NULL, NULL, NULL, NULL,
				       NULL);
		__cudaRegisterVar(handle, &shadow, NULL, "table", 0, 16, 0, 0);
		__cudaRegisterFatBinaryEnd(handle);
		bad += cudaGetSymbolAddress(&p, &shadow);
		bad += cudaFuncSetCacheConfig(&stub, cudaFuncCachePreferL1);
		__cudaUnregisterFatBinary(handle);
		bad += cudaFuncSetCacheConfig(&stub, cudaFuncCachePreferL1) !=
		       cudaErrorInvalidDeviceFunction;
	}
	free(cubin);
	return (void *)bad;
}

TEST(libraries)
{
	in_threads(library);
	OK(cudaDeviceReset());
	assert_int_equal(fake_buffers, 0);
}

/* Goes on with the next context after another thread's reset. */
static void *user(void *arg)
{
	pthread_barrier_t *b = arg;
	intptr_t bad;
	void *p;

	bad = cudaMalloc(&p, 16);
	pthread_barrier_wait(b);
	pthread_barrier_wait(b);
	bad += cudaMalloc(&p, 16);
	bad += cudaMemset(p, 0, 16);
	return (void *)bad;
}

TEST(reset_by_another)
{
	pthread_barrier_t b;
	pthread_t t;
	void *bad;

	pthread_barrier_init(&b, NULL, 2);
	assert_int_equal(pthread_create(&t, NULL, user, &b), 0);
	pthread_barrier_wait(&b);
	OK(cudaDeviceReset());
	assert_int_equal(fake_open, 0);
	pthread_barrier_wait(&b);
	pthread_join(t, &bad);
	assert_null(bad);
	assert_int_equal(fake_open, 1);
	OK(cudaDeviceReset());
	assert_int_equal(fake_open, 0);
	pthread_barrier_destroy(&b);
}

static int calls;

static void count(void *data)
{
	__atomic_fetch_add((int *)data, 1, __ATOMIC_RELAXED);
}

static void count_status(cudaStream_t stream, cudaError_t status, void *data)
{
	__atomic_fetch_add((int *)data, status == cudaSuccess && stream ? 100 : 10000,
			   __ATOMIC_RELAXED);
}

TEST(host_functions)
{
	cudaStream_t s;
	int i;

	OK(cudaStreamCreate(&s));
	for (i = 0; i < 20; i++) {
		OK(cudaLaunchHostFunc(s, count, &calls));
		OK(cudaStreamAddCallback(s, count_status, &calls, 0));
	}
	OK(cudaStreamSynchronize(s));
	assert_int_equal(__atomic_load_n(&calls, __ATOMIC_RELAXED), 2020);
	FAILS(cudaLaunchHostFunc(s, NULL, NULL), cudaErrorInvalidValue);
	FAILS(cudaStreamAddCallback(s, count_status, NULL, 1), cudaErrorInvalidValue);
	OK(cudaStreamDestroy(s));
	OK(cudaDeviceReset());
}

/* A library that is opened by a host function, for which the loading of a module waits. */
static struct wrapper opened;
static void **opened_handle;
static char opened_shadow;

static void open_library(void *cubin)
{
	while (!__atomic_load_n(&loads, __ATOMIC_ACQUIRE))
		usleep(1000);
	opened = wrap(cubin);
	opened_handle = __cudaRegisterFatBinary(&opened);
	__cudaRegisterVar(opened_handle, &opened_shadow, NULL, "table", 0, 16, 0, 0);
	__cudaRegisterFatBinaryEnd(opened_handle);
}

static int child_status = -1;

/* While another thread loads a module: its lock is held in the child for ever. */
static void fork_and_exit(void *unused)
{
	pid_t pid;

	while (!__atomic_load_n(&loads, __ATOMIC_ACQUIRE))
		usleep(1000);
	pid = fork();
	if (!pid) {
		alarm(60);
		unregister_program();
		_exit(cudaFree(NULL) != cudaErrorInitializationError);
	}
	waitpid(pid, &child_status, 0);
}

TEST(child_exits_amid_a_load)
{
	void *p;

	register_program();
	OK(cudaFree(NULL));
	__atomic_store_n(&loads, 0, __ATOMIC_RELEASE);
	OK(cudaLaunchHostFunc(NULL, fork_and_exit, NULL));
	alarm(90);
	OK(cudaGetSymbolAddress(&p, &table_shadow));
	alarm(0);
	OK(cudaDeviceSynchronize());
	assert_int_equal(child_status, 0);
	unregister_program();
	OK(cudaDeviceReset());
}

TEST(library_in_a_host_function)
{
	void *cubin = file_bytes("selftests/cuda/driver/kernels.cubin"), *p, *q;

	register_program();
	OK(cudaFree(NULL));
	__atomic_store_n(&loads, 0, __ATOMIC_RELEASE);
	OK(cudaLaunchHostFunc(NULL, open_library, cubin));
	alarm(60);
	OK(cudaGetSymbolAddress(&p, &table_shadow));
	alarm(0);
	OK(cudaDeviceSynchronize());
	OK(cudaGetSymbolAddress(&q, &opened_shadow));
	assert_ptr_not_equal(p, q);
	__cudaUnregisterFatBinary(opened_handle);
	FAILS(cudaGetSymbolAddress(&q, &opened_shadow), cudaErrorInvalidSymbol);
	OK(cudaGetSymbolAddress(&q, &table_shadow));
	assert_ptr_equal(p, q);
	unregister_program();
	OK(cudaDeviceReset());
	free(cubin);
}

static cudaError_t in_reset[4];

/* a host function, called while cudaDeviceReset() waits for it */
static void use_runtime(void *data)
{
	int device;

	while (!pthread_mutex_trylock(&table)) {
		pthread_mutex_unlock(&table);
		usleep(1000);
	}
	in_reset[0] = cudaFree(NULL);
	in_reset[1] = (cudaError_t)cuCtxSetCurrent(data);
	in_reset[2] = cudaGetDevice(&device);
	in_reset[3] = cudaDeviceReset();
}

TEST(host_functions_in_a_reset)
{
	CUcontext ctx;

	OK(cudaFree(NULL));
	OK(cuCtxGetCurrent(&ctx));
	OK(cudaLaunchHostFunc(NULL, use_runtime, ctx));
	alarm(60);
	OK(cudaDeviceReset());
	alarm(0);
	FAILS(in_reset[0], cudaErrorNotPermitted);
	OK(in_reset[1]);
	OK(in_reset[2]);
	FAILS(in_reset[3], cudaErrorNotPermitted);
}

/*
 * The destructor runs in cudaDeviceReset(), which waits for another thread. The destructor itself
 * may not reset a device.
 */
static int destroyed;
static cudaError_t in_destructor;

static void *use_other_device(void *arg)
{
	intptr_t bad = cudaSetDevice(1);

	bad += cudaFree(NULL);
	bad += cudaDeviceReset();
	return (void *)bad;
}

static void wait_for_other_device(void *data)
{
	void *bad = data;
	pthread_t t;

	in_destructor = cudaDeviceReset();
	if (!pthread_create(&t, NULL, use_other_device, NULL))
		pthread_join(t, &bad);
	destroyed += !bad;
}

TEST(destructor_in_a_reset)
{
	enum cudaStreamCaptureStatus status;
	cudaUserObject_t object;
	cudaStream_t stream;
	cudaGraph_t graph;

	OK(cudaStreamCreateWithFlags(&stream, CU_STREAM_NON_BLOCKING));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL, NULL));
	OK(cudaUserObjectCreate(&object, &destroyed, wait_for_other_device, 1,
				CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cudaGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	alarm(60);
	OK(cudaDeviceReset());
	alarm(0);
	assert_int_equal(destroyed, 1);
	FAILS(in_destructor, cudaErrorNotPermitted);
}

int main(void)
{
	fake_count = 2;
	return unit_tests_run(NULL, NULL, NULL, NULL);
}
