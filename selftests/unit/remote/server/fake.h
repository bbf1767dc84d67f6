/* SPDX-License-Identifier: MIT */
/*
 * A library that is none, and a port without a client: the server's decoder by itself. Each handle
 * that the library gives is memory that it frees when the handle is destroyed with what it hangs
 * on; one that is used later is found by the address sanitizer.
 */
#ifndef KVGPU_SELFTESTS_REMOTE_FAKE_H
#define KVGPU_SELFTESTS_REMOTE_FAKE_H

#include <remote/server/server.h>

extern unsigned int fake_calls;		/* of the library */
/* so many of the next questions whether work is done are answered with no */
extern unsigned int fake_busy;
extern CUresult fake_error;		/* of all calls, from now on */
extern unsigned int fake_answers;	/* to frames, and the last one */
extern struct kvgpu_remote_answer fake_last;
extern uint64_t fake_payload[KVGPU_REMOTE_PAYLOAD_MAX / 8];

/* a server with both, and its end */
void fake_begin(struct server *s, uint64_t arena_bytes);
void fake_end(struct server *s);
/* the arena is one memory for both sides, which the library can register */
void fake_share(struct server *s);
extern unsigned int fake_registered;	/* regions of memory */
extern unsigned int fake_blocks;	/* of pinned memory of the server's own */
/* it refuses, or registers and has no address on the device for it */
extern bool fake_no_register, fake_no_address;
/* a kernel node's parameters, of so many bytes; 0: one by one */
extern unsigned int fake_gives_packed;
/*
 * a frame as it comes from a client, and its answer's result; the gate may keep it: then that is 0
 */
CUresult fake_frame(struct server *s, uint16_t op, const void *payload, size_t n);

/* what a handle of the library's is */
struct fake {
	uint32_t magic, class;
	struct fake *next;
	/* graphs.c: of a node, a graph, a user object */
	CUgraphNodeType type;
	CUDA_HOST_NODE_PARAMS host;
	CUDA_MEMCPY3D copy;
	struct fake *in, *child;	/* its graph, and the one that it is */
	size_t before;			/* dependencies */
	struct fake_ref *refs;
	unsigned int count;
};
extern struct fake *fake_all;
void fake_graphs(struct library *library);
void fake_graphs_end(void);
/* reads and writes the host memory of a copy */
void fake_box(const CUDA_MEMCPY3D *c);
/* that the port was told of, by their kinds; and the last one's id */
extern unsigned int fake_events[8];
extern uint64_t fake_event_id;

/* what a good frame of an operation looks like */
enum { FAKE_TEXT = NR_CLASSES, FAKE_WORDS = 64 };
struct fake_shape {
	uint8_t words;			/* of its struct */
	/* the struct: nothing (CLASS_NONE), handles of this class, or bytes (FAKE_TEXT) */
	uint8_t behind;
	uint8_t class[FAKE_WORDS];	/* of each word of the struct; CLASS_NONE: no handle */
};
extern const struct fake_shape fake_shapes[KVGPU_REMOTE_OPS + 1];

/* what the made functions call */
CUresult fake_result(void);
void *fake_new(unsigned int class);
void fake_handle(unsigned int class, const void *handle);
void fake_handles(unsigned int class, void *const *handles, size_t n);
void fake_list(unsigned int class, void **handles, void *n);
void fake_string(const char *text);
void fake_read(const void *p, size_t n);
void fake_write(void *p, size_t n);
void fake_fill(struct library *library);
/*
 * made, and the rest of them by hand: cuBLAS and cuRAND. The handle's .count is its pointer mode,
 * .in its stream.
 */
void fake_fill_forwards(struct forwards *l);
void fake_forwards(struct server *s);
/* a call with that handle, whose stream lives */
void fake_forward(const void *handle);

#endif
