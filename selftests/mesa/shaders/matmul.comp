// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* c = a b; n rows, edges padded with 0; the tile's size is a constant of the pipeline */
layout(local_size_x_id = 0, local_size_y_id = 0) in;
layout(constant_id = 0) const uint TILE = 8;
layout(push_constant) uniform Parameters { uint n; };
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer C { float c[]; };
shared float ta[TILE * TILE], tb[TILE * TILE];

void main()
{
	uint x = gl_GlobalInvocationID.x, y = gl_GlobalInvocationID.y, lx = gl_LocalInvocationID.x, ly = gl_LocalInvocationID.y;
	float sum = 0;

	for (uint t = 0; t < n; t += TILE) {
		ta[ly * TILE + lx] = y < n && t + lx < n ? a[y * n + t + lx] : 0;
		tb[ly * TILE + lx] = x < n && t + ly < n ? b[(t + ly) * n + x] : 0;
		barrier();
		for (uint k = 0; k < TILE; k++)
			sum += ta[ly * TILE + k] * tb[k * TILE + lx];
		barrier();
	}
	if (x < n && y < n)
		c[y * n + x] = sum;
}
