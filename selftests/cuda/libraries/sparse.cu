// SPDX-License-Identifier: GPL-2.0-only
/*
 * cuSPARSE beside dense sums in double: products of a sparse matrix with a vector and with a dense
 * matrix, by rows, columns and coordinates; of two sparse matrices; to dense and back; triangles
 * and a tridiagonal matrix solved.
 */
#include "numbers.h"

#include <cusparse.h>

enum { ROWS = 150, COLUMNS = 120 };

static cusparseHandle_t sparse;

static cudaDataType type_of(float)
{
	return CUDA_R_32F;
}
static cudaDataType type_of(double)
{
	return CUDA_R_64F;
}
static cudaDataType type_of(float2)
{
	return CUDA_C_32F;
}
static cudaDataType type_of(double2)
{
	return CUDA_C_64F;
}

/* ROWS long or short, some empty; with the row of each element, for the form by coordinates */
template <class T> struct matrix {
	int m, n;
	std::vector<int> begin, row, column;
	std::vector<T> value;

	matrix(int m, int n, int one_of, uint32_t seed) : m(m), n(n), begin(1)
	{
		for (int i = 0; i < m; i++) {
			for (int j = 0; j < n; j++)
				if (i % 7 != 3 && random_bits(&seed) % (i % 11 ? one_of : 2) == 0) {
					row.push_back(i);
					column.push_back(j);
				}
			begin.push_back(row.size());
		}
		value = numbers<T>(row.size(), seed);
	}
	std::vector<wide> dense() const
	{
		std::vector<wide> d((size_t)m * n);

		for (size_t e = 0; e < value.size(); e++)
			d[row[e] + (size_t)column[e] * m] = kind<T>::widen(value[e]);
		return d;
	}
};

/* BYTES of the device; a call's buffer */
static void *room(size_t bytes)
{
	static std::vector<on_device<char> *> rooms;

	rooms.push_back(new on_device<char>(bytes));
	return (char *)*rooms.back();
}

/* alpha op(A) B + beta C0, where B has so many columns; A is of m x n */
static double off(const std::vector<wide> &a, int m, int n, cusparseOperation_t op,
		  const std::vector<wide> &b, const std::vector<wide> &c0,
		  const std::vector<wide> &c, int columns, wide alpha, wide beta)
{
	const int rows = op ? n : m, terms = op ? m : n;
	double worst = 0;

	for (int j = 0; j < columns; j++)
		for (int i = 0; i < rows; i++) {
			wide sum = beta * c0[i + (size_t)j * rows];

			for (int k = 0; k < terms; k++) {
				wide v = op ? a[k + (size_t)i * m] : a[i + (size_t)k * m];

				sum += alpha *
				       (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ?
						std::conj(v) :
						v) *
				       b[k + (size_t)j * terms];
			}
			worst = fmax(worst, std::abs(sum - c[i + (size_t)j * rows]));
		}
	return worst;
}

template <class T> static std::vector<wide> widen(const std::vector<T> &v)
{
	std::vector<wide> w;

	for (auto &e : v)
		w.push_back(kind<T>::widen(e));
	return w;
}

