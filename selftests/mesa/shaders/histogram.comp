// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* each group's in shared memory, added up in the buffer */
layout(local_size_x = 64) in;
layout(push_constant) uniform Parameters { uint n; };
layout(std430, binding = 0) readonly buffer In { uint words[]; };
layout(std430, binding = 1) buffer Bins { uint bins[]; };
shared uint mine[64];

void main()
{
	uint me = gl_LocalInvocationIndex;

	mine[me] = 0;
	barrier();
	for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * 64)
		atomicAdd(mine[words[i] >> 26], 1);
	barrier();
	atomicAdd(bins[me], mine[me]);
}
