// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time that a guest reads. The guest compares it with times that the GPU writes into its memory
 * (releases of semaphores, queries). So it must be the card's time: not before the guest's access
 * began, and not after it ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/ptimer.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define MS	 1000000ull
#define LOW_TURN (1ull << 32) /* ns until the low word is 0 again */
#define LOOKS	 400

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

static u64 guest_time(struct world_vgpu *g, u32 high, u32 low)
{
	u32 hi, lo;

	do {
		hi = g_read(g, high);
		lo = g_read(g, low);
	} while (hi != g_read(g, high));
	return (u64)hi << 32 | lo;
}

/* Wait for different times: also until just before the low word is 0 again. */
static void wait_some(u32 i)
{
	u64 to_turn = LOW_TURN - clock_now() % LOW_TURN;

	if (i % 16 == 15)
		harness_sleep(to_turn > 1000 ? to_turn - 1000 : to_turn);
	else if (i % 64 == 8)
		harness_sleep(20000 * MS);
	else
		harness_sleep((i * 7919ull % 1300) * MS);
}

static void time_is_the_cards(void **state)
{
	static const s32 drifts[] = { 0, 150, -150 };
	u64 before, t, last;
	u32 d, i;

	for (d = 0; d < ARRAY_SIZE(drifts); d++) {
		clock_begin(drifts[d]);
		setup_begin(&quiet, &calm, 1);
		for (i = 0, last = 0; i < LOOKS; i++, last = t) {
			wait_some(i);
			before = clock_now();
			t = i % 2 ? guest_time(&world.vgpu[0], PTIMER_TIME_HIGH, PTIMER_TIME_LOW) :
				    guest_time(&world.vgpu[0], PFIFO_TIME_HIGH, PFIFO_TIME_LOW);
			if (t < (before & ~31ull) || t > clock_now() || t < last)
				harness_fail(
					"look %u at %+d ppm: %llu, read between %llu and %llu, after %llu",
					i, drifts[d], (unsigned long long)t,
					(unsigned long long)before, (unsigned long long)clock_now(),
					(unsigned long long)last);
		}
		setup_end();
	}
}

/*
 * When the chip does not answer, the time must go on: a guest that waits for a time must not wait
 * for ever.
 */
static void time_goes_on_without_the_chip(void **state)
{
	struct world_vgpu *g = &world.vgpu[0];
	u64 t, last;
	u32 i;

	clock_begin(-200);
	setup_begin(&quiet, &calm, 1);
	last = guest_time(g, PTIMER_TIME_HIGH, PTIMER_TIME_LOW);
	clock_silent(true);
	for (i = 0; i < 20; i++, last = t) {
		harness_sleep(300 * MS);
		t = guest_time(g, PTIMER_TIME_HIGH, PTIMER_TIME_LOW);
		assert_in_range(t, last + 300 * MS - 1000, last + 310 * MS);
	}
	clock_silent(false);
	t = guest_time(g, PTIMER_TIME_HIGH, PTIMER_TIME_LOW);
	assert_in_range(t, last, last + 10 * MS);
	setup_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_the_cards),
		cmocka_unit_test(time_goes_on_without_the_chip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
