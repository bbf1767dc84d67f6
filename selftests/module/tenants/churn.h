/* SPDX-License-Identifier: GPL-2.0-only */
/* vGPUs that come and go while others work. */
#ifndef KVGPU_TENANTS_CHURN_H
#define KVGPU_TENANTS_CHURN_H

#include <stdint.h>
#include <sys/types.h>

#include "tenant.h"

enum { MAX_CHURN = 8 };

struct churn_shared;
struct churn {
	unsigned int nr;
	pid_t pid[MAX_CHURN];
	struct churn_shared *sh;
};

/*
 * Start @nr processes, each of which makes and removes one vGPU of 512 MiB until churn_end(). 0:
 * start none.
 */
void churn_begin(struct churn *c, unsigned int nr);
/*
 * End the processes. Return how many vGPUs were made. *@ns: time that making took, summed over all
 * vGPUs. *@failed: how often making failed.
 */
uint64_t churn_end(struct churn *c, uint64_t *ns, uint64_t *failed);

#endif
