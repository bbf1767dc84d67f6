// SPDX-License-Identifier: GPL-2.0-only
/* What the device says of itself must agree with itself and with sm_35. */
#include "check.h"

__global__ void light(float *p)
{
	p[threadIdx.x] = 1;
}

__global__ void heavy(float *p)
{
	__shared__ float s[6000];

	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

static int bad;

static void expect(bool ok, const char *what)
{
	if (!ok) {
		printf("not so: %s\n", what);
		bad++;
	}
}

int main(void)
{
	cudaDeviceProp p;
	int count = 0, v = 0, device = -1, block = 0, grid = 0, driver = 0, runtime = 0;
	size_t free_before, free_after, total, limit;
	void *m;
	cudaPointerAttributes where;
	float *host;

	CHECK(cudaGetDeviceCount(&count));
	expect(count >= 1, "there is a device");
	CHECK(cudaGetDevice(&device));
	expect(device == 0, "the first is current");
	CHECK(cudaGetDeviceProperties(&p, 0));
	expect(p.major == 3 && p.minor == 5, "3.5");
	expect(p.warpSize == 32 && p.maxThreadsPerBlock == 1024 && p.regsPerBlock == 65536 &&
		       p.sharedMemPerBlock == 49152,
	       "sm_35's sizes");
	expect(p.maxGridSize[0] == 0x7fffffff && p.maxGridSize[1] == 65535 &&
		       p.maxThreadsDim[2] == 64,
	       "sm_35's shapes");
	expect(p.maxThreadsPerMultiProcessor == 2048 && p.multiProcessorCount >= 1 &&
		       p.multiProcessorCount <= 15,
	       "multiprocessors");
	expect(p.totalConstMem == 65536 && p.clockRate > 0 && p.name[0], "constants, clock, name");
	CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0));
	expect(v == p.multiProcessorCount, "attribute and property agree");
	CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlock, 0));
	expect(v == 49152, "shared memory");
	CHECK(cudaDeviceGetAttribute(&v, cudaDevAttrCooperativeLaunch, 0));
	expect(v == 0, "sm_35 has no cooperative launches");
	CHECK(cudaDriverGetVersion(&driver));
	CHECK(cudaRuntimeGetVersion(&runtime));
	expect(driver >= runtime && runtime == 11080, "versions");
	expect(cudaSetDevice(count) == cudaErrorInvalidDevice, "no device behind the last");
	cudaGetLastError();

	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, light, 128, 0));
	expect(v == 16, "16 small blocks");
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, light, 1024, 0));
	expect(v == 2, "2 large blocks");
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, heavy, 128, 0));
	expect(v == 2, "2 with 24000 bytes each");
	CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, light));
	expect(block == 1024 || block == 256 || block == 512 || block == 128, "a block size that fills a multiprocessor");
	expect(grid * block == 2048 * p.multiProcessorCount, "and a grid that fills the device");

	CHECK(cudaMemGetInfo(&free_before, &total));
	expect(total == p.totalGlobalMem && free_before <= total, "memory");
	CHECK(cudaMalloc(&m, 64 << 20));
	CHECK(cudaMemGetInfo(&free_after, &total));
	expect(free_before - free_after >= 64 << 20, "64 MiB less are free");
	CHECK(cudaPointerGetAttributes(&where, (char *)m + 1000));
	expect(where.type == cudaMemoryTypeDevice && where.device == 0, "a pointer to the device");
	CHECK(cudaMallocHost(&host, 1000));
	CHECK(cudaPointerGetAttributes(&where, host));
	expect(where.type == cudaMemoryTypeHost && where.hostPointer == host,
	       "a pointer to pinned memory");
	CHECK(cudaPointerGetAttributes(&where, &count));
	expect(where.type == cudaMemoryTypeUnregistered, "a pointer to anything else");
	CHECK(cudaFree(m));
	CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
	CHECK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
	expect(limit == 4096, "limit of the stack");
	expect(cudaMalloc(&m, total + (1ull << 40)) == cudaErrorMemoryAllocation,
	       "more than there is");
	expect(cudaGetLastError() == cudaErrorMemoryAllocation && cudaGetLastError() == cudaSuccess,
	       "an error is told once");
	return verdict(!bad, "%s, %d multiprocessors, %zu MiB; %d expectations failed", p.name, p.multiProcessorCount, total >> 20, bad);
}
