// SPDX-License-Identifier: GPL-2.0-only
/*
 * Graphs captured from one stream and from several, with host functions and other graphs in them;
 * launched, updated; and what is forbidden meanwhile with its error (as a GPU with driver 580 gives
 * it).
 */
#include "check.h"
#include "graph_forms.h"

enum { N = 2048, BRANCHES = 4, STEPS = 16 };

__global__ void step(float *x, float factor, float add)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		x[i] = x[i] * factor + add;
}

__global__ void sum(const float *parts, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float all = 0;

	if (i >= N)
		return;
	for (int b = 0; b < BRANCHES; b++)
		all += parts[b * N + i];
	out[i] = all;
}

static int bad;

static void want(bool ok, const char *what)
{
	if (!ok)
		printf("%s\n", what);
	bad += !ok;
}

static void want_error(cudaError_t got, cudaError_t expected, const char *what)
{
	if (got != expected)
		printf("%s: %s for %s\n", what, cudaGetErrorName(got), cudaGetErrorName(expected));
	bad += got != expected;
	cudaGetLastError();
}

static float *parts, *out, *host;
static cudaStream_t branch[BRANCHES];
static cudaEvent_t fork_event, join_event[BRANCHES];

static void CUDART_CB call(void *data)
{
	++*(int *)data;
}

/* branches of STEPS kernels each */
static cudaGraph_t capture(cudaStream_t origin, float factor, int branches, int *calls)
{
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal));
	CHECK(cudaMemsetAsync(parts, 0, BRANCHES * N * sizeof(float), origin));
	CHECK(cudaEventRecord(fork_event, origin));
	for (int b = 0; b < branches; b++) {
		CHECK(cudaStreamWaitEvent(branch[b], fork_event, 0));
		for (int k = 0; k < STEPS; k++)
			step<<<CEIL_DIV(N, 256), 256, 0, branch[b]>>>(parts + b * N, factor, b + 1);
		CHECK_LAUNCH();
		CHECK(cudaEventRecord(join_event[b], branch[b]));
	}
	for (int b = 0; b < branches; b++)
		CHECK(cudaStreamWaitEvent(origin, join_event[b], 0));
	sum<<<CEIL_DIV(N, 128), 128, 0, origin>>>(parts, out);
	CHECK_LAUNCH();
	CHECK(cudaMemcpyAsync(host, out, N * sizeof(float), cudaMemcpyDeviceToHost, origin));
	CHECK(cudaLaunchHostFunc(origin, call, calls));
	CHECK(cudaStreamEndCapture(origin, &graph));
	return graph;
}

static float expected(float factor, int branches)
{
	float all = 0;

	for (int b = 0; b < branches; b++) {
		float x = 0;

		for (int k = 0; k < STEPS; k++)
			x = x * factor + (b + 1);
		all += x;
	}
	return all;
}

static void run(cudaGraphExec_t exec, cudaStream_t stream, float value, const char *what)
{
	int wrong = 0;

	memset(host, 0, N * sizeof(float));
	CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	for (int i = 0; i < N; i++)
		wrong += !(error_of(host[i], value) < 1e-5);
	if (wrong)
		printf("%s: %d of %d are wrong: %g for %g\n", what, wrong, N, host[0], value);
	bad += wrong != 0;
}

static void test_fork_and_join(cudaStream_t stream)
{
	int calls = 0, result;
	size_t nodes = 0, edges = 0;
	cudaGraphExec_t exec;
	cudaGraph_t graph = capture(stream, 0.5f, BRANCHES, &calls), other;

	want(!calls, "a function was called while it was captured");
	CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
	CHECK(count_edges(graph, &edges));
	want(nodes == 1 + BRANCHES * STEPS + 3 && edges == BRANCHES * (STEPS + 1) + 3,
	     "nodes and edges of what was captured");
	CHECK(instantiate(&exec, graph));
	for (int i = 0; i < 5; i++)
		run(exec, stream, expected(0.5f, BRANCHES), "a launch");
	want(calls == 5, "calls of the host's function");
	other = capture(stream, 0.25f, BRANCHES, &calls);
	want(update(exec, other, &result), "an update with other arguments");
	CHECK(cudaGraphDestroy(other));
	run(exec, stream, expected(0.25f, BRANCHES), "an update");
	other = capture(stream, 0.25f, BRANCHES - 1, &calls);
	want(!update(exec, other, &result), "an update with fewer branches");
	CHECK(cudaGraphDestroy(other));
	run(exec, stream, expected(0.25f, BRANCHES), "an update that was refused");
	for (int i = 0; i < 20; i++)
		CHECK(cudaGraphLaunch(exec, branch[i % BRANCHES]));
	CHECK(cudaDeviceSynchronize());
	want(calls == 27, "calls after launches without waiting between");
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
}

