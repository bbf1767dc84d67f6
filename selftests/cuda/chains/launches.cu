// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a launch costs. cuda-launch-latency: one kernel of one thread until cudaStreamSynchronize()
 * has returned, the median of many; cuda-launch-rate: one of many that are waited for together.
 */
#include <algorithm>
#include <vector>

#include "chain.h"

__global__ void count(unsigned int *n)
{
	++*n;
}

static void print_row(const char *phase, double ns, int ops)
{
	printf("{\"row\": \"cuda-launch-%s\", \"unit\": \"ns\", \"better\": \"lower\", \"value\": %.0f, \"ops\": %d}\n", phase, ns, ops);
}

/* the median time of a launch */
static double latency(unsigned int *d, int launches)
{
	std::vector<double> ns(launches);

	for (int i = 0; i < launches; i++) {
		double start = now_ns();

		count<<<1, 1>>>(d);
		CHECK(cudaStreamSynchronize(0));
		ns[i] = now_ns() - start;
	}
	std::sort(ns.begin(), ns.end());
	return ns[launches / 2];
}

static double rate(unsigned int *d, int launches)
{
	double start = now_ns();

	for (int i = 0; i < launches; i++)
		count<<<1, 1>>>(d);
	CHECK(cudaStreamSynchronize(0));
	return (now_ns() - start) / launches;
}

static int run_row(const char *phase, double (*once)(unsigned int *d, int launches),
		   unsigned int *d, int launches, int samples, bool marks)
{
	if (marks)
		mark_row("cuda-launch", phase, "begin", 0);
	for (int i = 0; i < samples; i++)
		print_row(phase, once(d, launches), launches);
	if (marks)
		mark_row("cuda-launch", phase, "end", samples * launches);
	return samples * launches;
}

bool measure_launches(bool quick, bool marks)
{
	int launches = quick ? 200 : 1000, samples = quick ? 2 : 5, done = 0;
	unsigned int *d, got = 0;

	CHECK(cudaMalloc(&d, sizeof(*d)));
	CHECK(cudaMemset(d, 0, sizeof(*d)));
	latency(d, 10);		/* the first ones do more */
	done += run_row("latency", latency, d, launches, samples, marks);
	done += run_row("rate", rate, d, launches, samples, marks);
	CHECK(cudaMemcpy(&got, d, sizeof(got), cudaMemcpyDeviceToHost));
	CHECK(cudaDeviceReset());
	printf("# cuda-launch: %u of %d launches, %s\n", got, done + 10,
	       got == (unsigned int)done + 10 ? "right" : "WRONG");
	return got == (unsigned int)done + 10;
}
