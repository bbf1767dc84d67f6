/* SPDX-License-Identifier: MIT */
/*
 * Which proxies of a machine have which GPU. The forker of each proxy has a listening socket in
 * the abstract namespace, whose name says so, and which the kernel removes when the process ends. A
 * network namespace (a container) has a registry of its own. The proxy calls registry_enter(), its
 * forker registry_answer(), `kvgpu-relay count` registry_print().
 */
#ifndef KVGPU_CLUSTER_REGISTRY_H
#define KVGPU_CLUSTER_REGISTRY_H

#include <stdbool.h>
#include <sys/types.h>

#define REGISTRY_SILENT "?"
/* of the GPUs of a machine, by whichever driver */
#define REGISTRY_NODES "/dev/{nvidia[0-9]*,dri/renderD*}"

/* REGISTRY_MOST: so many entries of a GPU are asked, as any local user can make entries */
enum { LABEL_TEXT = 41, ENTRY_TEXT = 108, REGISTRY_MOST = 500 };

struct registry_name {
	char uuid[33]; /* "-": not known */
	unsigned int device, pid; /* pid: tells the names apart */
	char label[LABEL_TEXT]; /* JOB:PROGRAM */
};

struct registry_gpu {
	unsigned int device;
	char uuid[33];
	unsigned int entries; /* that were found, also those that were not asked */
};

/* pure: the text of a name, without the zero byte in front; false: it is no such name */
void registry_write(const struct registry_name *n, char *text);
bool registry_read(const char *text, struct registry_name *n);
/* whether the entry is about that GPU */
bool registry_is_of(const struct registry_name *n, const char *uuid, unsigned int device);

/* Enter this process; return the socket, or -1: it is not listed. */
int registry_enter(const char *uuid, unsigned int device, const char *label);
/* end a connection of a process that looks at the socket */
void registry_answer(int registry);
/*
 * Whether @user may open one of these nodes (glob(3) with braces), by what user and groups the
 * machine knows; true if there is no node, as where GPUs are modelled.
 */
bool registry_may_open(uid_t user, const char *nodes);
/*
 * Print a line "user HOST DEVICE PID USER JOB PROGRAM" for each entry about these GPUs. An entry of
 * a user who may open no GPU of this machine is none: any local user can make entries. PID and USER
 * are the kernel's word. If an entry can't be asked, as its queue of lookers is full, USER is
 * REGISTRY_SILENT, and PID is what the entry's name says.
 */
void registry_print(const char *host, struct registry_gpu *gpus, unsigned int nr);

#endif
