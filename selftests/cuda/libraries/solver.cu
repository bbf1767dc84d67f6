// SPDX-License-Identifier: GPL-2.0-only
/*
 * cuSOLVER, dense and sparse: what is found is put back into the equation, in double. Bounds are
 * some multiples of the size times a roundoff, for matrices whose norms are about their size.
 */
#include "numbers.h"

#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusolverSp.h>

enum { N = 70, RIGHT = 3 };

static cusolverDnHandle_t dense;

#define FORM(T, S)                                                                               \
	static cusolverStatus_t room_of(cusolverDnHandle_t h, int n, T *a, int *words)           \
	{                                                                                        \
		return cusolverDn##S##getrf_bufferSize(h, n, n, a, n, words);                    \
	}                                                                                        \
	static cusolverStatus_t factor(T *a, int n, T *work, int *pivots, int *info)             \
	{                                                                                        \
		return cusolverDn##S##getrf(dense, n, n, a, n, work, pivots, info);              \
	}                                                                                        \
	static cusolverStatus_t solve(T *a, int n, int *pivots, T *b, int *info)                 \
	{                                                                                        \
		return cusolverDn##S##getrs(dense, CUBLAS_OP_N, n, RIGHT, a, n, pivots, b, n,    \
					    info);                                               \
	}                                                                                        \
	static cusolverStatus_t room_of_cholesky(T *a, int n, int *words)                        \
	{                                                                                        \
		return cusolverDn##S##potrf_bufferSize(dense, CUBLAS_FILL_MODE_LOWER, n, a, n,   \
						       words);                                   \
	}                                                                                        \
	static cusolverStatus_t cholesky(T *a, int n, T *work, int words, int *info)             \
	{                                                                                        \
		return cusolverDn##S##potrf(dense, CUBLAS_FILL_MODE_LOWER, n, a, n, work, words, \
					    info);                                               \
	}                                                                                        \
	static cusolverStatus_t solve_cholesky(T *a, int n, T *b, int *info)                     \
	{                                                                                        \
		return cusolverDn##S##potrs(dense, CUBLAS_FILL_MODE_LOWER, n, RIGHT, a, n, b, n, \
					    info);                                               \
	}
FORM(float, S)
FORM(double, D)
FORM(float2, C)
FORM(double2, Z)

/* the largest element of A X - B; A of n x n, by columns */
template <class T>
static double residue(const std::vector<T> &a, const std::vector<T> &x, const std::vector<T> &b,
		      int n)
{
	double worst = 0;

	for (size_t j = 0; j < b.size() / n; j++)
		for (int i = 0; i < n; i++) {
			wide sum = -kind<T>::widen(b[i + j * n]);

			for (int k = 0; k < n; k++)
				sum += kind<T>::widen(a[i + (size_t)k * n]) *
				       kind<T>::widen(x[k + j * n]);
			worst = fmax(worst, std::abs(sum));
		}
	return worst;
}

/* by LU with pivots; and by Cholesky, of a matrix that is made positive definite */
template <class T> static void equations(const char *name)
{
	auto a = numbers<T>(N * N, 70), b = numbers<T>(N * RIGHT, 71), p = a;
	on_device<int> pivots(N), info(1, 7);
	on_device<T> da(a), db(b);
	int words;

	OK(room_of(dense, N, da, &words));
	on_device<T> work(words, T());
	OK(factor(da, N, work, pivots, info));
	within(abs(info.back()[0]), 0, "%s: getrf's verdict", name);
	OK(solve(da, N, pivots, db, info));
	within(residue(a, db.back(), b, N), 1000 * N * kind<T>::eps(), "%s: LU", name);
	for (int j = 0; j < N; j++)
		for (int i = 0; i < N; i++) {
			wide sum = i == j ? N / 2. : 0;

			for (int k = 0; k < N; k++)
				sum += kind<T>::widen(a[i + k * N]) *
				       std::conj(kind<T>::widen(a[j + k * N]));
			p[i + j * N] = kind<T>::make(sum.real(), sum.imag());
		}
	on_device<T> dp(p), dx(b);
	OK(room_of_cholesky(dp, N, &words));
	on_device<T> room(words, T());
	OK(cholesky(dp, N, room, words, info));
	within(abs(info.back()[0]), 0, "%s: potrf's verdict", name);
	OK(solve_cholesky(dp, N, dx, info));
	within(residue(p, dx.back(), b, N), 100 * N * kind<T>::eps(), "%s: Cholesky", name);
}

/* Q R is A, and Q is orthogonal: Q R by applying Q to R */
static void orthogonal(void)
{
	const int m = 90, n = 50;
	auto a = numbers<double>(m * n, 72);
	on_device<double> da(a), tau(n, 0);
	on_device<int> info(1, 7);
	int words, more;
	double worst = 0;

	OK(cusolverDnDgeqrf_bufferSize(dense, m, n, da, m, &words));
	OK(cusolverDnDormqr_bufferSize(dense, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, m, n, n, da, m, tau,
				       da, m, &more));
	on_device<double> work(std::max(words, more));
	OK(cusolverDnDgeqrf(dense, m, n, da, m, tau, work, words, info));
	auto r = da.back();
	for (int j = 0; j < n; j++)
		for (int i = j + 1; i < m; i++)
			r[i + j * m] = 0;
	on_device<double> dr(r);
	OK(cusolverDnDormqr(dense, CUBLAS_SIDE_LEFT, CUBLAS_OP_N, m, n, n, da, m, tau, dr, m, work,
			    more, info));
	auto again = dr.back();
	for (int i = 0; i < m * n; i++)
		worst = fmax(worst, fabs(again[i] - a[i]));
	within(worst, 1e-13, "QR");
	OK(cusolverDnDormqr(dense, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, m, n, n, da, m, tau, dr, m, work,
			    more, info));
	again = dr.back();
	worst = 0;
	for (int i = 0; i < m * n; i++)
		worst = fmax(worst, fabs(again[i] - r[i]));
	within(worst, 1e-13, "Q's transpose");
}

