// SPDX-License-Identifier: GPL-2.0-only
/*
 * Alignment by Needleman and Wunsch in tiles, a launch for each diagonal of tiles; the table of
 * scores is in constant memory.
 */
#include <vector>

#include "check.h"

enum { N = 256, TILE = 32, GAP = -3, LETTERS = 20 };

__constant__ signed char score[LETTERS][LETTERS];

__global__ void tiles(const unsigned char *a, const unsigned char *b, int *m, int diagonal,
		      int first)
{
	__shared__ int s[TILE + 1][TILE + 1];
	__shared__ unsigned char row[TILE], column[TILE];
	int ty = first + blockIdx.x, tx = diagonal - ty, t = threadIdx.x, y0 = ty * TILE,
	    x0 = tx * TILE;

	s[0][t + 1] = m[y0 * (N + 1) + x0 + t + 1];
	s[t + 1][0] = m[(y0 + t + 1) * (N + 1) + x0];
	if (!t)
		s[0][0] = m[y0 * (N + 1) + x0];
	row[t] = a[y0 + t];
	column[t] = b[x0 + t];
	__syncwarp();
	for (int k = 0; k < 2 * TILE - 1; k++) {
		int y = k - t, x = t;

		if (y >= 0 && y < TILE)
			s[y + 1][x + 1] = max(s[y][x] + score[row[y]][column[x]],
					      max(s[y][x + 1], s[y + 1][x]) + GAP);
		__syncwarp();
	}
	for (int y = 0; y < TILE; y++)
		m[(y0 + y + 1) * (N + 1) + x0 + t + 1] = s[y + 1][t + 1];
}

int main(void)
{
	std::vector<unsigned char> a(N), b(N);
	std::vector<int> want((N + 1) * (N + 1)), got(want.size());
	signed char table[LETTERS][LETTERS];
	unsigned char *da, *db;
	int *dm, wrong = 0;
	uint32_t seed = 15;

	for (int i = 0; i < LETTERS; i++)
		for (int j = 0; j <= i; j++)
			table[i][j] = table[j][i] = i == j ? 5 + i % 4 :
							     (int)(random_bits(&seed) % 8) - 5;
	for (int i = 0; i < N; i++) {
		a[i] = random_bits(&seed) % LETTERS;
		b[i] = i % 5 ? a[i - i / 60] : random_bits(&seed) % LETTERS;
	}
	for (int i = 0; i <= N; i++)
		want[i] = want[i * (N + 1)] = i * GAP;
	CHECK(cudaMalloc(&da, N));
	CHECK(cudaMalloc(&db, N));
	CHECK(cudaMalloc(&dm, want.size() * 4));
	CHECK(cudaMemcpyToSymbol(score, table, sizeof(table)));
	CHECK(cudaMemcpy(da, a.data(), N, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), N, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dm, want.data(), want.size() * 4, cudaMemcpyHostToDevice));
	for (int d = 0; d < 2 * (N / TILE) - 1; d++) {
		int first = d < N / TILE ? 0 : d - N / TILE + 1,
		    last = d < N / TILE ? d : N / TILE - 1;

		tiles<<<last - first + 1, TILE>>>(da, db, dm, d, first);
		CHECK_LAUNCH();
	}
	CHECK(cudaMemcpy(got.data(), dm, got.size() * 4, cudaMemcpyDeviceToHost));
	for (int y = 1; y <= N; y++)
		for (int x = 1; x <= N; x++) {
			int at = y * (N + 1) + x, up = at - N - 1,
			    v = want[up - 1] + table[a[y - 1]][b[x - 1]];

			v = want[up] + GAP > v ? want[up] + GAP : v;
			want[at] = want[at - 1] + GAP > v ? want[at - 1] + GAP : v;
		}
	for (size_t i = 0; i < want.size(); i++)
		wrong += got[i] != want[i];
	return verdict(!wrong, "table of %d x %d, score %d, %d cells wrong", N, N, want.back(), wrong);
}
