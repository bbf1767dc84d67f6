// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* phase 0 writes how many groups the next dispatch has */
layout(local_size_x = 16, local_size_y = 2) in;
layout(push_constant) uniform Parameters { uint phase; };
layout(std430, binding = 0) buffer Size { uint groups[]; };
layout(std430, binding = 1) buffer Out { uint count[]; };

void main()
{
	if (phase == 0) {
		if (gl_LocalInvocationIndex < 3)
			groups[gl_LocalInvocationIndex + 1] = uint[](5, 3, 2)[gl_LocalInvocationIndex];
		return;
	}
	if (gl_NumWorkGroups == uvec3(5, 3, 2))
		atomicAdd(count[gl_WorkGroupID.x + 5 * (gl_WorkGroupID.y + 3 * gl_WorkGroupID.z)], 1 + gl_LocalInvocationIndex);
}
