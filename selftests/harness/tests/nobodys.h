/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts of nobody's: of an idle unit, and of a copy whose channel has left its engine. */
#ifndef KVGPU_HARNESS_TESTS_NOBODYS_H
#define KVGPU_HARNESS_TESTS_NOBODYS_H

#include "gk110/ce.h"
#include "gk110/fifo.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/task.h"

#include <linux/bitfield.h>

#define IDLE_PBDMA 1
#define COPIES	   2 /* number of the copy engine */
#define COPY_INTR  (chip.reg[(GK110_CE(COPIES) + GK110_CE_INTR) / 4])

static u64 nobodys; /* interrupts of nobody's so far, as far as the program counts them */

/*
 * A bad method on a PBDMA that names a channel which no vGPU has. False: the one before it is not
 * served yet.
 */
static bool nobodys_method(void)
{
	u32 *intr = &chip.reg[(PBDMA(IDLE_PBDMA) + PBDMA_INTR0) / 4];

	if (*intr)
		return false;
	chip.reg[(PBDMA(IDLE_PBDMA) + PBDMA_CHANNEL) / 4] =
		PBDMA_CHANNEL_VALID | FIELD_PREP(PBDMA_CHANNEL_ID, KVGPU_MAX_CHAN - 1);
	*intr |= PBDMA_INTR0_DEVICE;
	chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(IDLE_PBDMA);
	chip_raise(0);
	return true;
}

/* An actor: such methods until *@arg is true. */
static void nobodys_storm(void *arg)
{
	const bool *done = arg;

	for (; !*done; harness_sleep(20000))
		nobodys_method();
}

/*
 * A copy has ended, and told so. Its channel has left the engine before the interrupt thread reads
 * whose it was: a guest preempts it.
 */
static void nobodys_copy(void)
{
	COPY_INTR |= 2;
	chip_raise(0);
	nobodys++;
}

#endif
