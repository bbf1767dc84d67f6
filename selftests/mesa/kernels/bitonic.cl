// SPDX-License-Identifier: GPL-2.0-only
/* one step of the sort, of keys with values */
kernel void bitonic(global uint *keys, global ushort *values, uint block, uint distance)
{
	uint i = get_global_id(0), other = i ^ distance;
	bool up = (i & block) == 0;

	if (other > i && (keys[i] > keys[other]) == up) {
		uint k = keys[i];
		ushort v = values[i];

		keys[i] = keys[other];
		values[i] = values[other];
		keys[other] = k;
		values[other] = v;
	}
}
