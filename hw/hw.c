// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up and take-down of the card. Another driver, or this one, may have used the card before:
 * card_quiet() masks the card's interrupts before steps[] run, and step "reset of engines" resets
 * the engines before it turns bus mastering on. The card may also be fresh from a reset: up to step
 * "POST" nothing but its identity and its VBIOS is read.
 *
 * steps[] are in the order in which they need each other; the CPU can access the pool (video memory
 * for structures of the host) from step "BARs" on. Take-down undoes the steps in the opposite
 * order.
 *
 * Bring-up and take-down run in the PCI driver's probe and remove. kvgpu_hw_engine_reset() runs in
 * between, in one thread of mdev/.
 */
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "gk110/map.h"
#include "gk110/pbus.h"
#include "gk110/ptimer.h"
#include "hw/internal.h"

static void master_off(struct kvgpu_hw *hw)
{
	u16 command;

	pci_clear_master(hw->pdev);
	/* the card answers this read after it has taken the write (vmach_gpu_declare_lost()) */
	pci_read_config_word(hw->pdev, PCI_COMMAND, &command);
}

/* Maps the registers. Bus mastering is off when this function returns. */
static int map_device(struct kvgpu_hw *hw)
{
	struct pci_dev *pdev = hw->pdev;
	enum kvgpu_bar bar;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = pci_request_regions(pdev, "kvgpu");
	if (ret)
		goto disable;
	/*
	 * Make accesses of the card to system memory snoop the CPU's caches, whatever the page
	 * table entry says: without a snoop the card could read what the last owner of a page left
	 * in memory (gtt-shadow/pte.c).
	 */
	pcie_capability_clear_word(pdev, PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_NOSNOOP_EN);
	master_off(hw);
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(GMMU_VA_BITS));
	if (ret)
		goto release;
	for (bar = 0; bar < KVGPU_NR_BARS; bar++) {
		hw->bar[bar].phys = pci_resource_start(pdev, kvgpu_bar_number(bar));
		hw->bar[bar].size = pci_resource_len(pdev, kvgpu_bar_number(bar));
	}
	ret = -ENODEV;
	if (hw->bar[KVGPU_BAR1].size < GK110_BAR1_SIZE ||
	    hw->bar[KVGPU_BAR3].size < GK110_BAR3_SIZE) {
		dev_err(&pdev->dev, "BAR1 of %llu and BAR3 of %llu bytes are too small\n",
			hw->bar[KVGPU_BAR1].size, hw->bar[KVGPU_BAR3].size);
		goto release;
	}
	hw->bar[KVGPU_BAR1].size = GK110_BAR1_SIZE;
	hw->bar[KVGPU_BAR3].size = GK110_BAR3_SIZE;
	ret = -ENOMEM;
	hw->bar0 = pci_iomap(pdev, 0, 0);
	if (hw->bar0)
		return 0;
release:
	pci_release_regions(pdev);
disable:
	pci_disable_device(pdev);
	return ret;
}

static void unmap_device(struct kvgpu_hw *hw)
{
	pci_iounmap(hw->pdev, hw->bar0);
	pci_release_regions(hw->pdev);
	pci_disable_device(hw->pdev);
}

static void card_quiet(struct kvgpu_hw *hw)
{
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_HOST), 0);
	hw_wr(hw, PMC_INTR_EN(PMC_LEAF_NRHOST), 0);
	hw_wr(hw, PMC_INTR_MASK(PMC_LEAF_HOST), 0);
	hw_wr(hw, PMC_INTR_MASK(PMC_LEAF_NRHOST), 0);
}

#define TIMING(i, v) { i, v },

#define RING_WAIT_US 2000

/*
 * Turns all units on, has failed accesses of registers reported, but for those of other programs
 * before, and sets timings of the register ring, in nouveau's order.
 */
static int units_on(struct kvgpu_hw *hw)
{
	static const struct {
		u16 timing, value;
	} ring[] = { PRIVRING_TIMINGS(TIMING) };
	unsigned int i;

	hw_wr(hw, PMC_ENABLE, ~0u);
	hw_wr(hw, PRIVRING_COMMAND, PRIVRING_COMMAND_ACK_INTR);
	hw_reg_wait(hw, PRIVRING_COMMAND, PRIVRING_COMMAND_CODE, 0, RING_WAIT_US);
	hw_wr(hw, PTIMER_MMIO_FAULT_ADDR, 0);
	hw_wr(hw, PBUS_INTR, ~0u);
	hw_wr(hw, PBUS_INTR_EN,
	      PBUS_INTR_DISABLED_ENGINE | PBUS_INTR_PRIVRING | PBUS_INTR_MMIO_FAULT);
	for (i = 0; i < ARRAY_SIZE(ring); i++)
		hw_mask(hw, PRIVRING_TIMING(ring[i].timing), PRIVRING_TIMING_VALUE, ring[i].value);
	return 0;
}

