// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the program's own that it registers: kernels read and write it in place, copies use it,
 * and other threads write to the rest of its pages. No write may be lost.
 */
#include <atomic>
#include <thread>
#include <vector>
#include "check.h"

enum { N = 100001, ROUNDS = 6, WRITERS = 3, SMALL = 3000 };

__global__ void triple(int *at, int n, unsigned int *sum)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		at[i] *= 3;
		atomicAdd(sum, 1u);
	}
}

static std::atomic<bool> stop;

/* counts in a word whose page has registered memory, too */
static void write_on(volatile uint64_t *mine, uint64_t *count, uint64_t *wrong)
{
	while (!stop.load()) {
		*wrong += *mine != *count;
		*mine = ++*count;
		*wrong += *mine != *count;
	}
}

/* one unaligned array, again and again */
static int rounds(void)
{
	char *all = (char *)malloc(N * sizeof(int) + 8192);
	int *a = (int *)(all + 1000), *d, wrong = 0;
	volatile uint64_t *words[WRITERS];
	uint64_t counts[WRITERS] = { 0 }, bad[WRITERS] = { 0 };
	std::vector<std::thread> threads;
	unsigned int *sum, total = 0;

	CHECK(cudaMalloc(&sum, sizeof(*sum)));
	CHECK(cudaMemset(sum, 0, sizeof(*sum)));
	for (int t = 0; t < WRITERS; t++) {
		words[t] = (uint64_t *)(((uintptr_t)(t % 2 ? all + 1000 + N * sizeof(int) : all) +
					 64 * (t + 1)) &
					~(uintptr_t)7);
		*words[t] = 0;
	}
	for (int i = 0; i < N; i++)
		a[i] = i;
	stop = false;
	for (int t = 0; t < WRITERS; t++)
		threads.emplace_back(write_on, words[t], &counts[t], &bad[t]);
	for (int r = 0; r < ROUNDS; r++) {
		CHECK(cudaHostRegister(a, N * sizeof(int),
				       cudaHostRegisterMapped |
					       (r % 2 ? cudaHostRegisterPortable : 0)));
		CHECK(cudaHostGetDevicePointer(&d, a, 0));
		triple<<<40, 256>>>(d, N, sum);
		CHECK_LAUNCH();
		CHECK(cudaDeviceSynchronize());
		for (int i = 0; i < N; i++) {
			wrong += a[i] != 3 * i;
			a[i] = i;
		}
		CHECK(cudaHostUnregister(a));
		for (int i = 0; i < N; i += 100)
			wrong += a[i] != i;
	}
	stop = true;
	for (int t = 0; t < WRITERS; t++) {
		threads[t].join();
		wrong += bad[t] || !counts[t] || *words[t] != counts[t];
	}
	CHECK(cudaMemcpy(&total, sum, sizeof(total), cudaMemcpyDeviceToHost));
	wrong += total != (unsigned int)N * ROUNDS;
	CHECK(cudaFree(sum));
	free(all);
	return wrong;
}

/* small arrays, of which two share a page; all are registered before one is used */
static int neighbours(void)
{
	enum { ARRAYS = 6 };
	char *all = (char *)malloc(ARRAYS * SMALL * sizeof(int));
	int *a[ARRAYS], *d, wrong = 0;
	unsigned int *sum;

	CHECK(cudaMalloc(&sum, sizeof(*sum)));
	for (int k = 0; k < ARRAYS; k++) {
		a[k] = (int *)all + k * SMALL;
		for (int i = 0; i < SMALL; i++)
			a[k][i] = i + k;
		CHECK(cudaHostRegister(a[k], SMALL * sizeof(int), cudaHostRegisterMapped));
	}
	for (int k = 0; k < ARRAYS; k++) {
		CHECK(cudaHostGetDevicePointer(&d, a[k], 0));
		triple<<<4, 128>>>(d, SMALL, sum);
		CHECK_LAUNCH();
		CHECK(cudaHostGetDevicePointer(&d, a[k] + 100, 0));
		triple<<<1, 1>>>(d, 1, sum);
		CHECK_LAUNCH();
	}
	CHECK(cudaDeviceSynchronize());
	for (int k = 0; k < ARRAYS; k++) {
		CHECK(cudaHostUnregister(a[k]));
		for (int i = 0; i < SMALL; i++)
			wrong += a[k][i] != (i + k) * (i == 100 ? 9 : 3);
	}
	CHECK(cudaFree(sum));
	free(all);
	return wrong;
}

static int copies(void)
{
	int *a = (int *)malloc(2 * N * sizeof(int)), *d, wrong = 0;
	cudaPointerAttributes what;
	unsigned int flags = 99;
	cudaStream_t s;
	void *at = NULL;

	for (int i = 0; i < 2 * N; i++)
		a[i] = i < N ? i * 7 : -1;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaMalloc(&d, N * sizeof(int)));
	CHECK(cudaHostRegister(a, 2 * N * sizeof(int), cudaHostRegisterPortable));
	CHECK(cudaMemcpyAsync(d, a, N * sizeof(int), cudaMemcpyHostToDevice, s));
	CHECK(cudaMemcpyAsync(a + N, d, N * sizeof(int), cudaMemcpyDefault, s));
	CHECK(cudaStreamSynchronize(s));
	for (int i = 0; i < N; i++)
		wrong += a[i] != i * 7 || a[N + i] != i * 7;
	CHECK(cudaHostGetFlags(&flags, a + 5));
	wrong += !(flags & cudaHostRegisterPortable);
	CHECK(cudaPointerGetAttributes(&what, a + 5));
	wrong += what.type != cudaMemoryTypeHost || what.hostPointer != a + 5;
	CHECK(cudaHostGetDevicePointer(&at, a + 5, 0));
	wrong += what.devicePointer != at;
	CHECK(cudaMemset(at, 0xff, 4));
	CHECK(cudaDeviceSynchronize());
	wrong += a[5] != -1 || a[4] != 28 || a[6] != 42;
	wrong += cudaHostRegister(a + 10, 100, 0) != cudaErrorHostMemoryAlreadyRegistered;
	wrong += cudaHostUnregister(a + N * 2) != cudaErrorHostMemoryNotRegistered;
	cudaGetLastError();
	CHECK(cudaHostUnregister(a));
	wrong += cudaHostUnregister(a) != cudaErrorHostMemoryNotRegistered;
	cudaGetLastError();
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaFree(d));
	free(a);
	return wrong;
}

int main(void)
{
	int in_place, beside, copied, can = 0;

	CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
	CHECK(cudaDeviceGetAttribute(&can, cudaDevAttrHostRegisterSupported, 0));
	in_place = rounds();
	beside = neighbours();
	copied = copies();
	return verdict(can && !in_place && !beside && !copied, "%d times registered with %d threads writing beside it: %d wrong; "
		       "arrays that share pages: %d wrong; copies: %d wrong", ROUNDS, WRITERS, in_place, beside, copied);
}
