// SPDX-License-Identifier: GPL-2.0-only
/* what stock Mesa compiles wrongly for GK110: see cl_cases_limits.c */
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void moduli(global const double *as, global const double *bs, global double *out)
{
	size_t i = get_global_id(0);

	out[2 * i] = sqrt(fabs(as[i]));
	out[2 * i + 1] = as[i] / fabs(bs[i]);
}
#endif

/* OpenCL C takes amounts modulo 64 */
kernel void wide_shifts(global const ulong *as, global const ulong *bs, global ulong *out)
{
	size_t i = get_global_id(0);

	out[3 * i] = as[i] << (bs[i] & 63);
	out[3 * i + 1] = as[i] >> (bs[i] & 63);
	out[3 * i + 2] = as_ulong(as_long(as[i]) >> (bs[i] & 63));
}

kernel void byte_extremes(global const uchar *as, global const uchar *bs, global uint *out)
{
	size_t i = get_global_id(0);

	out[2 * i] = max(as[i], bs[i]);
	out[2 * i + 1] = min(as_char(as[i]), as_char(bs[i]));
}

kernel void wide_popcount(global const ulong *as, global ulong *out)
{
	size_t i = get_global_id(0);

	out[i] = popcount(as[i]);
}
