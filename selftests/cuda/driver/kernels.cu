// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kvgpu-cuda-driver launches. After a change: nvcc -arch=sm_35 -cubin kernels.cu -o
 * kernels.cubin (CUDA 11.8).
 */
__constant__ int factors[4] = { 1, 10, 100, 1000 };
__device__ unsigned int counter;
__device__ float table[4] = { 0.5f, 1.5f, 2.5f, 3.5f };

extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

extern "C" __global__ void sum(const int *in, int *out, int n)
{
	extern __shared__ int part[];
	int i = blockIdx.x * blockDim.x + threadIdx.x, step;

	part[threadIdx.x] = i < n ? in[i] : 0;
	__syncthreads();
	for (step = blockDim.x / 2; step; step /= 2) {
		if (threadIdx.x < step)
			part[threadIdx.x] += part[threadIdx.x + step];
		__syncthreads();
	}
	if (!threadIdx.x)
		out[blockIdx.x] = part[0];
}

// n x n matrices, a block a row
extern "C" __global__ void product(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x, j = threadIdx.x, k;
	float sum = 0;

	for (k = 0; k < n; k++)
		sum += a[i * n + k] * b[k * n + j];
	c[i * n + j] = sum;
}

// constants, variables with and without contents, parameters of mixed sizes, and atomics
extern "C" __global__ void mixed(char c, double d, short s, double *out)
{
	int i = threadIdx.x;

	out[i] = c * factors[i % 4] + d * table[i % 4] + s;
	atomicAdd(&counter, 1u);
}

// an array indexed at run time lies in local memory
extern "C" __global__ void scramble(int *out, int seed, int rounds)
{
	int box[64], i, at = seed & 63;

	for (i = 0; i < 64; i++)
		box[i] = i + blockIdx.x * blockDim.x + threadIdx.x;
	for (i = 0; i < rounds; i++) {
		int other = (at * 5 + 17) & 63, keep = box[at];

		box[at] = box[other] + i;
		box[other] = keep;
		at = other;
	}
	out[blockIdx.x * blockDim.x + threadIdx.x] = box[at] + box[(at + 1) & 63];
}

extern "C" __global__ void shape(unsigned int *out)
{
	unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;

	out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block << 16 | thread;
}

extern "C" __global__ void spin(int *out, int rounds)
{
	int v = threadIdx.x, i;

	for (i = 0; i < rounds; i++)
		v = v * 1664525 + 1013904223;
	*out = v;
}

extern "C" __global__ void store(int *where)
{
	*where = 1;
}

// ------------------------------------------------------------------ textures and surfaces

texture<float, cudaTextureType2D, cudaReadModeElementType> plain_ref;
texture<unsigned char, cudaTextureType1D, cudaReadModeNormalizedFloat> linear_ref;
surface<void, cudaSurfaceType2D> flat_ref;

extern "C" __global__ void sample_line(cudaTextureObject_t t, int4 *out)
{
	out[threadIdx.x] = tex1Dfetch<int4>(t, threadIdx.x);
}

// (x0, y0) + (dx, dy) * thread
extern "C" __global__ void sample_plane(cudaTextureObject_t t, float *out, float x0, float dx,
					float y0, float dy)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, w = gridDim.x * blockDim.x;

	out[y * w + x] = tex2D<float>(t, x0 + dx * x, y0 + dy * y);
}

extern "C" __global__ void sample_short4(cudaTextureObject_t t, short4 *out)
{
	int w = gridDim.x * blockDim.x, x = blockIdx.x * blockDim.x + threadIdx.x;

	out[blockIdx.y * w + x] = tex2D<short4>(t, x + 0.5f, blockIdx.y + 0.5f);
}

extern "C" __global__ void sample_volume(cudaTextureObject_t t, float *out, float part)
{
	int i = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.x + threadIdx.x;

	out[i] = tex3D<float>(t, threadIdx.x + part, blockIdx.y + part, blockIdx.z + part);
}

