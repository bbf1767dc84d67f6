// SPDX-License-Identifier: GPL-2.0-only
#define TILE 16

kernel __attribute__((reqd_work_group_size(TILE, TILE / 4, 1))) void transpose(global const int2 *in, global int2 *out, int width, int height)
{
	local int2 tile[TILE][TILE + 1];
	int x = get_group_id(0) * TILE, y = get_group_id(1) * TILE;
	int lx = get_local_id(0), ly;

	for (ly = get_local_id(1); ly < TILE; ly += TILE / 4)
		if (x + lx < width && y + ly < height)
			tile[ly][lx] = in[(y + ly) * width + x + lx];
	barrier(CLK_LOCAL_MEM_FENCE);
	for (ly = get_local_id(1); ly < TILE; ly += TILE / 4)
		if (x + ly < width && y + lx < height)
			out[(x + ly) * height + y + lx] = tile[lx][ly];
}
