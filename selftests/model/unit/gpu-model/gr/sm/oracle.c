// SPDX-License-Identifier: GPL-2.0-only
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "gr/sm/oracle.h"

#define OUT(x) out[op++] = (x)

/* ------------------------------------------------------------------ integers */

static uint32_t funnel(uint32_t lo, uint32_t hi, uint32_t s, bool left)
{
	uint64_t v = lo | (uint64_t)hi << 32;

	return left ? (uint32_t)(v << s >> 32) : (uint32_t)(v >> s);
}

static uint32_t field(uint32_t a, uint32_t pos, uint32_t len, bool sign)
{
	uint32_t d = 0, at = len ? (pos + len - 1 > 31 ? 31 : pos + len - 1) : 0,
		 fill = sign && len ? a >> at & 1 : 0;

	for (unsigned int i = 0; i < 32; i++)
		d |= (i < len && pos + i <= 31 ? a >> (pos + i) & 1 : fill) << i;
	return d;
}

static uint32_t insert(uint32_t a, uint32_t c, uint32_t pos, uint32_t len)
{
	for (unsigned int i = 0; i < len && pos + i <= 31; i++)
		c = (c & ~(1u << (pos + i))) | (a >> i & 1) << (pos + i);
	return c;
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t sel)
{
	uint64_t v = a | (uint64_t)b << 32;
	uint32_t r = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint32_t s = sel >> (4 * i), byte = v >> (8 * (s & 7)) & 255;

		if (s & 8)
			byte = byte & 0x80 ? 255 : 0;
		r |= byte << (8 * i);
	}
	return r;
}

static uint32_t bits_reversed(uint32_t v)
{
	uint32_t r = 0;

	for (unsigned int i = 0; i < 32; i++)
		r |= (v >> i & 1) << (31 - i);
	return r;
}

static uint32_t clamp32(int64_t v)
{
	return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? (uint32_t)INT32_MIN : (uint32_t)v;
}

unsigned int oracle_int(uint32_t a, uint32_t b, uint32_t c, uint32_t *out)
{
	static const uint16_t f4e[] = { 0x3210, 0x4321, 0x5432, 0x6543 },
			      b4e[] = { 0x5670, 0x6701, 0x7012, 0x0123 };
	static const uint16_t ecl[] = { 0x3210, 0x3211, 0x3222, 0x3333 },
			      ecr[] = { 0x0000, 0x1110, 0x2210, 0x3210 };
	int32_t sa = a, sb = b, sc = c, a24 = (int32_t)(a << 8) >> 8, b24 = (int32_t)(b << 8) >> 8;
	int64_t d1 = (int64_t)(sb | 1);
	unsigned int op = 0;

	OUT(a + b);
	OUT(a - b);
	OUT(a * b + c);
	OUT((uint32_t)((uint64_t)a * b >> 32));
	OUT((uint32_t)((int64_t)sa * sb >> 32));
	OUT((uint32_t)((int64_t)a24 * b24));
	OUT((a & 0xffffff) * (b & 0xffffff));
	OUT((uint32_t)llabs((int64_t)sa - sb) + c);
	OUT((a > b ? a - b : b - a) + c);
	OUT(sa < sb ? a : b);
	OUT(a > b ? a : b);
	OUT(a / (b | 1));
	OUT((uint32_t)(sa / d1));
	OUT((uint32_t)(sa % d1));
	OUT(a & b);
	OUT(a | ~b);
	OUT(a ^ b);
	OUT(a << (b & 31));
	OUT(a >> (b & 31));
	OUT((uint32_t)(sa >> (b & 31)));
	OUT(funnel(a, b, c & 31, true));
	OUT(funnel(a, b, c & 31, false));
	OUT(funnel(a, b, (c & 63) > 32 ? 32 : c & 63, true));
	OUT(funnel(a, b, (c & 63) > 32 ? 32 : c & 63, false));
	OUT(__builtin_popcount(a));
	OUT(a ? __builtin_clz(a) : 32);
	OUT(__builtin_ffs(sa));
	OUT(bits_reversed(a));
	/* __byte_perm() ignores the sign bits of the selector */
	OUT(permute(a, b, c & 0x7777));
	OUT(field(a, b & 255, c & 63, false));
	OUT(field(a, b & 255, c & 63, true));
	OUT(insert(a, c, b & 255, b >> 8 & 63));
	OUT(a ? 31u - __builtin_clz(a) : ~0u);
	OUT((sa < 0 ? ~a : a) ? 31u - __builtin_clz(sa < 0 ? ~a : a) : ~0u);
	OUT(a ? (uint32_t)__builtin_clz(a) : ~0u);
	OUT(clamp32((int64_t)sa + sb));
	OUT(clamp32((int64_t)sa - sb));
	OUT((b & 63) > 31 ? 0 : a << (b & 31));
	OUT((uint32_t)(sa >> ((b & 63) > 31 ? 31 : b & 31)));
	OUT(permute(a, b, f4e[c & 3]));
	OUT(permute(a, b, b4e[c & 3]));
	OUT(permute(a, b, (c & 3) * 0x1111));
	OUT(permute(a, b, ecl[c & 3]));
	OUT(permute(a, b, ecr[c & 3]));
	OUT(permute(a, b, c & 1 ? 0x3232 : 0x1010));
	OUT((uint32_t)((int64_t)sa * sb >> 32) + c);
	OUT((uint32_t)((uint64_t)(a & 0xffffff) * (b & 0xffffff) >> 16) + c);
	OUT((uint32_t)(int8_t)a);
	OUT((uint32_t)(int16_t)(a >> 8));
	OUT((a & 255) * (b >> 24) + (uint32_t)(int16_t)c);
	OUT(sa < sb ? c : a);
	OUT(a <= b && sa != sc ? 7 : c);
	OUT((sc < 0) + (a == b) * 2 + (sa >= sb) * 4 + (a > b) * 8);
	OUT((uint32_t)llabs(sa) + b);
	OUT((a << 5) + b);
	OUT(b - (a << 3));
	return op;
}

