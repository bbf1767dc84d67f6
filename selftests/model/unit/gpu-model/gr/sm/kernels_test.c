// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels that nvcc compiled (kernels.cu) are executed, and the results compared with the host's
 * own computation. All tests run for each vector unit of this processor (lane_isa_select()).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "gr/gr.h"
#include "gr/sm/exec.h"
#include "gr/sm/oracle.h"
#include "gr/sm/rig.h"

#define MIB (1u << 20)
/* number of threads of kernels in which each thread computes on its own */
#define N 2048u

__asm__(".section .rodata\n.balign 8\ncubin_start: .incbin \"selftests/model/unit/gpu-model/gr/sm/kernels.cubin\"\ncubin_end:\n"
	".text\n");
extern const uint8_t cubin_start[], cubin_end[];

static const struct rig_dim one = { 1, 1, 1 };

static struct rig_kernel kernel(struct rig *r, const char *name)
{
	struct rig_kernel k;

	assert_true(rig_cubin(r, cubin_start, cubin_end - cubin_start, name, &k));
	return k;
}

static void ok(struct rig *r, enum sm_result got)
{
	if (got != SM_DONE)
		print_error("result %d, warp error %x, global %x at %x\n", got,
			    r->grid.trap.warp_esr, r->grid.trap.global_esr, r->grid.trap.pc);
	assert_int_equal(got, SM_DONE);
}

/* ------------------------------------------------------------------ values to try */

static uint64_t seed = 1;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dull;
}

static uint32_t int_value(void)
{
	static const uint32_t corner[] = {
		0,	1,	2,	    0x7f,	0x80,	    0xff,	0x7fff,
		0x8000, 0xffff, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff,
		31,	32,	33,	    64,		0x1f1f,	    0x2020,	0x00ff00ff
	};

	return random64() & 1 ? corner[random64() % 21] :
				(uint32_t)(random64() >> (random64() & 31));
}

static uint32_t float_value(void)
{
	static const uint32_t corner[] = {
		0,	    0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
		0xffc12345, 1,		0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x7f7fffff,
		0xff7fffff, 0x3f000000, 0x3fc00000, 0x40200000, 0x4b000001, 0x4f000000, 0xcf000000,
		0x5f000000, 0x4b800000, 0x33800000, 0x3effffff
	};
	uint64_t v = random64();

	switch (v & 3) {
	case 0:
		return corner[v / 4 % 25];
	case 1:
		return (uint32_t)(v >> 32);
	default: /* near 1, where operands have similar sizes */
		return (uint32_t)(v >> 32 & 0x80ffffff) + 0x3c800000 +
		       (uint32_t)(v >> 8 & 0x3) * 0x1000000;
	}
}

static uint64_t double_value(void)
{
	static const uint64_t corner[] = { 0,
					   1ull << 63,
					   0x3ff0000000000000,
					   0xbff0000000000000,
					   0x7ff0000000000000,
					   0xfff0000000000000,
					   0x7ff8000000000000,
					   1,
					   0x000fffffffffffff,
					   0x0010000000000000,
					   0x7fefffffffffffff,
					   0x41dfffffffc00000,
					   0x41efffffffe00000,
					   0x43e0000000000000,
					   0xc3e0000000000000,
					   0x3fe0000000000000,
					   0x380fffffffffffff,
					   0x47efffffe0000000,
					   0x47effffff0000000,
					   0x36a0000000000000 };
	uint64_t v = random64();

	switch (v & 3) {
	case 0:
		return corner[v / 4 % 20];
	case 1:
		return random64();
	default:
		return (random64() & 0x800fffffffffffff) | (0x3f8 + (v >> 8 & 15)) << 52;
	}
}

/* ------------------------------------------------------------ one thread, one column of results */

static void report(const char *name, unsigned int op, unsigned int i, uint64_t got, uint64_t want)
{
	print_error("%s: result %u of thread %u is %llx, must be %llx\n", name, op, i,
		    (unsigned long long)got, (unsigned long long)want);
}

/*
 * Runs a kernel with @n_in input arrays. @wide: results have 64 bits. Returns the memory with the
 * results.
 */
