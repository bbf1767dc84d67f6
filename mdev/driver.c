// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module and its PCI driver. A card is brought up completely before it is registered as a
 * parent of mediated devices, because user space may create them at once. Before a card is removed,
 * all its mediated devices are removed, which waits for their users.
 *
 * The mdev core makes the names of the types from the PCI driver's name (kvgpu-512m, ...). So the
 * driver's name must not change.
 *
 * The functions in this file take no lock of the module themselves. The PCI core calls probe and
 * remove with the device's lock held.
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "gk110/boards.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"
#include "mmio-trap/trap.h"

/*
 * A board of the list of known boards. An admin may try a board that is not in the list, by
 * driver_override of the PCI device in sysfs: kvgpu_hw_init() reads from the chip whether it is a
 * GK110 or GK110B, and refuses others.
 */
struct board {
	const char *name;
	/*
	 * on what the module was tested for this board, for the log: a card, or the test bed's
	 * model of one. NULL: not tested.
	 */
	const char *run;
};

#define BOARD_INDEX(device, board_name, mib, run_on) BOARD_##device,
#define BOARD(device, board_name, mib, run_on) \
	[BOARD_##device] = { .name = board_name, .run = run_on },
#define BOARD_ID(device, board_name, mib, run_on)   \
	{ PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, device), \
	  .driver_data = (kernel_ulong_t)&boards[BOARD_##device] },

enum { GK110_BOARDS(BOARD_INDEX) };
static const struct board boards[] = { GK110_BOARDS(BOARD) };
/* clang-format off */
static const struct pci_device_id kvgpu_ids[] = { GK110_BOARDS(BOARD_ID) { } };
/* clang-format on */
MODULE_DEVICE_TABLE(pci, kvgpu_ids);

static void tell_board(struct pci_dev *pdev, const struct board *b)
{
	if (b)
		pci_info(pdev, "%s, verified on: %s\n", b->name,
			 b->run ?: "nothing yet, please report");
	else
		pci_info(
			pdev,
			"a board that is not in the list, verified on: nothing yet, please report\n");
}

/*
 * Reserves the write-combining memory type for user mappings of the vGPUs' slices of BAR1 and BAR3.
 * If that fails, these mappings may be uncached. Left out are the USERD window (doorbells of
 * channels) at the start of BAR1, because the host maps it uncached, and the end of BAR1, which
 * shows the host's pool (video memory of the host) and is in no slice.
 */
static void reserve_memory_types(struct kvgpu_gpu *gpu)
{
	struct kvgpu_hw *hw = &gpu->hw;

	gpu->wc[KVGPU_BAR1] = !arch_io_reserve_memtype_wc(
		hw->bar[KVGPU_BAR1].phys + KVGPU_USERD_SIZE,
		hw->bar[KVGPU_BAR1].size - KVGPU_USERD_SIZE - KVGPU_POOL_SIZE);
	gpu->wc[KVGPU_BAR3] =
		!arch_io_reserve_memtype_wc(hw->bar[KVGPU_BAR3].phys, hw->bar[KVGPU_BAR3].size);
}

static void free_memory_types(struct kvgpu_gpu *gpu)
{
	struct kvgpu_hw *hw = &gpu->hw;

	if (gpu->wc[KVGPU_BAR1])
		arch_io_free_memtype_wc(hw->bar[KVGPU_BAR1].phys + KVGPU_USERD_SIZE,
					hw->bar[KVGPU_BAR1].size - KVGPU_USERD_SIZE -
						KVGPU_POOL_SIZE);
	if (gpu->wc[KVGPU_BAR3])
		arch_io_free_memtype_wc(hw->bar[KVGPU_BAR3].phys, hw->bar[KVGPU_BAR3].size);
}

static int kvgpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct kvgpu_gpu *gpu;
	int ret;

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return -ENOMEM;
	mutex_init(&gpu->lock);
	mutex_init(&gpu->types_lock);
	INIT_LIST_HEAD(&gpu->vgpus);
	refcount_set(&gpu->users, 1);
	init_completion(&gpu->idle);
	tell_board(pdev, (const struct board *)id->driver_data);

	ret = kvgpu_machine_gpu_init(gpu);
	if (ret)
		goto err_free;
	ret = kvgpu_hw_init(&gpu->hw, pdev, &kvgpu_machine_events, gpu);
	if (ret)
		goto err_machine;
	pci_set_drvdata(pdev, gpu);
	ret = vgpu_types_init(gpu);
	if (ret)
		goto err_hw;
	ret = kvgpu_machine_gpu_start(gpu);
	if (ret)
		goto err_hw;
	reserve_memory_types(gpu);
	vgpu_debugfs_gpu_add(gpu);
	ret = mdev_register_parent(&gpu->parent, &pdev->dev, &kvgpu_mdev_driver, gpu->types,
				   gpu->nr_types);
	if (ret)
		goto err_debugfs;
	return 0;

err_debugfs:
	vgpu_debugfs_gpu_remove(gpu);
	free_memory_types(gpu);
	kvgpu_machine_gpu_stop(gpu);
err_hw:
	pci_set_drvdata(pdev, NULL);
	kvgpu_hw_fini(&gpu->hw);
err_machine:
	kvgpu_machine_gpu_fini(gpu);
err_free:
	kfree(gpu);
	return dev_err_probe(&pdev->dev, ret, "the card can't be used\n");
}

static void kvgpu_remove(struct pci_dev *pdev)
{
	struct kvgpu_gpu *gpu = pci_get_drvdata(pdev);

	mdev_unregister_parent(&gpu->parent);
	/* wait for vGPUs to which VFIO still has references */
	if (!refcount_dec_and_test(&gpu->users))
		wait_for_completion(&gpu->idle);
	vgpu_debugfs_gpu_remove(gpu);
	free_memory_types(gpu);
	kvgpu_machine_gpu_stop(gpu);
	pci_set_drvdata(pdev, NULL);
	kvgpu_hw_fini(&gpu->hw);
	kvgpu_machine_gpu_fini(gpu);
	kfree(gpu);
}

/* Ends the card's DMA, so that the card can't write into the memory of the next kernel (kexec). */
static void kvgpu_shutdown(struct pci_dev *pdev)
{
	pci_clear_master(pdev);
}

/*
 * The PCI core is about to reset the card (sysfs, a bus reset). That loses video memory and
 * un-POSTs the card: the card is lost for its vGPUs. A new probe POSTs it.
 */
static void kvgpu_reset_prepare(struct pci_dev *pdev)
{
	kvgpu_machine_gpu_cut_off(pci_get_drvdata(pdev));
	dev_warn(&pdev->dev,
		 "a reset of the card loses all vGPUs' state: unbind and bind kvgpu afterwards\n");
}

static const struct pci_error_handlers kvgpu_err_handlers = {
	.reset_prepare = kvgpu_reset_prepare,
};

/* Refuses suspend. A suspend would lose video memory and the state of the engines. */
static int kvgpu_pm_prepare(struct device *dev)
{
	dev_warn(dev, "suspend refused: vGPUs can't be saved; unload kvgpu first\n");
	return -EBUSY;
}

static const struct dev_pm_ops kvgpu_pm_ops = {
	.prepare = kvgpu_pm_prepare,
};

static struct pci_driver kvgpu_pci_driver = {
	.name = "kvgpu",
	.id_table = kvgpu_ids,
	.probe = kvgpu_probe,
	.remove = kvgpu_remove,
	.shutdown = kvgpu_shutdown,
	.err_handler = &kvgpu_err_handlers,
	.dev_groups = kvgpu_gpu_groups,
	.driver.pm = &kvgpu_pm_ops,
};

static int __init kvgpu_init(void)
{
	const char *wrong = kvgpu_trap_check_tables();
	int ret;

	if (wrong) {
		pr_err("kvgpu: register tables are wrong: %s\n", wrong);
		return -EINVAL;
	}
	vgpu_debugfs_init();
	ret = mdev_register_driver(&kvgpu_mdev_driver);
	if (ret)
		goto err_debugfs;
	ret = pci_register_driver(&kvgpu_pci_driver);
	if (ret)
		goto err_mdev;
	return 0;

err_mdev:
	mdev_unregister_driver(&kvgpu_mdev_driver);
err_debugfs:
	vgpu_debugfs_exit();
	return ret;
}
module_init(kvgpu_init);

static void __exit kvgpu_exit(void)
{
	pci_unregister_driver(&kvgpu_pci_driver);
	mdev_unregister_driver(&kvgpu_mdev_driver);
	vgpu_debugfs_exit();
}
module_exit(kvgpu_exit);

MODULE_DESCRIPTION("Mediated pass-through of NVIDIA GK110 GPUs to KVM guests");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.4");
MODULE_SOFTDEP("pre: vfio_iommu_type1");
