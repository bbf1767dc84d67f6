// SPDX-License-Identifier: MIT
/*
 * What a checkpoint keeps, on the GPU in this process (selftests/cuda/inprocess): bytes at their
 * addresses, in all kinds of memory, and kernels and graphs that use them afterwards. And that
 * others have the room meanwhile: processes which share a card, each this program.
 *
 *	moved take MIB:	a process that takes memory: it says what was in use, and what it got
 *	moved nvml:	it says what libnvidia-ml.so.1 tells
 */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include <selftests/unit_test.h>
#include <stdlib.h>
#include <unistd.h>

#include <cuda/api/api.h>
#include <cuda/nvml/nvml.h>

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)
#define PID	 ((int)getpid())

enum { ROUNDS = 20, SMALL = 1000, LARGE = 3 << 20, PITCHED = 100, LINES = 37, W = 150, H = 90 };
enum { BLOCK = 64, DEEP = 3, CUBE = W * H * DEEP };

static CUcontext ctx;
static CUmodule module;

static int begin(void **state)
{
	return cuInit(0) || cuCtxCreate_v2(&ctx, 0, 0) ||
	       cuModuleLoad(&module, "selftests/cuda/driver/kernels.cubin");
}

static int end(void **state)
{
	return cuCtxDestroy_v2(ctx);
}

static CUfunction kernel(const char *name)
{
	CUfunction f;

	OK(cuModuleGetFunction(&f, module, name));
	return f;
}

static CUdeviceptr global(const char *name)
{
	CUdeviceptr at;

	OK(cuModuleGetGlobal_v2(&at, NULL, module, name));
	return at;
}

static uint64_t used(void)
{
	size_t free_bytes, total;

	OK(cuMemGetInfo_v2(&free_bytes, &total));
	return total - free_bytes;
}

static void noise(void *to, size_t n, uint32_t seed)
{
	uint8_t *at = to;

	for (; n; n--)
		*at++ = (seed = seed * 1664525 + 1013904223) >> 24;
}

static void away_and_back(void)
{
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	OK(cuCheckpointProcessRestore(PID, NULL));
	OK(cuCheckpointProcessUnlock(PID, NULL));
}

static void is_noise(CUdeviceptr at, size_t n, uint32_t seed)
{
	uint8_t *got = malloc(n), *want = malloc(n);

	OK(cuMemcpyDtoH_v2(got, at, n));
	noise(want, n, seed);
	assert_memory_equal(got, want, n);
	free(got);
	free(want);
}

static void put_noise(CUdeviceptr at, size_t n, uint32_t seed)
{
	uint8_t *bytes = malloc(n);

	noise(bytes, n, seed);
	OK(cuMemcpyHtoD_v2(at, bytes, n));
	free(bytes);
}

TEST(linear_memory)
{
	CUdeviceptr small, large, pitched;
	size_t pitch;
	unsigned int i, line;

	OK(cuMemAlloc_v2(&small, SMALL));
	OK(cuMemAlloc_v2(&large, LARGE));
	OK(cuMemAllocPitch_v2(&pitched, &pitch, PITCHED, LINES, 4));
	put_noise(small, SMALL, 1);
	put_noise(large, LARGE, 2);
	for (line = 0; line < LINES; line++)
		put_noise(pitched + line * pitch, PITCHED, 3 + line);
	for (i = 0; i < ROUNDS; i++) {
		away_and_back();
		is_noise(small, SMALL, 1 + i * 1000);
		is_noise(large, LARGE, 2);
		for (line = 0; line < LINES; line++)
			is_noise(pitched + line * pitch, PITCHED, 3 + line);
		put_noise(small, SMALL, 1 + (i + 1) * 1000);
	}
	OK(cuMemFree_v2(small));
	OK(cuMemFree_v2(large));
	OK(cuMemFree_v2(pitched));
}

