/* SPDX-License-Identifier: MIT */
/*
 * The layout of an aperture, the memory that client and server share. Little endian. Both sides
 * have to be of one build.
 * A change of this text changes KVGPU_REMOTE_VERSION (remote/README.md).
 */
#ifndef KVGPU_REMOTE_LAYOUT_H
#define KVGPU_REMOTE_LAYOUT_H

#include <assert.h>

#include <remote/channel/label.h>
#include <remote/ring/box.h>
#include <remote/ring/ring.h>
#include <remote/wire/frame.h>

enum {
	/* alignment of the layout's parts; a kernel's page may be larger */
	APERTURE_PAGE = 4096,
	APERTURE_FRAMES = 16384,	/* slots of the ring of frames, client to server */
	/* slots of the ring of happenings and long answers, server to client */
	APERTURE_TOLD = 8192,
	APERTURE_ACKS = 1024,		/* slots of the ring of acks, client to server */
	APERTURE_TOLD_LONGEST = KVGPU_REMOTE_PAYLOAD_MAX + 16,
};

/* How client and server of a place find each other: attach.h. */
struct attach_page {
	/* written by the server */
	/* written after .bytes, which is valid then */
	_Alignas(64) uint64_t magic;
	uint64_t bytes;				/* of the whole aperture */
	_Alignas(64) uint64_t server;		/* generation << 8 | enum attach_server_says */
	uint64_t taken;				/* the ticket that .server is about */
	/* counts while the server lives, if there is no bell */
	_Alignas(64) uint64_t server_beat;
	/* written by the client */
	_Alignas(64) uint64_t client;		/* ticket << 8 | enum attach_client_says */
	uint64_t generation;			/* of the server at which the client knocks */
	uint64_t version;
	_Alignas(64) uint64_t client_beat;
};
static_assert(sizeof(struct attach_page) <= APERTURE_LABEL_AT, "a label lies behind it, in the same page");

struct aperture_word {
	_Alignas(64) uint32_t word;
};

#define APERTURE_RING(slots) \
	(sizeof(struct kvgpu_ring_shared) + (slots) * sizeof(union kvgpu_ring_slot))

struct aperture_layout {
	_Alignas(APERTURE_PAGE) struct attach_page attach;
	_Alignas(APERTURE_PAGE) uint8_t frames[APERTURE_RING(APERTURE_FRAMES)];
	_Alignas(APERTURE_PAGE) uint8_t told[APERTURE_RING(APERTURE_TOLD)];
	_Alignas(APERTURE_PAGE) uint8_t acks[APERTURE_RING(APERTURE_ACKS)];
	_Alignas(APERTURE_PAGE) struct aperture_word box_word[KVGPU_REMOTE_BOXES];
	_Alignas(APERTURE_PAGE) struct kvgpu_box_shared box[KVGPU_REMOTE_BOXES];
};

/* where the arena begins */
#define APERTURE_ARENA		(8ull << 20)
#define APERTURE_MIN		(APERTURE_ARENA + 4ull * KVGPU_REMOTE_PIECE_MAX)

/* the begin of an answer */
struct aperture_answer {
	/* so many frames of the ring `told` came before the answer */
	uint64_t told;
	/* of payload; if more than follow here: all of it is the last TOLD_ANSWER for this box */
	uint64_t bytes;
};

static_assert(offsetof(struct attach_page, magic) == 0 &&
		      offsetof(struct attach_page, bytes) == 8 &&
		      offsetof(struct attach_page, server) == 64 &&
		      offsetof(struct attach_page, taken) == 72 &&
		      offsetof(struct attach_page, server_beat) == 128 &&
		      offsetof(struct attach_page, client) == 192 &&
		      offsetof(struct attach_page, generation) == 200 &&
		      offsetof(struct attach_page, version) == 208 &&
		      offsetof(struct attach_page, client_beat) == 256,
	      "layout of the first page");
static_assert(offsetof(struct aperture_layout, attach) == 0 &&
		      offsetof(struct aperture_layout, frames) == 0x1000 &&
		      offsetof(struct aperture_layout, told) == 0x102000 &&
		      offsetof(struct aperture_layout, acks) == 0x183000 &&
		      offsetof(struct aperture_layout, box_word) == 0x194000 &&
		      offsetof(struct aperture_layout, box) == 0x1a4000 &&
		      sizeof(struct aperture_layout) == 0x5a4000 &&
		      sizeof(struct aperture_layout) <= APERTURE_ARENA,
	      "layout of an aperture");
static_assert(offsetof(struct aperture_answer, told) == 0 &&
		      offsetof(struct aperture_answer, bytes) == 8 &&
		      sizeof(struct aperture_answer) == 16 && sizeof(struct aperture_word) == 64,
	      "layout of answers");

/* operations of the ring `told` */
enum {
	TOLD_HAPPENING = 1,	/* a struct kvgpu_remote_happening and its bytes */
	TOLD_ANSWER,		/* flags: box; u64 seq and the payload */
};

#endif
