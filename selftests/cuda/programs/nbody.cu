// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bodies that attract each other: tiles in shared memory, rsqrtf; against the CPU in double
 * precision.
 */
#include "check.h"

enum { N = 512, BLOCK = 128, STEPS = 3 };
static const float SOFTENING = 0.01f, DT = 0.001f;

__global__ void forces(const float4 *body, float3 *acceleration, float softening)
{
	__shared__ float4 tile[BLOCK];
	int i = blockIdx.x * BLOCK + threadIdx.x;
	float4 me = body[i];
	float3 a = make_float3(0, 0, 0);

	for (int t = 0; t < N; t += BLOCK) {
		tile[threadIdx.x] = body[t + threadIdx.x];
		__syncthreads();
#pragma unroll 8
		for (int j = 0; j < BLOCK; j++) {
			float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z;
			float r = rsqrtf(dx * dx + dy * dy + dz * dz + softening),
			      f = tile[j].w * r * r * r;

			a.x += f * dx;
			a.y += f * dy;
			a.z += f * dz;
		}
		__syncthreads();
	}
	acceleration[i] = a;
}

__global__ void move(float4 *body, float3 *speed, const float3 *acceleration, float dt)
{
	int i = blockIdx.x * BLOCK + threadIdx.x;

	speed[i].x += acceleration[i].x * dt;
	speed[i].y += acceleration[i].y * dt;
	speed[i].z += acceleration[i].z * dt;
	body[i].x += speed[i].x * dt;
	body[i].y += speed[i].y * dt;
	body[i].z += speed[i].z * dt;
}

int main(void)
{
	static float4 body[N], got[N];
	static double place[N][3], speed[N][3], mass[N];
	float4 *d_body;
	float3 *d_speed, *d_acceleration;
	double worst = 0;
	uint32_t seed = 19;

	for (int i = 0; i < N; i++) {
		body[i] = make_float4(random_float(&seed), random_float(&seed), random_float(&seed),
				      0.5f + random_float(&seed));
		place[i][0] = body[i].x;
		place[i][1] = body[i].y;
		place[i][2] = body[i].z;
		mass[i] = body[i].w;
	}
	CHECK(cudaMalloc(&d_body, sizeof(body)));
	CHECK(cudaMalloc(&d_speed, N * sizeof(float3)));
	CHECK(cudaMalloc(&d_acceleration, N * sizeof(float3)));
	CHECK(cudaMemcpy(d_body, body, sizeof(body), cudaMemcpyHostToDevice));
	CHECK(cudaMemset(d_speed, 0, N * sizeof(float3)));
	for (int s = 0; s < STEPS; s++) {
		static double a[N][3];

		forces<<<N / BLOCK, BLOCK>>>(d_body, d_acceleration, SOFTENING);
		move<<<N / BLOCK, BLOCK>>>(d_body, d_speed, d_acceleration, DT);
		CHECK_LAUNCH();
		memset(a, 0, sizeof(a));
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++) {
				double d[3], r2 = SOFTENING;

				for (int k = 0; k < 3; k++) {
					d[k] = place[j][k] - place[i][k];
					r2 += d[k] * d[k];
				}
				for (int k = 0; k < 3; k++)
					a[i][k] += mass[j] * d[k] / (r2 * sqrt(r2));
			}
		for (int i = 0; i < N; i++)
			for (int k = 0; k < 3; k++)
				place[i][k] += (speed[i][k] += a[i][k] * DT) * DT;
	}
	CHECK(cudaMemcpy(got, d_body, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		worst = fmax(worst, error_of(got[i].x, place[i][0]));
		worst = fmax(worst, error_of(got[i].y, place[i][1]));
		worst = fmax(worst, error_of(got[i].z, place[i][2]));
	}
	return verdict(worst < 1e-5 && memcmp(body, got, sizeof(got)),
		       "%d bodies, %d steps, worst error %.1e", N, STEPS, worst);
}
