// SPDX-License-Identifier: MIT
/*
 * A client's process is put to sleep and wakes: in which order the library is called, when it is
 * not, and what the first process is told. The first process acts where this process waits.
 */
#include <errno.h>
#include <unistd.h>

#include "ask.h"

static struct sleep_shared shared;
static char called[64]; /* a letter for each call: Lock, Checkpoint, Restore, Unlock */
static CUresult lock_says, checkpoint_says;
static unsigned int restores_fail;
static CUresult restore_says; /* then */
static struct sleep_uuids moved;
static unsigned int waits; /* how often this process has waited */
static void (*first_process)(void);
static unsigned int frames; /* that come while the process sleeps */

static CUresult note(char letter, CUresult r)
{
	called[strlen(called)] = letter;
	return r;
}

static CUresult lock(int pid, void *args)
{
	assert_int_equal(pid, getpid());
	assert_int_not_equal(*(unsigned int *)args, 0); /* not for ever */
	return note('L', lock_says);
}

static CUresult checkpoint(int pid, void *args)
{
	return note('C', checkpoint_says);
}

static CUresult restore(int pid, void *args)
{
	const struct {
		const struct sleep_uuids *pairs;
		unsigned int nr;
	} *a = args;

	if (a->nr)
		moved = a->pairs[0];
	return note('R',
		    restores_fail && restores_fail-- ? CUDA_ERROR_OUT_OF_MEMORY : restore_says);
}

static CUresult unlock(int pid, void *args)
{
	return note('U', 0);
}

int __wrap_usleep(useconds_t us)
{
	waits++;
	if (first_process)
		first_process();
	return 0;
}

/* a library in sleep may not be called: it would never return */
static void is_awake(void)
{
	assert_int_not_equal(shared.state, SLEEP_ASLEEP);
	assert_int_not_equal(shared.state, SLEEP_WAITS);
}

static int one_frame(struct kvgpu_remote_head *h, const void **payload)
{
	waits++;
	if (first_process)
		first_process();
	if (!frames)
		return 0;
	*h = (struct kvgpu_remote_head){ .op = OP_cuCtxSynchronize };
	return frames--;
}

static void grant_after_three(void)
{
	if (waits > 3)
		shared.granted = shared.wish;
}

static int begin(void **state)
{
	set_up(state);
	memset(&shared, 0, sizeof(shared));
	memset(called, 0, sizeof(called));
	memset(&moved, 0, sizeof(moved));
	lock_says = checkpoint_says = restore_says = 0;
	restores_fail = waits = 0;
	frames = 1;
	first_process = grant_after_three;
	s.library.checkpoint = (struct checkpoint_calls){ lock, checkpoint, restore, unlock };
	sleep_begin(&s, &shared);
	fake_called = is_awake;
	fake_next = one_frame;
	return 0;
}

static int end(void **state)
{
	fake_called = NULL;
	fake_next = NULL;
	shared.state = SLEEP_AWAKE;
	return tear_down(state);
}

static int look(void)
{
	struct kvgpu_remote_head h;
	const void *payload;

	return sleep_look(&s, &h, &payload);
}

TEST(a_frame_wakes)
{
	assert_int_equal(look(), -EAGAIN);
	assert_string_equal(called, "");
	shared.order = 1;
	assert_int_equal(look(), 1);
	assert_string_equal(called, "LCRU");
	assert_true(waits > 3);
	assert_int_equal(shared.done, 1);
	assert_int_equal(shared.refusal, SLEEP_FINE);
	assert_int_equal(shared.state, SLEEP_AWAKE);
	assert_int_equal(look(), -EAGAIN);
}

static void wake_at_last(void)
{
	shared.wakes = waits > 2;
	grant_after_three();
}

TEST(the_admin_wakes)
{
	frames = 0;
	first_process = wake_at_last;
	shared.nr_moves = 1;
	shared.moves[0].to[0] = 7;
	shared.order = 1;
	assert_int_equal(look(), 0);
	assert_string_equal(called, "LCRU");
	assert_int_equal(moved.to[0], 7);
	/* an order to wake that has been seen wakes it once */
	frames = 1;
	shared.order = 2;
	assert_int_equal(look(), 1);
	assert_string_equal(called, "LCRULCRU");
}

