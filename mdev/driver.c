// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module and its PCI driver. A card is brought up completely before it is registered as a
 * parent of mediated
 * devices: user space may create them at once. When it goes, its mediated devices go first, and
 * each of them waits for its user, who is asked to let go (irq.c, REQ).
 *
 * The driver's name is part of the names of the types that admins write down: kvgpu-512m, ...
 */
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "kvgpu/trap.h"
#include "mdev/internal.h"
#include "mdev/machine/machine.h"

/*
 * Boards with a GK110 or GK110B that have no display (ids: pci.ids). GeForce, Quadro and GK210
 * (K80, chip 0f2) are left
 * out: the former may be the host's console, and no public driver knows the latter. bring-up checks
 * the chip itself, so that another board may be tried with new_id. @run: this project has run on
 * it, silicon or model.
 */
struct board {
	const char *name;
	const char *run;
};

static const struct board boards[] = {
	{ "Tesla K20X (0x1020)" },
	{ "Tesla K20Xm" },
	{ "Tesla K20c" },
	{ "Tesla K40m" },
	{ "Tesla K40c" },
	{ "Tesla K20s" },
	{ "Tesla K40st" },
	{ "Tesla K20m", "the model of the test bed only" },
	{ "Tesla K40s" },
	{ "Tesla K40t" },
};

#define BOARD(device, i)                                          \
	{                                                         \
		PCI_DEVICE(PCI_VENDOR_ID_NVIDIA, device),         \
			.driver_data = (kernel_ulong_t)&boards[i] \
	}

static const struct pci_device_id kvgpu_ids[] = {
	BOARD(0x1020, 0),
	BOARD(0x1021, 1),
	BOARD(0x1022, 2),
	BOARD(0x1023, 3),
	BOARD(0x1024, 4),
	BOARD(0x1026, 5),
	BOARD(0x1027, 6),
	BOARD(0x1028, 7),
	BOARD(0x1029, 8),
	BOARD(0x102a, 9),
	{ }
};
MODULE_DEVICE_TABLE(pci, kvgpu_ids);

static void tell_board(struct pci_dev *pdev, const struct board *b)
{
	if (b)
		pci_info(pdev, "%s, verified on: %s\n", b->name,
			 b->run ?: "nothing yet, please report");
	else
		pci_info(pdev, "a board that is not in the list, verified on: nothing yet, please report\n");
}

/*
 * Write-combining for user mappings of the slices. Without it they work, uncached; the host's own
 * windows in BAR1 (USERD and the pool) have their types by the way they are mapped.
 */
static void reserve_memory_types(struct kvgpu_gpu *gpu)
{
	struct kvgpu_hw *hw = &gpu->hw;

	gpu->wc1 = !arch_io_reserve_memtype_wc(hw->bar1_phys + KVGPU_USERD_SIZE,
					       hw->bar1_size - KVGPU_USERD_SIZE - KVGPU_POOL_SIZE);
	gpu->wc3 = !arch_io_reserve_memtype_wc(hw->bar3_phys, hw->bar3_size);
}

static void free_memory_types(struct kvgpu_gpu *gpu)
{
	struct kvgpu_hw *hw = &gpu->hw;

	if (gpu->wc1)
		arch_io_free_memtype_wc(hw->bar1_phys + KVGPU_USERD_SIZE,
					hw->bar1_size - KVGPU_USERD_SIZE - KVGPU_POOL_SIZE);
	if (gpu->wc3)
		arch_io_free_memtype_wc(hw->bar3_phys, hw->bar3_size);
}

static int kvgpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct kvgpu_gpu *gpu;
	int ret;

	gpu = kzalloc(sizeof(*gpu), GFP_KERNEL);
	if (!gpu)
		return -ENOMEM;
	kvgpu_hw_lock_init(&gpu->lock, &gpu->hw.lender);
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
	ret = kvgpu_types_init(gpu);
	if (ret)
		goto err_hw;
	ret = kvgpu_machine_gpu_start(gpu);
	if (ret)
		goto err_hw;
	reserve_memory_types(gpu);
	kvgpu_debugfs_gpu_add(gpu);
	ret = mdev_register_parent(&gpu->parent, &pdev->dev, &kvgpu_mdev_driver, gpu->types,
				   gpu->nr_types);
	if (ret)
		goto err_debugfs;
	return 0;

err_debugfs:
	kvgpu_debugfs_gpu_remove(gpu);
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
	/*
	 * a mediated device can outlive its removal for as long as something else holds a reference
	 * to it
	 */
	if (!refcount_dec_and_test(&gpu->users))
		wait_for_completion(&gpu->idle);
	kvgpu_debugfs_gpu_remove(gpu);
	free_memory_types(gpu);
	kvgpu_machine_gpu_stop(gpu);
	pci_set_drvdata(pdev, NULL);
	kvgpu_hw_fini(&gpu->hw);
	kvgpu_machine_gpu_fini(gpu);
	kfree(gpu);
}

/* the next kernel (kexec) must not find a card that writes to its memory */
static void kvgpu_shutdown(struct pci_dev *pdev)
{
	pci_clear_master(pdev);
}

/*
 * the contents of video memory and the state of the engines are lost in suspend, and nothing here
 * saves them
 */
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
	kvgpu_debugfs_init();
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
	kvgpu_debugfs_exit();
	return ret;
}
module_init(kvgpu_init);

static void __exit kvgpu_exit(void)
{
	pci_unregister_driver(&kvgpu_pci_driver);
	mdev_unregister_driver(&kvgpu_mdev_driver);
	kvgpu_debugfs_exit();
}
module_exit(kvgpu_exit);

MODULE_DESCRIPTION("Mediated pass-through of NVIDIA GK110 GPUs to KVM guests");
MODULE_LICENSE("GPL");
MODULE_SOFTDEP("pre: vfio_iommu_type1");
