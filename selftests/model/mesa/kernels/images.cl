// SPDX-License-Identifier: GPL-2.0-only
constant sampler_t texel = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t border = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;

/*
 * Each kernel reads two images with two samplers: an odd number makes a kernel's input end on half
 * a word (alone.cl). The first is read upside down, one to the left, with the border's colour
 * outside; the second as it is.
 */
kernel void flip(read_only image2d_t a, read_only image2d_t b, write_only image2d_t out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imageui(out, at, read_imageui(a, border, (int2)(at.x + 1, get_image_height(a) - 1 - at.y)) ^ read_imageui(b, texel, at));
}

/* floats out of normalized bytes: outside of the first lies the edge's colour, of the second the border's */
kernel void bytes(read_only image2d_t a, read_only image2d_t b, write_only image2d_t out)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));

	write_imagef(out, at, read_imagef(a, texel, at - (int2)(2, 3)) * 0.5f + read_imagef(b, border, at + (int2)(3, 2)) * 0.25f);
}

/* by samplers of the host's, between texels; outside of the second it begins again */
kernel void between(read_only image2d_t a, read_only image2d_t b, write_only image2d_t out, sampler_t edge, sampler_t again)
{
	int2 at = (int2)(get_global_id(0), get_global_id(1));
	float2 where = (convert_float2(at) + 0.25f) / (float2)(get_global_size(0), get_global_size(1));

	write_imagef(out, at, read_imagef(a, edge, where) * 0.5f + read_imagef(b, again, where) * 0.25f);
}