unsigned int oracle_long(uint64_t a, uint64_t b, uint64_t *out)
{
	int64_t sa = a, sb = b, sd = (int64_t)(b | 1);
	unsigned int op = 0;

	OUT(a + b);
	OUT(a - b);
	OUT(a * b);
	OUT((uint64_t)((unsigned __int128)a * b >> 64));
	OUT((uint64_t)((__int128)sa * sb >> 64));
	OUT(a / (b | 1));
	OUT(sd == -1 ? 0 : (uint64_t)(sa % sd));
	OUT(a << (b & 63));
	OUT(a >> (b & 63));
	OUT((uint64_t)(sa >> (b & 63)));
	OUT(a << 7);
	OUT((uint64_t)(sa >> 9));
	OUT(a >> 37);
	OUT(sa < sb);
	OUT(a < b);
	OUT(sa <= sb);
	OUT(a >= b);
	OUT(sa > sb ? a : b);
	OUT(sa < sb ? a : b);
	OUT(a > b ? a : b);
	OUT(__builtin_popcountll(a));
	OUT(a ? __builtin_clzll(a) : 64);
	OUT(__builtin_ffsll(sa));
	OUT((uint64_t)bits_reversed((uint32_t)a) << 32 | bits_reversed((uint32_t)(a >> 32)));
	OUT(a == b);
	OUT((uint64_t)(uint32_t)a * (uint32_t)b + a);
	OUT((uint64_t)((int64_t)(int32_t)a * (int32_t)b));
	OUT(sa < 0 ? 0 - a : a);
	OUT(~a & (b ^ 0x123456789abcdefull));
	return op;
}

/* ------------------------------------------- floats: volatile, so that each rounding mode holds */

static uint32_t f(float v)
{
	uint32_t b;

	memcpy(&b, &v, 4);
	return v != v ? 0x7fffffff : b;
}

static uint64_t d(double v)
{
	uint64_t b;

	memcpy(&b, &v, 8);
	return v != v ? 0x7ff8000000000000ull : b;
}

static float flushed(float v)
{
	return fpclassify(v) == FP_SUBNORMAL ? copysignf(0, v) : v;
}

enum what { ADD, MUL, FMA, DIV, SQRT };

#define ROUNDED(name, type, fma, sqrt)                                     \
	static type name(enum what what, int mode, type a, type b, type c) \
	{                                                                  \
		volatile type x = a, y = b, z = c, r;                      \
                                                                           \
		fesetround(mode);                                          \
		r = what == ADD ? x + y :                                  \
		    what == MUL ? x * y :                                  \
		    what == FMA ? fma(x, y, z) :                           \
		    what == DIV ? x / y :                                  \
				  sqrt(x);                                 \
		fesetround(FE_TONEAREST);                                  \
		return r;                                                  \
	}
