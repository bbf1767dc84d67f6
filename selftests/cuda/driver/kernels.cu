// SPDX-License-Identifier: GPL-2.0-only
// What driver_test launches. After a change: nvcc -arch=sm_35 -cubin kernels.cu -o kernels.cubin (CUDA 11.8).
__constant__ int factors[4] = { 1, 10, 100, 1000 };
__device__ unsigned int counter;
__device__ float table[4] = { 0.5f, 1.5f, 2.5f, 3.5f };

extern "C" __global__ void add(const float *a, const float *b, float *c, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		c[i] = a[i] + b[i];
}

// one sum for each block, by a tree in shared memory
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

// grid and block in three dimensions
extern "C" __global__ void shape(unsigned int *out)
{
	unsigned int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	unsigned int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;

	out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block << 16 | thread;
}

// keeps the GPU busy for a while
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
