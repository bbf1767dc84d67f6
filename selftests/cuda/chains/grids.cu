// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stencil, a graph (breadth-first, level by level), and dynamic programming (the cheapest way
 * down through rows of costs). All results are compared bit by bit.
 */
#include <vector>

#include "chain.h"

/* ------------------------------------------------------------------ stencil */

enum { STEPS = 20, SIDE = 16 };

__global__ void relax(const float *in, float *out, int n)
{
	__shared__ float s[SIDE + 2][SIDE + 2];
	int x = blockIdx.x * SIDE + threadIdx.x, y = blockIdx.y * SIDE + threadIdx.y,
	    lx = threadIdx.x + 1, ly = threadIdx.y + 1;
	bool inner = x > 0 && y > 0 && x < n - 1 && y < n - 1;

	s[ly][lx] = in[y * n + x];
	if (lx == 1 && x > 0)
		s[ly][0] = in[y * n + x - 1];
	if (lx == SIDE && x < n - 1)
		s[ly][SIDE + 1] = in[y * n + x + 1];
	if (ly == 1 && y > 0)
		s[0][lx] = in[(y - 1) * n + x];
	if (ly == SIDE && y < n - 1)
		s[SIDE + 1][lx] = in[(y + 1) * n + x];
	__syncthreads();
	out[y * n + x] = inner ? 0.25f * ((s[ly][lx - 1] + s[ly][lx + 1]) +
					  (s[ly - 1][lx] + s[ly + 1][lx])) :
				 s[ly][lx];
}

static void launch_stencil(const struct job *j, void **d)
{
	for (int i = 0; i < STEPS; i++)
		relax<<<dim3(j->n / SIDE, j->n / SIDE), dim3(SIDE, SIDE)>>>(
			(const float *)d[i % 2], (float *)d[1 - i % 2], j->n);
}

static bool stencil_right(const struct job *j)
{
	int n = j->n;
	const float *first = (const float *)j->buffer[0].in;
	std::vector<float> a(first, first + (size_t)n * n), b(a);

	for (int i = 0; i < STEPS; i++, a.swap(b))
		for (int y = 1; y < n - 1; y++)
			for (int x = 1; x < n - 1; x++) {
				const float *p = &a[(size_t)y * n + x];

				b[(size_t)y * n + x] = 0.25f * ((p[-1] + p[1]) + (p[-n] + p[n]));
			}
	return !memcmp(a.data(), j->buffer[0].out, a.size() * sizeof(float));
}

static void make_stencil(struct job *j)
{
	size_t cells = (size_t)j->n * j->n;
	struct buffer *b = add_buffer(j, cells * sizeof(float), true, true);
	uint32_t seed = 3;

	for (size_t i = 0; i < cells; i++)
		((float *)b->in)[i] = random_float(&seed);
	add_buffer(j, cells * sizeof(float), false, false);
	j->kernel = (const void *)relax;
	j->launch = launch_stencil;
	j->right = stencil_right;
}

/* ----------------------------------------- graph: buffers begin[n + 1], edge, level[n], changed */

__global__ void expand(const int *begin, const int *edge, int *level, int *changed, int n,
		       int depth)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;

	if (v >= n || level[v] != depth - 1)
		return;
	for (int e = begin[v]; e < begin[v + 1]; e++)
		if (level[edge[e]] < 0) {
			level[edge[e]] = depth;
			*changed = depth;
		}
}

static void launch_graph(const struct job *j, void **d)
{
	int changed = 0;

	for (int depth = 1; changed == depth - 1; depth++) {
		expand<<<CEIL_DIV(j->n, 256), 256>>>((const int *)d[0], (const int *)d[1],
						     (int *)d[2], (int *)d[3], j->n, depth);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(&changed, d[3], sizeof(changed), cudaMemcpyDeviceToHost));
	}
}

static bool graph_right(const struct job *j)
{
	const int *begin = (const int *)j->buffer[0].in, *edge = (const int *)j->buffer[1].in;
	std::vector<int> want(j->n, -1), queue(1, 0);

	want[0] = 0;
	for (size_t i = 0; i < queue.size(); i++)
		for (int e = begin[queue[i]]; e < begin[queue[i] + 1]; e++)
			if (want[edge[e]] < 0) {
				want[edge[e]] = want[queue[i]] + 1;
				queue.push_back(edge[e]);
			}
	return queue.size() > (size_t)j->n / 2 &&
	       !memcmp(want.data(), j->buffer[2].out, want.size() * sizeof(int));
}

