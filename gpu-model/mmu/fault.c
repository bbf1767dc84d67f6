// SPDX-License-Identifier: GPL-2.0-only
/*
 * MMU faults: one record per unit, a bit per unit in the fault source register, and the PFIFO
 * interrupt that follows. A fault whose unit still has its bit set is lost and only raises PFIFO's
 * "dropped fault" bit.
 *
 * The thread that faults usually holds dma_lock, and lock comes before dma_lock, so a fault never
 * waits for lock: when lock is busy the record is queued for the thread of this unit.
 *
 * Bits 5:4 of the info word are unknown and stay 0, as do the target bits of the instance word.
 */
#include <errno.h>
#include <string.h>

#include <linux/bitfield.h>

#include <gk110/mmu.h>

#include "state.h"

static struct fault_record encode(const struct mmu_client *c, const struct mmu_space *s,
				  uint64_t va, enum mmu_reason why, enum mmu_access acc)
{
	uint64_t page = va & ~(uint64_t)(GK110_PAGE - 1);

	return (struct fault_record){
		.inst = s ? FIELD_PREP(GMMU_FAULT_INST_ADDR, s->inst >> 12) : 0,
		.va_lo = page,
		.va_hi = page >> 32,
		.info = FIELD_PREP(GMMU_FAULT_INFO_REASON, why) |
			(c->gpc < 0 ? GMMU_FAULT_INFO_HUB : 0) |
			(acc != ACC_READ ? GMMU_FAULT_INFO_WRITE : 0) |
			FIELD_PREP(GMMU_FAULT_INFO_CLIENT, c->client) |
			(c->gpc < 0 ? 0 : FIELD_PREP(GMMU_FAULT_INFO_GPC, c->gpc)),
	};
}

/* Lock held. */
static void post(struct gk110 *g, unsigned int unit, const struct fault_record *f)
{
	uint32_t pending = reg_get(g, GMMU_FAULT_SOURCE);

	if (pending & BIT(unit)) {
		fifo_intr_raise(g, GMMU_PFIFO_INTR_DROPPED_FAULT);
		return;
	}
	reg_set(g, GMMU_FAULT_INST(unit), f->inst);
	reg_set(g, GMMU_FAULT_VA_LO(unit), f->va_lo);
	reg_set(g, GMMU_FAULT_VA_HI(unit), f->va_hi);
	reg_set(g, GMMU_FAULT_INFO(unit), f->info);
	reg_set(g, GMMU_FAULT_SOURCE, pending | BIT(unit));
	fifo_intr_update(g);
}

/* Post the queued faults. Lock held. */
static void drain(struct gk110 *g)
{
	struct mmu *m = g->mmu;
	struct fault_record queue[GMMU_FAULT_UNITS];
	unsigned int u;
	uint32_t queued;
	bool dropped;

	pthread_mutex_lock(&m->fault_lock);
	queued = m->queued;
	dropped = m->dropped;
	memcpy(queue, m->queue, sizeof(queue));
	m->queued = 0;
	m->dropped = false;
	pthread_mutex_unlock(&m->fault_lock);
	for (u = 0; u < GMMU_FAULT_UNITS; u++)
		if (queued & BIT(u))
			post(g, u, &queue[u]);
	if (dropped)
		fifo_intr_raise(g, GMMU_PFIFO_INTR_DROPPED_FAULT);
}

static void enqueue(struct gk110 *g, unsigned int unit, const struct fault_record *f)
{
	struct mmu *m = g->mmu;

	pthread_mutex_lock(&m->fault_lock);
	if (m->queued & BIT(unit)) {
		m->dropped = true;
	} else {
		m->queue[unit] = *f;
		m->queued |= BIT(unit);
	}
	pthread_cond_signal(&m->fault_wake);
	pthread_mutex_unlock(&m->fault_lock);
}

void mmu_fault(struct gk110 *g, struct mmu_client *c, const struct mmu_space *s, uint64_t va,
	       enum mmu_reason why, enum mmu_access acc, unsigned int flags)
{
	struct fault_record f = encode(c, s, va, why, acc);
	unsigned int unit = c->unit % GMMU_FAULT_UNITS;
	bool locked = flags & MMU_LOCKED;

	atomic_fetch_add_explicit(&c->faults, 1, memory_order_relaxed);
	stat_inc(g, mmu_faults);
	gk110_note(g, "MMU fault: %s unit 0x%02x, %s at 0x%010llx, reason %d, instance 0x%010llx",
		   c->name ? c->name : "?", unit, acc == ACC_READ ? "read" : "write",
		   (unsigned long long)va, why, (unsigned long long)(s ? s->inst : 0));
	if (!locked && pthread_mutex_trylock(&g->lock)) {
		enqueue(g, unit, &f);
		return;
	}
	drain(g); /* keep the order of faults */
	post(g, unit, &f);
	if (!locked)
		pthread_mutex_unlock(&g->lock);
}

uint32_t fault_source_read(struct gk110 *g, uint32_t reg)
{
	drain(g);
	return reg_get(g, GMMU_FAULT_SOURCE);
}

void fault_source_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	reg_set(g, GMMU_FAULT_SOURCE, reg_get(g, GMMU_FAULT_SOURCE) & ~val);
	fifo_intr_update(g);
}

/* The fault records are read-only. */
void fault_record_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
}

static void *fault_main(void *arg)
{
	struct gk110 *g = arg;
	struct mmu *m = g->mmu;

	pthread_mutex_lock(&m->fault_lock);
	while (!m->fault_stop) {
		if (!m->queued) {
			pthread_cond_wait(&m->fault_wake, &m->fault_lock);
			continue;
		}
		/* gk110.lock is taken before fault_lock, never inside it */
		pthread_mutex_unlock(&m->fault_lock);
		pthread_mutex_lock(&g->lock);
		drain(g);
		pthread_mutex_unlock(&g->lock);
		pthread_mutex_lock(&m->fault_lock);
	}
	pthread_mutex_unlock(&m->fault_lock);
	return NULL;
}

int fault_start(struct gk110 *g)
{
	struct mmu *m = g->mmu;
	int ret;

	m->fault_stop = false;
	ret = pthread_create(&m->fault_thread, NULL, fault_main, g);
	m->fault_running = !ret;
	return -ret;
}

void fault_stop(struct gk110 *g)
{
	struct mmu *m = g->mmu;

	if (!m->fault_running)
		return;
	pthread_mutex_lock(&m->fault_lock);
	m->fault_stop = true;
	pthread_cond_signal(&m->fault_wake);
	pthread_mutex_unlock(&m->fault_lock);
	pthread_join(m->fault_thread, NULL);
	m->fault_running = false;
}

void fault_reset(struct gk110 *g)
{
	struct mmu *m = g->mmu;
	unsigned int u;

	pthread_mutex_lock(&m->fault_lock);
	m->queued = 0;
	m->dropped = false;
	pthread_mutex_unlock(&m->fault_lock);
	reg_set(g, GMMU_FAULT_SOURCE, 0);
	for (u = 0; u < GMMU_FAULT_UNITS * GMMU_FAULT_STRIDE; u += 4)
		reg_set(g, GMMU_FAULT_BASE + u, 0);
}
