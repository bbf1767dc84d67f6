// SPDX-License-Identifier: GPL-2.0-only
/* Atomics: with and without result, in global, shared and generic memory. */
typedef unsigned int uint;
typedef unsigned long long ull;

template<class T> __device__ void three(T *p, T *s, T *g, T v)
{
	p[8] = atomicAdd(p, v) + atomicAdd(s, v) + atomicAdd(g, v);
	atomicAdd(p + 1, v);
	atomicAdd(s + 1, v);
	p[9] = atomicExch(p + 2, v) + atomicExch(s + 2, v) + atomicExch(g + 2, v);
	atomicExch(p + 3, v);
}

template<class T> __device__ void more(T *p, T *s, T *g, T v)
{
	three(p, s, g, v);
	p[10] = atomicMin(p, v) + atomicMin(s, v) + atomicMax(p + 1, v) + atomicMax(g, v);
	p[11] = atomicAnd(p, v) + atomicOr(s, v) + atomicXor(g, v) + atomicAnd(s, v) +
		atomicOr(p, v) + atomicXor(p, v);
	atomicMin(p + 4, v);
	atomicMax(s + 4, v);
	atomicAnd(p + 5, v);
	atomicOr(s + 5, v);
	atomicXor(p + 6, v);
	p[12] = atomicCAS(p, v, (T)(v + 1)) + atomicCAS(s, v, (T)0) + atomicCAS(g, (T)0, v);
	atomicCAS(p + 7, (T)0, (T)0);
}

#define KERNEL(name, T, body) \
__global__ void name(T *p, T *q, T v) \
{ \
	__shared__ T s[16]; \
	T *g = v > 3 ? s : q; \
	s[threadIdx.x & 15] = v; \
	__syncthreads(); \
	body(p, s, g, v); \
	__syncthreads(); \
	q[threadIdx.x] = s[threadIdx.x & 15]; \
}
KERNEL(atomics_int, int, more)
KERNEL(atomics_uint, uint, more)
KERNEL(atomics_ull, ull, more)
KERNEL(atomics_float, float, three)

__global__ void counters(uint *p, uint v)
{
	p[1] = atomicInc(p, v) + atomicDec(p + 2, v) + atomicSub(p + 3, v);
	atomicInc(p + 4, 7);
	atomicDec(p + 5, 7);
}

__global__ void double_add(double *p, double v)
{
	ull *u = (ull *)p, old = *u, seen;

	do {
		seen = old;
		old = atomicCAS(u, seen, __double_as_longlong(v + __longlong_as_double(seen)));
	} while (old != seen);
}

__global__ void signed64(long long *p, long long v)
{
	p[1] = atomicMin(p, v) + atomicMax(p + 2, v);
}

__global__ void spin(int *lock, float *data)
{
	if (threadIdx.x == 0) {
		while (atomicCAS(lock, 0, 1))
			;
		*data += 1;
		__threadfence();
		atomicExch(lock, 0);
	}
}
