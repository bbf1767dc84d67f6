// SPDX-License-Identifier: GPL-2.0-only
/*
 * Speed of the shader machine by itself (make bench-sm): matrix products, checked by samples, and
 * the time of a launch. rig.h and rig.c are of selftests/model/unit/gpu-model.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "gr/gr.h"
#include "gr/sm/exec.h"
#include "gr/sm/rig.h"

#define SAMPLES	 2000
#define LAUNCHES 2000

__asm__(".section .rodata\n.balign 8\ncubin_start: .incbin \"selftests/model/unit/gpu-model/gr/sm/kernels.cubin\"\ncubin_end:\n"
	".text\n");
extern const uint8_t cubin_start[], cubin_end[];

static const struct rig_dim one = { 1, 1, 1 };

static double wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static struct rig_kernel kernel(struct rig *r, const char *name)
{
	struct rig_kernel k;

	if (!rig_cubin(r, cubin_start, cubin_end - cubin_start, name, &k))
		exit(1);
	return k;
}

static unsigned int wrong(const float *a, const float *b, const float *c, unsigned int n)
{
	unsigned int bad = 0;

	for (unsigned int s = 0; s < SAMPLES; s++) {
		unsigned int i = rand() % n, j = rand() % n;
		float want = 0;

		for (unsigned int l = 0; l < n; l++)
			want = fmaf(a[i * n + l], b[l * n + j], want);
		bad += want != c[i * n + j];
	}
	return bad;
}

static int matrix(const char *isa, unsigned int n)
{
	struct rig *r = rig_create(64u << 20);
	struct rig_kernel k = kernel(r, "sgemm");
	struct {
		uint64_t a, b, c;
		uint32_t n;
	} p = { rig_alloc(r, n * n * 4), rig_alloc(r, n * n * 4), rig_alloc(r, n * n * 4), n };
	float *a = rig_host(r, p.a), *b = rig_host(r, p.b);
	double t, used;
	unsigned int bad;
	uint64_t count;

	for (unsigned int i = 0; i < n * n; i++) {
		a[i] = (float)(rand() % 2000 - 1000) / 512;
		b[i] = (float)(rand() % 2000 - 1000) / 512;
	}
	t = wall();
	used = cpu();
	if (rig_launch(r, &k, (struct rig_dim){ n / 16, n / 16, 1 }, (struct rig_dim){ 16, 16, 1 },
		       0, &p, 28) != SM_DONE)
		return 1;
	t = wall() - t;
	used = cpu() - used;
	count = sm_instructions(r->g);
	bad = wrong(a, b, rig_host(r, p.c), n);
	printf("sgemm %4u  %-6s  %8.3f s wall  %8.3f s CPU  %7.1f M warp instructions/s wall  %7.1f M/s of CPU  %s\n",
	       n, isa, t, used, count / t / 1e6, count / used / 1e6, bad ? "WRONG" : "correct");
	rig_destroy(r);
	return bad != 0;
}

static void launches(const char *name, const char *what)
{
	struct rig *r = rig_create(32u << 20);
	static const uint64_t leave = 0x18000000001c003cull; /* EXIT */
	struct {
		uint64_t p;
		uint32_t v;
	} p = { rig_alloc(r, 64), 1 };
	struct rig_kernel k = name ? kernel(r, name) : rig_program(r, &leave, 1, 8);
	double t = wall(), used = cpu();

	for (unsigned int i = 0; i < LAUNCHES; i++)
		rig_launch(r, &k, one, (struct rig_dim){ 32, 1, 1 }, 0, &p, name ? 12 : 0);
	t = wall() - t;
	used = cpu() - used;
	printf("launch of %-28s %8.2f us wall  %8.2f us CPU\n", what, t / LAUNCHES * 1e6,
	       used / LAUNCHES * 1e6);
	rig_destroy(r);
}

int main(void)
{
	static const char *const isas[] = { "base", "avx2", "avx512" };
	int ret = 0;

	for (unsigned int i = 0; i < 3; i++) {
		if (!lane_isa_select(isas[i]))
			continue;
		ret |= matrix(isas[i], 256);
		ret |= matrix(isas[i], 1024);
	}
	launches(NULL, "an empty program");
	launches("store_at", "one CTA with one store");
	return ret;
}
