/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PPCI: the function's configuration space seen from BAR0, and the PCIe link's private controls.
 * Source: nouveau nvkm/subdev/pci/{nv40,g84,gk104}.c.
 */
#ifndef KVGPU_GK110_PPCI_H
#define KVGPU_GK110_PPCI_H

#include <gk110/pci.h>
#include <linux/bits.h>

#define PPCI_BASE			0x088000
#define PPCI_SIZE			0x005000
/* size of the mirrored configuration space */
#define PPCI_CONFIG_SIZE		0x001000

/* Fields with a private meaning. The mirrored registers are in gk110/pci.h. */
#define PPCI_CFG_ROM_SHADOW_EN		BIT(0)		/* GK110_PCI_ROM_SHADOW */
/* a byte of 0xff, written to the capability id of GK110_PCI_MSI, re-arms MSI */
#define PPCI_CFG_MSI_REARM		GENMASK(7, 0)
#define PPCI_CFG_LNKCAP_SPEED		GENMASK(3, 0)	/* 1, 2, 3: 2.5, 5, 8 GT/s */
#define PPCI_CFG_LNKSTA_SPEED		GENMASK(19, 16)
/* bounds outstanding requests (nouveau g84_pci_init) */
#define PPCI_CFG_TAG_LIMIT		0x41c

#define PPCI_LINK_SPEED_CTL		0x08c040
#define   PPCI_LINK_SPEED_GO		BIT(0)
#define   PPCI_LINK_SPEED_TARGET	GENMASK(19, 18)
#define PPCI_LINK_CAP			0x08c1c0
#define   PPCI_LINK_CAP_V2		BIT(2)
#define   PPCI_LINK_CAP_SPEED		GENMASK(17, 16)	/* 1, 2, 3: 2.5, 5, 8 GT/s */
#define   PPCI_LINK_CAP_MAX		GENMASK(21, 20)	/* 0, 1, 2: 8, 5, 2.5 GT/s */

#endif
