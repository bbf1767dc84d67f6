// SPDX-License-Identifier: GPL-2.0-only
/*
 * PTIMER: a 56-bit counter that software sees as bits 60:5 of a 64-bit time, driven by crystal *
 * ratio, settable, with an alarm on its low word. With nouveau's ratio the time counts nanoseconds;
 * after a reset it stands still.
 *
 * The time is a linear host function's monotonic clock, kept in a sequence-locked record so
 * that any thread reads it without a lock. The model computes matches when a register that shows or
 * changes them is accessed. For a match that would raise an interrupt a thread wakes.
 */
#include <errno.h>
#include <stdlib.h>

#include <gk110/pfuse.h>
#include <gk110/pmc.h>
#include <gk110/ptimer.h>

#include "root.h"

#define TIME_BITS    ((PTIMER_TIME_HIGH_BITS << 32) | PTIMER_TIME_LOW_BITS)
#define ALARM_PERIOD (1ull << 32)
/*
 * Open: which clock the "external" source is. The model chooses 277 MHz, a reference clock in rnndb
 * gf100_pclock.xml.
 */
#define EXTERNAL_HZ 277000000ull

struct ptimer {
	/* time = base + (monotonic - since) * num / den */
	atomic_uint seq;
	atomic_uint_least64_t since, base, num, den;

	/*
	 * the next time at which TIME_LOW equals ALARM; gk110.lock protects this, changed and stop
	 */
	uint64_t next_match;
	pthread_cond_t changed;
	pthread_t thread;
	bool running, stop;
};

static uint64_t load(const atomic_uint_least64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static void store(atomic_uint_least64_t *v, uint64_t val)
{
	atomic_store_explicit(v, val, memory_order_relaxed);
}

/* the time without the mask TIME_BITS, so that clock_set() can go on from it */
static uint64_t time_at(const struct ptimer *t, uint64_t mono)
{
	uint64_t since = load(&t->since), den = load(&t->den);
	uint64_t elapsed = mono > since ? mono - since : 0;

	return load(&t->base) + (uint64_t)((unsigned __int128)elapsed * load(&t->num) / den);
}

static uint64_t time_raw(struct ptimer *t)
{
	unsigned int seq;
	uint64_t now;

	do {
		do
			seq = atomic_load_explicit(&t->seq, memory_order_acquire);
		while (seq & 1);
		now = time_at(t, mono_ns());
		atomic_thread_fence(memory_order_acquire);
	} while (atomic_load_explicit(&t->seq, memory_order_relaxed) != seq);
	return now;
}

uint64_t ptimer_now(struct gk110 *g)
{
	return time_raw(g->ptimer) & TIME_BITS;
}

/* Lock held. */
static void clock_set(struct gk110 *g, uint64_t base, uint64_t since)
{
	struct ptimer *t = g->ptimer;
	uint32_t src = reg_get(g, PTIMER_CLOCK_SOURCE);
	uint64_t num, den, hz = GK110_CRYSTAL_HZ * (FIELD_GET(PTIMER_CLOCK_SOURCE_MUL, src) + 1);

	hz /= FIELD_GET(PTIMER_CLOCK_SOURCE_DIV, src) + 1;
	if (src & PTIMER_CLOCK_SOURCE_EXT)
		hz = EXTERNAL_HZ;
	num = hz * (reg_get(g, PTIMER_CLOCK_MUL) & PTIMER_CLOCK_RATIO) * 32;
	den = (reg_get(g, PTIMER_CLOCK_DIV) & PTIMER_CLOCK_RATIO) * 1000000000ull;
	if (!den) { /* "should not be 0": in the model the counter then stops */
		num = 0;
		den = 1;
	}

	atomic_fetch_add_explicit(&t->seq, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	store(&t->since, since);
	store(&t->base, base);
	store(&t->num, num);
	store(&t->den, den);
	atomic_fetch_add_explicit(&t->seq, 1, memory_order_release);
}

/* Lock held. */
static void alarm_plan(struct gk110 *g, uint64_t now)
{
	uint32_t alarm = reg_get(g, PTIMER_ALARM) & PTIMER_TIME_LOW_BITS;

	now &= ~31ull;
	g->ptimer->next_match = now + (uint32_t)(alarm - (uint32_t)now);
	pthread_cond_signal(&g->ptimer->changed);
}

/* Lock held. */
static void alarm_update(struct gk110 *g)
{
	struct ptimer *t = g->ptimer;
	uint64_t now = time_raw(t);

	if (now >= t->next_match) {
		reg_set(g, PTIMER_INTR, PTIMER_INTR_ALARM);
		t->next_match += ((now - t->next_match) / ALARM_PERIOD + 1) * ALARM_PERIOD;
	}
	pmc_intr_set(g, PMC_INTR_TIMER, reg_get(g, PTIMER_INTR) & reg_get(g, PTIMER_INTR_EN));
}

/*
 * Monotonic ns of the next match that would raise an interrupt, 0 if that is past, or MONO_NEVER.
 * Lock held.
 */
static uint64_t wake_at(struct gk110 *g)
{
	struct ptimer *t = g->ptimer;
	uint64_t now = time_raw(t), num = load(&t->num), den = load(&t->den);
	unsigned __int128 wait;

	if (!(reg_get(g, PTIMER_INTR_EN) & PTIMER_INTR_ALARM) ||
	    (reg_get(g, PTIMER_INTR) & PTIMER_INTR_ALARM) || !num)
		return MONO_NEVER;
	if (now >= t->next_match)
		return 0;
	wait = ((unsigned __int128)(t->next_match - now) * den + num - 1) / num;
	return wait > INT64_MAX / 2 ? MONO_NEVER : mono_ns() + (uint64_t)wait;
}

static void *alarm_thread(void *arg)
{
	struct gk110 *g = arg;
	struct ptimer *t = g->ptimer;

	pthread_mutex_lock(&g->lock);
	while (!t->stop) {
		uint64_t at = wake_at(g);

		if (at > mono_ns())
			mono_cond_wait(&t->changed, &g->lock, at);
		if (!t->stop)
			alarm_update(g);
	}
	pthread_mutex_unlock(&g->lock);
	return NULL;
}

static uint32_t ptimer_read(struct gk110 *g, uint32_t reg)
{
	switch (reg) {
	case PTIMER_TIME_LOW:
		return ptimer_now(g);
	case PTIMER_TIME_HIGH:
		return ptimer_now(g) >> 32;
	case PTIMER_INTR:
		alarm_update(g);
		return reg_get(g, reg);
	default:
		return reg_get(g, reg);
	}
}

static void time_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	unsigned int shift = reg == PTIMER_TIME_HIGH ? 32 : 0;
	uint64_t mono = mono_ns(), now = time_at(g->ptimer, mono), mask = (uint64_t)be << shift;

	alarm_update(g);
	now = ((now & ~mask) | ((uint64_t)val << shift)) & TIME_BITS;
	clock_set(g, now, mono);
	alarm_plan(g, now);
}

static void ratio_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	uint64_t mono = mono_ns(), now = time_at(g->ptimer, mono);

	alarm_update(g);
	reg_merge(g, reg, val, be);
	clock_set(g, now, mono);
	pthread_cond_signal(&g->ptimer->changed);
}

