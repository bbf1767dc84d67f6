/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the files of mmu/ share. */
#ifndef KVGPU_MODEL_MMU_STATE_H
#define KVGPU_MODEL_MMU_STATE_H

#include "tlb.h"

struct fault_record {
	uint32_t inst, va_lo, va_hi, info;
};

struct mmu {
	/* from FB_MMU_CTRL; changed with dma_lock held for writing */
	unsigned int big_shift;
	bool bypass;
	enum mem_target bypass_target;

	/* protects the list; tlb.c says what protects the lines of a TLB */
	pthread_mutex_t tlbs_lock;
	struct tlb *tlbs;

	/* fault.c: faults that wait to be posted. */
	pthread_mutex_t fault_lock;
	pthread_cond_t fault_wake;
	pthread_t fault_thread;
	/* fault_lock protects fault_stop to queue[] */
	bool fault_running, fault_stop;
	uint32_t queued; /* bit per unit with a record in queue[] */
	bool dropped;
	struct fault_record queue[32];

	struct peephole *peephole; /* protected by gk110.lock */
};

/*
 * memory.c: mem_read() and mem_write() without statistics. False: a byte is outside of memory. Call
 * with dma_lock held for reading.
 */
bool mem_fetch(struct gk110 *g, enum mem_target t, uint64_t addr, void *buf, size_t len);
bool mem_store(struct gk110 *g, enum mem_target t, uint64_t addr, const void *buf, size_t len);
/*
 * memcpy() in which aligned copies of 1, 2, 4 and 8 bytes are single accesses, as CPUs and engines
 * share this memory.
 */
void mem_copy_from(void *dst, const void *mem, size_t len);
void mem_copy_to(void *mem, const void *src, size_t len);

/* fault.c. fault_start() and fault_stop(): lock not held; the others: lock held. */
int fault_start(struct gk110 *g);
void fault_stop(struct gk110 *g);
void fault_reset(struct gk110 *g);
uint32_t fault_source_read(struct gk110 *g, uint32_t reg);
void fault_source_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);
void fault_record_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);

/* bar.c: the translations that @m names changed; lock held, dma_lock not held */
void bar_tlb_invalidated(struct gk110 *g, const struct tlb_match *m);

/*
 * space.c: load the space of the instance block that @word names (fields as in HOSTMEM_BAR1).
 * Takes dma_lock for reading.
 */
void space_load_word(struct gk110 *g, uint32_t word, struct mmu_space *s);

/* peephole.c; all but init and fini: lock held */
int peephole_init(struct gk110 *g);
void peephole_reset(struct gk110 *g);
void peephole_fini(struct gk110 *g);
uint32_t peephole_read(struct gk110 *g, uint32_t reg);
void peephole_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);
void peephole_bind(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be);

#endif
