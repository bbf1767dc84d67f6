// SPDX-License-Identifier: GPL-2.0-only
/*
 * matrix_mpi N POWER [MICROSECONDS]: A times B^POWER, matrices of N x N, the rows divided over the
 * ranks of an MPI program, each on a GPU.
 */
#include <mpi.h>

#include "parts.cuh"

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), power = argument(argc, argv, 2, 1),
	    pace = argument(argc, argv, 3, 0), rank, ranks, rows, here, gpus;
	MPI_Comm machine;
	double begin = 0;
	float *ga, *gb, *gc;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
	MPI_Comm_rank(machine, &here);
	CHECK(cudaGetDeviceCount(&gpus));
	CHECK(cudaSetDevice(here % gpus));
	rows = n / ranks;
	size_t band = (size_t)rows * n, all = (size_t)n * n;
	std::vector<float> a, b, c, my_a(band), my_c(band);

	b = rank ? std::vector<float>(all) : input(all, 2);
	if (!rank) {
		a = input(all, 1);
		c.resize(all);
	}
	CHECK(cudaMalloc(&ga, band * sizeof(float)));
	CHECK(cudaMalloc(&gb, all * sizeof(float)));
	CHECK(cudaMalloc(&gc, band * sizeof(float)));
	/* the first one touches all memory, and does not count */
	for (int run = 0; run < 2; run++) {
		MPI_Barrier(MPI_COMM_WORLD);
		begin = now_ms();
		MPI_Scatter(a.data(), band, MPI_FLOAT, my_a.data(), band, MPI_FLOAT, 0,
			    MPI_COMM_WORLD);
		MPI_Bcast(b.data(), all, MPI_FLOAT, 0, MPI_COMM_WORLD);
		CHECK(cudaMemcpy(ga, my_a.data(), band * sizeof(float), cudaMemcpyDefault));
		CHECK(cudaMemcpy(gb, b.data(), all * sizeof(float), cudaMemcpyDefault));
		for (int i = 0; i < power; i++) {
			multiply_rows(ga, gb, gc, n, rows, pace);
			std::swap(ga, gc);
		}
		CHECK(cudaMemcpy(my_c.data(), ga, band * sizeof(float), cudaMemcpyDefault));
		MPI_Gather(my_c.data(), band, MPI_FLOAT, c.data(), band, MPI_FLOAT, 0,
			   MPI_COMM_WORLD);
	}
	if (!rank)
		tell("matrix_mpi", ranks, n, now_ms() - begin, c);
	MPI_Finalize();
	return 0;
}
