// SPDX-License-Identifier: GPL-2.0-only
/*
 * Device side of textures_test.c: ways in which CUDA reads a texture. textures.cubin is what nvcc
 * 11.8 -arch=sm_35 -cubin makes of it. Thread i asks for the place p[i] with g[i] beside it; out[i]
 * is what it gets.
 */
typedef cudaTextureObject_t tex;
typedef unsigned int u32;

#define KERNEL(name, expr)								\
	extern "C" __global__ void name(tex t, const float4 *p, const float4 *g, float4 *out) \
	{										\
		u32 i = blockIdx.x * blockDim.x + threadIdx.x;				\
		float4 a = p[i], b = g[i];						\
		out[i] = expr;								\
	}

/* a.w: layer; b.x: level of detail */
KERNEL(line, tex1D<float4>(t, a.x))
KERNEL(plane, tex2D<float4>(t, a.x, a.y))
KERNEL(volume, tex3D<float4>(t, a.x, a.y, a.z))
KERNEL(cube, texCubemap<float4>(t, a.x, a.y, a.z))
KERNEL(line_layers, tex1DLayered<float4>(t, a.x, (int)a.w))
KERNEL(plane_layers, tex2DLayered<float4>(t, a.x, a.y, (int)a.w))
KERNEL(cube_layers, texCubemapLayered<float4>(t, a.x, a.y, a.z, (int)a.w))
KERNEL(line_lod, tex1DLod<float4>(t, a.x, b.x))
KERNEL(plane_lod, tex2DLod<float4>(t, a.x, a.y, b.x))
KERNEL(volume_lod, tex3DLod<float4>(t, a.x, a.y, a.z, b.x))
KERNEL(cube_lod, texCubemapLod<float4>(t, a.x, a.y, a.z, b.x))
KERNEL(line_layers_lod, tex1DLayeredLod<float4>(t, a.x, (int)a.w, b.x))
KERNEL(plane_layers_lod, tex2DLayeredLod<float4>(t, a.x, a.y, (int)a.w, b.x))
KERNEL(cube_layers_lod, texCubemapLayeredLod<float4>(t, a.x, a.y, a.z, (int)a.w, b.x))

/*
 * derivatives: b.x, b.y along x of the screen, b.z, b.w along y; in three dimensions the third ones
 * are 0
 */
#define DX	make_float2(b.x, b.y)
#define DY	make_float2(b.z, b.w)
#define DX3	make_float4(b.x, b.y, 0, 0)
#define DY3	make_float4(b.z, b.w, 0, 0)
KERNEL(line_grad, tex1DGrad<float4>(t, a.x, b.x, b.z))
KERNEL(plane_grad, tex2DGrad<float4>(t, a.x, a.y, DX, DY))
KERNEL(volume_grad, tex3DGrad<float4>(t, a.x, a.y, a.z, DX3, DY3))
KERNEL(cube_grad, texCubemapGrad<float4>(t, a.x, a.y, a.z, DX3, DY3))
KERNEL(line_layers_grad, tex1DLayeredGrad<float4>(t, a.x, (int)a.w, b.x, b.z))
KERNEL(plane_layers_grad, tex2DLayeredGrad<float4>(t, a.x, a.y, (int)a.w, DX, DY))
KERNEL(cube_layers_grad, texCubemapLayeredGrad<float4>(t, a.x, a.y, a.z, (int)a.w, DX3, DY3))

/* only some threads of each quad ask */
extern "C" __global__ void volume_grad_some(tex t, const float4 *p, const float4 *g, float4 *out)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	float4 a = p[i], b = g[i];

	if (i % 3 == 1)
		out[i] = tex3DGrad<float4>(t, a.x, a.y, a.z, DX3, DY3);
}

extern "C" __global__ void fetch(tex t, const float4 *p, const float4 *g, int4 *out)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;

	out[i] = tex1Dfetch<int4>(t, (int)p[i].x);
}

#define ASM(name, insn)                                                                       \
	extern "C" __global__ void name(tex t, const float4 *p, const float4 *g, float4 *out) \
	{                                                                                     \
		u32 i = blockIdx.x * blockDim.x + threadIdx.x;                                \
		float4 a = p[i], b = g[i], r;                                                 \
		asm volatile(insn                                                             \
			     : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)                     \
			     : "l"(t), "f"(a.x), "f"(a.y), "f"(a.z), "r"((int)a.w), "f"(b.x), \
			       "f"(b.y), "f"(b.z), "f"(b.w));                                 \
		out[i] = r;                                                                   \
	}
#define R "{%0, %1, %2, %3}"

ASM(plane_moved, "tex.2d.v4.f32.f32 " R ", [%4, {%5, %6}], {-3, 5};")
ASM(layers_moved, "tex.level.a2d.v4.f32.f32 " R ", [%4, {%8, %5, %6, %6}], %9, {7, -8};")
ASM(grad_moved, "tex.grad.2d.v4.f32.f32 " R ", [%4, {%5, %6}], {%9, %10}, {%11, %12}, {2, -1};")
ASM(layers_grad_moved, "tex.grad.a2d.v4.f32.f32 " R ", [%4, {%8, %5, %6, %6}], {%9, %10}, {%11, %12}, {-2, 1};")
ASM(plane_compared, "tex.2d.v4.f32.f32 " R ", [%4, {%5, %6}], %9;")
ASM(layers_compared, "tex.level.a2d.v4.f32.f32 " R ", [%4, {%8, %5, %6, %6}], %10, {1, 1}, %9;")
ASM(gather_r, "tld4.r.2d.v4.f32.f32 " R ", [%4, {%5, %6}];")
ASM(gather_a, "tld4.a.2d.v4.f32.f32 " R ", [%4, {%5, %6}];")
ASM(gather_moved, "tld4.g.2d.v4.f32.f32 " R ", [%4, {%5, %6}], {-12, 9};")
ASM(gather_compared, "tld4.r.2d.v4.f32.f32 " R ", [%4, {%5, %6}], %9;")
ASM(texel_of_level, "{ .reg .s32 x, y, l; cvt.rzi.s32.f32 x, %5; cvt.rzi.s32.f32 y, %6; cvt.rzi.s32.f32 l, %9;"
    " tex.level.2d.v4.f32.s32 " R ", [%4, {x, y}], l; }")
ASM(texel_of_volume, "{ .reg .s32 x, y, z; cvt.rzi.s32.f32 x, %5; cvt.rzi.s32.f32 y, %6; cvt.rzi.s32.f32 z, %7;"
    " tex.3d.v4.f32.s32 " R ", [%4, {x, y, z, z}]; }")
ASM(texel_of_layer, "{ .reg .s32 x, y; cvt.rzi.s32.f32 x, %5; cvt.rzi.s32.f32 y, %6;"
    " tex.a2d.v4.f32.s32 " R ", [%4, {%8, x, y, y}]; }")

/* width, height and depth of a level */
extern "C" __global__ void sizes(tex t, const float4 *p, const float4 *g, int4 *out)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	int4 r = { 0, 0, 0, 0 };
	int l = (int)p[i].x;

	asm volatile("txq.level.width.b32 %0, [%1], %2;" : "=r"(r.x) : "l"(t), "r"(l));
	asm volatile("txq.level.height.b32 %0, [%1], %2;" : "=r"(r.y) : "l"(t), "r"(l));
	asm volatile("txq.level.depth.b32 %0, [%1], %2;" : "=r"(r.z) : "l"(t), "r"(l));
	out[i] = r;
}
