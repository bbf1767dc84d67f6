/* SPDX-License-Identifier: MIT */
/*
 * What the broker and one proxy say to each other beside the messages of tunnels: control messages,
 * and the head of a message that measures the link. Pure.
 * All but its comments is in KVGPU_REMOTE_RELAYS (remote/README.md).
 */
#ifndef KVGPU_CLUSTER_CONTROL_H
#define KVGPU_CLUSTER_CONTROL_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "tags.h"

enum control_kind { CONTROL_HELLO = 1, CONTROL_OPEN, CONTROL_ALIVE, CONTROL_END };

struct control {
	uint32_t kind, tunnel;
	uint64_t version;
	uint64_t key[2]; /* CONTROL_OPEN: the tunnel's */
	uint8_t secret[SECRET_BYTES];
};
static_assert(offsetof(struct control, version) == 8 && offsetof(struct control, key) == 16 &&
		      offsetof(struct control, secret) == 32 && sizeof(struct control) == 64,
	      "layout of a control message");

/* bytes of a piece inside of a message: EAGER_MAX at most; measuring begins with EAGER_LEAST */
enum { EAGER_MAX = 64 << 10, EAGER_LEAST = 4096 };

struct measure_head {
	/* .bytes of data are in this message, or with .apart in a message of their own behind it */
	uint32_t bytes, apart;
	/* over: the last message, which tells .eager and .overhead */
	uint32_t over, overhead;
	uint64_t eager;
};
static_assert(offsetof(struct measure_head, over) == 8 &&
		      offsetof(struct measure_head, eager) == 16 &&
		      sizeof(struct measure_head) == 24,
	      "layout of the head of a message that measures");

#endif
