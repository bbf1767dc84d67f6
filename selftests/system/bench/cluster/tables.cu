// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables matrix|fft pageable|pinned COUNT SIZE[:MICROSECONDS]...: what tables 1 and 2 of the
 * cluster platform's paper measure: the operands to the GPU, the kernel, the result back, by plain
 * cudaMemcpy(). matrix: a product of two SIZE x SIZE matrices. fft: 1,024 transforms of SIZE points
 * in place. With MICROSECONDS a kernel that takes so long by the clock is in the place of the
 * computing one. Prints "gpu NAME", then for each size "TABLE MEMORY SIZE whole MILLISECONDS copies
 * MILLISECONDS kernel MILLISECONDS error E": the whole, the same without a kernel, and the
 * computing kernel with its end known. Medians of COUNT, more of small buffers and fewer of large
 * ones. The error is the worst of some results, beside double precision.
 */
#include <selftests/cuda/programs/check.h>
#include <selftests/cuda/programs/fft_kernel.h>
#include <selftests/cuda/programs/matmul_kernel.h>

#include <algorithm>
#include <vector>

#include "spin.h"

enum { BATCHES = 1024, SAMPLES = 16, PATTERN = 1000003, SMALL = 1 << 20, LARGE = 256 << 20 };

struct task {
	bool fft, pinned;
	int n, count;
	unsigned long long pace_us;
	size_t bytes;			/* of each buffer */
	void *host[3], *gpu[3];		/* inputs, then the result; the GPU's fft is in place */
};

static int inputs(const task &t) { return t.fft ? 1 : 2; }
static int result(const task &t) { return t.fft ? 0 : 2; }	/* of .gpu; of .host: the last */

/* filled by copies of a pattern, since this is most of a run's time else */
static void fill(float *to, size_t n)
{
	uint32_t seed = 7;

	for (size_t k = 0; k < n && k < PATTERN; k++)
		to[k] = random_float(&seed) - 0.5f;
	for (size_t k = PATTERN; k < n; k += PATTERN)
		memcpy(to + k, to, std::min(n - k, (size_t)PATTERN) * sizeof(float));
}

static void get(task *t)
{
	for (int i = 0; i <= inputs(*t); i++) {
		if (t->pinned)
			CHECK(cudaMallocHost(&t->host[i], t->bytes));
		else
			t->host[i] = malloc(t->bytes);
		if (!t->host[i]) {
			printf("FAIL: no memory for %zu bytes\n", t->bytes);
			exit(2);
		}
		if (i <= result(*t))
			CHECK(cudaMalloc(&t->gpu[i], t->bytes));
		fill((float *)t->host[i], t->bytes / sizeof(float));
	}
}

static void put(task *t)
{
	for (int i = 0; i <= inputs(*t); i++) {
		if (t->pinned)
			CHECK(cudaFreeHost(t->host[i]));
		else
			free(t->host[i]);
		if (i <= result(*t))
			CHECK(cudaFree(t->gpu[i]));
	}
}

template <int LOG_N> static void transform(const task &t)
{
	typedef shape<LOG_N> S;

	if (t.n == S::N)
		fft<LOG_N><<<BATCHES, S::THREADS>>>((float2 *)t.gpu[0], -1);
}

static void kernel(const task &t)
{
	if (t.pace_us) {
		spin<<<1, 1>>>(t.pace_us * 1000);
	} else if (t.fft) {
		transform<3>(t), transform<4>(t), transform<6>(t), transform<8>(t), transform<9>(t);
		transform<10>(t), transform<11>(t), transform<12>(t), transform<13>(t);
	} else {
		multiply<<<dim3(t.n / TILE, t.n / TILE), dim3(TILE, TILE / PER_THREAD)>>>(
			(float *)t.gpu[0], (float *)t.gpu[1], (float *)t.gpu[2], t.n);
	}
	CHECK_LAUNCH();
}

static double once(const task &t, bool copies, bool computes)
{
	double begin = now_ms();

	for (int i = 0; copies && i < inputs(t); i++)
		CHECK(cudaMemcpy(t.gpu[i], t.host[i], t.bytes, cudaMemcpyHostToDevice));
	if (computes)
		kernel(t);
	if (copies)
		CHECK(cudaMemcpy(t.host[inputs(t)], t.gpu[result(t)], t.bytes,
				 cudaMemcpyDeviceToHost));
	else
		CHECK(cudaDeviceSynchronize());
	return now_ms() - begin;
}

