// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of the math library in both precisions, each within the error that CUDA's manual
 * states, and what IEEE defines exactly in four roundings.
 */
#include <fenv.h>

#include "check.h"

enum { N = 4096 };

#define SINGLE(F)                                                                                 \
	F(sinf, sin, 2)                                                                           \
	F(cosf, cos, 2) F(tanf, tan, 4) F(asinf, asin, 4) F(acosf, acos, 2) F(atanf, atan, 2)     \
		F(expf, exp, 2) F(exp2f, exp2, 2) F(exp10f, exp10, 2) F(expm1f, expm1, 1)         \
			F(logf, log, 1) F(log2f, log2, 1) F(log10f, log10, 2) F(log1pf, log1p, 1) \
				F(sinhf, sinh, 3) F(coshf, cosh, 2) F(tanhf, tanh, 2)             \
					F(asinhf, asinh, 3) F(atanhf, atanh, 3) F(cbrtf, cbrt, 1) \
						F(erff, erf, 2) F(erfcf, erfc, 4)                 \
							F(tgammaf, tgamma, 11)                    \
								F(rsqrtf, rsqrt_of, 2)
#define DOUBLE(F)                                                                             \
	F(sin, sinl, 2)                                                                       \
	F(cos, cosl, 2) F(tan, tanl, 2) F(asin, asinl, 2) F(acos, acosl, 2) F(atan, atanl, 2) \
		F(exp, expl, 1) F(exp2, exp2l, 1) F(expm1, expm1l, 1) F(log, logl, 1)         \
			F(log2, log2l, 1) F(log10, log10l, 1) F(log1p, log1pl, 1)             \
				F(sinh, sinhl, 2) F(cosh, coshl, 1) F(tanh, tanhl, 1)         \
					F(cbrt, cbrtl, 1) F(erf, erfl, 2) F(erfc, erfcl, 5)   \
						F(tgamma, tgammal, 8) F(rsqrt, rsqrt_of, 1)

enum {
#define F(name, ...) OP_##name,
	SINGLE(F) NR_SINGLE
#undef F
};
enum {
#define F(name, ...) OPD_##name,
	DOUBLE(F) NR_DOUBLE
#undef F
};

__global__ void single(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[i];

#define F(name, ...) out[OP_##name * N + i] = name(x);
	SINGLE(F)
#undef F
}

__global__ void twice(const double *in, double *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double x = in[i];

#define F(name, ...) out[OPD_##name * N + i] = name(x);
	DOUBLE(F)
#undef F
}

enum { OPS = 5, MODES = 4 };

__global__ void exact(const double *in, double *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double a = in[i], b = in[(i + 1) % N], c = in[(i + 2) % N], *o = out + i;

#define MODE(m, r)							\
	o[((m) * OPS + 0) * N] = __dadd_##r(a, b);			\
	o[((m) * OPS + 1) * N] = __dmul_##r(a, b);			\
	o[((m) * OPS + 2) * N] = __ddiv_##r(a, b);			\
	o[((m) * OPS + 3) * N] = __dsqrt_##r(fabs(a));			\
	o[((m) * OPS + 4) * N] = __fma_##r(a, b, c)
	MODE(0, rn);
	MODE(1, rd);
	MODE(2, ru);
	MODE(3, rz);
#undef MODE
}

__global__ void exact_single(const float *in, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float a = in[i], b = in[(i + 1) % N], c = in[(i + 2) % N], *o = out + i;

#define MODE(m, r)							\
	o[((m) * OPS + 0) * N] = __fadd_##r(a, b);			\
	o[((m) * OPS + 1) * N] = __fmul_##r(a, b);			\
	o[((m) * OPS + 2) * N] = __fdiv_##r(a, b);			\
	o[((m) * OPS + 3) * N] = __fsqrt_##r(fabsf(a));			\
	o[((m) * OPS + 4) * N] = __fmaf_##r(a, b, c)
	MODE(0, rn);
	MODE(1, rd);
	MODE(2, ru);
	MODE(3, rz);
#undef MODE
}

static long double rsqrt_of(long double x) { return 1 / sqrtl(x); }

/* in units of the last place */
static double ulps(long double got, long double want, int digits, int least)
{
	int e;

	if (want != want)
		return got == got ? 1e9 : 0;
	if (isinf(want) || want == 0)
		return got == want ? 0 : 1e9;
	frexpl(want, &e);
	e = e < least ? least : e;
	return fabsl(got - want) / ldexpl(1, e - digits);
}

