// SPDX-License-Identifier: GPL-2.0-only
/*
 * Seven-point stencil of a volume in double precision: each thread walks along z and keeps three
 * planes in registers.
 */
#include "check.h"

enum { NX = 40, NY = 36, NZ = 30, STEPS = 5 };
#define AT(x, y, z) (((z) * NY + (y)) * NX + (x))

__constant__ double weight[2];

__global__ void step(const double *__restrict__ in, double *__restrict__ out)
{
	__shared__ double plane[8 + 2][32 + 2];
	int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y,
	    lx = threadIdx.x + 1, ly = threadIdx.y + 1;
	bool here = x < NX && y < NY, inner = x > 0 && x < NX - 1 && y > 0 && y < NY - 1;
	double below = 0, now = here ? in[AT(x, y, 0)] : 0, above = here ? in[AT(x, y, 1)] : 0;

	for (int z = 1; z < NZ - 1; z++) {
		below = now;
		now = above;
		above = here ? in[AT(x, y, z + 1)] : 0;
		__syncthreads();
		plane[ly][lx] = now;
		if (here && threadIdx.x == 0 && x)
			plane[ly][0] = in[AT(x - 1, y, z)];
		if (here && threadIdx.x == 31 && x < NX - 1)
			plane[ly][33] = in[AT(x + 1, y, z)];
		if (here && threadIdx.y == 0 && y)
			plane[0][lx] = in[AT(x, y - 1, z)];
		if (here && threadIdx.y == 7 && y < NY - 1)
			plane[9][lx] = in[AT(x, y + 1, z)];
		__syncthreads();
		if (inner) {
			double sum = plane[ly][lx - 1] + plane[ly][lx + 1];

			sum += plane[ly - 1][lx] + plane[ly + 1][lx];
			sum += below + above;
			out[AT(x, y, z)] =
				__dadd_rn(__dmul_rn(weight[0], now), __dmul_rn(weight[1], sum));
		}
	}
}

int main(void)
{
	static double a[2][NX * NY * NZ], got[NX * NY * NZ];
	const double w[2] = { 0.4, 0.1 };
	double *d[2];
	int wrong = 0;
	uint32_t seed = 2;

	for (int i = 0; i < NX * NY * NZ; i++)
		a[0][i] = a[1][i] = random_float(&seed);
	CHECK(cudaMemcpyToSymbol(weight, w, sizeof(w)));
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc(&d[i], sizeof(got)));
		CHECK(cudaMemcpy(d[i], a[i], sizeof(got), cudaMemcpyHostToDevice));
	}
	for (int s = 0; s < STEPS; s++) {
		double *in = a[s % 2], *out = a[1 - s % 2];

		step<<<dim3(CEIL_DIV(NX, 32), CEIL_DIV(NY, 8)), dim3(32, 8)>>>(d[s % 2],
									       d[1 - s % 2]);
		CHECK_LAUNCH();
		for (int z = 1; z < NZ - 1; z++)
			for (int y = 1; y < NY - 1; y++)
				for (int x = 1; x < NX - 1; x++) {
					volatile double sum = in[AT(x - 1, y, z)] +
							      in[AT(x + 1, y, z)],
							v;

					sum = sum + (in[AT(x, y - 1, z)] + in[AT(x, y + 1, z)]);
					sum = sum + (in[AT(x, y, z - 1)] + in[AT(x, y, z + 1)]);
					v = w[0] * in[AT(x, y, z)];
					sum = w[1] * sum;
					out[AT(x, y, z)] = v + sum;
				}
	}
	CHECK(cudaMemcpy(got, d[STEPS % 2], sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < NX * NY * NZ; i++)
		wrong += got[i] != a[STEPS % 2][i];
	return verdict(!wrong, "%d cells after %d steps bit by bit, %d wrong", NX * NY * NZ, STEPS, wrong);
}
