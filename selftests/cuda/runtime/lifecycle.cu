// SPDX-License-Identifier: GPL-2.0-only
/*
 * Objects that use the GPU after main(), if main() made no reset: one at file scope, which uses it
 * before main(), too, and one that main() makes; ends by return or exit(). Argument 1: 0 to 3.
 */
#include "../programs/check.h"

__device__ int total;

__global__ void add_to_total(int v)
{
	atomicAdd(&total, v);
}

struct buffer {
	int *p;
	const char *name;
	bool strict;	/* no reset comes before its end */

	buffer(const char *name) : name(name), strict(true)
	{
		CHECK(cudaMalloc(&p, 4096));
		CHECK(cudaMemset(p, 1, 4096));
	}
	~buffer()
	{
		int v = 0;

		if (!strict)
			return;
		if (cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost) || v != 0x01010101 ||
		    cudaFree(p)) {
			printf("FAIL: %s: %s\n", name, cudaGetErrorString(cudaGetLastError()));
			_Exit(1);
		}
	}
};

static buffer early("early");

static buffer &on_demand()
{
	static buffer b("on demand");

	return b;
}

int main(int argc, char **argv)
{
	int how = argument(argc, argv, 1, 0), v;

	add_to_total<<<2, 32>>>(3);
	CHECK_LAUNCH();
	CHECK(cudaMemcpyFromSymbol(&v, total, sizeof(v)));
	on_demand();
	if (how & 1) {
		CHECK(cudaDeviceReset());
		early.strict = on_demand().strict = false;
	} else {
		add_to_total<<<1, 1>>>(1);	/* not waited for */
	}
	verdict(v == 192, "total %d, end %d", v, how);
	fflush(stdout);
	if (how & 2)
		exit(v != 192);
	return v != 192;
}
