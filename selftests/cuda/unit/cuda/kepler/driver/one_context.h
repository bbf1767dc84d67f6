/* SPDX-License-Identifier: MIT */
/*
 * For tests that each have one context, on the fake device: resource_test.c, hostfunc_test.c.
 * set_up() and tear_down() are for each test. tear_down() fails if the fake device still has
 * something, or ran work too early.
 */
#ifndef KVGPU_TESTS_CUDA_ONE_CONTEXT_H
#define KVGPU_TESTS_CUDA_ONE_CONTEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <cuda/kepler/driver/driver.h>

#include "fake.h"

#define OK(call) assert_int_equal(call, CUDA_SUCCESS)

static CUcontext ctx;

static inline int set_up(void **state)
{
	fake_fail_after = -1;
	fake_failure = DEVICE_OK;
	memset(fake_hold, 0, sizeof(fake_hold));
	fake_same = fake_views = false;
	return cuInit(0) || cuCtxCreate_v2(&ctx, 0, 0);
}

static inline int tear_down(void **state)
{
	return cuCtxDestroy_v2(ctx) || fake_open || fake_buffers || fake_early;
}

#endif
