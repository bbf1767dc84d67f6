/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PTIMER: a time of 64 bits (TIME_HIGH, TIME_LOW), its clock and its alarm; also the record of a
 * failed access to a register. Bits 60:5 of the time are a counter.
 *
 * Sources: envytools docs/hw/bus/ptimer.rst, rnndb bus/ptimer.xml, nouveau
 * nvkm/subdev/timer/nv41.c.
 */
#ifndef KVGPU_GK110_PTIMER_H
#define KVGPU_GK110_PTIMER_H

#include <linux/bits.h>

#define PTIMER_BASE			0x009000
#define PTIMER_SIZE			0x001000

/*
 * The first access that failed since the last acknowledgement; write 0 to acknowledge. VALID and
 * CODE are what a K80's dump shows after failed reads.
 */
#define PTIMER_MMIO_FAULT_ADDR		0x009084
#define   PTIMER_MMIO_FAULT_VALID	(BIT(31) | BIT(0))
#define   PTIMER_MMIO_FAULT_WRITE	BIT(1)
#define   PTIMER_MMIO_FAULT_REG		GENMASK(23, 2)
#define PTIMER_MMIO_FAULT_DATA		0x009088	/* what was written */
#define PTIMER_MMIO_FAULT_CODE		0x00908c	/* what was read */
#define PTIMER_INTR			0x009100	/* write 1 to clear */
#define   PTIMER_INTR_ALARM		BIT(0)
#define PTIMER_INTR_EN			0x009140
#define PTIMER_CLOCK_DIV		0x009200	/* divisor, nouveau's numerator */
/* Factor of the clock, which nouveau calls denominator. 0 stops the counter. */
#define PTIMER_CLOCK_MUL		0x009210
#define   PTIMER_CLOCK_RATIO		GENMASK(15, 0)
#define PTIMER_CLOCK_SOURCE		0x009220
#define   PTIMER_CLOCK_SOURCE_MUL	GENMASK(7, 0)	/* factor minus 1 */
#define   PTIMER_CLOCK_SOURCE_DIV	GENMASK(11, 8)	/* divisor minus 1 */
#define   PTIMER_CLOCK_SOURCE_EXT	BIT(16)
#define PTIMER_TIME_LOW			0x009400
#define   PTIMER_TIME_LOW_BITS		GENMASK(31, 5)
#define PTIMER_TIME_HIGH		0x009410
#define   PTIMER_TIME_HIGH_BITS		GENMASK(28, 0)
/* PTIMER_INTR_ALARM is set when bits 31:5 of TIME_LOW equal bits 31:5 of this register. */
#define PTIMER_ALARM			0x009420

/*
 * Numbers with which the counter runs at 27 MHz * 3 * 125 / 324 = 31.25 MHz. A tick adds 32 to the
 * time, which so counts ns.
 */
#define   PTIMER_NS_SOURCE_MUL		3
#define   PTIMER_NS_MUL			125
#define   PTIMER_NS_DIV			324
#define   PTIMER_NS_KHZ			31250

#endif
