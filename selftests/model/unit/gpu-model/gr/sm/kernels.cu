// SPDX-License-Identifier: GPL-2.0-only
// Device side of kernels_test.c. kernels.cubin is what nvcc 11.8 -arch=sm_35 -cubin makes of it.
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;
typedef int s32;

#define TILE 16
#define ME (blockIdx.x * blockDim.x + threadIdx.x)
#define OUT(x) out[(op++) * n + i] = (x)

extern "C" __global__ void sgemm(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * TILE + y,
	    col = blockIdx.x * TILE + x;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		ta[y][x] = a[row * n + k + x];
		tb[y][x] = b[(k + y) * n + col];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += ta[y][i] * tb[i][x];
		__syncthreads();
	}
	c[row * n + col] = sum;
}

extern "C" __global__ void int_ops(const u32 *pa, const u32 *pb, const u32 *pc, u32 *out, u32 n)
{
	u32 i = ME, op = 0, a = pa[i], b = pb[i], c = pc[i];
	s32 sa = a, sb = b, sc = c;

	OUT(a + b);
	OUT(a - b);
	OUT(a * b + c);
	OUT(__umulhi(a, b));
	OUT(__mulhi(sa, sb));
	OUT(__mul24(sa, sb));
	OUT(__umul24(a, b));
	OUT(__sad(sa, sb, c));
	OUT(__usad(a, b, c));
	OUT(min(sa, sb));
	OUT(max(a, b));
	OUT(a / (b | 1));
	OUT(sa / (sb | 1));
	OUT(sa % (sb | 1));
	OUT(a & b);
	OUT(a | ~b);
	OUT(a ^ b);
	OUT(a << (b & 31));
	OUT(a >> (b & 31));
	OUT(sa >> (sb & 31));
	OUT(__funnelshift_l(a, b, c));
	OUT(__funnelshift_r(a, b, c));
	OUT(__funnelshift_lc(a, b, c & 63));
	OUT(__funnelshift_rc(a, b, c & 63));
	OUT(__popc(a));
	OUT(__clz(a));
	OUT(__ffs(a));
	OUT(__brev(a));
	OUT(__byte_perm(a, b, c));
	u32 r;
	asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 255), "r"(c & 63));
	OUT(r);
	asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 255), "r"(c & 63));
	OUT(r);
	asm("bfi.b32 %0, %1, %2, %3, %4;"
	    : "=r"(r)
	    : "r"(a), "r"(c), "r"(b & 255), "r"(b >> 8 & 63));
	OUT(r);
	asm("bfind.u32 %0, %1;" : "=r"(r) : "r"(a));
	OUT(r);
	asm("bfind.s32 %0, %1;" : "=r"(r) : "r"(a));
	OUT(r);
	asm("bfind.shiftamt.u32 %0, %1;" : "=r"(r) : "r"(a));
	OUT(r);
	asm("add.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	OUT(r);
	asm("sub.sat.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
	OUT(r);
	asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 63));
	OUT(r);
	asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 63));
	OUT(r);
	asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	asm("prmt.b32.b4e %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	asm("prmt.b32.rc8 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	asm("prmt.b32.ecl %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	asm("prmt.b32.ecr %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	asm("prmt.b32.rc16 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	asm("mad24.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	OUT(r);
	OUT((s32)(signed char)a);
	OUT((s32)(short)(a >> 8));
	OUT((a & 255) * (b >> 24) + (short)c);
	OUT(sa < sb ? c : a);
	OUT(a <= b && sa != sc ? 7 : c);
	OUT((sc < 0) + (a == b) * 2 + (sa >= sb) * 4 + (a > b) * 8);
	OUT(abs(sa) - -sb);
	OUT((a << 5) + b);
	OUT(b - (a << 3));
}

extern "C" __global__ void long_ops(const u64 *pa, const u64 *pb, u64 *out, u32 n)
{
	u32 i = ME, op = 0;
	u64 a = pa[i], b = pb[i];
	s64 sa = a, sb = b;

	OUT(a + b);
	OUT(a - b);
	OUT(a * b);
	OUT(__umul64hi(a, b));
	OUT(__mul64hi(sa, sb));
	OUT(a / (b | 1));
	OUT(sa % (sb | 1));
	OUT(a << (b & 63));
	OUT(a >> (b & 63));
	OUT(sa >> (b & 63));
	OUT(a << 7);
	OUT(sa >> 9);
	OUT(a >> 37);
	OUT(sa < sb);
	OUT(a < b);
	OUT(sa <= sb);
	OUT(a >= b);
	OUT(sa > sb ? a : b);
	OUT(min(sa, sb));
	OUT(max(a, b));
	OUT(__popcll(a));
	OUT(__clzll(a));
	OUT(__ffsll(a));
	OUT(__brevll(a));
	OUT(a == b);
	OUT((u64)(u32)a * (u32)b + a);
	OUT((s64)(s32)a * (s32)b);
	OUT(llabs(sa));
	OUT(~a & (b ^ 0x123456789abcdefull));
}

extern "C" __global__ void float_ops(const float *pa, const float *pb, const float *pc, float *out,
				     u32 n)
{
	u32 i = ME, op = 0;
	float a = pa[i], b = pb[i], c = pc[i], r;

	OUT(__fadd_rn(a, b));
	OUT(__fadd_rz(a, b));
	OUT(__fadd_ru(a, b));
	OUT(__fadd_rd(a, b));
	OUT(__fmul_rn(a, b));
	OUT(__fmul_rz(a, b));
	OUT(__fmul_ru(a, b));
	OUT(__fmul_rd(a, b));
	OUT(__fmaf_rn(a, b, c));
	OUT(__fmaf_rz(a, b, c));
	OUT(__fmaf_ru(a, b, c));
	OUT(__fmaf_rd(a, b, c));
	OUT(__fsub_rn(a, b));
	OUT(a / b);
	OUT(sqrtf(fabsf(a)));
	OUT(__frcp_rn(a));
	OUT(__fdiv_rz(a, b));
	OUT(__fsqrt_ru(fabsf(b)));
	OUT(fminf(a, b));
	OUT(fmaxf(a, b));
	OUT(floorf(a));
	OUT(ceilf(a));
	OUT(truncf(a));
	OUT(rintf(a));
	OUT(-fabsf(a));
	OUT(a < b ? c : a);
	OUT((float)((a >= b) + 2 * !(a >= b) + 4 * (a != c) + 8 * (a == b) + 16 * (a <= c) +
		    32 * (a > c)));
	OUT(__saturatef(a));
	asm("add.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
	OUT(r);
	asm("mul.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
	OUT(r);
	asm("fma.rn.ftz.sat.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
	OUT(r);
	asm("min.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
	OUT(r);
	OUT(-(a * b) - c);
	OUT(a * 0.5f + 8.0f);
}

extern "C" __global__ void double_ops(const double *pa, const double *pb, const double *pc,
				      double *out, u32 n)
{
	u32 i = ME, op = 0;
	double a = pa[i], b = pb[i], c = pc[i];

	OUT(__dadd_rn(a, b));
	OUT(__dadd_rz(a, b));
	OUT(__dadd_ru(a, b));
	OUT(__dadd_rd(a, b));
	OUT(__dmul_rn(a, b));
	OUT(__dmul_ru(a, b));
	OUT(__fma_rn(a, b, c));
	OUT(__fma_rd(a, b, c));
	OUT(__fma_rz(a, b, c));
	OUT(a / b);
	OUT(sqrt(fabs(a)));
	OUT(__drcp_rn(a));
	OUT(fmin(a, b));
	OUT(fmax(a, b));
	OUT(floor(a));
	OUT(ceil(a));
	OUT(trunc(a));
	OUT(rint(a));
	OUT(a - b);
	OUT(-fabs(a) * b);
	OUT(a < b ? c : a);
	OUT((double)((a >= b) + 2 * !(a >= b) + 4 * (a != c) + 8 * (a == b) + 16 * (a <= c) +
		     32 * (a > c)));
}

extern "C" __global__ void convert(const u32 *pa, const double *pd, u64 *out, u32 n)
{
	u32 i = ME, op = 0, a = pa[i];
	float f = __uint_as_float(a);
	double d = pd[i];
	u64 q = __double_as_longlong(d);
	unsigned short h;
	float r;
	s32 n16;

	OUT(__float_as_uint((float)a));
	OUT(__float_as_uint((float)(s32)a));
	OUT(__float_as_uint(__uint2float_rz(a)));
	OUT(__float_as_uint(__int2float_ru(a)));
	OUT(__float_as_uint(__int2float_rd(a)));
	OUT(__double_as_longlong((double)a));
	OUT(__double_as_longlong((double)(s32)a));
	OUT(__float_as_uint((float)q));
	OUT(__float_as_uint((float)(s64)q));
	OUT(__double_as_longlong((double)q));
	OUT(__double_as_longlong((double)(s64)q));
	OUT(__double_as_longlong(__ll2double_ru(q)));
	OUT((u32)(s32)f);
	OUT((u32)f);
	OUT(__float2uint_ru(f));
	OUT((u32)__float2int_rd(f));
	OUT((u32)__float2int_rn(f));
	OUT((u64)(s64)f);
	OUT((u64)f);
	OUT((u32)(s32)d);
	OUT((u32)d);
	OUT((u64)(s64)d);
	OUT((u64)d);
	OUT((u32)__double2int_ru(d));
	OUT(__float_as_uint((float)d));
	OUT(__float_as_uint(__double2float_rz(d)));
	OUT(__float_as_uint(__double2float_ru(d)));
	OUT(__double_as_longlong((double)f));
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
	OUT((u64)h);
	h = a;
	asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(h));
	OUT(__float_as_uint(r));
	OUT((u64)(s64)(signed char)(a >> 16));
	asm("{ .reg .s16 t; cvt.rzi.s16.f32 t, %1; cvt.s32.s16 %0, t; }" : "=r"(n16) : "f"(f));
	OUT((u32)n16);
	asm("{ .reg .u16 t; cvt.rni.u8.f32 t, %1; cvt.u32.u16 %0, t; }" : "=r"(n16) : "f"(f));
	OUT((u32)n16);
	OUT(__float_as_uint((float)(unsigned char)(a >> 8)));
	OUT(__float_as_uint((float)(short)(a >> 16)));
}

extern "C" __global__ void mufu(const float *pa, float *out, u32 n)
{
	u32 i = ME, op = 0;
	float a = pa[i], r;

	asm("sin.approx.f32 %0, %1;" : "=f"(r) : "f"(a));
	OUT(r);
	asm("cos.approx.f32 %0, %1;" : "=f"(r) : "f"(a));
	OUT(r);
	asm("ex2.approx.f32 %0, %1;" : "=f"(r) : "f"(a));
	OUT(r);
	asm("lg2.approx.f32 %0, %1;" : "=f"(r) : "f"(fabsf(a)));
	OUT(r);
	asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(a));
	OUT(r);
	asm("rsqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(fabsf(a)));
	OUT(r);
	asm("sqrt.approx.f32 %0, %1;" : "=f"(r) : "f"(fabsf(a)));
	OUT(r);
	asm("div.approx.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(3.0f));
	OUT(r);
}

extern "C" __global__ void video(const u32 *pa, const u32 *pb, const u32 *pc, u32 *out, u32 n)
{
	u32 i = ME, op = 0, a = pa[i], b = pb[i], c = pc[i], r;

	OUT(__vadd4(a, b));
	OUT(__vsub4(a, b));
	OUT(__vaddss4(a, b));
	OUT(__vaddus4(a, b));
	OUT(__vabsdiffs4(a, b));
	OUT(__vabsdiffu4(a, b));
	OUT(__vmins4(a, b));
	OUT(__vmaxu4(a, b));
	OUT(__vavgu4(a, b));
	OUT(__vcmpgts4(a, b));
	OUT(__vcmpeq4(a, b));
	OUT(__vsetleu4(a, b));
	OUT(__vsads4(a, b));
	OUT(__vsadu4(a, b));
	OUT(__vadd2(a, b));
	OUT(__vsubss2(a, b));
	OUT(__vabsdiffu2(a, b));
	OUT(__vmaxs2(a, b));
	OUT(__vminu2(a, b));
	OUT(__vcmplts2(a, b));
	OUT(__vsadu2(a, b));
	OUT(__vneg4(a));
	OUT(__vabs2(a));
	OUT(__vavgs2(a, b));
#define V(text) asm(text : "=r"(r) : "r"(a), "r"(b), "r"(c)); OUT(r)
	V("vadd.s32.u32.s32 %0, %1.b2, %2.h1;");
	V("vadd.s32.s32.u32.sat %0, %1, %2;");
	V("vadd.u32.u32.u32.add %0, %1.b1, %2.b3, %3;");
	V("vsub.s32.s32.s32.min %0, %1.h0, %2.h1, %3;");
	V("vabsdiff.s32.s32.s32 %0, %1, %2;");
	V("vabsdiff.u32.u32.u32.add %0, %1.b0, %2.b1, %3;");
	V("vmin.s32.s32.s32 %0.h1, %1.h0, %2.h1, %3;");
	V("vmax.u32.u32.u32 %0.b2, %1.b0, %2.b3, %3;");
	V("vshl.u32.u32.u32.clamp %0, %1, %2.b0;");
	V("vshr.s32.s32.u32.wrap.add %0, %1, %2.b0, %3;");
	V("vmad.s32.s32.s32 %0, %1.h0, %2.h1, %3;");
	V("vmad.u32.u32.u32.shr7 %0, %1.h1, %2.h0, %3;");
	V("vmad.s32.s32.s32.sat.shr15 %0, %1.h1, %2.h0, -%3;");
	V("vset.s32.u32.lt %0, %1.b1, %2.b2;");
	V("vset.u32.u32.ge.add %0, %1, %2, %3;");
	V("vadd4.s32.u32.s32 %0, %1, %2, %3;");
	V("vadd4.u32.u32.u32.sat %0.b20, %1.b7531, %2.b6420, %3;");
	V("vsub4.s32.s32.s32.add %0, %1, %2, %3;");
	V("vavrg4.u32.s32.u32 %0, %1.b0123, %2.b4567, %3;");
	V("vabsdiff4.s32.u32.u32.add %0, %1, %2, %3;");
	V("vmin4.s32.u32.s32.sat %0, %1, %2, %3;");
	V("vmax2.s32.s32.s32.add %0, %1.h10, %2.h32, %3;");
	V("vset4.u32.s32.gt.add %0, %1, %2, %3;");
	V("vset2.s32.s32.ne %0, %1, %2, %3;");
	V("vavrg2.s32.s32.s32 %0.h1, %1, %2, %3;");
}

__device__ __noinline__ u32 ackermann(u32 m, u32 n)
{
	if (m == 0)
		return n + 1;
	return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void control(const u32 *pa, u32 *out, u32 n)
{
	u32 i = ME, op = 0, a = pa[i], s = 0, t = 0;

	for (u32 k = 0; k < 100; k++) {
		if (k % (a % 7 + 2) == 1)
			continue;
		for (u32 j = 0; j < (a >> 8) % 20; j++) {
			if (j * k > (a & 255))
				break;
			s += j ^ k;
			if ((s & 31) == 7)
				goto out;
		}
		if (s > 5000)
			break;
		t += s;
	}
out:
	OUT(s);
	OUT(t);
	switch (a % 11) {
	case 0: s += 17; break;
	case 1: s ^= 0x55; /* fall through */
	case 2: s *= 3; break;
	case 3: s = s << 3 | s >> 29; break;
	case 4: t = s; s = ~s; break;
	case 5: while (s & 1) s >>= 1; break;
	case 6: do s += t & 3; while (s % 5); break;
	case 7: return;
	case 8: s -= t; break;
	case 9: s = t / 3; break;
	}
	OUT(s);
	OUT(ackermann(a % 3, a / 3 % 4));
	u32 v = a | 1, steps = 0;
	while (v != 1 && steps < 500) {
		v = v & 1 ? 3 * v + 1 : v / 2;
		steps++;
	}
	OUT(steps);
	OUT(v);
}

/* generic addresses: global, shared and local memory through the same pointer */
extern "C" __global__ void generic(u32 *in, u32 *out, u32 n)
{
	__shared__ u32 sh[256];
	u32 loc[16], i = ME, op = 0, l = threadIdx.x;
	u32 *p;

	sh[l] = in[i] * 3;
	for (u32 k = 0; k < 16; k++)
		loc[(k * 7 + in[i]) & 15] = in[i] + k;
	__syncthreads();
	p = in[i] % 3 == 0 ? &sh[l ^ 1] : in[i] % 3 == 1 ? &in[i] : &loc[in[i] >> 4 & 15];
	OUT(*p);
	*(volatile unsigned char *)p = 0x5a;
	OUT(*(volatile u32 *)p);
	u32 s = 0;
	for (u32 k = 0; k < 16; k++)
		s = s * 31 + loc[(k + l) & 15];
	OUT(s);
	uint4 *q = (uint4 *)(out + 4 * n + 4 * i);
	*q = make_uint4(i, s, l, sh[l]);
	double2 *d = (double2 *)sh;
	__syncthreads();
	if (l < 32)
		d[l] = make_double2(l, -1.0 * l);
	__syncthreads();
	OUT(sh[l & 127]);
}

extern "C" __global__ void atomics(u32 *w, u64 *q, float *f, u32 *out, u32 n)
{
	__shared__ u32 s[8];
	__shared__ u64 sq[2];
	__shared__ float sf;
	u32 i = ME, l = threadIdx.x;

	if (l < 8)
		s[l] = l == 2 ? ~0u : l == 4 ? ~0u : 0;
	if (l < 2)
		sq[l] = 0;
	if (l == 0)
		sf = 0;
	__syncthreads();
	out[i] = atomicAdd(&w[0], i);
	atomicSub(&w[1], i);
	atomicMin((s32 *)&w[2], (s32)(i * 2654435761u));
	atomicMax(&w[3], i * 2654435761u);
	atomicAnd(&w[4], ~(1u << (i & 31)) | 0xf0f0f0f0);
	atomicOr(&w[5], 1u << (i % 29));
	atomicXor(&w[6], i);
	atomicInc(&w[7], 999);
	atomicDec(&w[8], 777);
	if (atomicCAS(&w[9], 0, i + 1) == 0)
		w[10] = i + 1;
	out[n + i] = atomicExch(&w[11 + i % 3], i);
	atomicAdd(&q[0], (u64)i << 20);
	atomicMax(&q[1], (u64)i * 0x123456789ull);
	atomicCAS(&q[2], 5ull, 0x1122334455667788ull);
	atomicExch(&q[3], 42ull);
	atomicXor(&q[4], (u64)i << 33);
	atomicAdd(f, 1.0f);
	atomicAdd(&s[0], i);
	atomicMax(&s[1], i);
	atomicMin(&s[2], i + 3);
	atomicXor(&s[3], i * 7);
	atomicAnd(&s[4], ~(l & 0xff00));
	atomicCAS(&s[5], 0, 77);
	atomicInc(&s[6], 9);
	atomicAdd(&sq[0], (u64)i << 30);
	atomicAdd(&sf, 0.5f);
	__syncthreads();
	if (l < 8)
		atomicAdd(&w[16 + l], s[l]);
	if (l == 8)
		atomicAdd(&q[5], sq[0]);
	if (l == 9)
		atomicAdd(&f[1], sf);
}

extern "C" __global__ void warps(const u32 *pa, u32 *out, u32 n)
{
	u32 i = ME, op = 0, a = pa[i], r, lane = threadIdx.x & 31;

	OUT(__shfl_sync(~0u, a, a & 31));
	OUT(__shfl_up_sync(~0u, a, 3));
	OUT(__shfl_down_sync(~0u, a, 5, 16));
	OUT(__shfl_xor_sync(~0u, a, 9));
	OUT(__shfl_sync(~0u, a, 13, 8));
	OUT(__shfl_up_sync(~0u, a, a >> 5 & 7, 8));
	asm("{ .reg .pred p; shfl.down.b32 %0|p, %1, 7, 0x1c03; selp.u32 %0, %0, 0xdead, p; }" : "=r"(r) : "r"(a));
	OUT(r);
	OUT(__ballot_sync(~0u, a & 1));
	OUT(__any_sync(~0u, a == 0x1234) + 2 * __all_sync(~0u, a != 0x4321));
	if (a & 2)
		r = __ballot_sync(__activemask(), a & 4);
	else
		r = __popc(__activemask());
	OUT(r);
	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
	OUT(r);
	asm("mov.u32 %0, %%lanemask_ge;" : "=r"(r));
	OUT(r);
	asm("mov.u32 %0, %%laneid;" : "=r"(r));
	OUT(r - lane);
	OUT(threadIdx.x + 1000 * blockIdx.x + 1000000 * blockDim.x + 100000000 * gridDim.x);
}

extern "C" __global__ void barriers(u32 *out, u32 n)
{
	__shared__ u32 box[4];
	u32 l = threadIdx.x, warp = l / 32, i = ME, op = 0;

	OUT(__syncthreads_count(l % 3 == 0));
	OUT(__syncthreads_and(l < 1000) + 2 * __syncthreads_and(l < 10) +
	    4 * __syncthreads_or(l == 77) + 8 * __syncthreads_or(0));
	/* warp 0 hands words to warp 1: barrier 1 says that one is there, 2 that it was read */
	if (warp == 0) {
		for (u32 k = 0; k < 10; k++) {
			if (l == 0)
				box[0] = k * k;
			__threadfence_block();
			asm volatile("bar.arrive 1, 64;");
			asm volatile("bar.sync 2, 64;");
		}
		OUT(0);
	} else if (warp == 1) {
		u32 s = 0;
		for (u32 k = 0; k < 10; k++) {
			asm volatile("bar.sync 1, 64;");
			s = s * 3 + ((volatile u32 *)box)[0];
			asm volatile("bar.arrive 2, 64;");
		}
		OUT(s);
	} else {
		OUT(warp);
		if (warp == 3)
			return;
	}
	__syncthreads();
	/* one warp waits for what another one writes */
	if (l == 64)
		((volatile u32 *)box)[1] = 0xabcd;
	if (l == 0)
		while (((volatile u32 *)box)[1] != 0xabcd)
			;
	__syncthreads();
	if (l == 0)
		out[op * n + i] = ((volatile u32 *)box)[1];
}

/* every CTA waits for every other: they must be resident together */
extern "C" __global__ void grid_wait(volatile u32 *count, u32 *out)
{
	for (u32 round = 1; round <= 3; round++) {
		__syncthreads();
		if (threadIdx.x == 0) {
			atomicAdd((u32 *)count, 1);
			while (*count < round * gridDim.x)
				;
		}
		__syncthreads();
	}
	out[ME] = *count;
}

/*
 * As CTAs of NVIDIA's libraries meet that keep the chip's pace: each must see the count's exact
 * value, which the first one that goes on changes after some accesses to memory.
 */
extern "C" __global__ void keep_pace(volatile u32 *count, u32 *missed)
{
	__shared__ u32 box;

	for (u32 round = 1; round <= 8; round++) {
		__syncthreads();
		if (threadIdx.x == 0) {
			u32 spins = 0;

			atomicAdd((u32 *)count, 1);
			while (*count != round * gridDim.x && ++spins < 50000)
				;
			if (spins == 50000)
				atomicAdd(missed, 1);
			box = count[1];
		}
		__threadfence();
		__syncthreads();
		if (box + count[1])
			break;
	}
}

extern "C" __global__ void endless(volatile u32 *p)
{
	while (*p != 0x600d)
		;
}

extern "C" __global__ void store_at(u32 *p, u32 v)
{
	*p = v;
}

extern "C" __global__ void shared_at(u32 *out, u32 off)
{
	extern __shared__ u32 dyn[];

	dyn[off] = 5;
	__syncthreads();
	out[threadIdx.x] = dyn[off];
}

extern "C" __global__ void trap_now(u32 *out)
{
	out[0] = 1;
	if (out[1] == 0)
		asm volatile("trap;");
	out[2] = 1;
}

/* loads through the read-only cache, every width */
extern "C" __global__ void ldg(const u32 *p, u32 *out, u32 n)
{
	u32 i = ME, op = 0;

	OUT(__ldg(p + i));
	OUT(__ldg((const unsigned char *)p + i));
	OUT((u32)(s32)__ldg((const signed char *)p + i));
	OUT(__ldg((const unsigned short *)p + i));
	OUT((u32)(s32)__ldg((const short *)p + i));
	OUT(__ldg((const uint2 *)p + i / 2).y);
	uint4 q = __ldg((const uint4 *)p + i / 4);
	OUT(q.x + 3 * q.y + 5 * q.z + 7 * q.w);
}

extern "C" __global__ void textures(const float *px, const float *py, float *out, u32 n,
				    cudaTextureObject_t line, cudaTextureObject_t plane,
				    cudaTextureObject_t volume, cudaTextureObject_t layers)
{
	u32 i = ME, op = 0;
	float x = px[i], y = py[i];
	float4 v;

	OUT(tex1Dfetch<float>(line, (s32)(x * 64)));
	v = tex2D<float4>(plane, x * 16, y * 16);
	OUT(v.x);
	OUT(v.w);
	v = tex2DLod<float4>(plane, x * 16, y * 16, 0);
	OUT(v.y);
	OUT(tex3D<float>(volume, x, y, 0.3f));
	OUT(tex2DLayered<float>(layers, x * 16, y * 16, i % 4));
	v = tex2Dgather<float4>(plane, x * 16, y * 16, 1);
	OUT(v.x + 1000 * v.y);
	OUT(v.z + 1000 * v.w);
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t plane, cudaSurfaceObject_t volume, u32 *out,
				    u32 n)
{
	u32 i = ME, op = 0, v, x = i % 24, y = i / 24 % 20;
	short h;
	int4 q;

	surf2Dread(&v, plane, x * 4, y);
	OUT(v);
	surf2Dread(&v, plane, (s32)x * 4 - 16, (s32)y - 2, cudaBoundaryModeZero);
	OUT(v);
	surf2Dread(&v, plane, (s32)x * 4 - 16, (s32)y - 2, cudaBoundaryModeClamp);
	OUT(v);
	surf2Dread(&h, plane, x * 2, y, cudaBoundaryModeZero);
	OUT((u32)(s32)h);
	surf3Dread(&q, volume, (i % 4) * 16, i / 4 % 4, i / 16 % 4);
	OUT(q.x + q.w * 3);
	q.x += 1;
	q.w = i;
	surf3Dwrite(q, volume, (4 + i % 4) * 16, i / 4 % 4, i / 16 % 4);
	surf2Dwrite(i * 3, plane, (x + 24) * 4, y);
}

typedef int (*step_fn)(int);
__device__ __noinline__ int step_a(int x) { return x * 3 + 1; }
__device__ __noinline__ int step_b(int x) { return x ^ 0x55; }
__device__ __noinline__ int step_c(int x) { return x - 7; }
__device__ step_fn steps[3] = { step_a, step_b, step_c };
struct shape { __device__ virtual int area(int x) { return x; } };
struct square : shape { __device__ int area(int x) { return x * x; } };
__constant__ int weights[64] = { 3, 1, 4, 1, 5, 9, 2, 6 };

/* calls through pointers and virtual functions, each lane its own; constants by index */
extern "C" __global__ void indirect(int *out)
{
	int i = ME, r = steps[i % 3](i);
	shape line;
	square sq;
	shape *p = i & 1 ? &line : &sq;

	out[i] = r + p->area(i) + weights[i & 7];
}