static void *columns(struct rig *r, const char *name, const void *const *in, unsigned int n_in,
		     const unsigned int *in_size, bool wide)
{
	struct rig_kernel k = kernel(r, name);
	uint64_t param[8];
	uint64_t out = rig_alloc(r, (uint64_t)N * ORACLE_MAX * (wide ? 8 : 4));

	memset(rig_host(r, out), 0xff, (uint64_t)N * ORACLE_MAX * (wide ? 8 : 4));
	for (unsigned int i = 0; i < n_in; i++) {
		param[i] = rig_alloc(r, N * in_size[i]);
		memcpy(rig_host(r, param[i]), in[i], N * in_size[i]);
	}
	param[n_in] = out;
	param[n_in + 1] = N;
	ok(r, rig_launch(r, &k, (struct rig_dim){ N / 128, 1, 1 }, (struct rig_dim){ 128, 1, 1 }, 0,
			 param, 8 * n_in + 12));
	return rig_host(r, out);
}

#define COMPARE(name, type)                                                        \
	static void name(const char *kernel, const type *got, unsigned int thread, \
			 const type *want, unsigned int n)                         \
	{                                                                          \
		for (unsigned int i = 0; i < n; i++) {                             \
			if (got[i * N + thread] == want[i])                        \
				continue;                                          \
			report(kernel, i, thread, got[i * N + thread], want[i]);   \
			fail();                                                    \
		}                                                                  \
	}
COMPARE(compare32, uint32_t)
COMPARE(compare64, uint64_t)

static void integer_operations(void **state)
{
	static uint32_t a[N], b[N], c[N];
	const void *in[] = { a, b, c };
	uint32_t want[ORACLE_MAX], *got;

	for (unsigned int i = 0; i < N; i++) {
		a[i] = int_value();
		b[i] = int_value();
		c[i] = int_value();
	}
	got = columns(*state, "int_ops", in, 3, (const unsigned int[]){ 4, 4, 4 }, false);
	for (unsigned int i = 0; i < N; i++)
		compare32("int_ops", got, i, want, oracle_int(a[i], b[i], c[i], want));
}

static void long_operations(void **state)
{
	static uint64_t a[N], b[N];
	const void *in[] = { a, b };
	uint64_t want[ORACLE_MAX], *got;

	for (unsigned int i = 0; i < N; i++) {
		a[i] = int_value() | (uint64_t)int_value() << 32;
		b[i] = i % 3 ? int_value() | (uint64_t)int_value() << 32 :
			       a[i] + (int32_t)(i % 5) - 2;
	}
	got = columns(*state, "long_ops", in, 2, (const unsigned int[]){ 8, 8 }, true);
	for (unsigned int i = 0; i < N; i++)
		compare64("long_ops", got, i, want, oracle_long(a[i], b[i], want));
}

static float as_float(uint32_t v)
{
	float f;

	memcpy(&f, &v, 4);
	return f;
}

static double as_double(uint64_t v)
{
	double d;

	memcpy(&d, &v, 8);
	return d;
}

/* Makes all NaNs one, where any NaN will do. */
static void canonical32(uint32_t *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if ((v[i] & 0x7fffffff) > 0x7f800000)
			v[i] = 0x7fffffff;
}

static void canonical64(uint64_t *v, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if ((v[i] & INT64_MAX) > 0x7ff0000000000000)
			v[i] = 0x7ff8000000000000;
}

static void float_operations(void **state)
{
	static uint32_t a[N], b[N], c[N];
	const void *in[] = { a, b, c };
	uint32_t want[ORACLE_MAX], *got;

	for (unsigned int i = 0; i < N; i++) {
		a[i] = float_value();
		b[i] = float_value();
		c[i] = float_value();
	}
	got = columns(*state, "float_ops", in, 3, (const unsigned int[]){ 4, 4, 4 }, false);
	for (unsigned int i = 0; i < 12 * N; i++) /* arithmetic gives the one canonical NaN */
		assert_false((got[i] & 0x7fffffff) > 0x7f800000 && got[i] != 0x7fffffff);
	canonical32(got, N * ORACLE_MAX);
	for (unsigned int i = 0; i < N; i++) {
		unsigned int n = oracle_float(as_float(a[i]), as_float(b[i]), as_float(c[i]), want);

		compare32("float_ops", got, i, want, n);
	}
}

