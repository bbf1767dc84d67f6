/* SPDX-License-Identifier: GPL-2.0-only */
/* core/'s own state: counts of register accesses, and the limit on notes. */
#ifndef KVGPU_MODEL_CORE_H
#define KVGPU_MODEL_CORE_H

#include "model.h"

struct core {
	const char *unit_of[256]; /* unit name per range */
	uint64_t rd[256], wr[256]; /* the bus's accesses per range; gk110.lock */
	/* accesses that got no answer, by register; gk110.lock */
	uint32_t *unanswered;
	bool running; /* for the thread that calls the life cycle */
	pthread_mutex_t note_lock; /* a leaf; protects the members from here on */
	uint64_t note_window;
	unsigned int notes, notes_dropped;
};

/* device.c: the units in the order of init, reset and start; stop and fini reverse it */
extern const struct unit_ops *const gk110_units[];
extern const unsigned int gk110_nr_units;

/* mmio.c: build range_of[]. -EINVAL: a range overlaps, or is wrong. */
int mmio_init(struct gk110 *g);

/* config.c: 0, or -EINVAL after gk110_err() */
int config_check(const struct gk110_config *cfg);

#endif
