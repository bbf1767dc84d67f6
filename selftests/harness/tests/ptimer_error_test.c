// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTIMER's reads give an error of the register ring for a moment, and are right again after it. The
 * time of the guests must be the card's then, and go on: a neighbour must not lose its clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/ptimer.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS 1000000ull

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

static u64 guest_time(struct world_vgpu *g)
{
	u32 hi, lo, i = 0;

	do {
		hi = g_read(g, PTIMER_TIME_HIGH);
		lo = g_read(g, PTIMER_TIME_LOW);
	} while (hi != g_read(g, PTIMER_TIME_HIGH) && i++ < 10);
	return (u64)hi << 32 | lo;
}

/* @rest: ms without a read before the error */
static void one_error(u32 code, u32 rest)
{
	struct world_vgpu *g = &world.vgpu[0], *neighbour = &world.vgpu[1];
	u64 t, later;

	clock_begin(0);
	setup_begin(&quiet, &calm, 2);
	guest_time(neighbour);
	harness_sleep(rest * MS);
	clock_errs(code);
	g_read(g, PTIMER_TIME_LOW);
	clock_errs(0);
	harness_sleep(MS);
	t = guest_time(neighbour);
	harness_sleep(60 * 1000 * MS);
	later = guest_time(neighbour);
	printf("code %08x after %u ms: card %llu, guest %llu; a minute later card %llu, guest %llu\n",
	       code, rest, (unsigned long long)clock_now(), (unsigned long long)t,
	       (unsigned long long)clock_now(), (unsigned long long)later);
	if (later - t < 59 * 1000 * MS || later > clock_now() + 10 * MS)
		harness_fail(
			"S5: one wrong read of PTIMER, and the neighbour's clock is %lld s off, and went on by %llu s in a minute",
			(long long)(later - clock_now()) / 1000000000,
			(unsigned long long)(later - t) / 1000000000);
	setup_end();
}

static void after_a_rest(void **state)
{
	one_error(0xbadf1100, 1500);
}

static void between_reads(void **state)
{
	one_error(0xbadf1100, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_rest),
		cmocka_unit_test(between_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
