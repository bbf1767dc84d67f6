// SPDX-License-Identifier: GPL-2.0-only
/*
 * Much work for the GPU and nearly none for the CPU: threads turn a generator, launch after launch,
 * always with some queued. The sums tell whether each launch was done once.
 */
#include "check.h"

enum { BLOCKS = 52, THREADS = 128, TURNS = 400, QUEUED = 8, LAUNCHES = 40 };

__device__ __host__ static unsigned int turned(unsigned int x)
{
	/* no compiler makes one step of it */
	for (int i = 0; i < TURNS; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x = (x ^ x << 5) + i;
	}
	return x;
}

__global__ void turn(unsigned int *sum, unsigned int launch)
{
	const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;

	sum[i] += turned(i ^ launch);
}

int main(void)
{
	enum { N = BLOCKS * THREADS };
	static unsigned int sum[N];
	cudaEvent_t done[QUEUED];
	unsigned int *d, launches = 0;
	int wrong = 0;

	CHECK(cudaMalloc(&d, sizeof(sum)));
	CHECK(cudaMemset(d, 0, sizeof(sum)));
	for (int i = 0; i < QUEUED; i++)
		CHECK(cudaEventCreate(&done[i]));
	while (launches < LAUNCHES) {
		if (launches >= QUEUED)
			CHECK(cudaEventSynchronize(done[launches % QUEUED]));
		turn<<<BLOCKS, THREADS>>>(d, launches);
		CHECK(cudaGetLastError());
		CHECK(cudaEventRecord(done[launches++ % QUEUED]));
	}
	CHECK(cudaMemcpy(sum, d, sizeof(sum), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		unsigned int want = 0;

		for (unsigned int k = 0; k < launches; k++)
			want += turned(i ^ k);
		wrong += want != sum[i];
	}
	return verdict(!wrong, "%u launches, %d sums wrong", launches, wrong);
}
