// SPDX-License-Identifier: GPL-2.0-only
/* Sparse matrix times vector: CSR (a thread, a warp to each row), ELL, and COO with atomics. */
#include <vector>

#include "check.h"

__global__ void csr_scalar(int n, const int *begin, const int *column, const double *value,
			   const double *x, double *y)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	if (row >= n)
		return;
	for (int i = begin[row]; i < begin[row + 1]; i++)
		sum += value[i] * __ldg(&x[column[i]]);
	y[row] = sum;
}

__global__ void csr_vector(int n, const int *begin, const int *column, const double *value,
			   const double *x, double *y)
{
	__shared__ volatile double part[128];
	int lane = threadIdx.x & 31, row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
	double sum = 0;

	if (row >= n)
		return;
	for (int i = begin[row] + lane; i < begin[row + 1]; i += 32)
		sum += value[i] * x[column[i]];
	part[threadIdx.x] = sum;
	for (int d = 16; d; d >>= 1) {
		__syncwarp();
		if (lane < d)
			part[threadIdx.x] = sum = sum + part[threadIdx.x + d];
	}
	if (!lane)
		y[row] = sum;
}

__global__ void ell(int n, int width, const int *column, const double *value, const double *x,
		    double *y)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0;

	if (row >= n)
		return;
	for (int i = 0; i < width; i++) {
		int c = column[i * n + row];

		if (c >= 0)
			sum += value[i * n + row] * x[c];
	}
	y[row] = sum;
}

/* sm_35 has no double atomicAdd of its own */
__device__ void add_to(double *at, double v)
{
	unsigned long long *word = (unsigned long long *)at, old = *word, seen;

	do {
		seen = old;
		old = atomicCAS(word, seen, __double_as_longlong(v + __longlong_as_double(seen)));
	} while (old != seen);
}

__global__ void coo(int nnz, const int *row, const int *column, const double *value,
		    const double *x, double *y)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nnz; i += gridDim.x * blockDim.x)
		add_to(&y[row[i]], value[i] * x[column[i]]);
}

template <typename T> static T *upload(const std::vector<T> &v)
{
	T *d;

	CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
	CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
	return d;
}

static double compare(const std::vector<double> &want, const double *device)
{
	std::vector<double> got(want.size());
	double worst = 0;

	CHECK(cudaMemcpy(got.data(), device, got.size() * 8, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < got.size(); i++)
		worst = fmax(worst, error_of(got[i], want[i]));
	return worst;
}

int main(void)
{
	const int n = 3000;
	int width = 0;
	std::vector<int> begin(1, 0), column, row;
	std::vector<double> value, x(n), want(n, 0.0);
	double worst[4];
	uint32_t seed = 11;

	for (int i = 0; i < n; i++) {
		int len = i % 97 == 0 ? 200 : i % 10 == 0 ? 0 : 1 + random_bits(&seed) % 12;

		for (int j = 0; j < len; j++) {
			column.push_back(random_bits(&seed) % n);
			value.push_back(random_float(&seed) - 0.5);
			row.push_back(i);
		}
		begin.push_back(column.size());
		width = len > width ? len : width;
		x[i] = random_float(&seed);
	}
	for (size_t i = 0; i < value.size(); i++)
		want[row[i]] += value[i] * x[column[i]];
	std::vector<int> ell_column((size_t)width * n, -1);
	std::vector<double> ell_value((size_t)width * n, 0.0);
	for (int i = 0; i < n; i++)
		for (int j = begin[i]; j < begin[i + 1]; j++) {
			ell_column[(j - begin[i]) * n + i] = column[j];
			ell_value[(j - begin[i]) * n + i] = value[j];
		}

	int *d_begin = upload(begin), *d_column = upload(column), *d_row = upload(row),
	    *d_ell = upload(ell_column);
	double *d_value = upload(value), *d_x = upload(x), *d_ell_value = upload(ell_value), *y;
	CHECK(cudaMalloc(&y, n * 8));
	csr_scalar<<<CEIL_DIV(n, 128), 128>>>(n, d_begin, d_column, d_value, d_x, y);
	CHECK_LAUNCH();
	worst[0] = compare(want, y);
	CHECK(cudaMemset(y, 0xff, n * 8));
	csr_vector<<<CEIL_DIV(n, 4), 128>>>(n, d_begin, d_column, d_value, d_x, y);
	CHECK_LAUNCH();
	worst[1] = compare(want, y);
	CHECK(cudaMemset(y, 0xff, n * 8));
	ell<<<CEIL_DIV(n, 128), 128>>>(n, width, d_ell, d_ell_value, d_x, y);
	CHECK_LAUNCH();
	worst[2] = compare(want, y);
	CHECK(cudaMemset(y, 0, n * 8));
	coo<<<13, 256>>>(value.size(), d_row, d_column, d_value, d_x, y);
	CHECK_LAUNCH();
	worst[3] = compare(want, y);
	return verdict(worst[0] < 1e-13 && worst[1] < 1e-13 && worst[2] < 1e-13 && worst[3] < 1e-13,
		       "%zu elements in %d rows; worst errors CSR %.0e, by warps %.0e, ELL %.0e, COO %.0e", value.size(), n,
		       worst[0], worst[1], worst[2], worst[3]);
}
