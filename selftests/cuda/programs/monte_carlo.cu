// SPDX-License-Identifier: GPL-2.0-only
/*
 * Monte Carlo: pi by a counter-based generator (Philox 4x32-10), with hits counted as on the CPU,
 * and the price of an Asian option.
 */
#include "check.h"

enum { THREADS = 256, BLOCKS = 16, DRAWS = 50, PATHS = 4096, STEPS = 16 };

struct four { unsigned int v[4]; };

static __host__ __device__ four philox(unsigned int c0, unsigned int c1, unsigned int k0,
				       unsigned int k1)
{
	four c = { { c0, c1, 0, 0 } };

	for (int i = 0; i < 10; i++) {
		unsigned long long a = 0xD2511F53ull * c.v[0], b = 0xCD9E8D57ull * c.v[2];
		four n = { { (unsigned int)(b >> 32) ^ c.v[1] ^ k0, (unsigned int)b,
			     (unsigned int)(a >> 32) ^ c.v[3] ^ k1, (unsigned int)a } };

		c = n;
		k0 += 0x9E3779B9;
		k1 += 0xBB67AE85;
	}
	return c;
}

static __host__ __device__ int hits(int thread)
{
	int n = 0;

	for (int i = 0; i < DRAWS; i++) {
		four r = philox(thread, i, 2024, 7);

		for (int j = 0; j < 4; j += 2) {
			unsigned long long x = r.v[j] >> 8, y = r.v[j + 1] >> 8;

			n += x * x + y * y < 1ull << 48;
		}
	}
	return n;
}

__global__ void count(unsigned long long *total)
{
	int n = hits(blockIdx.x * THREADS + threadIdx.x);

	for (int d = 16; d; d /= 2)
		n += __shfl_down_sync(0xffffffff, n, d);
	if (threadIdx.x % 32 == 0)
		atomicAdd(total, (unsigned long long)n);
}

__global__ void asian(float *payoff, float start, float strike, float rate, float volatility)
{
	int i = blockIdx.x * THREADS + threadIdx.x;
	float price = start, sum = 0, dt = 1.0f / STEPS;

	for (int s = 0; s < STEPS; s++) {
		four r = philox(i, s, 99, 1);
		float u = (r.v[0] + 0.5f) * (1.0f / 4294967296.0f),
		      v = r.v[1] * (1.0f / 4294967296.0f), z = sqrtf(-2 * logf(u)) * cospif(2 * v);

		price *= expf((rate - 0.5f * volatility * volatility) * dt +
			      volatility * sqrtf(dt) * z);
		sum += price;
	}
	payoff[i] = fmaxf(sum / STEPS - strike, 0) * expf(-rate);
}

int main(void)
{
	static float payoff[PATHS];
	unsigned long long *d_total, got, want = 0;
	float *d_payoff;
	double sum = 0, sum_cpu = 0, worst = 0;

	CHECK(cudaMalloc(&d_total, 8));
	CHECK(cudaMalloc(&d_payoff, sizeof(payoff)));
	CHECK(cudaMemset(d_total, 0, 8));
	count<<<BLOCKS, THREADS>>>(d_total);
	asian<<<PATHS / THREADS, THREADS>>>(d_payoff, 100, 100, 0.05f, 0.2f);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(&got, d_total, 8, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(payoff, d_payoff, sizeof(payoff), cudaMemcpyDeviceToHost));
	for (int i = 0; i < BLOCKS * THREADS; i++)
		want += hits(i);
	for (int i = 0; i < PATHS; i++) {
		double price = 100, mean = 0, dt = 1.0 / STEPS, p;

		for (int s = 0; s < STEPS; s++) {
			four r = philox(i, s, 99, 1);
			double z = sqrt(-2 * log((r.v[0] + 0.5) / 4294967296.0)) *
				   cos(2 * M_PI * (r.v[1] / 4294967296.0));

			price *= exp((0.05 - 0.02) * dt + 0.2 * sqrt(dt) * z);
			mean += price / STEPS;
		}
		p = (mean > 100 ? mean - 100 : 0) * exp(-0.05);
		worst = fmax(worst, error_of(payoff[i], p));
		sum += payoff[i];
		sum_cpu += p;
	}
	return verdict(got == want && worst < 1e-3 && fabs(sum - sum_cpu) / PATHS < 1e-3,
		       "pi %.4f, %llu hits of %llu; option %.4f of %.4f, worst path %.1e", got * 4.0 / (BLOCKS * THREADS * DRAWS * 2), got,
		       want, sum / PATHS, sum_cpu / PATHS, worst);
}
