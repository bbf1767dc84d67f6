// SPDX-License-Identifier: GPL-2.0-only
#define RESULTS 10

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void doubles(global const double *as, global const double *bs, global double *out)
{
	size_t i = get_global_id(0);
	double a = as[i], b = bs[i];
	global double *o = out + i * RESULTS;

	o[0] = a + b;
	o[1] = a * b;
	o[2] = fma(a, b, 0.1);
	o[3] = floor(a) + rint(b);
	o[4] = fmax(a, b) - fmin(a, 3.0);
	o[5] = (double)convert_long_rtz(a) + (double)convert_int_rtz(b);
	o[6] = (double)(float)a;
	o[7] = fabs(a) > fabs(b) ? a : -b;
	o[8] = as_double(as_ulong(a) ^ 1);
	o[9] = (double)(int)(a) * 0.5;
}

kernel void quotients(global const double *as, global const double *bs, global double *out)
{
	size_t i = get_global_id(0);

	out[2 * i] = as[i] / bs[i];
	out[2 * i + 1] = sqrt(fma(as[i], as[i], 0.5));
}
