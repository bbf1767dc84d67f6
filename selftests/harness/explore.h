/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interleavings of two actors: with one switch and with two, all of them or some (explore.c), and
 * by seed some with any number of switches.
 */
#ifndef KVGPU_HARNESS_EXPLORE_H
#define KVGPU_HARNESS_EXPLORE_H

#include "selftests/harness/chip/chip.h"
#include "selftests/harness/task.h"

typedef void (*explore_fn)(void *arg);

struct explore {
	const char *name;
	/*
	 * .begin makes the world; the policy with the switches is set after that. .end ends the
	 * world. Both run once for each interleaving.
	 */
	void (*begin)(const struct chip_manners *m);
	void (*end)(void);
	explore_fn one, other; /* the actors */
	/* The VMM's memory, which .begin makes: the actors are threads of that VMM. */
	struct mm_struct **mm;
};

void explore(const struct explore *e);

#endif
