/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a launch must do, one byte at a time, on a flat image of the address space. Written from
 * envytools g80-surface.rst and the class header alone; shares nothing with the model but the names
 * of methods and state.
 */
#ifndef KVGPU_SELFTESTS_CE_ORACLE_H
#define KVGPU_SELFTESTS_CE_ORACLE_H

#include <stdbool.h>
#include <stdint.h>

struct oracle_surface {
	bool pitch_layout;
	uint64_t address;
	int32_t pitch;
	unsigned int gob_height;		/* lines: 4 or 8 */
	unsigned int block_height, block_depth;	/* log2 of GOBs */
	uint64_t width, height, depth;		/* width in elements */
	uint64_t layer, x, y;
};

struct oracle_launch {
	struct oracle_surface src, dst;
	bool remap;
	unsigned int component, nr_src, nr_dst;	/* bytes, components; 1, 1, 1 without remap */
	unsigned int sel[4];			/* 0-3 source, 4 and 5 constants, 6 keep */
	uint32_t constant[2];
	uint64_t elements, lines;
};

/* address of byte @b of element (@i, @line), @elem bytes each */
uint64_t oracle_address(const struct oracle_surface *s, uint64_t i, uint64_t line,
			unsigned int elem, unsigned int b);
/* false, and the image in an undefined state, when a byte lies outside of @size */
bool oracle_run(const struct oracle_launch *l, uint8_t *image, uint64_t size);

#endif
