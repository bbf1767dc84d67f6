// SPDX-License-Identifier: GPL-2.0-only
/* halves in memory, floats in registers */
kernel void read_halves(global const half *in, global float *out)
{
	size_t i = get_global_id(0);

	vstore2(vload_half2(i, in) * 3.0f, i, out);
}
