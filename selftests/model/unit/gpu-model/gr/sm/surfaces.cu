// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device side of surfaces_test.c: kinds of surfaces, with elements of several widths.
 * surfaces.cubin is what nvcc 11.8 -arch=sm_35 -cubin makes of it. Thread i reads the element at
 * p[i] (x, y, z or face, layer) into out[i], or writes v[i] there.
 */
typedef cudaSurfaceObject_t surf;
typedef unsigned int u32;

#define KERNELS(type, name, mode, at, fn, ...)                                                   \
	extern "C" __global__ void read_##name##_##at##_##type(surf s, const int4 *p, type *out) \
	{                                                                                        \
		u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                   \
		int4 a = p[i];                                                                   \
		fn##read(&out[i], s, a.x *(int)sizeof(type) __VA_ARGS__, mode);                  \
	}                                                                                        \
	extern "C" __global__ void write_##name##_##at##_##type(surf s, const int4 *p,           \
								const type *v)                   \
	{                                                                                        \
		u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                   \
		int4 a = p[i];                                                                   \
		fn##write(v[i], s, a.x *(int)sizeof(type) __VA_ARGS__, mode);                    \
	}

#define SHAPES(type, mode, at)							\
	KERNELS(type, line, mode, at, surf1D)					\
	KERNELS(type, plane, mode, at, surf2D, , a.y)				\
	KERNELS(type, volume, mode, at, surf3D, , a.y, a.z)			\
	KERNELS(type, cube, mode, at, surfCubemap, , a.y, a.z)			\
	KERNELS(type, line_layers, mode, at, surf1DLayered, , a.w)		\
	KERNELS(type, plane_layers, mode, at, surf2DLayered, , a.y, a.w)	\
	KERNELS(type, cube_layers, mode, at, surfCubemapLayered, , a.y, a.z + 6 * a.w)

#define MODES(type)					\
	SHAPES(type, cudaBoundaryModeZero, zero)	\
	SHAPES(type, cudaBoundaryModeClamp, clamp)	\
	SHAPES(type, cudaBoundaryModeTrap, trap)

MODES(char)
MODES(short)
MODES(int)
MODES(int2)
MODES(int4)

// converted to the format that the surface has: x in elements
extern "C" __global__ void formatted(surf s, const int4 *p, const int4 *v)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	int4 a = p[i], b = v[i];

	asm volatile("sust.p.2d.v4.b32.zero [%0, {%1, %2}], {%3, %4, %5, %6};"
		     :
		     : "l"(s), "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w)
		     : "memory");
}
