// SPDX-License-Identifier: GPL-2.0-only
/*
 * Half precision as storage: every half to float, floats to half in all roundings, a dot product of
 * half2.
 */
#include <cuda_fp16.h>

#include "check.h"

enum { N = 1 << 16 };

__global__ void widen(const __half *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = __half2float(in[i]);
}

__global__ void narrow(const float *in, __half *nearest, __half *down, __half *up, __half *zero)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	nearest[i] = __float2half(in[i]);
	down[i] = __float2half_rd(in[i]);
	up[i] = __float2half_ru(in[i]);
	zero[i] = __float2half_rz(in[i]);
}

__global__ void dot(const __half2 *a, const __half2 *b, float *out)
{
	__shared__ float s[256];
	float sum = 0;

	for (int i = threadIdx.x; i < N / 2; i += 256) {
		float2 x = __half22float2(a[i]), y = __half22float2(b[i]);

		sum += x.x * y.x + x.y * y.y;
	}
	s[threadIdx.x] = sum;
	for (int d = 128; d; d /= 2) {
		__syncthreads();
		if (threadIdx.x < d)
			s[threadIdx.x] += s[threadIdx.x + d];
	}
	if (!threadIdx.x)
		*out = s[0];
}

static double value(unsigned int h)
{
	int e = h >> 10 & 31, m = h & 1023;
	double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);

	return h & 0x8000 ? -v : v;
}

/* mode: 0 nearest even, 1 down, 2 up, 3 towards zero */
static unsigned int rounded(double x, int mode)
{
	unsigned int sign = signbit(x) ? 0x8000 : 0, low = 0, high = 0x7c00;
	double a = fabs(x), half_way;
	bool away;

	if (a == INFINITY)
		return sign | 0x7c00;
	while (high - low > 1) {
		unsigned int mid = (low + high) / 2;

		if (value(mid) <= a)
			low = mid;
		else
			high = mid;
	}
	if (value(low) == a)
		return sign | low;
	half_way = (value(low) + (high == 0x7c00 ? 65536.0 : value(high))) / 2;
	away = mode == 0 ? a > half_way || (a == half_way && low & 1) :
	       mode == 3 ? false :
			   (mode == 2) == !sign;
	return sign | (away ? high : low);
}

int main(void)
{
	static unsigned short halves[N], got[4][N];
	static float wide[N], in[N];
	__half *d_half, *d_out[4];
	float *d_float, sum;
	double want = 0, size = 0;
	int wrong = 0, wrong_modes = 0;
	uint32_t seed = 26;

	for (int i = 0; i < N; i++) {
		halves[i] = i;
		uint32_t bits = random_bits(&seed);
		memcpy(&in[i], &bits, 4);
		if (i % 4)
			in[i] = (float)ldexp((int)(bits % 8192) - 4096,
					     (int)(bits >> 16) % 28 - 26);
		if (in[i] != in[i])
			in[i] = 1.0f / 3;
	}
	CHECK(cudaMalloc(&d_half, N * 2));
	CHECK(cudaMalloc(&d_float, N * 4));
	for (int m = 0; m < 4; m++)
		CHECK(cudaMalloc(&d_out[m], N * 2));
	CHECK(cudaMemcpy(d_half, halves, N * 2, cudaMemcpyHostToDevice));
	widen<<<N / 256, 256>>>(d_half, d_float);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(wide, d_float, N * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(d_float, in, N * 4, cudaMemcpyHostToDevice));
	narrow<<<N / 256, 256>>>(d_float, d_out[0], d_out[1], d_out[2], d_out[3]);
	CHECK_LAUNCH();
	for (int m = 0; m < 4; m++)
		CHECK(cudaMemcpy(got[m], d_out[m], N * 2, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		double v = value(i);

		wrong += v == v ? wide[i] != v || signbit(wide[i]) != signbit(v) :
				  wide[i] == wide[i];
		for (int m = 0; m < 4; m++)
			wrong_modes += got[m][i] != rounded(in[i], m);
	}
	for (int i = 0; i < N; i++)
		halves[i] = rounded(random_float(&seed) - 0.5, 0);
	CHECK(cudaMemcpy(d_half, halves, N * 2, cudaMemcpyHostToDevice));
	dot<<<1, 256>>>((__half2 *)d_half, (__half2 *)d_out[0], d_float);
	CHECK(cudaMemcpy(d_out[0], halves, N * 2, cudaMemcpyHostToDevice));
	dot<<<1, 256>>>((__half2 *)d_half, (__half2 *)d_out[0], d_float);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(&sum, d_float, 4, cudaMemcpyDeviceToHost));
	for (int i = 0; i < N; i++) {
		want += value(halves[i]) * value(halves[i]);
		size += fabs(value(halves[i]) * value(halves[i]));
	}
	return verdict(!wrong && !wrong_modes && fabs(sum - want) < 1e-5 * size,
		       "all %d halves, %d wrong; %d floats in 4 roundings, %d wrong; dot %.2f of %.2f",
		       N, wrong, N, wrong_modes, sum, want);
}
