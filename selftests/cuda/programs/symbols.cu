// SPDX-License-Identifier: GPL-2.0-only
/*
 * Variables of the device: initial values, copies to, from and between symbols with offsets,
 * addresses and sizes, pointers in them.
 */
#include "check.h"

struct item { char c; double d; short s[3]; };

__device__ int counter = 41;
__device__ item items[3] = { { 'a', 1.5, { 1, 2, 3 } }, { 'b', -2.5, { 4, 5, 6 } } };
__constant__ float factors[64];
__constant__ int signs[4] = { 1, -1, 1, -1 };
__device__ float *buffer;
__device__ const int *pointer = &counter;
static __device__ int hidden[1000];

__global__ void use(float *out)
{
	int i = threadIdx.x;

	buffer[i] = factors[i] * signs[i % 4] + items[i % 3].s[i % 3];
	out[i] = buffer[i] + *pointer;
	hidden[i * 15] = i;
	if (!i) {
		atomicAdd(&counter, 1);
		items[2].c = items[0].c + 1;
		items[2].d = items[0].d * items[1].d;
	}
}

int main(void)
{
	float f[64], out[64], *d_out, *d_buffer;
	int wrong = 0, value, many[1000];
	struct item got[3];
	size_t size;
	void *address;

	for (int i = 0; i < 64; i++)
		f[i] = i * 0.5f;
	CHECK(cudaMalloc(&d_out, sizeof(out)));
	CHECK(cudaMalloc(&d_buffer, sizeof(out)));
	CHECK(cudaMemcpyToSymbol(factors, f, 32 * 4));
	CHECK(cudaMemcpyToSymbol(factors, f + 32, 32 * 4, 32 * 4));
	CHECK(cudaMemcpyToSymbol(buffer, &d_buffer, sizeof(d_buffer)));
	CHECK(cudaGetSymbolSize(&size, items));
	wrong += size != sizeof(items);
	CHECK(cudaGetSymbolSize(&size, factors));
	wrong += size != 256;
	CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
	wrong += value != 41;
	use<<<1, 64>>>(d_out);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof(value)));
	wrong += value != 42;
	CHECK(cudaMemcpyFromSymbol(got, items, sizeof(got)));
	wrong += got[2].c != 'b' || got[2].d != -3.75 || got[1].s[1] != 5 || got[2].s[0] != 0;
	for (int i = 0; i < 64; i++) {
		float b = f[i] * (i % 2 ? -1 : 1) + (i % 3 < 2 ? i % 3 * 3 + i % 3 + 1 : 0),
		      low = b + 41, high = b + 42;

		wrong += out[i] != low && out[i] != high;
	}
	CHECK(cudaMemcpyFromSymbol(many, hidden, sizeof(many)));
	for (int i = 0; i < 1000; i++)
		wrong += many[i] != (i % 15 || i / 15 >= 64 ? 0 : i / 15);
	value = 1000;
	CHECK(cudaGetSymbolAddress(&address, counter));
	CHECK(cudaMemcpy(address, &value, sizeof(value), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToSymbol(hidden, address, sizeof(int), 40, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpyFromSymbol(&value, hidden, sizeof(value), 40));
	wrong += value != 1000;
	wrong += cudaMemcpyToSymbol(counter, &value, 4, 2) != cudaErrorInvalidValue;
	wrong += cudaGetLastError() != cudaErrorInvalidValue;
	return verdict(!wrong, "variables and constants of the device, %d wrong", wrong);
}
