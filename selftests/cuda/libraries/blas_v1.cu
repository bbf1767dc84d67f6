// SPDX-License-Identifier: GPL-2.0-only
/* cuBLAS's first interface, which has one handle for the process and its own calls for memory. */
#include "numbers.h"

#include <numeric>

#include <cublas.h>

int main(void)
{
	const int m = 37, n = 21, k = 30;
	auto a = numbers<float>(m * k, 90), b = numbers<float>(k * n, 91);
	std::vector<float> c(m * n);
	float *da, *db, *dc;
	double worst = 0;

	OK(cublasInit());
	OK(cublasAlloc(m * k, sizeof(float), (void **)&da));
	OK(cublasAlloc(k * n, sizeof(float), (void **)&db));
	OK(cublasAlloc(m * n, sizeof(float), (void **)&dc));
	OK(cublasSetMatrix(m, k, sizeof(float), a.data(), m, da, m));
	OK(cublasSetMatrix(k, n, sizeof(float), b.data(), k, db, k));
	cublasSgemm('n', 'n', m, n, k, 1, da, m, db, k, 0, dc, m);
	OK(cublasGetError());
	OK(cublasGetMatrix(m, n, sizeof(float), dc, m, c.data(), m));
	for (int j = 0; j < n; j++)
		for (int i = 0; i < m; i++) {
			double sum = 0;

			for (int p = 0; p < k; p++)
				sum += (double)a[i + p * m] * b[p + j * k];
			worst = fmax(worst, fabs(sum - c[i + j * m]));
		}
	within(worst, 1e-5, "cublasSgemm");
	within(error_of(cublasSasum(m * n, dc, 1),
			std::accumulate(c.begin(), c.end(), 0.,
					[](double s, float v) { return s + fabs(v); })),
	       1e-5, "cublasSasum");
	OK(cublasFree(da));
	OK(cublasFree(db));
	OK(cublasFree(dc));
	OK(cublasShutdown());
	return verdict(!wrong, "%d of %d results are wrong", wrong, compared);
}