/* work goes on in the same stream after the child */
static void test_nested(cudaStream_t stream)
{
	int calls = 0;
	size_t nodes = 0;
	cudaGraph_t inner = capture(stream, 0.5f, BRANCHES, &calls), graph;
	cudaGraphExec_t exec;

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	CHECK(cudaMemsetAsync(out, 0, N * sizeof(float), stream));
	CHECK(append_child(stream, inner));
	step<<<CEIL_DIV(N, 256), 256, 0, stream>>>(out, 2, 1);
	CHECK_LAUNCH();
	CHECK(cudaMemcpyAsync(host, out, N * sizeof(float), cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphDestroy(inner));
	CHECK(cudaGraphGetNodes(graph, NULL, &nodes));
	want(nodes == 4, "a child put into a capture");
	CHECK(instantiate(&exec, graph));
	run(exec, stream, 2 * expected(0.5f, BRANCHES) + 1, "a graph in a graph");
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	want(cudaGraphLaunch(exec, stream) == cudaErrorStreamCaptureUnsupported,
	     "a launch while capturing");
	want(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated,
	     "after a launch while capturing");
	cudaGetLastError();
	CHECK(cudaGraphExecDestroy(exec));
}

static void begin(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	CHECK(cudaStreamBeginCapture(stream, mode));
	step<<<CEIL_DIV(N, 256), 256, 0, stream>>>(out, 1, 1);
	CHECK_LAUNCH();
}

/* whether what was forbidden has spoiled the capture */
static void end(cudaStream_t stream, cudaError_t expected, const char *what)
{
	enum cudaStreamCaptureStatus status;
	cudaGraph_t graph = NULL;

	CHECK(cudaStreamIsCapturing(stream, &status));
	want(status == (expected == cudaErrorStreamCaptureInvalidated ?
				cudaStreamCaptureStatusInvalidated :
				cudaStreamCaptureStatusActive),
	     what);
	want_error(cudaStreamEndCapture(stream, &graph), expected, what);
	want(!graph == !!expected, what);
	CHECK(cudaStreamIsCapturing(stream, &status));
	want(status == cudaStreamCaptureStatusNone, what);
	if (graph)
		CHECK(cudaGraphDestroy(graph));
}

static void test_waiting(cudaStream_t stream)
{
	cudaEvent_t event;
	void *p = NULL;

	CHECK(cudaEventCreate(&event));
	CHECK(cudaEventRecord(event, branch[0]));
	CHECK(cudaEventSynchronize(event));
	begin(stream, cudaStreamCaptureModeGlobal);
	want_error(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported,
		   "waiting for the stream");
	want_error(cudaMemsetAsync(out, 0, 4, stream), cudaErrorStreamCaptureInvalidated,
		   "after that");
	end(stream, cudaErrorStreamCaptureInvalidated, "waiting for the stream");
	begin(stream, cudaStreamCaptureModeRelaxed);
	want_error(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported, "asking the stream");
	end(stream, cudaErrorStreamCaptureInvalidated, "asking the stream");
	begin(stream, cudaStreamCaptureModeRelaxed);
	want_error(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported,
		   "waiting for the device");
	end(stream, cudaErrorStreamCaptureInvalidated, "waiting for the device");
	begin(stream, cudaStreamCaptureModeGlobal);
	want_error(cudaMalloc(&p, 64), cudaErrorStreamCaptureUnsupported, "memory");
	end(stream, cudaErrorStreamCaptureInvalidated, "memory");
	begin(stream, cudaStreamCaptureModeRelaxed);
	want_error(cudaMalloc(&p, 64), cudaSuccess, "memory, relaxed");
	want_error(cudaEventQuery(event), cudaSuccess, "an event, relaxed");
	want_error(cudaFree(p), cudaSuccess, "memory, relaxed");
	end(stream, cudaSuccess, "memory, relaxed");
	begin(stream, cudaStreamCaptureModeThreadLocal);
	want_error(cudaEventQuery(event), cudaErrorStreamCaptureUnsupported, "an event of before");
	end(stream, cudaErrorStreamCaptureInvalidated, "an event of before");
	CHECK(cudaEventDestroy(event));
}

static void test_events(cudaStream_t stream)
{
	cudaEvent_t before, event;
	cudaGraph_t graph = NULL;

	CHECK(cudaEventCreate(&before));
	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	CHECK(cudaEventRecord(before, branch[0]));
	begin(stream, cudaStreamCaptureModeGlobal);
	want_error(cudaStreamWaitEvent(stream, before, 0), cudaErrorStreamCaptureIsolation,
		   "an event of before");
	end(stream, cudaErrorStreamCaptureInvalidated, "an event of before");
	begin(stream, cudaStreamCaptureModeGlobal);
	want_error(cudaStreamWaitEvent(stream, before, cudaEventWaitExternal), cudaSuccess,
		   "an event of before, as a node");
	want_error(cudaEventRecordWithFlags(before, stream, cudaEventRecordExternal), cudaSuccess,
		   "an event as a node");
	end(stream, cudaSuccess, "events as nodes");
	begin(stream, cudaStreamCaptureModeGlobal);
	CHECK(cudaEventRecord(event, stream));
	want_error(cudaEventQuery(event), cudaErrorCapturedEvent,
		   "asking an event that was captured");
	end(stream, cudaErrorStreamCaptureInvalidated, "asking an event that was captured");
	begin(stream, cudaStreamCaptureModeGlobal);
	CHECK(cudaEventRecord(event, stream));
	CHECK(cudaStreamBeginCapture(branch[1], cudaStreamCaptureModeGlobal));
	want_error(cudaStreamWaitEvent(branch[1], event, 0), cudaErrorStreamCaptureMerge,
		   "two captures");
	end(stream, cudaErrorStreamCaptureInvalidated, "two captures");
	end(branch[1], cudaErrorStreamCaptureInvalidated, "two captures");
	begin(stream, cudaStreamCaptureModeGlobal);
	CHECK(cudaEventRecord(event, stream));
	CHECK(cudaStreamWaitEvent(branch[1], event, 0));
	CHECK(cudaMemsetAsync(parts, 0, 4, branch[1]));
	want_error(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined,
		   "a branch that was not joined");
	want_error(cudaMemsetAsync(parts, 0, 4, branch[1]), cudaSuccess, "its stream after that");
	want_error(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState,
		   "an end without a begin");
	begin(stream, cudaStreamCaptureModeGlobal);
	CHECK(cudaEventRecord(event, stream));
	CHECK(cudaStreamWaitEvent(branch[1], event, 0));
	want_error(cudaStreamBeginCapture(branch[1], cudaStreamCaptureModeGlobal),
		   cudaErrorIllegalState, "a begin in a capture");
	want_error(cudaStreamEndCapture(branch[1], &graph), cudaErrorStreamCaptureUnmatched,
		   "the end in another stream");
	end(stream, cudaErrorStreamCaptureInvalidated, "the end in another stream");
	CHECK(cudaEventDestroy(before));
	CHECK(cudaEventDestroy(event));
}

/* the legacy stream comes after all streams but the non-blocking ones */
static void test_legacy(void)
{
	cudaStream_t blocking, apart;
	float x = 0;

	CHECK(cudaStreamCreate(&blocking));
	CHECK(cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking));
	want_error(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal),
		   cudaErrorStreamCaptureUnsupported, "a capture of the legacy stream");
	begin(blocking, cudaStreamCaptureModeRelaxed);
	want_error(cudaMemsetAsync(parts, 0, 4, 0), cudaErrorStreamCaptureImplicit,
		   "work in the legacy stream");
	end(blocking, cudaErrorStreamCaptureInvalidated, "work in the legacy stream");
	begin(blocking, cudaStreamCaptureModeGlobal);
	want_error(cudaMemcpy(&x, parts, 4, cudaMemcpyDeviceToHost), cudaErrorStreamCaptureImplicit,
		   "a copy in the legacy stream");
	end(blocking, cudaErrorStreamCaptureInvalidated, "a copy in the legacy stream");
	begin(apart, cudaStreamCaptureModeGlobal);
	want_error(cudaMemsetAsync(parts, 0, 4, 0), cudaSuccess,
		   "work in the legacy stream beside");
	want_error(cudaMemcpy(&x, parts, 4, cudaMemcpyDeviceToHost), cudaSuccess,
		   "a copy in the legacy stream beside");
	end(apart, cudaSuccess, "the legacy stream beside");
	CHECK(cudaStreamDestroy(blocking));
	CHECK(cudaStreamDestroy(apart));
}

int main(void)
{
	cudaStream_t stream;

	CHECK(cudaMalloc(&parts, BRANCHES * N * sizeof(float)));
	CHECK(cudaMalloc(&out, N * sizeof(float)));
	CHECK(cudaMallocHost(&host, N * sizeof(float)));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&fork_event, cudaEventDisableTiming));
	for (int b = 0; b < BRANCHES; b++) {
		CHECK(cudaStreamCreateWithFlags(&branch[b],
						b & 1 ? cudaStreamDefault : cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&join_event[b], cudaEventDisableTiming));
	}
	test_fork_and_join(stream);
	test_nested(stream);
	test_waiting(stream);
	test_events(stream);
	test_legacy();
	CHECK(cudaDeviceSynchronize());
	return verdict(!bad, "%d branches of %d kernels captured and launched, and what is forbidden: %d things wrong", BRANCHES,
		       STEPS, bad);
}
