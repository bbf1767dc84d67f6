// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many tridiagonal systems at once: parallel cyclic reduction in dynamic shared memory, a block to
 * each system.
 */
#include "check.h"

enum { N = 200, SYSTEMS = 64 };

__global__ void solve(const float *a, const float *b, const float *c, const float *d, float *x)
{
	extern __shared__ float s[];
	float *sa = s, *sb = s + N, *sc = s + 2 * N, *sd = s + 3 * N;
	int i = threadIdx.x, at = blockIdx.x * N + i;

	sa[i] = a[at];
	sb[i] = b[at];
	sc[i] = c[at];
	sd[i] = d[at];
	for (int step = 1; step < N; step *= 2) {
		int low = i - step, high = i + step;
		float na = 0, nb = sb[i], nc = 0, nd = sd[i], k;

		__syncthreads();
		nb = sb[i];
		nd = sd[i];
		if (low >= 0) {
			k = sa[i] / sb[low];
			na = -k * sa[low];
			nb -= k * sc[low];
			nd -= k * sd[low];
		}
		if (high < N) {
			k = sc[i] / sb[high];
			nc = -k * sc[high];
			nb -= k * sa[high];
			nd -= k * sd[high];
		}
		__syncthreads();
		sa[i] = na;
		sb[i] = nb;
		sc[i] = nc;
		sd[i] = nd;
	}
	x[at] = sd[i] / sb[i];
}

int main(void)
{
	static float m[4][SYSTEMS * N], got[SYSTEMS * N];
	float *d[5];
	double worst = 0;
	uint32_t seed = 9;

	for (int i = 0; i < SYSTEMS * N; i++) {
		m[0][i] = i % N ? random_float(&seed) : 0;
		m[2][i] = (i + 1) % N ? random_float(&seed) : 0;
		m[1][i] = 2.5f + random_float(&seed);
		m[3][i] = random_float(&seed) - 0.5f;
	}
	for (int i = 0; i < 5; i++) {
		CHECK(cudaMalloc(&d[i], sizeof(got)));
		if (i < 4)
			CHECK(cudaMemcpy(d[i], m[i], sizeof(got), cudaMemcpyHostToDevice));
	}
	solve<<<SYSTEMS, N, 4 * N * sizeof(float)>>>(d[0], d[1], d[2], d[3], d[4]);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d[4], sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < SYSTEMS * N; i++) {
		double left = m[1][i] * got[i];

		if (i % N)
			left += m[0][i] * got[i - 1];
		if ((i + 1) % N)
			left += m[2][i] * got[i + 1];
		worst = fmax(worst, error_of(left, m[3][i]));
	}
	return verdict(worst < 1e-5, "%d systems of %d, worst residual %.1e", SYSTEMS, N, worst);
}
