// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texture references, as programs up to CUDA 11 have them: bound to memory, to lines with a pitch,
 * to arrays, and bound anew.
 */
#include "check.h"

enum { W = 48, H = 20, N = 1000 };

texture<int, cudaTextureType1D, cudaReadModeElementType> line;
texture<float, cudaTextureType2D, cudaReadModeElementType> picture;
texture<unsigned short, cudaTextureType2D, cudaReadModeNormalizedFloat> shades;

__global__ void from_line(int *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = tex1Dfetch(line, n - 1 - i);
}

__global__ void from_picture(float *out)
{
	out[blockIdx.x * W + threadIdx.x] = tex2D(picture, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}

__global__ void smooth(float *out)
{
	out[blockIdx.x * W + threadIdx.x] =
		tex2D(shades, (threadIdx.x + 1.0f) / W, (blockIdx.x + 0.5f) / H);
}

int main(void)
{
	static int in[N], out[N];
	static float image[H][W], got[H][W];
	static unsigned short shade[H][W];
	cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(),
			      format16 = cudaCreateChannelDesc<unsigned short>();
	int *d_in, *d_out, wrong = 0;
	float *d_pitched, *d_got;
	cudaArray_t array, array16;
	size_t pitch, offset = 1;
	uint32_t seed = 33;

	for (int i = 0; i < N; i++)
		in[i] = random_bits(&seed);
	for (int i = 0; i < W * H; i++) {
		image[i / W][i % W] = random_float(&seed);
		shade[i / W][i % W] = random_bits(&seed);
	}
	CHECK(cudaMalloc(&d_in, sizeof(in)));
	CHECK(cudaMalloc(&d_out, sizeof(out)));
	CHECK(cudaMalloc(&d_got, sizeof(got)));
	CHECK(cudaMemcpy(d_in, in, sizeof(in), cudaMemcpyHostToDevice));
	for (int pass = 0; pass < 2; pass++) {
		int n = N >> pass;

		CHECK(cudaBindTexture(&offset, line, d_in + pass * 256, n * sizeof(int)));
		wrong += offset != 0;
		from_line<<<CEIL_DIV(n, 128), 128>>>(d_out, n);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(out, d_out, n * 4, cudaMemcpyDeviceToHost));
		for (int i = 0; i < n; i++)
			wrong += out[i] != in[n - 1 - i + pass * 256];
		CHECK(cudaUnbindTexture(line));
	}
	CHECK(cudaMallocPitch(&d_pitched, &pitch, W * 4, H));
	CHECK(cudaMemcpy2D(d_pitched, pitch, image, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	CHECK(cudaBindTexture2D(&offset, picture, d_pitched, format, W, H, pitch));
	from_picture<<<H, W>>>(d_got);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_got, sizeof(got), cudaMemcpyDeviceToHost));
	wrong += memcmp(got, image, sizeof(got)) != 0;

	CHECK(cudaMallocArray(&array, &format, W, H));
	for (int i = 0; i < W * H; i++)
		image[i / W][i % W] += 1;
	CHECK(cudaMemcpy2DToArray(array, 0, 0, image, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	CHECK(cudaBindTextureToArray(picture, array, format));
	from_picture<<<H, W>>>(d_got);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_got, sizeof(got), cudaMemcpyDeviceToHost));
	wrong += memcmp(got, image, sizeof(got)) != 0;
	CHECK(cudaUnbindTexture(picture));

	CHECK(cudaMallocArray(&array16, &format16, W, H));
	CHECK(cudaMemcpy2DToArray(array16, 0, 0, shade, W * 2, W * 2, H, cudaMemcpyHostToDevice));
	shades.normalized = true;
	shades.filterMode = cudaFilterModeLinear;
	shades.addressMode[0] = cudaAddressModeWrap;
	shades.addressMode[1] = cudaAddressModeWrap;
	CHECK(cudaBindTextureToArray(shades, array16));
	smooth<<<H, W>>>(d_got);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_got, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++)
		wrong += fabs(got[i / W][i % W] - (shade[i / W][i % W] / 65535.0 +
						   shade[i / W][(i + 1) % W] / 65535.0) /
							  2) > 0.005;
	CHECK(cudaFreeArray(array));
	CHECK(cudaFreeArray(array16));
	return verdict(!wrong, "references bound to memory, pitched lines and arrays, %d wrong", wrong);
}
