// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code that stock Mesa's compiler (25.0.7) gets wrong for GK110. Each test knows what the wrong
 * code makes of its input: each wrong element must be that, so a Mesa that mends a part of it
 * fails as known, too.
 */
#include <math.h>
#include <string.h>

#include "cl_cases.h"

KERNEL_TEXT(limits);

enum { ITEMS = 192 };

/* @known: what the wrong code gives; @n elements of @size bytes */
static void compare(struct job *j, const char *sign, const void *got, const void *want,
		    const void *known, size_t n, size_t size)
{
	size_t i;

	for (i = 0; i < n * size; i += size)
		if (memcmp(got + i, want + i, size) && memcmp(got + i, known + i, size))
			sign = "something else";
	job_equal(j, sign, got, want, n, size);
}

#define UNCLAMPED "the high word is that of a clamped amount"

/* some amounts are above 63, some have bits in the high word */
static void wide_shifts(struct job *j)
{
	uint64_t *a = (uint64_t *)job_random(j, ITEMS * 2), *b = job_memory(j, ITEMS * 8);
	uint64_t *want = job_memory(j, ITEMS * 24), *known = job_memory(j, ITEMS * 24);
	cl_mem ba, bb, bo = job_buffer(j, ITEMS * 24, NULL);
	cl_kernel kernel;
	int i, k;

	for (i = 0; i < ITEMS; i++) {
		unsigned int s = i % 128, n = s % 64;
		uint64_t sign = a[i] >> 63 ? 0xffffffff00000000 : 0;
		uint64_t *w = want + i * 3;

		b[i] = s | (uint64_t)(i % 3) << 40;
		w[0] = a[i] << n;
		w[1] = a[i] >> n;
		w[2] = (uint64_t)((int64_t)a[i] >> n);
		for (k = 0; k < 3; k++)
			known[i * 3 + k] = s < 64 ? w[k] : (uint32_t)w[k] | (k == 2 ? sign : 0);
	}
	ba = job_buffer(j, ITEMS * 8, a);
	bb = job_buffer(j, ITEMS * 8, b);
	kernel = job_kernel(j, "wide_shifts");
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	compare(j, UNCLAMPED, job_read(j, bo, ITEMS * 24), want, known, ITEMS * 3, 8);
}

#define FALSE_ALWAYS "all are zero"

static void byte_extremes(struct job *j)
{
	uint8_t *a = (uint8_t *)job_random(j, ITEMS / 4), *b = (uint8_t *)job_random(j, ITEMS / 4);
	uint32_t *want = job_memory(j, ITEMS * 8), *zeros = job_memory(j, ITEMS * 8);
	cl_mem ba = job_buffer(j, ITEMS, a), bb = job_buffer(j, ITEMS, b),
	       bo = job_buffer(j, ITEMS * 8, NULL);
	cl_kernel kernel = job_kernel(j, "byte_extremes");
	int i;

	for (i = 0; i < ITEMS; i++) {
		want[2 * i] = a[i] > b[i] ? a[i] : b[i];
		want[2 * i + 1] = (int8_t)a[i] < (int8_t)b[i] ? (int8_t)a[i] : (int8_t)b[i];
	}
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	compare(j, FALSE_ALWAYS, job_read(j, bo, ITEMS * 8), want, zeros, ITEMS * 2, 4);
}

#define LOW_WORD "bits of the low word only"

static void wide_popcount(struct job *j)
{
	uint64_t *a = (uint64_t *)job_random(j, ITEMS * 2), *want = job_memory(j, ITEMS * 8),
		 *known = job_memory(j, ITEMS * 8);
	cl_mem ba = job_buffer(j, ITEMS * 8, a), bo = job_buffer(j, ITEMS * 8, NULL);
	cl_kernel kernel = job_kernel(j, "wide_popcount");
	int i;

	for (i = 0; i < ITEMS; i++) {
		want[i] = __builtin_popcountll(a[i]);
		known[i] = __builtin_popcount((uint32_t)a[i]);
	}
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	compare(j, LOW_WORD, job_read(j, bo, ITEMS * 8), want, known, ITEMS, 8);
}

