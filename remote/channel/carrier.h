/* SPDX-License-Identifier: MIT */
/* Inside of remote/channel: what a carrier does. */
#ifndef KVGPU_REMOTE_CARRIER_H
#define KVGPU_REMOTE_CARRIER_H

#include <remote/channel/channel.h>

struct channel_carrier {
	int (*send)(struct kvgpu_remote_channel *c, const struct kvgpu_remote_head *h, const struct iovec *parts, unsigned int n);
	int (*push)(struct kvgpu_remote_channel *c, uint64_t at, uint64_t bytes);
	int (*await)(struct kvgpu_remote_channel *c, unsigned int box, uint64_t seq, struct kvgpu_remote_answer *a,
		     const void **payload);
	void (*forked)(struct kvgpu_remote_channel *c);		/* in the child: takes no lock, some other thread may have had it */
	void (*close)(struct kvgpu_remote_channel *c);		/* and frees it */
};

struct port_carrier {
	int (*next)(struct kvgpu_remote_port *p, int64_t timeout_us, struct kvgpu_remote_head *h, const void **payload);
	int (*reply)(struct kvgpu_remote_port *p, const struct kvgpu_remote_head *to, uint32_t result, const void *payload,
		     size_t n);
	int (*give)(struct kvgpu_remote_port *p, uint64_t at, uint64_t bytes);
	int (*happen)(struct kvgpu_remote_port *p, const struct kvgpu_remote_happening *h, const void *bytes, size_t n);
	int (*call)(struct kvgpu_remote_port *p, const struct kvgpu_remote_happening *h, uint64_t invocation);
	void (*await_end)(struct kvgpu_remote_port *p);
	void (*close)(struct kvgpu_remote_port *p);
};

/* Where an answer lands. The thread that asked owns all but the state while it is EMPTY; then who delivers does. */
enum { BOX_EMPTY, BOX_SLEEPS, BOX_FULL, BOX_GONE };
struct box {
	uint32_t state;			/* atomic; the futex */
	struct kvgpu_remote_answer answer;
	void *payload;			/* KVGPU_REMOTE_PAYLOAD_MAX, from its first use on */
	bool taken;			/* atomic */
};

/* What all carriers' channels begin with. */
struct kvgpu_remote_channel {
	const struct channel_carrier *carrier;
	void *arena;
	uint64_t arena_bytes;
	bool shared;			/* the arena is one memory for both */
	uint64_t seq;			/* of the last frame; the sender's lock */
	bool gone;			/* atomic */
	kvgpu_remote_happened happened;
	void *ctx;
	struct box boxes[KVGPU_REMOTE_BOXES];
};

struct kvgpu_remote_port {
	const struct port_carrier *carrier;
	void *arena;
	uint64_t arena_bytes;
	bool shared;
	bool gone;			/* atomic */
};

/* box.c: by the thread that receives answers. NULL: there is no such box, or nobody waits. */
struct box *box_of(struct kvgpu_remote_channel *c, unsigned int box);
/* before a frame with that box goes out */
void box_prepare(struct kvgpu_remote_channel *c, unsigned int box);
void box_deliver(struct box *b);
/* waits for box_deliver() */
int box_await(struct kvgpu_remote_channel *c, unsigned int box, uint64_t seq, struct kvgpu_remote_answer *a, const void **payload);
/* no answer will come any more */
void channel_lost(struct kvgpu_remote_channel *c);
void boxes_free(struct kvgpu_remote_channel *c);

/* stream: a connected socket. Both take it, also where they fail. The server has read the client's hello */
int stream_connect(int fd, uint64_t version, kvgpu_remote_happened happened, void *ctx, struct kvgpu_remote_channel **out,
		   const char **why);
int stream_welcome(int fd, uint64_t version, uint64_t arena_bytes, const struct kvgpu_remote_hello *hello,
		   struct kvgpu_remote_port **out);

/*
 * address.c. What an address names: "unix:/path" and "aperture:/path" a socket, "aperture:/path" also a file or a device that is there,
 * with ",bell=ADDRESS" of a socket behind.
 */
enum address_kind { ADDRESS_STREAM, ADDRESS_APERTURE, ADDRESS_PLACE };
struct address {
	enum address_kind kind;
	char path[4096];
	char bell[256];		/* "unix:/path", "vsock:CID:PORT", or nothing */
};
/* 0, or -errno and why */
int address_parse(const char *text, struct address *a, const char **why);
/* A connected socket at "unix:/path", "vsock:CID:PORT"; a listening one, there, where CID may be "any". Or -errno, and why */
int address_connect(const char *socket, const char **why);
int address_listen(const char *socket, const char **why);

/* place.c: an aperture in a file or on a device */
int place_connect(const struct address *at, uint64_t version, kvgpu_remote_happened happened, void *ctx,
		  struct kvgpu_remote_channel **out, const char **why);

/* bytes that nobody has touched cost nothing; NULL: there is no room */
void *arena_map(uint64_t bytes);
void arena_unmap(void *arena, uint64_t bytes);

#endif
