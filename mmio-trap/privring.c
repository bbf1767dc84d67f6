// SPDX-License-Identifier: GPL-2.0-only
/*
 * The register ring (PRIVRING), by which register accesses reach the units: its errors and timing
 * are the host's.
 */
#include <gk110/privring.h>

#include "units.h"

static u32 ring_gpcs_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->gpcs;
}

static u32 fbps_read(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	return t->cfg.topo->fbps;
}

static const struct kvgpu_reg_line lines[] = {
	KVGPU_LINE(PRIVRING_COMMAND, FILE, FILE, .zero = PRIVRING_COMMAND_CODE, .src = SRC_NV,
		   .why = "a command is done at once; nouveau polls it"),
	KVGPU_LINE(PRIVRING_INTR0, CONST, CONST, .src = SRC_NV,
		   .why = "ring errors are reported to the host only"),
	KVGPU_LINE(PRIVRING_INTR1, CONST, CONST, .src = SRC_NV,
		   .why = "ring errors are reported to the host only"),
	KVGPU_LINE(PRIVRING_HUB_COUNT, CONST, CONST, .reset = 1, .src = SRC_RNN,
		   .why = "number of hubs of the chip"),
	KVGPU_LINE(
		PRIVRING_FBP_COUNT, CONST, CONST, .read = fbps_read, .src = SRC_NV,
		.why = "number of FBPs of the card, for GR; the guest's memory is by PTOP_FBP_COUNT"),
	KVGPU_LINE(PRIVRING_GPC_COUNT, CONST, CONST, .read = ring_gpcs_read, .src = SRC_NV,
		   .why = "number of GPCs of the card"),
};

const struct kvgpu_reg_unit kvgpu_unit_privring = {
	.name = "PRIVRING",
	.base = PRIVRING_BASE,
	.size = PRIVRING_SIZE,
	KVGPU_UNIT_LINES(lines),
	KVGPU_REST(FILE, FILE, "ring timing is shared by all vGPUs", SRC_NV),
};