template <typename T> static int exact_wrong(const T *in, const T *out)
{
	static const int modes[MODES] = { FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO };
	int wrong = 0;

	for (int m = 0; m < MODES; m++) {
		fesetround(modes[m]);
		for (int i = 0; i < N; i++) {
			volatile T a = in[i], b = in[(i + 1) % N], c = in[(i + 2) % N];
			volatile T want[OPS] = { a + b, a * b, a / b, (T)0, (T)0 };

			want[3] = sizeof(T) == 8 ? (T)sqrt((double)fabs(a)) :
						   (T)sqrtf(fabsf((float)a));
			want[4] = sizeof(T) == 8 ? (T)fma((double)a, (double)b, (double)c) :
						   (T)fmaf((float)a, (float)b, (float)c);
			for (int k = 0; k < OPS; k++) {
				T w = want[k], g = out[(m * OPS + k) * N + i];

				wrong += w == w ? memcmp(&w, &g, sizeof(T)) != 0 : g == g;
			}
		}
	}
	fesetround(FE_TONEAREST);
	return wrong;
}

int main(void)
{
	static float fin[N], fout[NR_SINGLE * N], fexact[MODES * OPS * N];
	static double din[N], dout[NR_DOUBLE * N], dexact[MODES * OPS * N];
	float *df, *df_out;
	double *dd, *dd_out;
	int bad = 0, wrong;
	uint32_t seed = 27;

	for (int i = 0; i < N; i++) {
		double size = i % 3 == 0 ? 1 : i % 3 == 1 ? 10 : 60;

		din[i] = (random_float(&seed) * 2 - 1) * size + ldexp(random_float(&seed), -30);
		fin[i] = i % 3 == 2 ? din[i] / 2 : din[i];
	}
	CHECK(cudaMalloc(&df, sizeof(fin)));
	CHECK(cudaMalloc(&df_out, sizeof(fout)));
	CHECK(cudaMalloc(&dd, sizeof(din)));
	CHECK(cudaMalloc(&dd_out, sizeof(dout)));
	CHECK(cudaMemcpy(df, fin, sizeof(fin), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dd, din, sizeof(din), cudaMemcpyHostToDevice));
	single<<<N / 128, 128>>>(df, df_out);
	twice<<<N / 128, 128>>>(dd, dd_out);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(fout, df_out, sizeof(fout), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(dout, dd_out, sizeof(dout), cudaMemcpyDeviceToHost));
#define F(name, cpu, limit)                                                                   \
	{                                                                                     \
		double worst = 0, at = 0;                                                     \
\
		for (int i = 0; i < N; i++) {                                                 \
			double want = cpu((double)fin[i]);                                    \
			double e = ulps(fout[OP_##name * N + i],                              \
					(float)want == INFINITY ? INFINITY : want, 24, -125); \
\
			at = e > worst ? fin[i] : at;                                         \
			worst = e > worst ? e : worst;                                        \
		}                                                                             \
		if (worst > limit + 0.5) {                                                    \
			printf("%s: %.1f ulp at %.9g\n", #name, worst, at);                   \
			bad++;                                                                \
		}                                                                             \
	}
	SINGLE(F)
#undef F
#define F(name, cpu, limit) {								\
	double worst = 0, at = 0;							\
											\
	for (int i = 0; i < N; i++) {							\
		double e = ulps(dout[OPD_##name * N + i], cpu(din[i]), 53, -1021);	\
											\
		at = e > worst ? din[i] : at;						\
		worst = e > worst ? e : worst;						\
	}										\
	if (worst > limit + 0.5) {							\
		printf("%s: %.1f ulp at %.17g\n", #name, worst, at);			\
		bad++;									\
	}										\
}
	DOUBLE(F)
#undef F
	for (int i = 0; i < N; i++) {
		din[i] = i % 64 == 0 ? 0.0 :
			 i % 64 == 1 ? -INFINITY :
				       ldexp(random_float(&seed) - 0.5,
					     (int)(random_bits(&seed) % 2000) - 1040);
		fin[i] = i % 64 == 5 ? -0.0f :
				       (float)ldexp(random_float(&seed) - 0.5,
						    (int)(random_bits(&seed) % 260) - 140);
	}
	CHECK(cudaMemcpy(df, fin, sizeof(fin), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dd, din, sizeof(din), cudaMemcpyHostToDevice));
	exact<<<N / 128, 128>>>(dd, dd_out);
	exact_single<<<N / 128, 128>>>(df, df_out);
	CHECK_LAUNCH();
	CHECK(cudaMemcpy(dexact, dd_out, sizeof(dexact), cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(fexact, df_out, sizeof(fexact), cudaMemcpyDeviceToHost));
	wrong = exact_wrong(din, dexact) + exact_wrong(fin, fexact);
	return verdict(!bad && !wrong, "%d functions, %d outside of their bounds; 5 operations in 4 roundings, both precisions, %d wrong",
		       NR_SINGLE + NR_DOUBLE, bad, wrong);
}
