// SPDX-License-Identifier: GPL-2.0-only
/*
 * pins MODE MIB: MIB of pinned memory in pieces of different sizes. work: asynchronous copies from
 * and to each, right bytes, and what was freed can be had again. most: as much as there is, then
 * "ready", until standard input ends; and again.
 */
#include <stdint.h>
#include <string.h>

#include "must.h"

enum { PIECES = 4096, DEVICE = 4 << 20 };
static const size_t sizes[] = { 24 << 20, 5000, 70 << 20, 1 << 20, 130 << 20, (3 << 20) + 1 };
static uint64_t *piece[PIECES];
static size_t bytes_of[PIECES];
static unsigned int nr;
static CUdeviceptr device;
static CUstream stream;

static uint64_t word_of(unsigned int i, size_t word)
{
	return (uint64_t)i << 40 ^ word * 0x9e3779b97f4a7c15;
}

/* as much as there is of @most bytes; the result of the first call that failed */
static CUresult take(size_t most)
{
	size_t have = 0;
	CUresult r = CUDA_SUCCESS;

	for (nr = 0; have < most && nr < PIECES; nr++) {
		bytes_of[nr] = sizes[nr % 6] < most - have ? sizes[nr % 6] : most - have;
		r = cuMemHostAlloc((void **)&piece[nr], bytes_of[nr], 0);
		if (r)
			break;
		have += bytes_of[nr];
	}
	return r;
}

static void give_back(void)
{
	while (nr)
		MUST(cuMemFreeHost(piece[--nr]));
}

static void fill_pieces(void)
{
	unsigned int i;
	size_t w;

	for (i = 0; i < nr; i++)
		for (w = 0; w < bytes_of[i] / 8; w++)
			piece[i][w] = word_of(i, w);
}

/* by the last bytes of each piece, too; the copy back comes while the CPU looks at nothing */
static void copy_pieces(void)
{
	size_t at, n, w;
	unsigned int i;

	for (i = 0; i < nr; i++)
		for (at = 0; at < bytes_of[i]; at += n) {
			n = bytes_of[i] - at < DEVICE ? bytes_of[i] - at : DEVICE;
			MUST(cuMemcpyHtoDAsync_v2(device, (char *)piece[i] + at, n, stream));
			MUST(cuStreamSynchronize(stream));
			memset((char *)piece[i] + at, 0x55, n);
			MUST(cuMemcpyDtoHAsync_v2((char *)piece[i] + at, device, n, stream));
		}
	MUST(cuStreamSynchronize(stream));
	for (i = 0; i < nr; i++)
		for (w = 0; w < bytes_of[i] / 8; w++)
			if (piece[i][w] != word_of(i, w)) {
				printf("piece %u, word %zu: %llx\n", i, w,
				       (unsigned long long)piece[i][w]);
				exit(2);
			}
}

static void work(size_t most)
{
	int round;

	for (round = 0; round < 2; round++) {
		MUST(take(most));
		fill_pieces();
		copy_pieces();
		give_back();
	}
	printf("PASS\n");
}

static void take_most(size_t most)
{
	CUresult r = take(most);
	size_t have = 0;
	unsigned int i;

	for (i = 0; i < nr; i++)
		have += bytes_of[i];
	fill_pieces();
	copy_pieces();
	CHECK(!r || r == CUDA_ERROR_OUT_OF_MEMORY);
	CHECK(cuMemHostAlloc((void **)&piece[nr], most, 0) == CUDA_ERROR_OUT_OF_MEMORY);
	printf("ready %zu\n", have >> 20);
	fflush(stdout);
	while (getchar() != EOF)
		;
	give_back();
	MUST(take(have));
	fill_pieces();
	copy_pieces();
}

int main(int argc, char **argv)
{
	size_t most = argc == 3 ? strtoull(argv[2], NULL, 0) << 20 : 0;
	CUcontext ctx;
	CUdevice dev;

	if (!most)
		return 2;
	MUST(cuInit(0));
	MUST(cuDeviceGet(&dev, 0));
	MUST(cuCtxCreate_v2(&ctx, 0, dev));
	MUST(cuMemAlloc_v2(&device, DEVICE));
	MUST(cuStreamCreate(&stream, 0));
	if (!strcmp(argv[1], "work"))
		work(most);
	else
		take_most(most);
	return 0;
}
