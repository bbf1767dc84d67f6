// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels of the driver-API programs: the benchmarks that GPUvm and Gdev were measured with, and
 * others.
 */

extern "C" {

__global__ void madd(const unsigned int *a, const unsigned int *b, unsigned int *c, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x < n && y < n)
		c[y * n + x] = a[y * n + x] + b[y * n + x];
}

__global__ void mmul(const unsigned int *a, const unsigned int *b, unsigned int *c, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	unsigned int sum = 0;

	if (x >= n || y >= n)
		return;
	for (int i = 0; i < n; i++)
		sum += a[y * n + i] * b[i * n + x];
	c[y * n + x] = sum;
}

__global__ void fmadd(const float *a, const float *b, float *c, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	if (x < n && y < n)
		c[y * n + x] = a[y * n + x] + b[y * n + x];
}

__global__ void fmmul(const float *a, const float *b, float *c, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	float sum = 0;

	if (x >= n || y >= n)
		return;
	for (int i = 0; i < n; i++)
		sum += a[y * n + i] * b[i * n + x];
	c[y * n + x] = sum;
}

__constant__ int scale[2];
__device__ unsigned int launches;

__global__ void mixed(char c, double d, short3 s, float *out, int *dynamic_size)
{
	extern __shared__ float buffer[];
	int i = threadIdx.x;

	buffer[i] = c * scale[0] + d * scale[1] + s.x + s.y * s.z;
	__syncthreads();
	out[blockIdx.x * blockDim.x + i] = buffer[blockDim.x - 1 - i] + i;
	if (!i && !blockIdx.x) {
		unsigned int bytes;

		asm("mov.u32 %0, %dynamic_smem_size;" : "=r"(bytes));
		*dynamic_size = bytes;
		atomicAdd(&launches, 1);
	}
}

}
