// SPDX-License-Identifier: GPL-2.0-only
/*
 * Restores the FPU's state over and over. Under QEMU's TCG each restore clears the IGNNE# flag of
 * the *first* CPU, whichever CPU executes it: an unlocked read-modify-write of that CPU's internal
 * flags, among them the one that says "nested paging is on" while it runs a guest. See README.md
 * here.
 */
int main(void)
{
	static unsigned char area[512] __attribute__((aligned(16)));

	asm volatile("fxsave %0" : "=m"(area));
	for (;;)
		asm volatile("fxrstor %0" : : "m"(area));
}
