// SPDX-License-Identifier: GPL-2.0-only
// Half precision: storage and conversion on this chip.
#include <cuda_fp16.h>

__global__ void halves(__half *h, __half2 *h2, float *f, int *i, double *d)
{
	float a = __half2float(h[0]), b = __low2float(h2[0]), c = __high2float(h2[1]);

	h[1] = __float2half_rn(a + b);
	h[2] = __float2half_rz(a * c);
	h[3] = __float2half_ru(a);
	h[4] = __float2half_rd(b);
	h2[2] = __floats2half2_rn(a, c);
	f[0] = a + b + c;
	i[0] = __half2int_rn(h[5]) + __half2uint_rz(h[6]) + __half2short_rn(h[7]);
	h[8] = __int2half_rn(i[1]);
	h[9] = __ushort2half_rz(i[2]);
	h[10] = __ll2half_rn(i[3]);
	h[11] = __double2half(d[0]);
}
