// SPDX-License-Identifier: GPL-2.0-only
/*
 * cuRAND: each generator of the GPU gives the numbers of the same generator on the host, with the
 * same seed and offset, in two calls: bits exactly, numbers within some roundoffs, since the host's
 * log(), sin() and cos() are others. Their mean and variance are the distribution's. MT19937 is
 * left out: its seeds take two minutes on the model.
 */
#include "numbers.h"

#include <curand.h>

enum { N = 6000, DIMENSIONS = 3 };

struct generator {
	curandRngType_t type;
	const char *name;
	bool quasi, wide;
	curandOrdering_t ordering; /* 0: the default's */
} generators[] = {
	{ CURAND_RNG_PSEUDO_XORWOW, "XORWOW" },
	/* the default's has so many sequences that seeding them takes half a minute on the model */
	{ CURAND_RNG_PSEUDO_MRG32K3A, "MRG32k3a", false, false, CURAND_ORDERING_PSEUDO_LEGACY },
	{ CURAND_RNG_PSEUDO_MTGP32, "MTGP32" },
	{ CURAND_RNG_PSEUDO_PHILOX4_32_10, "Philox" },
	{ CURAND_RNG_QUASI_SOBOL32, "Sobol 32", true },
	{ CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, "scrambled Sobol 32", true },
	{ CURAND_RNG_QUASI_SOBOL64, "Sobol 64", true, true },
	{ CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, "scrambled Sobol 64", true, true },
};

/* the same generator on both sides, the host's first */
struct pair {
	curandGenerator_t g[2];
	const char *name;

	explicit pair(const generator &what) : name(what.name)
	{
		OK(curandCreateGeneratorHost(&g[0], what.type));
		OK(curandCreateGenerator(&g[1], what.type));
		for (auto one : g) {
			if (what.quasi)
				OK(curandSetQuasiRandomGeneratorDimensions(one, DIMENSIONS));
			else
				OK(curandSetPseudoRandomGeneratorSeed(one, 20250101));
			if (what.ordering)
				OK(curandSetGeneratorOrdering(one, what.ordering));
			if (what.type != CURAND_RNG_PSEUDO_MTGP32)
				OK(curandSetGeneratorOffset(one, 1234));
		}
	}
	~pair()
	{
		for (auto one : g)
			OK(curandDestroyGenerator(one));
	}
};

/* two calls of each side: the results of the host and the device, one behind the other */
template <class T, class F> static std::vector<T> both(pair &p, std::vector<T> *host, F generate)
{
	std::vector<T> h(2 * N), d(2 * N);
	on_device<T> there(d);

	for (int call = 0; call < 2; call++) {
		OK(generate(p.g[0], h.data() + call * N));
		OK(generate(p.g[1], there + call * N));
	}
	*host = h;
	return there.back();
}

/*
 * Mean and variance: the bounds are far beyond what 12,000 numbers vary, and far within what wrong
 * ones are.
 */
template <class T, class F>
static void numbers_of(pair &p, const char *kind_of, double bound, double mean, double variance,
		       F generate)
{
	std::vector<T> host, device = both<T>(p, &host, generate);
	double worst = 0, sum = 0, squares = 0;

	for (int i = 0; i < 2 * N; i++) {
		worst = fmax(worst, error_of(device[i], host[i]));
		sum += device[i];
		squares += (double)device[i] * device[i];
	}
	sum /= 2 * N;
	within(worst, bound, "%s, %s", p.name, kind_of);
	within(fabs(sum - mean), 0.06 * sqrt(variance), "%s, %s: mean", p.name, kind_of);
	within(fabs(squares / (2 * N) - sum * sum - variance), 0.12 * variance, "%s, %s: variance",
	       p.name, kind_of);
}

template <class T, class F> static void bits(pair &p, F generate)
{
	std::vector<T> host, device = both<T>(p, &host, generate);
	int different = 0;

	for (int i = 0; i < 2 * N; i++)
		different += host[i] != device[i];
	within(different, 0, "%s: bits", p.name);
	std::sort(device.begin(), device.end());
	/* a sequence's dimensions are permutations of each other, but for scrambled ones */
	device.erase(std::unique(device.begin(), device.end()), device.end());
	within(device.size() < 2 * N / DIMENSIONS - 10, 0, "%s: bits repeat themselves", p.name);
}

static void all(const generator &what)
{
	/* of a lognormal distribution */
	const double mean = 0.2, deviation = 0.5, lmean = exp(mean + deviation * deviation / 2),
		     lvariance = (exp(deviation * deviation) - 1) * lmean * lmean;
	pair p(what);

	if (what.wide)
		bits<unsigned long long>(p, [](curandGenerator_t g, unsigned long long *to) {
			return curandGenerateLongLong(g, to, N);
		});
	else
		bits<unsigned int>(p, [](curandGenerator_t g, unsigned int *to) {
			return curandGenerate(g, to, N);
		});
	numbers_of<float>(p, "uniform", 0, 0.5, 1. / 12, [](curandGenerator_t g, float *to) {
		return curandGenerateUniform(g, to, N);
	});
	numbers_of<double>(p, "uniform, double", 0, 0.5, 1. / 12,
			   [](curandGenerator_t g, double *to) {
				   return curandGenerateUniformDouble(g, to, N);
			   });
	numbers_of<float>(p, "normal", 1e-5, mean, deviation * deviation,
			  [=](curandGenerator_t g, float *to) {
				  return curandGenerateNormal(g, to, N, mean, deviation);
			  });
	/* the host's MTGP32 computes these in single precision */
	numbers_of<double>(p, "normal, double",
			   what.type == CURAND_RNG_PSEUDO_MTGP32 ? 1e-6 : 1e-12, mean,
			   deviation * deviation, [=](curandGenerator_t g, double *to) {
				   return curandGenerateNormalDouble(g, to, N, mean, deviation);
			   });
	numbers_of<float>(p, "log-normal", 1e-5, lmean, lvariance,
			  [=](curandGenerator_t g, float *to) {
				  return curandGenerateLogNormal(g, to, N, mean, deviation);
			  });
	numbers_of<unsigned int>(p, "Poisson", 0, 4.5, 4.5,
				 [](curandGenerator_t g, unsigned int *to) {
					 return curandGeneratePoisson(g, to, N, 4.5);
				 });
}

int main(void)
{
	for (auto &g : generators)
		all(g);
	return verdict(!wrong, "%d of %d comparisons are out of bounds", wrong, compared);
}
