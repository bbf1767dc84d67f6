/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A graphics context image of our own making. For nouveau's microcode an image begins with a
 * header: the number of pairs in a list, and the list's address >> 8. Each pair is a register and a
 * value, which FECS writes when it loads the image.
 */
#ifndef KVGPU_BARE_CONTEXT_H
#define KVGPU_BARE_CONTEXT_H

#include "space.h"

struct bare_image {
	uint64_t va, vram;
	uint32_t size; /* the page of the list follows, and is not counted */
};

/* Return the bytes that the microcode wants for an image, rounded up to pages. */
uint32_t bare_image_size(struct bare_gpu *g);
/*
 * Map an image of zeroes at @va of @s, and a page for its list after it. The caller invalidates the
 * TLB.
 */
void bare_image_create(struct bare_gpu *g, struct bare_space *s, uint64_t va, uint32_t size,
		       struct bare_image *img);
/*
 * Make @reg and @value the only pair of the list. Call before each load: FECS clears the number of
 * pairs.
 */
void bare_image_patch(struct bare_gpu *g, const struct bare_image *img, uint32_t reg,
		      uint32_t value);
/*
 * Fill @img from the context that instance block @inst points to. Return false when @inst has none,
 * or not all of it is mapped.
 */
bool bare_image_copy(struct bare_gpu *g, const struct bare_image *img, uint64_t inst);

#endif
