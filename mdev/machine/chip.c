// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time of PTIMER (the card's clock), whether the card is lost, whether copies go apart.
 */
#include "mdev/machine/internal.h"

/* if PTIMER has answered less than so many ns ago, the CPU's clock gives PTIMER's high word */
#define TIME_HIGH_NS NSEC_PER_SEC

/*
 * Reads PTIMER from the chip at each call, because a guest compares this time with times that the
 * GPU wrote to memory. If PTIMER was read less than TIME_HIGH_NS ago, only its low word is read,
 * and the CPU's clock gives the high word, to save register reads. If the chip does not answer, the
 * CPU's clock gives the whole time. Before the chip has answered once, the time is 0: the CPU's
 * clock alone may be ahead. The time returned never goes back.
 */
u64 vmach_ptimer_read(struct kvgpu_gpu *gpu)
{
	struct kvgpu_chip *chip = gpu->chip;
	u64 now, t;

	spin_lock(&chip->time.lock);
	now = ktime_get_ns();
	t = kvgpu_hw_time(&gpu->hw, chip->time.taken && now - chip->time.taken < TIME_HIGH_NS ?
					    now + chip->time.base :
					    0);
	if (t) {
		chip->time.base = t - now;
		chip->time.taken = now;
	}
	if (chip->time.taken)
		chip->time.last = max(now + chip->time.base, chip->time.last);
	t = chip->time.last;
	spin_unlock(&chip->time.lock);
	return t;
}

bool vmach_gpu_lost(const struct kvgpu_gpu *gpu)
{
	/* a caller that sees the flag sees bus mastering off */
	return smp_load_acquire(&gpu->chip->lost);
}

/*
 * Without bus mastering the card can't reach system memory, whatever its tables say, so that pages
 * can be unpinned that these tables may still name (S2 of docs/invariants.md).
 *
 * A thread that finds .lost set unpins pages without an invalidate of the TLB. So bus mastering
 * is off before .lost is set. Threads that call this function at the same time may each turn bus
 * mastering off, which is harmless. None of them returns before it is off.
 */
void vmach_gpu_declare_lost(struct kvgpu_gpu *gpu, const char *why)
{
	u16 command;

	if (vmach_gpu_lost(gpu))
		return;
	WRITE_ONCE(gpu->chip->going, true);
	pci_clear_master(gpu->hw.pdev);
	/*
	 * A write to configuration space may be posted. The card answers this read after it has
	 * taken the write, and after its own earlier writes to system memory have arrived.
	 */
	pci_read_config_word(gpu->hw.pdev, PCI_COMMAND, &command);
	if (xchg(&gpu->chip->lost, true))
		return;
	dev_err(&gpu->hw.pdev->dev,
		"%s: the card was cut off, nothing runs on it until it is reset\n", why);
}

void kvgpu_machine_gpu_cut_off(struct kvgpu_gpu *gpu)
{
	vmach_gpu_declare_lost(gpu, "a reset takes the card's memory");
}

bool kvgpu_machine_copies_apart(const struct kvgpu_gpu *gpu)
{
	return gpu->chip->nr_runls > RUNL_CE;
}
