// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies between two GPUs, as NVIDIA's simpleP2P makes them, and by peers, by addresses alone, in
 * streams of either GPU, behind kernels and before them. With one GPU there is nothing to do.
 */
#include "want.h"

enum { N = 700001, WIDTH = 1000, LINES = 901, PITCH = 1536 };

__global__ void step(const uint32_t *in, uint32_t *out, int n, uint32_t add, int rounds)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t x = i < n ? in[i] : 0;

	for (int k = 0; k < rounds; k++)
		x = x * 5 + add;
	if (i < n)
		out[i] = x;
}

static uint32_t stepped(uint32_t x, uint32_t add, int rounds)
{
	for (int k = 0; k < rounds; k++)
		x = x * 5 + add;
	return x;
}

static uint32_t *first, *second, *host, *back;	/* of GPU 0, GPU 1, the CPU */

static void run(int gpu, const uint32_t *in, uint32_t *out, uint32_t add, int rounds,
		cudaStream_t s)
{
	CHECK(cudaSetDevice(gpu));
	step<<<CEIL_DIV(N, 256), 256, 0, s>>>(in, out, N, add, rounds);
	CHECK_LAUNCH();
}

static void fill(void)
{
	uint32_t seed = 7;

	for (int i = 0; i < N; i++)
		host[i] = random_bits(&seed);
	memset(back, 0, N * 4);
	CHECK(cudaSetDevice(0));
	CHECK(cudaMemcpy(first, host, N * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(second, 0, N * 4));
	CHECK(cudaDeviceSynchronize());
}

/* @from has what @host has after @rounds steps with @add */
static void compare(const char *what, const uint32_t *from, uint32_t add, int rounds)
{
	int bad = 0;

	CHECK(cudaMemcpy(back, from, N * 4, cudaMemcpyDefault));
	for (int i = 0; i < N; i++)
		bad += back[i] != stepped(host[i], add, rounds);
	if (bad)
		printf("%s: %d of %d words are wrong\n", what, bad, N);
	wrong += !!bad;
}

static void addresses(void)
{
	struct cudaPointerAttributes a;

	WANT((char *)first + N * 4 <= (char *)second || (char *)second + N * 4 <= (char *)first);
	for (int d = 0; d < 2; d++) {
		CHECK(cudaSetDevice(d));
		CHECK(cudaPointerGetAttributes(&a, first + 5));
		WANT(a.device == 0 && a.type == cudaMemoryTypeDevice);
		CHECK(cudaPointerGetAttributes(&a, second + 5));
		WANT(a.device == 1 && a.type == cudaMemoryTypeDevice);
		CHECK(cudaPointerGetAttributes(&a, back));
		WANT(a.device == 1 && a.type == cudaMemoryTypeHost);
	}
}

/* as simpleP2P does, with a kernel on each GPU */
static void there_and_back(void)
{
	fill();
	run(0, first, first, 3, 1, 0);
	CHECK(cudaMemcpy(second, first, N * 4, cudaMemcpyDefault));
	run(1, second, second, 3, 1, 0);
	CHECK(cudaMemcpyPeer(first, 0, second, 1, N * 4));
	compare("there and back", first, 3, 2);
}

/* kernel, copy, kernel: each after the one before */
static void in_order(void)
{
	cudaStream_t s[2];
	cudaEvent_t done[2];

	for (int d = 0; d < 2; d++) {
		CHECK(cudaSetDevice(d));
		CHECK(cudaStreamCreateWithFlags(&s[d], cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&done[d], cudaEventDisableTiming));
	}
	for (int round = 0; round < 3; round++) {
		fill();
		run(0, first, first, 11, 40, s[0]);
		CHECK(cudaMemcpyPeerAsync(second, 1, first, 0, N * 4, s[0]));
		run(0, first, first, 99, 1, s[0]);	/* the copy has left by then */
		CHECK(cudaSetDevice(0));
		CHECK(cudaEventRecord(done[0], s[0]));
		CHECK(cudaSetDevice(1));
		CHECK(cudaStreamWaitEvent(s[1], done[0], 0));
		run(1, second, second, 11, 1, s[1]);
		CHECK(cudaMemcpyAsync(first, second, N * 4, cudaMemcpyDefault, s[1]));
		CHECK(cudaStreamSynchronize(s[1]));
		compare("streams", first, 11, 41);
		compare("streams, the other GPU", second, 11, 41);
	}
	for (int d = 0; d < 2; d++) {
		CHECK(cudaSetDevice(d));
		CHECK(cudaStreamDestroy(s[d]));
		CHECK(cudaEventDestroy(done[d]));
	}
}

/* A stream of a GPU that has none of the memory, or not all of it. */
static void strange_streams(void)
{
	uint32_t *third;
	cudaStream_t s;

	fill();
	CHECK(cudaSetDevice(1));
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMemcpyAsync(first, host, 4 * 1000, cudaMemcpyHostToDevice, s));
	CHECK(cudaSetDevice(0));
	CHECK(cudaMalloc(&third, N * 4));
	CHECK(cudaSetDevice(1));
	CHECK(cudaMemcpyAsync(third, first, N * 4, cudaMemcpyDeviceToDevice, s));
	CHECK(cudaMemcpyAsync(second, third, N * 4, cudaMemcpyDeviceToDevice, s));
	CHECK(cudaStreamSynchronize(s));
	compare("a stream of the other GPU", second, 0, 0);
	CHECK(cudaFree(third));
	CHECK(cudaStreamDestroy(s));
}

