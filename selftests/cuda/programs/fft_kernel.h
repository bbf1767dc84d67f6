/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * FFT of 2^LOG_N points in single precision, in place: a transform each block; sign -1 forward, 1
 * back (not scaled).
 */
#ifndef KVGPU_SELFTESTS_CUDA_FFT_KERNEL_H
#define KVGPU_SELFTESTS_CUDA_FFT_KERNEL_H

enum { MAX_THREADS = 512 };

template <int LOG_N> struct shape {
	enum {
		N = 1 << LOG_N,
		HALF = N / 2,
		THREADS = HALF < MAX_THREADS ? HALF : MAX_THREADS,
		PER = HALF / THREADS
	};
};

/* after each stage outputs go to where the next one reads them (Stockham) */
template <int LOG_N> __global__ void fft(float2 *data, float sign)
{
	typedef shape<LOG_N> S;
	__shared__ float s[S::N];
	float2 a[S::PER], b[S::PER], *mine = data + (size_t)blockIdx.x * S::N;
	int t = threadIdx.x;

#pragma unroll
	for (int i = 0; i < S::PER; i++) {
		a[i] = mine[t + i * S::THREADS];
		b[i] = mine[t + i * S::THREADS + S::HALF];
	}
#pragma unroll
	for (int stage = 0; stage < LOG_N; stage++) {
		int m = 1 << stage;

#pragma unroll
		for (int i = 0; i < S::PER; i++) {
			int j = t + i * S::THREADS, k = j & (m - 1);
			float c, w, x, y;

			sincospif(sign * k / m, &w, &c);
			x = b[i].x * c - b[i].y * w;
			y = b[i].x * w + b[i].y * c;
			b[i] = make_float2(a[i].x - x, a[i].y - y);
			a[i] = make_float2(a[i].x + x, a[i].y + y);
		}
		if (stage == LOG_N - 1)
			break;
#pragma unroll
		for (int part = 0; part < 2; part++) {
			__syncthreads();
#pragma unroll
			for (int i = 0; i < S::PER; i++) {
				int j = t + i * S::THREADS, k = j & (m - 1), at = 2 * (j - k) + k;

				s[at] = part ? a[i].y : a[i].x;
				s[at + m] = part ? b[i].y : b[i].x;
			}
			__syncthreads();
#pragma unroll
			for (int i = 0; i < S::PER; i++) {
				float va = s[t + i * S::THREADS],
				      vb = s[t + i * S::THREADS + S::HALF];

				if (part) {
					a[i].y = va;
					b[i].y = vb;
				} else {
					a[i].x = va;
					b[i].x = vb;
				}
			}
		}
	}
#pragma unroll
	for (int i = 0; i < S::PER; i++) {
		mine[t + i * S::THREADS] = a[i];
		mine[t + i * S::THREADS + S::HALF] = b[i];
	}
}

#endif
