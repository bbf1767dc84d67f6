/* SPDX-License-Identifier: MIT */
/* forward.c, forwarded.c: cuBLAS and cuRAND */
#ifndef KVGPU_REMOTE_SERVER_FORWARD_H
#define KVGPU_REMOTE_SERVER_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include <remote/wire/cursor.h>

#include "forwards.h"
#include "library.h"

struct server;

/* a handle of a library whose calls are forwarded */
struct forwarded {
	uint64_t id; /* 0: the row is free */
	uint64_t stream; /* the stream set in the library; 0: the null stream */
	bool on_device;
	void *what;
};
enum { FORWARDS_MAX = 64 }; /* handles of a program */
enum { FORWARD_UNTRIED, FORWARD_THERE, FORWARD_NOT };

struct forward {
	struct forwards *library; /* NULL: no library was wanted yet */
	uint8_t blas_is, rand_is; /* FORWARD_UNTRIED, FORWARD_THERE or FORWARD_NOT */
	struct forwarded rows[FORWARDS_MAX];
};

/* the row of handle @id; NULL: it is no handle of these libraries */
struct forwarded *forward_row(struct server *s, uint64_t id);
/*
 * Find the row of handle @id, which has to be of the current context, and set the stream with
 * number @stream in its library.
 */
CUresult forward_enter(struct server *s, unsigned int class, uint64_t id, uint64_t stream,
		       struct forwarded **row);
/* tell cuBLAS whether scalars are in device memory, if it was told otherwise before */
CUresult forward_mode(struct server *s, struct forwarded *f, bool on_device);
/* whether @ptr is an address that libcuda knows, or NULL */
bool forward_device(struct server *s, uint64_t ptr);
/* a scalar's address: that of the frame's field, or the device address that is in the field */
const void *forward_scalar(const void *field, uint32_t flags);
/* the library's @status as a result; for a queued call, as the CUDA error that is reported later */
CUresult forward_status(const struct server *s, unsigned int class, int status);
/*
 * A scalar that a call returns: the library writes it to .at. If forward_result() returns an error,
 * or has set s->frame.later, don't call the library. Else call forward_answer() afterwards; @r: the
 * library's status as a result.
 */
struct forward_result {
	void *at, *small, *here;
	size_t bytes;
};
CUresult forward_result(struct server *s, struct forwarded *f, uint32_t flags, uint64_t address,
			size_t bytes, struct kvgpu_remote_reply *out, struct forward_result *to);
CUresult forward_answer(struct server *s, struct forwarded *f, struct forward_result *to,
			CUresult r);
/* number @id ends: free its row */
void forward_forget(struct server *s, uint64_t id);
/* stream or context @id is about to end */
void forward_leave_stream(struct server *s, uint64_t id);
void forward_leave_context(struct server *s, uint64_t id);

#endif
