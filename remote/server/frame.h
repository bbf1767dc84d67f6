/* SPDX-License-Identifier: MIT */
/* frame.c: what functions that carry out a frame share */
#ifndef KVGPU_REMOTE_SERVER_FRAME_H
#define KVGPU_REMOTE_SERVER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/cursor.h>
#include <remote/wire/frame.h>

#include "library.h"

struct server;

enum { SCRATCH_BYTES = 1 << 20 };

/* the frame that is served */
struct frame {
	struct kvgpu_remote_head head;
	const void *payload;
	uint64_t served; /* how many frames were served so far, with this one */
	bool later; /* the frame gets its answer later */
	bool again; /* the frame was put aside, and is served again */
	uint8_t *scratch;
	size_t scratch_used;
};

/* @n elements of @size bytes, zeroed, until the frame is done; NULL: too many */
void *frame_scratch(struct server *s, uint64_t n, size_t size);
bool is_zero(const void *p, size_t n);
/*
 * Read a list of @n handles from the frame, into frame_scratch(). NULL: the list is wrong or too
 * long.
 */
void *list_open(struct server *s, struct kvgpu_remote_cursor *in, unsigned int class, uint64_t n);
bool list_close(struct server *s, struct kvgpu_remote_reply *out, unsigned int class,
		const void *list, uint64_t n, uint64_t parent);
/*
 * Answer frame @head, if it has a completion slot; else keep the error @r, if none is kept yet, for
 * a later answer. If op_reports(), first send what kernels have printed; the answer then tells a
 * kept error, unless @r is CUDA_ERROR_NOT_READY.
 */
void frame_answer(struct server *s, const struct kvgpu_remote_head *head, CUresult r,
		  const struct kvgpu_remote_reply *out);

#endif
