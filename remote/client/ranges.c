// SPDX-License-Identifier: MIT
/* Device memory that the client knows of, sorted by address: what was allocated, and variables of modules that were asked for. */
#include <stdlib.h>

#include "client.h"

struct range {
	CUdeviceptr ptr;
	uint64_t bytes;
	const void *ctx;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
static unsigned int nr, max;

/* index of the first range behind @ptr */
static unsigned int above(CUdeviceptr ptr)
{
	unsigned int low = 0, high = nr;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (ranges[mid].ptr <= ptr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct range *find(CUdeviceptr ptr)
{
	unsigned int i = above(ptr);

	return i && ptr - ranges[i - 1].ptr < ranges[i - 1].bytes ? &ranges[i - 1] : NULL;
}

/* what does not fit into memory is not known, and its calls are asked */
void range_add(CUdeviceptr ptr, size_t bytes)
{
	const void *ctx = current_context();
	struct range *grown;
	unsigned int at;

	pthread_mutex_lock(&lock);
	at = above(ptr);
	if (at && ranges[at - 1].ptr == ptr) {
		ranges[at - 1] = (struct range){ ptr, bytes, ctx };
	} else {
		if (nr == max) {
			grown = realloc(ranges, (max ? 2 * max : 64) * sizeof(*grown));
			if (!grown)
				goto out;
			ranges = grown;
			max = max ? 2 * max : 64;
		}
		memmove(&ranges[at + 1], &ranges[at], (nr - at) * sizeof(*ranges));
		ranges[at] = (struct range){ ptr, bytes, ctx };
		nr++;
	}
out:
	pthread_mutex_unlock(&lock);
}

static void remove_at(unsigned int at)
{
	nr--;
	memmove(&ranges[at], &ranges[at + 1], (nr - at) * sizeof(*ranges));
}

void range_remove(CUdeviceptr ptr)
{
	unsigned int at;

	pthread_mutex_lock(&lock);
	at = above(ptr);
	if (at && ranges[at - 1].ptr == ptr)
		remove_at(at - 1);
	pthread_mutex_unlock(&lock);
}

void ranges_end(const void *ctx)
{
	unsigned int i = 0;

	pthread_mutex_lock(&lock);
	while (i < nr)
		if (ranges[i].ctx == ctx)
			remove_at(i);
		else
			i++;
	pthread_mutex_unlock(&lock);
}

bool range_has(CUdeviceptr ptr)
{
	bool has;

	pthread_mutex_lock(&lock);
	has = find(ptr);
	pthread_mutex_unlock(&lock);
	return has;
}

static bool spans(CUdeviceptr ptr, uint64_t bytes, const void *ctx)
{
	const struct range *r = find(ptr);

	return r && r->ctx == ctx && bytes <= r->bytes - (ptr - r->ptr);
}

/* misaligned addresses of wide elements are an error */
bool device_span(CUdeviceptr ptr, uint64_t n, unsigned int size)
{
	const void *ctx = current_context();
	uint64_t bytes;
	bool fine;

	if (!ctx || !n || ptr % size || __builtin_mul_overflow(n, size, &bytes))
		return false;
	pthread_mutex_lock(&lock);
	fine = spans(ptr, bytes, ctx);
	pthread_mutex_unlock(&lock);
	return fine;
}

bool device_spans(CUdeviceptr a, CUdeviceptr b, uint64_t bytes)
{
	return device_span(a, bytes, 1) && device_span(b, bytes, 1);
}