#define SIGNS_LEFT "as if no sign were taken off"

/* two to four last places */
static bool close_to(double got, double want)
{
	return isnan(want) ? isnan(got) : fabs(got - want) <= fabs(want) * 0x1p-51;
}

static void moduli(struct job *j)
{
	double *a = job_memory(j, ITEMS * 8), *b = job_memory(j, ITEMS * 8);
	cl_mem ba, bb, bo = job_buffer(j, ITEMS * 16, NULL);
	bool known = true, negative;
	cl_kernel kernel;
	const double *got;
	double want, wrong;
	int i, k;

	if (!job_has(j, "cl_khr_fp64")) {
		job_skip(j, "no cl_khr_fp64");
		return;
	}
	for (i = 0; i < ITEMS; i++) {
		a[i] = ((double)rng_range(&j->rng, 1, 1 << 30)) * (i % 2 ? -1 : 1);
		b[i] = ((double)rng_range(&j->rng, 1, 1 << 30)) * (i % 3 ? -1 : 1);
	}
	ba = job_buffer(j, ITEMS * 8, a);
	bb = job_buffer(j, ITEMS * 8, b);
	kernel = job_kernel(j, "moduli");
	ARGUMENTS(j, kernel, VARIABLE(ba), VARIABLE(bb), VARIABLE(bo));
	job_run(j, kernel, ITEMS, 64);
	got = job_read(j, bo, ITEMS * 16);
	for (k = 0; k < 2; k++)
		for (i = 0; i < ITEMS; i++) {
			negative = k ? b[i] < 0 : a[i] < 0;
			wrong = k ? a[i] / b[i] : negative ? (double)NAN : sqrt(a[i]);
			want = k ? a[i] / fabs(b[i]) : sqrt(fabs(a[i]));
			known &= close_to(got[2 * i + k], wrong) || close_to(got[2 * i + k], want);
		}
	for (i = 0; i < 2 * ITEMS; i++) {
		want = i % 2 ? a[i / 2] / fabs(b[i / 2]) : sqrt(fabs(a[i / 2]));
		job_true(j, close_to(got[i], want), "%s: %a, not %a",
			 known ? SIGNS_LEFT : "something else", got[i], want);
	}
}

/* clang-format off */
#define HALF_WRAPPED \
	"Mesa's NVC0LegalizeSSA::handleShift() (nv50_ir_lowering_nvc0.cpp) makes two SHF of a shift; that of the high word is without the .W " \
	"for which the mask was dropped"
/* clang-format on */
#define NO_BYTES \
	"CodeEmitterGK110::emitMINMAX() (nv50_ir_emit_gk110.cpp) has no 8 or 16 bits: without assertions it emits operation 0, FSET.F"
#define COUNTS_LOW \
	"Mesa's Converter::visit(nir_alu_instr *) (nv50_ir_from_nir.cpp) gives POPC, an operation of 32 bits, the low word twice"
#define NO_MODIFIERS \
	"Mesa's NVC0LegalizeSSA::handleRCPRSQLib() (nv50_ir_lowering_nvc0.cpp) hands the source to the library without its modifiers"

const struct job_case cases_limits[] = {
	{ "64-bit-shifts-any-amount", wide_shifts, text_limits, HALF_WRAPPED, UNCLAMPED },
	{ "byte-extremes", byte_extremes, text_limits, NO_BYTES, FALSE_ALWAYS },
	{ "64-bit-popcount", wide_popcount, text_limits, COUNTS_LOW, LOW_WORD },
	{ "double-moduli", moduli, text_limits, NO_MODIFIERS, SIGNS_LEFT },
	{ NULL, NULL, NULL, NULL, NULL },
};
