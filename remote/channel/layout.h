/* SPDX-License-Identifier: MIT */
/*
 * The layout of a shmem region, the memory that client and server share. Little endian. Constants
 * and layouts are in KVGPU_REMOTE_VERSION (remote/README.md).
 */
#ifndef KVGPU_REMOTE_LAYOUT_H
#define KVGPU_REMOTE_LAYOUT_H

#include <assert.h>

#include <remote/channel/label.h>
#include <remote/ring/completion.h>
#include <remote/ring/ring.h>
#include <remote/wire/frame.h>

enum {
	/* alignment of the layout's parts; a kernel's page may be larger */
	SHMEM_PAGE = 4096,
	SHMEM_FRAMES = 16384, /* slots of the ring of frames, client to server */
	/* slots of the ring of notifications and long answers, server to client */
	SHMEM_NOTIFICATIONS = 8192,
	SHMEM_ACKS = 1024, /* slots of the ring of acks, client to server */
	SHMEM_NOTIFICATION_LONGEST = KVGPU_REMOTE_PAYLOAD_MAX + 16,
};

/* How client and server of an endpoint find each other: attach.h. */
struct attach_page {
	/* written by the server */
	/* written after .bytes, which is valid then */
	_Alignas(64) uint64_t magic;
	uint64_t bytes; /* of the whole shmem region */
	uint64_t server_version; /* valid with .bytes */
	_Alignas(64) uint64_t server; /* generation << 8 | enum attach_server_says */
	uint64_t taken; /* the nonce that .server is about */
	/* counts while the server lives, if there is no doorbell */
	_Alignas(64) uint64_t server_beat;
	/* written by the client */
	_Alignas(64) uint64_t client; /* nonce << 8 | enum attach_client_says */
	/* of the server at which the client asks to connect */
	uint64_t generation;
	uint64_t version;
	_Alignas(64) uint64_t client_beat;
};
static_assert(sizeof(struct attach_page) <= SHMEM_LABEL_AT,
	      "a label lies behind it, in the same page");

struct shmem_word {
	_Alignas(64) uint32_t word;
};

#define SHMEM_RING(slots) \
	(sizeof(struct kvgpu_ring_shared) + (slots) * sizeof(union kvgpu_ring_slot))

struct shmem_layout {
	_Alignas(SHMEM_PAGE) struct attach_page attach;
	_Alignas(SHMEM_PAGE) uint8_t frames[SHMEM_RING(SHMEM_FRAMES)];
	_Alignas(SHMEM_PAGE) uint8_t notifications[SHMEM_RING(SHMEM_NOTIFICATIONS)];
	_Alignas(SHMEM_PAGE) uint8_t acks[SHMEM_RING(SHMEM_ACKS)];
	_Alignas(SHMEM_PAGE) struct shmem_word completion_word[KVGPU_REMOTE_COMPLETIONS];
	_Alignas(SHMEM_PAGE) struct kvgpu_completion_shared completion[KVGPU_REMOTE_COMPLETIONS];
};

/* where the arena begins */
#define SHMEM_ARENA (8ull << 20)
#define SHMEM_MIN   (SHMEM_ARENA + 4ull * KVGPU_REMOTE_PIECE_MAX)

/* the begin of an answer */
struct shmem_answer {
	/* so many frames of the ring `notifications` came before the answer */
	uint64_t notifications;
	/*
	 * of payload; if more than follow here: all of it is the last NOTIFICATION_ANSWER for this
	 * completion slot
	 */
	uint64_t bytes;
};

static_assert(offsetof(struct attach_page, magic) == 0 &&
		      offsetof(struct attach_page, bytes) == 8 &&
		      offsetof(struct attach_page, server_version) == 16 &&
		      offsetof(struct attach_page, server) == 64 &&
		      offsetof(struct attach_page, taken) == 72 &&
		      offsetof(struct attach_page, server_beat) == 128 &&
		      offsetof(struct attach_page, client) == 192 &&
		      offsetof(struct attach_page, generation) == 200 &&
		      offsetof(struct attach_page, version) == 208 &&
		      offsetof(struct attach_page, client_beat) == 256,
	      "layout of the first page");
static_assert(offsetof(struct kvgpu_ring_head, op) == 0 &&
		      offsetof(struct kvgpu_ring_head, flags) == 2 &&
		      offsetof(struct kvgpu_ring_head, len) == 4 &&
		      offsetof(union kvgpu_ring_slot, first.head) == 8 &&
		      offsetof(union kvgpu_ring_slot, first.payload) == 16 &&
		      offsetof(union kvgpu_ring_slot, next.payload) == 8 &&
		      sizeof(union kvgpu_ring_slot) == 64,
	      "layout of a ring's slots");
static_assert(offsetof(struct kvgpu_ring_shared, taken) == 0 &&
		      offsetof(struct kvgpu_ring_shared, consumer_word) == 64 &&
		      offsetof(struct kvgpu_ring_shared, producer_word) == 128 &&
		      offsetof(struct kvgpu_ring_shared, slot) == 256,
	      "layout of a ring");
static_assert(offsetof(struct kvgpu_completion_shared, seq) == 0 &&
		      offsetof(struct kvgpu_completion_shared, head) == 8 &&
		      offsetof(struct kvgpu_completion_shared, payload) == 16 &&
		      offsetof(struct kvgpu_completion_head, result) == 0 &&
		      offsetof(struct kvgpu_completion_head, len) == 4,
	      "layout of a completion slot");
static_assert(offsetof(struct shmem_layout, attach) == 0 &&
		      offsetof(struct shmem_layout, frames) == 0x1000 &&
		      offsetof(struct shmem_layout, notifications) == 0x102000 &&
		      offsetof(struct shmem_layout, acks) == 0x183000 &&
		      offsetof(struct shmem_layout, completion_word) == 0x194000 &&
		      offsetof(struct shmem_layout, completion) == 0x1a4000 &&
		      sizeof(struct shmem_layout) == 0x5a4000 &&
		      sizeof(struct shmem_layout) <= SHMEM_ARENA,
	      "layout of a shmem region");
static_assert(offsetof(struct shmem_answer, notifications) == 0 &&
		      offsetof(struct shmem_answer, bytes) == 8 &&
		      sizeof(struct shmem_answer) == 16 && sizeof(struct shmem_word) == 64,
	      "layout of answers");

/* operations of the ring `notifications` */
enum {
	NOTIFICATION_SHORT = 1, /* a struct kvgpu_remote_notification and its bytes */
	NOTIFICATION_ANSWER, /* flags: completion slot; u64 seq and the payload */
};

#endif
