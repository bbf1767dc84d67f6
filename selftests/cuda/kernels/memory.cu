// SPDX-License-Identifier: GPL-2.0-only
// Loads and stores of many kinds and widths.
#include <cuda_runtime.h>

__constant__ int ci[256];
__constant__ double cd[32];
__constant__ char4 cc[32];
__device__ float4 global4[64];

template <class T> __global__ void copy(T *to, const T *from)
{
	to[threadIdx.x] = from[threadIdx.x + 1];
}
template <class T> __global__ void copy_volatile(volatile T *to, volatile T *from)
{
	to[threadIdx.x] = from[threadIdx.x + 1];
}
template<class T> __global__ void copy_readonly(T *__restrict__ to, const T *__restrict__ from)
{
	to[threadIdx.x] = __ldg(from + threadIdx.x + 1);
}
template<class T> __global__ void copy_generic(T *a, T *b, int which)
{
	__shared__ T s[64];
	T *p = which & 1 ? s : a;

	s[threadIdx.x] = b[threadIdx.x];
	__syncthreads();
	p[threadIdx.x ^ 1] = p[threadIdx.x];
	__syncthreads();
	b[threadIdx.x] = s[threadIdx.x ^ 3];
}
template<class T> __global__ void copy_local(T *a, const int *index)
{
	T l[16];

	for (int i = 0; i < 16; i++)
		l[index[i] & 15] = a[i];
	for (int i = 0; i < 16; i++)
		a[i] = l[index[i + 16] & 15];
}

#define ALL(T)                                                     \
	template __global__ void copy<T>(T *, const T *);          \
	template __global__ void copy_readonly<T>(T *, const T *); \
	template __global__ void copy_generic<T>(T *, T *, int);   \
	template __global__ void copy_local<T>(T *, const int *)
#define SCALAR(T) ALL(T); template __global__ void copy_volatile<T>(volatile T *, volatile T *)
SCALAR(char);
SCALAR(signed char);
SCALAR(unsigned char);
SCALAR(short);
SCALAR(unsigned short);
SCALAR(int);
SCALAR(unsigned int);
SCALAR(long long); SCALAR(unsigned long long); SCALAR(float); SCALAR(double);
ALL(char2);
ALL(char4);
ALL(uchar2);
ALL(uchar4);
ALL(short2);
ALL(short4);
ALL(ushort2);
ALL(ushort4);
ALL(int2);
ALL(int4);
ALL(uint2); ALL(uint4); ALL(longlong2); ALL(ulonglong2); ALL(float2); ALL(float4); ALL(double2);

extern __shared__ double dynamic[];

__global__ void shared_kinds(double *out, int n)
{
	__shared__ char bytes[256];
	__shared__ short words[128][3];
	__shared__ float3 triples[64];
	char *raw = (char *)dynamic;
	int t = threadIdx.x;

	dynamic[t] = out[t];
	bytes[t] = t;
	words[t][1] = n;
	triples[t] = make_float3(t, n, 3);
	__syncthreads();
	((float *)raw)[t ^ 1] += bytes[t ^ 5] + words[n & 127][t % 3] + triples[n & 63].y;
	__syncthreads();
	out[t] = dynamic[t] + (double)raw[3 * t];
}

__global__ void constants(double *out, int i, int j)
{
	out[threadIdx.x] =
		ci[i] + cd[j] + cc[threadIdx.x & 31].y + ci[threadIdx.x] + cd[3] + ci[7] + cc[2].w;
	global4[threadIdx.x & 63].z = out[i];
}

struct big { int a[40]; double b; char c[3]; };
__global__ void by_value(struct big v, struct big *out, int i)
{
	out[threadIdx.x] = v;
	out[threadIdx.x].a[i] = v.a[threadIdx.x % 40] + v.c[i % 3];
}

__global__ void hints(float *p, double *q, int *r)
{
	float v;

	asm volatile("ld.global.cs.f32 %0, [%1];" : "=f"(v) : "l"(p));
	asm volatile("st.global.wt.f32 [%0], %1;" :: "l"(p + 1), "f"(v));
	asm volatile("prefetch.global.L2 [%0];" :: "l"(p + 2));
	asm volatile("prefetch.local.L1 [%0];" :: "l"(p + 3));
	q[1] = __isGlobal(q) ? q[0] : 0;
	__threadfence_block();
	*r = 1;
	__threadfence();
	*r = 2;
	__threadfence_system();
	*r = 3;
}
