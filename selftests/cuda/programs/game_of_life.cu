// SPDX-License-Identifier: GPL-2.0-only
/* Life on a torus, a byte for each cell, and 32 cells in a word with bit-parallel adders. */
#include "check.h"

enum { W = 256, H = 192, WORDS = W / 32, STEPS = 50 };

__global__ void by_bytes(const unsigned char *in, unsigned char *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
	    n = 0;

	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			if (dx || dy)
				n += in[(y + dy + H) % H * W + (x + dx + W) % W];
	out[y * W + x] = n == 3 || (n == 2 && in[y * W + x]);
}

__device__ void add_bit(unsigned int *ones, unsigned int *twos, unsigned int *more, unsigned int v)
{
	unsigned int c1 = *ones & v, c2 = *twos & c1;

	*ones ^= v;
	*twos ^= c1;
	*more |= c2;
}

__global__ void by_bits(const unsigned int *in, unsigned int *out)
{
	int x = threadIdx.x, y = blockIdx.x * blockDim.y + threadIdx.y;
	unsigned int ones = 0, twos = 0, more = 0, self = in[y * WORDS + x];

	for (int dy = -1; dy <= 1; dy++) {
		const unsigned int *row = in + (y + dy + H) % H * WORDS;
		unsigned int w = row[x], before = row[(x + WORDS - 1) % WORDS],
			     after = row[(x + 1) % WORDS];

		add_bit(&ones, &twos, &more, w << 1 | before >> 31);
		add_bit(&ones, &twos, &more, w >> 1 | after << 31);
		if (dy)
			add_bit(&ones, &twos, &more, w);
	}
	out[y * WORDS + x] = twos & ~more & (ones | self);
}

int main(void)
{
	static unsigned char cells[2][W * H], bytes[W * H];
	static unsigned int words[WORDS * H];
	unsigned char *db[2];
	unsigned int *dw[2];
	int wrong = 0, alive = 0;
	uint32_t seed = 42;

	for (int i = 0; i < W * H; i++) {
		cells[0][i] = random_bits(&seed) % 3 == 0;
		words[i / 32] |= (unsigned int)cells[0][i] << i % 32;
	}
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc(&db[i], sizeof(bytes)));
		CHECK(cudaMalloc(&dw[i], sizeof(words)));
	}
	CHECK(cudaMemcpy(db[0], cells[0], sizeof(bytes), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dw[0], words, sizeof(words), cudaMemcpyHostToDevice));
	for (int s = 0; s < STEPS; s++) {
		by_bytes<<<dim3(W / 32, H / 8), dim3(32, 8)>>>(db[s % 2], db[1 - s % 2]);
		by_bits<<<H / 16, dim3(WORDS, 16)>>>(dw[s % 2], dw[1 - s % 2]);
		CHECK_LAUNCH();
		for (int y = 0; y < H; y++)
			for (int x = 0; x < W; x++) {
				const unsigned char *c = cells[s % 2];
				int n = -c[y * W + x];

				for (int i = 0; i < 9; i++)
					n += c[(y + i / 3 - 1 + H) % H * W +
					       (x + i % 3 - 1 + W) % W];
				cells[1 - s % 2][y * W + x] = n == 3 || (n == 2 && c[y * W + x]);
			}
	}
	CHECK(cudaMemcpy(bytes, db[STEPS % 2], sizeof(bytes), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(words, dw[STEPS % 2], sizeof(words), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++) {
		int want = cells[STEPS % 2][i];

		alive += want;
		wrong += (bytes[i] != want) + ((words[i / 32] >> i % 32 & 1) != (unsigned int)want);
	}
	return verdict(!wrong && alive, "%d x %d cells after %d generations, %d alive, %d wrong", W, H, STEPS, alive, wrong);
}
