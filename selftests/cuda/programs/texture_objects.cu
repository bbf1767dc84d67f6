// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texture objects: linear memory, pitched lines, arrays of several shapes; points and linear
 * filters as CUDA's manual defines them; address modes; integers read as fractions.
 */
#include "check.h"

enum { W = 64, H = 32, D = 8, N = 2048 };

static int bad;

static void expect(const char *what, double worst, double limit)
{
	if (!(worst <= limit)) {
		printf("%s: worst error %g\n", what, worst);
		bad++;
	}
}

__global__ void get_1d_linear(cudaTextureObject_t t, float4 *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex1Dfetch<float4>(t, i);
}

template <typename T> __global__ void get_2d(cudaTextureObject_t t, const float2 *at, T *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex2D<T>(t, at[i].x, at[i].y);
}

__global__ void get_1d(cudaTextureObject_t t, const float2 *at, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex1D<float>(t, at[i].x);
}

__global__ void get_3d(cudaTextureObject_t t, const float2 *at, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex3D<float>(t, at[i].x, at[i].y, at[i].x * D / W);
}

__global__ void get_layer(cudaTextureObject_t t, const float2 *at, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex2DLayered<float>(t, at[i].x, at[i].y, i % D);
}

__global__ void get_gather(cudaTextureObject_t t, const float2 *at, float4 *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex2Dgather<float4>(t, at[i].x, at[i].y, 0);
}

static cudaTextureObject_t make(const cudaResourceDesc &r, cudaTextureAddressMode mode,
				cudaTextureFilterMode filter, bool normalized,
				cudaTextureReadMode read)
{
	cudaTextureDesc d;
	cudaTextureObject_t t;

	memset(&d, 0, sizeof(d));
	d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
	d.filterMode = filter;
	d.readMode = read;
	d.normalizedCoords = normalized;
	CHECK(cudaCreateTextureObject(&t, &r, &d, NULL));
	return t;
}

/* index for a coordinate outside; -1: border */
static int wrap(int i, int n, cudaTextureAddressMode mode)
{
	switch (mode) {
	case cudaAddressModeClamp: return i < 0 ? 0 : i >= n ? n - 1 : i;
	case cudaAddressModeWrap: return (i % n + n) % n;
	case cudaAddressModeMirror:
		i = (i % (2 * n) + 2 * n) % (2 * n);
		return i < n ? i : 2 * n - 1 - i;
	default: return i < 0 || i >= n ? -1 : i;
	}
}

static float image[H][W], volume[D][H][W];

static double texel(int x, int y, cudaTextureAddressMode mode)
{
	x = wrap(x, W, mode);
	y = wrap(y, H, mode);
	return x < 0 || y < 0 ? 0 : image[y][x];
}

/* of a filter: rounded to 8 bits */
static double fraction(double v)
{
	return floor((v - floor(v)) * 256 + 0.5) / 256;
}

static double linear(double x, double y, cudaTextureAddressMode mode)
{
	int ix = (int)floor(x - 0.5), iy = (int)floor(y - 0.5);
	double a = fraction(x - 0.5), b = fraction(y - 0.5);

	return (1 - b) * ((1 - a) * texel(ix, iy, mode) + a * texel(ix + 1, iy, mode)) +
	       b * ((1 - a) * texel(ix, iy + 1, mode) + a * texel(ix + 1, iy + 1, mode));
}

static float2 at[N], *d_at;
static float got[4 * N], *d_got;

static void fetch(void)
{
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(got, d_got, sizeof(got), cudaMemcpyDeviceToHost));
}

static cudaResourceDesc of_array(cudaArray_t a)
{
	cudaResourceDesc r;

	memset(&r, 0, sizeof(r));
	r.resType = cudaResourceTypeArray;
	r.res.array.array = a;
	return r;
}

