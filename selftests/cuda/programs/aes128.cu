// SPDX-License-Identifier: GPL-2.0-only
/*
 * AES-128 in counter mode (FIPS 197), with tables in shared memory; the standard's example first.
 */
#include "check.h"

enum { BLOCKS = 4096 };

__constant__ unsigned int round_key[44];

static unsigned char sbox[256];

static unsigned char times(unsigned char a, unsigned char b)
{
	unsigned char p = 0;

	for (; b; b >>= 1, a = a << 1 ^ (a & 0x80 ? 0x1b : 0))
		if (b & 1)
			p ^= a;
	return p;
}

static void make_sbox(void)
{
	for (int i = 0; i < 256; i++) {
		unsigned char inverse = 0, v;

		for (int j = 1; i && j < 256; j++)
			if (times(i, j) == 1)
				inverse = j;
		v = inverse;
		for (int j = 1; j < 5; j++)
			v ^= inverse << j | inverse >> (8 - j);
		sbox[i] = v ^ 0x63;
	}
}

static void expand(const unsigned char *key, unsigned int *w)
{
	unsigned char rcon = 1;

	for (int i = 0; i < 4; i++)
		w[i] = (unsigned int)key[4 * i] << 24 | key[4 * i + 1] << 16 | key[4 * i + 2] << 8 |
		       key[4 * i + 3];
	for (int i = 4; i < 44; i++) {
		unsigned int t = w[i - 1];

		if (i % 4 == 0) {
			t = t << 8 | t >> 24;
			t = (unsigned int)sbox[t >> 24] << 24 | sbox[t >> 16 & 255] << 16 |
			    sbox[t >> 8 & 255] << 8 | sbox[t & 255];
			t ^= (unsigned int)rcon << 24;
			rcon = times(rcon, 2);
		}
		w[i] = w[i - 4] ^ t;
	}
}

/* by bytes, as the standard says it */
static void encrypt_cpu(const unsigned int *w, const unsigned int *in, unsigned int *out)
{
	unsigned char s[16], t[16];

	for (int i = 0; i < 16; i++)
		s[i] = (in[i / 4] ^ w[i / 4]) >> (24 - i % 4 * 8);
	for (int r = 1; r <= 10; r++) {
		for (int i = 0; i < 16; i++)
			t[i] = sbox[s[(i + i % 4 * 4) % 16]];
		for (int i = 0; i < 16; i++) {
			int c = i / 4 * 4;

			s[i] = r == 10 ? t[i] :
					 times(t[i], 2) ^ times(t[c + (i + 1) % 4], 3) ^
						 t[c + (i + 2) % 4] ^ t[c + (i + 3) % 4];
			s[i] ^= w[4 * r + i / 4] >> (24 - i % 4 * 8);
		}
	}
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned int)s[4 * i] << 24 | s[4 * i + 1] << 16 | s[4 * i + 2] << 8 |
			 s[4 * i + 3];
}

__device__ unsigned int rotate(unsigned int v, int n)
{
	return __funnelshift_r(v, v, n);
}

__global__ void encrypt(const unsigned char *table, uint4 counter, uint4 *out)
{
	__shared__ unsigned int te[256];
	__shared__ unsigned char box[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned int s[4] = { counter.x, counter.y, counter.z, counter.w + i }, t[4];

	for (int j = threadIdx.x; j < 256; j += blockDim.x) {
		unsigned int v = table[j], twice = (v << 1 ^ (v & 0x80 ? 0x1b : 0)) & 255;

		box[j] = v;
		te[j] = twice << 24 | v << 16 | v << 8 | (twice ^ v);
	}
	__syncthreads();
#pragma unroll
	for (int c = 0; c < 4; c++)
		s[c] ^= round_key[c];
#pragma unroll
	for (int r = 1; r < 10; r++) {
#pragma unroll
		for (int c = 0; c < 4; c++)
			t[c] = te[s[c] >> 24] ^ rotate(te[s[(c + 1) % 4] >> 16 & 255], 8) ^
			       rotate(te[s[(c + 2) % 4] >> 8 & 255], 16) ^
			       rotate(te[s[(c + 3) % 4] & 255], 24) ^ round_key[4 * r + c];
#pragma unroll
		for (int c = 0; c < 4; c++)
			s[c] = t[c];
	}
#pragma unroll
	for (int c = 0; c < 4; c++)
		t[c] = ((unsigned int)box[s[c] >> 24] << 24 |
			box[s[(c + 1) % 4] >> 16 & 255] << 16 |
			box[s[(c + 2) % 4] >> 8 & 255] << 8 | box[s[(c + 3) % 4] & 255]) ^
		       round_key[40 + c];
	out[i] = make_uint4(t[0], t[1], t[2], t[3]);
}

int main(void)
{
	static const unsigned char key[16] = {
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	};
	static const unsigned int expected[4] = { 0x69c4e0d8, 0x6a7b0430, 0xd8cdb780, 0x70b4c55a };
	static unsigned int got[BLOCKS][4];
	unsigned int w[44], in[4] = { 0x00112233, 0x44556677, 0x8899aabb, 0xccddeeff }, want[4];
	unsigned char *d_table;
	uint4 *d_out;
	int wrong = 0;

	make_sbox();
	expand(key, w);
	CHECK(cudaMalloc(&d_table, 256));
	CHECK(cudaMalloc(&d_out, sizeof(got)));
	CHECK(cudaMemcpy(d_table, sbox, 256, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToSymbol(round_key, w, sizeof(w)));
	encrypt<<<BLOCKS / 256, 256>>>(d_table, make_uint4(in[0], in[1], in[2], in[3]), d_out);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_out, sizeof(got), cudaMemcpyDeviceToHost));
	wrong += memcmp(got[0], expected, sizeof(expected)) != 0;
	for (int i = 0; i < BLOCKS; i++, in[3]++) {
		encrypt_cpu(w, in, want);
		wrong += memcmp(got[i], want, sizeof(want)) != 0;
	}
	return verdict(!wrong, "the standard's example and %d blocks, %d wrong", BLOCKS, wrong);
}
