// SPDX-License-Identifier: GPL-2.0-only
#define TILE 16

/* c = a b; n rows, tiles in local memory, edges padded with 0 */
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void matmul(global const float *a, global const float *b, global float *c, int n)
{
	local float ta[TILE][TILE], tb[TILE][TILE];
	int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1);
	float sum = 0;
	int t, k;

	for (t = 0; t < n; t += TILE) {
		ta[ly][lx] = y < n && t + lx < n ? a[y * n + t + lx] : 0;
		tb[ly][lx] = x < n && t + ly < n ? b[(t + ly) * n + x] : 0;
		barrier(CLK_LOCAL_MEM_FENCE);
		for (k = 0; k < TILE; k++)
			sum += ta[ly][k] * tb[k][lx];
		barrier(CLK_LOCAL_MEM_FENCE);
	}
	if (x < n && y < n)
		c[y * n + x] = sum;
}
