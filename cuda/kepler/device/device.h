/* SPDX-License-Identifier: MIT */
/*
 * The GPU as the driver API needs it. One device is one CUDA context: an address space with queues
 * that each work in order. `nouveau.c` is the real one.
 *
 * Order between queues: a piece of work is known by its number in its queue, and a struct moment
 * names a number for each queue. Work that is given a moment starts when all that it names is done.
 *
 * Threads: the caller calls one function of a device at a time, but for poll(), host_done() and
 * cause(): any thread calls these until close() begins, with or without the caller's lock. count(),
 * describe() and open() are called one at a time for all devices. Functions that submit work may
 * wait for earlier work, and so may alloc(), release() and copies_beside().
 */
#ifndef KVGPU_CUDA_DEVICE_H
#define KVGPU_CUDA_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * HOST: work of the CPU in a stream's order; this queue has no channel. The caller says by
 * host_done() that work is done.
 */
enum device_queue {
	QUEUE_COMPUTE,
	QUEUE_COPY,
	NR_GPU_QUEUES,
	QUEUE_HOST = NR_GPU_QUEUES,
	NR_QUEUES
};

enum device_status {
	DEVICE_OK = 0,
	DEVICE_BUSY,
	DEVICE_NONE, /* no such GPU, or it can't be opened */
	DEVICE_NO_MEMORY,
	DEVICE_LOST, /* the kernel killed a channel */
	DEVICE_TRAPPED, /* a launch ended without having completed */
	DEVICE_FAILED,
};

enum device_cause {
	CAUSE_UNKNOWN = 0,
	CAUSE_ADDRESS, /* an MMU fault, or an address out of range */
	CAUSE_MISALIGNED,
	CAUSE_SPACE, /* an operation that this kind of memory does not have */
	CAUSE_INSTRUCTION,
	CAUSE_PC,
	CAUSE_STACK,
	CAUSE_TIMEOUT,
};

struct moment {
	uint64_t seq[NR_QUEUES]; /* 0: no work in this queue */
};

struct device_facts {
	char name[64];
	uint16_t pci_id;
	uint32_t domain, bus, slot;
	uint32_t machine; /* driver/init.c sets it */
	uint64_t vram; /* bytes that all contexts together can use */
	uint32_t nr_smx;
	bool copies_apart; /* a copy engine has a runlist of its own: copies go beside kernels */
};

/* TILED: VRAM with the page kind that block-linear surfaces need */
enum device_place { PLACE_VRAM, PLACE_HOST, PLACE_TILED };

struct device_memory {
	uint64_t va, size;
	/*
	 * PLACE_HOST: where the CPU sees the memory. This is @va, where the CPU can map it there.
	 * Other places: NULL.
	 */
	void *map;
};

/*
 * A block-linear surface, and the position in it where a copy begins (.x in bytes). Blocks are one
 * GOB (64 bytes x 8 lines) wide.
 */
struct device_blocks {
	uint32_t width, height, depth; /* bytes, lines, slices */
	uint8_t log2_height, log2_depth; /* of a block, in GOBs and slices */
	uint32_t x, y, z;
};

struct device_copy {
	uint64_t src, dst;
	uint64_t src_pitch, dst_pitch; /* used when there are several lines */
	uint32_t width, lines; /* bytes and lines; all lines in one slice */
	bool src_tiled, dst_tiled; /* src or dst is the begin of a surface: */
	struct device_blocks src_blocks, dst_blocks;
};

struct device_fill {
	uint64_t dst, pitch;
	uint32_t value, unit; /* unit: 1, 2 or 4 bytes */
	uint32_t width, lines; /* width in units */
};

enum { DEVICE_BANKS = 8, DEVICE_CONST0_MAX = 7680 };

