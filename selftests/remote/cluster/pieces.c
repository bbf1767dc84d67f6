// SPDX-License-Identifier: GPL-2.0-only
/*
 * pieces whole|dies: copies of many sizes by way of two relays, each with bytes of its own. whole:
 * all come as they were sent, from and to pageable and pinned memory, one after the other and
 * without waiting. dies: copies until device 0 gives an error, and says which.
 */
#include <stdint.h>
#include <string.h>

#include "../must.h"

enum { MOST = 12 << 20, ROUNDS = 3 };

/* words differ from their neighbours and from the last round's */
static void paint(uint8_t *at, size_t n, uint32_t seed)
{
	uint32_t word;
	size_t i;

	for (i = 0; i + 4 <= n; i += 4) {
		word = (uint32_t)i * 2654435761u ^ seed * 40503u;
		memcpy(at + i, &word, 4);
	}
	for (; i < n; i++)
		at[i] = seed + i;
}

static void compare(const uint8_t *got, const uint8_t *want, size_t n, const char *what)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (got[i] != want[i]) {
			fprintf(stderr, "%s: %zu bytes: byte %zu is %d, not %d\n", what, n, i,
				got[i], want[i]);
			exit(1);
		}
}

static void there_and_back(CUdeviceptr p, uint8_t *from, uint8_t *to, uint8_t *want, size_t n,
			   int async, const char *what)
{
	static uint32_t seed;

	paint(want, n, ++seed);
	memcpy(from, want, n);
	memset(to, 0, n);
	if (async) {
		MUST(cuMemcpyHtoDAsync_v2(p, from, n, NULL));
		MUST(cuMemcpyDtoHAsync_v2(to, p, n, NULL));
		MUST(cuCtxSynchronize());
	} else {
		MUST(cuMemcpyHtoD_v2(p, from, n));
		/* the copy has read it: the program may write to it again */
		memset(from, 0xee, n);
		MUST(cuMemcpyDtoH_v2(to, p, n));
	}
	compare(to, want, n, what);
}

static void whole(CUdeviceptr p)
{
	static const size_t sizes[] = { 1,     2047,  2049,   8191,    8193,	16384,	 65535,
					65536, 65537, 262143, 1048576, 1048577, 3000001, MOST };
	uint8_t *pageable = malloc(2 * MOST), *want = malloc(MOST);
	unsigned int i, round, async;
	void *pinned;

	MUST(cuMemHostAlloc(&pinned, 2 * MOST, 0));
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			for (async = 0; async < 2; async++) {
				there_and_back(p, pageable, pageable + MOST, want, sizes[i], async,
					       "pageable");
				there_and_back(p, pinned, (uint8_t *)pinned + MOST, want, sizes[i],
					       async, "pinned");
				there_and_back(p, (uint8_t *)pinned + 1, pageable + 3, want,
					       sizes[i] - 1 + !(sizes[i] - 1), async, "odd");
			}
	printf("all as sent\n");
}

static int dies(CUdeviceptr p)
{
	uint8_t *room = calloc(1, MOST);
	CUresult r = CUDA_SUCCESS;
	unsigned int k;

	for (k = 0; !r; k++) {
		r = cuMemcpyHtoD_v2(p, room, MOST);
		r = r ? r : cuMemcpyDtoH_v2(room, p, MOST);
		if (k)
			continue;
		printf("ready\n");
		fflush(stdout);
	}
	printf("error %d\n", r);
	return r != CUDA_ERROR_SYSTEM_NOT_READY;
}

int main(int argc, char **argv)
{
	CUdeviceptr p;
	CUcontext ctx;

	MUST(cuInit(0));
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	MUST(cuMemAlloc_v2(&p, MOST));
	if (argc > 1 && !strcmp(argv[1], "dies"))
		return dies(p);
	whole(p);
	return 0;
}
