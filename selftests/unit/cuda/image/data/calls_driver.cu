// SPDX-License-Identifier: GPL-2.0-only
// One kernel calls what only a driver has, for kernels that ask the CUDA runtime; one through a
// function; one does not.
extern "C" __device__ int cnpGetDevice(int *device);

__device__ __noinline__ int through(int *device)
{
	return cnpGetDevice(device) + 1;
}

extern "C" __global__ void asks(int *p)
{
	cnpGetDevice(p);
}

extern "C" __global__ void asks_by_a_function(int *p)
{
	p[1] = through(p);
}

extern "C" __global__ void plain(int *p)
{
	*p = 5;
}
