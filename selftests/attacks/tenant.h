/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KVGPU_ATTACKS_TENANT_H
#define KVGPU_ATTACKS_TENANT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { TENANT_SECRET_BYTES = 4096 };
enum tenant_state { TENANT_STARTING, TENANT_READY, TENANT_WORKING };
enum tenant_order { TENANT_WAIT, TENANT_WORK, TENANT_END };

/* between the attacker and the tenant's process */
struct tenant_shared {
	volatile int state, order, error;
	volatile int chid;
	volatile uint64_t secret_va, rounds;
	/* put in at the start; what the tenant reads back when told to work */
	volatile uint8_t secret[TENANT_SECRET_BYTES];
};

struct tenant {
	struct tenant_shared *shared;
	pid_t pid;
};

/* false when the tenant itself does not get along with the card */
bool tenant_start(struct tenant *t);
bool tenant_await(struct tenant *t, enum tenant_state state);
/* true when all the tenant's own checks were right to its end */
bool tenant_end(struct tenant *t);

#endif
