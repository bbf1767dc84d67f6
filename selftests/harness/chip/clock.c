// SPDX-License-Identifier: GPL-2.0-only
/* PTIMER, driven by a crystal of its own. */
#include "gk110/ptimer.h"
#include "selftests/harness/chip/chip.h"
#include "selftests/harness/kernel/kernel.h"

static s32 drift_ppm;
static bool silent;
static u32 wrong;

void clock_begin(s32 ppm)
{
	drift_ppm = ppm;
	silent = false;
	wrong = 0;
}

u64 clock_now(void)
{
	return harness_now + (s64)(harness_now / 1000000) * drift_ppm;
}

void clock_silent(bool on)
{
	silent = on;
}

void clock_errs(u32 code)
{
	wrong = code;
}

u32 clock_read(u32 reg)
{
	if (silent)
		return ~0u;
	if (wrong)
		return wrong;
	return reg == PTIMER_TIME_LOW ? clock_now() & PTIMER_TIME_LOW_BITS : clock_now() >> 32;
}
