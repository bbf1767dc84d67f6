/* SPDX-License-Identifier: MIT */
/* Frames as text, for logs and tests. */
#ifndef KVGPU_REMOTE_DUMP_H
#define KVGPU_REMOTE_DUMP_H

#include <stdint.h>
#include <stdio.h>

#include <remote/wire/frame.h>

struct kvgpu_remote_field {
	const char *name; /* NULL: the end of the list */
	/* offset in the payload; bytes of an element; how many elements */
	uint32_t at, bytes, count;
};

/* made by remote/api.py, from the first operation on */
struct kvgpu_remote_shape {
	const char *name;
	uint32_t bytes; /* of the fixed part */
	const struct kvgpu_remote_field *fields;
	uint64_t hash; /* of all that crosses, and the number of its meaning */
};

extern const struct kvgpu_remote_shape kvgpu_remote_shapes[];
extern const unsigned int kvgpu_remote_nr_shapes;

/* "?": not known here */
const char *kvgpu_remote_op_name(uint16_t op);
/* Print a frame as one line. @payload: as many bytes as @h says. */
void kvgpu_remote_dump(FILE *to, const struct kvgpu_remote_head *h, const void *payload);

#endif