static void double_operations(void **state)
{
	static uint64_t a[N], b[N], c[N];
	const void *in[] = { a, b, c };
	uint64_t want[ORACLE_MAX], *got;

	for (unsigned int i = 0; i < N; i++) {
		a[i] = double_value();
		b[i] = double_value();
		c[i] = double_value();
	}
	got = columns(*state, "double_ops", in, 3, (const unsigned int[]){ 8, 8, 8 }, true);
	canonical64(got, N * ORACLE_MAX);
	for (unsigned int i = 0; i < N; i++)
		compare64("double_ops", got, i, want,
			  oracle_double(as_double(a[i]), as_double(b[i]), as_double(c[i]), want));
}

static void conversions(void **state)
{
	static uint32_t a[N];
	static uint64_t x[N];
	const void *in[] = { a, x };
	uint64_t want[ORACLE_MAX], *got;

	for (unsigned int i = 0; i < N; i++) {
		a[i] = i % 2 ? float_value() : int_value();
		x[i] = i % 3 ? double_value() : random64() >> (random64() & 63);
	}
	got = columns(*state, "convert", in, 2, (const unsigned int[]){ 4, 8 }, true);
	for (unsigned int i = 0; i < N; i++) {
		uint32_t n = oracle_convert(a[i], as_double(x[i]), want);

		for (unsigned int op = 0; op < n; op++) {
			/* any NaN will do as a double */
			if (want[op] == 0x7ff8000000000000 &&
			    (got[op * N + i] & INT64_MAX) > 0x7ff0000000000000)
				want[op] = got[op * N + i];
		}
		compare64("convert", got, i, want, n);
	}
}

/* Checks that the error is at most @ulp units in the last place, or at most @abs. */
static void near(const char *name, float x, float got, double want, double ulp, double abs)
{
	double unit = ldexp(1, ilogb(want == 0 || !isfinite(want) ? 1 : want) - 23);

	if (fabs(want) < 0x1p-126) /* smaller results are flushed to zero */
		want = fabs(got) < 0x1p-126 ? got : want;
	if (isnan(want)		      ? isnan(got) :
	    isinf(want) || isinf(got) ? got == want || fabs(want) > 0x1.fffffcp127 :
					fabs(got - want) <= ulp * unit || fabs(got - want) <= abs)
		return;
	print_error("%s(%a) = %a, must be near %a\n", name, x, got, want);
	fail();
}

static void special_functions_within_documented_bounds(void **state)
{
	static uint32_t a[N];
	const void *in[] = { a };
	float *got;

	for (unsigned int i = 0; i < N; i++)
		a[i] = float_value();
	got = columns(*state, "mufu", in, 1, (const unsigned int[]){ 4 }, false);
	for (unsigned int i = 0; i < N; i++) {
		float x = as_float(a[i]);
		double fx = fabs(x);

		if (fx <= 3.14159) {
			near("sin", x, got[i], sin(x), 0, 0x1p-21);
			near("cos", x, got[N + i], cos(x), 0, 0x1p-21);
		}
		near("ex2", x, got[2 * N + i], exp2(x), 2, 0);
		near("lg2", x, got[3 * N + i], log2(fx), 3, 0x1p-22);
		near("rcp", x, got[4 * N + i], 1 / (double)x, 1, 0);
		near("rsqrt", x, got[5 * N + i], 1 / sqrt(fx), 2, 0);
		near("sqrt", x, got[6 * N + i], sqrt(fx), 3, 0);
		near("div", x, got[7 * N + i], (double)x / 3, 2, 0x1p-148);
	}
}

/* ------------------------------------------------------------------ programs */