template <class T> static void products(void)
{
	const matrix<T> a(ROWS, COLUMNS, 9, 50);
	const int most = std::max(ROWS, COLUMNS), right = 6, nnz = a.value.size();
	const T alpha = kind<T>::make(1.5, -1), beta = kind<T>::make(-0.5, 2);
	auto x = numbers<T>(most * right, 51), y = numbers<T>(most * right, 52);
	on_device<int> begin(a.begin), row(a.row), column(a.column);
	on_device<T> value(a.value), dx(x);
	cusparseSpMatDescr_t form[2];

	OK(cusparseCreateCsr(&form[0], ROWS, COLUMNS, nnz, begin, column, value, CUSPARSE_INDEX_32I,
			     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type_of(alpha)));
	OK(cusparseCreateCoo(&form[1], ROWS, COLUMNS, nnz, row, column, value, CUSPARSE_INDEX_32I,
			     CUSPARSE_INDEX_BASE_ZERO, type_of(alpha)));
	for (auto f : form)
		for (auto op : { CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
				 CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE }) {
			if (op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE &&
			    (type_of(alpha) == CUDA_R_32F || type_of(alpha) == CUDA_R_64F))
				continue;
			const int rows = op ? COLUMNS : ROWS, terms = op ? ROWS : COLUMNS;
			const double bound = 40 * kind<T>::eps() * terms;
			cusparseDnVecDescr_t vx, vy;
			cusparseDnMatDescr_t mx, my;
			on_device<T> dy(y), dz(y);
			size_t bytes;

			OK(cusparseCreateDnVec(&vx, terms, dx, type_of(alpha)));
			OK(cusparseCreateDnVec(&vy, rows, dy, type_of(alpha)));
			OK(cusparseSpMV_bufferSize(sparse, op, &alpha, f, vx, &beta, vy,
						   type_of(alpha), CUSPARSE_SPMV_ALG_DEFAULT,
						   &bytes));
			OK(cusparseSpMV(sparse, op, &alpha, f, vx, &beta, vy, type_of(alpha),
					CUSPARSE_SPMV_ALG_DEFAULT, room(bytes)));
			within(off(a.dense(), ROWS, COLUMNS, op, widen(x), widen(y),
				   widen(dy.back()), 1, kind<T>::widen(alpha),
				   kind<T>::widen(beta)),
			       bound, "matrix and vector, type %d, form %d, %d", type_of(alpha),
			       f == form[1], op);
			OK(cusparseCreateDnMat(&mx, terms, right, terms, dx, type_of(alpha),
					       CUSPARSE_ORDER_COL));
			OK(cusparseCreateDnMat(&my, rows, right, rows, dz, type_of(alpha),
					       CUSPARSE_ORDER_COL));
			OK(cusparseSpMM_bufferSize(sparse, op, CUSPARSE_OPERATION_NON_TRANSPOSE,
						   &alpha, f, mx, &beta, my, type_of(alpha),
						   CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
			OK(cusparseSpMM(sparse, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, f, mx,
					&beta, my, type_of(alpha), CUSPARSE_SPMM_ALG_DEFAULT,
					room(bytes)));
			within(off(a.dense(), ROWS, COLUMNS, op, widen(x), widen(y),
				   widen(dz.back()), right, kind<T>::widen(alpha),
				   kind<T>::widen(beta)),
			       bound, "two matrices, type %d, form %d, %d", type_of(alpha),
			       f == form[1], op);
			OK(cusparseDestroyDnVec(vx));
			OK(cusparseDestroyDnVec(vy));
			OK(cusparseDestroyDnMat(mx));
			OK(cusparseDestroyDnMat(my));
		}
	for (auto f : form)
		OK(cusparseDestroySpMat(f));
}

/* to dense, and back by rows */
static void dense_and_back(void)
{
	const matrix<double> a(ROWS, COLUMNS, 9, 53);
	const int nnz = a.value.size();
	on_device<int> begin(a.begin), column(a.column), begin2(ROWS + 1), column2(a.column.size());
	on_device<double> value(a.value), value2(a.value.size()), dense(ROWS * COLUMNS, 1);
	cusparseSpMatDescr_t from, to;
	cusparseDnMatDescr_t all;
	int64_t rows, columns, elements;
	size_t bytes;
	void *buffer;

	OK(cusparseCreateCsr(&from, ROWS, COLUMNS, nnz, begin, column, value, CUSPARSE_INDEX_32I,
			     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
	OK(cusparseCreateCsr(&to, ROWS, COLUMNS, 0, begin2, NULL, NULL, CUSPARSE_INDEX_32I,
			     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
	OK(cusparseCreateDnMat(&all, ROWS, COLUMNS, ROWS, dense, CUDA_R_64F, CUSPARSE_ORDER_COL));
	OK(cusparseSparseToDense_bufferSize(sparse, from, all, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
					    &bytes));
	OK(cusparseSparseToDense(sparse, from, all, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
				 room(bytes)));
	within(widen(dense.back()) != a.dense(), 0, "to dense");
	OK(cusparseDenseToSparse_bufferSize(sparse, all, to, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
					    &bytes));
	buffer = room(bytes);
	OK(cusparseDenseToSparse_analysis(sparse, all, to, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
					  buffer));
	OK(cusparseSpMatGetSize(to, &rows, &columns, &elements));
	within(llabs(elements - nnz), 0, "to sparse: elements");
	OK(cusparseCsrSetPointers(to, begin2, column2, value2));
	OK(cusparseDenseToSparse_convert(sparse, all, to, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT,
					 buffer));
	/* in which order a row's elements come is left open */
	auto column_of = column2.back();
	auto value_of = value2.back();
	std::vector<wide> again(a.dense().size());
	for (int e = 0; e < nnz; e++)
		again[a.row[e] + column_of[e] * ROWS] += value_of[e];
	within(begin2.back() != a.begin || again != a.dense(), 0, "to sparse");
	OK(cusparseDestroySpMat(from));
	OK(cusparseDestroySpMat(to));
	OK(cusparseDestroyDnMat(all));
}

/* two sparse matrices, whose product is sparse */
static void sparse_product(void)
{
	const matrix<double> a(60, 50, 6, 54), b(50, 40, 6, 55);
	const double one = 1, zero = 0;
	on_device<int> abegin(a.begin), acolumn(a.column), bbegin(b.begin), bcolumn(b.column),
		cbegin(a.m + 1);
	on_device<double> avalue(a.value), bvalue(b.value);
	cusparseSpMatDescr_t da, db, dc;
	cusparseSpGEMMDescr_t work;
	int64_t rows, columns, nnz;
	size_t first = 0, second = 0;
	void *buffer;

	OK(cusparseCreateCsr(&da, a.m, a.n, a.value.size(), abegin, acolumn, avalue,
			     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
			     CUDA_R_64F));
	OK(cusparseCreateCsr(&db, b.m, b.n, b.value.size(), bbegin, bcolumn, bvalue,
			     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
			     CUDA_R_64F));
	OK(cusparseCreateCsr(&dc, a.m, b.n, 0, cbegin, NULL, NULL, CUSPARSE_INDEX_32I,
			     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
	OK(cusparseSpGEMM_createDescr(&work));
#define OPERANDS                                                                                  \
	sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, da, db, \
		&zero, dc, CUDA_R_64F, CUSPARSE_SPGEMM_DEFAULT, work
	OK(cusparseSpGEMM_workEstimation(OPERANDS, &first, NULL));
	buffer = room(first);
	OK(cusparseSpGEMM_workEstimation(OPERANDS, &first, buffer));
	OK(cusparseSpGEMM_compute(OPERANDS, &second, NULL));
	buffer = room(second);
	OK(cusparseSpGEMM_compute(OPERANDS, &second, buffer));
	OK(cusparseSpMatGetSize(dc, &rows, &columns, &nnz));
	on_device<int> ccolumn(nnz);
	on_device<double> cvalue(nnz);
	OK(cusparseCsrSetPointers(dc, cbegin, ccolumn, cvalue));
	OK(cusparseSpGEMM_copy(OPERANDS));
#undef OPERANDS
	auto begin = cbegin.back(), column = ccolumn.back();
	auto value = cvalue.back();
	std::vector<wide> c((size_t)a.m * b.n), c0(c);
	for (int i = 0; i < a.m; i++)
		for (int e = begin[i]; e < begin[i + 1]; e++)
			c[i + (size_t)column[e] * a.m] += value[e];
	within(off(a.dense(), a.m, a.n, CUSPARSE_OPERATION_NON_TRANSPOSE, b.dense(), c0, c, b.n, 1,
		   0),
	       1e-13, "two sparse matrices");
	OK(cusparseSpGEMM_destroyDescr(work));
	for (auto d : { da, db, dc })
		OK(cusparseDestroySpMat(d));
}

/* the lower triangle of a matrix with a long diagonal, also transposed */
static void triangles(void)
{
	const matrix<double> a(ROWS, ROWS, 9, 56);
	const cusparseFillMode_t lower = CUSPARSE_FILL_MODE_LOWER;
	const double one = 1;
	auto b = numbers<double>(ROWS, 57);
	std::vector<int> begin(1), column;
	std::vector<double> value;
	std::vector<wide> triangle(ROWS * ROWS);

	for (int i = 0; i < ROWS; i++) {
		for (int e = a.begin[i]; e < a.begin[i + 1] && a.column[e] < i; e++) {
			column.push_back(a.column[e]);
			value.push_back(a.value[e]);
		}
		column.push_back(i);
		value.push_back(5);
		for (size_t e = begin.back(); e < column.size(); e++)
			triangle[i + (size_t)column[e] * ROWS] = value[e];
		begin.push_back(column.size());
	}
	on_device<int> dbegin(begin), dcolumn(column);
	on_device<double> dvalue(value), db(b);
	for (auto op : { CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE }) {
		on_device<double> dx(ROWS);
		cusparseSpMatDescr_t matrix;
		cusparseDnVecDescr_t vb, vx;
		cusparseSpSVDescr_t work;
		size_t bytes;

		OK(cusparseCreateCsr(&matrix, ROWS, ROWS, value.size(), dbegin, dcolumn, dvalue,
				     CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
				     CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
		OK(cusparseSpMatSetAttribute(matrix, CUSPARSE_SPMAT_FILL_MODE, (void *)&lower,
					     sizeof(lower)));
		OK(cusparseCreateDnVec(&vb, ROWS, db, CUDA_R_64F));
		OK(cusparseCreateDnVec(&vx, ROWS, dx, CUDA_R_64F));
		OK(cusparseSpSV_createDescr(&work));
#define OPERANDS sparse, op, &one, matrix, vb, vx, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, work
		OK(cusparseSpSV_bufferSize(OPERANDS, &bytes));
		OK(cusparseSpSV_analysis(OPERANDS, room(bytes)));
		OK(cusparseSpSV_solve(OPERANDS));
#undef OPERANDS
		within(off(triangle, ROWS, ROWS, op, widen(dx.back()),
			   std::vector<wide>(ROWS), widen(b), 1, 1, 0),
		       1e-12, "a triangle, %d", op);
		OK(cusparseSpSV_destroyDescr(work));
		OK(cusparseDestroyDnVec(vb));
		OK(cusparseDestroyDnVec(vx));
		OK(cusparseDestroySpMat(matrix));
	}
}

static void tridiagonal(void)
{
	const int n = 300, right = 3;
	auto low = numbers<double>(n, 58), high = numbers<double>(n, 59),
	     b = numbers<double>(n * right, 60);
	std::vector<double> middle(n, 3);
	size_t bytes;
	double worst = 0;

	low[0] = high[n - 1] = 0;
	on_device<double> dl(low), d(middle), du(high), db(b);
	OK(cusparseDgtsv2_bufferSizeExt(sparse, n, right, dl, d, du, db, n, &bytes));
	OK(cusparseDgtsv2(sparse, n, right, dl, d, du, db, n, room(bytes)));
	auto x = db.back();
	for (int j = 0; j < right; j++)
		for (int i = 0; i < n; i++) {
			const double *at = &x[i + j * n];
			double sum = middle[i] * *at + (i ? low[i] * at[-1] : 0) +
				     (i + 1 < n ? high[i] * at[1] : 0);

			worst = fmax(worst, fabs(sum - b[i + j * n]));
		}
	within(worst, 1e-12, "a tridiagonal matrix");
}

int main(void)
{
	OK(cusparseCreate(&sparse));
	products<float>();
	products<double>();
	products<float2>();
	products<double2>();
	dense_and_back();
	sparse_product();
	triangles();
	tridiagonal();
	OK(cusparseDestroy(sparse));
	return verdict(!wrong, "%d of %d products and solutions are out of bounds", wrong,
		       compared);
}
