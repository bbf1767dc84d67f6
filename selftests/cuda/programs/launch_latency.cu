// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a launch until the waiting thread knows of its end, one launch at a time: an empty kernel
 * and cudaStreamSynchronize(); a kernel that writes its number into pinned memory, and a loop that
 * reads that. The first argument: how many launches. Before the verdict a line of JSON. No time
 * makes it fail.
 */
#include <algorithm>
#include <vector>
#include "check.h"

__global__ void nothing(void)
{
}

__global__ void tell(volatile unsigned int *word, unsigned int number)
{
	*word = number;
}

struct spread {
	double median, p99;
};

static struct spread spread_of(std::vector<double> &us)
{
	struct spread s;

	std::sort(us.begin(), us.end());
	s.median = us[us.size() / 2];
	s.p99 = us[us.size() * 99 / 100];
	return s;
}

static struct spread synchronized(cudaStream_t stream, int launches)
{
	std::vector<double> us(launches);

	for (int i = 0; i < launches; i++) {
		double start = now_ms();

		nothing<<<1, 1, 0, stream>>>();
		CHECK(cudaStreamSynchronize(stream));
		us[i] = (now_ms() - start) * 1e3;
	}
	CHECK_LAUNCH();
	return spread_of(us);
}

static struct spread polled(cudaStream_t stream, int launches, int *missing)
{
	std::vector<double> us(launches);
	volatile unsigned int *word;
	unsigned int *device;

	CHECK(cudaHostAlloc((void **)&word, sizeof(*word), cudaHostAllocMapped));
	CHECK(cudaHostGetDevicePointer((void **)&device, (void *)word, 0));
	*word = 0;
	for (int i = 0; i < launches; i++) {
		double start = now_ms();

		tell<<<1, 1, 0, stream>>>(device, i + 1);
		while (*word != (unsigned int)i + 1 && now_ms() - start < 10000)
			;
		us[i] = (now_ms() - start) * 1e3;
		*missing += *word != (unsigned int)i + 1;
		CHECK(cudaStreamSynchronize(stream));	/* not measured */
	}
	CHECK_LAUNCH();
	CHECK(cudaFreeHost((void *)word));
	return spread_of(us);
}

int main(int argc, char **argv)
{
	int launches = argument(argc, argv, 1, 2000), missing = 0;
	struct spread sync, poll;
	cudaStream_t stream;

	if (launches < 1)
		return verdict(false, "the argument is a number of launches");
	CHECK(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceMapHost));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	synchronized(stream, 50);	/* the first ones do more */
	sync = synchronized(stream, launches);
	poll = polled(stream, launches, &missing);
	CHECK(cudaStreamDestroy(stream));
	printf("%-34s %10s %10s\n", "launch to completion, us", "median", "99 of 100");
	printf("%-34s %10.1f %10.1f\n", "empty, cudaStreamSynchronize()", sync.median, sync.p99);
	printf("%-34s %10.1f %10.1f\n", "one store, polled in memory", poll.median, poll.p99);
	printf("{\"launches\": %d, \"sync_us\": {\"median\": %.2f, \"p99\": %.2f}, \"poll_us\": {\"median\": %.2f, \"p99\": %.2f}}\n",
	       launches, sync.median, sync.p99, poll.median, poll.p99);
	return verdict(!missing, "%d launches each: %.1f us (99 of 100: %.1f) synchronized, %.1f us (%.1f) polled, %d missing", launches,
		       sync.median, sync.p99, poll.median, poll.p99, missing);
}
