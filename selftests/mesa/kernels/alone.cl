// SPDX-License-Identifier: GPL-2.0-only
/* one sampler only */
constant sampler_t texel = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

kernel void alone(read_only image2d_t a, global uint4 *out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	out[at.y * get_global_size(0) + at.x] = read_imageui(a, texel, at);
}