static void two_dimensions(void)
{
	const cudaTextureAddressMode modes[] = { cudaAddressModeClamp, cudaAddressModeBorder,
						 cudaAddressModeWrap, cudaAddressModeMirror };
	static float2 scaled[N];
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	cudaArray_t array;
	cudaResourceDesc r;
	cudaTextureObject_t t;

	CHECK(cudaMallocArray(&array, &f, W, H, cudaArrayTextureGather));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, image, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	r = of_array(array);
	for (int m = 0; m < 4; m++) {
		bool normalized = m >= 2;
		double worst[2] = { 0, 0 };

		for (int i = 0; i < N; i++)
			scaled[i] = normalized ? make_float2(at[i].x / W, at[i].y / H) : at[i];
		CHECK(cudaMemcpy(d_at, scaled, sizeof(scaled), cudaMemcpyHostToDevice));
		for (int l = 0; l < 2; l++) {
			t = make(r, modes[m], l ? cudaFilterModeLinear : cudaFilterModePoint,
				 normalized, cudaReadModeElementType);
			get_2d<float><<<N / 128, 128>>>(t, d_at, d_got);
			fetch();
			CHECK(cudaDestroyTextureObject(t));
			for (int i = 0; i < N; i++) {
				double want = l ? linear(at[i].x, at[i].y, modes[m]) :
						  texel(floor(at[i].x), floor(at[i].y), modes[m]);

				worst[l] = fmax(worst[l], fabs(got[i] - want));
			}
		}
		expect("2D, points", worst[0], 0);
		/* a step of the fraction more or less */
		expect("2D, linear", worst[1], 1.01 * 255 / 256);
	}
	CHECK(cudaMemcpy(d_at, at, sizeof(at), cudaMemcpyHostToDevice));
	t = make(r, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeElementType);
	get_gather<<<N / 128, 128>>>(t, d_at, (float4 *)d_got);
	fetch();
	double worst = 0;
	for (int i = 0; i < N; i++) {
		int x = floor(at[i].x - 0.5), y = floor(at[i].y - 0.5);
		const int dx[] = { 0, 1, 1, 0 }, dy[] = { 1, 1, 0, 0 };

		for (int k = 0; k < 4; k++)
			worst = fmax(worst, fabs(got[4 * i + k] - texel(x + dx[k], y + dy[k],
									cudaAddressModeClamp)));
	}
	expect("gather", worst, 0);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(array));
}

static void fractions(void)
{
	static uchar4 bytes[H][W];
	cudaChannelFormatDesc f = cudaCreateChannelDesc<uchar4>();
	cudaTextureObject_t t;
	cudaResourceDesc r;
	cudaArray_t array;
	uchar4 *pitched;
	size_t pitch;
	double worst = 0;
	int wrong = 0;

	for (int i = 0; i < W * H; i++)
		bytes[i / W][i % W] = make_uchar4(i, i * 3, 255 - i, i / W);
	CHECK(cudaMallocArray(&array, &f, W, H));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, bytes, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	r = of_array(array);
	t = make(r, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeNormalizedFloat);
	get_2d<float4><<<N / 128, 128>>>(t, d_at, (float4 *)d_got);
	fetch();
	for (int i = 0; i < N; i++) {
		uchar4 b = bytes[wrap(floor(at[i].y), H, cudaAddressModeClamp)]
				[wrap(floor(at[i].x), W, cudaAddressModeClamp)];

		worst = fmax(worst, fabs(got[4 * i] - b.x / 255.0) +
					    fabs(got[4 * i + 1] - b.y / 255.0) +
					    fabs(got[4 * i + 2] - b.z / 255.0) +
					    fabs(got[4 * i + 3] - b.w / 255.0));
	}
	expect("bytes as fractions", worst, 1e-6);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(array));

	CHECK(cudaMallocPitch(&pitched, &pitch, W * 4, H));
	CHECK(cudaMemcpy2D(pitched, pitch, bytes, W * 4, W * 4, H, cudaMemcpyHostToDevice));
	memset(&r, 0, sizeof(r));
	r.resType = cudaResourceTypePitch2D;
	r.res.pitch2D.devPtr = pitched;
	r.res.pitch2D.desc = f;
	r.res.pitch2D.width = W;
	r.res.pitch2D.height = H;
	r.res.pitch2D.pitchInBytes = pitch;
	t = make(r, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeElementType);
	get_2d<uchar4><<<N / 128, 128>>>(t, d_at, (uchar4 *)d_got);
	fetch();
	for (int i = 0; i < N; i++)
		wrong += memcmp(&((uchar4 *)got)[i],
				&bytes[wrap(floor(at[i].y), H, cudaAddressModeClamp)]
				      [wrap(floor(at[i].x), W, cudaAddressModeClamp)],
				4) != 0;
	expect("pitched bytes", wrong, 0);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFree(pitched));
}

