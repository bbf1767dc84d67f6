// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* what an invocation can ask about its place */
layout(local_size_x = 4, local_size_y = 3, local_size_z = 2) in;
layout(std430, binding = 0) writeonly buffer Out { uint o[]; };

uint packed(uvec3 v)
{
	return v.x | v.y << 8 | v.z << 16;
}

void main()
{
	uvec3 size = gl_NumWorkGroups * gl_WorkGroupSize, g = gl_GlobalInvocationID;
	uint at = 6 * ((g.z * size.y + g.y) * size.x + g.x);

	o[at] = packed(g);
	o[at + 1] = packed(gl_LocalInvocationID);
	o[at + 2] = packed(gl_WorkGroupID);
	o[at + 3] = packed(gl_NumWorkGroups);
	o[at + 4] = packed(gl_WorkGroupSize);
	o[at + 5] = gl_LocalInvocationIndex;
}
