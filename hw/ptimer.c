// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTIMER, the card's clock: set to the time of day at bring-up, and read. Sources: nouveau
 * nvkm/subdev/timer/{nv41,nv04}.c.
 *
 * Takes no lock. hw_ptimer_init() runs at bring-up, kvgpu_hw_time() in any thread.
 */
#include "gk110/ptimer.h"
#include "hw/internal.h"

/*
 * most tries to read PTIMER: its high word changes every 4.3 s, so that the second try succeeds on
 * a card that works
 */
#define TIME_TRIES 3
#define CHECK_MS   10
/* A clock whose rate is wrong by more than this part can't be right. */
#define CHECK_PART 16

/*
 * Reads PTIMER's low word to *@lo. False: that was no time. A time may look like an error code of
 * the register ring for a millisecond in 4.3 s; but it differs at the next read, as a read takes
 * longer than the low word's unit of 32 ns.
 */
static bool low_word_read(struct kvgpu_hw *hw, u32 *lo)
{
	u32 was = hw_rd(hw, PTIMER_TIME_LOW);

	*lo = hw_no_answer(was) ? hw_rd(hw, PTIMER_TIME_LOW) : was;
	return !(*lo & ~PTIMER_TIME_LOW_BITS) && (*lo != was || !hw_no_answer(was));
}

u64 kvgpu_hw_time(struct kvgpu_hw *hw, u64 guess)
{
	u32 hi, lo, again, i;

	if (guess)
		return low_word_read(hw, &lo) ? guess + (s32)(lo - (u32)guess) : 0;
	again = hw_rd(hw, PTIMER_TIME_HIGH);
	for (i = 0; i < TIME_TRIES; i++) {
		hi = again;
		if (!low_word_read(hw, &lo))
			return 0;
		again = hw_rd(hw, PTIMER_TIME_HIGH);
		if (again == ~0u || hw_no_answer(again))
			return 0;
		if (hi == again)
			return (u64)hi << 32 | lo;
	}
	return 0;
}

/* Sets the rate to 1 ns per unit of time, from the crystal, as nouveau does. */
static void rate_set(struct kvgpu_hw *hw)
{
	u32 khz = hw_crystal_khz(hw), factor = DIV_ROUND_UP(2 * PTIMER_NS_KHZ, khz);
	u32 div = khz * factor, mul = PTIMER_NS_KHZ;

	for (; div % 5 == 0 && mul % 5 == 0; div /= 5)
		mul /= 5;
	for (; div % 2 == 0 && mul % 2 == 0; div /= 2)
		mul /= 2;
	hw_wr(hw, PTIMER_CLOCK_SOURCE, factor - 1);
	hw_wr(hw, PTIMER_CLOCK_DIV, div);
	hw_wr(hw, PTIMER_CLOCK_MUL, mul);
}

static void time_set(struct kvgpu_hw *hw, u64 ns)
{
	hw_wr(hw, PTIMER_TIME_LOW, 0); /* so that no carry comes between the next two */
	hw_wr(hw, PTIMER_TIME_HIGH, upper_32_bits(ns));
	hw_wr(hw, PTIMER_TIME_LOW, lower_32_bits(ns));
}

/* Compares what the two clocks count between two reads of PTIMER, however long a read takes. */
static bool rate_is_right(struct kvgpu_hw *hw)
{
	s64 began = ktime_get_ns(), first = kvgpu_hw_time(hw, 0), least, most, ns;

	least = ktime_get_ns();
	msleep(CHECK_MS);
	most = ktime_get_ns();
	ns = kvgpu_hw_time(hw, 0) - first;
	least = most - least;
	most = ktime_get_ns() - began;
	return first && ns >= least - least / CHECK_PART && ns <= most + most / CHECK_PART;
}

int hw_ptimer_init(struct kvgpu_hw *hw)
{
	rate_set(hw);
	time_set(hw, ktime_get_real_ns());
	if (rate_is_right(hw) || rate_is_right(hw))
		return 0;
	dev_err(&hw->pdev->dev, "PTIMER, the card's clock, does not count ns (crystal: %u kHz)\n",
		hw_crystal_khz(hw));
	return -EIO;
}
