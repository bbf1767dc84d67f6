// SPDX-License-Identifier: GPL-2.0-only
/*
 * cuBLAS: products of matrices in all four types, forms and shapes, also batched; vectors and
 * triangles. References are sums in double. A sum of n terms may be off by n roundoffs of what the
 * terms' magnitudes add up to, whichever the order.
 */
#include "numbers.h"

#include <cublas_v2.h>

static cublasHandle_t blas;

#define FORM(NAME, T, S)                                                                           \
	static cublasStatus_t gemm(cublasOperation_t a, cublasOperation_t b, int m, int n, int k,  \
				   const T *alpha, const T *A, int lda, const T *B, int ldb,       \
				   const T *beta, T *C, int ldc)                                   \
	{                                                                                          \
		return cublas##S##gemm(blas, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);  \
	}                                                                                          \
	static cublasStatus_t batched(cublasOperation_t a, cublasOperation_t b, int m, int n,      \
				      int k, const T *alpha, const T *const *A, int lda,           \
				      const T *const *B, int ldb, const T *beta, T *const *C,      \
				      int ldc, int count)                                          \
	{                                                                                          \
		return cublas##S##gemmBatched(blas, a, b, m, n, k, alpha, A, lda, B, ldb, beta, C, \
					      ldc, count);                                         \
	}                                                                                          \
	static cublasStatus_t strided(cublasOperation_t a, cublasOperation_t b, int m, int n,      \
				      int k, const T *alpha, const T *A, int lda, long long sa,    \
				      const T *B, int ldb, long long sb, const T *beta, T *C,      \
				      int ldc, long long sc, int count)                            \
	{                                                                                          \
		return cublas##S##gemmStridedBatched(blas, a, b, m, n, k, alpha, A, lda, sa, B,    \
						     ldb, sb, beta, C, ldc, sc, count);            \
	}                                                                                          \
	static cublasStatus_t gemv(cublasOperation_t a, int m, int n, const T *alpha, const T *A,  \
				   int lda, const T *x, int incx, const T *beta, T *y, int incy)   \
	{                                                                                          \
		return cublas##S##gemv(blas, a, m, n, alpha, A, lda, x, incx, beta, y, incy);      \
	}                                                                                          \
	static cublasStatus_t trsm(cublasSideMode_t side, cublasFillMode_t fill,                   \
				   cublasOperation_t a, cublasDiagType_t d, int m, int n,          \
				   const T *alpha, const T *A, int lda, T *B, int ldb)             \
	{                                                                                          \
		return cublas##S##trsm(blas, side, fill, a, d, m, n, alpha, A, lda, B, ldb);       \
	}                                                                                          \
	static const char *name(const T *)                                                         \
	{                                                                                          \
		return NAME;                                                                       \
	}
FORM("s", float, S)
FORM("d", double, D)
FORM("c", float2, C)
FORM("z", double2, Z)

/* element I, K of op(A) */
template <class T>
static wide element(const std::vector<T> &a, int lda, cublasOperation_t op, int i, int k,
		    size_t at = 0)
{
	if (op == CUBLAS_OP_N)
		return kind<T>::widen(a[at + i + (size_t)k * lda]);
	wide v = kind<T>::widen(a[at + k + (size_t)i * lda]);
	return op == CUBLAS_OP_C ? std::conj(v) : v;
}

/*
 * How far C is from alpha op(A) op(B) + beta C0, in roundoffs of its terms; what is not of C is
 * unchanged.
 */
template <class T>
static double off(cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, wide alpha,
		  wide beta, const std::vector<T> &a, int lda, size_t at_a, const std::vector<T> &b,
		  int ldb, size_t at_b, const std::vector<T> &c0, const std::vector<T> &c, int ldc,
		  size_t at_c)
{
	double worst = 0;

	for (int j = 0; j < n; j++)
		for (int i = 0; i < ldc; i++) {
			size_t at = at_c + i + (size_t)j * ldc;
			wide sum = i < m ? beta * kind<T>::widen(c0[at]) : kind<T>::widen(c0[at]);
			double size = std::abs(sum);

			for (int p = 0; p < k && i < m; p++) {
				wide term = alpha * element(a, lda, opa, i, p, at_a) *
					    element(b, ldb, opb, p, j, at_b);

				sum += term;
				size += std::abs(term);
			}
			double d = std::abs(sum - kind<T>::widen(c[at]));
			worst = fmax(worst, i < m ? d / (size * kind<T>::eps()) : d ? INFINITY : 0);
		}
	return worst;
}

