// SPDX-License-Identifier: GPL-2.0-only
#define RESULTS 22

kernel void floats(global const float *as, global const float *bs, global float *out)
{
	size_t i = get_global_id(0);
	float a = as[i], b = bs[i], whole;
	int e;
	global float *o = out + i * RESULTS;

	o[0] = sqrt(fabs(a));
	o[1] = rsqrt(fabs(b));
	o[2] = exp2(a);
	o[3] = log2(fabs(b));
	o[4] = sin(a);
	o[5] = cos(a);
	o[6] = fma(a, b, 0.7f);
	o[7] = a / b;
	o[8] = exp(a * 0.25f);
	o[9] = log(fabs(b));
	o[10] = pow(fabs(b), 1.7f);
	o[11] = atan2(a, b);
	o[12] = floor(a);
	o[13] = ceil(a);
	o[14] = rint(a);
	o[15] = trunc(a);
	o[16] = fmod(a, b);
	o[17] = frexp(b, &e) + (float)e;
	o[18] = ldexp(b, 5);
	o[19] = modf(a, &whole) + 2.0f * whole;
	o[20] = fmax(a, b) - fmin(a, b);
	o[21] = copysign(b, a);
}
