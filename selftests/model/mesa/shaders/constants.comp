// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* constants of the pipeline of each type, and a uniform block */
layout(local_size_x_id = 3) in;
layout(constant_id = 0) const uint LENGTH = 4;
layout(constant_id = 1) const bool BACKWARDS = false;
layout(constant_id = 2) const float FACTOR = 1;
layout(constant_id = 4) const int UNSET = -7;
layout(std140, binding = 0) uniform Block { vec4 add[4]; uint rotate; };
layout(std430, binding = 1) readonly buffer In { float f[]; };
layout(std430, binding = 2) writeonly buffer Out { float g[]; };

void main()
{
	float mine[LENGTH];
	uint i = gl_GlobalInvocationID.x, k;

	for (k = 0; k < LENGTH; k++)
		mine[k] = f[i * LENGTH + k] * FACTOR + add[k % 4][(k / 4) % 4];
	for (k = 0; k < LENGTH; k++)
		g[i * LENGTH + k] = mine[BACKWARDS ? LENGTH - 1 - k : (k + rotate) % LENGTH] + float(UNSET);
}
