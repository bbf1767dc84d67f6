// SPDX-License-Identifier: GPL-2.0-only
/*
 * The image around the tables: PCI expansion ROM header, PCI data structure, BIT directory,
 * checksum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gk110/pci.h>
#include <gk110/pfuse.h>
#include <gk110/vbios.h>

#include "image.h"

#define PCIR_AT	  0x40
#define BIT_AT	  0x60
#define TABLES_AT (BIT_AT + BIT_HEADER_LENGTH + MAX_BIT * BIT_ENTRY_LENGTH)
#define X86_RETF  0xcb

/*
 * Clocks: NVIDIA's board specifications of K20, K20X and K40, and the application clocks that its
 * tools list. The model's board without a like, "flat", is a K20m but for its wiring.
 */
#define K20_VALUES                                                                    \
	.memory_mhz = 2600, .core_mhz = { 614, 640, 666, 705, 758 }, .base_mhz = 705, \
	.ramcfg = K20_RAMCFG
#define K40_VALUES                                                               \
	.memory_mhz = 3004, .core_mhz = { 666, 745, 810, 875 }, .base_mhz = 745, \
	.ramcfg = K40_RAMCFG
static const struct board boards[] = {
	{ .name = "k20m", .device = GK110_PCI_DEVICE, K20_VALUES },
	{ .name = "flat", .device = GK110_PCI_DEVICE, K20_VALUES },
	{ .name = "k20c", .device = GK110_PCI_K20C, K20_VALUES },
	{ .name = "k20x",
	  .device = GK110_PCI_K20XM,
	  .memory_mhz = 2600,
	  .core_mhz = { 640, 666, 705, 732, 784 },
	  .base_mhz = 732,
	  .ramcfg = K20X_RAMCFG },
	{ .name = "k40m", .device = GK110_PCI_K40M, K40_VALUES },
	{ .name = "k40c", .device = GK110_PCI_K40C, K40_VALUES },
};

static const struct board *board_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(boards); i++)
		if (!strcmp(boards[i].name, name))
			return &boards[i];
	return NULL;
}

static void put8(struct image *img, size_t at, uint8_t v)
{
	img->rom[at] = v;
}

static void put16(struct image *img, size_t at, uint16_t v)
{
	memcpy(img->rom + at, &v, sizeof(v));
}

uint16_t image_put(struct image *img, const void *data, size_t len)
{
	size_t at = img->used;

	if (len > IMAGE_SIZE - 1 - at) { /* the last byte is the checksum */
		fprintf(stderr, "mkvbios: the tables do not fit into %d bytes\n", IMAGE_SIZE);
		exit(1);
	}
	memcpy(img->rom + at, data, len);
	img->used = (at + len + 3) & ~(size_t)3;
	return at;
}

void image_bit(struct image *img, char id, uint8_t version, const void *table, size_t len)
{
	if (img->nr_bit == MAX_BIT) {
		fprintf(stderr, "mkvbios: more than %d BIT entries\n", MAX_BIT);
		exit(1);
	}
	img->bit[img->nr_bit].id = id;
	img->bit[img->nr_bit].version = version;
	img->bit[img->nr_bit].length = len;
	img->bit[img->nr_bit].table = image_put(img, table, len);
	img->nr_bit++;
}

static uint8_t negated_sum(const uint8_t *p, size_t len)
{
	uint8_t sum = 0;

	while (len--)
		sum += *p++;
	return -sum;
}

/* There is no x86 code. */
static void rom_header(struct image *img, uint16_t dcb)
{
	put16(img, 0, ROM_SIGNATURE);
	put8(img, ROM_BLOCKS, IMAGE_SIZE / ROM_BLOCK);
	put8(img, ROM_ENTRY, X86_RETF);
	put16(img, ROM_PCIR_POINTER, PCIR_AT);
	put16(img, ROM_DCB_POINTER, dcb);
}

static void pci_data(struct image *img)
{
	memcpy(img->rom + PCIR_AT, PCIR_SIGNATURE, 4);
	put16(img, PCIR_AT + PCIR_VENDOR, GK110_PCI_VENDOR);
	put16(img, PCIR_AT + PCIR_DEVICE, img->board->device);
	put16(img, PCIR_AT + PCIR_STRUCT_LENGTH, PCIR_LENGTH);
	put8(img, PCIR_AT + PCIR_CLASS + 1, 0x02); /* 3D controller */
	put8(img, PCIR_AT + PCIR_CLASS + 2, 0x03);
	put16(img, PCIR_AT + PCIR_IMAGE_BLOCKS, IMAGE_SIZE / ROM_BLOCK);
	put8(img, PCIR_AT + PCIR_FLAGS, PCIR_FLAGS_LAST);
}

static void bit_directory(struct image *img)
{
	unsigned int i;

	memcpy(img->rom + BIT_AT, BIT_SIGNATURE, BIT_SIGNATURE_LENGTH);
	put16(img, BIT_AT + BIT_VERSION, 0x0100);
	put8(img, BIT_AT + BIT_HEADER_SIZE, BIT_HEADER_LENGTH);
	put8(img, BIT_AT + BIT_ENTRY_SIZE, BIT_ENTRY_LENGTH);
	put8(img, BIT_AT + BIT_ENTRY_COUNT, img->nr_bit);
	put8(img, BIT_AT + BIT_CHECKSUM, negated_sum(img->rom + BIT_AT, BIT_HEADER_LENGTH));
	for (i = 0; i < img->nr_bit; i++) {
		size_t at = BIT_AT + BIT_HEADER_LENGTH + i * BIT_ENTRY_LENGTH;

		put8(img, at + BIT_ENTRY_ID, img->bit[i].id);
		put8(img, at + BIT_ENTRY_VERSION, img->bit[i].version);
		put16(img, at + BIT_ENTRY_TABLE_LENGTH, img->bit[i].length);
		put16(img, at + BIT_ENTRY_TABLE, img->bit[i].table);
	}
}

bool image_make(struct image *img, const char *board)
{
	memset(img, 0, sizeof(*img));
	img->board = board_of(board);
	if (!img->board)
		return false;
	img->used = TABLES_AT;
	init_tables(img);
	memory_tables(img);
	power_tables(img);
	rom_header(img, dcb_table(img));
	pci_data(img);
	bit_directory(img);
	put8(img, IMAGE_SIZE - 1, negated_sum(img->rom, IMAGE_SIZE - 1));
	return true;
}
