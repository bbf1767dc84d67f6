// SPDX-License-Identifier: GPL-2.0-only
/*
 * gpuvm CUBIN madd|mmul|fmadd|fmmul|cpy|pincpy [n]: what GPUvm was measured with, by the driver
 * API: matrix addition and multiplication of n x n unsigned integers or floats, copies of n MiB
 * there and back from pageable or pinned memory. Prints times, or rates of the copies, and compares
 * the result, of a product at most 64 rows.
 */
#include <cuda.h>

#include "../check.h"

#define MUST(call)                                                                             \
	do {                                                                                   \
		CUresult r_ = (call);                                                          \
		if (r_ != CUDA_SUCCESS) {                                                      \
			const char *name_ = "?";                                               \
\
			cuGetErrorName(r_, &name_);                                            \
			printf("FAIL: %s:%d: %s: %s (%d)\n", __FILE__, __LINE__, #call, name_, \
			       (int)r_);                                                       \
			exit(2);                                                               \
		}                                                                              \
	} while (0)

union word { unsigned int u; float f; };

static int matrices(CUmodule module, const char *what, int n)
{
	size_t count = (size_t)n * n, bytes = count * sizeof(union word);
	union word *a = (union word *)malloc(bytes), *b = (union word *)malloc(bytes),
		   *c = (union word *)malloc(bytes);
	bool floats = what[0] == 'f', product = !strcmp(what + floats, "mmul");
	int rows = product && n > 64 ? 64 : n, wrong = 0;
	CUdeviceptr da, db, dc;
	void *params[] = { &da, &db, &dc, &n };
	double t[4];
	CUfunction f;
	uint32_t seed = 40;

	for (size_t i = 0; i < count; i++) {
		unsigned int x = random_bits(&seed) % 64, y = random_bits(&seed) % 64;

		if (floats) {
			a[i].f = x;
			b[i].f = y;
		} else {
			a[i].u = x * 0x1000193;
			b[i].u = y * 0x811c9dc5;
		}
	}
	MUST(cuModuleGetFunction(&f, module, what));
	MUST(cuMemAlloc(&da, bytes));
	MUST(cuMemAlloc(&db, bytes));
	MUST(cuMemAlloc(&dc, bytes));
	t[0] = now_ms();
	MUST(cuMemcpyHtoD(da, a, bytes));
	MUST(cuMemcpyHtoD(db, b, bytes));
	t[1] = now_ms();
	MUST(cuLaunchKernel(f, CEIL_DIV(n, 16), CEIL_DIV(n, 16), 1, 16, 16, 1, 0, 0, params, NULL));
	MUST(cuCtxSynchronize());
	t[2] = now_ms();
	MUST(cuMemcpyDtoH(c, dc, bytes));
	t[3] = now_ms();
	for (int r = 0; r < rows; r++) {
		int y = r * (n / rows);

		for (int x = 0; x < n; x++) {
			union word want;
			size_t at = (size_t)y * n + x;

			if (floats)
				want.f = product ? 0 : a[at].f + b[at].f;
			else
				want.u = product ? 0 : a[at].u + b[at].u;
			for (int i = 0; product && i < n; i++) {
				if (floats)
					want.f += a[y * n + i].f * b[i * n + x].f;
				else
					want.u += a[y * n + i].u * b[i * n + x].u;
			}
			wrong += c[at].u != want.u;
		}
	}
	return verdict(!wrong, "%s %d x %d, %d rows, %d wrong; to the GPU %.3f ms, kernel %.3f ms, back %.3f ms", what, n, n, rows, wrong,
		       t[1] - t[0], t[2] - t[1], t[3] - t[2]);
}

static int copies(bool pinned, int mib)
{
	size_t bytes = (size_t)mib << 20;
	uint32_t *in, *out, seed = 41;
	double t[3];
	CUdeviceptr d;
	bool same;

	if (pinned) {
		MUST(cuMemAllocHost((void **)&in, bytes));
		MUST(cuMemAllocHost((void **)&out, bytes));
	} else {
		in = (uint32_t *)malloc(bytes);
		out = (uint32_t *)malloc(bytes);
	}
	for (size_t i = 0; i < bytes / 4; i++)
		in[i] = random_bits(&seed);
	memset(out, 0, bytes);
	MUST(cuMemAlloc(&d, bytes));
	t[0] = now_ms();
	MUST(cuMemcpyHtoD(d, in, bytes));
	t[1] = now_ms();
	MUST(cuMemcpyDtoH(out, d, bytes));
	t[2] = now_ms();
	same = !memcmp(in, out, bytes);
	return verdict(same, "%d MiB of %s memory; to the GPU %.0f MiB/s, back %.0f MiB/s", mib, pinned ? "pinned" : "pageable",
		       mib / (t[1] - t[0]) * 1e3, mib / (t[2] - t[1]) * 1e3);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	CUdevice device;
	CUcontext ctx;
	CUmodule module;

	if (argc < 3) {
		fprintf(stderr, "usage: gpuvm CUBIN madd|mmul|fmadd|fmmul|cpy|pincpy [n]\n");
		return 2;
	}
	MUST(cuInit(0));
	MUST(cuDeviceGet(&device, 0));
	MUST(cuCtxCreate(&ctx, 0, device));
	MUST(cuModuleLoad(&module, argv[1]));
	if (!strcmp(what, "cpy") || !strcmp(what, "pincpy"))
		return copies(what[0] == 'p', argument(argc, argv, 3, 16));
	return matrices(module, what, argument(argc, argv, 3, 128));
}