struct device_launch {
	/* begin of the module's code; addresses in the code are relative to it */
	uint64_t code;
	uint32_t entry;
	bool new_code; /* invalidate the cache of instructions */
	uint32_t grid[3], block[3];
	uint32_t regs, barriers, shared;
	/* bytes of each thread: .stack at the end of local memory, .local at its begin */
	uint32_t stack, local;
	uint32_t crs; /* call return stack, bytes of each warp */
	/* KiB of shared memory, of the SM's 64: 16, 32, 48; 0: 48. A larger .shared raises it */
	uint32_t l1_kb;
	bool banks_of_8;
	/* bank 0 with the parameters; the device adds windows, dimensions, the stack's top */
	const void *const0;
	uint32_t const0_size;
	struct {
		uint64_t va;
		uint32_t size;
	} bank[DEVICE_BANKS]; /* [0] is not used: bank 0 is .const0 */
	/* pools of headers and samplers (texture.h), and their sizes; 0: no pools */
	uint64_t headers, samplers;
	uint32_t nr_headers, nr_samplers;
};

struct device {
	const struct device_ops *ops;
};

struct device_ops {
	unsigned int (*count)(void);
	enum device_status (*describe)(unsigned int index, struct device_facts *out);
	/* @moves: move() will be called; it makes memory slower on nouveau (memory.c) */
	enum device_status (*open)(unsigned int index, bool moves, struct device **out);
	void (*close)(struct device *d);
	/* bytes of VRAM in use by all processes; where the kernel does not tell, by @d alone */
	uint64_t (*vram_used)(struct device *d);
	/*
	 * The same without an open device; 0 where the kernel does not tell. NULL: nobody else can
	 * have any.
	 */
	uint64_t (*in_use)(unsigned int index);
	enum device_status (*alloc)(struct device *d, enum device_place place, uint64_t size,
				    struct device_memory **out);
	/*
	 * Return a second CPU mapping of all of PLACE_HOST memory, in one piece and of one file, or
	 * NULL if that is not possible. The caller may move the mapping, and unmaps it; it may
	 * outlive the device. A device that has no such mappings leaves this member NULL.
	 */
	void *(*view)(struct device *d, struct device_memory *m);
	/* No unfinished work may use @m. */
	void (*release)(struct device *d, struct device_memory *m);
	/*
	 * Move all video memory of @d to the CPU's memory (@away), or back: nothing, where it is
	 * there. Addresses and contents stay. Call this while no work is unfinished, for a device
	 * that was opened with @moves. NO_MEMORY: there is no room; then too, memory can be used.
	 */
	enum device_status (*move)(struct device *d, bool away);
	/* Whether QUEUE_COPY can be used; to be asked before any work for it. */
	bool (*copies_beside)(struct device *d);
	/*
	 * @after may be NULL. *seq: the work's number in @q; after an error the number of earlier
	 * work, or 0.
	 */
	enum device_status (*copy)(struct device *d, enum device_queue q,
				   const struct moment *after, const struct device_copy *c,
				   uint64_t *seq);
	enum device_status (*fill)(struct device *d, enum device_queue q,
				   const struct moment *after, const struct device_fill *f,
				   uint64_t *seq);
	enum device_status (*launch)(struct device *d, const struct moment *after,
				     const struct device_launch *l, uint64_t *seq);
	/* writes @payload, 0, and the GPU's time in nanoseconds (64 bits) to @va */
	enum device_status (*stamp)(struct device *d, enum device_queue q,
				    const struct moment *after, uint64_t va, uint32_t payload,
				    uint64_t *seq);
	/*
	 * host_begin() returns the number of the next work in QUEUE_HOST. host_done() says that all
	 * work in it up to @seq is done. Any thread may call host_done(), with rising numbers.
	 */
	uint64_t (*host_begin)(struct device *d);
	void (*host_done)(struct device *d, uint64_t seq);
	/*
	 * @look: also ask the kernel whether the channel lives, which is slow. Return BUSY, OK,
	 * LOST or TRAPPED.
	 */
	enum device_status (*poll)(struct device *d, enum device_queue q, uint64_t seq, bool look);
	/* Why the device is LOST or TRAPPED; may sleep. A device may leave this member NULL. */
	enum device_cause (*cause)(struct device *d);
};

extern const struct device_ops device_nouveau;

/* cause.c: what an SM's error code means; pure */
enum device_cause cause_of_warp(uint32_t code);

#endif
