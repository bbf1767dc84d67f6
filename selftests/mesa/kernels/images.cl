// SPDX-License-Identifier: GPL-2.0-only
constant sampler_t texel = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

/*
 * Two images are read, always: with an odd number of them the input of a kernel is no multiple of 4 bytes, which alone.cl is about.
 * The first upside down, one to the left, with the border's colour outside; the second as it is.
 */
kernel void flip(read_only image2d_t a, read_only image2d_t b, write_only image2d_t out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imageui(out, at, read_imageui(a, border, (int2)(at.x + 1, get_image_height(a) - 1 - at.y)) ^ read_imageui(b, texel, at));
}

/* floats out of normalized bytes: the edge's colour lies outside */
kernel void bytes(read_only image2d_t a, read_only image2d_t b, write_only image2d_t out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imagef(out, at, read_imagef(a, texel, at - (int2)(2, 3)) * 0.5f + read_imagef(b, texel, at + (int2)(3, 2)) * 0.25f);
}

/* the same by a sampler of the host's, at points between texels */
kernel void between(read_only image2d_t a, read_only image2d_t b, write_only image2d_t out, sampler_t s)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));
	float2 where = (convert_float2(at) + 0.25f) / (float2)(get_global_size(0), get_global_size(1));

	write_imagef(out, at, read_imagef(a, s, where) * 0.5f + read_imagef(b, s, where) * 0.25f);
}
