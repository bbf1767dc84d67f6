// SPDX-License-Identifier: GPL-2.0-only
/* PTIMER, by a crystal of 27 MHz. It stands still until the host has set its rate. */
#include "gk110/ptimer.h"
#include "selftests/module/harness/chip/chip.h"
#include "selftests/module/harness/kernel/kernel.h"

#define CRYSTAL_KHZ 27000

static s32 drift_ppm;
static u64 base, since; /* it was .base at the harness's time .since */
static u32 source, mul, divisor;
bool clock_silent;
u32 clock_error;

void clock_begin(s32 ppm)
{
	drift_ppm = ppm;
	clock_silent = false;
	clock_error = 0;
}

void clock_reset(void)
{
	base = since = source = mul = divisor = 0;
}

u64 clock_now(void)
{
	u64 ns = harness_now - since;

	if (!divisor)
		return base;
	ns += (s64)ns / 1000000 * drift_ppm;
	return base + (u64)((unsigned __int128)ns * CRYSTAL_KHZ * (source + 1) * mul / divisor /
			    PTIMER_NS_KHZ);
}

bool clock_write(u32 reg, u32 val)
{
	u64 now = clock_now();

	switch (reg) {
	case PTIMER_TIME_LOW:
		now = (now & ~0xffffffffull) | (val & PTIMER_TIME_LOW_BITS);
		break;
	case PTIMER_TIME_HIGH:
		now = (u64)(val & PTIMER_TIME_HIGH_BITS) << 32 | (u32)now;
		break;
	case PTIMER_CLOCK_SOURCE:
		source = val;
		break;
	case PTIMER_CLOCK_DIV:
		divisor = val;
		break;
	case PTIMER_CLOCK_MUL:
		mul = val;
		break;
	default:
		return false;
	}
	base = now;
	since = harness_now;
	return true;
}

u32 clock_read(u32 reg)
{
	if (clock_silent)
		return ~0u;
	if (clock_error)
		return clock_error;
	return reg == PTIMER_TIME_LOW ? clock_now() & PTIMER_TIME_LOW_BITS : clock_now() >> 32;
}
