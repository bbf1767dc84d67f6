/* SPDX-License-Identifier: MIT */
/*
 * Finds code for sm_35 in what nvcc makes. The input may be any bytes, unless it is believed to be
 * whole (@limit below).
 *
 * Source of the facts: files that nvcc and fatbinary of the CUDA Toolkit 11.8 make, and what its
 * cuobjdump says of them.
 */
#ifndef KVGPU_CUDA_API_FATBIN_H
#define KVGPU_CUDA_API_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum image_error {
	IMAGE_OK = 0,
	IMAGE_INVALID,
	IMAGE_NO_BINARY, /* no code or PTX for sm_35 */
	IMAGE_ONLY_PTX, /* only PTX is for sm_35 */
	IMAGE_UNSUPPORTED, /* needs a missing feature */
	IMAGE_NO_MEMORY,
};

struct image_pick {
	/* in the input, if that is a cubin; else .owned */
	const uint8_t *cubin;
	size_t size;
	size_t packed; /* the bytes that it has in the input */
	uint8_t *owned; /* copy out of a fat binary: to be freed */
	/* the best PTX for 3.5; a 0 byte follows */
	const char *ptx;
	size_t ptx_size;
	char *ptx_owned;
	/* the oldest chip of PTX that is for later ones than 3.5, such as 52; 0: there is none */
	unsigned int later_ptx;
	bool empty; /* a fat binary without entries, as nvcc links one to each program */
};

/*
 * Find code for this GPU in @data: a fat binary, a cubin, PTX text, or the wrapper that nvcc puts
 * into a program, which has a pointer and is followed only without a limit.
 * @limit: bytes known to be readable. SIZE_MAX: not known, the sizes in the data are believed. Call
 * image_pick_free() also after an error.
 */
enum image_error image_pick(const void *data, size_t limit, struct image_pick *out);
void image_pick_free(struct image_pick *p);
/*
 * What image_pick() takes at @data, and its *bytes, of a text with its 0. NULL: it takes nothing.
 * *fat: it is a fat binary.
 */
const void *image_whole(const void *data, size_t limit, size_t *bytes, bool *fat);

#endif
