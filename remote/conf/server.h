/* SPDX-License-Identifier: MIT */
/* remoted.conf: the addresses at which the server listens, and the shares of its clients. */
#ifndef KVGPU_REMOTE_CONF_SERVER_H
#define KVGPU_REMOTE_CONF_SERVER_H

#include "conf.h"

#define REMOTED_CONF	"/etc/kvgpu/remoted.conf"
#define COMPILED_FOLDER "/run/kvgpu-remoted/compiled" /* which systemd's unit makes */

enum { CONF_LISTEN = 8, CONF_RULES = 256, CONF_GROUPS = 8, CONF_WHO = 128, CONF_GROUP = 33 };

enum conf_filter { FILTER_ON, FILTER_LOG, FILTER_OFF };

/* What a client may have: all its programs together, but .arena is for each program. */
struct conf_share {
	uint64_t memory; /* bytes of device memory; 0: all there is */
	uint64_t arena; /* bytes that a program and its server process share */
	uint64_t pinned; /* as remoted_conf_pinned() says */
	uint64_t host_memory; /* bytes that its server processes use; 0: no limit */
	uint64_t images; /* bytes of images that are kept for it; 0: none are */
	uint64_t compiled; /* the same of PTX that the GPU's library has compiled */
	uint64_t weight; /* weight in CPU time and in GPU time, 1 to 10000 */
	uint64_t programs; /* programs at once; 0: as remoted_conf_programs() says */
	uint64_t idle_s; /* after so long without a frame a program sleeps; 0: never */
	bool allow;
};

struct conf_rule {
	struct conf_share share; /* first, as the section's keys fill it */
	char who[CONF_WHO]; /* a name as of conf_is_who() */
};

/*
 * cluster/relay/forker.c makes a struct of zeros for confine(): each member that confine() reads
 * has to be right at 0, as is .users
 */
struct remoted_conf {
	struct conf_share share; /* first, as in a rule */
	char library[256];
	char listen[CONF_LISTEN][320];
	unsigned int nr_listen;
	char tls_folder[192];
	char compiled_folder[192]; /* empty: there is none */
	char admin[108];
	/* empty: no group */
	char admin_group[CONF_GROUP], socket_group[CONF_GROUP];
	uint64_t clients, newcomers, patience_s;
	/* most threads of a client's process that has a user number or a cgroup of its own */
	uint64_t tasks;
	/* the first of the user numbers for clients' processes; 0: all are of the server's user */
	uint64_t users;
	char groups[CONF_GROUPS][CONF_GROUP];
	unsigned int nr_groups;
	bool turns; /* clients with work for the GPU take turns */
	bool suspend_for_memory; /* idle programs sleep when others lack device memory */
	uint64_t suspend_memory; /* bytes of host memory for programs that sleep */
	enum conf_filter filter;
	struct conf_rule rules[CONF_RULES];
	unsigned int nr_rules;
};

extern const struct conf_form remoted_conf_form;

/* fill in the defaults */
void remoted_conf_default(struct remoted_conf *c);
/* The share of client @who: that of its rule, or that of all clients. */
const struct conf_share *remoted_conf_share(const struct remoted_conf *c, const char *who);
/* Bytes that a client's programs may have beyond their arenas, for pinned memory. */
uint64_t remoted_conf_pinned(const struct conf_share *share);
/*
 * How many programs of a client there may be at once: as its share says, else three quarters of all
 * places, or all if there are fewer than 4.
 */
uint64_t remoted_conf_programs(const struct remoted_conf *c, const struct conf_share *share);
/*
 * whether @who is "unix:UID", "vsock:CID", "tls:NAME" or "aperture:/path": a name has letters,
 * digits, - . _, a path has these and /
 */
bool conf_is_who(const char *who);

#endif
