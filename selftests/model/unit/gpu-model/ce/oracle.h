/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does what a launch must do, one byte at a time, on a flat image of the address space. Written
 * from envytools' g80-surface.rst and the class header, not from the model.
 */
#ifndef KVGPU_SELFTESTS_CE_ORACLE_H
#define KVGPU_SELFTESTS_CE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

struct oracle_surface {
	bool pitch_layout;
	uint64_t address;
	int32_t pitch;
	unsigned int gob_height; /* lines: 4 or 8 */
	unsigned int block_height, block_depth; /* log2 of the number of GOBs */
	uint64_t width, height, depth; /* width in elements */
	uint64_t layer, x, y;
};

struct oracle_launch {
	struct oracle_surface src, dst;
	bool remap;
	/* .component: bytes; .nr_src, .nr_dst: number of components; all 1 without remap */
	unsigned int component, nr_src, nr_dst;
	/* 0 to 3: source component; 4, 5: constant; 6: keep the target's */
	unsigned int sel[4];
	uint32_t constant[2];
	uint64_t elements, lines;
};

/* Returns the address of byte @b of element @i in line @line; elements have @elem bytes. */
uint64_t oracle_address(const struct oracle_surface *s, uint64_t i, uint64_t line,
			unsigned int elem, unsigned int b);
/*
 * Runs a launch on @image. Returns false if a byte lies outside of @size; the image is undefined
 * then.
 */
bool oracle_run(const struct oracle_launch *l, uint8_t *image, uint64_t size);

#endif
