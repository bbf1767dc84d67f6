// SPDX-License-Identifier: GPL-2.0-only
/*
 * Textures and surfaces at file scope, bound to memory, pitched memory and arrays, and a texture
 * object of an array.
 */
#include "../programs/check.h"

enum { W = 64, H = 16 };

texture<float, cudaTextureType1D, cudaReadModeElementType> line;
texture<float, cudaTextureType2D, cudaReadModeElementType> plane;
texture<uchar4, cudaTextureType2D, cudaReadModeNormalizedFloat> colors;
surface<void, cudaSurfaceType2D> screen;

/* the cubin's names are others */
namespace room {
texture<int, cudaTextureType1D, cudaReadModeElementType> numbers;
}
namespace {
texture<int, cudaTextureType1D, cudaReadModeElementType> hidden;
}
static texture<int, cudaTextureType1D, cudaReadModeElementType> local;

__global__ void from_line(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = tex1Dfetch(line, n - 1 - i);
}

__global__ void from_plane(float *out, float dx, float dy)
{
	int x = threadIdx.x, y = blockIdx.x;

	out[y * W + x] = tex2D(plane, x + dx, y + dy);
}

__global__ void from_colors(float4 *out)
{
	out[blockIdx.x * W + threadIdx.x] = tex2D(colors, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}

__global__ void from_named(int *out)
{
	out[0] = tex1Dfetch(room::numbers, 0);
	out[1] = tex1Dfetch(hidden, 1);
	out[2] = tex1Dfetch(local, 2);
}

__global__ void from_object(cudaTextureObject_t t, float *out)
{
	out[blockIdx.x * W + threadIdx.x] =
		tex2D<float>(t, (threadIdx.x + 0.5f) / W, (blockIdx.x + 0.5f) / H);
}

__global__ void to_screen(float scale)
{
	surf2Dwrite(threadIdx.x * scale + blockIdx.x, screen, threadIdx.x * 4, blockIdx.x);
}

static float in[H][W], out[H][W], *d_out;
static int wrong;

static void fetch(void)
{
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost));
}

static void check(const char *what, int dx, int dy)
{
	for (int y = 0; y < H; y++) {
		for (int x = 0; x < W; x++) {
			int sx = x + dx < 0  ? 0 :
				 x + dx >= W ? W - 1 :
					       x + dx,
			    sy = y + dy < 0  ? 0 :
				 y + dy >= H ? H - 1 :
					       y + dy;

			if (out[y][x] != in[sy][sx]) {
				printf("%s: %d %d is %g, not %g\n", what, x, y, out[y][x],
				       in[sy][sx]);
				wrong++;
				return;
			}
		}
	}
}

static void memory(void)
{
	float *d;
	size_t offset = 77, pitch;

	CHECK(cudaMalloc(&d, sizeof(in)));
	CHECK(cudaMemcpy(d, in, sizeof(in), cudaMemcpyHostToDevice));
	CHECK(cudaBindTexture(&offset, line, d, sizeof(in)));
	wrong += offset != 0;
	from_line<<<W * H / 128, 128>>>(d_out, W * H);
	fetch();
	for (int i = 0; i < W * H; i++)
		wrong += (&out[0][0])[i] != (&in[0][0])[W * H - 1 - i];
	CHECK(cudaUnbindTexture(line));
	CHECK(cudaFree(d));
	CHECK(cudaMallocPitch(&d, &pitch, W * 4, H));
	CHECK(cudaMemcpy2D(d, pitch, in, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	plane.addressMode[0] = plane.addressMode[1] = cudaAddressModeClamp;
	CHECK(cudaBindTexture2D(&offset, plane, d, W, H, pitch));
	from_plane<<<H, W>>>(d_out, -2.5f, 3.5f);
	fetch();
	check("pitched", -3, 3);
	CHECK(cudaFree(d));
}

static void named(void)
{
	int h[3] = { 11, 22, 33 }, *d;

	CHECK(cudaMalloc(&d, sizeof(h)));
	CHECK(cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice));
	CHECK(cudaBindTexture(NULL, room::numbers, d, sizeof(h)));
	CHECK(cudaBindTexture(NULL, hidden, d));
	CHECK(cudaBindTexture(NULL, local, d, sizeof(h)));
	from_named<<<1, 1>>>((int *)d_out);
	fetch();
	wrong += memcmp(out, h, sizeof(h)) != 0;
	CHECK(cudaFree(d));
}

static void arrays(void)
{
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
	cudaResourceDesc resource = {};
	cudaTextureDesc how = {}, said;
	cudaTextureObject_t object;
	cudaArray_t a;

	CHECK(cudaMallocArray(&a, &desc, W, H, cudaArraySurfaceLoadStore));
	CHECK(cudaMemcpy2DToArray(a, 0, 0, in, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	CHECK(cudaBindTextureToArray(plane, a));
	from_plane<<<H, W>>>(d_out, 1.5f, 0.5f);
	fetch();
	check("array", 1, 0);
	plane.filterMode = cudaFilterModeLinear;
	CHECK(cudaBindTextureToArray(plane, a));
	from_plane<<<H, W>>>(d_out, 1.0f, 0.5f);
	fetch();
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W - 1; x++)
			wrong += out[y][x] != (in[y][x] + in[y][x + 1]) / 2;
	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = a;
	how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
	how.normalizedCoords = 1;
	CHECK(cudaCreateTextureObject(&object, &resource, &how, NULL));
	CHECK(cudaGetTextureObjectTextureDesc(&said, object));
	wrong += said.normalizedCoords != 1 || said.readMode != cudaReadModeElementType ||
		 said.addressMode[1] != cudaAddressModeClamp;
	from_object<<<H, W>>>(object, d_out);
	fetch();
	check("object", 0, 0);
	CHECK(cudaDestroyTextureObject(object));
	CHECK(cudaBindSurfaceToArray(screen, a));
	to_screen<<<H, W>>>(2);
	CHECK(cudaMemcpy2DFromArray(out, W * 4, a, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
	for (int y = 0; y < H; y++)
		for (int x = 0; x < W; x++)
			wrong += out[y][x] != x * 2 + y;
	CHECK(cudaFreeArray(a));
}

static void normalized(void)
{
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<uchar4>();
	static uchar4 pixels[H][W];
	static float4 got[H][W];
	cudaArray_t a;
	float4 *d;

	for (int i = 0; i < W * H; i++)
		pixels[0][i] = make_uchar4(i, i * 3, 255, i >> 2);
	CHECK(cudaMallocArray(&a, &desc, W, H));
	CHECK(cudaMemcpyToArray(a, 0, 0, pixels, sizeof(pixels), cudaMemcpyHostToDevice));
	CHECK(cudaMalloc(&d, sizeof(got)));
	CHECK(cudaBindTextureToArray(colors, a));
	from_colors<<<H, W>>>(d);
	CHECK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
	for (int i = 0; i < W * H; i++) {
		uchar4 p = pixels[0][i];
		float4 g = got[0][i];

		wrong += fabsf(g.x - p.x / 255.0f) > 1e-6f || fabsf(g.y - p.y / 255.0f) > 1e-6f ||
			 g.z != 1 || fabsf(g.w - p.w / 255.0f) > 1e-6f;
	}
	CHECK(cudaFreeArray(a));
	CHECK(cudaFree(d));
}

int main(void)
{
	for (int i = 0; i < W * H; i++)
		in[0][i] = i * 0.5f - 3;
	CHECK(cudaMalloc(&d_out, sizeof(out)));
	memory();
	named();
	arrays();
	normalized();
	return verdict(!wrong, "%d wrong", wrong);
}
