/* SPDX-License-Identifier: MIT */
/* Which GPUs a program gets. Pure. */
#ifndef KVGPU_CLUSTER_PLAN_H
#define KVGPU_CLUSTER_PLAN_H

#include <stdbool.h>

enum { HOSTS_MAX = 64, HOST_TEXT = 256, GPUS_UNKNOWN = -1 };

struct host {
	char name[HOST_TEXT];
	int gpus;		/* GPUS_UNKNOWN: it has to be asked */
	bool local;
};

/* One proxy. */
struct place {
	unsigned int host, device;
};

/*
 * "a,b:8" as hosts, the local one first: @self is its name, with or without a domain; "localhost"
 * is it, too. How many, or -1 and *why.
 */
int plan_hosts(const char *text, const char *self, struct host *hosts, const char **why);
/*
 * The first @gpus of all (0: all), host by host; with @share more than there are: round and round.
 * How many in @places, which has room for @most, or -1 and *why. All hosts' .gpus are known.
 */
int plan_places(const struct host *hosts, unsigned int nr_hosts, unsigned int gpus, bool share,
		struct place *places, unsigned int most, const char **why);

#endif
