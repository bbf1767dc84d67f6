// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* texels by their number, and between them by a sampler */
layout(local_size_x = 8, local_size_y = 4) in;
layout(binding = 0) uniform sampler2D picture;
layout(std430, binding = 1) writeonly buffer Out { vec4 texels[]; };

void main()
{
	ivec2 at = ivec2(gl_GlobalInvocationID.xy), size = textureSize(picture, 0);
	uint i = 2 * (at.y * size.x + at.x);

	if (any(greaterThanEqual(at, size)))
		return;
	texels[i] = texelFetch(picture, at, 0);
	texels[i + 1] = textureLod(picture, (vec2(at) + 0.25) / vec2(size), 0);
}