static double median(const task &t, bool copies, bool computes)
{
	int count = t.bytes <= SMALL ? 10 * t.count : t.bytes < LARGE ? t.count : (t.count + 2) / 3;
	std::vector<double> seen;

	for (int i = 0; i < count; i++)
		seen.push_back(once(t, copies, computes));
	std::sort(seen.begin(), seen.end());
	return seen[seen.size() / 2];
}

static double product(const task &t, size_t row, size_t column)
{
	const float *a = (float *)t.host[0], *b = (float *)t.host[1];
	double sum = 0;

	for (size_t k = 0; k < (size_t)t.n; k++)
		sum += (double)a[row * t.n + k] * b[k * t.n + column];
	return sum;
}

static double dft(const task &t, const float2 *in, int k, bool imaginary)
{
	double sum = 0;

	for (int i = 0; i < t.n; i++) {
		double angle = -2 * M_PI * ((long long)k * i % t.n) / t.n;

		sum += imaginary ? in[i].x * sin(angle) + in[i].y * cos(angle) :
				   in[i].x * cos(angle) - in[i].y * sin(angle);
	}
	return sum;
}

/* the worst error of some results, of a run of its own */
static double compare(const task &t)
{
	const void *out = t.host[inputs(t)];
	const size_t n = t.n;
	double worst = 0;

	once(t, true, true);
	for (int i = 0; i < SAMPLES; i++) {
		size_t at = (i * 2654435761ull) % (t.fft ? n : n * n);

		if (!t.fft) {
			worst = fmax(worst, error_of(((const float *)out)[at],
						     product(t, at / n, at % n)));
		} else {
			size_t of = (size_t)i * (BATCHES / SAMPLES) * n;
			const float2 *in = (float2 *)t.host[0] + of,
				     got = ((const float2 *)out)[of + at];

			worst = fmax(worst, error_of(got.x, dft(t, in, at, false)));
			worst = fmax(worst, error_of(got.y, dft(t, in, at, true)));
		}
	}
	return worst;
}

static bool row(task t, const char *size)
{
	const char *pace = strchr(size, ':');
	double whole, copies, computes = 0, error = 0;

	t.n = atoi(size);
	t.pace_us = pace ? strtoull(pace + 1, NULL, 0) : 0;
	if (t.fft ? t.n < 8 || t.n > 8192 || t.n & (t.n - 1) || t.n == 32 || t.n == 128 :
		    t.n <= 0 || t.n % TILE) {
		printf("no size %s\n", size);
		return false;
	}
	t.bytes = t.fft ? (size_t)t.n * BATCHES * sizeof(float2) :
			  (size_t)t.n * t.n * sizeof(float);
	get(&t);
	if (t.pace_us)
		once(t, true, false);
	else
		error = compare(t);
	whole = median(t, true, true);
	copies = median(t, true, false);
	if (!t.pace_us)
		computes = median(t, false, true);
	printf("%s %s %d whole %.4f copies %.4f kernel %.4f error %.1e\n", t.fft ? "fft" : "matrix",
	       t.pinned ? "pinned" : "pageable", t.n, whole, copies, computes, error);
	fflush(stdout);
	put(&t);
	return error < 1e-3;
}

int main(int argc, char **argv)
{
	cudaDeviceProp prop;
	task t = {};
	bool fine = true;

	if (argc < 5) {
		fprintf(stderr, "usage: tables matrix|fft pageable|pinned COUNT SIZE[:MICROSECONDS]...\n");
		return 2;
	}
	t.fft = !strcmp(argv[1], "fft");
	t.pinned = !strcmp(argv[2], "pinned");
	t.count = std::max(1, atoi(argv[3]));
	CHECK(cudaGetDeviceProperties(&prop, 0));
	printf("gpu %s\n", prop.name);
	for (int i = 4; i < argc; i++)
		fine = row(t, argv[i]) && fine;
	return !fine;
}
