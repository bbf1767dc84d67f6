// SPDX-License-Identifier: GPL-2.0-only
#version 450
/*
 * Sums of all elements before: phase 0 within groups, whose totals go into totals; phase 1 (one
 * group) over those; phase 2 adds them.
 */
layout(local_size_x = 128) in;
layout(push_constant) uniform Parameters { uint phase; };
layout(std430, binding = 0) readonly buffer In { uint words[]; };
layout(std430, binding = 1) buffer Out { uint sums[]; };
layout(std430, binding = 2) buffer Totals { uint totals[]; };
shared uint two[2][128];

void main()
{
	uint me = gl_LocalInvocationIndex, at = gl_GlobalInvocationID.x, from = 0, mine;

	if (phase == 2) {
		sums[at] += totals[gl_WorkGroupID.x];
		return;
	}
	mine = phase == 0 ? words[at] : totals[me];
	two[0][me] = mine;
	for (uint step = 1; step < 128; step *= 2) {
		barrier();
		two[1 - from][me] = two[from][me] + (me >= step ? two[from][me - step] : 0);
		from = 1 - from;
	}
	barrier();
	if (phase == 0)
		sums[at] = two[from][me] - mine;
	else
		totals[me] = two[from][me] - mine;
	if (phase == 0 && me == 127)
		totals[gl_WorkGroupID.x] = two[from][me];
}
