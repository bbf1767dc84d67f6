/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stand-ins for the functions of the device that the MMU calls. Include this in one file of a test
 * that links nothing else of the device.
 */
#ifndef KVGPU_TEST_FAKE_DEVICE_H
#define KVGPU_TEST_FAKE_DEVICE_H

#include <stdarg.h>

#include "model.h"

static atomic_uint fake_intr_raised; /* bits of fifo_intr_raise() */
static atomic_uint fake_intr_updates;
static unsigned int fake_bar1_writes;
static uint64_t fake_bar1_last_off;

void fifo_intr_raise(struct gk110 *g, uint32_t bits)
{
	atomic_fetch_or(&fake_intr_raised, bits);
}

void fifo_intr_update(struct gk110 *g)
{
	atomic_fetch_add(&fake_intr_updates, 1);
}

void fifo_bar1_written(struct gk110 *g, uint64_t off, unsigned int size)
{
	if (!pthread_mutex_trylock(&g->lock))
		abort(); /* the contract says that the caller holds the lock */
	fake_bar1_writes++;
	fake_bar1_last_off = off;
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
}

void gk110_err(const char *fmt, ...)
{
}

#endif
