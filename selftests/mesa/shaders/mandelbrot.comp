// SPDX-License-Identifier: GPL-2.0-only
#version 450
/* in fixed point: every count is exact */
layout(local_size_x = 8, local_size_y = 8) in;
layout(push_constant) uniform Parameters { int width, height, limit; };
layout(std430, binding = 0) writeonly buffer Out { uint counts[]; };
const int ONE = 1 << 12;

void main()
{
	int px = int(gl_GlobalInvocationID.x), py = int(gl_GlobalInvocationID.y), n = 0, x = 0, y = 0;
	int cx = px * 3 * ONE / width - 2 * ONE, cy = py * 2 * ONE / height - ONE;

	if (px >= width || py >= height)
		return;
	while (n < limit) {
		int xx = x * x / ONE, yy = y * y / ONE;

		if (xx + yy > 4 * ONE)
			break;
		y = 2 * x * y / ONE + cy;
		x = xx - yy + cx;
		n++;
	}
	counts[py * width + px] = n;
}
