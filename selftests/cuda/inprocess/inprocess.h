/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside of the devices that are in the process. Each opened device is a chip with memory of its
 * own, at addresses that no other open one has.
 */
#ifndef KVGPU_SELFTESTS_INPROCESS_H
#define KVGPU_SELFTESTS_INPROCESS_H

#include <pthread.h>
#include <stdatomic.h>

#include <cuda/kepler/device/device.h>
#include <gr/gr.h>
#include <gr/sm.h>

enum {
	MAX_IN_FLIGHT = 64,
	SLOT_BYTES = 8192,
	SLOT_CONST0 = 512,
};

struct fake;
struct fake_vm;

/* a physical memory, seen at @va */
struct arena {
	uint8_t *bytes;
	int file; /* the host's; of video memory, -1 */
	uint64_t va, size;
	struct in_memory *first; /* by address */
};

struct in_memory {
	struct device_memory base;
	struct arena *arena;
	uint64_t at;
	bool tiled;
	struct in_memory *away; /* in host memory, where its contents are meanwhile; or NULL */
	struct in_memory *next;
};

enum job_kind { JOB_COPY, JOB_FILL, JOB_STAMP, JOB_LAUNCH };

struct in_stamp {
	uint64_t va;
	uint32_t payload;
};

struct in_launch {
	uint64_t qmd, code, local_base, local_per_sm;
	uint64_t headers, samplers; /* textures; 0 of each: none */
	uint32_t nr_headers, nr_samplers;
};

struct job {
	enum job_kind kind;
	struct moment after;
	union {
		struct device_copy copy;
		struct device_fill fill;
		struct in_stamp stamp;
		struct in_launch launch;
	};
};

struct in_queue {
	struct in_device *d;
	enum device_queue which;
	pthread_t thread;
	bool running;
	struct mmu_client client;
	struct job job[MAX_IN_FLIGHT];
	uint64_t seq; /* of the last submitted work */
	atomic_uint_least64_t done; /* of the last finished one */
	atomic_uint_least64_t since; /* when the work under way began, in ns; 0: none */
	atomic_bool dead;
};

struct in_device {
	struct device base;
	unsigned int gpu;
	bool moves; /* video memory can be moved: see cuda/kepler/device/memory.c */
	struct in_device *next; /* chip.c: all that are open */
	struct fake *f;
	struct fake_vm *vm;
	struct gk110 *g;
	struct mmu_space space;
	struct arena vram, host;
	struct in_queue queue[NR_QUEUES];
	pthread_mutex_t lock; /* of queues: seq, job; with what is waited for */
	pthread_cond_t change;
	bool quit;
	atomic_bool trapped;
	atomic_int cause; /* enum device_cause */
	struct device_memory *slots, *local;
	uint64_t local_per_warp;
	unsigned int local_warps;
	struct pacer pacer;
	atomic_bool stop; /* stays false: nothing preempts */
};

static inline struct in_device *in(struct device *d)
{
	return (struct in_device *)d;
}

/* chip.c */
enum { MAX_GPUS = 16 };
unsigned int in_nr_gpus(void);
uint64_t in_vram_size(void); /* of a GPU, in bytes */
bool in_chip_open(struct in_device *d);
void in_chip_close(struct in_device *d);
void in_map(struct in_device *d, const struct in_memory *m, bool there);
uint64_t in_now(void); /* ns */
uint64_t in_setting(const char *name, uint64_t otherwise);
bool in_verbose(void);

/* memory.c */
uint64_t in_vram_used(struct device *d);
enum device_status in_alloc(struct device *d, enum device_place place, uint64_t size,
			    struct device_memory **out);
void *in_view(struct device *d, struct device_memory *m);
void in_release(struct device *d, struct device_memory *m);
enum device_status in_move(struct device *d, bool away);

/*
 * card.c: bytes in use by all processes that share the card. card_take(): false: there is no room,
 * or the file can't be had, which is said.
 */
bool card_take(unsigned int gpu, uint64_t bytes);
void card_give(unsigned int gpu, uint64_t bytes);
uint64_t card_used(unsigned int gpu);

/* queue.c */
bool in_queue_open(struct in_device *d, enum device_queue which);
void in_queues_close(struct in_device *d);
enum device_status in_submit(struct in_device *d, enum device_queue q, const struct moment *after,
			     const struct job *j, uint64_t *seq);
uint64_t in_host_begin(struct device *d);
void in_host_done(struct device *d, uint64_t seq);
enum device_status in_poll(struct device *d, enum device_queue q, uint64_t seq, bool look);
/* until all work of the queue is done, or a queue is dead (DEVICE_LOST) */
enum device_status in_drain(struct in_device *d, enum device_queue q);

/* work.c: false: the queue is lost */
bool in_work(struct in_queue *q, const struct job *j);
enum device_status in_copy(struct device *d, enum device_queue q, const struct moment *after,
			   const struct device_copy *c, uint64_t *seq);
enum device_status in_fill(struct device *d, enum device_queue q, const struct moment *after,
			   const struct device_fill *f, uint64_t *seq);
enum device_status in_stamp(struct device *d, enum device_queue q, const struct moment *after,
			    uint64_t va, uint32_t payload, uint64_t *seq);

/* launch.c */
bool in_run(struct in_queue *q, const struct in_launch *l);
enum device_status in_launch(struct device *d, const struct moment *after,
			     const struct device_launch *l, uint64_t *seq);

#endif
