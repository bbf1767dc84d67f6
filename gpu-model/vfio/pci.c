// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space: reset values and the bits that software can write.
 *
 * GK110 has no function level reset (lspci: FLReset-) and keeps its state over D3hot (NoSoftRst+).
 *
 * BAR0 mirrors this space. root/ppci.c has a table of its own for writes to the mirror, with words
 * that are not in the table below: ROM_SHADOW, which the reset of the units sets, and one more.
 */
#include <string.h>

#include <gk110/pci.h>
#include <linux/bitfield.h>

#include "internal.h"

_Static_assert(GK110_PCI_CONFIG_SIZE == sizeof(((struct gk110 *)0)->config), "configuration space");

struct config_word {
	uint16_t off;
	uint32_t reset;
	uint32_t rw; /* bits that software writes */
	uint32_t w1c; /* bits that are cleared by writing 1 */
};

static const struct config_word words[] = {
	{ .off = GK110_PCI_CMD_STA,
	  .reset = GK110_PCI_STA_CAP_LIST,
	  .w1c = GK110_PCI_STA_W1C,
	  .rw = GK110_PCI_CMD_MEMORY | GK110_PCI_CMD_MASTER | GK110_PCI_CMD_PARITY |
		GK110_PCI_CMD_SERR | GK110_PCI_CMD_INTX_DISABLE },
	{ .off = GK110_PCI_REV_CLASS, .reset = GK110_PCI_REV_CLASS_K20M },
	{ .off = GK110_PCI_CACHE_LINE, .rw = GK110_PCI_CACHE_LINE_SIZE },
	{ .off = GK110_PCI_BAR0, .rw = GK110_PCI_BAR0_ADDR },
	{ .off = GK110_PCI_BAR1, .reset = GK110_PCI_BAR_64_PREFETCH, .rw = GK110_PCI_BAR1_ADDR },
	{ .off = GK110_PCI_BAR1_HI, .rw = ~0u },
	{ .off = GK110_PCI_BAR3, .reset = GK110_PCI_BAR_64_PREFETCH, .rw = GK110_PCI_BAR3_ADDR },
	{ .off = GK110_PCI_BAR3_HI, .rw = ~0u },
	{ .off = GK110_PCI_CAP_PTR, .reset = GK110_PCI_PM },
	{ .off = GK110_PCI_INTR, .reset = GK110_PCI_INTR_PIN_A, .rw = GK110_PCI_INTR_LINE },
	{ .off = GK110_PCI_PM,
	  .reset = GK110_PCI_CAP(GK110_PCI_PM_ID, GK110_PCI_MSI) | GK110_PCI_PM_VERSION_3 },
	{ .off = GK110_PCI_PM_CTRL, .reset = GK110_PCI_PM_NO_SOFT_RESET, .rw = GK110_PCI_PM_STATE },
	{ .off = GK110_PCI_MSI,
	  .reset = GK110_PCI_CAP(GK110_PCI_MSI_ID, GK110_PCI_EXP) | GK110_PCI_MSI_64BIT,
	  .rw = GK110_PCI_MSI_ENABLE | GK110_PCI_MSI_MULTI_ENABLE },
	{ .off = GK110_PCI_MSI_ADDR, .rw = GK110_PCI_MSI_ADDR_LO },
	{ .off = GK110_PCI_MSI_ADDR_HI, .rw = ~0u },
	{ .off = GK110_PCI_MSI_DATA, .rw = GK110_PCI_MSI_DATA_VALUE },
	{ .off = GK110_PCI_EXP,
	  .reset = GK110_PCI_CAP(GK110_PCI_EXP_ID, 0) | GK110_PCI_EXP_VERSION_2 },
	{ .off = GK110_PCI_EXP_DEVCAP,
	  .reset = GK110_PCI_EXP_PAYLOAD_256 | GK110_PCI_EXP_EXT_TAG | GK110_PCI_EXP_L0S_UNLIMITED |
		   GK110_PCI_EXP_L1_64US | GK110_PCI_EXP_ROLE_ERR },
	{ .off = GK110_PCI_EXP_DEVCTL,
	  .reset = GK110_PCI_EXP_DEVCTL_RESET,
	  .rw = GK110_PCI_EXP_DEVCTL_RW,
	  .w1c = GK110_PCI_EXP_DEVSTA_W1C },
	{ .off = GK110_PCI_EXP_LNKCAP, .reset = GK110_PCI_EXP_LNKCAP_K20M },
	{ .off = GK110_PCI_EXP_LNKCTL,
	  .reset = GK110_PCI_EXP_LNKSTA_K20M,
	  .rw = GK110_PCI_EXP_LNKCTL_RW },
	{ .off = GK110_PCI_EXP_DEVCAP2, .reset = GK110_PCI_EXP_DEVCAP2_K20M },
	{ .off = GK110_PCI_EXP_DEVCTL2, .rw = GK110_PCI_EXP_DEVCTL2_RW },
	{ .off = GK110_PCI_EXP_LNKCAP2, .reset = GK110_PCI_EXP_LNKCAP2_K20M },
	{ .off = GK110_PCI_EXP_LNKCTL2,
	  .reset = GK110_PCI_EXP_LNKCTL2_K20M,
	  .rw = GK110_PCI_EXP_LNKCTL2_RW },
	{ .off = GK110_PCI_VC, .reset = GK110_PCI_EXT_CAP(GK110_PCI_VC_ID, 1, GK110_PCI_PWR) },
	{ .off = GK110_PCI_VC_RES_CTL, .reset = GK110_PCI_VC_RES_CTL_RESET },
	{ .off = GK110_PCI_PWR, .reset = GK110_PCI_EXT_CAP(GK110_PCI_PWR_ID, 1, GK110_PCI_AER) },
	{ .off = GK110_PCI_PWR_SELECT, .rw = GK110_PCI_PWR_SELECT_RW },
	{ .off = GK110_PCI_AER, .reset = GK110_PCI_EXT_CAP(GK110_PCI_AER_ID, 2, 0) },
	{ .off = GK110_PCI_AER_UE_MASK, .rw = GK110_PCI_AER_UE_BITS },
	{ .off = GK110_PCI_AER_UE_SEVERITY,
	  .reset = GK110_PCI_AER_UE_SEVERITY_RESET,
	  .rw = GK110_PCI_AER_UE_BITS },
	{ .off = GK110_PCI_AER_CE_MASK,
	  .reset = GK110_PCI_AER_CE_MASK_RESET,
	  .rw = GK110_PCI_AER_CE_BITS },
};

