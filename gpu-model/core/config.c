// SPDX-License-Identifier: GPL-2.0-only
/*
 * The check of a configuration. The card has five frame-buffer partitions of equal size and each
 * reports its size in MiB, so video memory comes in steps of 5 MiB.
 */
#include <errno.h>
#include <inttypes.h>

#include "core.h"

#define VRAM_STEP (5ull << 20)
#define VRAM_MIN  (80ull << 20)
#define VRAM_MAX  (120ull << 30)

int config_check(const struct gk110_config *cfg)
{
	if (cfg->vram_size < VRAM_MIN || cfg->vram_size > VRAM_MAX || cfg->vram_size % VRAM_STEP) {
		gk110_err("video memory of %" PRIu64
			  " bytes: give a multiple of 5 MiB from 80M to 120G (the card has 5G)",
			  cfg->vram_size);
		return -EINVAL;
	}
	if (cfg->layout != GK110_LAYOUT_FLAT && cfg->layout != GK110_LAYOUT_CARD) {
		gk110_err("layout %d is none of flat and card", (int)cfg->layout);
		return -EINVAL;
	}
	if (!cfg->vbios_path) {
		gk110_err("no VBIOS image given: use --vbios FILE (make model builds k20m.rom)");
		return -EINVAL;
	}
	if (cfg->defect && !defect_known(cfg->defect)) {
		gk110_err("defect %s is not known: gk110-model --help lists them", cfg->defect);
		return -EINVAL;
	}
	return 0;
}
