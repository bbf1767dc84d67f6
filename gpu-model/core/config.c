// SPDX-License-Identifier: GPL-2.0-only
/*
 * The check of a configuration. The frame-buffer partitions of a board have equal size and each
 * reports its size in MiB, so video memory comes in steps of as many MiB as there are partitions.
 */
#include <errno.h>
#include <inttypes.h>

#include "core.h"

#define VRAM_MIN (80ull << 20)
#define VRAM_MAX (120ull << 30)

int config_check(const struct gk110_config *cfg)
{
	unsigned int step = board_fbps(&cfg->board);

	if (board_check(&cfg->board))
		return -EINVAL;
	if (cfg->vram_size < VRAM_MIN || cfg->vram_size > VRAM_MAX ||
	    cfg->vram_size % ((uint64_t)step << 20)) {
		gk110_err(
			"video memory of %" PRIu64
			" bytes: give a multiple of %u MiB from 80M to 120G (the card has %" PRIu64
			"G)",
			cfg->vram_size, step, cfg->board.vram_size >> 30);
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
