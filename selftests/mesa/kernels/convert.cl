// SPDX-License-Identifier: GPL-2.0-only
#define RESULTS 20

kernel void convert(global const float *fs, global const int *is, global uint *out)
{
	size_t i = get_global_id(0);
	float f = fs[i];
	int n = is[i];
	global uint *o = out + i * RESULTS;

	o[0] = as_uint(convert_int_sat_rte(f));
	o[1] = as_uint(convert_int_sat_rtz(f));
	o[2] = as_uint(convert_int_sat_rtp(f));
	o[3] = as_uint(convert_int_sat_rtn(f));
	o[4] = convert_uint_sat_rte(f);
	o[5] = as_uint((int)convert_short_sat_rte(f));
	o[6] = convert_uchar_sat_rtn(f);
	o[7] = as_uint((int)convert_char_sat(f));
	o[8] = as_uint(convert_float_rte(n));
	o[9] = as_uint(convert_float_rtz(n));
	o[10] = as_uint(convert_float_rtp(n));
	o[11] = as_uint(convert_float_rtn(n));
	o[12] = as_uint(convert_float(as_uint(n)));
	o[13] = as_uint((int)convert_char_sat(n));
	o[14] = convert_ushort_sat(n);
	o[15] = convert_uint_sat(n);
	o[16] = as_uint((int)(short)n);
	o[17] = as_uint(convert_float((uchar)n));
	o[18] = (uint)(convert_long_sat_rte(f) >> 4);
	o[19] = as_uint(convert_float((long)n * 0x10001));
}
