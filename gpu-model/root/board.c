// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boards as data: what differs from board to board, what differs from die to die (drawn by a seed),
 * and corrections by a file, such as one that says what a card showed.
 *
 * Sources. PCI ids and memory: gk110/boards.h. Units: NVIDIA's board specifications (13 SMX of a
 * K20, 14 of a K20X, 15 of a K40; memory of 320 or 384 bits, 64 for each partition). PBDMAs: the
 * words 0x2390 to 0x2398 of a Tesla K80 (GK210, the same PFIFO), which has 7 runlists. Runlists:
 * the table of engines in nouveau's engine/fifo/gk104.c of Linux 4.1; a GK104's log has video on 1
 * and 2. Open: which TPCs and partitions are off, the engine id of CE2, the order of PTOP, the
 * straps of memory, and the subsystem ids of the K20X and K20c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gk110/fifo.h>
#include <gk110/gr.h>
#include <gk110/pci.h>
#include <gk110/pfb.h>
#include <gk110/pfuse.h>
#include <gk110/pmc.h>
#include <gk110/ptop.h>

#include "root.h"

#define GIB	  (1ull << 30)
#define FILE_MAX  (1 << 20)
#define ALL_FBP	  ((1u << GK110_DESIGN_FBP) - 1)
#define CTX_STEP  (32u << 10)
#define CTX_STEPS 8

#define CARD_WIRING                                                                      \
	.nr_runlists = 7, .pbdma_runlists = { 0x01, 0x6e, 0x10 }, .nr_devices = 8,       \
	.device_table = {                                                                \
		{ ENGINE_GR, 0, 0 },	{ ENGINE_MSPDEC, 1, 1 }, { ENGINE_MSPPP, 2, 2 }, \
		{ ENGINE_MSVLD, 3, 3 }, { ENGINE_CE0, 4, 4 },	 { ENGINE_CE1, 5, 5 },   \
		{ ENGINE_MSENC, 6, 6 }, { ENGINE_CE2, 7, 0 },                            \
	}
#define K20_UNITS                                                                         \
	.chipset = GK110_CHIPSET, .subdevice = GK110_PCI_SUBDEVICE, .ramcfg = K20_RAMCFG, \
	.vram_size = 5 * GIB, .tpcs = { 3, 3, 3, 2, 2 }, .fbp_off = 0x20
#define K40_UNITS                                                                              \
	.chipset = GK110B_CHIPSET, .subdevice = GK110_PCI_K40_SUBDEVICE, .ramcfg = K40_RAMCFG, \
	.vram_size = 12 * GIB, .tpcs = { 3, 3, 3, 3, 3 }

static const struct gk110_board boards[] = {
	{ .name = "k20m", .device = GK110_PCI_DEVICE, K20_UNITS, CARD_WIRING },
	{ .name = "k20c", .device = GK110_PCI_K20C, K20_UNITS, CARD_WIRING },
	{ .name = "k20x",
	  .device = GK110_PCI_K20XM,
	  .chipset = GK110_CHIPSET,
	  .subdevice = GK110_PCI_SUBDEVICE,
	  .ramcfg = K20X_RAMCFG,
	  .vram_size = 6 * GIB,
	  .tpcs = { 3, 3, 3, 3, 2 },
	  CARD_WIRING },
	{ .name = "k40m", .device = GK110_PCI_K40M, K40_UNITS, CARD_WIRING },
	{ .name = "k40c", .device = GK110_PCI_K40C, K40_UNITS, CARD_WIRING },
	/*
	 * No card: all engines on one runlist. nouveau refuses a runlist with more than two PBDMAs
	 * (gk104_fifo_runl_ctor), so the third PBDMA serves none.
	 */
	{ .name = "flat",
	  .device = GK110_PCI_DEVICE,
	  K20_UNITS,
	  .nr_runlists = 1,
	  .pbdma_runlists = { 1, 1, 0 },
	  .nr_devices = 4,
	  .device_table = { { ENGINE_GR, 0, 0 },
			    { ENGINE_CE0, 1, 0 },
			    { ENGINE_CE1, 2, 0 },
			    { ENGINE_CE2, 3, 0 } } },
};

bool board_find(const char *name, struct gk110_board *b)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(boards); i++)
		if (!strcmp(boards[i].name, name)) {
			*b = boards[i];
			return true;
		}
	return false;
}

