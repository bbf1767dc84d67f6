// SPDX-License-Identifier: GPL-2.0-only
/*
 * Options by Black and Scholes' formula in both precisions, and by a binomial tree in shared
 * memory.
 */
#include "check.h"

enum { N = 8192, LEVELS = 255 };

__device__ float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
__device__ double normal(double x) { return normcdf(x); }
__device__ float power_e(float x) { return __expf(x); }
__device__ double power_e(double x) { return exp(x); }

template <typename T>
__global__ void price(const T *s, const T *k, const T *t, T *call, T *put, T r, T v)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	T root = sqrt(t[i]), d1 = (log(s[i] / k[i]) + (r + v * v / 2) * t[i]) / (v * root),
	  d2 = d1 - v * root;
	T discounted = k[i] * power_e(-r * t[i]);

	call[i] = s[i] * normal(d1) - discounted * normal(d2);
	put[i] = discounted * normal(-d2) - s[i] * normal(-d1);
}

__global__ void binomial(const double *s, const double *k, const double *t, double *call, double r,
			 double v)
{
	__shared__ double value[LEVELS + 1];
	int i = blockIdx.x, j = threadIdx.x;
	double dt = t[i] / LEVELS, up = exp(v * sqrt(dt)), down = 1 / up,
	       p = (exp(r * dt) - down) / (up - down), df = exp(-r * dt);

	value[j] = fmax(s[i] * pow(up, 2.0 * j - LEVELS) - k[i], 0.0);
	for (int level = LEVELS; level > 0; level--) {
		double x = 0;

		__syncthreads();
		if (j < level)
			x = df * (p * value[j + 1] + (1 - p) * value[j]);
		__syncthreads();
		if (j < level)
			value[j] = x;
	}
	if (!j)
		call[i] = value[0];
}

static double cdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }

template <typename T> static double run(double *tree_error)
{
	static T in[3][N], out[2][N];
	T *d[5];
	double worst = 0;
	uint32_t seed = 20;

	for (int i = 0; i < N; i++) {
		in[0][i] = 10 + 90 * random_float(&seed);
		in[1][i] = 10 + 90 * random_float(&seed);
		in[2][i] = T(0.25) + 2 * random_float(&seed);
	}
	for (int i = 0; i < 5; i++) {
		CHECK(cudaMalloc(&d[i], sizeof(in[0])));
		if (i < 3)
			CHECK(cudaMemcpy(d[i], in[i], sizeof(in[0]), cudaMemcpyHostToDevice));
	}
	price<T><<<N / 256, 256>>>(d[0], d[1], d[2], d[3], d[4], T(0.02), T(0.3));
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(out[0], d[3], sizeof(in[0]), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(out[1], d[4], sizeof(in[0]), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		double s = in[0][i], k = in[1][i], t = in[2][i], r = T(0.02), v = T(0.3);
		double d1 = (log(s / k) + (r + v * v / 2) * t) / (v * sqrt(t)),
		       d2 = d1 - v * sqrt(t), x = k * exp(-r * t);

		worst = fmax(worst, error_of(out[0][i], s * cdf(d1) - x * cdf(d2)) / 10);
		worst = fmax(worst, error_of(out[1][i], x * cdf(-d2) - s * cdf(-d1)) / 10);
	}
	if (tree_error) {
		static double tree[16];

		binomial<<<16, LEVELS + 1>>>((double *)d[0], (double *)d[1], (double *)d[2],
					     (double *)d[3], 0.02, 0.3);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(tree, d[3], sizeof(tree), cudaMemcpyDeviceToHost));
		for (int i = 0; i < 16; i++)
			*tree_error = fmax(*tree_error, fabs(tree[i] - out[0][i]));
	}
	for (int i = 0; i < 5; i++)
		CHECK(cudaFree(d[i]));
	return worst;
}

int main(void)
{
	double tree = 0, single = run<float>(NULL), twice = run<double>(&tree);

	return verdict(single < 1e-5 && twice < 1e-14 && tree < 0.05 && tree > 0,
		       "%d options, worst error single %.1e, double %.1e; binomial tree within %.1e", N, single, twice, tree);
}