/* A V = V W, and the eigenvalues add up to the trace */
static void eigenvalues(void)
{
	const int n = 40;
	auto a = numbers<double>(n * n, 73);
	on_device<int> info(1, 7);
	double worst = 0, trace = 0;
	int words;

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < i; j++)
			a[i + j * n] = a[j + i * n];
		trace += a[i + i * n];
	}
	on_device<double> da(a), dw(n, 0);
	OK(cusolverDnDsyevd_bufferSize(dense, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
				       da, n, dw, &words));
	on_device<double> work(words, 0);
	OK(cusolverDnDsyevd(dense, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, da, n, dw,
			    work, words, info));
	auto v = da.back(), w = dw.back();
	for (int j = 0; j < n; j++) {
		double length = 0;

		for (int i = 0; i < n; i++) {
			double sum = -w[j] * v[i + j * n];

			for (int k = 0; k < n; k++)
				sum += a[i + k * n] * v[k + j * n];
			worst = fmax(worst, fabs(sum));
			length += v[i + j * n] * v[i + j * n];
		}
		worst = fmax(worst, fmax(fabs(length - 1), j && w[j] < w[j - 1] ? INFINITY : 0));
		trace -= w[j];
	}
	within(abs(info.back()[0]), 0, "syevd's verdict");
	within(fmax(worst, fabs(trace)), 1e-12, "eigenvalues and vectors");
}

/* U S V' is A */
static void singular_values(void)
{
	const int m = 45, n = 30;
	auto a = numbers<double>(m * n, 74);
	on_device<double> da(a), ds(n, 0), du(m * m, 0), dv(n * n, 0);
	on_device<int> info(1, 7);
	double worst = 0;
	int words;

	OK(cusolverDnDgesvd_bufferSize(dense, m, n, &words));
	on_device<double> work(words, 0), rwork(n, 0);
	OK(cusolverDnDgesvd(dense, 'A', 'A', m, n, da, m, ds, du, m, dv, n, work, words, rwork,
			    info));
	auto s = ds.back(), u = du.back(), v = dv.back();
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			double sum = -a[i + j * m];

			for (int k = 0; k < n; k++)
				sum += u[i + k * m] * s[k] * v[k + j * n];
			worst = fmax(worst, fabs(sum));
		}
	within(abs(info.back()[0]), 0, "gesvd's verdict");
	within(worst, 1e-12, "singular values");
}

/* the five points of a square's grid, by QR and by Cholesky */
static void sparse_equations(void)
{
	const int side = 12, n = side * side;
	std::vector<int> begin(1), column;
	std::vector<double> value;
	auto b = numbers<double>(n, 75);
	cusolverSpHandle_t sparse;
	cusparseMatDescr_t form;
	int singular;

	for (int i = 0; i < n; i++) {
		auto add = [&](bool there, int j, double v) {
			if (there) {
				column.push_back(j);
				value.push_back(v);
			}
		};

		add(i >= side, i - side, -1);
		add(i % side, i - 1, -1);
		add(true, i, 4.25);
		add((i + 1) % side, i + 1, -1);
		add(i + side < n, i + side, -1);
		begin.push_back(column.size());
	}
	OK(cusolverSpCreate(&sparse));
	OK(cusparseCreateMatDescr(&form));
	on_device<int> dbegin(begin), dcolumn(column);
	on_device<double> dvalue(value), db(b), dx(n, 0);
	for (int way = 0; way < 2; way++) {
		double worst = 0;

		if (way)
			OK(cusolverSpDcsrlsvqr(sparse, n, value.size(), form, dvalue, dbegin,
					       dcolumn, db, 1e-12, 1, dx, &singular));
		else
			OK(cusolverSpDcsrlsvchol(sparse, n, value.size(), form, dvalue, dbegin,
						 dcolumn, db, 1e-12, 1, dx, &singular));
		auto x = dx.back();
		for (int i = 0; i < n; i++) {
			double sum = -b[i];

			for (int e = begin[i]; e < begin[i + 1]; e++)
				sum += value[e] * x[column[e]];
			worst = fmax(worst, fabs(sum));
		}
		within(singular + 1, 0, "sparse equations: singular");
		within(worst, 1e-12,
		       way ? "sparse equations by QR" : "sparse equations by Cholesky");
	}
	OK(cusparseDestroyMatDescr(form));
	OK(cusolverSpDestroy(sparse));
}

int main(void)
{
	OK(cusolverDnCreate(&dense));
	equations<float>("s");
	equations<double>("d");
	equations<float2>("c");
	equations<double2>("z");
	orthogonal();
	eigenvalues();
	singular_values();
	OK(cusolverDnDestroy(dense));
	sparse_equations();
	return verdict(!wrong, "%d of %d solutions are out of bounds", wrong, compared);
}
