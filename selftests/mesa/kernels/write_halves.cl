// SPDX-License-Identifier: GPL-2.0-only
kernel void write_halves(global const float *in, global half *out)
{
	size_t i = get_global_id(0);

	vstore_half2_rte(vload2(i, in), i, out);
}
