// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* pairs of floats become halves */
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer In { vec2 f[]; };
layout(std430, binding = 1) writeonly buffer Out { uint h[]; };

void main()
{
	h[gl_GlobalInvocationID.x] = packHalf2x16(f[gl_GlobalInvocationID.x]);
}
