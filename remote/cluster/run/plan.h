/* SPDX-License-Identifier: MIT */
/* Which GPUs a program gets. Pure. */
#ifndef KVGPU_CLUSTER_PLAN_H
#define KVGPU_CLUSTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HOSTS_MAX = 64, HOST_TEXT = 256, GPUS_MAX = 4096, UUID_TEXT = 33, GPUS_UNKNOWN = -1 };
#define LOAD_ANY UINT32_MAX

struct host {
	char name[HOST_TEXT];
	int gpus; /* GPUS_UNKNOWN: the host has to be asked */
	bool local;
};

/* A GPU, as its host's relay counts it. */
struct gpu {
	unsigned int host, device;
	/* bytes; both 0: the host was not asked */
	uint64_t total, left;
	unsigned int load; /* how many proxies other runs of kvgpu-run have for it */
	uint64_t memory; /* bytes that a scheduler gives of it; 0: it does not say */
	char uuid[UUID_TEXT]; /* "-": not known */
};

/* The place of one proxy: a host and one of its GPUs. */
struct place {
	unsigned int host, device;
	uint64_t memory; /* bytes that PROGRAM may have of it; 0: all */
	char uuid[UUID_TEXT];
};

struct wish {
	unsigned int gpus; /* 0: all that fit */
	bool share; /* several places may be one GPU */
	bool spread; /* else: host by host, in their order */
	uint64_t memory; /* bytes that each place needs; 0: any */
	unsigned int load; /* how many proxies of other runs a GPU may have; LOAD_ANY */
};

/* Check a host's name of @n characters, which goes into a command line. */
bool plan_is_name(const char *text, size_t n);
/*
 * Read hosts such as "a,b:8", and put the local one first. @self: the local host's name, with or
 * without a domain. @hosts has room for HOSTS_MAX. Return how many, or -1 and *why.
 */
int plan_hosts(const char *text, const char *self, struct host *hosts, const char **why);
/* GPUs of a host that was not asked; return how many are in @gpus */
unsigned int plan_assume(const struct host *h, unsigned int host, struct gpu *gpus);
/*
 * Choose GPUs that fit @w. @gpus are in the order of hosts; there are GPUS_MAX at most, and their
 * .host is below HOSTS_MAX. Packed: host by host in their order; spread: to the least load. With
 * .share a GPU may be chosen again. Return how many are in @places, which has room for @most, or -1
 * and *why; then *later: another run's end may change that.
 */
int plan_places(const struct gpu *gpus, unsigned int nr, const struct wish *w, struct place *places,
		unsigned int most, const char **why, bool *later);

#endif
