// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls: functions by pointer and by virtual table, recursion with a stack (quicksort, Ackermann),
 * templates, lambdas.
 */
#include <algorithm>
#include <vector>

#include "check.h"

struct shape {
	__device__ virtual float area() const = 0;
};

struct square : shape {
	float side;
	__device__ square(float s) : side(s) {}
	__device__ float area() const { return side * side; }
};

struct circle : shape {
	float radius;
	__device__ circle(float r) : radius(r) {}
	__device__ float area() const { return 3 * radius * radius; }
};

__global__ void areas(float *out)
{
	square s(threadIdx.x);
	circle c(threadIdx.x);
	const shape *p = threadIdx.x % 3 ? (const shape *)&s : (const shape *)&c;

	out[threadIdx.x] = p->area();
}

typedef int (*operation)(int, int);

__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ operation table[3] = { add, multiply, minus };

__global__ void by_pointer(int *out, int a)
{
	out[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x, a);
}

__device__ int ackermann(int m, int n)
{
	if (!m)
		return n + 1;
	return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

__device__ void quicksort(int *a, int low, int high)
{
	int pivot, i = low, j = high;

	if (low >= high)
		return;
	pivot = a[(low + high) / 2];
	while (i <= j) {
		while (a[i] < pivot)
			i++;
		while (a[j] > pivot)
			j--;
		if (i <= j) {
			int v = a[i];

			a[i++] = a[j];
			a[j--] = v;
		}
	}
	quicksort(a, low, j);
	quicksort(a, i, high);
}

enum { SORTS = 32, LENGTH = 100 };

__global__ void recurse(int *a, int *out)
{
	quicksort(a + threadIdx.x * LENGTH, 0, LENGTH - 1);
	out[threadIdx.x] = ackermann(2, threadIdx.x % 4);
}

template <int N> struct fibonacci {
	enum {
		value = fibonacci<N - 1>::value + fibonacci<N - 2>::value
	};
};
template <> struct fibonacci<1> { enum { value = 1 }; };
template <> struct fibonacci<0> { enum { value = 0 }; };

template <typename F> __global__ void apply(int *out, F f)
{
	out[threadIdx.x] = f(threadIdx.x);
}

int main(void)
{
	float area[96], *d_area;
	int got[96], *d, *d_a, wrong = 0, base = 5;
	std::vector<int> a(SORTS * LENGTH), sorted;
	uint32_t seed = 30;

	CHECK(cudaMalloc(&d_area, sizeof(area)));
	CHECK(cudaMalloc(&d, sizeof(got)));
	CHECK(cudaMalloc(&d_a, a.size() * 4));
	areas<<<1, 96>>>(d_area);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(area, d_area, sizeof(area), cudaMemcpyDeviceToHost));
	by_pointer<<<1, 96>>>(d, 7);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 96; i++) {
		wrong += area[i] != (i % 3 ? i * i : 3 * i * i);
		wrong += got[i] != (i % 3 == 0 ? i + 7 : i % 3 == 1 ? i * 7 : i - 7);
	}
	for (int &v : a)
		v = random_bits(&seed) % 1000;
	sorted = a;
	CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
	CHECK(cudaMemcpy(d_a, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
	recurse<<<1, SORTS>>>(d_a, d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(a.data(), d_a, a.size() * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
	for (int s = 0; s < SORTS; s++) {
		std::sort(sorted.begin() + s * LENGTH, sorted.begin() + (s + 1) * LENGTH);
		wrong += got[s] != 2 * (s % 4) + 3;
	}
	wrong += a != sorted;
	apply<<<1, 96>>>(d, [=] __device__(int i) { return i * base + (int)fibonacci<20>::value; });
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 96; i++)
		wrong += got[i] != i * 5 + 6765;
	return verdict(!wrong, "virtual functions, function pointers, recursion, templates, lambdas, %d wrong", wrong);
}