extern "C" __global__ void sample_layers(cudaTextureObject_t t, float *out)
{
	int i = (blockIdx.z * gridDim.y + blockIdx.y) * blockDim.x + threadIdx.x;

	out[i] = tex2DLayered<float>(t, threadIdx.x + 0.5f, blockIdx.y + 0.5f, blockIdx.z);
}

extern "C" __global__ void sample_lines(cudaTextureObject_t t, uchar2 *out)
{
	out[blockIdx.y * blockDim.x + threadIdx.x] =
		tex1DLayered<uchar2>(t, threadIdx.x + 0.5f, blockIdx.y);
}

// the middle of each face of each cube
extern "C" __global__ void sample_cubes(cudaTextureObject_t t, float *out, int layered)
{
	const float at[6][3] = { { 1, 0, 0 },  { -1, 0, 0 }, { 0, 1, 0 },
				 { 0, -1, 0 }, { 0, 0, 1 },  { 0, 0, -1 } };
	int f = threadIdx.x;

	out[blockIdx.x * 6 + f] =
		layered ? texCubemapLayered<float>(t, at[f][0], at[f][1], at[f][2], blockIdx.x) :
			  texCubemap<float>(t, at[f][0], at[f][1], at[f][2]);
}

extern "C" __global__ void sample_level(cudaTextureObject_t t, float *out, float level)
{
	out[blockIdx.y * blockDim.x + threadIdx.x] = tex2DLod<float>(
		t, (threadIdx.x + 0.5f) / blockDim.x, (blockIdx.y + 0.5f) / gridDim.y, level);
}

extern "C" __global__ void gather_plane(cudaTextureObject_t t, float4 *out)
{
	out[blockIdx.y * blockDim.x + threadIdx.x] =
		tex2Dgather<float4>(t, threadIdx.x + 1.0f, blockIdx.y + 1.0f, 0);
}

extern "C" __global__ void sample_refs(float *out, int n)
{
	int i = threadIdx.x;

	out[i] = tex2D(plain_ref, i + 0.5f, 2.5f);
	out[n + i] = tex1Dfetch(linear_ref, i);
}

// each texel doubled, and its place added; clamped outside
extern "C" __global__ void change_plane(cudaSurfaceObject_t s, int w, int h)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, v;

	surf2Dread(&v, s, x * 4, y, cudaBoundaryModeClamp);
	if (x < w && y < h)
		surf2Dwrite(2 * v + y * 1000 + x, s, x * 4, y);
}

extern "C" __global__ void write_outside(cudaSurfaceObject_t s, int x, int y)
{
	surf2Dwrite(-1, s, x * 4, y, cudaBoundaryModeZero);
}

extern "C" __global__ void write_volume(cudaSurfaceObject_t s)
{
	int x = threadIdx.x, y = blockIdx.y, z = blockIdx.z;

	surf3Dwrite((unsigned short)(z * 4096 + y * 64 + x), s, x * 2, y, z);
}

extern "C" __global__ void write_layers(cudaSurfaceObject_t s)
{
	int x = threadIdx.x, y = blockIdx.y, z = blockIdx.z;

	surf2DLayeredwrite(make_float2(x + y, z), s, x * 8, y, z);
}

extern "C" __global__ void write_lines(cudaSurfaceObject_t s)
{
	surf1DLayeredwrite(make_uint4(threadIdx.x, blockIdx.y, 3, 4), s, threadIdx.x * 16,
			   blockIdx.y);
}

extern "C" __global__ void write_line(cudaSurfaceObject_t s)
{
	surf1Dwrite((unsigned char)(threadIdx.x * 3), s, threadIdx.x);
}

extern "C" __global__ void write_ref(int value)
{
	surf2Dwrite(value + (int)threadIdx.x, flat_ref, threadIdx.x * 4, blockIdx.y);
}

// ------------------------------------------------------------------ what the driver has to provide
#include <cassert>
#include <cstdio>

