// SPDX-License-Identifier: GPL-2.0-only
/*
 * cuFFT beside sums in double: sizes of powers and products of 2, 3, 5 and 7, primes, two and three
 * dimensions, batches with strides, real and complex, both directions. The bound is of the error's
 * norm, relative to the result's, which grows with log2 of the size, as cuFFT's documentation says:
 * twice that many roundoffs, and 20 times for what is no product of small primes.
 */
#include "numbers.h"

#include <cufft.h>

typedef std::vector<wide> series;

/* along one axis: LENGTH points, STRIDE apart, for each other index */
static void along(series &x, int length, int stride, int sign)
{
	series root(length), out(length);

	for (int i = 0; i < length; i++)
		root[i] = std::polar(1., sign * 2 * M_PI * i / length);
	for (size_t begin = 0; begin < x.size(); begin++) {
		if (begin / stride % length)
			continue;
		for (int k = 0; k < length; k++) {
			out[k] = 0;
			for (int i = 0; i < length; i++)
				out[k] += x[begin + (size_t)i * stride] *
					  root[(size_t)i * k % length];
		}
		for (int k = 0; k < length; k++)
			x[begin + (size_t)k * stride] = out[k];
	}
}

static series transformed(series x, const std::vector<int> &n, int sign)
{
	int stride = 1;

	for (size_t d = n.size(); d--;) {
		along(x, n[d], stride, sign);
		stride *= n[d];
	}
	return x;
}

template <class T> static series widen(const std::vector<T> &v)
{
	series x;

	for (auto &e : v)
		x.push_back(kind<T>::widen(e));
	return x;
}

static double distance(const series &a, const series &b)
{
	double d = 0, size = 0;

	for (size_t i = 0; i < a.size(); i++) {
		d += std::norm(a[i] - b[i]);
		size += std::norm(b[i]);
	}
	return a.size() == b.size() ? sqrt(d / size) : INFINITY;
}

static double bound(const std::vector<int> &n, double eps)
{
	double total = 1;
	bool small = true;

	for (int length : n) {
		total *= length;
		for (int p : { 2, 3, 5, 7 })
			while (length % p == 0)
				length /= p;
		small &= length == 1;
	}
	return (small ? 2 : 20) * eps * (1 + log2(total));
}

static void execute(cufftHandle p, float2 *in, float2 *out, int d)
{
	OK(cufftExecC2C(p, in, out, d));
}
static void execute(cufftHandle p, double2 *in, double2 *out, int d)
{
	OK(cufftExecZ2Z(p, in, out, d));
}
static void execute(cufftHandle p, float *in, float2 *out)
{
	OK(cufftExecR2C(p, in, out));
}
static void execute(cufftHandle p, double *in, double2 *out)
{
	OK(cufftExecD2Z(p, in, out));
}
static void execute(cufftHandle p, float2 *in, float *out)
{
	OK(cufftExecC2R(p, in, out));
}
static void execute(cufftHandle p, double2 *in, double *out)
{
	OK(cufftExecZ2D(p, in, out));
}

static const char *text(const std::vector<int> &n)
{
	static char line[64];
	int at = 0;

	for (int length : n)
		at += snprintf(line + at, sizeof(line) - at, "%s%d", at ? " x " : "", length);
	return line;
}

/* to another place and back in place */
template <class T> static void complex_numbers(std::vector<int> n, cufftType type)
{
	size_t total = 1;

	for (int length : n)
		total *= length;
	auto in = numbers<T>(total, 20 + total);
	on_device<T> din(in), dout(in);
	cufftHandle plan;

	OK(cufftPlanMany(&plan, n.size(), n.data(), NULL, 1, 0, NULL, 1, 0, type, 1));
	execute(plan, din, dout, CUFFT_FORWARD);
	within(distance(widen(dout.back()), transformed(widen(in), n, -1)),
	       bound(n, kind<T>::eps()), "%s forward, %s", text(n),
	       type == CUFFT_C2C ? "C2C" : "Z2Z");
	execute(plan, dout, dout, CUFFT_INVERSE);
	series back = widen(dout.back());
	for (auto &v : back)
		v /= total;
	within(distance(back, widen(in)), 2 * bound(n, kind<T>::eps()), "%s and back, %s", text(n),
	       type == CUFFT_C2C ? "C2C" : "Z2Z");
	OK(cufftDestroy(plan));
}