ROUNDED(fdo, float, fmaf, sqrtf)
ROUNDED(ddo, double, fma, sqrt)

static float fpick(float a, float b, bool min)
{
	if (a != a || b != b)
		return a != a ? b : a;
	if (a == b)
		return !!signbit(a) == min ? a : b;
	return (a < b) == min ? a : b;
}

unsigned int oracle_float(float a, float b, float c, uint32_t *out)
{
	static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };
	float sat = fmaf(flushed(a), flushed(b), flushed(c));
	unsigned int op = 0;

	for (unsigned int i = 0; i < 4; i++)
		OUT(f(fdo(ADD, modes[i], a, b, 0)));
	for (unsigned int i = 0; i < 4; i++)
		OUT(f(fdo(MUL, modes[i], a, b, 0)));
	for (unsigned int i = 0; i < 4; i++)
		OUT(f(fdo(FMA, modes[i], a, b, c)));
	OUT(f(a - b));
	OUT(f(a / b));
	OUT(f(sqrtf(fabsf(a))));
	OUT(f(1.0f / a));
	OUT(f(fdo(DIV, FE_TOWARDZERO, a, b, 0)));
	OUT(f(fdo(SQRT, FE_UPWARD, fabsf(b), 0, 0)));
	OUT(f(fpick(a, b, true)));
	OUT(f(fpick(a, b, false)));
	OUT(f(floorf(a)));
	OUT(f(ceilf(a)));
	OUT(f(truncf(a)));
	OUT(f(rintf(a)));
	OUT(f(-fabsf(a)));
	OUT(f(a < b ? c : a));
	OUT(f((float)((a >= b) + 2 * !(a >= b) + 4 * (a != c) + 8 * (a == b) + 16 * (a <= c) +
		      32 * (a > c))));
	OUT(f(a > 0 ? (a < 1 ? a : 1) : 0));
	OUT(f(flushed(flushed(a) + flushed(b))));
	OUT(f(flushed(flushed(a) * flushed(b))));
	OUT(f(sat > 0 ? (sat < 1 ? flushed(sat) : 1) : 0));
	OUT(f(fpick(flushed(a), flushed(b), true)));
	/* nvcc contracts a product and a sum into one operation */
	OUT(f(fmaf(-a, b, -c)));
	OUT(f(fmaf(a, 0.5f, 8.0f)));
	return op;
}

unsigned int oracle_double(double a, double b, double c, uint64_t *out)
{
	static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD };
	unsigned int op = 0;

	for (unsigned int i = 0; i < 4; i++)
		OUT(d(ddo(ADD, modes[i], a, b, 0)));
	OUT(d(a * b));
	OUT(d(ddo(MUL, FE_UPWARD, a, b, 0)));
	OUT(d(fma(a, b, c)));
	OUT(d(ddo(FMA, FE_DOWNWARD, a, b, c)));
	OUT(d(ddo(FMA, FE_TOWARDZERO, a, b, c)));
	OUT(d(a / b));
	OUT(d(sqrt(fabs(a))));
	OUT(d(1 / a));
	OUT(d(a != a ? b : b != b ? a : a == b ? (signbit(a) ? a : b) : a < b ? a : b));
	OUT(d(a != a ? b : b != b ? a : a == b ? (signbit(a) ? b : a) : a > b ? a : b));
	OUT(d(floor(a)));
	OUT(d(ceil(a)));
	OUT(d(trunc(a)));
	OUT(d(rint(a)));
	OUT(d(a - b));
	OUT(d(-fabs(a) * b));
	OUT(d(a < b ? c : a));
	OUT(d((double)((a >= b) + 2 * !(a >= b) + 4 * (a != c) + 8 * (a == b) + 16 * (a <= c) +
		       32 * (a > c))));
	return op;
}

/* ------------------------------------------------------------------ conversions */