/* another program has taken the room between the look and Restore */
TEST(no_room_after_all)
{
	restores_fail = 2;
	shared.order = 1;
	assert_int_equal(look(), 1);
	assert_string_equal(called, "LCRRRU");
	assert_int_equal(shared.wish, 3);
}

/* NVIDIA's library does not get over that: the client's process ends */
TEST(lost)
{
	restores_fail = 1;
	restore_says = CUDA_ERROR_OPERATING_SYSTEM;
	shared.order = 1;
	assert_int_equal(look(), -EIO);
	assert_string_equal(called, "LCRR");
}

static int gone(struct kvgpu_remote_head *h, const void **payload)
{
	return -ECONNRESET;
}

TEST(a_client_that_leaves_asleep)
{
	fake_next = gone;
	shared.order = 1;
	assert_int_equal(look(), -ECONNRESET);
	assert_string_equal(called, "LC");
}

static void refused(enum sleep_refusal refusal, CUresult error, const char *calls)
{
	shared.order++;
	assert_int_equal(look(), -EAGAIN);
	assert_int_equal(shared.done, shared.order);
	assert_int_equal(shared.refusal, refusal);
	assert_int_equal(shared.error, error);
	assert_int_equal(shared.state, SLEEP_AWAKE);
	assert_string_equal(called, calls);
	memset(called, 0, sizeof(called));
}

TEST(refusals)
{
	lock_says = CUDA_ERROR_NOT_READY;
	refused(SLEEP_BUSY, CUDA_ERROR_NOT_READY, "L");
	lock_says = 0;
	checkpoint_says = CUDA_ERROR_NOT_SUPPORTED;
	refused(SLEEP_MANAGED, CUDA_ERROR_NOT_SUPPORTED, "LCU");
	checkpoint_says = CUDA_ERROR_OUT_OF_MEMORY;
	refused(SLEEP_LIBRARY, CUDA_ERROR_OUT_OF_MEMORY, "LCU");
	s.captures.begun = 1;
	refused(SLEEP_CAPTURES, 0, "");
	s.captures.begun = 0;
	s.shares.events = 1;
	refused(SLEEP_SHARES, 0, "");
	s.shares.events = 0;
	checkpoint_says = 0;
	shared.order++;
	assert_int_equal(look(), 1);
}

/* the order counts with less memory than it has by now */
TEST(it_has_grown)
{
	s.quota.charged = 200;
	shared.less = 200;
	shared.order = 1;
	assert_int_equal(look(), -EAGAIN);
	assert_true(!shared.done && !*called);
	s.quota.charged = 199;
	assert_int_equal(look(), 1);
	assert_string_equal(called, "LCRU");
	s.quota.charged = 0;
}

/* a frame is aside: the order is tried until it has been served */
TEST(a_frame_waits)
{
	uint64_t st;

	context();
	st = stream();
	fake_busy = 3;
	ASK(cuStreamSynchronize, .stream = st);
	assert_non_null(s.waits.list);
	shared.order = 1;
	assert_int_equal(look(), -EAGAIN);
	assert_int_equal(shared.done, 0);
	end_waits();
	assert_int_equal(look(), 1);
	assert_int_equal(shared.done, 1);
}

static unsigned int allocations, fail;

static CUresult alloc(CUdeviceptr *ptr, size_t bytes)
{
	*ptr = 1 << 20;
	return allocations++ < fail ? CUDA_ERROR_OUT_OF_MEMORY : 0;
}

static void others_sleep(void)
{
	if (waits < 3)
		return;
	shared.made = shared.lacks < 3;
	shared.answers = shared.lacks;
}

