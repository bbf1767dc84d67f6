/* SPDX-License-Identifier: MIT */
/*
 * Read a payload that came, not beyond its end, and write one that goes, not beyond its room. Parts
 * are 8-aligned; the writer puts zeros between.
 */
#ifndef KVGPU_REMOTE_CURSOR_H
#define KVGPU_REMOTE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rest of one payload: 8-aligned, in memory where no peer writes. */
struct kvgpu_remote_cursor {
	const uint8_t *at;
	size_t left;
};

/*
 * Copy the next @n bytes, and skip their padding. False: there are not so many, and none was taken.
 */
bool kvgpu_remote_take(struct kvgpu_remote_cursor *in, void *to, size_t n);
/* The same without a copy: return where the bytes are; NULL: there are not so many. */
const void *kvgpu_remote_take_bytes(struct kvgpu_remote_cursor *in, uint64_t n);
/* Return a string of @n bytes with its only zero at the end; NULL: there is no such string. */
const char *kvgpu_remote_take_string(struct kvgpu_remote_cursor *in, uint64_t n);

/* A payload that is being written. */
struct kvgpu_remote_reply {
	uint8_t *at; /* 8-aligned */
	size_t used, room;
};

/* Return room for @n bytes, zeroed and 8-aligned; NULL: there is none left. */
void *kvgpu_remote_put(struct kvgpu_remote_reply *out, size_t n);
/* Append @n bytes; false: there is no room for them, and nothing was appended. */
bool kvgpu_remote_put_bytes(struct kvgpu_remote_reply *out, const void *from, size_t n);

/* Whether [at, at + bytes) is within an arena of @arena bytes. */
bool kvgpu_remote_in_arena(uint64_t at, uint64_t bytes, uint64_t arena);

#endif
