// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* sum and maximum of a group, a barrier at each level of the tree */
layout(local_size_x = 128) in;
layout(push_constant) uniform Parameters { uint n; };
layout(std430, binding = 0) readonly buffer In { uint words[]; };
layout(std430, binding = 1) writeonly buffer Sums { uint sums[]; };
layout(std430, binding = 2) writeonly buffer Maxima { int maxima[]; };
shared uint sum[128];
shared int most[128];

void main()
{
	uint me = gl_LocalInvocationIndex, s = 0;
	int m = -2147483647 - 1;

	for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
		s += words[i];
		m = max(m, int(words[i]));
	}
	sum[me] = s;
	most[me] = m;
	for (uint rest = gl_WorkGroupSize.x / 2; rest > 0; rest /= 2) {
		barrier();
		if (me < rest) {
			sum[me] += sum[me + rest];
			most[me] = max(most[me], most[me + rest]);
		}
	}
	if (me == 0) {
		sums[gl_WorkGroupID.x] = sum[0];
		maxima[gl_WorkGroupID.x] = most[0];
	}
}