/* half of the spectrum, and back */
template <class R, class T>
static void real_numbers(std::vector<int> n, cufftType there, cufftType back)
{
	size_t total = 1, last = n.back(), half = last / 2 + 1, k = 0;

	for (int length : n)
		total *= length;
	auto in = numbers<R>(total, 30 + total);
	on_device<R> din(in), again(in);
	on_device<T> dout(total / last * half);
	series reference = transformed(widen(in), n, -1), want;
	cufftHandle plan, inverse;

	OK(cufftPlanMany(&plan, n.size(), n.data(), NULL, 1, 0, NULL, 1, 0, there, 1));
	OK(cufftPlanMany(&inverse, n.size(), n.data(), NULL, 1, 0, NULL, 1, 0, back, 1));
	execute(plan, din, dout);
	for (; k < total; k++)
		if (k % last < half)
			want.push_back(reference[k]);
	within(distance(widen(dout.back()), want), bound(n, kind<R>::eps()), "%s of real numbers",
	       text(n));
	execute(inverse, dout, again);
	series got = widen(again.back());
	for (auto &v : got)
		v /= total;
	within(distance(got, widen(in)), 2 * bound(n, kind<R>::eps()),
	       "%s to real numbers and back", text(n));
	OK(cufftDestroy(plan));
	OK(cufftDestroy(inverse));
}

/* BATCH transforms, whose points are STRIDE apart, into ones that lie one behind the other */
static void batches(int length, int batch, int stride)
{
	std::vector<int> n(1, length), embed(1, length * stride);
	auto in = numbers<float2>((size_t)length * stride * batch, 40);
	on_device<float2> din(in), dout((size_t)length * batch);
	cufftHandle plan;

	OK(cufftPlanMany(&plan, 1, n.data(), embed.data(), stride, length * stride, n.data(), 1,
			 length, CUFFT_C2C, batch));
	execute(plan, din, dout, CUFFT_FORWARD);
	series got = widen(dout.back());
	for (int b = 0; b < batch; b++) {
		series one;

		for (int i = 0; i < length; i++)
			one.push_back(kind<float2>::widen(in[((size_t)b * length + i) * stride]));
		within(distance(series(got.begin() + b * length, got.begin() + (b + 1) * length),
				transformed(one, n, -1)),
		       bound(n, kind<float2>::eps()), "%d of a batch of %d points", b, length);
	}
	OK(cufftDestroy(plan));
}

int main(void)
{
	for (int n : { 1, 2, 8, 60, 128, 243, 256, 343, 1000, 1024, 1009, 3125, 4096 }) {
		complex_numbers<float2>({ n }, CUFFT_C2C);
		complex_numbers<double2>({ n }, CUFFT_Z2Z);
		if (n > 1) {
			real_numbers<float, float2>({ n }, CUFFT_R2C, CUFFT_C2R);
			real_numbers<double, double2>({ n }, CUFFT_D2Z, CUFFT_Z2D);
		}
	}
	for (auto &n :
	     std::vector<std::vector<int> >{ { 32, 48 }, { 8, 12, 10 }, { 17, 16 }, { 64, 64 } }) {
		complex_numbers<float2>(n, CUFFT_C2C);
		complex_numbers<double2>(n, CUFFT_Z2Z);
		real_numbers<float, float2>(n, CUFFT_R2C, CUFFT_C2R);
		real_numbers<double, double2>(n, CUFFT_D2Z, CUFFT_Z2D);
	}
	batches(64, 7, 3);
	batches(100, 5, 1);
	return verdict(!wrong, "%d of %d transforms are out of bounds", wrong, compared);
}
