// SPDX-License-Identifier: GPL-2.0-only
#define RESULTS 14

/* shifts by 0 to 63: limits.cl has others */
kernel void longs(global const ulong *as, global const ulong *bs, global const ulong *amounts, global ulong *out)
{
	size_t i = get_global_id(0);
	ulong a = as[i], b = bs[i], n = amounts[i];
	long x = as_long(a), y = as_long(b);
	global ulong *o = out + i * RESULTS;

	o[0] = a + b;
	o[1] = a * b;
	o[2] = b ? a / b : 0;
	o[3] = b ? a % b : 0;
	o[4] = y && y != -1 ? as_ulong(x / y) : 0;
	o[5] = y && y != -1 ? as_ulong(x % y) : 0;
	o[6] = a << n;
	o[7] = a >> n;
	o[8] = as_ulong(x >> n);
	o[9] = popcount((uint)a) * 1000 + popcount((uint)(a >> 32));
	o[10] = rotate(a, n);
	o[11] = (x < y) + 2 * (a < b) + 4 * (x == y) + 8 * (x >= 0);
	o[12] = add_sat(a, b);
	o[13] = as_ulong(sub_sat(x, y));
}
