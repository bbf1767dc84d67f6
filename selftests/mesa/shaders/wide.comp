// SPDX-License-Identifier: GPL-2.0-only
#version 450
#extension GL_ARB_gpu_shader_int64 : require
/* 64 bits: what is exact, or rounded as IEEE says */
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer A { uint64_t as[]; };
layout(std430, binding = 1) readonly buffer B { uint64_t bs[]; };
layout(std430, binding = 2) writeonly buffer Out { uint64_t o[]; };
layout(std430, binding = 3) readonly buffer D { double ds[]; };
layout(std430, binding = 4) readonly buffer E { double es[]; };
layout(std430, binding = 5) writeonly buffer F { double f[]; };

void main()
{
	uint i = gl_GlobalInvocationID.x, at = i * 10, dt = i * 6;
	uint64_t a = as[i], b = bs[i];
	int64_t x = int64_t(a), y = int64_t(b);
	uint n = min(i % 67, 63);
	double d = ds[i], e = es[i];

	o[at] = a + b;
	o[at + 1] = a * b;
	o[at + 2] = b != 0 ? a / b : 0;
	o[at + 3] = b != 0 ? a % b : 0;
	o[at + 4] = y != 0 && y != -1 ? uint64_t(x / y) : 0;
	o[at + 5] = a << n;
	o[at + 6] = a >> n;
	o[at + 7] = uint64_t(x >> n);
	o[at + 8] = uint64_t(x < y) + 2 * uint64_t(a < b) + 4 * uint64_t(x == y);
	o[at + 9] = (a ^ b) & ~(a | 255);
	precise double sum = d + e, product = d * e;
	f[dt] = sum;
	f[dt + 1] = product;
	f[dt + 2] = fma(d, e, 0.5LF);
	f[dt + 3] = floor(d);
	f[dt + 4] = double(floatBitsToInt(float(d))) + double(int(e));
	f[dt + 5] = d < e ? max(d, e) : min(-d, e);
}
