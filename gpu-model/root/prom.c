// SPDX-License-Identifier: GPL-2.0-only
/*
 * PROM: the VBIOS EEPROM seen through a 1 MiB window of BAR0. It can be read only while the ROM
 * shadow of configuration space is off; with the shadow on, reads give garbage (envytools
 * docs/hw/bus/bars.rst), here all ones. Not writable.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gk110/ppci.h>
#include <gk110/vbios.h>

#include "root.h"

struct prom {
	size_t size;
	uint8_t image[PROM_SIZE + 1];
};

static int image_refused(const char *path, const char *why)
{
	gk110_err("VBIOS image %s %s.", path, why);
	gk110_err(
		"Use the k20m.rom that 'make model' builds (source: gpu-model/vbios/), or a dump of a GK110 card's ROM.");
	return -EINVAL;
}

static int image_load(struct prom *p, const char *path)
{
	char why[160];
	FILE *f = fopen(path, "rb");
	bool failed;

	if (!f) {
		snprintf(why, sizeof(why), "can't be opened: %s", strerror(errno));
		return image_refused(path, why);
	}
	p->size = fread(p->image, 1, sizeof(p->image), f);
	failed = ferror(f);
	fclose(f);
	if (failed)
		return image_refused(path, "can't be read");
	if (rom_image_check(p->image, p->size, why, sizeof(why)))
		return image_refused(path, why);
	return 0;
}

static int prom_init(struct gk110 *g)
{
	int ret;

	if (!g->cfg.vbios_path)
		return image_refused("(none)", "was not given");
	g->prom = calloc(1, sizeof(*g->prom));
	if (!g->prom)
		return -ENOMEM;
	ret = image_load(g->prom, g->cfg.vbios_path);
	if (ret) {
		free(g->prom);
		g->prom = NULL;
	}
	return ret;
}

static uint32_t prom_read(struct gk110 *g, uint32_t reg)
{
	size_t off = reg - PROM_BASE;
	uint32_t v = 0;
	unsigned int i;

	if (g->config[GK110_PCI_ROM_SHADOW] & PPCI_CFG_ROM_SHADOW_EN)
		return ~0u;
	for (i = 0; i < 4; i++) /* bytes behind the image: erased flash */
		v |= (uint32_t)(off + i < g->prom->size ? g->prom->image[off + i] : 0xff)
		     << (8 * i);
	return v;
}

static void prom_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
}

static void prom_fini(struct gk110 *g)
{
	free(g->prom);
	g->prom = NULL;
}

static const struct mmio_range prom_ranges[] = {
	{ PROM_BASE, PROM_SIZE, "PROM", prom_read, prom_write },
};

const struct unit_ops prom_unit = {
	.name = "PROM",
	.ranges = prom_ranges,
	.nr_ranges = ARRAY_SIZE(prom_ranges),
	.init = prom_init,
	.fini = prom_fini,
};
