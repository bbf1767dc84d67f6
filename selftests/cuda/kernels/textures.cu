// SPDX-License-Identifier: GPL-2.0-only
// Texture functions on objects, many on references; queries.
#include <cuda_runtime.h>

typedef unsigned char uchar;

#define KERNEL(T, name, ...)                                                                      \
	__global__ void name##_##T(cudaTextureObject_t t, T *o, float x, float y, float z, int l) \
	{                                                                                         \
		float u = x + threadIdx.x;                                                        \
		o[threadIdx.x] = __VA_ARGS__;                                                     \
	}
#define ALL(T) \
KERNEL(T, fetch1, tex1Dfetch<T>(t, l + threadIdx.x)) \
KERNEL(T, tex1, tex1D<T>(t, u)) \
KERNEL(T, tex1l, tex1DLod<T>(t, u, z)) \
KERNEL(T, tex1g, tex1DGrad<T>(t, u, y, z)) \
KERNEL(T, tex2, tex2D<T>(t, u, y)) \
KERNEL(T, tex2l, tex2DLod<T>(t, u, y, z)) \
KERNEL(T, tex2g, tex2DGrad<T>(t, u, y, make_float2(x, z), make_float2(y, z))) \
KERNEL(T, tex3, tex3D<T>(t, u, y, z)) \
KERNEL(T, tex3l, tex3DLod<T>(t, u, y, z, x)) \
KERNEL(T, tex3g, tex3DGrad<T>(t, u, y, z, make_float4(x, z, y, 0), make_float4(y, z, x, 0))) \
KERNEL(T, layer1, tex1DLayered<T>(t, u, l)) \
KERNEL(T, layer1l, tex1DLayeredLod<T>(t, u, l, z)) \
KERNEL(T, layer1g, tex1DLayeredGrad<T>(t, u, l, y, z)) \
KERNEL(T, layer2, tex2DLayered<T>(t, u, y, l)) \
KERNEL(T, layer2l, tex2DLayeredLod<T>(t, u, y, l, z)) \
KERNEL(T, layer2g, tex2DLayeredGrad<T>(t, u, y, l, make_float2(x, z), make_float2(y, z))) \
KERNEL(T, cube, texCubemap<T>(t, u, y, z)) \
KERNEL(T, cubel, texCubemapLod<T>(t, u, y, z, x)) \
KERNEL(T, cubes, texCubemapLayered<T>(t, u, y, z, l)) \
KERNEL(T, cubesl, texCubemapLayeredLod<T>(t, u, y, z, l, x))
ALL(float)
ALL(float2) ALL(float4) ALL(int) ALL(int4) ALL(uint2) ALL(uchar) ALL(char4) ALL(ushort2) ALL(short)

#define GATHER(T)                                              \
	KERNEL(T, gather0, tex2Dgather<T>(t, u, y, 0))         \
	KERNEL(T, gather1, tex2Dgather<T>(t, u, y, 1))         \
		KERNEL(T, gather2, tex2Dgather<T>(t, u, y, 2)) \
			KERNEL(T, gather3, tex2Dgather<T>(t, u, y, 3))
	GATHER(float4) GATHER(int4) GATHER(uchar4)

		texture<float, cudaTextureType1D, cudaReadModeElementType> ref1;
texture<float4, cudaTextureType2D, cudaReadModeElementType> ref2;
texture<unsigned char, cudaTextureType2D, cudaReadModeNormalizedFloat> ref2n;
texture<int2, cudaTextureType3D, cudaReadModeElementType> ref3;
texture<float, cudaTextureType2DLayered, cudaReadModeElementType> ref2a;
texture<float, cudaTextureTypeCubemap, cudaReadModeElementType> refc;

__global__ void references(float *o, float x, float y, float z, int l)
{
	float u = x + threadIdx.x;

	o[0] = tex1Dfetch(ref1, l) + tex1D(ref1, u) + tex2D(ref2, u, y).z + tex2D(ref2n, u, y) +
	       tex3D(ref3, u, y, z).y;
	o[1] = tex2DLayered(ref2a, u, y, l) + texCubemap(refc, u, y, z) + tex2DLod(ref2, u, y, z).x;
	o[2] = tex2DGrad(ref2, u, y, make_float2(x, y), make_float2(y, z)).w +
	       tex2Dgather(ref2, u, y, 2).y;
}

__global__ void queries(cudaTextureObject_t t, int *o)
{
	int w, h, d, c;

	asm("txq.width.b32 %0, [%1];" : "=r"(w) : "l"(t));
	asm("txq.height.b32 %0, [%1];" : "=r"(h) : "l"(t));
	asm("txq.depth.b32 %0, [%1];" : "=r"(d) : "l"(t));
	asm("txq.channel_order.b32 %0, [%1];" : "=r"(c) : "l"(t));
	o[0] = w + h * d + c;
}