static void matrix_product(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "sgemm");
	unsigned int n = 128;
	struct {
		uint64_t a, b, c;
		uint32_t n;
	} p = { rig_alloc(r, n * n * 4), rig_alloc(r, n * n * 4), rig_alloc(r, n * n * 4), n };
	float *a = rig_host(r, p.a), *b = rig_host(r, p.b), *c = rig_host(r, p.c);

	for (unsigned int i = 0; i < n * n; i++) {
		a[i] = (int64_t)random64() * 0x1p-60;
		b[i] = (int64_t)random64() * 0x1p-60;
	}
	ok(r, rig_launch(r, &k, (struct rig_dim){ n / 16, n / 16, 1 },
			 (struct rig_dim){ 16, 16, 1 }, 0, &p, 28));
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = 0; j < n; j++) {
			float want = 0;

			for (unsigned int l = 0; l < n; l++)
				want = fmaf(a[i * n + l], b[l * n + j], want);
			assert_memory_equal(&c[i * n + j], &want, 4);
		}
	}
}

static uint32_t ackermann(uint32_t m, uint32_t n)
{
	return m == 0 ? n + 1 :
	       n == 0 ? ackermann(m - 1, 1) :
			ackermann(m - 1, ackermann(m, n - 1));
}

static uint32_t switched(uint32_t a, uint32_t s, uint32_t *t)
{
	switch (a % 11) {
	case 0:
		return s + 17;
	case 1:
		return (s ^ 0x55) * 3;
	case 2:
		return s * 3;
	case 3:
		return s << 3 | s >> 29;
	case 4:
		*t = s;
		return ~s;
	case 5:
		while (s & 1)
			s >>= 1;
		return s;
	case 6:
		do
			s += *t & 3;
		while (s % 5);
		return s;
	case 8:
		return s - *t;
	case 9:
		return *t / 3;
	default:
		return s;
	}
}

static void loops(uint32_t a, uint32_t *s, uint32_t *t)
{
	for (uint32_t k = 0; k < 100; k++) {
		if (k % (a % 7 + 2) == 1)
			continue;
		for (uint32_t j = 0; j < (a >> 8) % 20; j++) {
			if (j * k > (a & 255))
				break;
			*s += j ^ k;
			if ((*s & 31) == 7)
				return;
		}
		if (*s > 5000)
			return;
		*t += *s;
	}
}

static void divergent_control_flow(void **state)
{
	static uint32_t a[N];
	const void *in[] = { a };
	uint32_t *got;

	for (unsigned int i = 0; i < N; i++) {
		a[i] = (uint32_t)random64();
		while (a[i] % 11 == 6) /* values for which the kernel may run for ever */
			a[i]++;
	}
	got = columns(*state, "control", in, 1, (const unsigned int[]){ 4 }, false);
	for (unsigned int i = 0; i < N; i++) {
		uint32_t s = 0, t = 0, want[6], v = a[i] | 1, steps = 0;

		loops(a[i], &s, &t);
		want[0] = s;
		want[1] = t;
		want[2] = switched(a[i], s, &t);
		want[3] = ackermann(a[i] % 3, a[i] / 3 % 4);
		while (v != 1 && steps < 500) {
			v = v & 1 ? 3 * v + 1 : v / 2;
			steps++;
		}
		want[4] = steps;
		want[5] = v;
		if (a[i] % 11 == 7)
			want[2] = want[3] = want[4] = want[5] = ~0u;
		compare32("control", got, i, want, 6);
	}
}

static void generic_addresses(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "generic");
	struct {
		uint64_t in, out;
		uint32_t n;
	} p = { rig_alloc(r, 512 * 4), rig_alloc(r, 512 * 64), 512 };
	uint32_t *in = rig_host(r, p.in), *out = rig_host(r, p.out), was[512];

	for (unsigned int i = 0; i < 512; i++)
		was[i] = in[i] = (uint32_t)(random64() >> 40);
	ok(r, rig_launch(r, &k, (struct rig_dim){ 2, 1, 1 }, (struct rig_dim){ 256, 1, 1 }, 0, &p,
			 20));
	for (unsigned int i = 0; i < 512; i++) {
		uint32_t loc[16], l = i & 255, v = was[i], want, s = 0;

		for (unsigned int x = 0; x < 16; x++)
			loc[(x * 7 + v) & 15] = v + x;
		want = v % 3 == 0 ? was[i ^ 1] * 3 : v % 3 == 1 ? v : loc[v >> 4 & 15];
		/*
		 * a neighbour may write the same shared memory meanwhile: the result is undefined
		 */
		if (v % 3)
			assert_int_equal(out[i], want);
		assert_int_equal(out[512 + i], (out[i] & ~255u) | 0x5a);
		if (v % 3 == 2)
			loc[v >> 4 & 15] = (want & ~255u) | 0x5a;
		for (unsigned int x = 0; x < 16; x++)
			s = s * 31 + loc[(x + l) & 15];
		assert_int_equal(out[1024 + i], s);
		assert_int_equal(out[2048 + 4 * i], i);
		assert_int_equal(out[2048 + 4 * i + 1], s);
		assert_int_equal(out[2048 + 4 * i + 2], l);
	}
}