unsigned int board_fbps(const struct gk110_board *b)
{
	return GK110_DESIGN_FBP - __builtin_popcount(b->fbp_off & ALL_FBP);
}

unsigned int board_tpcs(const struct gk110_board *b)
{
	unsigned int i, n = 0;

	for (i = 0; i < GK110_MAX_GPC; i++)
		n += b->tpcs[i];
	return n;
}

/* ------------------------------------------------------------------ dies */

static unsigned int draw(uint64_t *state, unsigned int below)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % below;
}

/* A die may have lost any TPCs, as long as each GPC has one left. */
static void draw_tpcs(struct gk110_board *b, uint64_t *state)
{
	unsigned int off = GK110_MAX_GPC * GR_MAX_TPC - board_tpcs(b);

	memset(b->tpcs, GR_MAX_TPC, sizeof(b->tpcs));
	while (off) {
		uint8_t *tpcs = &b->tpcs[draw(state, GK110_MAX_GPC)];

		if (*tpcs == 1)
			continue;
		--*tpcs;
		off--;
	}
}

static void draw_partitions(struct gk110_board *b, uint64_t *state)
{
	unsigned int off = GK110_DESIGN_FBP - board_fbps(b);

	b->fbp_off = 0;
	while (GK110_DESIGN_FBP - board_fbps(b) < off)
		b->fbp_off |= 1u << draw(state, GK110_DESIGN_FBP);
}

void board_draw(struct gk110_board *b, unsigned int seed)
{
	uint64_t state = seed;
	unsigned int i;

	draw(&state, 1);
	draw_tpcs(b, &state);
	draw_partitions(b, &state);
	for (i = b->nr_devices; i > 1; i--) {
		struct gk110_device *a = &b->device_table[i - 1];
		struct gk110_device *c = &b->device_table[draw(&state, i)], was = *a;

		*a = *c;
		*c = was;
	}
	b->ctx_size = draw(&state, CTX_STEPS + 1) * CTX_STEP;
}

/* ------------------------------------------------------------------ check */

static bool device_is_wrong(const struct gk110_board *b, unsigned int i)
{
	const struct gk110_device *d = &b->device_table[i];
	unsigned int j, serve = 0;

	for (j = 0; j < GK110_MAX_PBDMA; j++)
		serve += b->pbdma_runlists[j] >> d->runlist & 1;
	/* nouveau takes two PBDMAs of a runlist at most */
	if (d->runlist >= b->nr_runlists || d->id >= GK110_MAX_DEVICE || !serve || serve > 2)
		return true;
	for (j = 0; j < i; j++)
		if (b->device_table[j].id == d->id || b->device_table[j].type == d->type)
			return true;
	return false;
}

static const char *wrong(const struct gk110_board *b)
{
	unsigned int i, modelled = 0;

	if (b->chipset != GK110_CHIPSET && b->chipset != GK110B_CHIPSET)
		return "chipset: it is 240 (GK110) or 241 (GK110B)";
	for (i = 0; i < GK110_MAX_GPC; i++)
		if (b->tpcs[i] < 1 || b->tpcs[i] > GR_MAX_TPC)
			return "tpcs: each of 5 GPCs has 1 to 3";
	if (b->fbp_off >= ALL_FBP)
		return "fbp_off: a bit for each of 6 partitions that is off, and one is on";
	if (b->nr_runlists < 1 || b->nr_runlists > GK110_MAX_RUNLIST)
		return "runlists: there are 1 to 7";
	if (b->nr_devices > GK110_MAX_DEVICE)
		return "device_table: 8 engines at most";
	for (i = 0; i < b->nr_devices; i++) {
		modelled += b->device_table[i].type <= ENGINE_CE2;
		if (device_is_wrong(b, i))
			return "device_table: type, id and runlist of each engine; types and ids differ, a runlist has 1 or 2 PBDMAs";
	}
	if (modelled != GK110_MAX_ENGINE)
		return "device_table: the types 0 to 3 are needed";
	return NULL;
}

int board_check(const struct gk110_board *b)
{
	const char *why = wrong(b);

	if (why)
		gk110_err("board %s: %s", b->name, why);
	return why ? -EINVAL : 0;
}

/* ------------------------------------------------------------------ corrections by a file */

/*
 * Finds the register @reg in JSON text, a member "0x022700": 123 or "0x022700": "0x7b" of any
 * object. False: it is not there, or it is an error code of the register ring.
 */
