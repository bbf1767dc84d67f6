/* SPDX-License-Identifier: MIT */
/* How long an image for cuModuleLoadData() is, which takes no length. */
#ifndef KVGPU_REMOTE_IMAGE_H
#define KVGPU_REMOTE_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the fat binary, the ELF file or the PTX text (with its zero) at @data, of which @limit
 * may be read (SIZE_MAX: as many as it says). 0: it is none of these, or it says that it is longer.
 * All that its headers name lies within. The wrapper that nvcc puts before a fat binary holds a
 * pointer and is none of these.
 */
size_t kvgpu_remote_image_bytes(const void *data, size_t limit);

/* What such a wrapper of the process's own points at; else @data itself. */
const void *kvgpu_remote_image_unwrap(const void *data);

#endif