static void ptimer_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	switch (reg) {
	case PTIMER_TIME_LOW:
	case PTIMER_TIME_HIGH:
		time_write(g, reg, val, be);
		break;
	case PTIMER_CLOCK_DIV:
	case PTIMER_CLOCK_MUL:
		ratio_write(g, reg, val, be & PTIMER_CLOCK_RATIO);
		break;
	case PTIMER_CLOCK_SOURCE:
		ratio_write(g, reg, val,
			    be & (PTIMER_CLOCK_SOURCE_MUL | PTIMER_CLOCK_SOURCE_DIV |
				  PTIMER_CLOCK_SOURCE_EXT));
		break;
	case PTIMER_ALARM:
		alarm_update(g);
		reg_merge(g, reg, val, be & PTIMER_TIME_LOW_BITS);
		alarm_plan(g, time_raw(g->ptimer));
		break;
	case PTIMER_INTR:
		alarm_update(g);
		reg_set(g, reg, reg_get(g, reg) & ~val);
		alarm_update(g);
		pthread_cond_signal(&g->ptimer->changed);
		break;
	case PTIMER_INTR_EN:
		reg_merge(g, reg, val, be & PTIMER_INTR_ALARM);
		alarm_update(g);
		pthread_cond_signal(&g->ptimer->changed);
		break;
	case PTIMER_MMIO_FAULT_ADDR:
		if (!val)
			reg_set(g, reg, 0);
		break;
	case PTIMER_MMIO_FAULT_DATA:
	case PTIMER_MMIO_FAULT_CODE:
		break;
	default:
		reg_merge(g, reg, val, be);
	}
}

static int ptimer_init(struct gk110 *g)
{
	struct ptimer *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	mono_cond_init(&t->changed);
	store(&t->den, 1);
	g->ptimer = t;
	return 0;
}

static void ptimer_reset(struct gk110 *g)
{
	reg_set(g, PTIMER_CLOCK_SOURCE, PTIMER_NS_SOURCE_MUL - 1);
	/* no boot script sets the ratio: without it the counter stands still until a driver does */
	reg_set(g, PTIMER_CLOCK_MUL, 0);
	reg_set(g, PTIMER_CLOCK_DIV, 0);
	reg_set(g, PTIMER_ALARM, 0);
	reg_set(g, PTIMER_INTR, 0);
	reg_set(g, PTIMER_INTR_EN, 0);
	reg_set(g, PTIMER_MMIO_FAULT_ADDR, 0);
	reg_set(g, PTIMER_MMIO_FAULT_DATA, 0);
	reg_set(g, PTIMER_MMIO_FAULT_CODE, 0);
	clock_set(g, 0, mono_ns());
	alarm_plan(g, 32); /* not at 0: the counter starts at the alarm's value */
	pmc_intr_set(g, PMC_INTR_TIMER, false);
}

static int ptimer_start(struct gk110 *g)
{
	int ret;

	g->ptimer->stop = false;
	ret = -pthread_create(&g->ptimer->thread, NULL, alarm_thread, g);
	g->ptimer->running = !ret;
	return ret;
}

static void ptimer_stop(struct gk110 *g)
{
	if (!g->ptimer->running)
		return;
	pthread_mutex_lock(&g->lock);
	g->ptimer->stop = true;
	pthread_cond_signal(&g->ptimer->changed);
	pthread_mutex_unlock(&g->lock);
	pthread_join(g->ptimer->thread, NULL);
	g->ptimer->running = false;
}

static void ptimer_fini(struct gk110 *g)
{
	pthread_cond_destroy(&g->ptimer->changed);
	free(g->ptimer);
	g->ptimer = NULL;
}

static const struct mmio_range ptimer_ranges[] = {
	{ PTIMER_BASE, PTIMER_SIZE, "PTIMER", ptimer_read, ptimer_write },
};

const struct unit_ops ptimer_unit = {
	.name = "PTIMER",
	.ranges = ptimer_ranges,
	.nr_ranges = ARRAY_SIZE(ptimer_ranges),
	.init = ptimer_init,
	.reset = ptimer_reset,
	.start = ptimer_start,
	.stop = ptimer_stop,
	.fini = ptimer_fini,
};
