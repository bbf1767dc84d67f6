// SPDX-License-Identifier: GPL-2.0-only
/* dlopen() and dlclose() of a library with kernels, again and again: memory does not grow. */
#include <dlfcn.h>

#include "../programs/check.h"

int main(int argc, char **argv)
{
	char name[4096];
	int h[200], *d, wrong = 0;
	size_t first = 0, unused, total;

	snprintf(name, sizeof(name), "%s.so", argv[0]);
	if (argc > 1)
		snprintf(name, sizeof(name), "%s", argv[1]);
	CHECK(cudaMalloc(&d, sizeof(h)));
	for (int round = 0; round < 20; round++) {
		void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		int (*square)(int *p, int n);

		if (!library) {
			printf("FAIL: %s\n", dlerror());
			return 2;
		}
		square = (int (*)(int *, int))dlsym(library, "library_square");
		for (int i = 0; i < 200; i++)
			h[i] = i + round;
		CHECK(cudaMemcpy(d, h, sizeof(h), cudaMemcpyHostToDevice));
		wrong += square(d, 200) != 1;
		CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
		for (int i = 0; i < 200; i++)
			wrong += h[i] != (i + round) * (i + round);
		dlclose(library);
		CHECK(cudaMemGetInfo(&unused, &total));
		if (round == 2)
			first = unused;
	}
	return verdict(!wrong && unused >= first, "%d wrong, %ld bytes lost", wrong,
		       (long)(first - unused));
}
