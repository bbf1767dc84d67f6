/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every interleaving of two actors, up to a bound: with one switch, with two, and by seed with any
 * number.
 */
#ifndef KVGPU_HARNESS_EXPLORE_H
#define KVGPU_HARNESS_EXPLORE_H

#include "selftests/harness/chip/chip.h"
#include "selftests/harness/task.h"

typedef void (*explore_fn)(void *arg);

struct explore {
	const char *name;
	/* makes the world, which harness_policy() has no say in yet, and ends it */
	void (*begin)(const struct chip_manners *m);
	void (*end)(void);
	explore_fn one, other;		/* the actors */
	struct mm_struct **mm;		/* whose threads they are, once there is one */
};

void explore(const struct explore *e);

#endif
