// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reductions by a template over type and operation: within warps, within blocks, and among blocks
 * in one launch.
 */
#include "check.h"

template <typename T> struct sum_op {
	static __host__ __device__ T none() { return 0; }
	__host__ __device__ T operator()(T a, T b) const { return a + b; }
};

template <typename T> struct max_op {
	static __host__ __device__ T none() { return (T)-1e30; }
	__host__ __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template <> int max_op<int>::none() { return -2147483647 - 1; }

template <typename T> struct xor_op {
	static __host__ __device__ T none() { return 0; }
	__host__ __device__ T operator()(T a, T b) const { return a ^ b; }
};

__device__ unsigned int finished;

template <typename T, class OP> __device__ T block_reduce(T v, OP op)
{
	__shared__ T part[32];
	int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

	for (int d = 16; d; d /= 2)
		v = op(v, __shfl_xor_sync(0xffffffff, v, d));
	if (!lane)
		part[warp] = v;
	__syncthreads();
	v = threadIdx.x < blockDim.x / 32 ? part[lane] : OP::none();
	if (!warp)
		for (int d = 16; d; d /= 2)
			v = op(v, __shfl_down_sync(0xffffffff, v, d));
	__syncthreads();
	return v;
}

template <typename T, class OP> __global__ void reduce(const T *in, int n, T *parts, T *out)
{
	__shared__ bool last;
	OP op;
	T v = OP::none();

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		v = op(v, in[i]);
	v = block_reduce(v, op);
	if (!threadIdx.x) {
		parts[blockIdx.x] = v;
		__threadfence();
		last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
	}
	__syncthreads();
	if (!last)
		return;
	v = OP::none();
	for (int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
		v = op(v, ((volatile T *)parts)[i]);
	v = block_reduce(v, op);
	if (!threadIdx.x)
		*out = v;
}

template <typename T, class OP>
static bool run(const char *name, T (*make)(uint32_t *), double tolerance)
{
	const int n = 123457;
	T *in = new T[n], *d, *parts, *out, got, want = OP::none();
	bool ok = true;
	OP op;
	uint32_t seed = 10;

	for (int i = 0; i < n; i++) {
		in[i] = make(&seed);
		want = op(want, in[i]);
	}
	CHECK(cudaMalloc(&d, n * sizeof(T)));
	CHECK(cudaMalloc(&parts, 64 * sizeof(T)));
	CHECK(cudaMalloc(&out, sizeof(T)));
	CHECK(cudaMemcpy(d, in, n * sizeof(T), cudaMemcpyHostToDevice));
	for (int blocks = 1; blocks <= 64; blocks *= 8) {
		reduce<T, OP><<<blocks, 256>>>(d, n, parts, out);
		CHECK_LAUNCH();
		CHECK(cudaMemcpy(&got, out, sizeof(T), cudaMemcpyDeviceToHost));
		if (tolerance ? error_of(got, want) > tolerance : got != want) {
			printf("%s, %d blocks: %.17g for %.17g\n", name, blocks, (double)got,
			       (double)want);
			ok = false;
		}
	}
	delete[] in;
	CHECK(cudaFree(d));
	CHECK(cudaFree(parts));
	CHECK(cudaFree(out));
	return ok;
}

static int make_int(uint32_t *seed) { return (int)random_bits(seed) >> 8; }
static double make_double(uint32_t *seed) { return random_float(seed) - 0.5; }
static float make_float(uint32_t *seed) { return random_float(seed); }
static unsigned long long make_long(uint32_t *seed)
{
	return (unsigned long long)random_bits(seed) << 32 | random_bits(seed);
}

int main(void)
{
	int bad = 0;

	bad += !run<int, sum_op<int> >("sum of int", make_int, 0);
	bad += !run<int, max_op<int> >("maximum of int", make_int, 0);
	bad += !run<double, sum_op<double> >("sum of double", make_double, 1e-10);
	bad += !run<double, max_op<double> >("maximum of double", make_double, 0);
	bad += !run<float, max_op<float> >("maximum of float", make_float, 0);
	bad += !run<float, sum_op<float> >("sum of float", make_float, 1e-3);
	bad += !run<unsigned long long, xor_op<unsigned long long>>("xor of 64 bits", make_long, 0);
	bad += !run<unsigned long long, sum_op<unsigned long long>>("sum of 64 bits", make_long, 0);
	return verdict(!bad, "8 reductions of 123457 elements by 1, 8 and 64 blocks, %d wrong", bad);
}
