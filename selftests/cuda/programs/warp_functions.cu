// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shuffles of all kinds, some in parts of a warp, votes, and cooperative groups' tiles.
 */
#include <cooperative_groups.h>

#include "check.h"

namespace cg = cooperative_groups;

enum { WARPS = 4, N = 32 * WARPS, TESTS = 14 };

__global__ void compute(const int *in, int *out, double *out_double)
{
	int t = threadIdx.x, v = in[t], *o = out + t;
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);

	o[0 * N] = __shfl_sync(0xffffffff, v, 5);
	o[1 * N] = __shfl_sync(0xffffffff, v, v & 31);
	o[2 * N] = __shfl_up_sync(0xffffffff, v, 3);
	o[3 * N] = __shfl_down_sync(0xffffffff, v, 7, 16);
	o[4 * N] = __shfl_xor_sync(0xffffffff, v, 9);
	o[5 * N] = __ballot_sync(0xffffffff, v & 4);
	o[6 * N] = __any_sync(0xffffffff, v > 90) | __all_sync(0xffffffff, v >= 0) << 1;
	o[7 * N] = -1;
	if (t % 3 == 0) {
		unsigned int active = __activemask();

		o[7 * N] = __ballot_sync(active, v & 1) ^ active;
	}
	o[8 * N] = __shfl_sync(0xffffffff, v, t + 1, 4);
	o[9 * N] = __syncthreads_count(v & 1);
	o[10 * N] = __syncthreads_and(v < 100) | __syncthreads_or(v == 3) << 1;
	int sum = v;
	for (int d = tile.size() / 2; d; d /= 2)
		sum += tile.shfl_xor(sum, d);
	o[11 * N] = sum;
	o[12 * N] = tile.ballot(v & 2) << 8 | tile.thread_rank();
	cg::sync(block);
	if (v & 1) {
		cg::coalesced_group g = cg::coalesced_threads();

		o[13 * N] = g.size() << 8 | g.thread_rank();
	} else {
		o[13 * N] = 0;
	}
	out_double[t] = __shfl_xor_sync(0xffffffff, v * 1.5, 1);
}

int main(void)
{
	int in[N], got[TESTS][N], want[TESTS][N], *d_in, *d_out, odd = 0, wrong = 0, threes = 0,
								 below = 1;
	double got_double[N], *d_double;
	uint32_t seed = 29;

	for (int i = 0; i < N; i++) {
		in[i] = random_bits(&seed) % 100;
		odd += in[i] & 1;
		threes |= in[i] == 3;
	}
	for (int i = 0; i < N; i++) {
		int w = i & ~31, l = i & 31, tile = i & ~7;
		int bits4 = 0, any = 0, all = 1, part = 0, active = 0, sum = 0, bits2 = 0, size = 0,
		    rank = 0;

		for (int j = 0; j < 32; j++) {
			bits4 |= (in[w + j] >> 2 & 1) << j;
			any |= in[w + j] > 90;
			all &= in[w + j] >= 0;
			if ((w + j) % 3 == 0) {
				active |= 1u << j;
				part |= (in[w + j] & 1) << j;
			}
			size += in[w + j] & 1;
			rank += j < l && in[w + j] & 1;
		}
		for (int j = 0; j < 8; j++) {
			sum += in[tile + j];
			bits2 |= (in[tile + j] >> 1 & 1) << j;
		}
		want[0][i] = in[w + 5];
		want[1][i] = in[w + (in[i] & 31)];
		want[2][i] = l >= 3 ? in[i - 3] : in[i];
		want[3][i] = l % 16 + 7 < 16 ? in[i + 7] : in[i];
		want[4][i] = in[i ^ 9];
		want[5][i] = bits4;
		want[6][i] = any | all << 1;
		want[7][i] = i % 3 ? -1 : part ^ active;
		want[8][i] = in[(i & ~3) + ((i + 1) & 3)];
		want[9][i] = odd;
		want[10][i] = below | threes << 1;
		want[11][i] = sum;
		want[12][i] = bits2 << 8 | (i & 7);
		want[13][i] = in[i] & 1 ? size << 8 | rank : 0;
	}
	CHECK(cudaMalloc(&d_in, sizeof(in)));
	CHECK(cudaMalloc(&d_out, sizeof(got)));
	CHECK(cudaMalloc(&d_double, sizeof(got_double)));
	CHECK(cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice));
	compute<<<1, N>>>(d_in, d_out, d_double);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_out, sizeof(got), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(got_double, d_double, sizeof(got_double), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		for (int k = 0; k < TESTS; k++)
			if (got[k][i] != want[k][i] && wrong++ < 5)
				printf("test %d, thread %d: %d for %d\n", k, i, got[k][i],
				       want[k][i]);
		wrong += got_double[i] != in[i ^ 1] * 1.5;
	}
	return verdict(!wrong, "%d kinds of shuffles and votes by %d warps, %d wrong", TESTS + 1, WARPS, wrong);
}
