// SPDX-License-Identifier: GPL-2.0-only
/*
 * own_world: a program that uses MPI and CUDA. Each rank fills memory of device rank modulo devices
 * and reads it back, and the ranks add up what they got in their own MPI_COMM_WORLD. Exit code 0:
 * the sum is right.
 */
#include <mpi.h>
#include <stdio.h>

#include <cuda/api/api.h>

enum { WORDS = 1000 };

static unsigned int got[WORDS];

static int compute(int rank, int *devices)
{
	CUcontext ctx;
	CUdeviceptr p;

	if (cuInit(0) || cuDeviceGetCount(devices) || !*devices ||
	    cuCtxCreate_v2(&ctx, 0, rank % *devices) || cuMemAlloc_v2(&p, sizeof(got)) ||
	    cuMemsetD32_v2(p, rank + 1, WORDS) || cuMemcpyDtoH_v2(got, p, sizeof(got)))
		return 0;
	return got[0] == got[WORDS - 1] ? (int)got[WORDS / 2] : 0;
}

int main(int argc, char **argv)
{
	int rank, ranks, devices = 0, mine, sum = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	mine = compute(rank, &devices);
	MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%d ranks, %d devices, sum %d\n", ranks, devices, sum);
	MPI_Finalize();
	return sum != ranks * (ranks + 1) / 2;
}
