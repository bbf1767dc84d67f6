// SPDX-License-Identifier: GPL-2.0-only
/*
 * PPCI: the configuration space seen from BAR0. mdev/config.c sets its words
 * (kvgpu_trap_config_set()). A byte other than 0 that a guest writes to the id of the MSI
 * capability re-arms MSI.
 */
#include <gk110/ppci.h>

#include "units.h"

static void msi_write(struct kvgpu_trap *t, const struct kvgpu_access *a)
{
	if (FIELD_GET(PPCI_CFG_MSI_REARM, a->bits))
		vtrap_intr_rearm(t);
}

static const struct kvgpu_reg_line config[] = {
	KVGPU_LINE(
		PPCI_BASE + GK110_PCI_ROM_SHADOW, FILE, FILE, .src = SRC_NVRNN,
		.why = "switches the ROM to its copy in memory, without effect: the guest's ROM is always readable"),
	KVGPU_LINE(PPCI_BASE + GK110_PCI_MSI, FILE, EMULATE, .write = msi_write, .src = SRC_NV,
		   .why = "a byte other than 0 that is written to the capability's id re-arms MSI"),
};

const struct kvgpu_reg_unit kvgpu_unit_ppci_config = {
	.name = "PPCI_CONFIG",
	.base = PPCI_BASE,
	.size = PPCI_CONFIG_SIZE,
	KVGPU_UNIT_LINES(config),
	KVGPU_REST(FILE, FILE,
		   "virtual configuration space; writes to the real one could move BARs and MSI",
		   SRC_PCI),
};

static const struct kvgpu_reg_line link[] = {
	KVGPU_LINE(PPCI_LINK_SPEED_CTL, FILE, FILE, .zero = PPCI_LINK_SPEED_GO, .src = SRC_NV,
		   .why = "the PCIe link is the host's; a change reads as done at once"),
	KVGPU_LINE(PPCI_LINK_CAP, FILE, FILE, .src = SRC_NV, .why = "the PCIe link is the host's"),
};

const struct kvgpu_reg_unit kvgpu_unit_ppci = {
	.name = "PPCI",
	.base = PPCI_BASE + PPCI_CONFIG_SIZE,
	.size = PPCI_SIZE - PPCI_CONFIG_SIZE,
	KVGPU_UNIT_LINES(link),
	KVGPU_REST(FILE, FILE, "the PCIe link and its errors are the host's", SRC_RNN),
};
