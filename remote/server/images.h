/* SPDX-License-Identifier: MIT */
/*
 * images.c: large images that programs of one client have sent, in memory that the processes
 * serving them share. ../supervisor/tenants.c makes it and keeps it for the client's next program.
 * A process that was taken over may write anything there: what is found is hashed again.
 */
#ifndef KVGPU_REMOTE_SERVER_IMAGES_H
#define KVGPU_REMOTE_SERVER_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/frame.h>

struct images;

/* Make memory for @bytes of images. Return its descriptor, or -errno. */
int images_make(uint64_t bytes);
/* whether memory for @bytes has @size */
bool images_fit(uint64_t bytes, uint64_t size);
/*
 * Map the memory of @fd, or return NULL, as for memory of another size. @fd stays the caller's.
 */
struct images *images_map(int fd, uint64_t bytes);
void images_unmap(struct images *m, uint64_t bytes);
/*
 * Keep the @n bytes at @image under @hash, which is what its sender says. @bytes: as the memory was
 * made. The oldest ones make room. Not thread safe, but in any processes at once.
 */
void images_keep(struct images *m, uint64_t bytes, const uint8_t *hash, const void *image,
		 uint64_t n);
/* A copy, for free(), of an image of @n bytes that has @hash, with a 0 behind it; or NULL. */
uint8_t *images_find(const struct images *m, uint64_t bytes, const uint8_t *hash, uint64_t n);

#endif
