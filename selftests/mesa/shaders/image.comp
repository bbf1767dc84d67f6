// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* turns the image upside down */
layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0, rgba32ui) readonly uniform uimage2D from;
layout(binding = 1, rgba32ui) writeonly uniform uimage2D to;

void main()
{
	ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = imageSize(from);

	if (all(lessThan(at, size)))
		imageStore(to, ivec2(at.x, size.y - 1 - at.y), imageLoad(from, at) ^ uvec4(at, 0, 1));
}
