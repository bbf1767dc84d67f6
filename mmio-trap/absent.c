// SPDX-License-Identifier: GPL-2.0-only
/*
 * Units that a guest must not or need not use, and units that its card does not have. A written
 * value is kept and read back. Accesses to the denied units are counted in .nr_denied.
 */
#include <gk110/fifo.h>
#include <gk110/map.h>

#include "units.h"

#define DENIED(unit, sym, why_, src_)                     \
	const struct kvgpu_reg_unit kvgpu_unit_##unit = { \
		.name = #sym,                             \
		.base = sym##_BASE,                       \
		.size = sym##_SIZE,                       \
		KVGPU_REST(DENY, DENY, why_, src_),       \
	}

DENIED(pfifo_bypass, PFIFO_BYPASS, "would submit methods to any engine, for any instance", SRC_RNN);
DENIED(prma, PRMA, "a second way into all registers", SRC_RNN);
DENIED(pci_other, PCI_OTHER, "configuration of other PCI functions", SRC_RNN);
DENIED(peephole, PEEPHOLE,
       "would read and write any virtual address of the instance in HOSTMEM_PEEPHOLE", SRC_RNN);
DENIED(pvideo, PVIDEO, "video falcons with their own way to memory; absent by PTOP_DISABLE",
       SRC_NVRNN);
DENIED(pcodec, PCODEC, "audio codec and fuses; no guest needs them", SRC_RNN);
DENIED(pp2p, PP2P, "windows into other GPUs' memory", SRC_RNN);
DENIED(pcounter, PCOUNTER, "writes records to memory and shows the work of other vGPUs", SRC_RNN);
DENIED(pfifo_unk1c0, PFIFO_UNK1C0, "unknown part of PFIFO", SRC_MMIO);
DENIED(pmsenc, PMSENC, "video encoder with its own way to memory; absent by PTOP_DISABLE",
       SRC_NVRNN);

const struct kvgpu_reg_unit kvgpu_unit_prmfb = {
	.name = "PRMFB",
	.base = PRMFB_BASE,
	.size = PRMFB_SIZE,
	KVGPU_REST(FILE, FILE, "legacy VGA; the card has no display", SRC_RNN),
};

const struct kvgpu_reg_unit kvgpu_unit_prmio = {
	.name = "PRMIO",
	.base = PRMIO_BASE,
	.size = PRMIO_SIZE,
	KVGPU_REST(FILE, FILE, "VGA ports; the card has no display", SRC_NVRNN),
};

const struct kvgpu_reg_unit kvgpu_unit_pdisp = {
	.name = "PDISP",
	.base = PDISP_BASE,
	.size = PDISP_SIZE,
	KVGPU_REST(FILE, FILE, "absent by PTOP_DISABLE", SRC_NVRNN),
};
