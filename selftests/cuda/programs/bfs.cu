// SPDX-License-Identifier: GPL-2.0-only
/*
 * Breadth-first search: a queue of vertices filled by atomics, a level for each launch; and level
 * by level over all vertices.
 */
#include <vector>

#include "check.h"

__device__ int next_size;

__global__ void expand(const int *begin, const int *edge, const int *queue, int n, int *next,
		       int *level, int depth)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n)
		return;
	for (int e = begin[queue[i]]; e < begin[queue[i] + 1]; e++)
		if (atomicCAS(&level[edge[e]], -1, depth) == -1)
			next[atomicAdd(&next_size, 1)] = edge[e];
}

__global__ void sweep(const int *begin, const int *edge, int n, int *level, int depth, int *changed)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	bool found = false;

	if (v < n && level[v] == depth - 1)
		for (int e = begin[v]; e < begin[v + 1]; e++)
			if (level[edge[e]] == -1) {
				level[edge[e]] = depth;
				found = true;
			}
	if (__syncthreads_or(found) && !threadIdx.x)
		*changed = 1;
}

int main(void)
{
	const int n = 20000;
	std::vector<int> begin(1, 0), edge, want(n, -1), queue(1, 0), got(n);
	int *d_begin, *d_edge, *d_level, *d_queue[2], *d_changed, size = 1, zero = 0, depth,
								  reached = 0, wrong = 0;
	uint32_t seed = 1234;

	for (int v = 0; v < n; v++) {
		int degree = v % 1000 == 0 ? 300 : random_bits(&seed) % 4;

		for (int i = 0; i < degree; i++)
			edge.push_back(random_bits(&seed) % n);
		begin.push_back(edge.size());
	}
	want[0] = 0;
	for (size_t i = 0; i < queue.size(); i++)
		for (int e = begin[queue[i]]; e < begin[queue[i] + 1]; e++)
			if (want[edge[e]] < 0) {
				want[edge[e]] = want[queue[i]] + 1;
				queue.push_back(edge[e]);
			}
	CHECK(cudaMalloc(&d_begin, begin.size() * 4));
	CHECK(cudaMalloc(&d_edge, edge.size() * 4));
	CHECK(cudaMalloc(&d_level, n * 4));
	CHECK(cudaMalloc(&d_queue[0], n * 4));
	CHECK(cudaMalloc(&d_queue[1], n * 4));
	CHECK(cudaMalloc(&d_changed, 4));
	CHECK(cudaMemcpy(d_begin, begin.data(), begin.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_edge, edge.data(), edge.size() * 4, cudaMemcpyHostToDevice));

	CHECK(cudaMemset(d_level, 0xff, n * 4));
	CHECK(cudaMemset(d_level, 0, 4));
	CHECK(cudaMemset(d_queue[0], 0, 4));
	for (depth = 1; size; depth++) {
		CHECK(cudaMemcpyToSymbol(next_size, &zero, sizeof(zero)));
		expand<<<CEIL_DIV(size, 128), 128>>>(d_begin, d_edge, d_queue[(depth - 1) % 2],
						     size, d_queue[depth % 2], d_level, depth);
		CHECK_LAUNCH();
		CHECK(cudaMemcpyFromSymbol(&size, next_size, sizeof(size)));
	}
	CHECK(cudaMemcpy(got.data(), d_level, n * 4, cudaMemcpyDeviceToHost));
	for (int v = 0; v < n; v++)
		wrong += got[v] != want[v];

	CHECK(cudaMemset(d_level, 0xff, n * 4));
	CHECK(cudaMemset(d_level, 0, 4));
	for (depth = 1, size = 1; size; depth++) {
		CHECK(cudaMemset(d_changed, 0, 4));
		sweep<<<CEIL_DIV(n, 256), 256>>>(d_begin, d_edge, n, d_level, depth, d_changed);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(&size, d_changed, 4, cudaMemcpyDeviceToHost));
	}
	CHECK(cudaMemcpy(got.data(), d_level, n * 4, cudaMemcpyDeviceToHost));
	for (int v = 0; v < n; v++) {
		wrong += got[v] != want[v];
		reached += want[v] >= 0;
	}
	return verdict(!wrong, "%d vertices, %zu edges, %d reached in %d levels, %d wrong", n, edge.size(), reached, depth - 1, wrong);
}