extern "C" __global__ void say(int n, double d, const char *text)
{
	if (threadIdx.x < n)
		printf("%d of %3d|%-6.2f|%s|%s|%lld|%c%%|%08x|%hhd|%*d|%p\n", threadIdx.x, n, d, "constant", text,
		       0x123456789abcLL + threadIdx.x, 'x', 0xbeef, 0x1ff, 6, -7, (void *)0x1000);
}

extern "C" __global__ void say_much(int rounds)
{
	for (int i = 0; i < rounds; i++)
		printf("%u %d\n", blockIdx.x * blockDim.x + threadIdx.x, i);
}

/* a format and a word in constant memory, as numba's print() makes them; and in global memory */
__constant__ char constant_format[] = "constant %d %s\n", constant_word[] = "word";
__device__ char global_format[] = "global %d %s\n";

extern "C" __global__ void say_by_other_formats(int n)
{
	printf(constant_format, n, "literal");
	printf(global_format, n, constant_word);
	printf(n & 1 ? "odd %d\n" : "even %d\n", n);
}

/* the second block waits for the first one, which fails */
extern "C" __global__ void claim_and_wait(volatile int *flag, int zero)
{
	if (blockIdx.x) {
		while (!*flag)
			;
		return;
	}
	assert(zero == 1);
	*flag = 1;
}

extern "C" __global__ void claim(int *ok)
{
	assert(ok[threadIdx.x] == 1);
	ok[threadIdx.x] = 2;
}

/* blocks of growing size; the last is kept for another launch */
extern "C" __global__ void allocate(int **keep, int *wrong, int rounds)
{
	int me = blockIdx.x * blockDim.x + threadIdx.x;

	for (int i = 1; i <= rounds; i++) {
		int n = i * 7 + me % 5, bad = 0;
		int *p = (int *)malloc(n * sizeof(int));

		if (!p) {
			atomicAdd(wrong, 1000);
			return;
		}
		for (int j = 0; j < n; j++)
			p[j] = me * 1000 + j;
		__syncthreads();
		for (int j = 0; j < n; j++)
			bad += p[j] != me * 1000 + j;
		if (bad)
			atomicAdd(wrong, 1);
		if (i < rounds)
			free(p);
		else
			keep[me] = p;
	}
}

extern "C" __global__ void release(int **kept, int *wrong, int rounds)
{
	int me = blockIdx.x * blockDim.x + threadIdx.x, n = rounds * 7 + me % 5;

	for (int j = 0; j < n; j++)
		if (kept[me][j] != me * 1000 + j)
			atomicAdd(wrong, 1);
	free(kept[me]);
}

/* A thread's block has as many bytes as its number, and takes stores of 16 bytes at once. */
extern "C" __global__ void align(int *wrong)
{
	int n = threadIdx.x + 1;
	float4 *p = (float4 *)malloc(n), v = make_float4(n, -n, n * 2.0f, n * 0.5f);
	bool bad = !p || (size_t)p % sizeof(float4);

	for (int i = 0; !bad && i < n / (int)sizeof(float4); i++)
		p[i] = v;
	__syncthreads();
	for (int i = 0; !bad && i < n / (int)sizeof(float4); i++)
		bad = p[i].x != v.x || p[i].y != v.y || p[i].z != v.z || p[i].w != v.w;
	if (bad)
		atomicAdd(wrong, 1);
	free(p);
}

/* sizes that no heap has, among them those above the largest class of blocks, 2^36 bytes */
extern "C" __global__ void ask_too_much(int *given)
{
	for (int i = 30; i < 64; i++)
		for (int quarter = 4; quarter < 8; quarter++)
			if (malloc((unsigned long long)quarter << (i - 2)))
				++*given;
	for (int i = 0; i < 64; i++)
		if (malloc(~0ull - i))
			++*given;
}

// until there is no more
extern "C" __global__ void exhaust(int *count)
{
	while (malloc(100000))
		++*count;
}
