// SPDX-License-Identifier: GPL-2.0-only
/* one level; edges of node i are to[first[i]..first[i + 1] - 1] */
kernel void bfs(global const uint *first, global const uint *to, global int *level, global int *changed, int now, uint n)
{
	uint i = get_global_id(0), e;

	if (i >= n || level[i] != now)
		return;
	for (e = first[i]; e < first[i + 1]; e++)
		if (atomic_cmpxchg(&level[to[e]], -1, now + 1) == -1)
			*changed = 1;
}
