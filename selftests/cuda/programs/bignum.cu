// SPDX-License-Identifier: GPL-2.0-only
/*
 * Big numbers: 512-bit products by carries through PTX, and Miller and Rabin's test with
 * Montgomery's products.
 */
#include "check.h"

enum { LIMBS = 16, N = 512, CANDIDATES = 1024 };

__global__ void multiply(const unsigned int *a, const unsigned int *b, unsigned int *c)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned int sum[2 * LIMBS] = { 0 };

	for (int i = 0; i < LIMBS; i++) {
		unsigned int carry = 0, x = a[i * N + t];

#pragma unroll
		for (int j = 0; j < LIMBS; j++) {
			unsigned int y = b[j * N + t];

			asm("{\n\t"
			    ".reg .u32 h;\n\t"
			    "mad.lo.cc.u32 %0, %2, %3, %0;\n\t"
			    "madc.hi.u32 h, %2, %3, 0;\n\t"
			    "add.cc.u32 %0, %0, %1;\n\t"
			    "addc.u32 %1, h, 0;\n\t"
			    "}" : "+r"(sum[i + j]), "+r"(carry) : "r"(x), "r"(y));
		}
		sum[i + LIMBS] = carry;
	}
	for (int i = 0; i < 2 * LIMBS; i++)
		c[i * N + t] = sum[i];
}

struct field {
	unsigned long long n, inverse;	/* -1 / n modulo 2^64 */
};

__device__ unsigned long long product(const field &f, unsigned long long a, unsigned long long b)
{
	unsigned long long low = a * b, high = __umul64hi(a, b), m = low * f.inverse,
			   t = high + __umul64hi(m, f.n) + (low != 0);

	return t >= f.n ? t - f.n : t;
}

/* Miller and Rabin's test; n odd, below 2^62 */
__global__ void prime(const unsigned long long *candidate, unsigned char *out)
{
	const int bases[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37 };
	int i = blockIdx.x * blockDim.x + threadIdx.x, twos;
	field f = { candidate[i], 1 };
	unsigned long long one, d;
	bool yes = true;

	for (int k = 0; k < 6; k++)
		f.inverse *= 2 - f.n * f.inverse;
	f.inverse = -f.inverse;
	one = (0 - f.n) % f.n;
	twos = __ffsll(f.n - 1) - 1;
	d = (f.n - 1) >> twos;
	for (int k = 0; yes && k < 12; k++) {
		unsigned long long base = 0, x = one;

		for (int j = 0; j < bases[k]; j++)
			base = base + one >= f.n ? base + one - f.n : base + one;
		for (int bit = 63 - __clzll(d); bit >= 0; bit--) {
			x = product(f, x, x);
			if (d >> bit & 1)
				x = product(f, x, base);
		}
		yes = x == one || x == f.n - one;
		for (int s = 1; !yes && s < twos; s++) {
			x = product(f, x, x);
			yes = x == f.n - one;
		}
	}
	out[i] = yes;
}

static bool prime_cpu(unsigned long long n)
{
	const int bases[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37 };
	int twos = __builtin_ctzll(n - 1);

	for (int base : bases) {
		unsigned __int128 x = 1, b = base;
		bool yes;

		for (unsigned long long d = (n - 1) >> twos; d; d >>= 1, b = b * b % n)
			if (d & 1)
				x = x * b % n;
		yes = x == 1 || x == n - 1;
		for (int s = 1; !yes && s < twos; s++) {
			x = x * x % n;
			yes = x == n - 1;
		}
		if (!yes)
			return false;
	}
	return true;
}

int main(void)
{
	static unsigned int a[LIMBS][N], b[LIMBS][N], got[2 * LIMBS][N];
	static unsigned long long candidate[CANDIDATES];
	static unsigned char is_prime[CANDIDATES];
	unsigned int *da, *db, *dc;
	unsigned long long *d_candidate;
	unsigned char *d_prime;
	int wrong = 0, primes = 0;
	uint32_t seed = 25;

	for (int i = 0; i < LIMBS * N; i++) {
		a[i / N][i % N] = i % N == 0 ? ~0u : random_bits(&seed);
		b[i / N][i % N] = i % N < 2 ? ~0u : random_bits(&seed);
	}
	for (int i = 0; i < CANDIDATES; i++)
		candidate[i] = i < 16 ? 2305843009213693951ull - 2 * i :
					((unsigned long long)random_bits(&seed) << 29 ^
					 random_bits(&seed)) |
						1;
	candidate[20] = 3215031751ull;		/* a strong pseudoprime to 2, 3, 5 and 7 */
	CHECK(cudaMalloc(&da, sizeof(a)));
	CHECK(cudaMalloc(&db, sizeof(b)));
	CHECK(cudaMalloc(&dc, sizeof(got)));
	CHECK(cudaMalloc(&d_candidate, sizeof(candidate)));
	CHECK(cudaMalloc(&d_prime, sizeof(is_prime)));
	CHECK(cudaMemcpy(da, a, sizeof(a), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof(b), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_candidate, candidate, sizeof(candidate), cudaMemcpyHostToDevice));
	multiply<<<N / 64, 64>>>(da, db, dc);
	prime<<<CANDIDATES / 128, 128>>>(d_candidate, d_prime);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, dc, sizeof(got), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(is_prime, d_prime, sizeof(is_prime), cudaMemcpyDeviceToHost));
	for (int t = 0; t < N; t++) {
		unsigned int sum[2 * LIMBS] = { 0 };

		for (int i = 0; i < LIMBS; i++) {
			unsigned long long carry = 0;

			for (int j = 0; j < LIMBS; j++) {
				carry += (unsigned long long)a[i][t] * b[j][t] + sum[i + j];
				sum[i + j] = carry;
				carry >>= 32;
			}
			sum[i + LIMBS] = carry;
		}
		for (int i = 0; i < 2 * LIMBS; i++)
			wrong += got[i][t] != sum[i];
	}
	for (int i = 0; i < CANDIDATES; i++) {
		wrong += is_prime[i] != prime_cpu(candidate[i]);
		primes += is_prime[i];
	}
	return verdict(!wrong && is_prime[0], "%d products of 512 bits, %d primes among %d, %d wrong", N, primes, CANDIDATES, wrong);
}
