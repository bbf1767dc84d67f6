/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupts of nobody's: an idle unit keeps interrupting for no channel. */
#ifndef KVGPU_HARNESS_TESTS_NOBODYS_H
#define KVGPU_HARNESS_TESTS_NOBODYS_H

#include "gk110/fifo.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/task.h"

#include <linux/bitfield.h>

#define IDLE_PBDMA	1

/* An actor: bad methods on a PBDMA that names a channel which no vGPU has, until *@arg is true. */
static void nobodys_storm(void *arg)
{
	const bool *done = arg;
	u32 *intr = &chip.reg[(PBDMA(IDLE_PBDMA) + PBDMA_INTR0) / 4];

	for (; !*done; harness_sleep(20000)) {
		if (*intr)
			continue;
		chip.reg[(PBDMA(IDLE_PBDMA) + PBDMA_CHANNEL) / 4] =
			PBDMA_CHANNEL_VALID | FIELD_PREP(PBDMA_CHANNEL_ID, KVGPU_MAX_CHAN - 1);
		*intr |= PBDMA_INTR0_DEVICE;
		chip.reg[PFIFO_PBDMA_INTR_SOURCE / 4] |= BIT(IDLE_PBDMA);
		chip_raise(0);
	}
}

#endif
