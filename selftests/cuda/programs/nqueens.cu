// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queens on a board by backtracking, with a stack in local memory; and the sieve of Eratosthenes.
 */
#include <vector>

#include "check.h"

enum { N = 10, LIMIT = 200000 };

/* each thread: what follows from its first three rows */
__global__ void queens(unsigned int *total)
{
	int t = blockIdx.x * blockDim.x + threadIdx.x, row = 3, count = 0;
	unsigned int all = (1u << N) - 1, columns = 0, left = 0, right = 0, stack[N + 1][4];

	if (t >= N * N * N)
		return;
	for (int i = 0, v = t; i < 3; i++, v /= N) {
		unsigned int bit = 1u << v % N;

		if ((columns | left | right) & bit)
			return;
		columns |= bit;
		left = (left | bit) << 1;
		right = (right | bit) >> 1;
	}
	stack[3][0] = columns;
	stack[3][1] = left;
	stack[3][2] = right;
	stack[3][3] = all & ~(columns | left | right);
	while (row >= 3) {
		unsigned int bit = stack[row][3] & -stack[row][3];

		if (!bit) {
			row--;
			continue;
		}
		stack[row][3] ^= bit;
		if (row == N - 1) {
			count++;
			continue;
		}
		stack[row + 1][0] = stack[row][0] | bit;
		stack[row + 1][1] = (stack[row][1] | bit) << 1;
		stack[row + 1][2] = (stack[row][2] | bit) >> 1;
		row++;
		stack[row][3] = all & ~(stack[row][0] | stack[row][1] | stack[row][2]);
	}
	if (count)
		atomicAdd(total, count);
}

__global__ void strike(unsigned char *composite)
{
	int p = 2 + blockIdx.x;

	if (p > 2 && p % 2 == 0)
		return;
	for (int i = p * (p + threadIdx.x); i < LIMIT; i += p * blockDim.x)
		composite[i] = 1;
}

__global__ void count_zeros(const unsigned char *in, unsigned int *total)
{
	int i = 2 + blockIdx.x * blockDim.x + threadIdx.x,
	    n = __syncthreads_count(i < LIMIT && !in[i]);

	if (!threadIdx.x)
		atomicAdd(total, n);
}

int main(void)
{
	std::vector<unsigned char> sieve(LIMIT, 0), got(LIMIT);
	unsigned int *d_total, total[2], primes = 0;
	unsigned char *d_sieve;
	int wrong = 0;

	CHECK(cudaMalloc(&d_total, sizeof(total)));
	CHECK(cudaMalloc(&d_sieve, LIMIT));
	CHECK(cudaMemset(d_total, 0, sizeof(total)));
	CHECK(cudaMemset(d_sieve, 0, LIMIT));
	queens<<<CEIL_DIV(N * N * N, 128), 128>>>(d_total);
	strike<<<446, 64>>>(d_sieve);
	count_zeros<<<CEIL_DIV(LIMIT, 256), 256>>>(d_sieve, d_total + 1);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(total, d_total, sizeof(total), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(got.data(), d_sieve, LIMIT, cudaMemcpyDeviceToHost));
	for (int p = 2; p < LIMIT; p++) {
		primes += !sieve[p];
		for (long i = (long)p * p; !sieve[p] && i < LIMIT; i += p)
			sieve[i] = 1;
		wrong += sieve[p] != got[p];
	}
	return verdict(total[0] == 724 && total[1] == primes && !wrong, "%u ways for %d queens (724), %u primes below %d (%u), %d wrong", total[0],
		       N, total[1], LIMIT, primes, wrong);
}
