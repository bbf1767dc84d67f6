/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second process beside the attacker's, with stock nouveau (tenant.c). tenant_start() forks it.
 * States and orders go through shared memory, without a lock: the tenant writes .state, the
 * attacker .order.
 */
#ifndef KVGPU_ATTACKS_TENANT_H
#define KVGPU_ATTACKS_TENANT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TENANT_SECRET_BYTES = 4096 };
enum tenant_state { TENANT_STARTING, TENANT_READY, TENANT_WORKING };
enum tenant_order { TENANT_WAIT, TENANT_WORK, TENANT_END };

/* memory that the attacker and the tenant's process share */
struct tenant_shared {
	volatile int state, order, error;
	volatile int chid;
	/* jobs submitted, and those whose copies came back right: one more or as many */
	volatile uint64_t secret_va, kicks, rounds;
	/*
	 * The tenant's secret: written here at the start, and again as read back from VRAM when the
	 * tenant is told to work.
	 */
	volatile uint8_t secret[TENANT_SECRET_BYTES];
};

struct tenant {
	struct tenant_shared *shared;
	pid_t pid;
};

/* Return false when the tenant's own work fails before any attack. */
bool tenant_start(struct tenant *t);
bool tenant_await(struct tenant *t, enum tenant_state state);
/* End the tenant. Return true when all its own checks passed. */
bool tenant_end(struct tenant *t);

#endif