static void atomic_operations(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "atomics");
	struct {
		uint64_t w, q, f, out;
		uint32_t n;
	} p = { rig_alloc(r, 128), rig_alloc(r, 64), rig_alloc(r, 8), rig_alloc(r, 2 * N * 4), N };
	uint32_t *w = rig_host(r, p.w), *out = rig_host(r, p.out), x = 0, inc = 0, dec = 500,
		 min = 0, max = 0, sx = 0, sum = 0;
	uint64_t *q = rig_host(r, p.q), mq = 0, xq = 0;
	float *f = rig_host(r, p.f);
	static uint16_t adder[N * N];

	w[2] = 0x7fffffff;
	min = w[2];
	w[4] = ~0u;
	w[8] = 500;
	q[2] = 5;
	ok(r, rig_launch(r, &k, (struct rig_dim){ N / 256, 1, 1 }, (struct rig_dim){ 256, 1, 1 }, 0,
			 &p, 36));
	for (unsigned int i = 0; i < N; i++) {
		uint32_t h = i * 2654435761u;

		min = (int32_t)h < (int32_t)min ? h : min;
		max = h > max ? h : max;
		x ^= i;
		inc = inc >= 999 ? 0 : inc + 1;
		dec = dec == 0 || dec > 777 ? 777 : dec - 1;
		mq = i * 0x123456789ull > mq ? i * 0x123456789ull : mq;
		xq ^= (uint64_t)i << 33;
		sx ^= i * 7;
	}
	assert_int_equal(w[0], N * (N - 1) / 2);
	assert_int_equal(w[1], 0 - N * (N - 1) / 2);
	assert_int_equal(w[2], min);
	assert_int_equal(w[3], max);
	assert_int_equal(w[4], 0xf0f0f0f0);
	assert_int_equal(w[5], (1u << 29) - 1);
	assert_int_equal(w[6], x);
	assert_int_equal(w[7], inc);
	assert_int_equal(w[8], dec);
	assert_true(w[9] >= 1 && w[9] <= N);
	assert_int_equal(w[10], w[9]);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(w[11 + i] < N && w[11 + i] % 3 == i);
	assert_int_equal(q[0], (uint64_t)(N * (N - 1) / 2) << 20);
	assert_int_equal(q[1], mq);
	assert_int_equal(q[2], 0x1122334455667788ull);
	assert_int_equal(q[3], 42);
	assert_int_equal(q[4], xq);
	assert_int_equal(q[5], (uint64_t)(N * (N - 1) / 2) << 30);
	assert_true(f[0] == N && f[1] == N / 2);
	/* counters in shared memory, added up for all CTAs */
	assert_int_equal(w[16], N * (N - 1) / 2);
	assert_int_equal(w[17], 8 * 255 + 256 * 28);
	assert_int_equal(w[18], 8 * 3 + 256 * 28);
	assert_int_equal(w[21], 8 * 77);
	assert_int_equal(w[22], 8 * (256 % 10));
	/*
	 * Each atomicAdd() returned the sum before it. So the sums lead from thread to thread,
	 * through all but thread 0, which adds nothing.
	 */
	memset(adder, 0, sizeof(adder));
	for (unsigned int i = 1; i < N; i++) {
		assert_true(out[i] < N * N);
		adder[out[i]] = i;
	}
	for (unsigned int i = 1; i < N; i++) {
		assert_true(adder[sum]);
		sum += adder[sum];
	}
	assert_true(out[0] == sum || (out[0] < N * N && adder[out[0]]));
}

