// SPDX-License-Identifier: GPL-2.0-only
/*
 * PPCI: configuration space through BAR0, and the PCIe link's speed controls.
 *
 * The fields in the table below can be written through the mirror. Base addresses, command and MSI
 * registers are read-only here (open: how the card's mirror treats writes to them). vfio/pci.c has
 * the reset values, and the bits that configuration cycles write.
 */
#include <string.h>

#include <gk110/ppci.h>

#include "root.h"

static const struct {
	uint32_t off, bits;
} writable[] = {
	{ GK110_PCI_ROM_SHADOW, PPCI_CFG_ROM_SHADOW_EN },
	{ GK110_PCI_EXP_DEVCTL, GK110_PCI_EXP_DEVCTL_RW },
	{ GK110_PCI_EXP_LNKCTL, GK110_PCI_EXP_LNKCTL_RW },
	{ GK110_PCI_EXP_LNKCTL2, GK110_PCI_EXP_LNKCTL2_RW },
	{ PPCI_CFG_TAG_LIMIT, ~0u },
};

static uint32_t config_get(struct gk110 *g, uint32_t off)
{
	return g->config[off] | g->config[off + 1] << 8 | g->config[off + 2] << 16 |
	       (uint32_t)g->config[off + 3] << 24;
}

static void config_merge(struct gk110 *g, uint32_t off, uint32_t val, uint32_t be)
{
	uint32_t v = (config_get(g, off) & ~be) | (val & be);
	unsigned int i;

	for (i = 0; i < 4; i++)
		g->config[off + i] = v >> (8 * i);
}

static uint32_t link_max(struct gk110 *g)
{
	uint32_t speed = FIELD_GET(PPCI_CFG_LNKCAP_SPEED, config_get(g, GK110_PCI_EXP_LNKCAP));

	return speed < 1 ? 1 : speed > 3 ? 3 : speed;
}

static void link_retrain(struct gk110 *g, uint32_t ctl)
{
	uint32_t target = 3 - FIELD_GET(PPCI_LINK_SPEED_TARGET, ctl), max = link_max(g);

	if (target < 1)
		target = 1;
	if (target > max)
		target = max;
	config_merge(g, GK110_PCI_EXP_LNKCTL, FIELD_PREP(PPCI_CFG_LNKSTA_SPEED, target),
		     PPCI_CFG_LNKSTA_SPEED);
}

static uint32_t ppci_read(struct gk110 *g, uint32_t reg)
{
	if (reg < PPCI_BASE + PPCI_CONFIG_SIZE)
		return config_get(g, reg - PPCI_BASE);
	if (reg == PPCI_LINK_CAP)
		return (reg_get(g, reg) & ~PPCI_LINK_CAP_MAX) |
		       FIELD_PREP(PPCI_LINK_CAP_MAX, 3 - link_max(g));
	return reg_get(g, reg);
}

static void mirror_write(struct gk110 *g, uint32_t off, uint32_t val, uint32_t be)
{
	unsigned int i;

	/* the low byte is the read-only capability id: writing 0xff to it is the re-arm */
	if (off == GK110_PCI_MSI && be == PPCI_CFG_MSI_REARM && val == PPCI_CFG_MSI_REARM)
		pmc_intr_rearm(g);
	for (i = 0; i < ARRAY_SIZE(writable); i++)
		if (writable[i].off == off)
			config_merge(g, off, val, be & writable[i].bits);
}

static void ppci_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	if (reg < PPCI_BASE + PPCI_CONFIG_SIZE) {
		mirror_write(g, reg - PPCI_BASE, val, be);
		return;
	}
	switch (reg) {
	case PPCI_LINK_SPEED_CTL:
		val = reg_merge(g, reg, val, be);
		if (val & PPCI_LINK_SPEED_GO)
			link_retrain(g, val);
		reg_set(g, reg, val & ~PPCI_LINK_SPEED_GO);
		break;
	case PPCI_LINK_CAP:
		reg_merge(g, reg, val, be & PPCI_LINK_CAP_SPEED);
		break;
	default:
		reg_merge(g, reg, val, be);
	}
}

/* The bus has reset g->config before (device_reset() in vfio/messages.c). */
static void ppci_reset(struct gk110 *g)
{
	reg_set(g, PPCI_LINK_CAP, PPCI_LINK_CAP_V2 | FIELD_PREP(PPCI_LINK_CAP_SPEED, link_max(g)));
	reg_set(g, PPCI_LINK_SPEED_CTL, 0);
	config_merge(g, GK110_PCI_ROM_SHADOW, PPCI_CFG_ROM_SHADOW_EN, PPCI_CFG_ROM_SHADOW_EN);
}

static const struct mmio_range ppci_ranges[] = {
	{ PPCI_BASE, PPCI_SIZE, "PPCI", ppci_read, ppci_write },
};

const struct unit_ops ppci_unit = {
	.name = "PPCI",
	.ranges = ppci_ranges,
	.nr_ranges = ARRAY_SIZE(ppci_ranges),
	.reset = ppci_reset,
};
