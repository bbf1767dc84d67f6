/* SPDX-License-Identifier: MIT */
/* Children of a process, which may be another one's. */
#ifndef KVGPU_CLUSTER_CHILDREN_H
#define KVGPU_CLUSTER_CHILDREN_H

#include <sys/types.h>

/*
 * Write the children of @parent that have not ended to @to, @most at most; return how many. Those
 * whose /proc entry can't be read are left out.
 */
unsigned int children_of(pid_t parent, pid_t *to, unsigned int most);

#endif
