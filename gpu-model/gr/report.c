// SPDX-License-Identifier: GPL-2.0-only
/*
 * Semaphores that GR methods write: report semaphores of 3D and compute (cla197.h, cla1c0.h
 * SET_REPORT_SEMAPHORE_D), notifiers, conditional execution. A four-word report begins with two
 * words of value, and the time follows in two words. The value of a count of pixels is the payload
 * and 32 bits of count, that of another counter 64 bits (Mesa nvc0_query_hw.c reads them so), and
 * without a counter the payload and 0. Counts are 0 here, as nothing is drawn.
 *
 * Methods execute one after the other here, so reports have no preceding work to wait for. Open:
 * reductions of four-word semaphores; the model applies them to the first word.
 */
#include "gr.h"

#include <errno.h>
#include <time.h>

#include <linux/bitfield.h>
#include <gk110/qmd.h>

#define ACQUIRE_POLL_NS 20000

static uint32_t reduce(unsigned int op, bool is_signed, uint32_t old, uint32_t arg)
{
	bool less = is_signed ? (int32_t)old < (int32_t)arg : old < arg;

	switch (op) {
	case RED_ADD:
		return old + arg;
	case RED_MIN:
		return less ? old : arg;
	case RED_MAX:
		return less ? arg : old;
	case RED_INC:
		return old >= arg ? 0 : old + 1;
	case RED_DEC:
		return old == 0 || old > arg ? arg : old - 1;
	case RED_AND:
		return old & arg;
	case RED_OR:
		return old | arg;
	default:
		return old ^ arg;
	}
}