static uint32_t shuffled(const uint32_t *a, unsigned int l, int j, bool valid)
{
	return valid ? a[j] : a[l];
}

static void votes_and_shuffles(void **state)
{
	static uint32_t a[N];
	const void *in[] = { a };
	uint32_t *got;

	for (unsigned int i = 0; i < N; i++)
		a[i] = (uint32_t)random64() & 0xfffff;
	a[7] = 0x1234;
	a[100] = 0x4321;
	got = columns(*state, "warps", in, 1, (const unsigned int[]){ 4 }, false);
	for (unsigned int i = 0; i < N; i++) {
		const uint32_t *v = &a[i & ~31u];
		uint32_t l = i & 31, want[14], odd = 0, two = 0, four = 0, any = 0, all = 1,
			 up = v[l] >> 5 & 7;

		for (unsigned int j = 0; j < 32; j++) {
			odd |= (v[j] & 1) << j;
			two |= (v[j] >> 1 & 1) << j;
			four |= (v[j] >> 2 & 1) << j;
			any |= v[j] == 0x1234;
			all &= v[j] != 0x4321;
		}
		want[0] = v[v[l] & 31];
		want[1] = shuffled(v, l, l - 3, l >= 3);
		want[2] = shuffled(v, l, l + 5, (l & 15) + 5 < 16);
		want[3] = v[l ^ 9];
		want[4] = v[(l & 24) | (13 & 7)];
		want[5] = shuffled(v, l, l - up, (l & 7) >= up);
		/* segments of 4 lanes: the source is never in range */
		want[6] = (l & 3) + 7 > 3 ? 0xdead : 0;
		want[7] = odd;
		want[8] = any + 2 * all;
		want[9] = v[l] & 2 ? four & two : (uint32_t)__builtin_popcount(~two);
		want[10] = (1u << l) - 1;
		want[11] = ~((1u << l) - 1);
		want[12] = 0;
		want[13] = (i & 127) + 1000 * (i / 128) + 128000000u + 100000000u * (N / 128);
		compare32("warps", got, i, want, 14);
	}
}

static void loads_through_the_read_only_cache(void **state)
{
	static uint32_t a[N];
	const uint8_t *b = (const uint8_t *)a;
	const uint16_t *h = (const uint16_t *)a;
	const void *in[] = { a };
	uint32_t want[7], *got;

	for (unsigned int i = 0; i < N; i++)
		a[i] = (uint32_t)random64();
	got = columns(*state, "ldg", in, 1, (const unsigned int[]){ 4 }, false);
	for (unsigned int i = 0; i < N; i++) {
		const uint32_t *q = &a[i & ~3u];

		want[0] = a[i];
		want[1] = b[i];
		want[2] = (uint32_t)(int8_t)b[i];
		want[3] = h[i];
		want[4] = (uint32_t)(int16_t)h[i];
		want[5] = a[i | 1];
		want[6] = q[0] + 3 * q[1] + 5 * q[2] + 7 * q[3];
		compare32("ldg", got, i, want, 7);
	}
}

static void calls_through_pointers(void **state)
{
	static const int weights[] = { 3, 1, 4, 1, 5, 9, 2, 6 };
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "indirect");
	uint64_t out = rig_alloc(r, 256 * 4);
	int32_t *got = rig_host(r, out);

	ok(r, rig_launch(r, &k, (struct rig_dim){ 2, 1, 1 }, (struct rig_dim){ 128, 1, 1 }, 0, &out,
			 8));
	for (int i = 0; i < 256; i++) {
		int step = i % 3 == 0 ? i * 3 + 1 : i % 3 == 1 ? i ^ 0x55 : i - 7;

		assert_int_equal(got[i], step + (i & 1 ? i : i * i) + weights[i & 7]);
	}
}

