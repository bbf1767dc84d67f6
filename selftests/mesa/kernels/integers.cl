// SPDX-License-Identifier: GPL-2.0-only
#define RESULTS 23

kernel void integers(global const uint *as, global const uint *bs, global uint *out)
{
	size_t i = get_global_id(0);
	uint a = as[i], b = bs[i];
	int x = as_int(a), y = as_int(b);
	global uint *o = out + i * RESULTS;

	o[0] = mul_hi(a, b);
	o[1] = as_uint(mul_hi(x, y));
	o[2] = rotate(a, b);
	o[3] = popcount(a);
	o[4] = clz(a);
	o[5] = as_uint(mad24(x << 8 >> 8, y << 8 >> 8, 77));
	o[6] = mul24(a & 0xffffff, b & 0xffffff);
	o[7] = add_sat(a, b);
	o[8] = as_uint(add_sat(x, y));
	o[9] = sub_sat(a, b);
	o[10] = as_uint(sub_sat(x, y));
	o[11] = hadd(a, b);
	o[12] = as_uint(rhadd(x, y));
	o[13] = abs_diff(x, y);
	o[14] = b ? a / b : 0;
	o[15] = b ? a % b : 0;
	o[16] = y && y != -1 ? as_uint(x / y) : 0;
	o[17] = y && y != -1 ? as_uint(x % y) : 0;
	o[18] = as_uint(x >> (b & 31));
	o[19] = as_uint(clamp(x, -1000, 1000));
	o[20] = mad_hi(a, b, 5u);
	o[21] = as_uint(mad_sat(x, y, 9));
	o[22] = abs(x) ^ as_uint((int)(char)a * (int)(short)b);
}
