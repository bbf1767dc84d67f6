// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bitonic sort of keys with values, by a template over key types: short strides in shared memory,
 * long ones in global.
 */
#include <algorithm>
#include <vector>

#include "check.h"

enum { N = 1 << 14, BLOCK = 512 };

template <typename K> __device__ void order(K &ka, int &va, K &kb, int &vb, bool up)
{
	if ((ka > kb) == up && ka != kb) {
		K k = ka;
		int v = va;

		ka = kb;
		va = vb;
		kb = k;
		vb = v;
	}
}

template <typename K> __global__ void in_shared(K *key, int *value, int from, int to)
{
	extern __shared__ __align__(16) unsigned char raw[];
	K *k = (K *)raw;
	int *v = (int *)(k + 2 * BLOCK), t = threadIdx.x, base = blockIdx.x * 2 * BLOCK;

	for (int i = t; i < 2 * BLOCK; i += BLOCK) {
		k[i] = key[base + i];
		v[i] = value[base + i];
	}
	for (int size = from; size <= to; size *= 2)
		for (int stride = min(size / 2, BLOCK); stride; stride /= 2) {
			int a = 2 * t - (t & (stride - 1));

			__syncthreads();
			order(k[a], v[a], k[a + stride], v[a + stride], !((base + a) & size));
		}
	__syncthreads();
	for (int i = t; i < 2 * BLOCK; i += BLOCK) {
		key[base + i] = k[i];
		value[base + i] = v[i];
	}
}

template <typename K> __global__ void in_global(K *key, int *value, int size, int stride)
{
	int t = blockIdx.x * BLOCK + threadIdx.x, a = 2 * t - (t & (stride - 1));

	order(key[a], value[a], key[a + stride], value[a + stride], !(a & size));
}

template <typename K> static int run(K (*make)(uint32_t *))
{
	std::vector<K> key(N), sorted(N), got(N);
	std::vector<int> value(N);
	size_t shared = 2 * BLOCK * (sizeof(K) + sizeof(int));
	K *dk;
	int *dv, wrong = 0;
	uint32_t seed = 4;

	for (int i = 0; i < N; i++) {
		key[i] = make(&seed);
		value[i] = i;
	}
	sorted = key;
	std::sort(sorted.begin(), sorted.end());
	CHECK(cudaMalloc(&dk, N * sizeof(K)));
	CHECK(cudaMalloc(&dv, N * sizeof(int)));
	CHECK(cudaMemcpy(dk, key.data(), N * sizeof(K), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dv, value.data(), N * sizeof(int), cudaMemcpyHostToDevice));
	in_shared<K><<<N / 2 / BLOCK, BLOCK, shared>>>(dk, dv, 2, 2 * BLOCK);
	for (int size = 4 * BLOCK; size <= N; size *= 2) {
		for (int stride = size / 2; stride > BLOCK; stride /= 2)
			in_global<K><<<N / 2 / BLOCK, BLOCK>>>(dk, dv, size, stride);
		in_shared<K><<<N / 2 / BLOCK, BLOCK, shared>>>(dk, dv, size, size);
	}
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got.data(), dk, N * sizeof(K), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(value.data(), dv, N * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++)
		wrong += got[i] != sorted[i] || value[i] < 0 || value[i] >= N ||
			 key[value[i]] != sorted[i];
	CHECK(cudaFree(dk));
	CHECK(cudaFree(dv));
	return wrong;
}

static unsigned int make_word(uint32_t *seed) { return random_bits(seed) % 5000; }
static float make_float(uint32_t *seed) { return random_float(seed) - 0.5f; }
static long long make_long(uint32_t *seed)
{
	return (long long)(int)random_bits(seed) * 12345678901ll;
}

int main(void)
{
	int words = run<unsigned int>(make_word), floats = run<float>(make_float),
	    longs = run<long long>(make_long);

	return verdict(!words && !floats && !longs, "%d keys with values: %d unsigned, %d float, %d 64-bit wrong", N, words, floats,
		       longs);
}
