/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A graphics context image of our own making. The header of an image (for nouveau's microcode:
 * count of pairs, address >> 8 of the list) makes FECS write registers when it loads the image;
 * FECS believes whatever image the channel points to.
 */
#ifndef KVGPU_BARE_CONTEXT_H
#define KVGPU_BARE_CONTEXT_H

#include "space.h"

struct bare_image {
	uint64_t va, vram;
	uint32_t size;			/* without the page of the list behind it */
};

/* bytes that the microcode wants for an image */
uint32_t bare_image_size(struct bare_gpu *g);
/* zeroes, mapped at @va of @s; the list has one pair. The caller invalidates the TLB */
void bare_image_create(struct bare_gpu *g, struct bare_space *s, uint64_t va, uint32_t size,
		       struct bare_image *img);
/* the list anew: FECS has zeroed the count of the one before */
void bare_image_patch(struct bare_gpu *g, const struct bare_image *img, uint32_t reg,
		      uint32_t value);
/* contents from the context that instance block @inst names; false when it has none */
bool bare_image_copy(struct bare_gpu *g, const struct bare_image *img, uint64_t inst);

#endif