static void barriers(void **state)
{
	struct rig *r = *state;
	struct rig_kernel k = kernel(r, "barriers");
	struct {
		uint64_t out;
		uint32_t n;
	} p = { rig_alloc(r, 4096), 256 };
	uint32_t *out = rig_host(r, p.out), s = 0;

	for (unsigned int i = 0; i < 10; i++)
		s = s * 3 + i * i;
	ok(r, rig_launch(r, &k, one, (struct rig_dim){ 256, 1, 1 }, 0, &p, 12));
	for (unsigned int i = 0; i < 256; i++) {
		assert_int_equal(out[i], 86);
		assert_int_equal(out[256 + i], 1 + 4);
		assert_int_equal(out[512 + i], i / 32 == 1 ? s : i / 32);
	}
	assert_int_equal(out[768], 0xabcd);
}

static void wait_for_each_other(struct rig *r, unsigned int ctas)
{
	struct rig_kernel k = kernel(r, "grid_wait");
	struct {
		uint64_t count, out;
	} p = { rig_alloc(r, 4), rig_alloc(r, ctas * 64 * 4) };
	uint32_t *out = rig_host(r, p.out);

	ok(r, rig_launch(r, &k, (struct rig_dim){ ctas, 1, 1 }, (struct rig_dim){ 64, 1, 1 }, 0, &p,
			 16));
	for (unsigned int i = 0; i < ctas * 64; i++)
		assert_int_equal(out[i], 3 * ctas);
}

/* One CTA more than there are SMs: one SM holds two of them. */
static void ctas_that_wait_for_each_other(void **state)
{
	wait_for_each_other(*state, 13 + 1);
}

/* One CTA on each SM. */
static void ctas_keep_pace(void **state)
{
	struct rig *r = *state;
	enum { SMX = 13 }; /* of the board */
	struct rig_kernel k = kernel(r, "keep_pace");
	struct {
		uint64_t count, missed;
	} p = { rig_alloc(r, 8), rig_alloc(r, 4) };

	memset(rig_host(r, p.count), 0, 8);
	memset(rig_host(r, p.missed), 0, 4);
	ok(r, rig_launch(r, &k, (struct rig_dim){ SMX, 1, 1 }, (struct rig_dim){ 128, 1, 1 }, 0, &p,
			 16));
	assert_int_equal(*(uint32_t *)rig_host(r, p.missed), 0);
	assert_int_equal(*(uint32_t *)rig_host(r, p.count), 8 * SMX);
}

#include "kernels_video.h"
#include "kernels_errors.h"

static int setup(void **state)
{
	*state = rig_create(48 * MIB);
	return 0;
}

static int teardown(void **state)
{
	rig_destroy(*state);
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const char *const isas[] = { "base", "avx2", "avx512" };
	const struct CMUnitTest tests[] = {
		T(integer_operations),
		T(long_operations),
		T(float_operations),
		T(double_operations),
		T(conversions),
		T(special_functions_within_documented_bounds),
		T(matrix_product),
		T(divergent_control_flow),
		T(generic_addresses),
		T(atomic_operations),
		T(votes_and_shuffles),
		T(calls_through_pointers),
		T(barriers),
		T(ctas_that_wait_for_each_other),
		T(ctas_keep_pace),
		T(video_instructions),
		T(loads_through_the_read_only_cache),
		T(an_unmapped_page_is_a_fault_of_the_l1),
		T(a_misaligned_store_traps),
		T(shared_memory_has_an_end),
		T(trap_stops_the_grid),
		T(an_endless_kernel_ends_with_a_reset),
		T(preemption_is_at_cta_boundaries),
		T(a_paced_grid_takes_the_time_its_rate_asks),
		T(changed_code_is_executed_as_it_is_now),
		T(registers_and_constants_have_bounds),
		T(local_memory_must_fit_an_sm),
		T(unmapped_code_is_one_fault),
		T(no_memory_is_a_fault),
		T(helpers_may_be_missing),
	};
	int failed = 0;

	for (unsigned int i = 0; i < 3; i++) {
		if (!lane_isa_select(isas[i]))
			continue;
		failed += cmocka_run_group_tests_name(isas[i], tests, NULL, NULL);
	}
	return failed;
}
