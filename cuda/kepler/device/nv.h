/* SPDX-License-Identifier: MIT */
/*
 * Inside of the nouveau device. The caller serializes all functions of one device (device.h) but
 * for nv_poll(), nv_host_done() and nv_cause(), which any thread calls.
 *
 * Locks: a device's `check_lock`, below; `buffers_lock` (memory.c) for the list of all buffers of
 * the process; `gpus_lock` (nouveau.c) for the GPUs that were found. The functions here take and
 * release them, and hold one at a time.
 */
#ifndef KVGPU_CUDA_NV_H
#define KVGPU_CUDA_NV_H

#include <nouveau.h>
#include <pthread.h>
#include <stddef.h>

#include "device.h"
#include "methods.h"
#include "places.h"

enum {
	/* the kernel takes 1024 buffers in a submission, and each submission names all buffers */
	MAX_BUFFERS = 1000,
	LAUNCH_SLOTS = 64,
	SLOT_BYTES = 8192,
	SLOT_RELEASE = 256,
	SLOT_CONST0 = 512,
	JOB_WORDS = 128,
	/* so few that they fit into the pushbuffers: libdrm need not wait for room */
	MAX_IN_FLIGHT = 64,
	/* few pushbuffers: the kernel maps and unmaps each of them */
	PUSH_BYTES = 64 * 1024,
	PUSH_BUFFERS = 2,
};

struct nv_buffer {
	/* .bo, .d and .next are read by threads of other devices, too, with buffers_lock */
	struct nouveau_bo *bo;
	enum device_place kind;
	bool shared; /* further small pieces may be put into it */
	unsigned int index;
	struct nv_device *d;
	struct nv_buffer *next; /* memory.c: all buffers of the process */
	struct places places;
};

struct nv_memory {
	struct place place; /* first member: a pointer to it is cast */
	struct device_memory base;
	struct nv_buffer *buffer;
};

/*
 * Any thread reads *.done, and .channel once .live is true. nv_host_done() writes QUEUE_HOST's
 * *.done. All else is the caller's (device.h).
 */
struct nv_queue {
	struct nouveau_object *channel, *copy, *compute;
	struct nouveau_pushbuf *push;
	uint64_t seq;
	volatile uint32_t *done; /* low half of the last finished work's number */
	uint64_t done_va;
	/*
	 * The channel is made, and stays until the device is closed. nv_poll() reads this on any
	 * thread, with __atomic.
	 */
	bool live;
	bool refused; /* QUEUE_COPY can't be had, and is not tried again */
};

struct nv_slot {
	uint64_t seq;
	uint32_t payload;
};

struct nv_device {
	struct device base;
	int fd;
	struct nouveau_drm *drm;
	struct nouveau_device *dev;
	struct nouveau_client *client;
	struct nv_queue queue[NR_QUEUES];
	struct nv_memory *marks;
	struct nv_buffer *buffer[MAX_BUFFERS];
	struct nouveau_pushbuf_refn refs[MAX_BUFFERS];
	unsigned int nr_refs;
	struct moment cleared; /* last fills of new buffers: later work waits for them */
	uint32_t nr_smx;
	/* set by open(): buffers of video memory can be moved; whether they are away */
	bool moves, away;
	struct nv_memory *ring, *local;
	uint32_t local_per_warp;
	unsigned int local_warps;
	uint64_t code, headers, samplers; /* what launches last told the compute channel */
	/*
	 * Guards .slot, .launched, .checked, .trapped and .cause. The thread that submits reads
	 * .slot and .launched without it, and writes a slot's .payload without it, before the
	 * slot's launch. nv_cause() sleeps with it, and polls wait then.
	 */
	pthread_mutex_t check_lock;
	struct nv_slot slot[LAUNCH_SLOTS];
	uint64_t launched, checked;
	bool trapped;
	int log; /* set by open(); negative: not readable */
	enum device_cause cause;
};

static inline struct nv_device *nv(struct device *d)
{
	return (struct nv_device *)d;
}

static inline struct nv_memory *nv_memory(struct device_memory *m)
{
	return (struct nv_memory *)((char *)m - offsetof(struct nv_memory, base));
}

/*
 * memory.c. Allocate other memory than PLACE_HOST only when QUEUE_COMPUTE is open: the GPU clears
 * each new buffer of video memory. A piece of a buffer that is given out again is not cleared.
 */
enum device_status nv_alloc(struct device *d, enum device_place place, uint64_t size,
			    struct device_memory **out);
void *nv_view(struct device *d, struct device_memory *m);
void nv_release(struct device *d, struct device_memory *m);
enum device_status nv_move(struct device *d, bool away);
void nv_memory_close(struct nv_device *d);

/* queue.c. nv_marks_open() needs .marks; call it before any queue is opened or polled. */
void nv_marks_open(struct nv_device *d);
enum device_status nv_queue_open(struct nv_device *d, enum device_queue q);
bool nv_copies_beside(struct device *d);
void nv_queue_close(struct nv_device *d, enum device_queue q);
/*
 * Begin a piece of work: make room for JOB_WORDS, name all buffers, let the GPU wait for @after and
 * for the clearing of new buffers.
 */
enum device_status nv_begin(struct nv_device *d, enum device_queue q, const struct moment *after);
void nv_emit(struct nv_device *d, enum device_queue q, enum subchannel subc, uint32_t mthd,
	     const uint32_t *words, unsigned int n);
#define EMIT(d, q, subc, mthd, ...)                                                    \
	do {                                                                           \
		const uint32_t words_[] = { __VA_ARGS__ };                             \
		nv_emit(d, q, subc, mthd, words_, sizeof(words_) / sizeof(words_[0])); \
	} while (0)
enum device_status nv_submit(struct nv_device *d, enum device_queue q, uint64_t *seq);
/* the word that the launch in @slot writes when its grid is complete */
volatile uint32_t *nv_release_word(struct nv_device *d, unsigned int slot);
enum device_status nv_poll(struct device *d, enum device_queue q, uint64_t seq, bool look);
uint64_t nv_host_begin(struct device *d);
void nv_host_done(struct device *d, uint64_t seq);
/* sleeps between looks; returns nv_poll()'s answer */
enum device_status nv_wait(struct nv_device *d, enum device_queue q, uint64_t seq);

/* log.c */
void nv_log_open(struct nv_device *d);
void nv_log_close(struct nv_device *d);
enum device_cause nv_cause(struct device *d);

/* copy.c */
enum device_status nv_copy(struct device *d, enum device_queue q, const struct moment *after,
			   const struct device_copy *c, uint64_t *seq);
enum device_status nv_fill(struct device *d, enum device_queue q, const struct moment *after,
			   const struct device_fill *f, uint64_t *seq);
enum device_status nv_stamp(struct device *d, enum device_queue q, const struct moment *after,
			    uint64_t va, uint32_t payload, uint64_t *seq);

/* launch.c */
enum device_status nv_launch(struct device *d, const struct moment *after,
			     const struct device_launch *l, uint64_t *seq);
enum device_status nv_launch_open(struct nv_device *d);

#endif
