// SPDX-License-Identifier: GPL-2.0-only
// Branches, loops, calls, switches.
#include <cstdio>
#include <cassert>

struct shape {
	__device__ virtual float area(float x) const { return x; }
	__device__ virtual ~shape() {}
};
struct square : shape {
	__device__ float area(float x) const { return x * x; }
};
struct circle : shape {
	__device__ float area(float x) const { return 3.14159f * x * x; }
};

__global__ void virtual_calls(float *out, int n)
{
	shape *s = threadIdx.x % 3 == 0 ? new shape :
		   threadIdx.x % 3 == 1 ? (shape *)new square :
					  (shape *)new circle;

	for (int i = 0; i < n; i++)
		out[i * blockDim.x + threadIdx.x] += s->area(i);
	delete s;
}

__device__ __noinline__ int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ __noinline__ void swap_parts(int *a, int i, int j)
{
	int t = a[i];

	a[i] = a[j];
	a[j] = t;
}

__device__ void permute(int *a, int k, int n, int *count)
{
	if (k == n) {
		*count += a[0] * a[n - 1];
		return;
	}
	for (int i = k; i < n; i++) {
		swap_parts(a, k, i);
		permute(a, k + 1, n, count);
		swap_parts(a, k, i);
	}
}

__global__ void recursion(int *out, int n)
{
	int a[6] = { 1, 2, 3, 4, 5, (int)threadIdx.x }, count = 0;

	permute(a, 0, 6, &count);
	out[threadIdx.x] = fibonacci(n + threadIdx.x % 5) + count;
}

typedef int (*op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int sub(int a, int b) { return a - b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ op table[] = { add, sub, mul };

__global__ void pointers(int *out, const int *which)
{
	out[threadIdx.x] = table[which[threadIdx.x]](out[threadIdx.x], 17);
}

__global__ void interpreter(const unsigned char *code, long long *out)
{
	long long r[4] = { threadIdx.x, 1, 2, 3 };

	for (int pc = 0;; pc++) {
		unsigned char c = code[pc], d = c >> 4 & 3, s = c >> 6;

		switch (c & 15) {
		case 0: r[d] += r[s]; break;
		case 1: r[d] -= r[s]; break;
		case 2: r[d] *= r[s]; break;
		case 3: r[d] &= r[s]; break;
		case 4: r[d] |= r[s]; break;
		case 5: r[d] ^= r[s]; break;
		case 6: r[d] <<= r[s] & 63; break;
		case 7: r[d] >>= r[s] & 63; break;
		case 8: r[d] = r[s] ? r[d] / r[s] : 0; break;
		case 9: if (r[d] > r[s]) pc++; break;
		case 10: if (r[d] == 0) continue; r[s]--; pc -= 3; break;
		case 11: r[d] = __popcll(r[s]); break;
		case 12: r[d] = -r[s]; break;
		default:
			out[threadIdx.x] = r[0] + r[1] + r[2] + r[3];
			return;
		}
	}
}

__global__ void nested(int *out, int n, float limit)
{
	int found = -1;
	float sum = 0;

	for (int i = 0; i < n; i++) {
		if (out[i] < 0)
			continue;
		for (int j = i; j < n; j++) {
			if (out[j] == threadIdx.x) {
				found = j;
				break;
			}
			do {
				sum += out[j] * 0.5f;
				if (sum > limit)
					goto done;
			} while (sum < j);
		}
		while (found > 0 && out[found] & 1)
			found--;
		__syncthreads();
	}
done:
	if (threadIdx.x & 1) {
		if (sum > 1 && found >= 0 || limit < 0)
			out[threadIdx.x] = found;
		else if (threadIdx.x > 16)
			return;
		out[threadIdx.x + 1] = sum;
	}
}

__global__ void talks(int *out)
{
	assert(out[0] >= 0);
	printf("%d %f %s\n", out[threadIdx.x], 1.5 * out[1], "text");
	if (out[2] == 77)
		asm("trap;");
	if (out[2] == 78)
		asm("brkpt;");
	if (out[3] == 79)
		asm("exit;");
}

__global__ void clocks(long long *out)
{
	long long t = clock64();
	unsigned int s;

	asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
	out[threadIdx.x] = clock64() - t + clock() + s;
}
