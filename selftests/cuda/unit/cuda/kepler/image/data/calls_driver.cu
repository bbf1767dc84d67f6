// SPDX-License-Identifier: GPL-2.0-only
// Kernels that call what only a driver has, for kernels that use the CUDA runtime: a function that
// is here, one that is not, that one through another; and a kernel that calls nothing.
extern "C" __device__ int cnpGetDevice(int *device);
extern "C" __device__ int cnpGetLimit(int limit);

__device__ __noinline__ int through(int limit)
{
	return cnpGetLimit(limit) + 1;
}

extern "C" __global__ void asks(int *p)
{
	p[0] = cnpGetLimit(p[1]);
}

extern "C" __global__ void asks_by_a_function(int *p)
{
	p[1] = through(p[2]);
}

extern "C" __global__ void has_all(int *p)
{
	cnpGetDevice(p);
}

extern "C" __global__ void plain(int *p)
{
	*p = 5;
}
