// SPDX-License-Identifier: GPL-2.0-only
/* NPP: images and signals, some calls of each library, beside loops. */
#include "numbers.h"

#include <npp.h>

enum { WIDTH = 203, HEIGHT = 77, LENGTH = 5003, LEVELS = 17 };

static std::vector<Npp8u> bytes(size_t n, uint32_t seed)
{
	std::vector<Npp8u> v(n);

	for (auto &b : v)
		b = random_bits(&seed) >> 24;
	return v;
}

static void images(void)
{
	const NppiSize size = { WIDTH, HEIGHT };
	const int pitch = WIDTH + 13;
	auto a = bytes(pitch * HEIGHT, 80), b = bytes(pitch * HEIGHT, 81);
	on_device<Npp8u> da(a), db(b), dsum(b);
	on_device<Npp64f> dresult(2, 0);
	on_device<Npp32s> dcount(LEVELS - 1, 0);
	int words, more, bad = 0;
	double mean = 0, squares = 0;
	std::vector<Npp32s> count(LEVELS - 1);

	/* sums end at 255; half of a sum is rounded to nearest */
	OK(nppiAdd_8u_C1RSfs(da, pitch, db, pitch, dsum, pitch, size, 0));
	auto sum = dsum.back();
	for (int y = 0; y < HEIGHT; y++)
		for (int x = 0; x < pitch; x++) {
			int at = x + y * pitch,
			    want = x < WIDTH ? std::min(a[at] + b[at], 255) : b[at];

			bad += sum[at] != want;
			if (x >= WIDTH)
				continue;
			mean += a[at];
			squares += a[at] * a[at];
			if (a[at] < 240) /* the last level is the first that is not counted */
				count[a[at] / 15]++;
		}
	within(bad, 0, "two images' sum");
	OK(nppiMeanStdDevGetBufferHostSize_8u_C1R(size, &words));
	OK(nppiHistogramEvenGetBufferSize_8u_C1R(size, LEVELS, &more));
	on_device<Npp8u> room(std::max(words, more));
	OK(nppiMean_StdDev_8u_C1R(da, pitch, size, room, dresult, dresult + 1));
	auto result = dresult.back();
	mean /= WIDTH * HEIGHT;
	within(error_of(result[0], mean), 1e-12, "an image's mean");
	within(error_of(result[1], sqrt(squares / (WIDTH * HEIGHT) - mean * mean)), 1e-9,
	       "an image's deviation");
	OK(nppiHistogramEven_8u_C1R(da, pitch, size, dcount, LEVELS, 0, 240, room));
	within(dcount.back() != count, 0, "a histogram");
}

static void signals(void)
{
	auto a = numbers<float>(LENGTH, 82), b = numbers<float>(LENGTH, 83);
	on_device<float> da(a), db(b), dc(b), dsum(1, 0);
	double total = 0, magnitudes = 0;
	int words, bad = 0;

	OK(nppsMul_32f(da, db, dc, LENGTH));
	auto c = dc.back();
	for (int i = 0; i < LENGTH; i++) {
		bad += c[i] != a[i] * b[i];
		total += a[i];
		magnitudes += fabs(a[i]);
	}
	within(bad, 0, "two signals' product");
	OK(nppsSumGetBufferSize_32f(LENGTH, &words));
	on_device<Npp8u> room(words, 0);
	OK(nppsSum_32f(da, LENGTH, dsum, room));
	within(fabs(dsum.back()[0] - total), LENGTH * 1.2e-7 * magnitudes, "a signal's sum");
}

int main(void)
{
	images();
	signals();
	return verdict(!wrong, "%d of %d results are wrong", wrong, compared);
}
