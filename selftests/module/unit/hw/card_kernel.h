/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel for hw/ on a card of gpu-model (card_model.h). Threads, locks, memory and the pool are
 * those of selftests/module/harness; registers, BARs, DMA and interrupts are the card's. Time is
 * the machine's: the card's threads run beside those of the harness.
 */
#ifndef KVGPU_TEST_CARD_KERNEL_H
#define KVGPU_TEST_CARD_KERNEL_H

#include "selftests/module/harness/kernel/kernel.h"

/* Begin with a card that is made already. */
void kernel_begin(struct pci_dev *pdev);
/* Fails the run if memory, a mapping for DMA or a thread is left. */
void kernel_end(void);
/* The firmware file; without, it is that of fwbuild.h. */
void kernel_firmware(const u8 *data, size_t size);
unsigned int kernel_errors(void); /* messages of errors and warnings since kernel_begin() */
u32 kernel_interrupts(void); /* runs of the hard handler since kernel_begin() */

#endif
