/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PPCI: the configuration space of the PCI function, mirrored in BAR0, and private controls of the
 * PCIe link. Source: nouveau nvkm/subdev/pci/{nv40,g84,gk104}.c.
 */
#ifndef KVGPU_GK110_PPCI_H
#define KVGPU_GK110_PPCI_H

#include <gk110/pci.h>
#include <linux/bits.h>

#define PPCI_BASE			0x088000
#define PPCI_SIZE			0x005000
#define PPCI_CONFIG_SIZE		0x001000

#define PPCI_CFG_ROM_SHADOW_EN		BIT(0)		/* bit of GK110_PCI_ROM_SHADOW */
/* The byte at GK110_PCI_MSI. A write of 0xff to this byte of the mirror re-arms MSI. */
#define PPCI_CFG_MSI_REARM		GENMASK(7, 0)
#define PPCI_CFG_LNKCAP_SPEED		GENMASK(3, 0)	/* 1: 2.5 GT/s, 2: 5, 3: 8 */
#define PPCI_CFG_LNKSTA_SPEED		GENMASK(19, 16)
/* limits the number of outstanding requests (nouveau g84_pci_init()) */
#define PPCI_CFG_TAG_LIMIT		0x41c

#define PPCI_LINK_SPEED_CTL		0x08c040
#define   PPCI_LINK_SPEED_GO		BIT(0)
#define   PPCI_LINK_SPEED_TARGET	GENMASK(19, 18)
#define PPCI_LINK_CAP			0x08c1c0
#define   PPCI_LINK_CAP_V2		BIT(2)
#define   PPCI_LINK_CAP_SPEED		GENMASK(17, 16)	/* 1: 2.5 GT/s, 2: 5, 3: 8 */
#define   PPCI_LINK_CAP_MAX		GENMASK(21, 20)	/* 0: 8 GT/s, 1: 5, 2: 2.5 */

#endif
