// SPDX-License-Identifier: GPL-2.0-only
/*
 * fft [n [batches]]: FFTs in single precision, a block to each, exchanged through shared memory;
 * without arguments all sizes. Some outputs are compared with a DFT in double precision; then
 * backward. Prints the kernel's time.
 */
#include "check.h"
#include "fft_kernel.h"

static double compare(const float2 *in, const float2 *out, int n)
{
	double worst = 0, size = sqrt((double)n);
	int step = n > 64 ? n / 16 - 1 : 1;

	for (int k = 0; k < n; k += step) {
		double re = 0, im = 0;

		for (int i = 0; i < n; i++) {
			double angle = -2 * M_PI * ((long long)k * i % n) / n;

			re += in[i].x * cos(angle) - in[i].y * sin(angle);
			im += in[i].x * sin(angle) + in[i].y * cos(angle);
		}
		worst = fmax(worst, hypot(out[k].x - re, out[k].y - im) / size);
	}
	return worst;
}

template <int LOG_N> static bool run(int batches)
{
	typedef shape<LOG_N> S;
	size_t n = (size_t)S::N * batches;
	float2 *in = new float2[n], *out = new float2[n], *d;
	cudaEvent_t start, stop;
	double forward, back = 0;
	uint32_t seed = 18;
	float ms;

	for (size_t i = 0; i < n; i++)
		in[i] = make_float2(random_float(&seed) - 0.5f, random_float(&seed) - 0.5f);
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	CHECK(cudaMalloc(&d, n * sizeof(float2)));
	CHECK(cudaMemcpy(d, in, n * sizeof(float2), cudaMemcpyHostToDevice));
	CHECK(cudaEventRecord(start));
	fft<LOG_N><<<batches, S::THREADS>>>(d, -1);
	CHECK_LAUNCH();
	CHECK(cudaEventRecord(stop));
	CHECK(cudaMemcpy(out, d, n * sizeof(float2), cudaMemcpyDeviceToHost));
	CHECK(cudaEventElapsedTime(&ms, start, stop));
	forward = fmax(compare(in, out, S::N), compare(in + n - S::N, out + n - S::N, S::N));
	fft<LOG_N><<<batches, S::THREADS>>>(d, 1);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(out, d, n * sizeof(float2), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < n; i++)
		back = fmax(back, hypot(out[i].x / S::N - in[i].x, out[i].y / S::N - in[i].y));
	printf("n %5d, %4d batches, %8.3f ms, worst error forward %.1e, there and back %.1e\n", S::N, batches, ms, forward, back);
	CHECK(cudaEventDestroy(start));
	CHECK(cudaEventDestroy(stop));
	CHECK(cudaFree(d));
	delete[] in;
	delete[] out;
	return forward < 2e-6 && back < 2e-6;
}

static bool run_size(int n, int batches)
{
	switch (n) {
	case 8: return run<3>(batches);
	case 16: return run<4>(batches);
	case 32: return run<5>(batches);
	case 64: return run<6>(batches);
	case 128: return run<7>(batches);
	case 256: return run<8>(batches);
	case 512: return run<9>(batches);
	case 1024: return run<10>(batches);
	case 2048: return run<11>(batches);
	case 4096: return run<12>(batches);
	case 8192: return run<13>(batches);
	}
	printf("no size %d\n", n);
	return false;
}

int main(int argc, char **argv)
{
	int n = argument(argc, argv, 1, 0), bad = 0, sizes = 0;

	for (int i = 8; i <= 8192; i *= 2)
		if (!n || n == i) {
			bad += !run_size(i, argument(argc, argv, 2, 16384 / i));
			sizes++;
		}
	return verdict(sizes && !bad, "FFTs of %d sizes, %d wrong", sizes, bad);
}
