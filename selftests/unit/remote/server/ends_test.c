// SPDX-License-Identifier: MIT
/*
 * The time that the ends of a client's objects take in the library is charged, beside a closed
 * turn: sched_client_test.c has contexts and modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <fcntl.h>
#include <unistd.h>

#include <remote/server/sched_client.h>

#include "ask.h"

enum { SLOW_US = 6000, SLOW_NS = SLOW_US * 1000 };

static struct sched_shared shared;
static int doorbell[2];

static CUresult slowly(void)
{
	usleep(SLOW_US);
	return CUDA_SUCCESS;
}

static CUresult end_stream(CUstream st)
{
	return slowly();
}
static CUresult end_exec(CUgraphExec e)
{
	return slowly();
}
static CUresult end_module(CUmodule m)
{
	return slowly();
}

static CUresult set_kernel(CUgraphExec e, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p)
{
	return CUDA_SUCCESS;
}

static int begin(void **state)
{
	set_up(state);
	s.library.cuStreamDestroy_v2 = end_stream;
	s.library.cuGraphExecDestroy = end_exec;
	s.library.cuModuleUnload = end_module;
	s.library.cuGraphExecKernelNodeSetParams = set_kernel;
	memset(&shared, 0, sizeof(shared));
	if (pipe2(doorbell, O_NONBLOCK))
		return -1;
	context();
	return sched_begin(&s, &shared, doorbell[1]);
}

static int end(void **state)
{
	tear_down(state);
	close(doorbell[0]);
	close(doorbell[1]);
	return 0;
}

/* From now on other clients have work, too. */
static void close_gate(void)
{
	shared.closed = shared.wanted = 1;
}

/* The frame takes the time of @ends slow calls at least; it is charged that, and no time twice. */
static void charged(unsigned int ends, uint16_t op, const void *payload, size_t n)
{
	struct kvgpu_remote_head h = { .seq = 1, .op = op, .completion = 1, .bytes = n };
	uint64_t words[8], began_ns = sched_now();

	assert_true(n <= sizeof(words));
	memcpy(words, payload, n);
	shared.used = 0;
	assert_int_equal(sched_frame(&s, &h, words), 0);
	assert_int_equal(fake_last.result, CUDA_SUCCESS);
	assert_in_range(shared.used, (uint64_t)ends * SLOW_NS, sched_now() - began_ns);
}

#define CHARGED(ends, name, ...) \
	charged(ends, OP_##name, &(struct q_##name){ __VA_ARGS__ }, sizeof(struct q_##name))

static void of_streams(void **state)
{
	uint64_t st = stream();

	close_gate();
	CHARGED(1, cuStreamDestroy_v2, .stream = st);
}

static uint64_t new_module(void)
{
	memcpy(s.arena, ".version 7.8\n", 14);
	OK(ASK(image, .at = 0, .bytes = 14));
	return ANSWER(image)->module;
}

/* A node of @graph, or that node of @exec, launches a function of @module. */
static uint64_t kernel_node(uint64_t graph, uint64_t node, uint64_t exec, uint64_t module)
{
	struct {
		struct q_function q;
		char name[8];
	} get = { .q = { .module = module, .name_bytes = 2 }, .name = "f" };
	struct {
		struct q_kernel_node q;
		uint8_t bytes[16];
	} make = { .q = { .graph = graph, .node = node, .exec = exec, .bytes = 13 } };

	OK(fake_frame(&s, OP_function, &get, sizeof(get)));
	make.q.function = ANSWER(function)->function;
	OK(fake_frame(&s, OP_kernel_node, &make, sizeof(make)));
	return ANSWER(kernel_node)->node;
}

/* A module that graphs keep ends with the last of them, behind that frame. */
static void of_modules_that_graphs_refer_to(void **state)
{
	uint64_t first = new_module(), second = new_module(), graph = new_graph(), node, exec;

	node = kernel_node(graph, 0, 0, first);
	OK(ASK(instantiate, .graph = graph, .version = 2));
	exec = ANSWER(instantiate)->exec;
	kernel_node(graph, node, exec, second);
	OK(ASK(cuModuleUnload, .module = first));
	OK(ASK(cuModuleUnload, .module = second));
	close_gate();
	CHARGED(2, cuGraphExecDestroy, .exec = exec); /* its own, and the second module's */
	CHARGED(1, cuGraphDestroy, .graph = graph);
	assert_null(s.graph_refs.objects);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, begin, end)
	const struct CMUnitTest tests[] = {
		T(of_streams),
		T(of_modules_that_graphs_refer_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