/* block-linear memory, as copies and as kernels see it */
TEST(arrays)
{
	CUDA_ARRAY3D_DESCRIPTOR d = { .Width = W,
				      .Height = H,
				      .Format = CU_AD_FORMAT_SIGNED_INT32,
				      .NumChannels = 1,
				      .Flags = CUDA_ARRAY3D_SURFACE_LDST };
	CUDA_MEMCPY3D cube = { .WidthInBytes = W * 4, .Height = H, .Depth = DEEP };
	CUDA_RESOURCE_DESC r = { .resType = CU_RESOURCE_TYPE_ARRAY };
	static int32_t in[CUBE], out[CUBE], plane[W * H];
	CUDA_MEMCPY2D flat = { .WidthInBytes = W * 4, .Height = H };
	int w = W, h = H, i, k;
	CUarray two, three;
	CUsurfObject s;
	void *params[] = { &s, &w, &h };

	OK(cuArray3DCreate_v2(&two, &d));
	d.Depth = DEEP;
	OK(cuArray3DCreate_v2(&three, &d));
	r.res.array.hArray = two;
	OK(cuSurfObjectCreate(&s, &r));
	noise(in, sizeof(in), 7);
	memset(plane, 0, sizeof(plane));
	cube.srcMemoryType = CU_MEMORYTYPE_HOST;
	cube.srcHost = in;
	cube.srcPitch = W * 4;
	cube.srcHeight = H;
	cube.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	cube.dstArray = three;
	OK(cuMemcpy3D_v2(&cube));
	cube.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	cube.srcArray = three;
	cube.dstMemoryType = CU_MEMORYTYPE_HOST;
	cube.dstHost = out;
	cube.dstPitch = W * 4;
	cube.dstHeight = H;
	flat.srcMemoryType = CU_MEMORYTYPE_HOST;
	flat.srcHost = plane;
	flat.srcPitch = flat.dstPitch = W * 4;
	flat.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	flat.dstArray = two;
	OK(cuMemcpy2D_v2(&flat));
	flat.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	flat.srcArray = two;
	flat.dstMemoryType = CU_MEMORYTYPE_HOST;
	flat.dstHost = out;
	for (k = 0; k < ROUNDS; k++) {
		away_and_back();
		memset(out, 0, sizeof(out));
		OK(cuMemcpy3D_v2(&cube));
		assert_memory_equal(in, out, sizeof(in));
		OK(cuLaunchKernel(kernel("change_plane"), (W + BLOCK - 1) / BLOCK, H, 1, BLOCK, 1,
				  1, 0, NULL, params, NULL));
		for (i = 0; i < W * H; i++)
			plane[i] = 2 * (uint32_t)plane[i] + i / W * 1000 + i % W;
		OK(cuMemcpy2D_v2(&flat));
		assert_memory_equal(plane, out, sizeof(plane));
	}
	OK(cuSurfObjectDestroy(s));
	OK(cuArrayDestroy(two));
	OK(cuArrayDestroy(three));
}

/* what kernels() runs: a graph with "mixed", then "scramble", which has local memory */
struct kernels {
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr out, scrambled;
	double mixed[BLOCK];
	int local[BLOCK];
};

static void kernels_begin(struct kernels *k)
{
	static signed char c = -3;
	static double d = 1e-3;
	static short s = 77;
	void *params[] = { &c, &d, &s, &k->out };
	CUDA_KERNEL_NODE_PARAMS node = { .func = kernel("mixed"),
					 .gridDimX = 1,
					 .gridDimY = 1,
					 .gridDimZ = 1,
					 .blockDimX = BLOCK,
					 .blockDimY = 1,
					 .blockDimZ = 1,
					 .kernelParams = params };
	CUgraphNode n;

	OK(cuMemAlloc_v2(&k->out, sizeof(k->mixed)));
	OK(cuMemAlloc_v2(&k->scrambled, sizeof(k->local)));
	OK(cuStreamCreate(&k->stream, CU_STREAM_NON_BLOCKING));
	OK(cuGraphCreate(&k->graph, 0));
	OK(cuGraphAddKernelNode(&n, k->graph, NULL, 0, &node));
	OK(cuGraphInstantiateWithFlags(&k->exec, k->graph, 0));
}

static void kernels_run(struct kernels *k)
{
	int seed = 11, rounds = 50;
	void *params[] = { &k->scrambled, &seed, &rounds };

	OK(cuMemsetD8Async(k->out, 0, sizeof(k->mixed), k->stream));
	OK(cuMemsetD8Async(k->scrambled, 0, sizeof(k->local), k->stream));
	OK(cuGraphLaunch(k->exec, k->stream));
	OK(cuLaunchKernel(kernel("scramble"), 1, 1, 1, BLOCK, 1, 1, 0, k->stream, params, NULL));
}

static void kernels_read(struct kernels *k)
{
	OK(cuStreamSynchronize(k->stream));
	OK(cuMemcpyDtoH_v2(k->mixed, k->out, sizeof(k->mixed)));
	OK(cuMemcpyDtoH_v2(k->local, k->scrambled, sizeof(k->local)));
}

static void kernels_end(struct kernels *k)
{
	OK(cuGraphExecDestroy(k->exec));
	OK(cuGraphDestroy(k->graph));
	OK(cuStreamDestroy_v2(k->stream));
	OK(cuMemFree_v2(k->out));
	OK(cuMemFree_v2(k->scrambled));
}

