// SPDX-License-Identifier: GPL-2.0-only
/* One sum over all GPUs, as NVIDIA's simpleMultiGPU does it. What each GPU saw must be its own. */
#include "check.h"

enum { MAX_GPUS = 16, BLOCKS = 32, THREADS = 256 };

__device__ int whoami;

__global__ void sum(const int *in, int n, long long *out)
{
	__shared__ long long part[THREADS];
	long long s = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		s += in[i];
	part[threadIdx.x] = s;
	__syncthreads();
	for (int half = THREADS / 2; half; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (!threadIdx.x)
		out[blockIdx.x] = part[0] * whoami;
}

struct plan {
	int n, *pinned, *in;
	long long *out, *host;
	cudaStream_t stream;
};

static void set_up(struct plan *p, int device, const int *values)
{
	int me = device + 1;

	CHECK(cudaSetDevice(device));
	CHECK(cudaMemcpyToSymbol(whoami, &me, sizeof(me)));
	CHECK(cudaStreamCreate(&p->stream));
	CHECK(cudaMallocHost(&p->pinned, p->n * sizeof(int)));
	CHECK(cudaMallocHost(&p->host, BLOCKS * sizeof(long long)));
	CHECK(cudaMalloc(&p->in, p->n * sizeof(int)));
	CHECK(cudaMalloc(&p->out, BLOCKS * sizeof(long long)));
	memcpy(p->pinned, values, p->n * sizeof(int));
}

static void start(struct plan *p, int device)
{
	CHECK(cudaSetDevice(device));
	CHECK(cudaMemcpyAsync(p->in, p->pinned, p->n * sizeof(int), cudaMemcpyHostToDevice,
			      p->stream));
	sum<<<BLOCKS, THREADS, 0, p->stream>>>(p->in, p->n, p->out);
	CHECK_LAUNCH();
	CHECK(cudaMemcpyAsync(p->host, p->out, BLOCKS * sizeof(long long), cudaMemcpyDeviceToHost,
			      p->stream));
}

static long long finish(struct plan *p, int device)
{
	long long s = 0;

	CHECK(cudaSetDevice(device));
	CHECK(cudaStreamSynchronize(p->stream));
	for (int i = 0; i < BLOCKS; i++)
		s += p->host[i];
	CHECK(cudaStreamDestroy(p->stream));
	CHECK(cudaFreeHost(p->pinned));
	CHECK(cudaFreeHost(p->host));
	CHECK(cudaFree(p->in));
	CHECK(cudaFree(p->out));
	return s;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 400003), gpus, at = 0;
	int *values = (int *)malloc(n * sizeof(int));
	struct plan plan[MAX_GPUS] = { };
	long long got = 0, want = 0;
	uint32_t seed = 1;

	CHECK(cudaGetDeviceCount(&gpus));
	gpus = gpus < MAX_GPUS ? gpus : MAX_GPUS;
	for (int i = 0; i < n; i++)
		values[i] = random_bits(&seed) & 0xffff;
	for (int d = 0; d < gpus; at += plan[d++].n) {
		plan[d].n = n / gpus + (d < n % gpus);
		for (int i = at; i < at + plan[d].n; i++)
			want += (long long)values[i] * (d + 1);
		set_up(&plan[d], d, values + at);
	}
	for (int d = 0; d < gpus; d++)
		start(&plan[d], d);
	for (int d = 0; d < gpus; d++)
		got += finish(&plan[d], d);
	return verdict(got == want, "%d numbers on %d GPUs, sum %lld, expected %lld", n, gpus, got,
		       want);
}
