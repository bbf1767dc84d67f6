/* SPDX-License-Identifier: GPL-2.0-only */
/* core/'s own state: counts of register accesses, and the limit on notes. */
#ifndef KVGPU_MODEL_CORE_H
#define KVGPU_MODEL_CORE_H

#include "model.h"

/* index 0 stands for registers without a range */
struct core {
	const char *unit_of[256];	/* unit name per range */
	uint64_t rd[256], wr[256];	/* the bus's accesses per range; gk110.lock */
	/*
	 * the bus's accesses by register, of registers without a range (sparse, GK110_BAR0_SIZE
	 * bytes); gk110.lock
	 */
	uint32_t *unlisted;
	bool running;			/* only for the thread that calls the life cycle */
	pthread_mutex_t note_lock;	/* a leaf; protects the members from here on */
	uint64_t note_window;		/* start of the current second, monotonic ns */
	unsigned int notes, notes_dropped;
};

/* device.c: the units in the order of init, reset and start; stop and fini reverse it */
extern const struct unit_ops *const gk110_units[];
extern const unsigned int gk110_nr_units;

/*
 * mmio.c: build range_of[], which is constant afterwards. -EINVAL: a range overlaps, or is wrong.
 */
int mmio_init(struct gk110 *g);

/* config.c: 0, or -EINVAL after gk110_err() */
int config_check(const struct gk110_config *cfg);

#endif
