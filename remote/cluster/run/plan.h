/* SPDX-License-Identifier: MIT */
/* Which GPUs a program gets. Pure. */
#ifndef KVGPU_CLUSTER_PLAN_H
#define KVGPU_CLUSTER_PLAN_H

#include <stdbool.h>

enum { HOSTS_MAX = 64, HOST_TEXT = 256, GPUS_UNKNOWN = -1 };

struct host {
	char name[HOST_TEXT];
	int gpus;		/* GPUS_UNKNOWN: the host has to be asked */
	bool local;
};

/* The place of one proxy: a host and one of its GPUs. */
struct place {
	unsigned int host, device;
};

/*
 * Read hosts such as "a,b:8", and put the local one first. @self: the local host's name, with or
 * without a domain; "localhost" is that host, too. Return how many, or -1 and *why.
 */
int plan_hosts(const char *text, const char *self, struct host *hosts, const char **why);
/*
 * Take the first @gpus GPUs of all (0: all), host by host; with @share more than there are,
 * beginning again. Return how many are in @places, which has room for @most, or -1 and *why. .gpus
 * of all hosts has to be known.
 */
int plan_places(const struct host *hosts, unsigned int nr_hosts, unsigned int gpus, bool share,
		struct place *places, unsigned int most, const char **why);

#endif