/* Reduce the word by compare and exchange, as other engines may access it at the same time. */
static int reduce_memory(struct gr_exec *x, struct mmu_client *who, const struct release *r)
{
	struct mmu_seg seg;
	int ret;

	pthread_rwlock_rdlock(&x->g->dma_lock);
	ret = mmu_translate(x->g, who, &x->c->vm, r->va, sizeof(uint32_t), ACC_ATOMIC, 0, &seg);
	if (!ret && seg.len >= sizeof(uint32_t)) {
		uint32_t *word = seg.ptr, old = __atomic_load_n(word, __ATOMIC_RELAXED);

		while (!__atomic_compare_exchange_n(
			word, &old, reduce(r->op, r->format == QMD_RED_FORMAT_S32, old, r->payload),
			true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
			;
	}
	pthread_rwlock_unlock(&x->g->dma_lock);
	return ret;
}

int semaphore_release(struct gr_exec *x, struct mmu_client *who, const struct release *r)
{
	uint64_t now = ptimer_now(x->g);
	uint32_t words[4] = { r->payload, 0, now, now >> 32 };
	int ret;

	if (r->reduce)
		ret = reduce_memory(x, who, r);
	else if (r->four_words)
		ret = mmu_write(x->g, who, &x->c->vm, r->va, words, sizeof(words), 0);
	else
		ret = mmu_write(x->g, who, &x->c->vm, r->va, words, sizeof(words[0]), 0);
	if (!ret) {
		stat_inc(x->g, semaphores);
		fifo_kick(x->g);
	}
	return ret;
}

/* ---------------------------------------------------------------- report semaphores */

static enum eng_ret report_acquire(struct gr_exec *x, uint64_t va, uint32_t payload, bool ge)
{
	struct timespec nap = { .tv_nsec = ACQUIRE_POLL_NS };

	for (;;) {
		uint32_t val;

		if (mmu_read(x->g, &x->gr->fe, &x->c->vm, va, &val, sizeof(val), 0))
			return ENG_FAULT;
		if (ge ? (int32_t)(val - payload) >= 0 : val == payload)
			return ENG_DONE;
		stat_inc(x->g, acquires_blocked);
		if (atomic_load(&x->c->stop))
			return ENG_AGAIN;
		nanosleep(&nap, NULL);
	}
}

static enum eng_ret report_release(struct gr_exec *x, struct release *r)
{
	if (r->va % (r->four_words ? 16 : 4))
		return trap_data_error(x, GR_DATA_ERROR_INVALID_ALIGNMENT);
	if (semaphore_release(x, &x->gr->fe, r))
		return ENG_FAULT;
	if (x->data & M_REPORT_AWAKEN)
		trap_notify(x->g);
	return ENG_DONE;
}

static enum eng_ret report_semaphore(struct gr_exec *x)
{
	uint32_t payload = state_get(x->gr, x->cls, M_REPORT_SEMAPHORE_C),
		 counter = FIELD_GET(M_REPORT_COUNTER, x->data);
	struct release r = {
		.va = state_addr(x->gr, x->cls, M_REPORT_SEMAPHORE_A),
		.payload = payload,
		.four_words = !(x->data & M_REPORT_ONE_WORD),
		.reduce = x->data & M_REPORT_RED_ENABLE,
		.op = FIELD_GET(M_REPORT_RED_OP, x->data),
		.format = FIELD_GET(M_REPORT_RED_SIGNED, x->data),
	};

	switch (FIELD_GET(M_REPORT_OPERATION, x->data)) {
	case M_REPORT_OPERATION_RELEASE:
		return report_release(x, &r);
	case M_REPORT_OPERATION_ACQUIRE:
		if (x->cls != GR_3D)
			return trap_data_error(x, GR_DATA_ERROR_INVALID_ENUM);
		return report_acquire(x, r.va, payload, x->data & M_REPORT_COMPARE_GE);
	case M_REPORT_OPERATION_REPORT:
		if (x->cls != GR_3D)
			return trap_data_error(x, GR_DATA_ERROR_INVALID_ENUM);
		r.reduce = false;
		if (counter != M_REPORT_COUNTER_NONE &&
		    (counter != M_REPORT_COUNTER_ZPASS || !r.four_words))
			r.payload = 0;
		return report_release(x, &r);
	default:
		trap_notify(x->g);
		return ENG_DONE;
	}
}

static const struct gr_action report_table[] = {
	{ M_REPORT_SEMAPHORE_D, M_REPORT_SEMAPHORE_D, 4, report_semaphore },
};
const struct gr_actions gr_actions_report = { report_table,
					      sizeof(report_table) / sizeof(report_table[0]) };

/* ---------------------------------------------------------------- notifiers */

/*
 * A notifier: {time 64, info 32, status}; status 0 is done (nouveau nvif cl506f-style notifiers;
 * open: info).
 */
static enum eng_ret notify(struct gr_exec *x)
{
	uint64_t now = ptimer_now(x->g), va = state_addr(x->gr, x->cls, M_SET_NOTIFY_A);
	uint32_t words[4] = { now, now >> 32, 0, 0 };

	if (va % 16)
		return trap_data_error(x, GR_DATA_ERROR_INVALID_ALIGNMENT);
	if (mmu_write(x->g, &x->gr->fe, &x->c->vm, va, words, sizeof(words), 0))
		return ENG_FAULT;
	if (x->data == M_NOTIFY_AWAKEN)
		trap_notify(x->g);
	return ENG_DONE;
}

static const struct gr_action common_table[] = {
	{ M_NOTIFY, M_NOTIFY, 4, notify },
};
const struct gr_actions gr_actions_common = { common_table,
					      sizeof(common_table) / sizeof(common_table[0]) };

/* ---------------------------------------------------------------- conditional execution */

bool render_enabled(struct gr_exec *x, bool *on, enum eng_ret *ret)
{
	uint32_t override = FIELD_GET(M_RENDER_OVERRIDE,
				      state_get(x->gr, x->cls, M_SET_RENDER_ENABLE_OVERRIDE));
	uint32_t mode =
		FIELD_GET(M_RENDER_ENABLE_MODE, state_get(x->gr, x->cls, M_SET_RENDER_ENABLE_C));
	uint64_t va = state_addr(x->gr, x->cls, M_SET_RENDER_ENABLE_A), rep[4] = { 0 };

	*on = override == M_RENDER_OVERRIDE_ALWAYS || (override == 0 && mode == M_RENDER_ALWAYS);
	if (override || mode <= M_RENDER_ALWAYS)
		return true;
	if (mode > M_RENDER_IF_NOT_EQUAL) {
		*ret = trap_data_error(x, GR_DATA_ERROR_INVALID_ENUM);
		return false;
	}
	/*
	 * A condition is one value, or two reports of 16 bytes whose first 8 bytes are compared
	 * (rnndb g80_defs COND_MODE).
	 */
	if (mmu_read(x->g, &x->gr->fe, &x->c->vm, va, rep, mode == M_RENDER_CONDITIONAL ? 8 : 24,
		     0)) {
		*ret = ENG_FAULT;
		return false;
	}
	if (mode == M_RENDER_CONDITIONAL)
		*on = rep[0] != 0;
	else
		*on = (rep[0] == rep[2]) == (mode == M_RENDER_IF_EQUAL);
	return true;
}
