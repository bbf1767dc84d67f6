// SPDX-License-Identifier: GPL-2.0-only
/* steps that do not commute: their order shows */
kernel void times(global uint *x, uint factor)
{
	x[get_global_id(0)] *= factor;
}

kernel void plus(global uint *x, uint term)
{
	x[get_global_id(0)] += term + get_global_id(0);
}

kernel void both(global const uint *a, global const uint *b, global uint *out)
{
	size_t i = get_global_id(0);

	out[i] = a[i] * 7 - b[i];
}