static void make_graph(struct job *j)
{
	std::vector<int> begin(1, 0), edge;
	uint32_t seed = 5;

	for (int v = 0; v < j->n; v++) {
		int degree = v % 1000 ? 1 + random_bits(&seed) % 4 : 200;

		for (int i = 0; i < degree; i++)
			edge.push_back(random_bits(&seed) % j->n);
		begin.push_back(edge.size());
	}
	memcpy(add_buffer(j, begin.size() * sizeof(int), true, false)->in, begin.data(),
	       begin.size() * sizeof(int));
	memcpy(add_buffer(j, edge.size() * sizeof(int), true, false)->in, edge.data(),
	       edge.size() * sizeof(int));
	memset(add_buffer(j, j->n * sizeof(int), true, true)->in, 0xff, j->n * sizeof(int));
	*(int *)j->buffer[2].in = 0;
	memset(add_buffer(j, sizeof(int), true, false)->in, 0, sizeof(int));
	j->kernel = (const void *)expand;
	j->launch = launch_graph;
	j->right = graph_right;
}

/* --------------------------------------- dynamic programming: costs, sums of a row, of the next */

enum { ROWS = 128, ROWS_A_LAUNCH = 16, WIDTH = 256 };

/* a block's WIDTH columns, with a margin on both sides that shrinks on the way down */
__global__ void descend(const int *cost, const int *in, int *out, int n, int row)
{
	__shared__ int s[2][WIDTH + 2 * ROWS_A_LAUNCH + 2];
	int count = WIDTH + 2 * ROWS_A_LAUNCH, left = blockIdx.x * WIDTH - ROWS_A_LAUNCH;
	const int far = 0x3fffffff;

	for (int i = threadIdx.x; i < count + 2; i += blockDim.x) {
		int x = left + i - 1;

		s[0][i] = x >= 0 && x < n ? in[x] : far;
		s[1][i] = far;
	}
	__syncthreads();
	for (int k = 0; k < ROWS_A_LAUNCH; k++) {
		for (int i = threadIdx.x + 1; i <= count; i += blockDim.x) {
			int x = left + i - 1,
			    best = min(s[k & 1][i], min(s[k & 1][i - 1], s[k & 1][i + 1]));

			s[~k & 1][i] = x >= 0 && x < n ? best + cost[(row + k) * n + x] : far;
		}
		__syncthreads();
	}
	for (int i = threadIdx.x; i < WIDTH; i += blockDim.x) {
		int x = blockIdx.x * WIDTH + i;

		if (x < n)
			out[x] = s[ROWS_A_LAUNCH & 1][i + ROWS_A_LAUNCH + 1];
	}
}

static void launch_dynamic(const struct job *j, void **d)
{
	for (int i = 0; i < ROWS / ROWS_A_LAUNCH; i++)
		descend<<<CEIL_DIV(j->n, WIDTH), WIDTH>>>((const int *)d[0],
							  (const int *)d[1 + i % 2],
							  (int *)d[2 - i % 2], j->n,
							  i * ROWS_A_LAUNCH);
}

static bool dynamic_right(const struct job *j)
{
	const int *cost = (const int *)j->buffer[0].in;
	std::vector<int> a(j->n, 0), b(a);

	for (int row = 0; row < ROWS; row++, a.swap(b))
		for (int x = 0; x < j->n; x++) {
			int best = a[x];

			best = x && a[x - 1] < best ? a[x - 1] : best;
			best = x < j->n - 1 && a[x + 1] < best ? a[x + 1] : best;
			b[x] = best + cost[(size_t)row * j->n + x];
		}
	return !memcmp(a.data(), j->buffer[1].out, a.size() * sizeof(int));
}

static void make_dynamic(struct job *j)
{
	struct buffer *cost = add_buffer(j, (size_t)ROWS * j->n * sizeof(int), true, false);
	uint32_t seed = 9;

	for (size_t i = 0; i < (size_t)ROWS * j->n; i++)
		((int *)cost->in)[i] = random_bits(&seed) % 100;
	memset(add_buffer(j, j->n * sizeof(int), true, true)->in, 0, j->n * sizeof(int));
	add_buffer(j, j->n * sizeof(int), false, false);
	j->kernel = (const void *)descend;
	j->launch = launch_dynamic;
	j->right = dynamic_right;
}

const struct chain grid_chains[] = {
	{ "cuda-stencil", 512, 256, 3, make_stencil }, { "cuda-graph", 100000, 20000, 3,
		make_graph },
	{ "cuda-dynamic", 20000, 5000, 3, make_dynamic }, { NULL },
};
