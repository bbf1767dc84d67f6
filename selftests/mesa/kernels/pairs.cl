// SPDX-License-Identifier: GPL-2.0-only
kernel void pairs(global const uint *as, global const uint *bs, global uint *out)
{
	size_t i = get_global_id(0);

	out[i] = upsample((ushort)as[i], (ushort)bs[i]);
}
