/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels: instance block, ring and pushbuffer in host memory, runlists, and what happens when
 * work goes wrong.
 */
#ifndef KVGPU_BARE_CHAN_H
#define KVGPU_BARE_CHAN_H

#include "space.h"

/* where a channel finds its own things in its address space */
enum {
	BARE_VA_RING = 0x1000,
	BARE_VA_PUSH = 0x2000,
	BARE_VA_SEMAPHORE = 0xf000,
	BARE_VA_FREE = 0x100000,
	BARE_PUSH_BYTES = 0x8000 };

struct bare_chan {
	struct bare_gpu *g;
	unsigned int id, runlist;
	uint64_t inst;
	uint64_t userd_bar1;		/* offset of the doorbell page entry in BAR1 */
	uint32_t *ring, *push;
	volatile uint32_t *semaphore;
	uint64_t push_va, ring_va, semaphore_va;
	uint32_t put, words, seq;
};

struct bare_chan_config {
	unsigned int id, runlist;
	bool hce_priv;			/* RAMFC bit that allows physical copies */
	/* put @userd into RAMFC instead of the channel's own doorbell memory */
	bool userd_forged;
	enum bare_target userd_target;
	uint64_t userd;
	/* where a graphics context is said to be; 0 for none, which is how the chip has it too */
	uint64_t gr_ctx;
};

/* a channel in a space of ours, after bare_take_over() */
void bare_chan_create(struct bare_gpu *g, struct bare_space *s, const struct bare_chan_config *cfg,
		      struct bare_chan *c);
/*
 * writes the words of an instance block that are not the address space; ring_va, id, runlist of @c
 * are set
 */
void bare_chan_write_ramfc(struct bare_chan *c, uint64_t userd, enum bare_target userd_target,
			   bool hce_priv);
void bare_chan_bind(struct bare_chan *c);
/*
 * off: disabled, preempted, unbound; the runlist must not hold it any more. false when the preempt
 * did not end.
 */
bool bare_chan_destroy(struct bare_chan *c);

/*
 * entries: channel ids, or a bare_tsg_entry() before its members. Memory for the list is taken from
 * VRAM.
 */
bool bare_runlist(struct bare_gpu *g, unsigned int runlist, const uint32_t *entries,
		  unsigned int count);
bool bare_runlist_at(struct bare_gpu *g, unsigned int runlist, enum bare_target t, uint64_t addr,
		     unsigned int count);
uint32_t bare_tsg_entry(unsigned int tsg, unsigned int members);
bool bare_preempt(struct bare_gpu *g, bool tsg, unsigned int id);

/* pushbuffer words, then one ring entry and the doorbell */
void bare_method(struct bare_chan *c, uint32_t subch, uint32_t mthd, const uint32_t *data,
		 unsigned int count);
#define bare_emit(c, subch, mthd, ...) do {						\
	const uint32_t data_[] = { __VA_ARGS__ };					\
	bare_method(c, subch, mthd, data_, sizeof(data_) / sizeof(data_[0]));		\
} while (0)
void bare_copy(struct bare_chan *c, uint64_t src, uint64_t dst, uint32_t len,
	       uint32_t more_launch_bits);
void bare_ring(struct bare_chan *c);
/* appends a release of the next number and rings: *@semaphore is @seq when the work has ended */
void bare_submit(struct bare_chan *c);
/* likewise; true when that was in time */
bool bare_run(struct bare_chan *c, unsigned int ms);

#endif
