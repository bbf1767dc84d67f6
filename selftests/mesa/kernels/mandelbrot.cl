// SPDX-License-Identifier: GPL-2.0-only
#define ONE (1 << 12)

/* in fixed point: every count is exact */
kernel void mandelbrot(global ushort *counts, int width, int height, int limit)
{
	int px = get_global_id(0), py = get_global_id(1), n = 0;
	int cx = px * 3 * ONE / width - 2 * ONE, cy = py * 2 * ONE / height - ONE, x = 0, y = 0;

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