static uint64_t to_int(double v, unsigned int bits, bool sign, uint64_t nan)
{
	double top = ldexp(1, sign ? bits - 1 : bits), low = sign ? -top : 0;

	if (v != v)
		return nan;
	if (v >= top)
		return sign ? (1ull << (bits - 1)) - 1 : bits == 64 ? ~0ull : (1ull << bits) - 1;
	if (v <= low)
		return sign ? ~0ull << (bits - 1) : 0;
	return sign ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static float narrow(double v, int mode)
{
	volatile double x = v;
	volatile float r;

	fesetround(mode);
	r = (float)x;
	fesetround(FE_TONEAREST);
	return r;
}

static float half(uint16_t h)
{
	int exp = h >> 10 & 31, man = h & 1023;
	float v = exp == 31 ? (man ? NAN : INFINITY) :
		  exp	    ? ldexpf(1024 + man, exp - 25) :
			      ldexpf(man, -24);

	return h >> 15 ? -v : v;
}

/* Finds the nearest half float by search; ties go to the even one. */
static uint16_t to_half(float v)
{
	static double value[0x7c01];
	double size = isinf(v) ? 1e30 : fabs(v), least = INFINITY;
	uint16_t best = 0;

	if (v != v)
		return 0x7fff;
	for (uint16_t h = 0; h <= 0x7c00 && !value[0x7c00]; h++)
		value[h] = h == 0x7c00 ? 65536.0 : half(h);
	for (uint16_t h = 0; h <= 0x7c00; h++) {
		double e = fabs(value[h] - size);

		if (e < least || (e == least && !(h & 1))) {
			least = e;
			best = h;
		}
	}
	return best | (signbit(v) ? 0x8000 : 0);
}

/* A NaN keeps its sign and the upper bits of its payload, and becomes quiet. */
static uint64_t narrowed_nan(uint64_t q)
{
	return (q >> 63 << 31) | 0x7fc00000 | (q >> 29 & 0x3fffff);
}

unsigned int oracle_convert(uint32_t a, double x, uint64_t *out)
{
	uint64_t q;
	float v;
	unsigned int op = 0;
	volatile int64_t sq;
	volatile double up;

	memcpy(&v, &a, 4);
	memcpy(&q, &x, 8);
	sq = (int64_t)q;
	OUT(f((float)a));
	OUT(f((float)(int32_t)a));
	OUT(f(narrow(a, FE_TOWARDZERO)));
	OUT(f(narrow((int32_t)a, FE_UPWARD)));
	OUT(f(narrow((int32_t)a, FE_DOWNWARD)));
	OUT(d((double)a));
	OUT(d((double)(int32_t)a));
	OUT(f((float)q));
	OUT(f((float)(int64_t)q));
	OUT(d((double)q));
	OUT(d((double)(int64_t)q));
	fesetround(FE_UPWARD);
	up = (double)sq;
	fesetround(FE_TONEAREST);
	OUT(d(up));
	OUT((uint32_t)to_int(truncf(v), 32, true, 0));
	OUT((uint32_t)to_int(truncf(v), 32, false, 0));
	OUT((uint32_t)to_int(ceilf(v), 32, false, 0));
	OUT((uint32_t)to_int(floorf(v), 32, true, 0));
	OUT((uint32_t)to_int(rintf(v), 32, true, 0));
	OUT(to_int(truncf(v), 64, true, 1ull << 63));
	OUT(to_int(truncf(v), 64, false, 1ull << 63));
	OUT((uint32_t)to_int(trunc(x), 32, true, 0x80000000));
	OUT((uint32_t)to_int(trunc(x), 32, false, 0x80000000));
	OUT(to_int(trunc(x), 64, true, 1ull << 63));
	OUT(to_int(trunc(x), 64, false, 1ull << 63));
	OUT((uint32_t)to_int(ceil(x), 32, true, 0x80000000));
	OUT(x != x ? narrowed_nan(q) : f((float)x));
	OUT(x != x ? narrowed_nan(q) : f(narrow(x, FE_TOWARDZERO)));
	OUT(x != x ? narrowed_nan(q) : f(narrow(x, FE_UPWARD)));
	OUT(d((double)v));
	OUT(to_half(v));
	OUT(f(half((uint16_t)a)));
	OUT((uint64_t)(int64_t)(int8_t)(a >> 16));
	OUT((uint32_t)to_int(truncf(v), 16, true, 0));
	OUT((uint32_t)to_int(rintf(v), 8, false, 0));
	OUT(f((float)(uint8_t)(a >> 8)));
	OUT(f((float)(int16_t)(a >> 16)));
	return op;
}
