// SPDX-License-Identifier: GPL-2.0-only
/* PageRank over incoming links in double precision, and connected components. */
#include <vector>

#include "check.h"

__global__ void rank(int n, const int *begin, const int *from, const int *out_degree,
		     const double *old, double *now, double lost)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	if (v >= n)
		return;
	for (int e = begin[v]; e < begin[v + 1]; e++)
		sum += old[from[e]] / out_degree[from[e]];
	now[v] = 0.15 / n + 0.85 * (sum + lost / n);
}

__global__ void spread(int nr_edges, const int2 *edge, int *label, int *changed)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nr_edges;
	     i += gridDim.x * blockDim.x) {
		int a = label[edge[i].x], b = label[edge[i].y];

		if (a == b)
			continue;
		atomicMin(&label[a < b ? edge[i].y : edge[i].x], min(a, b));
		*changed = 1;
	}
}

static int root(std::vector<int> &parent, int v)
{
	while (parent[v] != v)
		v = parent[v] = parent[parent[v]];
	return v;
}

int main(void)
{
	const int n = 4000, m = 3600, rounds = 15;
	std::vector<int2> edge(m);
	std::vector<int> begin(n + 1, 0), from(m), degree(n, 0), at, parent(n), label(n);
	std::vector<double> ranks(n, 1.0 / n), next(n), got(n);
	int *d_begin, *d_from, *d_degree, *d_label, *d_changed, changed = 1, wrong = 0,
								components = 0;
	double *d_rank[2], worst = 0;
	int2 *d_edge;
	uint32_t seed = 17;

	for (int i = 0; i < n; i++)
		parent[i] = label[i] = i;
	for (int i = 0; i < m; i++) {
		edge[i] = make_int2(random_bits(&seed) % n, random_bits(&seed) % n);
		degree[edge[i].x]++;
		begin[edge[i].y + 1]++;
		int a = root(parent, edge[i].x), b = root(parent, edge[i].y);
		parent[a > b ? a : b] = a < b ? a : b;
	}
	for (int v = 0; v < n; v++)
		begin[v + 1] += begin[v];
	at = begin;
	for (int i = 0; i < m; i++)
		from[at[edge[i].y]++] = edge[i].x;
	CHECK(cudaMalloc(&d_begin, (n + 1) * 4));
	CHECK(cudaMalloc(&d_from, m * 4));
	CHECK(cudaMalloc(&d_degree, n * 4));
	CHECK(cudaMalloc(&d_label, n * 4));
	CHECK(cudaMalloc(&d_changed, 4));
	CHECK(cudaMalloc(&d_edge, m * sizeof(int2)));
	CHECK(cudaMalloc(&d_rank[0], n * 8));
	CHECK(cudaMalloc(&d_rank[1], n * 8));
	CHECK(cudaMemcpy(d_begin, begin.data(), (n + 1) * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_from, from.data(), m * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_degree, degree.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_label, label.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_edge, edge.data(), m * sizeof(int2), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_rank[0], ranks.data(), n * 8, cudaMemcpyHostToDevice));
	for (int r = 0; r < rounds; r++) {
		double lost = 0;

		for (int v = 0; v < n; v++)
			lost += degree[v] ? 0 : ranks[v];
		rank<<<CEIL_DIV(n, 128), 128>>>(n, d_begin, d_from, d_degree, d_rank[r % 2],
						d_rank[1 - r % 2], lost);
		CHECK_LAUNCH();
		for (int v = 0; v < n; v++) {
			double sum = 0;

			for (int e = begin[v]; e < begin[v + 1]; e++)
				sum += ranks[from[e]] / degree[from[e]];
			next[v] = 0.15 / n + 0.85 * (sum + lost / n);
		}
		ranks.swap(next);
	}
	CHECK(cudaMemcpy(got.data(), d_rank[rounds % 2], n * 8, cudaMemcpyDeviceToHost));
	for (int v = 0; v < n; v++)
		worst = fmax(worst, fabs(got[v] / ranks[v] - 1));
	while (changed) {
		CHECK(cudaMemset(d_changed, 0, 4));
		spread<<<8, 128>>>(m, d_edge, d_label, d_changed);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(&changed, d_changed, 4, cudaMemcpyDeviceToHost));
	}
	CHECK(cudaMemcpy(label.data(), d_label, n * 4, cudaMemcpyDeviceToHost));
	for (int v = 0; v < n; v++) {
		wrong += label[v] != root(parent, v);
		components += root(parent, v) == v;
	}
	return verdict(worst < 1e-12 && !wrong, "%d ranks, worst error %.1e; %d components, %d labels wrong", n, worst, components, wrong);
}
