// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Mandelbrot set in double and single precision, with roundings spelled out so that every pixel
 * must match.
 */
#include "check.h"

enum { W = 160, H = 120, MOST = 200 };

__global__ void in_double(unsigned short *out)
{
	int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y,
	    n = 0;
	double cx = __dadd_rn(-2.25, __dmul_rn(px, 3.0 / W)),
	       cy = __dadd_rn(-1.25, __dmul_rn(py, 2.5 / H)), x = 0, y = 0;

	while (n < MOST) {
		double xx = __dmul_rn(x, x), yy = __dmul_rn(y, y);

		if (__dadd_rn(xx, yy) > 4)
			break;
		y = fma(__dadd_rn(x, x), y, cy);
		x = __dadd_rn(__dsub_rn(xx, yy), cx);
		n++;
	}
	out[py * W + px] = n;
}

__global__ void in_single(unsigned short *out)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < W * H;
	     i += gridDim.x * blockDim.x) {
		float cx = __fadd_rn(-2.25f, __fmul_rn(i % W, 3.0f / W)),
		      cy = __fadd_rn(-1.25f, __fmul_rn(i / W, 2.5f / H)), x = 0, y = 0;
		int n;

		for (n = 0; n < MOST; n++) {
			float xx = __fmul_rn(x, x), yy = __fmul_rn(y, y);

			if (__fadd_rn(xx, yy) > 4)
				break;
			y = fmaf(__fadd_rn(x, x), y, cy);
			x = __fadd_rn(__fsub_rn(xx, yy), cx);
		}
		out[i] = n;
	}
}

template <typename T> static int iterations(int px, int py)
{
	volatile T step_x = px * (T(3) / W), step_y = py * (T(2.5) / H), cx = T(-2.25) + step_x,
		   cy = T(-1.25) + step_y, x = 0, y = 0;
	int n;

	for (n = 0; n < MOST; n++) {
		volatile T xx = x * x, yy = y * y, sum = xx + yy, d = xx - yy;

		if (sum > 4)
			break;
		y = fma(x + x, y, cy);
		x = d + cx;
	}
	return n;
}

int main(void)
{
	static unsigned short a[W * H], b[W * H];
	unsigned short *d;
	int wrong_double = 0, wrong_single = 0, inside = 0;

	CHECK(cudaMalloc(&d, sizeof(a)));
	in_double<<<dim3(W / 16, H / 8), dim3(16, 8)>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(a, d, sizeof(a), cudaMemcpyDeviceToHost));
	in_single<<<26, 128>>>(d);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(b, d, sizeof(b), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++) {
		wrong_double += a[i] != iterations<double>(i % W, i / W);
		wrong_single += b[i] != iterations<float>(i % W, i / W);
		inside += a[i] == MOST;
	}
	return verdict(!wrong_double && !wrong_single && inside > 1000, "%d x %d pixels, %d inside, wrong: %d double, %d single", W, H,
		       inside, wrong_double, wrong_single);
}