static bool find_word(const char *text, uint32_t reg, uint32_t *val)
{
	char key[16];
	const char *p;

	snprintf(key, sizeof(key), "\"0x%06x\"", reg);
	p = strstr(text, key);
	if (!p)
		return false;
	p += strlen(key);
	p += strspn(p, " \t\r\n");
	if (*p++ != ':')
		return false;
	p += strspn(p, " \t\r\n\"");
	*val = strtoul(p, NULL, 0);
	return *p >= '0' && *p <= '9' && (*val & 0xfff00000) != 0xbad00000;
}

static void correct_chip(struct gk110_board *b, const char *text)
{
	uint32_t word;

	if (find_word(text, PMC_BOOT_0, &word))
		b->chipset = FIELD_GET(PMC_BOOT_0_CHIPSET, word);
	/* the id's upper half is the same for all boards of the family */
	if (find_word(text, PMC_NEW_ID, &word))
		b->device = (b->device & ~0xffu) | FIELD_GET(PMC_NEW_ID_DEVICE, word);
	if (find_word(text, GR_FECS + FECS_SCRATCH(FECS_OS_SIZE), &word))
		b->ctx_size = word;
}

static void correct_units(struct gk110_board *b, const char *text)
{
	uint32_t word, mib = 0, i;

	for (i = 0; i < GK110_MAX_GPC; i++)
		if (find_word(text, GR_GPC(i, GPC_GPCCS + GPCCS_UNITS), &word) && word)
			b->tpcs[i] = FIELD_GET(GPCCS_UNITS_TPC, word);
	if (find_word(text, PTOP_DISABLE_FBPA, &word))
		b->fbp_off = word & ALL_FBP;
	for (i = 0; i < GK110_DESIGN_FBP; i++)
		if (!(b->fbp_off & 1u << i) && find_word(text, PBFB_BASE(i) + PBFB_AMOUNT, &word))
			mib = word;
	if (mib)
		b->vram_size = (uint64_t)mib * board_fbps(b) << 20;
}

static void correct_wiring(struct gk110_board *b, const char *text)
{
	struct gk110_device d = { 0 };
	bool runlist = false;
	uint32_t word, i;

	for (i = 0; i < GK110_MAX_PBDMA; i++)
		if (find_word(text, PFIFO_PBDMA_RUNLISTS(i), &word))
			b->pbdma_runlists[i] = word;
	if (!find_word(text, PTOP_DEVICE(0), &word))
		return;
	b->nr_devices = b->nr_runlists = 0;
	for (i = 0; i < PTOP_DEVICE_NR; i++) {
		if (!find_word(text, PTOP_DEVICE(i), &word))
			continue;
		if (FIELD_GET(PTOP_DEVICE_KIND, word) == PTOP_KIND_TYPE)
			d.type = FIELD_GET(PTOP_TYPE, word);
		if (FIELD_GET(PTOP_DEVICE_KIND, word) == PTOP_KIND_ENUM) {
			d.id = FIELD_GET(PTOP_ENUM_ENGINE, word);
			d.runlist = FIELD_GET(PTOP_ENUM_RUNLIST, word);
			runlist = word & PTOP_ENUM_RUNLIST_VALID;
		}
		if (word & PTOP_DEVICE_CHAIN)
			continue;
		if (runlist && b->nr_devices < GK110_MAX_DEVICE) {
			b->device_table[b->nr_devices++] = d;
			if (d.runlist >= b->nr_runlists)
				b->nr_runlists = d.runlist + 1;
		}
		d = (struct gk110_device){ 0 };
		runlist = false;
	}
}

int board_correct(struct gk110_board *b, const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = f ? calloc(1, FILE_MAX + 1) : NULL;
	size_t n = text ? fread(text, 1, FILE_MAX, f) : 0;
	uint32_t word;
	int ret = -EINVAL;

	if (!text) {
		gk110_err("%s: %s", path, strerror(errno));
	} else if (ferror(f) || n == FILE_MAX || !find_word(text, PMC_BOOT_0, &word)) {
		gk110_err(
			"%s has no register PMC_BOOT_0: give a JSON file of less than 1 MiB with members such as \"0x000000\": 251658401",
			path);
	} else {
		correct_chip(b, text);
		correct_units(b, text);
		correct_wiring(b, text);
		ret = 0;
	}
	if (f)
		fclose(f);
	free(text);
	return ret;
}
