// SPDX-License-Identifier: GPL-2.0-only
kernel void work_dim(global uint *out)
{
	out[get_global_id(0)] = get_work_dim();
}
