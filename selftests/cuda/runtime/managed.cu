// SPDX-License-Identifier: GPL-2.0-only
/*
 * Managed variables beside variables of other kinds, from before the first call on, and after a
 * reset.
 */
#include "../programs/check.h"

enum { N = 1000 };

struct pair {
	double value;
	int *where;
};

__managed__ int counter = 5;
__managed__ float table[N];
static __managed__ struct pair list[2] = { { 1.5, nullptr }, { 2.5, nullptr } };
__device__ int plain = 7;
__constant__ int steps[2] = { 3, 4 };

__global__ void use(int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n) {
		table[i] = i + plain + steps[i & 1];
		atomicAdd(&counter, 1);
	}
	if (!i) {
		list[1].value += list[0].value;
		*list[0].where += 1000;
	}
}

static int round_of(int start)
{
	int wrong = counter != start;

	counter += 10;
	list[0].where = &counter;
	use<<<CEIL_DIV(N, 128), 128>>>(N);
	CHECK_LAUNCH();
	CHECK(cudaDeviceSynchronize());
	wrong += counter != start + 10 + N + 1000;
	wrong += list[1].value != 4;
	for (int i = 0; i < N; i++)
		wrong += table[i] != i + 7 + 3 + (i & 1);
	return wrong;
}

int main(void)
{
	cudaPointerAttributes a;
	int wrong = counter != 5, value = 0;

	wrong += round_of(5);
	CHECK(cudaPointerGetAttributes(&a, &table[3]));
	wrong += a.type != cudaMemoryTypeManaged || a.devicePointer != &table[3] ||
		 a.hostPointer != &table[3];
	CHECK(cudaMemcpyFromSymbol(&value, plain, sizeof(value)));
	wrong += value != 7;
	CHECK(cudaDeviceReset());
	/* initial again, once something of the program is used */
	CHECK(cudaMemcpyFromSymbol(&value, plain, sizeof(value)));
	wrong += round_of(5);
	return verdict(!wrong, "%d wrong", wrong);
}
