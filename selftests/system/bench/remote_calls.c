// SPDX-License-Identifier: GPL-2.0-only
/*
 * remote_calls [--quick|--copies] NAME CUBIN FILE.json: what the driver API's calls and copies cost
 * a program, by whatever libcuda.so.1 it finds. NAME says which that is, and goes into each row.
 * CUBIN has a kernel `add`. --copies: copies alone, without a kernel.
 */
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <cuda/api/api.h>

enum { BURST = 100 };

static const char ptx[] =
	".version 7.0\n.target sm_50\n.address_size 64\n"
	".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) { ret; }\n";

static FILE *json;
static const char *where;
static char gpu[128] = "?";
static bool quick, only_copies, begun;
static CUfunction add;
static CUdeviceptr device;
static CUstream stream;

static void must(CUresult r, const char *what)
{
	const char *name = "?";

	if (!r)
		return;
	cuGetErrorName(r, &name);
	fprintf(stderr, "%s: %s\n", what, name);
	exit(1);
}
#define MUST(call) must(call, #call)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void row(const char *name, double value, const char *unit)
{
	printf("%-10s %-64s %10.3f %s\n", where, name, value, unit);
	fprintf(json,
		"%s\n  {\"where\": \"%s\", \"name\": \"%s\", \"value\": %.4f, \"unit\": \"%s\"}",
		begun ? "," : "", where, name, value, unit);
	begun = true;
}

/* ------------------------------------------------------------------ calls */

static void flags(void)
{
	unsigned int value;

	MUST(cuCtxGetFlags(&value));
}

static void info(void)
{
	size_t unused, total;

	MUST(cuMemGetInfo_v2(&unused, &total));
}

static void query(void)
{
	MUST(cuStreamQuery(stream));
}

static void asked(const char *name, void (*call)(void))
{
	const unsigned int n = quick ? 5000 : 50000;
	double *each = calloc(n, sizeof(*each)), start;
	char text[128];
	unsigned int i;

	for (i = 0; i < n; i++) {
		start = now();
		call();
		each[i] = now() - start;
	}
	qsort(each, n, sizeof(*each), compare);
	snprintf(text, sizeof(text), "%s, p50", name);
	row(text, each[n / 2] * 1e6, "us");
	snprintf(text, sizeof(text), "%s, p99", name);
	row(text, each[n - n / 100 - 1] * 1e6, "us");
	free(each);
}

static void launch(void)
{
	int n = 1;
	void *params[] = { &device, &device, &device, &n };

	MUST(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL));
}

static void launches(void)
{
	const unsigned int bursts = quick ? 20 : 200, many = quick ? 5000 : 100000;
	double *each = calloc(bursts, sizeof(*each)), start;
	unsigned int i, j;

	for (i = 0; i < bursts; i++) {
		start = now();
		for (j = 0; j < BURST; j++)
			launch();
		each[i] = (now() - start) / BURST;
		MUST(cuStreamSynchronize(stream));
	}
	qsort(each, bursts, sizeof(*each), compare);
	row("a launch for the caller, in a burst of 100, p50 of bursts", each[bursts / 2] * 1e6,
	    "us");
	row("a launch for the caller, in a burst of 100, best burst", each[0] * 1e6, "us");
	start = now();
	for (i = 0; i < many; i++)
		launch();
	row("launches without a pause, each, for the caller", (now() - start) / many * 1e6, "us");
	MUST(cuStreamSynchronize(stream));
	row("launches without a pause, each, with their end", (now() - start) / many * 1e6, "us");
	free(each);
}

/* what a small network's step is made of */
static void steps(void)
{
	const unsigned int n = quick ? 200 : 5000;
	static float batch[1024], loss;
	double start = now();
	unsigned int i, j;

	for (i = 0; i < n; i++) {
		MUST(cuMemcpyHtoDAsync_v2(device, batch, sizeof(batch), stream));
		for (j = 0; j < 20; j++)
			launch();
		MUST(cuMemcpyDtoHAsync_v2(&loss, device, sizeof(loss), stream));
		MUST(cuStreamSynchronize(stream));
	}
	row("a step: 4 KiB in, 20 launches, 4 bytes out, waited for", (now() - start) / n * 1e6,
	    "us");
}