static void boxes(void)
{
	char *a, *b, *in = (char *)host, *out = (char *)back;
	struct cudaMemcpy3DPeerParms p = { };
	int bad = 0;

	CHECK(cudaSetDevice(0));
	CHECK(cudaMalloc(&a, PITCH * LINES));
	CHECK(cudaSetDevice(1));
	CHECK(cudaMalloc(&b, PITCH * LINES));
	CHECK(cudaMemset(b, 0, PITCH * LINES));
	CHECK(cudaMemcpy(a, in, PITCH * LINES, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy2D(b, PITCH, a, PITCH, WIDTH, LINES, cudaMemcpyDefault));
	CHECK(cudaMemcpy(out, b, PITCH * LINES, cudaMemcpyDeviceToHost));
	for (int i = 0; i < PITCH * LINES; i++)
		bad += out[i] != (i % PITCH < WIDTH ? in[i] : 0);
	WANT(!bad);
	CHECK(cudaMemset(b, 0, PITCH * LINES));
	p.srcPtr = make_cudaPitchedPtr(a, PITCH, WIDTH, LINES / 17);
	p.dstPtr = make_cudaPitchedPtr(b, PITCH, WIDTH, LINES / 17);
	p.srcDevice = 0;
	p.dstDevice = 1;
	p.extent = make_cudaExtent(WIDTH, 50, 17);
	CHECK(cudaMemcpy3DPeer(&p));
	CHECK(cudaMemcpy(out, b, PITCH * LINES, cudaMemcpyDeviceToHost));
	bad = 0;
	for (int i = 0; i < PITCH * LINES; i++)
		bad += out[i] != (i % PITCH < WIDTH && i / PITCH % 53 < 50 ? in[i] : 0);
	WANT(!bad);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
}

int main(int argc, char **argv)
{
	int gpus, can;

	CHECK(cudaGetDeviceCount(&gpus));
	if (gpus < 2)
		return verdict(true, "one GPU: nothing to copy between");
	CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
	CHECK(cudaSetDevice(0));
	CHECK(cudaMalloc(&first, N * 4));
	CHECK(cudaSetDevice(1));
	CHECK(cudaMalloc(&second, N * 4));
	CHECK(cudaMallocHost(&back, N * 4));
	host = (uint32_t *)malloc(N * 4);
	addresses();
	there_and_back();
	in_order();
	strange_streams();
	boxes();
	WANT(cudaMemcpyPeer(second, 1, first, 0, (size_t)N * 400) == cudaErrorInvalidValue);
	cudaGetLastError();
	return verdict(!wrong, "2 of %d GPUs, access %d, %d of the copies or answers wrong", gpus,
		       can, wrong);
}
