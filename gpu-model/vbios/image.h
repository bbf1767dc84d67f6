/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The image under construction. Tables are packed structures that are put one after the other. A
 * table that another table points to is put first, and its address goes into the other table. All
 * multi-byte fields are little-endian, as are all machines that this generator supports.
 */
#ifndef KVGPU_VBIOS_IMAGE_H
#define KVGPU_VBIOS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKED	      __attribute__((packed))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* the least that nouveau fetches: a driver traps for each dword */
#define IMAGE_SIZE 4096
#define MAX_BIT	   16
#define MAX_CLOCKS 5

/* What differs from board to board. */
struct board {
	const char *name; /* gk110-model --board */
	uint16_t device; /* PCI device id */
	uint16_t memory_mhz;
	uint16_t core_mhz[MAX_CLOCKS]; /* application clocks, ascending; 0: none */
	uint16_t base_mhz; /* one of them */
	uint8_t ramcfg; /* strap of memory, an index of the tables of memory */
};

struct image {
	const struct board *board;
	uint8_t rom[IMAGE_SIZE];
	size_t used;
	struct {
		char id;
		uint8_t version;
		uint16_t length, table;
	} bit[MAX_BIT];
	unsigned int nr_bit;
};

/*
 * image.c. image_put() returns the table's address; image_bit() puts a table and adds a BIT entry
 * for it. Both end the program when there is no room.
 */
uint16_t image_put(struct image *img, const void *data, size_t len);
void image_bit(struct image *img, char id, uint8_t version, const void *table, size_t len);
/* Make the whole image, from the tables of the functions below. False: no such board. */
bool image_make(struct image *img, const char *board);

/* each puts its tables, and the BIT entries named beside it */
void memory_tables(struct image *img); /* memory.c: BIT M and C */
void power_tables(struct image *img); /* power.c: BIT P */
void init_tables(struct image *img); /* board.c: BIT i, I and the display entries */
uint16_t dcb_table(struct image *img); /* board.c: address of the device control block */

#endif
