// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* one step of the sort */
layout(local_size_x = 64) in;
layout(push_constant) uniform Parameters { uint run, span; };
layout(std430, binding = 0) buffer Keys { uint keys[]; };

void main()
{
	uint i = gl_GlobalInvocationID.x, low = (i & ~(span - 1)) * 2 + (i & (span - 1));
	uint a = keys[low], b = keys[low + span];

	if (((low & run) == 0) == (a > b)) {
		keys[low] = b;
		keys[low + span] = a;
	}
}