/* A graph's nodes have addresses, and a kernel its code, constants, variables and local memory. */
TEST(kernels_and_graphs)
{
	const int factors[4] = { 2, 20, 200, 2000 };
	CUdeviceptr counter = global("counter");
	struct kernels k, first;
	CUevent before, after;
	unsigned int i, count;
	float ms;

	kernels_begin(&k);
	OK(cuEventCreate(&before, 0));
	OK(cuEventCreate(&after, 0));
	OK(cuMemcpyHtoD_v2(global("factors"), factors, sizeof(factors)));
	OK(cuMemsetD32_v2(counter, 0, 1));
	kernels_run(&k);
	kernels_read(&k);
	first = k;
	assert_true(k.mixed[1] == __builtin_fma(1e-3, 1.5, -3.0 * 20) + 77);
	for (i = 0; i < ROUNDS; i++) {
		OK(cuEventRecord(before, k.stream));
		away_and_back();
		OK(cuEventQuery(before));
		kernels_run(&k);
		OK(cuEventRecord(after, k.stream));
		OK(cuEventSynchronize(after));
		OK(cuEventElapsedTime(&ms, before, after));
		kernels_read(&k);
		assert_memory_equal(k.mixed, first.mixed, sizeof(k.mixed));
		assert_memory_equal(k.local, first.local, sizeof(k.local));
		OK(cuMemcpyDtoH_v2(&count, counter, 4));
		assert_int_equal(count, (i + 2) * BLOCK);
	}
	OK(cuEventDestroy_v2(before));
	OK(cuEventDestroy_v2(after));
	kernels_end(&k);
}

TEST(pinned_memory_stays)
{
	CUdeviceptr d;
	uint8_t *host;

	OK(cuMemHostAlloc((void **)&host, LARGE, CU_MEMHOSTALLOC_DEVICEMAP));
	OK(cuMemAlloc_v2(&d, LARGE));
	noise(host, LARGE, 5);
	OK(cuMemcpyHtoDAsync_v2(d, host, LARGE, NULL));
	away_and_back();
	is_noise(d, LARGE, 5);
	memset(host, 0, LARGE);
	OK(cuMemcpyDtoHAsync_v2(host, d, LARGE, NULL));
	OK(cuCtxSynchronize());
	is_noise(d, LARGE, 5);
	OK(cuMemFree_v2(d));
	OK(cuMemFreeHost(host));
}

/* The GPU has 2 GiB of host memory: pinned memory takes nearly all. */
TEST(no_host_memory)
{
	CUdeviceptr d;
	uint64_t before;
	void *host[32];
	unsigned int n = 0;

	OK(cuMemAlloc_v2(&d, 128 << 20));
	put_noise(d, LARGE, 9);
	put_noise(d + (128 << 20) - LARGE, LARGE, 10);
	while (n < 32 && !cuMemHostAlloc(&host[n], 64 << 20, 0))
		n++;
	assert_in_range(n, 16, 31);
	before = used();
	OK(cuCheckpointProcessLock(PID, NULL));
	assert_int_equal(cuCheckpointProcessCheckpoint(PID, NULL), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuCheckpointProcessUnlock(PID, NULL));
	assert_int_equal(used(), before);
	while (n)
		OK(cuMemFreeHost(host[--n]));
	away_and_back();
	is_noise(d, LARGE, 9);
	is_noise(d + (128 << 20) - LARGE, LARGE, 10);
	OK(cuMemFree_v2(d));
}

/* ------------------------------------------------------------------ others */

static char self[4096];

/* This program in another process; what it says. Returns its process, until other_end(). */
static pid_t other_begin(const char *what, unsigned int mib, char *line, size_t n)
{
	char number[16];
	int out[2];
	ssize_t got;
	pid_t pid;

	snprintf(number, sizeof(number), "%u", mib);
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		execl(self, self, what, number, NULL);
		_exit(127);
	}
	close(out[1]);
	got = read(out[0], line, n - 1);
	close(out[0]);
	line[got > 0 ? got : 0] = 0;
	return pid;
}

static void other_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* What a process that takes @mib sees in use, and gets; it ends. */
static void another_sees(unsigned int mib, unsigned int in_use, CUresult got)
{
	char line[64], want[64];

	snprintf(want, sizeof(want), "%u in use, %d", in_use, (int)got);
	other_end(other_begin("take", mib, line, sizeof(line)));
	assert_string_equal(line, want);
}

static int take(const char *mib)
{
	CUdeviceptr d;
	uint64_t before;
	CUresult r;

	if (cuInit(0) || cuCtxCreate_v2(&ctx, 0, 0))
		return 1;
	before = used() >> 20;
	r = cuMemAlloc_v2(&d, strtoull(mib, NULL, 0) << 20);
	printf("%u in use, %d", (unsigned int)before, (int)r);
	fflush(stdout);
	pause();
	return 0;
}

