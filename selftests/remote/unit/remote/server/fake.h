/* SPDX-License-Identifier: MIT */
/*
 * A library that does nothing, and a port without a client, to test the server's decoder alone.
 * Each handle of the library is memory that lives until fake_end(). Calls check that a handle is of
 * the library and of the right class. selftests/remote/flood has the library without the port, as a
 * libcuda.so.1.
 */
#ifndef KVGPU_SELFTESTS_REMOTE_FAKE_H
#define KVGPU_SELFTESTS_REMOTE_FAKE_H

#include <remote/server/server.h>

extern unsigned int fake_calls; /* number of calls of the library */
extern uint64_t fake_ends; /* ends of boxes in host memory with bytes that were copied */
/* So many of the next questions whether work is done get the answer no. */
extern unsigned int fake_busy;
extern CUresult fake_error; /* result of most calls from now on */
/* called by most calls, whose result it does not change any more; or NULL */
extern void (*fake_called)(void);
/*
 * Functions of streams and graphs go here instead of being called inside of the call that has them;
 * NULL: they are called there.
 */
extern void (*fake_later)(CUhostFn fn, void *data);
extern unsigned int fake_given; /* pieces of the arena that went to the client */
extern unsigned int fake_answers; /* number of answers to frames; fake_last is the last one */
extern struct kvgpu_remote_answer fake_last;
extern uint64_t fake_payload[KVGPU_REMOTE_PAYLOAD_MAX / 8];

/* Makes a server with the library and the port; fake_end() ends it. */
void fake_begin(struct server *s, uint64_t arena_bytes);
void fake_end(struct server *s);
/*
 * Makes the arena one memory for both sides, which the library can register, and which may grow by
 * FAKE_MORE, all that the client may have. What it held is gone.
 */
enum { FAKE_MORE = 4 << 20 };
void fake_share(struct server *s);
/* Lets the server share with others, of which there are none. */
void fake_others(struct server *s);
/* what the port's next frame is, as kvgpu_remote_next() returns it; NULL: there is none */
extern int (*fake_next)(struct kvgpu_remote_head *h, const void **payload);
/* the descriptor that came ahead of the next frame; negative: none */
extern int fake_lent;
extern unsigned int fake_registered; /* number of registered regions */
extern unsigned int fake_blocks; /* number of blocks of pinned memory that the server has */
/*
 * fake_no_register: registering fails. fake_no_address: registered memory has no address on the
 * device; fake_own_address: it has that of the CPU.
 */
extern bool fake_no_register, fake_no_address, fake_own_address;
/* Parameters of a kernel node are read back packed, with this many bytes. 0: one by one. */
extern unsigned int fake_gives_packed;
enum { FAKE_FUNCTIONS = 3 };
extern unsigned int fake_functions; /* of each module; FAKE_FUNCTIONS at most */
extern uint8_t fake_image[4]; /* the first bytes of the image that was loaded last */
/*
 * Serves a frame as if it came from a client. Returns the answer's result, or 0 if there is no
 * answer yet.
 */
CUresult fake_frame(struct server *s, uint16_t op, const void *payload, size_t n);

/* The value of all conditions of graphs, and how many bodies a node with one has at most. */
extern CUgraphConditionalHandle fake_condition;
enum { FAKE_BODIES = 4 };
/* the memory behind a handle of the library */
struct fake {
	uint32_t magic, class;
	struct fake *next;
	/* graphs.c: members of a node, a graph or a user object */
	CUgraphNodeType type;
	CUDA_HOST_NODE_PARAMS host;
	CUDA_MEMCPY3D copy;
	/* the graph of the node, and the child graph that the node is */
	struct fake *in, *child;
	struct fake *bodies[FAKE_BODIES]; /* of a node that has conditions */
	struct fake *nodes, *beside; /* first node of the graph; next node in the node's graph */
	size_t before; /* number of dependencies */
	struct fake_ref *refs;
	unsigned int count;
};
extern struct fake *fake_all;
/*
 * A graph with more nodes and references than that, those of its children counted, is not copied: a
 * graph that is added to itself again and again has twice as many each time.
 */
extern size_t fake_whole_most;
void fake_graphs(struct library *library);
void fake_graphs_end(void);
/* Reads and writes the host memory of the copy. */
void fake_box(const CUDA_MEMCPY3D *c);
/* Number of events that the port was told, by kind; and the id of the last one. */
extern unsigned int fake_notified[8];
extern uint64_t fake_event_id;
/* called while the client has an event that it is to acknowledge; NULL: nothing is */
extern void (*fake_in_call)(void);

/* The form of a good frame of each operation. */
enum { FAKE_TEXT = NR_CLASSES, FAKE_WORDS = 64 };
struct fake_shape {
	uint8_t words; /* words of the frame's struct */
	/*
	 * What follows the struct: nothing (CLASS_NONE), handles of this class, or bytes
	 * (FAKE_TEXT).
	 */
	uint8_t behind;
	/* of each word of the struct; CLASS_NONE: the word is no handle */
	uint8_t class[FAKE_WORDS];
};
extern const struct fake_shape fake_shapes[KVGPU_REMOTE_OPS + 1];

/*
 * The functions that fake.py makes call these. fake_fill() sets those functions. There is no device
 * memory: fake_read() looks at some of the bytes, fake_write() fills them with 0x11.
 */
CUresult fake_result(void);
void *fake_new(unsigned int class);
void fake_handle(unsigned int class, const void *handle);
void fake_handles(unsigned int class, void *const *handles, size_t n);
void fake_list(unsigned int class, void **handles, void *n);
void fake_string(const char *text);
void fake_read(const void *p, size_t n);
void fake_write(void *p, size_t n);
void fake_fill(struct library *library);
/* calls the function, or hands it to fake_later() */
void fake_run(CUhostFn fn, void *data);
/*
 * Sets all functions of the library: those of fake_fill() and those that are written by hand.
 * fake_start() and fake_stop() begin and end a time of use, after which there are no handles.
 */
void fake_library(struct library *library);
void fake_start(void);
void fake_stop(void);
#endif
