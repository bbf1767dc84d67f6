/* SPDX-License-Identifier: MIT */
/* What the headers of an image for cuModuleLoadData() say. Any bytes may be given. */
#ifndef KVGPU_REMOTE_IMAGE_H
#define KVGPU_REMOTE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the fat binary, the ELF file or the PTX text (with its zero) at @data. @limit: how many
 * bytes may be read; SIZE_MAX: as many as the image says. 0: @data is none of these, or is longer.
 * What the headers of an ELF file name lies within the bytes; in a fat binary each entry does, and
 * what the headers of a cubin name in it, if that is not packed.
 * The wrapper that nvcc puts before a fat binary holds a pointer, and is none of these.
 */
size_t kvgpu_remote_image_bytes(const void *data, size_t limit);

/* whether these @bytes, which kvgpu_remote_image_bytes() has counted, are a fat binary */
bool kvgpu_remote_image_is_fat(const void *data, size_t bytes);

/*
 * How many of the @bytes of a fat binary, which kvgpu_remote_image_bytes() has counted, are left
 * without code that no driver takes on a device of compute capability @arch (35: 3.5): of those
 * left it takes what it takes of all. All are left if no code would be. @to: where they are stored,
 * if fewer than @bytes are left; NULL: they are only counted.
 */
size_t kvgpu_remote_image_fit(const void *data, size_t bytes, unsigned int arch, void *to);

/*
 * False: no kernel in the @bytes of an image prints or asserts. True: one may do so, or the image
 * is packed, or of no format that is known here.
 */
bool kvgpu_remote_image_may_print(const void *data, size_t bytes);

/* If @data is such a wrapper, in this process: the image that it points at; else @data. */
const void *kvgpu_remote_image_unwrap(const void *data);

#endif
