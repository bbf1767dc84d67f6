// SPDX-License-Identifier: GPL-2.0-only
/* sum and maximum of a group, a barrier at each level of the tree */
kernel void reduce(global const uint *in, global uint *sums, global int *maxima, local uint *sum, local int *most, uint n)
{
	uint me = get_local_id(0), rest, i;
	uint s = 0;
	int m = INT_MIN;

	for (i = get_global_id(0); i < n; i += get_global_size(0)) {
		s += in[i];
		m = max(m, as_int(in[i]));
	}
	sum[me] = s;
	most[me] = m;
	for (rest = get_local_size(0) / 2; rest > 0; rest /= 2) {
		barrier(CLK_LOCAL_MEM_FENCE);
		if (me < rest) {
			sum[me] += sum[me + rest];
			most[me] = max(most[me], most[me + rest]);
		}
	}
	if (me == 0) {
		sums[get_group_id(0)] = sum[0];
		maxima[get_group_id(0)] = most[0];
	}
}
