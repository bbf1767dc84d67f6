// SPDX-License-Identifier: MIT
/*
 * Executable graphs on a fake device: what the driver does without memory.
 * selftests/cuda/driver/graph.c has what graphs do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <cuda/driver/driver.h>

#include "fake.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static CUcontext ctx;

static int set_up(void **state)
{
	memset(fake_hold, 0, sizeof(fake_hold));
	return cuInit(0) || cuCtxCreate_v2(&ctx, 0, 0);
}

static int tear_down(void **state)
{
	return cuCtxDestroy_v2(ctx) || fake_open || fake_buffers || fake_early;
}

/* ------------------------------------------------------------------ no memory */

/* the allocation after this many further ones of the driver fails; -1: none fails */
static int fail_after = -1;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : __real_calloc(n, size);
}

void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size)
{
	return fail_after >= 0 && fail_after-- == 0 ? NULL : __real_realloc(p, size);
}

/* A graph of two nodes in a row, of which the second one is a graph with one node. */
static CUgraph two_nodes(void)
{
	CUgraphNode empty, child;
	CUgraph graph, inner;

	OK(cuGraphCreate(&inner, 0));
	OK(cuGraphAddEmptyNode(&empty, inner, NULL, 0));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&empty, graph, NULL, 0));
	OK(cuGraphAddChildGraphNode(&child, graph, &empty, 1, inner));
	OK(cuGraphDestroy(inner));
	return graph;
}

static void without_memory(void **state)
{
	CUgraphExecUpdateResult result;
	CUgraph graph = two_nodes();
	CUgraphNode bad;
	CUgraphExec exec;
	CUresult r;
	int i, n;

	for (i = 0, r = CUDA_ERROR_OUT_OF_MEMORY; r; i++) {
		fail_after = i;
		r = cuGraphInstantiateWithFlags(&exec, graph, 0);
		fail_after = -1;
		if (r)
			assert_int_equal(r, CUDA_ERROR_OUT_OF_MEMORY);
	}
	n = i - 1;
	assert_in_range(n, 5, 100);
	for (i = 0, r = CUDA_ERROR_OUT_OF_MEMORY; r; i++) {
		fail_after = i;
		r = cuGraphExecUpdate(exec, graph, &bad, &result);
		fail_after = -1;
		if (r)
			assert_int_equal(r, CUDA_ERROR_OUT_OF_MEMORY);
	}
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
