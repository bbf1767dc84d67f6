/* SPDX-License-Identifier: MIT */
/* Texts of Slurm's: lists of nodes, and what a node has of generic resources (GRES). Pure. */
#ifndef KVGPU_CLUSTER_SLURM_H
#define KVGPU_CLUSTER_SLURM_H

#include "plan.h"

/*
 * Read a list of nodes such as "node[1-3,7],gpu-[08-10]" into @hosts, which has room for HOSTS_MAX,
 * the node @self first. .gpus of each is GPUS_UNKNOWN. Return how many, or -1 and *why.
 */
int slurm_nodes(const char *text, const char *self, struct host *hosts, const char **why);
/* What a node has: */
struct slurm_gres {
	unsigned int gpus, shards;
};
/*
 * Read " Gres=gpu:k20m:2,shard:8(S:0)" in a line of "scontrol --oneliner show node"; false: there
 * is none.
 */
bool slurm_gres(const char *line, struct slurm_gres *g);
/* A job's part of a GPU of @total bytes, of whose shards it has @shards: bytes of it; 0: all. */
uint64_t slurm_part(const struct slurm_gres *node, unsigned int shards, uint64_t total);

#endif
