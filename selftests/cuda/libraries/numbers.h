/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the programs: numbers of all four kinds, on the host and on the device. */
#ifndef KVGPU_SELFTESTS_CUDA_NUMBERS_H
#define KVGPU_SELFTESTS_CUDA_NUMBERS_H

#include "../programs/check.h"

#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

#include <cuda_runtime.h>

typedef std::complex<double> wide; /* what references are computed in */

/* the same for a library's own codes, of which 0 is success */
#define OK(call)                                                                              \
	do {                                                                                  \
		int code_ = (int)(call);                                                      \
		if (code_) {                                                                  \
			printf("FAIL: %s:%d: %s: %d (CUDA: %s)\n", __FILE__, __LINE__, #call, \
			       code_, cudaGetErrorString(cudaPeekAtLastError()));             \
			exit(2);                                                              \
		}                                                                             \
	} while (0)

/* TYPE's real part has this unit roundoff */
template <class T> struct kind {
	static T make(double re, double)
	{
		return (T)re;
	}
	static wide widen(T v)
	{
		return v;
	}
	static double eps()
	{
		return std::numeric_limits<T>::epsilon();
	}
};
template <> struct kind<float2> {
	static float2 make(double re, double im)
	{
		return make_float2(re, im);
	}
	static wide widen(float2 v)
	{
		return wide(v.x, v.y);
	}
	static double eps()
	{
		return std::numeric_limits<float>::epsilon();
	}
};
template <> struct kind<double2> {
	static double2 make(double re, double im)
	{
		return make_double2(re, im);
	}
	static wide widen(double2 v)
	{
		return wide(v.x, v.y);
	}
	static double eps()
	{
		return std::numeric_limits<double>::epsilon();
	}
};

/* numbers of -1 to 1 */
template <class T> std::vector<T> numbers(size_t n, uint32_t seed)
{
	std::vector<T> v(n);

	for (auto &x : v) {
		double re = 2 * random_float(&seed) - 1, im = 2 * random_float(&seed) - 1;

		x = kind<T>::make(re, im);
	}
	return v;
}

/* memory of the device with a copy of a vector, freed at the end of the block */
template <class T> class on_device {
    public:
	explicit on_device(size_t n, T all = T()) : on_device(std::vector<T>(n, all))
	{
	}
	explicit on_device(const std::vector<T> &from) : n(from.size())
	{
		CHECK(cudaMalloc(&p, n * sizeof(T) + 1));
		CHECK(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	}
	~on_device()
	{
		cudaFree(p);
	}
	on_device(const on_device &) = delete;
	operator T *()
	{
		return p;
	}
	std::vector<T> back() const
	{
		std::vector<T> v(n);

		CHECK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
		return v;
	}

    private:
	T *p;
	size_t n;
};

/* what failed is told, and counted in verdict() of main() */
static int wrong, compared;
static inline void within(double error, double bound, const char *fmt, ...)
{
	va_list args;

	compared++;
	if (error <= bound) /* NaN is not */
		return;
	wrong++;
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf(": %g off, %g may be\n", error, bound);
}

#endif
