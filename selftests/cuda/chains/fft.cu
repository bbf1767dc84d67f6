// SPDX-License-Identifier: GPL-2.0-only
/*
 * FFTs in single precision: transforms of n points in one launch, as many as make POINTS in all.
 * All outputs are compared with an FFT in double precision.
 */
#include "chain.h"

#include "../programs/fft_kernel.h"

enum { POINTS = 1 << 18 };

static void host_fft(double *re, double *im, int n)
{
	for (int i = 1, j = 0; i < n; i++) {
		int bit = n >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j |= bit;
		if (i < j) {
			double t = re[i];

			re[i] = re[j];
			re[j] = t;
			t = im[i];
			im[i] = im[j];
			im[j] = t;
		}
	}
	for (int half = 1; half < n; half *= 2)
		for (int k = 0; k < half; k++) {
			double c = cos(-M_PI * k / half), s = sin(-M_PI * k / half);

			for (int i = k; i < n; i += 2 * half) {
				double x = re[i + half] * c - im[i + half] * s,
				       y = re[i + half] * s + im[i + half] * c;

				re[i + half] = re[i] - x;
				im[i + half] = im[i] - y;
				re[i] += x;
				im[i] += y;
			}
		}
}

static bool fft_right(const struct job *j)
{
	const float2 *in = (const float2 *)j->buffer[0].in, *out = (const float2 *)j->buffer[0].out;
	double *re = new double[j->n], *im = new double[j->n], worst = 0;

	for (int first = 0; first < POINTS; first += j->n) {
		for (int i = 0; i < j->n; i++) {
			re[i] = in[first + i].x;
			im[i] = in[first + i].y;
		}
		host_fft(re, im, j->n);
		for (int i = 0; i < j->n; i++) {
			double e = hypot(out[first + i].x - re[i], out[first + i].y - im[i]) /
				   sqrt((double)j->n);

			worst = e > worst || e != e ? e : worst;
		}
	}
	delete[] re;
	delete[] im;
	return worst < 2e-6;
}

template <int LOG_N> static void launch(const struct job *j, void **d)
{
	fft<LOG_N><<<POINTS >> LOG_N, shape<LOG_N>::THREADS>>>((float2 *)d[0], -1);
}

template <int LOG_N> static void make(struct job *j)
{
	struct buffer *b = add_buffer(j, POINTS * sizeof(float2), true, true);
	uint32_t seed = 18;

	for (int i = 0; i < 2 * POINTS; i++)
		((float *)b->in)[i] = random_float(&seed) - 0.5f;
	j->kernel = (const void *)fft<LOG_N>;
	j->launch = launch<LOG_N>;
	j->right = fft_right;
}

const struct chain fft_chains[] = {
	{ "fft-8", 8, 8, 3, make<3> }, { "fft-16", 16, 16, 3, make<4> }, { "fft-64", 64, 64, 3,
		make<6> },
	{ "fft-256", 256, 256, 3, make<8> }, { "fft-512", 512, 512, 3, make<9> }, { "fft-1024",
		1024, 1024, 3, make<10> },
	{ "fft-2048", 2048, 2048, 3, make<11> }, { "fft-4096", 4096, 4096, 3, make<12> },
		{ "fft-8192", 8192, 8192, 3, make<13> },
	{ NULL },
};
