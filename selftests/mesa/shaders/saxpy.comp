// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* the last group only in part */
layout(local_size_x = 96) in;
layout(push_constant) uniform Parameters { float a; uint n; };
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };

void main()
{
	uint i = gl_GlobalInvocationID.x;

	if (i < n)
		y[i] = a * x[i] + y[i];
}