/*
 * Turns bus mastering on, after a reset of all engines: an engine may still have work of an earlier
 * driver, or of a vGPU's channel from before this module was loaded again. If the card was lost
 * then, that work waits to reach memory that was freed (S2 of docs/invariants.md). The memory units
 * keep what the VBIOS has set in them, and the PMU goes on: no guest reaches it.
 */
static int master_on(struct kvgpu_hw *hw)
{
	int ret = hw_engines_reset(hw);

	if (!ret)
		pci_set_master(hw->pdev);
	return ret;
}

static struct kvgpu_hw_priv *priv_new(struct kvgpu_hw *hw)
{
	struct kvgpu_hw_priv *p = kzalloc(sizeof(*p), GFP_KERNEL);

	if (!p)
		return NULL;
	spin_lock_init(&p->tlb.lock);
	spin_lock_init(&p->bar_flush.lock);
	spin_lock_init(&p->l2_invalidate.lock);
	spin_lock_init(&p->l2_flush.lock);
	spin_lock_init(&p->copy.lock);
	INIT_LIST_HEAD(&p->copy.jobs);
	rt_mutex_init(&p->gr_lock);
	spin_lock_init(&p->mask_lock);
	p->irq = -1;
	return p;
}

struct step {
	const char *name;
	int (*init)(struct kvgpu_hw *hw);
	void (*fini)(struct kvgpu_hw *hw);
};

static void vbios_free(struct kvgpu_hw *hw)
{
	vfree(hw->vbios);
	hw->vbios = NULL;
}

static const struct step steps[] = {
	{ "chip", hw_chip_identify, NULL },
	{ "VBIOS", hw_vbios_read, vbios_free },
	{ "POST", hw_chip_post, NULL },
	{ "units", units_on, NULL },
	{ "PTIMER", hw_ptimer_init, NULL },
	{ "device table", hw_chip_probe, NULL },
	{ "firmware", hw_fw_load, hw_fw_free },
	{ "memory pool", hw_pool_init, hw_pool_fini },
	{ "MMU", hw_mmu_init, hw_mmu_fini },
	/* after the MMU: it has a flush page while the card can reach system memory */
	{ "reset of engines", master_on, master_off },
	{ "L2 cache", hw_ltc_init, NULL },
	{ "BARs", hw_bar_init, hw_bar_fini },
	{ "PFIFO", hw_fifo_init, hw_fifo_fini },
	{ "graphics engine", hw_gr_init, hw_gr_fini },
	{ "interrupts", hw_intr_init, hw_intr_fini },
	{ "copy channel", hw_copy_init, hw_copy_fini },
};

static void steps_undo(struct kvgpu_hw *hw, int done)
{
	while (done--)
		if (steps[done].fini)
			steps[done].fini(hw);
}

int kvgpu_hw_init(struct kvgpu_hw *hw, struct pci_dev *pdev, const struct kvgpu_hw_events *ev,
		  void *ctx)
{
	unsigned int i;
	int ret;

	hw->pdev = pdev;
	hw->events = ev;
	hw->events_ctx = ctx;
	hw->p = priv_new(hw);
	if (!hw->p)
		return -ENOMEM;
	ret = map_device(hw);
	if (ret)
		goto free;
	card_quiet(hw);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		u64 began = ktime_get_ns();

		ret = steps[i].init(hw);
		if (hw->p->unanswered)
			ret = -EIO;
		if (!ret) {
			dev_dbg(&pdev->dev, "bring-up: %s: %llu us\n", steps[i].name,
				div_u64(ktime_get_ns() - began, NSEC_PER_USEC));
			continue;
		}
		dev_err(&pdev->dev, "bring-up failed at the %s: %d\n", steps[i].name, ret);
		if (steps[i].fini)
			steps[i].fini(hw); /* each .fini can undo an .init that has failed */
		steps_undo(hw, i);
		goto unmap;
	}
	return 0;
unmap:
	unmap_device(hw);
free:
	kfree(hw->p);
	hw->p = NULL;
	return ret;
}

void kvgpu_hw_fini(struct kvgpu_hw *hw)
{
	steps_undo(hw, ARRAY_SIZE(steps));
	unmap_device(hw);
	kfree(hw->p);
	hw->p = NULL;
}

int kvgpu_hw_engine_reset(struct kvgpu_hw *hw, u8 engine)
{
	const struct kvgpu_engine *e = &hw->topo.engine[engine];
	int ret = 0;

	hw->stats.resets++;
	if (!e->type)
		return hw_gr_reinit(hw);
	spin_lock(&hw->p->mask_lock);
	hw_mask(hw, PMC_ENABLE, BIT(e->reset), 0);
	hw_rd(hw, PMC_ENABLE);
	hw_mask(hw, PMC_ENABLE, 0, BIT(e->reset));
	hw_rd(hw, PMC_ENABLE);
	spin_unlock(&hw->p->mask_lock);
	return ret;
}
