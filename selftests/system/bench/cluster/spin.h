/* SPDX-License-Identifier: GPL-2.0-only */
/* A kernel that computes nothing and takes so long by the GPU's clock: a paced GPU. */
#ifndef KVGPU_SELFTESTS_BENCH_SPIN_H
#define KVGPU_SELFTESTS_BENCH_SPIN_H

static __device__ unsigned long long spin_clock(void)
{
	unsigned long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

static __global__ void spin(unsigned long long ns)
{
	unsigned long long begin = spin_clock();

	while (spin_clock() - begin < ns)
		;
}

#endif
