// SPDX-License-Identifier: GPL-2.0-only
/*
 * jacobi_mpi N ITERATIONS: a Jacobi relaxation of an N x N grid, its rows divided over the ranks of
 * an MPI program, each on a GPU.
 */
#include <mpi.h>

#include "parts.cuh"

/* the outer rows of @to go to the ranks @up and @down, through host memory: @edge, four rows */
static void exchange(float *to, size_t band, int n, int up, int down, float *edge)
{
	float *top_in = edge + 2 * n, *bottom_in = edge + 3 * n;
	size_t row = n * sizeof(float);

	if (up != MPI_PROC_NULL)
		CHECK(cudaMemcpy(edge, to + n, row, cudaMemcpyDefault));
	if (down != MPI_PROC_NULL)
		CHECK(cudaMemcpy(edge + n, to + band, row, cudaMemcpyDefault));
	MPI_Sendrecv(edge, n, MPI_FLOAT, up, 0, bottom_in, n, MPI_FLOAT, down, 0, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Sendrecv(edge + n, n, MPI_FLOAT, down, 1, top_in, n, MPI_FLOAT, up, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	if (up != MPI_PROC_NULL)
		CHECK(cudaMemcpy(to, top_in, row, cudaMemcpyDefault));
	if (down != MPI_PROC_NULL)
		CHECK(cudaMemcpy(to + band + n, bottom_in, row, cudaMemcpyDefault));
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 1024), iterations = argument(argc, argv, 2, 100), rank,
	    ranks, rows, here, gpus;
	MPI_Comm machine;
	double begin = 0;
	float *from, *to;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &machine);
	MPI_Comm_rank(machine, &here);
	CHECK(cudaGetDeviceCount(&gpus));
	CHECK(cudaSetDevice(here % gpus));
	rows = n / ranks;
	size_t row = n * sizeof(float), band = (size_t)rows * n;
	std::vector<float> grid, result, mine(band + 2 * n), edge(4 * n);
	std::vector<int> counts(ranks, band + 2 * n), places(ranks);
	int up = rank ? rank - 1 : MPI_PROC_NULL,
	    down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;

	for (int r = 0; r < ranks; r++)
		places[r] = r * band;
	if (!rank) {
		grid = input((size_t)(n + 2) * n, 3);
		result.resize((size_t)n * n);
	}
	CHECK(cudaMalloc(&from, (rows + 2) * row));
	CHECK(cudaMalloc(&to, (rows + 2) * row));
	/* the first one touches all memory, and does not count */
	for (int run = 0; run < 2; run++) {
		MPI_Barrier(MPI_COMM_WORLD);
		begin = now_ms();
		MPI_Scatterv(grid.data(), counts.data(), places.data(), MPI_FLOAT, mine.data(),
			     band + 2 * n, MPI_FLOAT, 0, MPI_COMM_WORLD);
		CHECK(cudaMemcpy(from, mine.data(), (rows + 2) * row, cudaMemcpyDefault));
		CHECK(cudaMemcpyAsync(to, from, row, cudaMemcpyDefault));
		CHECK(cudaMemcpyAsync(to + band + n, from + band + n, row, cudaMemcpyDefault));
		for (int i = 0; i < iterations; i++) {
			relax_rows(from, to, n, rows);
			exchange(to, band, n, up, down, &edge[0]);
			std::swap(from, to);
		}
		CHECK(cudaMemcpy(mine.data(), from + n, rows * row, cudaMemcpyDefault));
		MPI_Gather(mine.data(), band, MPI_FLOAT, result.data(), band, MPI_FLOAT, 0,
			   MPI_COMM_WORLD);
	}
	if (!rank)
		tell("jacobi_mpi", ranks, n, now_ms() - begin, result);
	MPI_Finalize();
	return 0;
}
