// SPDX-License-Identifier: GPL-2.0-only
// Votes, shuffles, barriers, cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

template<class T> __global__ void shuffles(T *p, int i)
{
	const unsigned int all = 0xffffffff;
	T v = p[threadIdx.x];

	p[threadIdx.x] = __shfl_sync(all, v, i) + __shfl_up_sync(all, v, 3) +
			 __shfl_down_sync(all, v, i, 16) + __shfl_xor_sync(all, v, 1, 8) +
			 __shfl_sync(all, v, 5, 4);
}
template __global__ void shuffles<int>(int *, int);
template __global__ void shuffles<float>(float *, int);
template __global__ void shuffles<long long>(long long *, int);
template __global__ void shuffles<double>(double *, int);

__global__ void votes(unsigned int *p, int c)
{
	bool b = p[threadIdx.x] > c;

	p[0] = __all_sync(0xffffffff, b) + __any_sync(0xffffffff, !b) +
	       __ballot_sync(0xffffffff, b) + __activemask();
	p[1] = __syncthreads_count(b) + __syncthreads_and(!b) + __syncthreads_or(b);
	__syncwarp();
	if (__all_sync(0xffffffff, c > 3))
		p[2] = __popc(__ballot_sync(0xffffffff, threadIdx.x & 1));
}

__global__ void barriers(int *p)
{
	__shared__ int s[128];

	s[threadIdx.x] = p[threadIdx.x];
	if (threadIdx.x < 64) {
		asm volatile("bar.arrive 3, 128;");
	} else {
		asm volatile("bar.sync 3, 128;");
		p[0] = s[threadIdx.x ^ 64];
	}
	__syncthreads();
	asm volatile("bar.sync %0, 64;" :: "r"(1 + threadIdx.x / 64));
	p[threadIdx.x] = s[127 - threadIdx.x];
}

__global__ void groups(int *p, float *q)
{
	cg::thread_block block = cg::this_thread_block();
	auto tile = cg::tiled_partition<16>(block);
	auto active = cg::coalesced_threads();

	p[block.thread_rank()] = cg::reduce(tile, p[threadIdx.x], cg::plus<int>()) +
				 tile.shfl_xor(p[0], 2) + tile.any(p[1] > 3);
	q[threadIdx.x] = cg::reduce(tile, q[threadIdx.x], cg::greater<float>());
	if (threadIdx.x & 1) {
		auto odd = cg::coalesced_threads();

		p[odd.thread_rank()] = odd.shfl(p[2], 0) + active.size();
	}
	block.sync();
}

__device__ float warp_sum(float v)
{
	for (int d = 16; d; d >>= 1)
		v += __shfl_down_sync(0xffffffff, v, d);
	return v;
}

__global__ void reduce(const float *in, float *out, int n)
{
	__shared__ float s[32];
	float v = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		v += in[i];
	v = warp_sum(v);
	if (threadIdx.x % 32 == 0)
		s[threadIdx.x / 32] = v;
	__syncthreads();
	v = threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0;
	if (threadIdx.x < 32)
		v = warp_sum(v);
	if (threadIdx.x == 0)
		atomicAdd(out, v);
}
