// SPDX-License-Identifier: GPL-2.0-only
/* A kernel makes a signal of two waves, cuFFT transforms it: there are two lines and no others. */
#include <math.h>
#include <stdio.h>

#include <cufft.h>

#define N 1000

static float2 spectrum[N];

__global__ void waves(float2 *signal)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < N)
		signal[i] =
			make_float2(cospif(2.f * 50 * i / N) + .5f * cospif(2.f * 120 * i / N), 0);
}

#define OK(call)                                               \
	do {                                                   \
		int code = (int)(call);                        \
		if (code) {                                    \
			printf("FAIL: %s: %d\n", #call, code); \
			return 2;                              \
		}                                              \
	} while (0)

int main(void)
{
	double worst = 0;
	cufftHandle plan;
	float2 *signal;

	OK(cudaMalloc((void **)&signal, sizeof(spectrum)));
	waves<<<8, 128>>>(signal);
	OK(cudaGetLastError());
	OK(cufftPlan1d(&plan, N, CUFFT_C2C, 1));
	OK(cufftExecC2C(plan, signal, signal, CUFFT_FORWARD));
	OK(cudaMemcpy(spectrum, signal, sizeof(spectrum), cudaMemcpyDeviceToHost));
	OK(cufftDestroy(plan));
	for (int i = 0; i < N; i++) {
		double line = i == 50 || i == N - 50 ? N / 2 : i == 120 || i == N - 120 ? N / 4 : 0;

		worst = fmax(worst, hypot(spectrum[i].x - line, spectrum[i].y));
	}
	/* twice log2(N) roundoffs of the spectrum's norm, and as much of the signal's */
	if (!(worst < 4 * 10 * 1.2e-7 * N)) {
		printf("FAIL: %g off\n", worst);
		return 1;
	}
	printf("PASS: %d points, %g off\n", N, worst);
	return 0;
}