template <class T>
static void product(int m, int n, int k, cublasOperation_t opa, cublasOperation_t opb)
{
	const int pad = 3, lda = (opa == CUBLAS_OP_N ? m : k) + pad,
		  ldb = (opb == CUBLAS_OP_N ? k : n) + pad, ldc = m + pad;
	const wide alpha(0.75, -0.5), beta(-1.25, 0.25);
	const T one = kind<T>::make(alpha.real(), alpha.imag()),
		other = kind<T>::make(beta.real(), beta.imag());
	auto a = numbers<T>((size_t)lda * (opa == CUBLAS_OP_N ? k : m), 1),
	     b = numbers<T>((size_t)ldb * (opb == CUBLAS_OP_N ? n : k), 2),
	     c = numbers<T>((size_t)ldc * n, 3);
	on_device<T> da(a), db(b), dc(c);

	OK(gemm(opa, opb, m, n, k, &one, da, lda, db, ldb, &other, dc, ldc));
	within(off(opa, opb, m, n, k, kind<T>::widen(one), kind<T>::widen(other), a, lda, 0, b, ldb,
		   0, c, dc.back(), ldc, 0),
	       k + 4, "%sgemm %d x %d x %d, %d %d", name(&one), m, n, k, opa, opb);
}

template <class T> static void batches(int m, int n, int k, int count)
{
	const size_t sa = (size_t)m * k + 8, sb = (size_t)k * n, sc = (size_t)m * n;
	const T one = kind<T>::make(1, 0), zero = kind<T>::make(0, 0);
	auto a = numbers<T>(sa * count, 4), b = numbers<T>(sb * count, 5),
	     c = numbers<T>(sc * count, 6);
	on_device<T> da(a), db(b), dc(c), dd(c);
	std::vector<T *> pa, pb, pc;

	for (int i = 0; i < count; i++) {
		pa.push_back(da + i * sa);
		pb.push_back(db + (count - 1 - i) * sb);
		pc.push_back(dd + i * sc);
	}
	on_device<T *> dpa(pa), dpb(pb), dpc(pc);
	OK(strided(CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, da, m, sa, db, k, sb, &zero, dc, m, sc,
		   count));
	OK(batched(CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, &one, (const T *const *)(T **)dpa, m,
		   (const T *const *)(T **)dpb, k, &one, (T *const *)(T **)dpc, m, count));
	auto got = dc.back(), other = dd.back();
	for (int i = 0; i < count; i++) {
		within(off(CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, 1, 0, a, m, i * sa, b, k, i * sb, c,
			   got, m, i * sc),
		       k + 4, "%sgemmStridedBatched, %d", name(&one), i);
		within(off(CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, 1, 1, a, m, i * sa, b, k,
			   (count - 1 - i) * sb, c, other, m, i * sc),
		       k + 4, "%sgemmBatched, %d", name(&one), i);
	}
}

/* a matrix and a vector; then its triangle, whose diagonal is made big, and that one's inverse */
template <class T> static void vectors(int n)
{
	const T one = kind<T>::make(1, 0), zero = kind<T>::make(0, 0);
	const int columns = 5;
	auto a = numbers<T>((size_t)n * n, 7), x = numbers<T>((size_t)n * columns, 8);

	for (int i = 0; i < n; i++)
		a[i + (size_t)i * n] = kind<T>::make(n, 1);
	for (cublasOperation_t op : { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C }) {
		on_device<T> da(a), dx(x), dy(x), dt(x);

		OK(gemv(op, n, n, &one, da, n, dx, 1, &zero, dy, 1));
		within(off(op, CUBLAS_OP_N, n, 1, n, 1, 0, a, n, 0, x, n, 0, x, dy.back(), n, 0),
		       n + 4, "%sgemv, %d", name(&one), op);
		OK(trsm(CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, op, CUBLAS_DIAG_NON_UNIT, n,
			columns, &one, da, n, dt, n));
		auto lower = a;
		for (int j = 0; j < n; j++)
			for (int i = 0; i < j; i++)
				lower[i + (size_t)j * n] = zero;
		within(off(op, CUBLAS_OP_N, n, columns, n, 1, 0, lower, n, 0, dt.back(), n, 0, x, x,
			   n, 0),
		       4 * n, "%strsm, %d", name(&one), op);
	}
}

