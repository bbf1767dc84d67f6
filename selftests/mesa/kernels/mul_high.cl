// SPDX-License-Identifier: GPL-2.0-only
kernel void mul_high(global const ulong *as, global const ulong *bs, global ulong *out)
{
	size_t i = get_global_id(0);

	out[i] = mul_hi(as[i], bs[i]);
}
