// SPDX-License-Identifier: GPL-2.0-only
/*
 * cluster_mpi COUNT STAGING: what MPI itself carries from rank 0 to rank 1, of 4 KiB to 64 MiB in
 * messages of STAGING bytes at most, four of them under way; prints "mpi to BYTES MB/S", the best
 * of COUNT.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 << 20, ROOM = 4 * MOST, SLOTS = 4 };

static void carry(int rank, uint8_t *at, size_t n, size_t staging)
{
	MPI_Request r[SLOTS];
	size_t done, bytes;
	int i = 0, k;

	for (k = 0; k < SLOTS; k++)
		r[k] = MPI_REQUEST_NULL;
	for (done = 0; done < n; done += bytes, i = (i + 1) % SLOTS) {
		bytes = n - done < staging ? n - done : staging;
		MPI_Wait(&r[i], MPI_STATUS_IGNORE);
		if (rank)
			MPI_Irecv(at + done, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r[i]);
		else
			MPI_Isend(at + done, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &r[i]);
	}
	for (k = 0; k < SLOTS; k++)
		MPI_Wait(&r[k], MPI_STATUS_IGNORE);
}

static double one(int rank, uint8_t *at, size_t n, size_t staging)
{
	double start = MPI_Wtime();
	uint64_t word = 0;

	carry(rank, at, n, staging);
	if (rank)
		MPI_Send(&word, sizeof(word), MPI_BYTE, 0, 2, MPI_COMM_WORLD);
	else
		MPI_Recv(&word, sizeof(word), MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return n / (MPI_Wtime() - start) / 1e6;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 5, i, rank;
	size_t staging = argc > 2 ? strtoull(argv[2], NULL, 0) : 1 << 20, n, at = 0;
	uint8_t *room = malloc(ROOM);
	double best, rate;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!room || !staging)
		MPI_Abort(MPI_COMM_WORLD, 2);
	memset(room, 1, ROOM);
	for (n = 4096; n <= MOST; n *= 4) {
		for (i = 0, best = 0; i < count; i++, at = (at + n) % ROOM) {
			if (at + n > ROOM)
				at = 0;
			rate = one(rank, room + at, n, staging);
			best = rate > best ? rate : best;
		}
		if (!rank)
			printf("mpi to %zu %.1f\n", n, best);
	}
	MPI_Finalize();
	return 0;
}
