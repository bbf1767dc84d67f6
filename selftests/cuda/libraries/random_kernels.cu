// SPDX-License-Identifier: GPL-2.0-only
/*
 * cuRAND in kernels: sequence i that curand_init() makes has the numbers i, i + SEQUENCES, .. of
 * the host's generator with the same seed, in the order that cuRAND's manual calls legacy. Numbers
 * of other distributions have the right mean and variance.
 */
#include "numbers.h"

#include <curand.h>
#include <curand_kernel.h>

enum { THREADS = 512, BITS = 6, EACH = 24 };
static const unsigned long long SEED = 20250101;

struct drawn {
	unsigned int *bits, *poisson;
	float *uniform, *normal;
	double *wide;
};

template <class S> __global__ void draw(drawn d)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	S s;

	/* the first half of the bits without an offset, the second with one */
	curand_init(SEED, i, 0, &s);
	for (int j = 0; j < BITS / 2; j++)
		d.bits[j * THREADS + i] = curand(&s);
	curand_init(SEED, i, BITS / 2, &s);
	for (int j = BITS / 2; j < BITS; j++)
		d.bits[j * THREADS + i] = curand(&s);
	for (int j = 0; j < EACH; j++) {
		d.uniform[j * THREADS + i] = curand_uniform(&s);
		d.normal[j * THREADS + i] = curand_normal(&s);
		d.wide[j * THREADS + i] = curand_normal_double(&s);
		d.poisson[j * THREADS + i] = curand_poisson(&s, 3.0);
	}
}

/* the bounds are those of random.cu */
template <class T>
static void moments(const char *name, const std::vector<T> &v, double mean, double variance)
{
	double sum = 0, squares = 0;

	for (T x : v) {
		sum += x;
		squares += (double)x * x;
	}
	sum /= v.size();
	within(fabs(sum - mean), 0.06 * sqrt(variance), "%s: mean", name);
	within(fabs(squares / v.size() - sum * sum - variance), 0.12 * variance, "%s: variance",
	       name);
}

/* the host's number @j of sequence @i is number at(i, j) */
template <class S, class F>
static void all(const char *name, curandRngType_t type, unsigned int sequences, F at)
{
	on_device<unsigned int> bits(BITS * THREADS), poisson(EACH * THREADS);
	on_device<float> uniform(EACH * THREADS), normal(EACH * THREADS);
	on_device<double> wide(EACH * THREADS);
	drawn d = { bits, poisson, uniform, normal, wide };
	std::vector<unsigned int> want(sequences * BITS), got;
	curandGenerator_t host;
	int different = 0;

	OK(curandCreateGeneratorHost(&host, type));
	OK(curandSetPseudoRandomGeneratorSeed(host, SEED));
	OK(curandSetGeneratorOrdering(host, CURAND_ORDERING_PSEUDO_LEGACY));
	OK(curandGenerate(host, want.data(), want.size()));
	OK(curandDestroyGenerator(host));
	draw<S><<<THREADS / 64, 64>>>(d);
	CHECK_LAUNCH();
	got = bits.back();
	for (int j = 0; j < BITS; j++)
		for (int i = 0; i < THREADS; i++)
			different += got[j * THREADS + i] != want[at(i, j)];
	within(different, 0, "%s: bits", name);
	moments(name, uniform.back(), 0.5, 1. / 12);
	moments(name, normal.back(), 0, 1);
	moments(name, wide.back(), 0, 1);
	moments(name, poisson.back(), 3, 3);
}

int main(void)
{
	auto one_each = [](int i, int j) { return j * 4096 + i; };
	/* four numbers of a sequence lie side by side */
	auto four_each = [](int i, int j) { return (j / 4 * 65536 + i) * 4 + j % 4; };

	all<curandStateXORWOW_t>("XORWOW", CURAND_RNG_PSEUDO_XORWOW, 4096, one_each);
	all<curandStateMRG32k3a_t>("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 4096, one_each);
	all<curandStatePhilox4_32_10_t>("Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10, 65536,
					four_each);
	return verdict(!wrong, "%d of %d comparisons are out of bounds", wrong, compared);
}
