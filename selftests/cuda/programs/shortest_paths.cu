// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shortest paths: from one vertex by Bellman and Ford with atomicMin, and between all by Floyd and
 * Warshall in blocks.
 */
#include "check.h"

enum { N = 160, B = 16, EDGES = 1200, FAR = 1 << 20 };

__global__ void relax(const int3 *edge, int *distance, int *changed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < EDGES) {
		int through = distance[edge[i].x] + edge[i].z;

		if (through < distance[edge[i].y] &&
		    atomicMin(&distance[edge[i].y], through) > through)
			atomicExch(changed, 1);
	}
}

/* a and b may be d itself: k after k */
__device__ void block_min(int (*d)[B], int (*a)[B], int (*b)[B])
{
	for (int k = 0; k < B; k++) {
		int through = a[threadIdx.y][k] + b[k][threadIdx.x];

		__syncthreads();
		d[threadIdx.y][threadIdx.x] = min(d[threadIdx.y][threadIdx.x], through);
		__syncthreads();
	}
}

/* phase 0: the block on the diagonal; 1: its row and column; 2: the others */
__global__ void floyd(int *m, int pivot, int phase)
{
	__shared__ int self[B][B], left[B][B], top[B][B];
	int by = phase == 0		       ? pivot :
		 phase == 1 && blockIdx.y == 0 ? pivot :
		 phase == 1		       ? blockIdx.x :
						 blockIdx.y;
	int bx = phase == 0 ? pivot : phase == 1 && blockIdx.y == 1 ? pivot : blockIdx.x;
	int y = by * B + threadIdx.y, x = bx * B + threadIdx.x;

	if (phase && (phase == 1 ? by == pivot && bx == pivot : by == pivot || bx == pivot))
		return;
	self[threadIdx.y][threadIdx.x] = m[y * N + x];
	left[threadIdx.y][threadIdx.x] = m[y * N + pivot * B + threadIdx.x];
	top[threadIdx.y][threadIdx.x] = m[(pivot * B + threadIdx.y) * N + x];
	__syncthreads();
	block_min(self, bx == pivot ? self : left, by == pivot ? self : top);
	m[y * N + x] = self[threadIdx.y][threadIdx.x];
}

int main(void)
{
	static int want[N][N], got[N][N], from0[N];
	static int3 edge[EDGES];
	int *d, *d_distance, *d_changed, changed = 1, rounds = 0, wrong = 0;
	int3 *d_edge;
	uint32_t seed = 99;

	for (int i = 0; i < N * N; i++)
		want[i / N][i % N] = i / N == i % N ? 0 : FAR;
	for (int i = 0; i < EDGES; i++) {
		edge[i] = make_int3(random_bits(&seed) % N, random_bits(&seed) % N,
				    1 + random_bits(&seed) % 100);
		if (edge[i].z < want[edge[i].x][edge[i].y])
			want[edge[i].x][edge[i].y] = edge[i].z;
	}
	CHECK(cudaMalloc(&d, sizeof(want)));
	CHECK(cudaMalloc(&d_edge, sizeof(edge)));
	CHECK(cudaMalloc(&d_distance, N * 4));
	CHECK(cudaMalloc(&d_changed, 4));
	CHECK(cudaMemcpy(d, want, sizeof(want), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_edge, edge, sizeof(edge), cudaMemcpyHostToDevice));
	for (int i = 0; i < N; i++)
		from0[i] = i ? FAR : 0;
	CHECK(cudaMemcpy(d_distance, from0, sizeof(from0), cudaMemcpyHostToDevice));
	for (; changed && rounds < N; rounds++) {
		CHECK(cudaMemset(d_changed, 0, 4));
		relax<<<CEIL_DIV(EDGES, 64), 64>>>(d_edge, d_distance, d_changed);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(&changed, d_changed, 4, cudaMemcpyDeviceToHost));
	}
	for (int p = 0; p < N / B; p++) {
		floyd<<<1, dim3(B, B)>>>(d, p, 0);
		floyd<<<dim3(N / B, 2), dim3(B, B)>>>(d, p, 1);
		floyd<<<dim3(N / B, N / B), dim3(B, B)>>>(d, p, 2);
		CHECK_LAUNCH();
	}
	for (int k = 0; k < N; k++)
		for (int y = 0; y < N; y++)
			for (int x = 0; x < N; x++)
				if (want[y][k] + want[k][x] < want[y][x])
					want[y][x] = want[y][k] + want[k][x];
	CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(from0, d_distance, sizeof(from0), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N * N; i++)
		wrong += got[i / N][i % N] != want[i / N][i % N];
	for (int i = 0; i < N; i++)
		wrong += (from0[i] < FAR ? from0[i] : FAR) != (want[0][i] < FAR ? want[0][i] : FAR);
	return verdict(!wrong, "%d vertices: all pairs, and one source in %d rounds; %d wrong", N, rounds, wrong);
}
