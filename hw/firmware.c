// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads the firmware file, and checks it (fwfile.c). The program kvgpu-firmware makes it.
 *
 * Runs at bring-up and take-down, takes no lock, and may sleep.
 */
#include <linux/firmware.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "hw/gr.h"

int hw_fw_load(struct kvgpu_hw *hw)
{
	struct device *dev = &hw->pdev->dev;
	struct kvgpu_fw *fw = kzalloc(sizeof(*fw), GFP_KERNEL);
	const char *why;
	int ret;

	if (!fw)
		return -ENOMEM;
	ret = request_firmware(&fw->blob, KVGPU_FW_NAME, dev);
	if (ret) {
		dev_err(dev,
			"no firmware file %s (%d): run kvgpu-firmware, which makes it from this system's nouveau\n",
			KVGPU_FW_NAME, ret);
		goto free;
	}
	ret = hw_fwfile_parse(&fw->file, fw->blob->data, fw->blob->size, &why);
	if (ret) {
		dev_err(dev, "firmware file %s is not usable: %s; run kvgpu-firmware again\n",
			KVGPU_FW_NAME, why);
		goto release;
	}
	if (FIELD_GET(PMC_BOOT_0_CHIPSET, hw->topo.boot0) == GK110B_CHIPSET)
		hw_fwfile_gk110b(&fw->file);
	dev_info(dev, "graphics firmware from nouveau of %s\n", fw->file.origin);
	hw->p->fw = fw;
	return 0;
release:
	release_firmware(fw->blob);
free:
	kfree(fw);
	return ret;
}

void hw_fw_free(struct kvgpu_hw *hw)
{
	struct kvgpu_fw *fw = hw->p->fw;

	if (!fw)
		return;
	release_firmware(fw->blob);
	kfree(fw);
	hw->p->fw = NULL;
}

MODULE_FIRMWARE(KVGPU_FW_NAME);
