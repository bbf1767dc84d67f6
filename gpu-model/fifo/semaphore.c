// SPDX-License-Identifier: GPL-2.0-only
/*
 * Semaphores of PFIFO (cla16f.h SEMAPHORED). A channel may be unloaded in an acquire: all of the
 * acquire's state is in RAMFC.
 *
 * Open, the model chooses: GEQ compares the signed difference, so that counters may wrap; a 16-byte
 * release needs a 16-byte aligned address; reductions INC and DEC wrap at the payload, as the copy
 * engine's do.
 */
#include "fifo.h"

/* unit of the acquire's timeout and deadline (rnndb: PTIMER bits 10-41) */
#define NS_PER_TICK 1024

/* Words of RAMFC are the guest's: bits that the methods would not store are dropped, too. */
static uint64_t semaphore_va(const struct pbdma *p)
{
	return (uint64_t)W(p, RAMFC_SEMAPHORE_A) << 32 |
	       (W(p, RAMFC_SEMAPHORE_B) & HOST_SEMAPHORE_LOWER);
}

/* NULL: a fault was recorded. Call with dma_lock held for reading. */
static uint32_t *word_at(struct pbdma *p, uint64_t va, enum mmu_access acc)
{
	struct chan *c = &p->fc->c;
	struct mmu_seg seg;

	if (mmu_translate(p->g, &p->mmu, &c->vm, va & GENMASK_ULL(39, 0), 4, acc,
			  c->pb_priv ? MMU_PRIV_ACCESS : 0, &seg))
		return NULL;
	return seg.ptr;
}

/* ------------------------------------------------------------------ acquire */

static bool satisfied(unsigned int op, uint32_t mem, uint32_t payload)
{
	switch (op) {
	case HOST_SEMAPHORE_ACQUIRE:
		return mem == payload;
	case HOST_SEMAPHORE_ACQ_GEQ:
		return (int32_t)(mem - payload) >= 0;
	default:
		return mem & payload;
	}
}

static uint32_t ticks(struct gk110 *g)
{
	return ptimer_now(g) / NS_PER_TICK;
}

static void deadline_start(struct pbdma *p)
{
	uint32_t cfg = W(p, RAMFC_ACQUIRE);
	uint64_t timeout = (uint64_t)FIELD_GET(RAMFC_ACQUIRE_TIMEOUT_MAN, cfg)
			   << FIELD_GET(RAMFC_ACQUIRE_TIMEOUT_EXP, cfg);

	/* the deadline is a 32-bit time, of which half the range is the past */
	W(p, RAMFC_ACQUIRE_DEADLINE) =
		ticks(p->g) + (uint32_t)(timeout > INT32_MAX ? INT32_MAX : timeout);
}

static bool deadline_passed(struct gk110 *g, uint32_t config, uint32_t deadline)
{
	return (config & RAMFC_ACQUIRE_TIMEOUT_EN) && (int32_t)(ticks(g) - deadline) >= 0;
}

/* 1: the acquire succeeded, 0: not yet, -1: fault */
static int try_acquire(struct pbdma *p)
{
	uint32_t d = W(p, RAMFC_SEMAPHORE_D), mem = 0;
	const uint32_t *ptr;

	pthread_rwlock_rdlock(&p->g->dma_lock);
	ptr = word_at(p, semaphore_va(p), ACC_READ);
	if (ptr)
		mem = __atomic_load_n(ptr, __ATOMIC_ACQUIRE);
	pthread_rwlock_unlock(&p->g->dma_lock);
	if (!ptr)
		return -1;
	return satisfied(FIELD_GET(HOST_SEMAPHORE_OP, d), mem, W(p, RAMFC_SEMAPHORE_C));
}

static enum run blocked(const struct pbdma *p)
{
	return W(p, RAMFC_SEMAPHORE_D) & HOST_SEMAPHORE_SWITCH ? RUN_ACQUIRE_SWITCH : RUN_ACQUIRE;
}

enum run semaphore_retry(struct pbdma *p)
{
	int got = try_acquire(p);
	enum run r;

	if (got < 0)
		return RUN_HOST_FAULT;
	if (got) {
		W(p, RAMFC_SEMAPHORE_D) &= ~(uint32_t)RAMFC_SEMAPHORE_ACQ_PENDING;
		stat_inc(p->g, semaphores);
		return RUN_GO;
	}
	if (!deadline_passed(p->g, W(p, RAMFC_ACQUIRE), W(p, RAMFC_ACQUIRE_DEADLINE)))
		return blocked(p);
	deadline_start(p); /* the next timeout counts from here, not from the acknowledge */
	r = pbdma_raise0(p, PBDMA_INTR0_ACQUIRE);
	return r == RUN_GO ? blocked(p) : r;
}

struct acquire semaphore_acquire(const struct pbdma *p)
{
	return (struct acquire){ .va = semaphore_va(p),
				 .payload = W(p, RAMFC_SEMAPHORE_C),
				 .op = FIELD_GET(HOST_SEMAPHORE_OP, W(p, RAMFC_SEMAPHORE_D)),
				 .config = W(p, RAMFC_ACQUIRE),
				 .deadline = W(p, RAMFC_ACQUIRE_DEADLINE) };
}

