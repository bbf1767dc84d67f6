// SPDX-License-Identifier: GPL-2.0-only
/* SHA-256 (FIPS 180-4) of many messages, and a search for a hash that begins with zeros. */
#include "check.h"

enum { N = 2000, LENGTH = 150 };

#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))

#define ROUND_CONSTANTS                                                                         \
	{                                                                                       \
		0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,         \
			0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, \
			0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, \
			0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, \
			0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, \
			0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, \
			0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, \
			0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, \
			0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, \
			0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, \
			0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2                          \
	}

__constant__ unsigned int k_device[64] = ROUND_CONSTANTS;
static const unsigned int k_host[64] = ROUND_CONSTANTS;

static __host__ __device__ void block(unsigned int *h, const unsigned char *p)
{
#ifdef __CUDA_ARCH__
	const unsigned int *k = k_device;
#else
	const unsigned int *k = k_host;
#endif
	unsigned int w[16], s[8];

	for (int i = 0; i < 16; i++)
		w[i] = (unsigned int)p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 |
		       p[4 * i + 3];
	for (int i = 0; i < 8; i++)
		s[i] = h[i];
	for (int i = 0; i < 64; i++) {
		unsigned int t1, t2;

		if (i >= 16) {
			unsigned int a = w[(i + 1) & 15], b = w[(i + 14) & 15];

			w[i & 15] += (ROTR(a, 7) ^ ROTR(a, 18) ^ a >> 3) + w[(i + 9) & 15] +
				     (ROTR(b, 17) ^ ROTR(b, 19) ^ b >> 10);
		}
		t1 = s[7] + (ROTR(s[4], 6) ^ ROTR(s[4], 11) ^ ROTR(s[4], 25)) +
		     ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i & 15];
		t2 = (ROTR(s[0], 2) ^ ROTR(s[0], 13) ^ ROTR(s[0], 22)) +
		     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		for (int j = 7; j; j--)
			s[j] = s[j - 1];
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		h[i] += s[i];
}

static __host__ __device__ void sha256(const unsigned char *message, int n, unsigned int *h)
{
	const unsigned int start[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
	unsigned char tail[128];
	int at = 0, rest, blocks;

	for (int i = 0; i < 8; i++)
		h[i] = start[i];
	for (; n - at >= 64; at += 64)
		block(h, message + at);
	rest = n - at;
	blocks = rest >= 56 ? 2 : 1;
	for (int i = 0; i < 64 * blocks; i++)
		tail[i] = i < rest ? message[at + i] : i == rest ? 0x80 : 0;
	for (int i = 0; i < 4; i++)
		tail[64 * blocks - 1 - i] = (unsigned int)n * 8 >> 8 * i;
	for (int i = 0; i < blocks; i++)
		block(h, tail + 64 * i);
}

__global__ void hash_all(const unsigned char *messages, const int *length, unsigned int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		sha256(messages + i * LENGTH, length[i], out + 8 * i);
}

__global__ void search(unsigned int *found)
{
	unsigned int nonce = blockIdx.x * blockDim.x + threadIdx.x, h[8];

	sha256((const unsigned char *)&nonce, 4, h);
	if (h[0] >> 20 == 0)
		atomicMin(found, nonce);
}

int main(void)
{
	static unsigned char messages[N][LENGTH];
	static int length[N];
	static unsigned int got[N][8];
	static const unsigned int abc[8] = { 0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
					     0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad };
	static const unsigned int two[8] = { 0x248d6a61, 0xd20638b8, 0xe5c02693, 0x0c3e6039,
					     0xa33ce459, 0x64ff2167, 0xf6ecedd4, 0x19db06c1 };
	unsigned char *d_messages;
	int *d_length, wrong = 0;
	unsigned int *d_out, *d_found, found = ~0u, want;
	uint32_t seed = 23;

	for (int i = 0; i < N; i++) {
		length[i] = i % (LENGTH + 1);
		for (int j = 0; j < LENGTH; j++)
			messages[i][j] = random_bits(&seed);
	}
	memcpy(messages[0], "abc", length[0] = 3);
	length[1] = 56;
	memcpy(messages[1], "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
	CHECK(cudaMalloc(&d_messages, sizeof(messages)));
	CHECK(cudaMalloc(&d_length, sizeof(length)));
	CHECK(cudaMalloc(&d_out, sizeof(got)));
	CHECK(cudaMalloc(&d_found, 4));
	CHECK(cudaMemcpy(d_messages, messages, sizeof(messages), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_length, length, sizeof(length), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d_found, &found, 4, cudaMemcpyHostToDevice));
	hash_all<<<CEIL_DIV(N, 64), 64>>>(d_messages, d_length, d_out);
	search<<<128, 128>>>(d_found);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_out, sizeof(got), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&found, d_found, 4, cudaMemcpyDeviceToHost));
	wrong += memcmp(got[0], abc, sizeof(abc)) != 0;
	wrong += memcmp(got[1], two, sizeof(two)) != 0;
	for (int i = 0; i < N; i++) {
		unsigned int h[8];

		sha256(messages[i], length[i], h);
		wrong += memcmp(h, got[i], sizeof(h)) != 0;
	}
	for (want = 0; want < 128 * 128; want++) {
		unsigned int h[8];

		sha256((const unsigned char *)&want, 4, h);
		if (h[0] >> 20 == 0)
			break;
	}
	if (want == 128 * 128)
		want = ~0u;
	return verdict(!wrong && found == want, "%d hashes, %d wrong; first with 12 zero bits: %u of %u", N, wrong, found, want);
}
