// SPDX-License-Identifier: GPL-2.0-only
/*
 * Steps of the graphics engine's bring-up: writes register lists of the firmware file, and waits
 * until the engine is idle.
 *
 * Callers hold gr_lock: at bring-up, at a reset of the engine, and at take-down.
 */
#include "hw/gr.h"

u32 hw_gr_reset_bit(struct kvgpu_hw *hw)
{
	return BIT(hw->topo.engine[0].reset);
}

/*
 * The engine is idle when it is in reset, or its front end is not busy (GR_IDLE) and PFIFO does not
 * switch its context. The read of GR_STATUS brings PFIFO's status up to date (nouveau
 * gf100_gr_wait_idle()).
 */
int hw_gr_wait_idle(struct kvgpu_hw *hw)
{
	const u32 switching = PFIFO_STATUS_BUSY | PFIFO_STATUS_CHSW;
	ktime_t end = ktime_add_us(ktime_get(), GR_WAIT_US);
	u32 status, engine, fe;
	bool late;

	for (;;) {
		late = ktime_after(ktime_get(), end);
		status = hw_rd(hw, GR_STATUS);
		engine = hw_rd(hw, PFIFO_ENGINE_STATUS(hw->topo.engine[0].id));
		fe = hw_rd(hw, GR_IDLE);
		if (!(hw_rd(hw, PMC_ENABLE) & hw_gr_reset_bit(hw)))
			return 0;
		if (!(fe & GR_IDLE_BUSY) && (engine & switching) != switching)
			return 0;
		if (late)
			break;
		usleep_range(1, 5);
	}
	dev_err(&hw->pdev->dev,
		"graphics engine is not idle after 2 s (status 0x%08x, front end 0x%08x, PFIFO 0x%08x)\n",
		status, fe, engine);
	return -ETIMEDOUT;
}

void hw_gr_write_list(struct kvgpu_hw *hw, enum kvgpu_fw_section_id id)
{
	const struct fwfile *f = &hw->p->fw->file;
	u32 i, k;

	for (i = 0; i < hw_fwfile_entries(f, id); i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, id, i);

		for (k = 0; k < e.count; k++)
			hw_wr(hw, e.addr + k * e.pitch, e.data);
	}
}