/* ------------------------------------------------------------------ a step as of XLA */

/* not in each library */
#pragma weak cuEventCreate
#pragma weak cuEventDestroy_v2
#pragma weak cuEventRecord
#pragma weak cuGraphAddKernelNode
#pragma weak cuGraphCreate
#pragma weak cuGraphExecKernelNodeSetParams
#pragma weak cuGraphInstantiateWithFlags
#pragma weak cuGraphLaunch
#pragma weak cuLaunchHostFunc
#pragma weak cuStreamWaitEvent

enum { NODES = 20, INPUT = 400 << 10 };

static sem_t done;

static void tell(void *data)
{
	sem_post(&done);
}

/* its executable graph, each of whose kernels gets other addresses in each step */
static struct {
	CUgraphNode node[NODES];
	CUgraphExec exec;
	CUstream in, out;
	uint8_t *input;
	float *loss;
} xla;

static void xla_kernel(unsigned int i, CUdeviceptr at)
{
	int n = 1;
	void *params[] = { &at, &at, &at, &n };
	CUDA_KERNEL_NODE_PARAMS p = { add, 1, 1, 1, 1, 1, 1, 0, params, NULL };

	MUST(cuGraphExecKernelNodeSetParams(xla.exec, xla.node[i], &p));
}

/* false: the library has no graphs */
static bool xla_begin(void)
{
	int n = 1;
	void *params[] = { &device, &device, &device, &n };
	CUDA_KERNEL_NODE_PARAMS p = { add, 1, 1, 1, 1, 1, 1, 0, params, NULL };
	CUgraph graph;
	unsigned int i;

	if (!cuGraphCreate || cuGraphCreate(&graph, 0))
		return false;
	for (i = 0; i < NODES; i++)
		MUST(cuGraphAddKernelNode(&xla.node[i], graph, i ? &xla.node[i - 1] : NULL, !!i,
					  &p));
	MUST(cuGraphInstantiateWithFlags(&xla.exec, graph, 0));
	MUST(cuStreamCreate(&xla.in, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&xla.out, CU_STREAM_NON_BLOCKING));
	MUST(cuMemHostAlloc((void **)&xla.input, INPUT, 0));
	MUST(cuMemHostAlloc((void **)&xla.loss, sizeof(*xla.loss), 0));
	return !sem_init(&done, 0, 0);
}

static void xla_input(CUdeviceptr to, size_t bytes, CUevent *event)
{
	MUST(cuMemcpyHtoDAsync_v2(to, xla.input, bytes, xla.in));
	MUST(cuEventCreate(event, CU_EVENT_DISABLE_TIMING));
	MUST(cuEventRecord(*event, xla.in));
	MUST(cuLaunchHostFunc(xla.in, tell, NULL));
}

/*
 * Two inputs from pinned memory, a graph whose kernels get other addresses, a result to pinned
 * memory; the program hears of each end by a host function, and waits for nothing else.
 */
static void xla_step(unsigned int number)
{
	CUevent event[3];
	unsigned int i;

	xla_input(device, INPUT, &event[0]);
	xla_input(device + INPUT, 512, &event[1]);
	for (i = 0; i < 2; i++)
		sem_wait(&done);
	MUST(cuStreamWaitEvent(stream, event[0], 0));
	MUST(cuStreamWaitEvent(stream, event[1], 0));
	for (i = 0; i < NODES; i++)
		xla_kernel(i, device + (number & 1) * INPUT);
	MUST(cuGraphLaunch(xla.exec, stream));
	MUST(cuEventCreate(&event[2], CU_EVENT_DISABLE_TIMING));
	MUST(cuEventRecord(event[2], stream));
	MUST(cuLaunchHostFunc(stream, tell, NULL));
	MUST(cuStreamWaitEvent(xla.out, event[2], 0));
	MUST(cuMemcpyDtoHAsync_v2(xla.loss, device, sizeof(*xla.loss), xla.out));
	MUST(cuLaunchHostFunc(xla.out, tell, NULL));
	for (i = 0; i < 2; i++)
		sem_wait(&done);
	for (i = 0; i < 3; i++)
		MUST(cuEventDestroy_v2(event[i]));
}

