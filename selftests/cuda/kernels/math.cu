// SPDX-License-Identifier: GPL-2.0-only
// The math library, single and double, its fast approximations, and intrinsics.
#define ONE(name)                                         \
	__global__ void single_##name(float *p)           \
	{                                                 \
		p[threadIdx.x] = name##f(p[threadIdx.x]); \
	}                                                 \
	__global__ void double_##name(double *p)          \
	{                                                 \
		p[threadIdx.x] = name(p[threadIdx.x]);    \
	}
#define TWO(name)                                                             \
	__global__ void single_##name(float *p)                               \
	{                                                                     \
		p[threadIdx.x] = name##f(p[threadIdx.x], p[threadIdx.x + 1]); \
	}                                                                     \
	__global__ void double_##name(double *p)                              \
	{                                                                     \
		p[threadIdx.x] = name(p[threadIdx.x], p[threadIdx.x + 1]);    \
	}
ONE(sin)
ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh) ONE(tanh) ONE(asinh) ONE(acosh)
	ONE(atanh) ONE(exp) ONE(exp2) ONE(exp10) ONE(expm1) ONE(log) ONE(log2) ONE(log10) ONE(log1p)
		ONE(logb) ONE(sqrt) ONE(rsqrt) ONE(cbrt) ONE(rcbrt) ONE(sinpi) ONE(cospi) ONE(erf)
			ONE(erfc) ONE(erfinv) ONE(erfcinv) ONE(erfcx) ONE(normcdf) ONE(normcdfinv)
				ONE(tgamma) ONE(lgamma) ONE(floor) ONE(ceil) ONE(trunc) ONE(round)
					ONE(rint) ONE(nearbyint) ONE(fabs) ONE(j0) ONE(j1) ONE(y0)
						ONE(y1) TWO(pow) TWO(atan2) TWO(fmod) TWO(remainder)
							TWO(hypot) TWO(rhypot) TWO(fdim) TWO(fmin)
								TWO(fmax) TWO(copysign)
									TWO(nextafter)

										__global__
	void parts(float *p, double *q, int *r, long long *s)
{
	float a, b;
	double c, d;
	int n, m, k = threadIdx.x;

	sincosf(p[k], &a, &b);
	sincos(q[k], &c, &d);
	p[k] = frexpf(a, &n) + ldexpf(b, n) + modff(p[1], &a) + scalbnf(a, 3) + remquof(a, b, &m) +
	       fmaf(a, b, p[2]);
	q[k] = frexp(c, &n) + ldexp(d, n) + modf(q[1], &c) + scalbn(c, 3) + remquo(c, d, &m) +
	       fma(c, d, q[2]);
	r[k] = ilogbf(a) + ilogb(c) + n + m + isnan(a) + isinf(c) + isfinite(a) + signbit(a) +
	       signbit(d);
	s[k] = llrintf(a) + llround(c) + lrintf(b) + llroundf(b) + llrint(d);
	p[k + 1] = jnf(2, a) + ynf(3, b) + normf(3, p) + rnormf(3, p) + norm3df(a, b, 1) +
		   cyl_bessel_i0f(a);
	q[k + 1] = jn(2, c) + yn(3, d) + norm3d(c, d, 1) + rnorm3d(c, d, 2) + norm4d(c, d, 1, 2) +
		   cyl_bessel_i1(c);
}

__global__ void fast(float *p)
{
	float a = p[0], b = p[1], c, d;

	__sincosf(a, &c, &d);
	p[2] = __sinf(a) + __cosf(b) + __tanf(a) + __expf(b) + __exp10f(a) + __logf(b) +
	       __log2f(a) + __log10f(b) + __powf(a, b);
	p[3] = __fdividef(a, b) + __saturatef(a * b + c) + __frcp_rn(a) + __fsqrt_rz(b) +
	       __frsqrt_rn(d) + __fdiv_ru(a, b);
}

#define ROUND(r)                                                                                \
	__global__ void single_##r(float *p)                                                    \
	{                                                                                       \
		float a = p[0], b = p[1], c = p[2];                                             \
		p[3] = __fadd_##r(a, b) + __fsub_##r(b, c) + __fmul_##r(a, c) +                 \
		       __fmaf_##r(a, b, c) + __frcp_##r(b) + __fsqrt_##r(c) + __fdiv_##r(a, c); \
	}                                                                                       \
	__global__ void double_##r(double *p)                                                   \
	{                                                                                       \
		double a = p[0], b = p[1], c = p[2];                                            \
		p[3] = __dadd_##r(a, b) + __dsub_##r(b, c) + __dmul_##r(a, c) +                 \
		       __fma_##r(a, b, c) + __drcp_##r(b) + __dsqrt_##r(c) + __ddiv_##r(a, c);  \
	}                                                                                       \
	__global__ void convert_##r(float *p, double *q, int *r, unsigned int *u, long long *s, \
				    unsigned long long *v)                                      \
	{                                                                                       \
		r[1] = __float2int_##r(p[0]) + __double2int_##r(q[0]);                          \
		u[1] = __float2uint_##r(p[0]) + __double2uint_##r(q[0]);                        \
		s[1] = __float2ll_##r(p[0]) + __double2ll_##r(q[0]);                            \
		v[1] = __float2ull_##r(p[0]) + __double2ull_##r(q[0]);                          \
		p[1] = __int2float_##r(r[0]) + __uint2float_##r(u[0]) + __ll2float_##r(s[0]) +  \
		       __ull2float_##r(v[0]) + __double2float_##r(q[1]);                        \
		q[1] = __ll2double_##r(s[0]) + __ull2double_##r(v[0]);                          \
	}
ROUND(rn) ROUND(rz) ROUND(ru) ROUND(rd)

__global__ void bits(float *p, double *q, int *r)
{
	r[0] = __float_as_int(p[0]) + __double2hiint(q[0]) + __double2loint(q[1]);
	p[1] = __int_as_float(r[1]) + (r[2] ? p[2] : -p[3]) + (p[4] < 3 ? fabsf(p[5]) : p[6]) +
	       max(p[7], 0.f);
	q[1] = __hiloint2double(r[1], r[2]) + (q[3] > q[4] ? q[5] : -fabs(q[6])) + min(q[7], 2.5);
}
