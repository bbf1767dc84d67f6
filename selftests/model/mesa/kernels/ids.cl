// SPDX-License-Identifier: GPL-2.0-only
/* what an item can ask about its place: 12 words an item */
kernel void ids(global uint *out, uint4 size)
{
	size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
	size_t z = get_global_id(2) - get_global_offset(2);
	global uint *o = out + 12 * ((z * size.y + y) * size.x + x);

	o[0] = get_global_id(0);
	o[1] = get_global_id(1);
	o[2] = get_global_id(2);
	o[3] = get_local_id(0) | get_local_id(1) << 8 | get_local_id(2) << 16;
	o[4] = get_group_id(0) | get_group_id(1) << 8 | get_group_id(2) << 16;
	o[5] = get_local_size(0) | get_local_size(1) << 8 | get_local_size(2) << 16;
	o[6] = get_num_groups(0) | get_num_groups(1) << 8 | get_num_groups(2) << 16;
	o[7] = get_global_size(0) | get_global_size(1) << 8 | get_global_size(2) << 16;
	o[8] = get_global_offset(0) | get_global_offset(1) << 8 | get_global_offset(2) << 16;
	o[9] = get_global_size(2) * 3;
	o[10] = get_global_size(3) + get_global_id(3);
	o[11] = size.w;
}