TEST(others_have_the_room)
{
	CUdeviceptr a, b;
	unsigned int mine;
	char line[64];
	CUprocessState now;
	pid_t pid;

	OK(cuMemAlloc_v2(&a, 80 << 20));
	OK(cuMemAlloc_v2(&b, 120 << 20));
	put_noise(a, LARGE, 11);
	put_noise(b, LARGE, 12);
	mine = used() >> 20;
	another_sees(100, mine, CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	pid = other_begin("take", 100, line, sizeof(line));
	assert_string_equal(line, "0 in use, 0");
	assert_int_equal(cuCheckpointProcessRestore(PID, NULL), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuCheckpointProcessGetState(PID, &now));
	assert_int_equal(now, CU_PROCESS_STATE_CHECKPOINTED);
	another_sees(1, 100, CUDA_SUCCESS);
	other_end(pid);
	OK(cuCheckpointProcessRestore(PID, NULL));
	OK(cuCheckpointProcessUnlock(PID, NULL));
	another_sees(100, mine, CUDA_ERROR_OUT_OF_MEMORY);
	is_noise(a, LARGE, 11);
	is_noise(b, LARGE, 12);
	OK(cuMemFree_v2(a));
	OK(cuMemFree_v2(b));
}

/* ------------------------------------------------------------------ libnvidia-ml.so.1 */

nvmlReturn_t nvmlInit_v2(void);
nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count);
nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device);
nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length);
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length);
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
						     nvmlProcessInfo_v2_t *list);

/* One line: the UUID, MiB in use, processes with their MiB. */
static int nvml(void)
{
	nvmlProcessInfo_v2_t list[8];
	unsigned int gpus, n = 8, i;
	char uuid[64], name[64];
	nvmlMemory_t memory;
	nvmlDevice_t d;

	if (nvmlInit_v2() || nvmlDeviceGetCount_v2(&gpus) || gpus != 1 ||
	    nvmlDeviceGetHandleByIndex_v2(0, &d) || nvmlDeviceGetUUID(d, uuid, sizeof(uuid)) ||
	    nvmlDeviceGetName(d, name, sizeof(name)) || nvmlDeviceGetMemoryInfo(d, &memory) ||
	    memory.used + memory.free != memory.total ||
	    nvmlDeviceGetComputeRunningProcesses_v3(d, &n, list))
		return 1;
	printf("%s %u", uuid, (unsigned int)(memory.used >> 20));
	for (i = 0; i < n; i++)
		printf(" %u:%u", list[i].pid, (unsigned int)(list[i].usedGpuMemory >> 20));
	return 0;
}

static void nvml_says(const unsigned char *u, const char *rest)
{
	char line[256], want[256];

	other_end(other_begin("nvml", 0, line, sizeof(line)));
	snprintf(want, sizeof(want),
		 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x %s",
		 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
		 u[13], u[14], u[15], rest);
	assert_string_equal(line, want);
}

TEST(nvml_tells_of_all)
{
	unsigned int mine;
	CUdeviceptr d;
	CUuuid uuid;
	char line[64];
	pid_t pid;

	OK(cuDeviceGetUuid(&uuid, 0));
	OK(cuMemAlloc_v2(&d, 80 << 20));
	mine = used() >> 20;
	pid = other_begin("take", 100, line, sizeof(line));
	snprintf(line, sizeof(line), "%u %d:%u %d:100", mine + 100, PID, mine, (int)pid);
	nvml_says((unsigned char *)uuid.bytes, line);
	OK(cuCheckpointProcessLock(PID, NULL));
	OK(cuCheckpointProcessCheckpoint(PID, NULL));
	snprintf(line, sizeof(line), "100 %d:0 %d:100", PID, (int)pid);
	nvml_says((unsigned char *)uuid.bytes, line);
	OK(cuCheckpointProcessRestore(PID, NULL));
	OK(cuCheckpointProcessUnlock(PID, NULL));
	other_end(pid);
	snprintf(line, sizeof(line), "%u %d:%u", mine, PID, mine);
	nvml_says((unsigned char *)uuid.bytes, line);
	OK(cuMemFree_v2(d));
}

int main(int argc, char **argv)
{
	char card[] = "/tmp/kvgpu-card-XXXXXX";
	int r;

	if (argc > 2 && !strcmp(argv[1], "take"))
		return take(argv[2]);
	if (argc > 1 && !strcmp(argv[1], "nvml"))
		return nvml();
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || mkstemp(card) < 0)
		return 1;
	setenv("KVGPU_INPROCESS_CARD", card, 1);
	setenv("KVGPU_INPROCESS_VRAM_MIB", "256", 1);
	setenv("KVGPU_CHECKPOINT", "1", 1);
	r = unit_tests_run(begin, end, NULL, NULL);
	unlink(card);
	return r;
}
