// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses of the CPU through BAR1 and BAR3 that the card's page table entries do not allow: each
 * is a fault of that BAR's unit, which the host is told of.
 */
#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/kernel/kernel.h"

#include <linux/bitfield.h>

static bool access(unsigned int bar, u64 off, u64 forbids)
{
	u32 unit = bar == 3 ? GMMU_UNIT_BAR3 : GMMU_UNIT_BAR1, *reg = chip.reg;
	u64 pte = mmu_translate(chip_bar_pd(bar), off);

	if (pte & GMMU_PTE_VALID && !(pte & forbids))
		return true;
	if (reg[GMMU_FAULT_SOURCE / 4] & BIT(unit)) {
		chip_raise(GMMU_PFIFO_INTR_DROPPED_FAULT);
		return false;
	}
	reg[GMMU_FAULT_INST(unit) / 4] =
		FIELD_GET(HOSTMEM_INST, reg[(bar == 3 ? HOSTMEM_BAR3 : HOSTMEM_BAR1) / 4]);
	reg[GMMU_FAULT_VA_LO(unit) / 4] = lower_32_bits(off & ~0xfffull);
	reg[GMMU_FAULT_VA_HI(unit) / 4] = upper_32_bits(off);
	reg[GMMU_FAULT_INFO(unit) / 4] = 0x7c6;
	reg[GMMU_FAULT_SOURCE / 4] |= BIT(unit);
	chip_raise(0);
	return false;
}

bool bar_write(unsigned int bar, u64 off)
{
	return access(bar, off, GMMU_PTE_RO | GMMU_PTE_WRITE_DISABLE);
}

bool bar_read(unsigned int bar, u64 off)
{
	return access(bar, off, GMMU_PTE_READ_DISABLE);
}