TEST(room_for_an_allocation)
{
	s.library.cuMemAlloc_v2 = alloc;
	context();
	first_process = others_sleep;
	allocations = 0;
	fail = 1;
	assert_int_equal(ASK(cuMemAlloc_v2, .bytes = 100), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(shared.lacks, 0); /* nobody would look */
	shared.makes_room = 1;
	fail = 3;
	allocations = 1;
	OK(ASK(cuMemAlloc_v2, .bytes = 100));
	assert_int_equal(shared.lacks, 2);
	assert_int_equal(allocations, 4);
	allocations = 0;
	assert_int_equal(ASK(cuMemAlloc_v2, .bytes = 100), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(shared.lacks, 3);
	/* its own quota is no reason to put others to sleep */
	s.options.memory = 50;
	assert_int_equal(ASK(cuMemAlloc_v2, .bytes = 100), CUDA_ERROR_OUT_OF_MEMORY);
	assert_int_equal(shared.lacks, 3);
	/* a first process that does not answer */
	s.options.memory = 0;
	first_process = NULL;
	allocations = 0;
	assert_int_equal(ASK(cuMemAlloc_v2, .bytes = 100), CUDA_ERROR_OUT_OF_MEMORY);
}

static unsigned int held_for;

static void let_go(void)
{
	shared.hold = waits < held_for;
}

/* the library is called only when no other one wakes, and while the first process knows of it */
static void is_free(void)
{
	assert_false(shared.hold);
	assert_true(shared.takes);
}

/* whether it was held, which nothing is from then on; then others are */
static bool held(CUresult r)
{
	bool yes = waits;

	OK(r);
	assert_false(shared.takes);
	shared.hold = 1;
	waits = 0;
	return yes;
}

static void begin_holds(unsigned int looks)
{
	held_for = looks;
	first_process = let_go;
	fake_called = is_free;
	shared.hold = 1;
	waits = 0;
}

/* as long as the first process says so */
TEST(an_allocation_waits_while_another_one_wakes)
{
	context();
	begin_holds(10000);
	OK(ASK(cuMemAlloc_v2, .bytes = 100));
	assert_int_equal(waits, 10000);
}

TEST(so_does_all_that_may_take_device_memory)
{
	uint64_t graph, function;

	context();
	graph = new_graph();
	function = function_of(new_module());
	memcpy(s.arena, ".version 7.8\n", 14);
	begin_holds(3);
	assert_true(held(ASK(cuCtxCreate_v2, .dev = 0)));
	assert_true(held(ASK(cuDevicePrimaryCtxRetain, .dev = 0)));
	assert_true(held(ASK(cuCtxSetLimit, .limit = CU_LIMIT_STACK_SIZE, .value = 1 << 16)));
	assert_true(held(ASK(image, .at = 0, .bytes = 14)));
	assert_true(held(ASK(cuFuncLoad, .function = function)));
	assert_true(held(ASK(instantiate, .graph = graph, .version = 2)));
	assert_true(held(ASK(cuStreamCreate, .flags = 0)));
	fake_called = NULL;
	assert_false(held(ASK(cuMemGetInfo_v2, .want = 3)));
	assert_false(held(ASK(cuEventCreate, .flags = 0)));
}

static struct {
	struct q_launch q;
	uint64_t parameters[2];
} go;
static struct q_cuGraphLaunch graph_go;

static CUresult launch(void)
{
	return fake_frame(&s, OP_launch, &go, sizeof(go));
}

static CUresult launch_graph(void)
{
	return fake_frame(&s, OP_cuGraphLaunch, &graph_go, sizeof(graph_go));
}

static void first_waits(CUresult (*launch_it)(void))
{
	begin_holds(3);
	fake_error = CUDA_ERROR_OUT_OF_MEMORY;
	assert_int_equal(launch_it(), CUDA_ERROR_OUT_OF_MEMORY);
	fake_error = 0;
	begin_holds(3);
	fake_called = NULL;
	s.captures.begun = 1; /* it is not launched in truth */
	assert_true(held(launch_it()));
	s.captures.begun = 0;
	assert_true(held(launch_it()));
	assert_false(held(launch_it()));
	shared.hold = 0;
}

/* The first launch that succeeds waits, too; later ones go on. */
TEST(first_launches_wait)
{
	uint64_t graph;

	context();
	graph = new_graph();
	go.q = (struct q_launch){ .function = function_of(new_module()), .bytes = 13 };
	graph_go.exec = GET(exec, instantiate, .graph = graph, .version = 2);
	first_waits(launch);
	first_waits(launch_graph);
	OK(ASK(update, .exec = graph_go.exec, .graph = graph));
	first_waits(launch_graph);
	/* a graph that allocates does so each time */
	OK(ASK(update, .exec = graph_go.exec, .graph = graph));
	s.mempools.captured = true;
	begin_holds(3);
	assert_true(held(launch_graph()) && held(launch_graph()));
}

TEST_MAIN(begin, end)