#define NR_WORDS (sizeof(words) / sizeof(words[0]))

static const struct config_word *word_find(uint32_t off)
{
	unsigned int i;

	for (i = 0; i < NR_WORDS; i++)
		if (words[i].off == off)
			return &words[i];
	return NULL;
}

static uint32_t word_get(const struct gk110 *g, uint32_t off)
{
	uint32_t v;

	/* the configuration space and all machines that run this are little-endian */
	memcpy(&v, g->config + off, 4);
	return v;
}

static void word_set(struct gk110 *g, uint32_t off, uint32_t v)
{
	__atomic_store_n((uint32_t *)(g->config + off), v, __ATOMIC_RELAXED);
}

static uint32_t command(const struct gk110 *g)
{
	return __atomic_load_n((const uint32_t *)(g->config + GK110_PCI_CMD_STA), __ATOMIC_RELAXED);
}

_Static_assert(offsetof(struct gk110, config) % 4 == 0,
	       "words of the configuration space are read atomically");

void pci_config_reset(struct gk110 *g)
{
	uint32_t off, subsystem = GK110_PCI_SUBVENDOR | (uint32_t)g->cfg.board.subdevice << 16;
	const struct config_word *w;

	/* word by word, as other threads read the command register meanwhile */
	for (off = 0; off < sizeof(g->config); off += 4) {
		w = word_find(off);
		word_set(g, off, w ? w->reset : 0);
	}
	word_set(g, GK110_PCI_ID, GK110_PCI_VENDOR | (uint32_t)g->cfg.board.device << 16);
	word_set(g, GK110_PCI_SUBSYSTEM, subsystem);
	word_set(g, GK110_PCI_SUBSYSTEM_ALIAS, subsystem);
}

bool pci_memory_enabled(const struct gk110 *g)
{
	return command(g) & GK110_PCI_CMD_MEMORY;
}

bool pci_bus_master(const struct gk110 *g)
{
	return command(g) & GK110_PCI_CMD_MASTER;
}

bool pci_intx_enabled(const struct gk110 *g)
{
	return !(command(g) & GK110_PCI_CMD_INTX_DISABLE);
}

void pci_show_intx(struct gk110 *g, bool level)
{
	uint32_t v = word_get(g, GK110_PCI_CMD_STA) & ~GK110_PCI_STA_INTERRUPT;

	word_set(g, GK110_PCI_CMD_STA, level ? v | GK110_PCI_STA_INTERRUPT : v);
}

void pci_config_read(struct gk110 *g, uint32_t off, uint8_t *data, size_t len)
{
	memcpy(data, g->config + off, len);
}

static void word_write(struct gk110 *g, uint32_t off, uint32_t val, uint32_t be)
{
	const struct config_word *w = word_find(off);
	uint32_t v;

	if (!w)
		return;
	v = word_get(g, off);
	v = (v & ~(w->rw & be)) | (val & w->rw & be);
	v &= ~(val & w->w1c & be);
	word_set(g, off, v);
}

void pci_config_write(struct gk110 *g, uint32_t off, const uint8_t *data, size_t len)
{
	uint32_t val = 0, be = 0, shift;

	for (; len; off++, data++, len--) {
		shift = 8 * (off & 3);
		val |= (uint32_t)*data << shift;
		be |= 0xffu << shift;
		if ((off & 3) == 3 || len == 1) {
			word_write(g, off & ~3u, val, be);
			val = be = 0;
		}
	}
}
