// SPDX-License-Identifier: GPL-2.0-only
/*
 * Restore the FPU's state in an endless loop. Under QEMU's TCG each restore clears a flag of the
 * *first* CPU (HF2_IGNNE in hflags2), whichever CPU executes it, by an unlocked read-modify-write.
 * hflags2 also has the flag HF2_NPT, "nested paging is on", which that write can lose or bring
 * back.
 */
int main(void)
{
	static unsigned char area[512] __attribute__((aligned(16)));

	asm volatile("fxsave %0" : "=m"(area));
	for (;;)
		asm volatile("fxrstor %0" : : "m"(area));
}