bool semaphore_pretest(struct gk110 *g, struct mmu_client *client, const struct fchan *fc)
{
	const struct acquire *q = &fc->acq;
	bool ready = true;
	struct mmu_seg seg;

	if (deadline_passed(g, q->config, q->deadline))
		return true;
	pthread_rwlock_rdlock(&g->dma_lock);
	if (!mmu_translate(g, client, &fc->c.vm, q->va & GENMASK_ULL(39, 0), 4, ACC_READ,
			   MMU_PEEK | (fc->c.pb_priv ? MMU_PRIV_ACCESS : 0), &seg))
		ready = satisfied(q->op,
				  __atomic_load_n((const uint32_t *)seg.ptr, __ATOMIC_ACQUIRE),
				  q->payload);
	pthread_rwlock_unlock(&g->dma_lock);
	/*
	 * an address that can't be translated counts as ready: it faults when the channel is loaded
	 */
	return ready;
}

static enum run acquire(struct pbdma *p)
{
	int got = try_acquire(p);

	if (got < 0)
		return RUN_HOST_FAULT;
	if (got) {
		stat_inc(p->g, semaphores);
		return RUN_GO;
	}
	stat_inc(p->g, acquires_blocked);
	W(p, RAMFC_SEMAPHORE_D) |= RAMFC_SEMAPHORE_ACQ_PENDING;
	deadline_start(p);
	return blocked(p);
}

/* ------------------------------------------------------------------ release */

static uint32_t reduce(uint32_t d, uint32_t old, uint32_t arg)
{
	uint32_t flip = d & HOST_SEMAPHORE_UNSIGNED ? 0 : 1u << 31;
	bool less = (old ^ flip) < (arg ^ flip);

	switch (FIELD_GET(HOST_SEMAPHORE_RED_OP, d)) {
	case HOST_RED_MIN:
		return less ? old : arg;
	case HOST_RED_MAX:
		return less ? arg : old;
	case HOST_RED_XOR:
		return old ^ arg;
	case HOST_RED_AND:
		return old & arg;
	case HOST_RED_OR:
		return old | arg;
	case HOST_RED_ADD:
		return old + arg;
	case HOST_RED_INC:
		return old >= arg ? 0 : old + 1;
	default:
		return !old || old > arg ? arg : old - 1;
	}
}

/*
 * The payload is written last: a reader that sees it sees the time of the same release. Call with
 * dma_lock held for reading.
 */
static bool release_locked(struct pbdma *p, uint32_t d)
{
	bool red = FIELD_GET(HOST_SEMAPHORE_OP, d) == HOST_SEMAPHORE_REDUCTION;
	uint64_t va = semaphore_va(p), now = ptimer_now(p->g);
	const uint32_t rest[4] = { 0, 0, (uint32_t)now, (uint32_t)(now >> 32) };
	uint32_t *ptr, old;
	unsigned int i;

	for (i = d & HOST_SEMAPHORE_4BYTE || red ? 0 : 3; i > 0; i--) {
		ptr = word_at(p, va + 4 * i, ACC_WRITE);
		if (!ptr)
			return false;
		__atomic_store_n(ptr, rest[i], __ATOMIC_RELAXED);
	}
	ptr = word_at(p, va, red ? ACC_ATOMIC : ACC_WRITE);
	if (!ptr)
		return false;
	if (!red) {
		__atomic_store_n(ptr, W(p, RAMFC_SEMAPHORE_C), __ATOMIC_SEQ_CST);
		return true;
	}
	old = __atomic_load_n(ptr, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(ptr, &old, reduce(d, old, W(p, RAMFC_SEMAPHORE_C)),
					    false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return true;
}

static enum run release(struct pbdma *p, uint32_t d)
{
	bool ok;

	pthread_rwlock_rdlock(&p->g->dma_lock);
	ok = release_locked(p, d);
	pthread_rwlock_unlock(&p->g->dma_lock);
	if (!ok)
		return RUN_HOST_FAULT;
	stat_inc(p->g, semaphores);
	fifo_kick(p->g);
	return RUN_GO;
}

enum run semaphore_execute(struct pbdma *p, const struct pb_action *a)
{
	uint32_t d = a->data & ~(uint32_t)RAMFC_SEMAPHORE_ACQ_PENDING;

	W(p, RAMFC_SEMAPHORE_D) = d;
	switch (FIELD_GET(HOST_SEMAPHORE_OP, d)) {
	case HOST_SEMAPHORE_ACQUIRE:
	case HOST_SEMAPHORE_ACQ_GEQ:
	case HOST_SEMAPHORE_ACQ_AND:
		return acquire(p);
	case HOST_SEMAPHORE_RELEASE:
		if (!(d & HOST_SEMAPHORE_4BYTE) && (W(p, RAMFC_SEMAPHORE_B) & 0xf))
			break;
		return release(p, d);
	case HOST_SEMAPHORE_REDUCTION:
		if (FIELD_GET(HOST_SEMAPHORE_RED_OP, d) > HOST_RED_DEC)
			break;
		return release(p, d);
	}
	return pbdma_raise_method(p, PBDMA_INTR0_SEMAPHORE, a);
}
