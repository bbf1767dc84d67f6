// SPDX-License-Identifier: GPL-2.0-only
/* Integer arithmetic of all widths, bit functions, and video instructions. */
template<class T> __global__ void arithmetic(T *p, T c)
{
	T a = p[0], b = p[1];

	p[2] = a + b * c;
	p[3] = a / b + a % c;
	p[4] = a / 7 - b % 10;
	p[5] = (a << 3) ^ (b >> 2) ^ (a >> (c & 7)) ^ (b << (a & 7));
	p[6] = a < b ? ~a & c : -b | c;
	p[7] = a > 100 && b <= c || a == c ? a - 1 : b + 300 % 77;
	p[8] = min(a, b) + max(b, c);
	p[9] = a * 5 + b * 9 + (c << 12) + (a & 0xff) * 3;
}
#define ALL(T) template __global__ void arithmetic<T>(T *, T)
ALL(int); ALL(unsigned int); ALL(long long); ALL(unsigned long long); ALL(long); ALL(unsigned long);

template<class T> __global__ void narrow(T *p, T c)
{
	p[2] = p[0] + p[1] * c;
	p[3] = p[0] / (p[1] | 1) + (p[0] >> 2);
	p[4] = p[0] < c ? p[1] << 3 : ~p[1];
}
template __global__ void narrow<signed char>(signed char *, signed char);
template __global__ void narrow<unsigned char>(unsigned char *, unsigned char);
template __global__ void narrow<short>(short *, short);
template __global__ void narrow<unsigned short>(unsigned short *, unsigned short);

__global__ void functions(int *p, unsigned int *u, long long *s, unsigned long long *v)
{
	p[1] = __popc(p[0]) + __clz(p[2]) + __ffs(p[3]) + __popcll(s[0]) + __clzll(s[1]) +
	       __ffsll(s[2]) + abs(p[4]);
	u[1] = __brev(u[0]) + __byte_perm(u[2], u[3], 0x3175) + __byte_perm(u[2], u[3], u[4]) +
	       __umulhi(u[5], u[6]) + __umul24(u[7], u[8]);
	u[9] = __funnelshift_l(u[0], u[1], u[2]) + __funnelshift_r(u[0], u[1], u[2]) +
	       __funnelshift_lc(u[0], u[1], 40) + __funnelshift_rc(u[0], u[1], u[3]) +
	       __funnelshift_l(u[3], u[4], 7);
	p[5] = __mulhi(p[0], p[1]) + __mul24(p[2], p[3]) + __sad(p[4], p[5], u[0]) +
	       __hadd(p[6], p[7]) + __rhadd(p[6], p[8]);
	u[10] = __usad(u[0], u[1], u[2]) + __uhadd(u[3], u[4]) + __urhadd(u[5], u[6]);
	s[3] = __mul64hi(s[0], s[1]) + llabs(s[2]) + (long long)p[0] * p[1] + (s[0] << p[2]) +
	       (s[1] >> p[3]) + (s[0] << 40);
	v[3] = __umul64hi(v[0], v[1]) + __brevll(v[2]) + (unsigned long long)u[0] * u[1] +
	       (v[0] >> u[2]) + (v[1] >> 33);
	p[9] = (p[0] >> 5 & 0x3f) + ((p[1] & 0xff0) << 4) + (u[1] >> 28) + (p[2] << 8 >> 24);
}

#define TWO(f) r ^= f(u[k + 1], u[k + 2]); k++
__global__ void simd(unsigned int *u)
{
	unsigned int r = 0, k = threadIdx.x;

	TWO(__vadd2);
	TWO(__vadd4);
	TWO(__vaddss2);
	TWO(__vaddss4);
	TWO(__vaddus2);
	TWO(__vaddus4);
	TWO(__vsub2);
	TWO(__vsub4);
	TWO(__vsubss2);
	TWO(__vsubss4);
	TWO(__vsubus2);
	TWO(__vsubus4);
	TWO(__vavgs2);
	TWO(__vavgs4);
	TWO(__vavgu2);
	TWO(__vavgu4);
	TWO(__vhaddu2);
	TWO(__vhaddu4);
	TWO(__vmaxs2);
	TWO(__vmaxs4);
	TWO(__vmaxu2);
	TWO(__vmaxu4);
	TWO(__vmins2);
	TWO(__vmins4);
	TWO(__vminu2);
	TWO(__vminu4);
	TWO(__vabsdiffs2);
	TWO(__vabsdiffs4);
	TWO(__vabsdiffu2);
	TWO(__vabsdiffu4);
	TWO(__vsads2);
	TWO(__vsads4);
	TWO(__vsadu2);
	TWO(__vsadu4);
	TWO(__vcmpeq2);
	TWO(__vcmpeq4);
	TWO(__vcmpges2);
	TWO(__vcmpgeu4);
	TWO(__vcmpgts4);
	TWO(__vcmpgtu2);
	TWO(__vcmples2);
	TWO(__vcmpleu4);
	TWO(__vcmplts4);
	TWO(__vcmpltu2);
	TWO(__vcmpne4);
	TWO(__vseteq2);
	TWO(__vseteq4);
	TWO(__vsetges2);
	TWO(__vsetgeu4);
	TWO(__vsetgts4);
	TWO(__vsetgtu2);
	TWO(__vsetles2);
	TWO(__vsetleu4); TWO(__vsetlts4); TWO(__vsetltu2); TWO(__vsetne2); TWO(__vsetne4);
	r ^= __vabs2(u[k]) ^ __vabs4(u[k + 1]) ^ __vabsss2(u[k + 2]) ^ __vabsss4(u[k + 3]) ^
	     __vneg2(u[k + 4]) ^ __vnegss4(u[k + 5]);
	u[0] = r;
}

__global__ void wide(__int128 *p)
{
	p[2] = p[0] * p[1] + (p[0] >> 5) - (p[1] << 70);
	p[3] = p[0] < p[1] ? p[0] / 3 : -p[1];
}
