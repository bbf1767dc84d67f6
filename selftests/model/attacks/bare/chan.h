/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels: instance block in VRAM, ring and pushbuffer in host memory; runlists and preempts; work
 * and the wait for its end.
 */
#ifndef KVGPU_BARE_CHAN_H
#define KVGPU_BARE_CHAN_H

#include "space.h"

/*
 * Where a channel's own things are, counted from the start of its 64 KiB of the address space.
 * BARE_VA_FREE is an address, behind the 64 KiB of all channels.
 */
enum {
	BARE_VA_RING = 0x1000,
	BARE_VA_PUSH = 0x2000,
	BARE_VA_SEMAPHORE = 0xf000,
	BARE_VA_FREE = 0x100000,
	BARE_PUSH_BYTES = 0x8000
};

struct bare_chan {
	struct bare_gpu *g;
	unsigned int id, runlist;
	uint64_t inst;
	uint64_t userd_bar1; /* offset of the doorbell page entry in BAR1 */
	uint32_t *ring, *push;
	volatile uint32_t *semaphore;
	uint64_t push_va, ring_va, semaphore_va;
	uint32_t put, words, seq;
};

struct bare_chan_config {
	unsigned int id, runlist;
	bool hce_priv; /* RAMFC bit that allows physical copies */
	/* put @userd into RAMFC and not the address of the channel's own doorbell memory */
	bool userd_forged;
	enum bare_target userd_target;
	uint64_t userd;
	/*
	 * Address of the graphics context, for the instance block. 0: the block has none, and its
	 * pointer is 0.
	 */
	uint64_t gr_ctx;
};

/*
 * Create a channel in address space @s, bind and enable it. Call after bare_take_over(), or with
 * @g->vram_next set.
 */
void bare_chan_create(struct bare_gpu *g, struct bare_space *s, const struct bare_chan_config *cfg,
		      struct bare_chan *c);
/*
 * Write the words of RAMFC that a new channel needs, and leave the rest of the instance block. The
 * caller has set g, inst, ring_va and id of @c.
 */
void bare_chan_write_ramfc(struct bare_chan *c, uint64_t userd, enum bare_target userd_target,
			   bool hce_priv);
void bare_chan_bind(struct bare_chan *c);
/*
 * Disable, preempt and unbind the channel. The caller has taken it out of the runlist before.
 * Return false when the preempt did not end.
 */
bool bare_chan_destroy(struct bare_chan *c);

/*
 * Submit @count @entries as a runlist: channel ids, or a bare_tsg_entry() in front of its members.
 * Memory for the list is taken from VRAM.
 */
bool bare_runlist(struct bare_gpu *g, unsigned int runlist, const uint32_t *entries,
		  unsigned int count);
bool bare_runlist_at(struct bare_gpu *g, unsigned int runlist, enum bare_target t, uint64_t addr,
		     unsigned int count);
uint32_t bare_tsg_entry(unsigned int tsg, unsigned int members);
bool bare_preempt(struct bare_gpu *g, bool tsg, unsigned int id);

/*
 * Append a method to the pushbuffer. bare_ring() makes what was appended one ring entry and rings
 * the doorbell.
 */
void bare_method(struct bare_chan *c, uint32_t subch, uint32_t mthd, const uint32_t *data,
		 unsigned int count);
#define bare_emit(c, subch, mthd, ...)                                                \
	do {                                                                          \
		const uint32_t data_[] = { __VA_ARGS__ };                             \
		bare_method(c, subch, mthd, data_, sizeof(data_) / sizeof(data_[0])); \
	} while (0)
void bare_copy(struct bare_chan *c, uint64_t src, uint64_t dst, uint32_t len,
	       uint32_t more_launch_bits);
void bare_ring(struct bare_chan *c);
/*
 * Append a semaphore release with the next number, @seq, and ring. *@semaphore is @seq when the
 * work has ended.
 */
void bare_submit(struct bare_chan *c);
/* Submit like bare_submit(), and wait. Return true when the work ended within @ms. */
bool bare_run(struct bare_chan *c, unsigned int ms);

#endif
