// SPDX-License-Identifier: GPL-2.0-only
/* four neighbours and the point itself, twice; the edge stays */
kernel void stencil(global const float *in, global float *out, int width, int height)
{
	int x = get_global_id(0), y = get_global_id(1), i = y * width + x;

	if (x >= width || y >= height)
		return;
	if (x == 0 || y == 0 || x == width - 1 || y == height - 1)
		out[i] = in[i];
	else
		out[i] = 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]) + 0.5f * in[i];
}