static void level_1(int n)
{
	auto x = numbers<double>(n, 9), y = numbers<double>(n, 10);
	on_device<double> dx(x), dy(y);
	double dot, norm, sum, reference = 0, squares = 0, magnitudes = 0;
	const double factor = -2.5;
	int largest, smallest;

	OK(cublasDdot(blas, n, dx, 1, dy, 1, &dot));
	OK(cublasDnrm2(blas, n, dx, 1, &norm));
	OK(cublasDasum(blas, n, dx, 1, &sum));
	OK(cublasIdamax(blas, n, dx, 1, &largest));
	OK(cublasIdamin(blas, n, dx, 1, &smallest));
	auto less = [](double a, double b) { return fabs(a) < fabs(b); };
	for (int i = 0; i < n; i++) {
		reference += x[i] * y[i];
		squares += x[i] * x[i];
		magnitudes += fabs(x[i]);
	}
	within(fabs(dot - reference), n * 2.3e-16 * magnitudes, "ddot");
	within(fabs(norm - sqrt(squares)), n * 2.3e-16 * norm, "dnrm2");
	within(fabs(sum - magnitudes), n * 2.3e-16 * sum, "dasum");
	within(largest != 1 + std::max_element(x.begin(), x.end(), less) - x.begin(), 0, "idamax");
	within(smallest != 1 + std::min_element(x.begin(), x.end(), less) - x.begin(), 0, "idamin");
	OK(cublasDaxpy(blas, n, &factor, dx, 1, dy, 1));
	OK(cublasDscal(blas, n / 2, &factor, dx, 2));
	auto got = dy.back(), scaled = dx.back();
	double worst = 0;
	for (int i = 0; i < n; i++)
		worst = fmax(worst,
			     fmax(fabs(got[i] - (factor * x[i] + y[i])),
				  fabs(scaled[i] - (i % 2 || i / 2 >= n / 2 ? 1 : factor) * x[i])));
	within(worst, 1e-15, "daxpy and dscal");
}

/* scalars and results in the GPU's memory, and a stream */
static void device_pointers(int n)
{
	auto x = numbers<float>(n, 11);
	on_device<float> dx(x), dresult(1), dfactor(1, 3);
	cudaStream_t stream;
	double squares = 0;

	CHECK(cudaStreamCreate(&stream));
	OK(cublasSetStream(blas, stream));
	OK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_DEVICE));
	OK(cublasSscal(blas, n, dfactor, dx, 1));
	OK(cublasSnrm2(blas, n, dx, 1, dresult));
	CHECK(cudaStreamSynchronize(stream));
	OK(cublasSetPointerMode(blas, CUBLAS_POINTER_MODE_HOST));
	OK(cublasSetStream(blas, NULL));
	CHECK(cudaStreamDestroy(stream));
	for (float v : x)
		squares += 9. * v * v;
	within(error_of(dresult.back()[0], sqrt(squares)), 1e-5,
	       "sscal and snrm2 with scalars of the device");
}

template <class T> static void all(void)
{
	static const int shape[][3] = {
		{ 1, 1, 1 }, { 33, 17, 50 }, { 96, 96, 96 }, { 128, 64, 40 }, { 7, 130, 19 }
	};

	for (auto &s : shape)
		product<T>(s[0], s[1], s[2], CUBLAS_OP_N, CUBLAS_OP_N);
	for (auto opa : { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C })
		for (auto opb : { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C })
			product<T>(40, 33, 29, opa, opb);
	batches<T>(16, 16, 16, 5);
	batches<T>(23, 9, 31, 3);
	vectors<T>(45);
}

int main(void)
{
	OK(cublasCreate(&blas));
	all<float>();
	all<double>();
	all<float2>();
	all<double2>();
	level_1(5001);
	device_pointers(1000);
	OK(cublasDestroy(blas));
	return verdict(!wrong, "%d of %d products and sums are out of bounds", wrong, compared);
}
