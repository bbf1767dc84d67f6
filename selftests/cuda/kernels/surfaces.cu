// SPDX-License-Identifier: GPL-2.0-only
// Surface functions on objects, for each boundary mode; some on references; sust.p.
#include <cuda_runtime.h>

#define KERNEL(T, name, ...)                                                                \
	__global__ void name##_##T(cudaSurfaceObject_t s, T *o, int x, int y, int z, int l) \
	{                                                                                   \
		T v = o[threadIdx.x];                                                       \
		int u = (x + threadIdx.x) * sizeof(T);                                      \
		__VA_ARGS__;                                                                \
		o[threadIdx.x] = v;                                                         \
	}
#define MODES(T, kind, name, ...) \
KERNEL(T, name##_read_trap, kind##read(&v, s, __VA_ARGS__)) \
KERNEL(T, name##_read_clamp, kind##read(&v, s, __VA_ARGS__, cudaBoundaryModeClamp)) \
KERNEL(T, name##_read_zero, kind##read(&v, s, __VA_ARGS__, cudaBoundaryModeZero)) \
KERNEL(T, name##_write_trap, kind##write(v, s, __VA_ARGS__)) \
KERNEL(T, name##_write_clamp, kind##write(v, s, __VA_ARGS__, cudaBoundaryModeClamp)) \
KERNEL(T, name##_write_zero, kind##write(v, s, __VA_ARGS__, cudaBoundaryModeZero))
#define ALL(T)                                                                                 \
	MODES(T, surf1D, one, u)                                                               \
	MODES(T, surf2D, two, u, y) MODES(T, surf3D, three, u, y, z)                           \
		MODES(T, surf1DLayered, layer1, u, l) MODES(T, surf2DLayered, layer2, u, y, l) \
			MODES(T, surfCubemap, cube, u, y, l)                                   \
				MODES(T, surfCubemapLayered, cubes, u, y, l)
ALL(char)
ALL(uchar2) ALL(uchar4) ALL(short) ALL(ushort2) ALL(short4) ALL(int) ALL(uint2) ALL(int4) ALL(float)
	ALL(float2) ALL(float4)

		surface<void, cudaSurfaceType2D> ref;
surface<void, cudaSurfaceType3D> ref3;

__global__ void references(float4 *o, int x, int y)
{
	float4 v;

	surf2Dread(&v, ref, x * 16, y);
	surf2Dwrite(v, ref, x * 16 + 16, y, cudaBoundaryModeClamp);
	surf3Dread(&v, ref3, x * 16, y, 2);
	surf3Dwrite(v, ref3, x * 16, y, 3, cudaBoundaryModeZero);
	o[threadIdx.x] = v;
}

__global__ void formatted(cudaSurfaceObject_t s, int x, int y, int r)
{
	asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %3, %3, %3};" :: "l"(s), "r"(x), "r"(y), "r"(r));
	asm volatile("sust.p.1d.b32.clamp [%0, {%1}], {%2};" :: "l"(s), "r"(x), "r"(r));
	asm volatile("sust.p.1d.v2.b32.trap [%0, {%1}], {%2, %2};" :: "l"(s), "r"(x), "r"(r));
}
