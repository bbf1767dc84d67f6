/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PBUS: errors of the GPU's interface to PCI and the CPU, and two interrupts that software triggers
 * (USER0, USER1). NRHOST is the second line of interrupts to the CPU (gk110/pmc.h). Source:
 * envytools docs/hw/bus/pbus.rst, rnndb bus/pbus.xml. The registers at 0x1700-0x171b (PRAMIN, BAR1,
 * BAR3 and peephole) are in gk110/bar.h.
 */
#ifndef KVGPU_GK110_PBUS_H
#define KVGPU_GK110_PBUS_H

#include <linux/bits.h>

#define PBUS_BASE			0x001000
#define PBUS_SIZE			0x001000
#define PBUS_HOST_MEM			0x001700	/* registers in gk110/bar.h */
#define PBUS_HOST_MEM_SIZE		0x00001c

#define PBUS_INTR			0x001100	/* write 1 to clear */
#define   PBUS_INTR_DISABLED_ENGINE	BIT(1)
#define   PBUS_INTR_PRIVRING		BIT(2)
#define   PBUS_INTR_MMIO_FAULT		BIT(3)
#define   PBUS_INTR_HOST_MEM_TIMEOUT	BIT(7)
#define   PBUS_INTR_HOST_MEM_ZOMBIE	BIT(8)
#define   PBUS_INTR_THERM		BIT(16)
#define   PBUS_INTR_USER0		BIT(26)
#define   PBUS_INTR_USER1		BIT(28)
#define PBUS_INTR_ALL                                                               \
	(PBUS_INTR_DISABLED_ENGINE | PBUS_INTR_PRIVRING | PBUS_INTR_MMIO_FAULT |    \
	 PBUS_INTR_HOST_MEM_TIMEOUT | PBUS_INTR_HOST_MEM_ZOMBIE | PBUS_INTR_THERM | \
	 PBUS_INTR_USER0 | PBUS_INTR_USER1)
#define PBUS_INTR_EN			0x001140
#define PBUS_INTR_EN_NRHOST		0x001144	/* for NRHOST: as INTR_EN, but no USER1 */
#define PBUS_USER0_TRIGGER		0x001150	/* a write of any value sets USER0 */
#define PBUS_USER0_SCRATCH(i)		(0x001154 + 4 * (i))	/* i: 0 to 3 */
#define PBUS_USER1_TRIGGER		0x001170
#define PBUS_USER1_SCRATCH(i)		(0x001174 + 4 * (i))	/* i: 0 to 3 */

#endif
