// SPDX-License-Identifier: GPL-2.0-only
/* kvgpu-top's shares and rates (tools/rates.c), of two made-up samples. */
#include <selftests/unit_test.h>

#include <math.h>

#include "tools/rates.h"

#define SECOND 1000000000ll

/* own function, because Debian 12's cmocka compares floats only */
static void assert_near(double got, double want, double error)
{
	if (!(fabs(got - want) <= error))
		fail_msg("%g, not %g", got, want);
}

/* Two looks, 2 s apart, at a GPU with one vGPU. All numbers are known, and 0. */
struct looks {
	struct gpu gpus[2];
	struct vgpu vgpus[2];
	struct sample before, now;
};

static void known(struct value *v, int n)
{
	for (int i = 0; i < n; i++)
		v[i] = (struct value){ true, 0 };
}

static void start(struct looks *l)
{
	memset(l, 0, sizeof(*l));
	for (int i = 0; i < 2; i++) {
		strcpy(l->gpus[i].address, "0000:01:00.0");
		strcpy(l->vgpus[i].gpu, "0000:01:00.0");
		strcpy(l->vgpus[i].uuid, "6d1f1f4e-0c55-4f0b-9d3c-7a5f2a3b1c01");
		l->gpus[i].ino = 7;
		l->vgpus[i].ino = 8;
		l->gpus[i].when_ns = l->vgpus[i].when_ns = 5 * SECOND + 2 * i * SECOND;
		known(l->gpus[i].v, GPU_FIELDS);
		known(l->vgpus[i].v, VGPU_FIELDS);
	}
	l->before = (struct sample){ &l->gpus[0], &l->vgpus[0], 1, 1 };
	l->now = (struct sample){ &l->gpus[1], &l->vgpus[1], 1, 1 };
}

static void set(struct looks *l, enum vgpu_field f, int64_t before, int64_t now)
{
	l->vgpus[0].v[f].n = before;
	l->vgpus[1].v[f].n = now;
}

static struct vgpu_rates rates(struct looks *l)
{
	return vgpu_rates(&l->before, &l->vgpus[1]);
}

TEST(test_share)
{
	struct looks l;

	start(&l);
	set(&l, VGPU_GPU_TIME, 10 * SECOND, 10 * SECOND + SECOND / 2);
	assert_near(rates(&l).share, 0.25, 1e-12);
	l.gpus[0].v[GPU_BUSY_NS].n = 3 * SECOND;
	l.gpus[1].v[GPU_BUSY_NS].n = 3 * SECOND + 19 * SECOND / 10;
	assert_near(gpu_busy(&l.before, &l.gpus[1]), 0.95, 1e-12);
}

TEST(test_rates)
{
	struct looks l;

	start(&l);
	set(&l, VGPU_SLICES, 100, 1100);
	set(&l, VGPU_EXITS_BAR0_READ, 5, 15);
	set(&l, VGPU_EXITS_BAR0_WRITE, 0, 20);
	set(&l, VGPU_EXITS_BAR1_BAR3, 1, 31);
	set(&l, VGPU_EXITS_CONFIG, 0, 40);
	set(&l, VGPU_DOORBELLS_TRAPPED, 0, 1000000);
	set(&l, VGPU_PREEMPTS, 10, 14);
	set(&l, VGPU_PREEMPT_TOTAL, 1000, 9000);
	assert_near(rates(&l).slices_s, 500, 1e-9);
	assert_near(rates(&l).exits_s, 50, 1e-9);
	assert_near(rates(&l).preempt_ns, 2000, 1e-9);
}

TEST(test_nothing_happened)
{
	struct looks l;

	start(&l);
	assert_near(rates(&l).share, 0, 0);
	assert_near(rates(&l).exits_s, 0, 0);
	assert_true(isnan(rates(&l).preempt_ns));
}

TEST(test_first_look)
{
	struct sample nothing = { 0 };
	struct looks l;

	start(&l);
	assert_true(isnan(vgpu_rates(&nothing, &l.vgpus[1]).share));
	assert_true(isnan(vgpu_rates(NULL, &l.vgpus[1]).exits_s));
	assert_true(isnan(gpu_busy(&nothing, &l.gpus[1])));
	assert_true(isnan(gpu_busy(NULL, &l.gpus[1])));
}

/*
 * A vGPU that was removed and made again with its UUID, on the same GPU or another, and a GPU that
 * came anew: their counters have nothing to do with the old ones'.
 */
TEST(test_another_life)
{
	struct looks l;

	start(&l);
	set(&l, VGPU_GPU_TIME, 1, SECOND);
	l.vgpus[1].ino = 9;
	assert_true(isnan(rates(&l).share));
	start(&l);
	set(&l, VGPU_GPU_TIME, 1, SECOND);
	strcpy(l.vgpus[1].gpu, "0000:02:00.0");
	assert_true(isnan(rates(&l).share));
	start(&l);
	l.gpus[1].ino = 9;
	assert_true(isnan(gpu_busy(&l.before, &l.gpus[1])));
}

TEST(test_unknown)
{
	struct looks l;

	start(&l);
	l.vgpus[0].v[VGPU_GPU_TIME].known = false;
	l.vgpus[1].v[VGPU_EXITS_CONFIG].known = false;
	l.vgpus[1].v[VGPU_PREEMPT_TOTAL].known = false;
	set(&l, VGPU_PREEMPTS, 0, 1);
	set(&l, VGPU_SLICES, 0, 2);
	assert_true(isnan(rates(&l).share));
	assert_true(isnan(rates(&l).exits_s));
	assert_true(isnan(rates(&l).preempt_ns));
	assert_near(rates(&l).slices_s, 1, 1e-12);
	assert_false(vgpu_exits(&l.vgpus[1]).known);
}

TEST(test_backwards)
{
	struct looks l;

	start(&l);
	set(&l, VGPU_GPU_TIME, 2, 1);
	assert_true(isnan(rates(&l).share));
	start(&l);
	l.vgpus[1].when_ns = l.vgpus[0].when_ns;
	assert_true(isnan(rates(&l).share));
	l.vgpus[1].when_ns--;
	assert_true(isnan(rates(&l).slices_s));
}

/* Numbers whose sum overflows give some result, without undefined behaviour. */
TEST(test_huge)
{
	struct looks l;

	start(&l);
	for (int i = VGPU_EXITS_BAR0_READ; i <= VGPU_EXITS_CONFIG; i++)
		l.vgpus[1].v[i].n = INT64_MAX;
	assert_true(vgpu_exits(&l.vgpus[1]).known);
	set(&l, VGPU_GPU_TIME, 0, INT64_MAX);
	assert_true(rates(&l).share > 1);
}

TEST_MAIN(NULL, NULL)
