// SPDX-License-Identifier: GPL-2.0-only
/* an item: 8 floats in, 16 out; 16 bytes in, 5 words out */
kernel void vectors(global const float *in, global float *out, global const uchar *bytes, global uint *words)
{
	size_t i = get_global_id(0);
	float8 v = vload8(i, in);
	float4 lo = v.lo, hi = v.s4567, r;
	float3 three;
	uchar16 b = vload16(i, bytes);
	int4 less;

	r = lo.wzyx + hi.xxzz * 2.0f;
	r.yw = lo.xz;
	vstore4(r, i * 4, out);
	vstore4((float4)(v.odd.xy, v.even.zw), i * 4 + 1, out);
	three = cross(lo.xyz, hi.xyz);
	vstore3(three, 0, out + i * 16 + 8);
	out[i * 16 + 11] = dot(lo, hi);
	less = lo < hi;
	vstore4(select(lo, hi, less), i * 4 + 3, out);
	i *= 5;
	words[i] = b.sf;
	words[i + 1] = b.s3 * 2 + b.s7;
	words[i + 2] = b.sc - b.s5;
	words[i + 3] = max((uint)b.s0, (uint)b.s1);
	words[i + 4] = any(less) * 3 + all(less) * 5;
}
