// SPDX-License-Identifier: GPL-2.0-only
#define BINS 64

/* each group's in local memory, added up in global memory */
kernel void histogram(global const uchar *in, global uint *bins, uint n)
{
	local uint mine[BINS];
	uint i;

	for (i = get_local_id(0); i < BINS; i += get_local_size(0))
		mine[i] = 0;
	barrier(CLK_LOCAL_MEM_FENCE);
	for (i = get_global_id(0); i < n; i += get_global_size(0))
		atomic_inc(&mine[in[i] / (256 / BINS)]);
	barrier(CLK_LOCAL_MEM_FENCE);
	for (i = get_local_id(0); i < BINS; i += get_local_size(0))
		atomic_add(&bins[i], mine[i]);
}
