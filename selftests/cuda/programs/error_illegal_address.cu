// SPDX-License-Identifier: GPL-2.0-only
/* A kernel that writes where nothing is: the error comes, and it stays. */
#include "check.h"

__global__ void write_to(int *p)
{
	p[threadIdx.x] = 1;
}

static int bad;

static void expect(cudaError_t got, cudaError_t want, const char *what)
{
	if (got != want) {
		printf("%s: %s (%d), not %s\n", what, cudaGetErrorName(got), (int)got,
		       cudaGetErrorName(want));
		bad++;
	}
}

static void must_work(const char *when)
{
	int *d, h[32] = { 0 };

	CHECK(cudaMalloc(&d, sizeof(h)));
	CHECK(cudaMemset(d, 0, sizeof(h)));
	write_to<<<1, 32>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		if (h[i] != 1) {
			printf("%s: wrong result\n", when);
			bad++;
			break;
		}
}

int main(void)
{
	int *d, word = 0, works = 0;

	must_work("before");
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc(&d, 4));
		write_to<<<1, 1>>>(i ? NULL : (int *)0xdead000000ull);
		expect(cudaGetLastError(), cudaSuccess, "the launch itself");
		expect(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "synchronizing");
		expect(cudaMemcpy(&word, d, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress,
		       "a copy later");
		expect(cudaMalloc(&d, 4), cudaErrorIllegalAddress, "memory later");
		expect(cudaGetLastError(), cudaErrorIllegalAddress, "the last error");
		write_to<<<1, 1>>>(d);
		expect(cudaGetLastError(), cudaErrorIllegalAddress, "a launch later");
		expect(cudaStreamSynchronize(0), cudaErrorIllegalAddress, "a stream later");
		/* a reset need not help; where it does, all has to work */
		cudaDeviceReset();
		cudaGetLastError();
		if (cudaMalloc(&d, 4) != cudaSuccess)
			break;
		cudaFree(d);
		must_work("after the reset");
		works++;
	}
	return verdict(!bad, "illegal addresses, %d times usable again after a reset; %d expectations failed", works, bad);
}
