// SPDX-License-Identifier: GPL-2.0-only
/* Conjugate gradients for the 2D Poisson equation in double precision. */
#include "check.h"

enum { N = 48, CELLS = N * N, BLOCK = 256, BLOCKS = CELLS / BLOCK };

__global__ void apply(const double *p, double *ap)
{
	int i = blockIdx.x * BLOCK + threadIdx.x, x = i % N, y = i / N;
	double v = 4 * p[i];

	if (x > 0)
		v -= p[i - 1];
	if (x < N - 1)
		v -= p[i + 1];
	if (y > 0)
		v -= p[i - N];
	if (y < N - 1)
		v -= p[i + N];
	ap[i] = v;
}

__global__ void dot_parts(const double *a, const double *b, double *parts)
{
	__shared__ double s[BLOCK];
	int i = blockIdx.x * BLOCK + threadIdx.x;

	s[threadIdx.x] = a[i] * b[i];
	for (int d = BLOCK / 2; d; d /= 2) {
		__syncthreads();
		if (threadIdx.x < d)
			s[threadIdx.x] += s[threadIdx.x + d];
	}
	if (!threadIdx.x)
		parts[blockIdx.x] = s[0];
}

__global__ void dot_sum(const double *parts, double *out)
{
	double sum = 0;

	for (int i = 0; i < BLOCKS; i++)
		sum += parts[i];
	*out = sum;
}

/* s: r.r before, p.Ap, r.r after */
__global__ void step(double *x, double *r, const double *p, const double *ap, const double *s)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;
	double alpha = s[0] / s[1];

	x[i] += alpha * p[i];
	r[i] -= alpha * ap[i];
}

__global__ void turn(double *p, const double *r, const double *s)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	p[i] = r[i] + s[2] / s[0] * p[i];
}

__global__ void shift(double *s)
{
	s[0] = s[2];
}

static void dot(const double *a, const double *b, double *parts, double *out)
{
	dot_parts<<<BLOCKS, BLOCK>>>(a, b, parts);
	dot_sum<<<1, 1>>>(parts, out);
	CHECK_LAUNCH();
}

int main(void)
{
	static double truth[CELLS], b[CELLS], got[CELLS];
	double *x, *r, *p, *ap, *s, *parts, rr = 1, worst = 0;
	int rounds = 0;
	uint32_t seed = 5;

	for (int i = 0; i < CELLS; i++)
		truth[i] = random_float(&seed);
	for (int i = 0; i < CELLS; i++) {
		int cx = i % N, cy = i / N;

		b[i] = 4 * truth[i] - (cx ? truth[i - 1] : 0) - (cx < N - 1 ? truth[i + 1] : 0) -
		       (cy ? truth[i - N] : 0) - (cy < N - 1 ? truth[i + N] : 0);
	}
	CHECK(cudaMalloc(&x, sizeof(b)));
	CHECK(cudaMalloc(&r, sizeof(b)));
	CHECK(cudaMalloc(&p, sizeof(b)));
	CHECK(cudaMalloc(&ap, sizeof(b)));
	CHECK(cudaMalloc(&s, 3 * sizeof(double)));
	CHECK(cudaMalloc(&parts, BLOCKS * sizeof(double)));
	CHECK(cudaMemset(x, 0, sizeof(b)));
	CHECK(cudaMemcpy(r, b, sizeof(b), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(p, r, sizeof(b), cudaMemcpyDeviceToDevice));
	dot(r, r, parts, s);
	for (; rounds < 500 && rr > 1e-20; rounds++) {
		apply<<<BLOCKS, BLOCK>>>(p, ap);
		dot(p, ap, parts, s + 1);
		step<<<BLOCKS, BLOCK>>>(x, r, p, ap, s);
		dot(r, r, parts, s + 2);
		turn<<<BLOCKS, BLOCK>>>(p, r, s);
		shift<<<1, 1>>>(s);
		CHECK_LAUNCH();
		if (rounds % 10 == 9)
			CHECK(cudaMemcpy(&rr, s, sizeof(rr), cudaMemcpyDeviceToHost));
	}
	CHECK(cudaMemcpy(got, x, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < CELLS; i++)
		worst = fmax(worst, error_of(got[i], truth[i]));
	return verdict(worst < 1e-9, "%d unknowns in %d rounds, residual %.1e, worst error %.1e", CELLS, rounds, sqrt(rr), worst);
}