static void other_shapes(void)
{
	static float4 line[N];
	cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
	cudaMemcpy3DParms p = { 0 };
	cudaTextureObject_t t;
	cudaArray_t array;
	cudaResourceDesc r;
	float4 *d_line;
	double worst = 0;

	for (int i = 0; i < N; i++)
		line[i] = make_float4(i, -i, i * 0.5f, 7);
	CHECK(cudaMalloc(&d_line, sizeof(line)));
	CHECK(cudaMemcpy(d_line, line, sizeof(line), cudaMemcpyHostToDevice));
	memset(&r, 0, sizeof(r));
	r.resType = cudaResourceTypeLinear;
	r.res.linear.devPtr = d_line;
	r.res.linear.desc = cudaCreateChannelDesc<float4>();
	r.res.linear.sizeInBytes = sizeof(line);
	t = make(r, cudaAddressModeClamp, cudaFilterModePoint, false, cudaReadModeElementType);
	get_1d_linear<<<N / 128, 128>>>(t, (float4 *)d_got);
	fetch();
	expect("linear memory", memcmp(got, line, sizeof(line)) != 0, 0);
	CHECK(cudaDestroyTextureObject(t));

	CHECK(cudaMallocArray(&array, &f, W));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, image[3], W * 4, W * 4, 1, cudaMemcpyHostToDevice));
	t = make(of_array(array), cudaAddressModeClamp, cudaFilterModePoint, false,
		 cudaReadModeElementType);
	get_1d<<<N / 128, 128>>>(t, d_at, d_got);
	fetch();
	for (int i = 0; i < N; i++)
		worst = fmax(worst, fabs(got[i] -
					 image[3][wrap(floor(at[i].x), W, cudaAddressModeClamp)]));
	expect("1D array", worst, 0);
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(array));

	for (int kind = 0; kind < 2; kind++) {
		worst = 0;
		CHECK(cudaMalloc3DArray(&array, &f, make_cudaExtent(W, H, D),
					kind ? cudaArrayLayered : 0));
		p.srcPtr = make_cudaPitchedPtr(volume, W * 4, W, H);
		p.dstArray = array;
		p.extent = make_cudaExtent(W, H, D);
		p.kind = cudaMemcpyHostToDevice;
		CHECK(cudaMemcpy3D(&p));
		t = make(of_array(array), cudaAddressModeClamp, cudaFilterModePoint, false,
			 cudaReadModeElementType);
		if (kind)
			get_layer<<<N / 128, 128>>>(t, d_at, d_got);
		else
			get_3d<<<N / 128, 128>>>(t, d_at, d_got);
		fetch();
		for (int i = 0; i < N; i++) {
			int z = kind ? i % D :
				       wrap(floor(at[i].x * D / W), D, cudaAddressModeClamp);
			int y = wrap(floor(at[i].y), H, cudaAddressModeClamp),
			    x = wrap(floor(at[i].x), W, cudaAddressModeClamp);

			worst = fmax(worst, fabs(got[i] - volume[z][y][x]));
		}
		expect(kind ? "layers" : "3D array", worst, 0);
		CHECK(cudaDestroyTextureObject(t));
		CHECK(cudaFreeArray(array));
	}
}

int main(void)
{
	uint32_t seed = 32;

	for (int i = 0; i < W * H; i++)
		image[i / W][i % W] = random_bits(&seed) % 256;
	for (int i = 0; i < W * H * D; i++)

			volume[0][0][i] = random_bits(&seed) % 1000;
	/* on both sides, never on a limit between texels */
	for (int i = 0; i < N; i++)
		at[i] = make_float2((int)(random_bits(&seed) % (W * 8 * 3)) / 8.0f - W + 0.0625f,
				    (int)(random_bits(&seed) % (H * 8 * 3)) / 8.0f - H + 0.0625f);
	CHECK(cudaMalloc(&d_at, sizeof(at)));
	CHECK(cudaMalloc(&d_got, sizeof(got)));
	two_dimensions();
	fractions();
	other_shapes();
	return verdict(!bad, "textures of 1, 2, 3 dimensions, layers, 4 address modes, 2 filters, gather; %d kinds wrong", bad);
}