static void xla_steps(void)
{
	const unsigned int n = quick ? 100 : 2000;
	double start;
	unsigned int i;

	if (!xla_begin())
		return;
	xla_step(0);
	start = now();
	for (i = 0; i < n; i++)
		xla_step(i);
	row("a step as of XLA: 400 KiB in, a graph of 20 updated kernels, 4 bytes out",
	    (now() - start) / n * 1e6, "us");
}

/* ------------------------------------------------------------------ copies */

enum { IN, OUT };

static void copy(int way, void *host, size_t bytes)
{
	if (way == IN)
		MUST(cuMemcpyHtoDAsync_v2(device, host, bytes, stream));
	else
		MUST(cuMemcpyDtoHAsync_v2(host, device, bytes, stream));
}

/* the best of several, each waited for */
static void bandwidth(const char *memory, void *host, int way, size_t bytes)
{
	const unsigned int tries = quick ? 3 : 12;
	double best = 1e9, called = 1e9, start, t;
	char name[128];
	unsigned int i;

	for (i = 0; i < tries; i++) {
		start = now();
		copy(way, host, bytes);
		t = now() - start;
		called = t < called ? t : called;
		MUST(cuStreamSynchronize(stream));
		t = now() - start;
		best = t < best ? t : best;
	}
	snprintf(name, sizeof(name), "%s memory %s the GPU, %zu KiB", memory,
		 way == IN ? "to" : "from", bytes >> 10);
	row(name, bytes / best / 1e9, "GB/s");
	snprintf(name, sizeof(name), "%s memory %s the GPU, %zu KiB: in the call", memory,
		 way == IN ? "to" : "from", bytes >> 10);
	row(name, called * 1e6, "us");
}

static void copies(size_t most)
{
	const size_t sizes[] = { 64 << 10, 1 << 20, most };
	uint8_t *pageable = malloc(most), *pinned;
	unsigned int i;

	MUST(cuMemHostAlloc((void **)&pinned, most, 0));
	memset(pageable, 1, most);
	memset(pinned, 1, most);
	for (i = 0; i < 3; i++) {
		bandwidth("pageable", pageable, IN, sizes[i]);
		bandwidth("pageable", pageable, OUT, sizes[i]);
		bandwidth("pinned", pinned, IN, sizes[i]);
		bandwidth("pinned", pinned, OUT, sizes[i]);
	}
	MUST(cuMemFreeHost(pinned));
	free(pageable);
}

static void cpu_time(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	row("user time of the program", u.ru_utime.tv_sec + u.ru_utime.tv_usec / 1e6, "s");
	row("system time of the program", u.ru_stime.tv_sec + u.ru_stime.tv_usec / 1e6, "s");
}

static void begin(const char *cubin, size_t most)
{
	CUcontext ctx;
	CUmodule module;

	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	cuDeviceGetName(gpu, sizeof(gpu), 0);
	printf("# %s: %s\n", where, gpu);
	MUST(cuMemAlloc_v2(&device, most));
	MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	if (only_copies)
		return;
	if (cuModuleLoad(&module, cubin))
		MUST(cuModuleLoadData(&module, ptx));
	MUST(cuModuleGetFunction(&add, module, "add"));
	launch();
	MUST(cuStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	size_t most;
	int option;

	quick = argc > 1 && !strcmp(argv[1], "--quick");
	only_copies = argc > 1 && !strcmp(argv[1], "--copies");
	option = quick || only_copies;
	if (argc - option != 4) {
		fprintf(stderr, "usage: remote_calls [--quick|--copies] NAME CUBIN FILE.json\n");
		return 2;
	}
	where = argv[1 + option];
	most = quick ? 4 << 20 : 64 << 20;
	json = fopen(argv[3 + option], "w");
	if (!json) {
		perror(argv[3 + option]);
		return 1;
	}
	fprintf(json, "{\"rows\": [");
	begin(argv[2 + option], most);
	if (!only_copies) {
		asked("asked, nothing to do: cuCtxGetFlags", flags);
		asked("asked: cuStreamQuery", query);
		asked("asked: cuMemGetInfo", info);
		launches();
		steps();
		xla_steps();
	}
	copies(most);
	cpu_time();
	fprintf(json, "\n],\n\"gpu\": \"%s\"}\n", gpu);
	return fclose(json) ? 1 : 0;
}
