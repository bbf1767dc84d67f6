// SPDX-License-Identifier: GPL-2.0-only
#define GROUP 128

/* sums of all elements before, within a group */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_groups(global const uint *in, global uint *out, global uint *totals)
{
	local uint a[2][GROUP];
	uint me = get_local_id(0), from = 0, step;
	uint mine = in[get_global_id(0)];

	a[0][me] = mine;
	for (step = 1; step < GROUP; step *= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		a[1 - from][me] = me >= step ? a[from][me] + a[from][me - step] : a[from][me];
		from = 1 - from;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	out[get_global_id(0)] = a[from][me] - mine;
	if (me == GROUP - 1)
		totals[get_group_id(0)] = a[from][me];
}

kernel void add_totals(global uint *out, global const uint *before)
{
	out[get_global_id(0)] += before[get_group_id(0)];
}
