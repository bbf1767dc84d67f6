/* SPDX-License-Identifier: MIT */
/*
 * What client and server send each other, little-endian: docs/remote.md. The structs of each
 * operation are made by remote/api.py (ops.h). Constants and layouts are in KVGPU_REMOTE_VERSION
 * (remote/README.md).
 */
#ifndef KVGPU_REMOTE_FRAME_H
#define KVGPU_REMOTE_FRAME_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* "gpuremt": of a client that wants a stream, and of each welcome */
#define KVGPU_REMOTE_MAGIC 0x746d6572757067ull
/* "gpureap": of a client that wants shared memory, and of a shmem region's first page */
#define KVGPU_REMOTE_MAGIC_SHMEM 0x70616572757067ull
/* "gpurely": of a relay, which wants the arena as memory that it shares with the server */
#define KVGPU_REMOTE_MAGIC_RELAY 0x796c6572757067ull
/* a place that is not in the arena: the bytes are in the frame or in the answer */
#define KVGPU_REMOTE_NOWHERE   UINT64_MAX
#define KVGPU_REMOTE_ARENA_MAX (1ull << 40)
#define KVGPU_REMOTE_IMAGE_MAX (4ull << 30)

enum {
	/* raise it if what all frames share means something else, with the same layouts */
	KVGPU_REMOTE_MEANING = 1,
	KVGPU_REMOTE_PAYLOAD_MAX = 128 << 10, /* bytes of a frame's or an answer's payload */
	/*
	 * A line of at most so many bytes for the client travels in the answer. Here and below:
	 * unless the GPU itself reaches the program's memory (pinned memory).
	 */
	KVGPU_REMOTE_INLINE_MAX = 2048,
	/* a line of at most so many bytes for the server travels in its frame */
	KVGPU_REMOTE_INLINE_IN_MAX = 8192,
	/* the same where the arena is one memory for both sides */
	KVGPU_REMOTE_INLINE_SHARED_MAX = 1024,
	/*
	 * Larger copies from and to host memory are cut, but for pinned memory that the GPU
	 * reaches. By way of a relay most lines are cut by its own size (.piece below).
	 */
	KVGPU_REMOTE_PIECE_MAX = 1 << 20,
	KVGPU_REMOTE_LIST_MAX = 4096, /* handles or parameters in a list */
	/* bytes of a string, with its zero: C++ names of kernels are long */
	KVGPU_REMOTE_STRING_MAX = 32 << 10,
	/* bytes of a kernel's parameters: the limit from CUDA 12.1 and sm_70 on */
	KVGPU_REMOTE_PARAMETERS_MAX = 32764,
	KVGPU_REMOTE_ATTRIBUTES_MAX = 32, /* attributes of a launch */
	KVGPU_REMOTE_HASH = 32, /* bytes of an image's SHA-256 */
	KVGPU_REMOTE_PART_MAX = 16 << 20, /* an image is sent in parts of so many bytes */
	KVGPU_REMOTE_COMPLETIONS = 1024, /* answers that may be waited for at once */
	KVGPU_REMOTE_TABLE_MAX = 1024, /* entries of a build's table */
};

/* Operations of the channel itself; those of the tables follow from 16 on. */
enum {
	/* payload: struct kvgpu_remote_ack; answers a notification */
	KVGPU_REMOTE_OP_ACK = 1,
	/*
	 * payload: struct kvgpu_remote_piece; its bytes follow, unless a relay shares the arena
	 * with this side. Not sent at a shmem region, where both sides have one arena
	 */
	KVGPU_REMOTE_OP_PUSH = 2,
	/*
	 * payload: struct kvgpu_remote_pull, for a relay: it brings the piece from the arena of
	 * another of the client's servers; the server gets OP_PUSH or OP_SPOILT instead
	 */
	KVGPU_REMOTE_OP_PULL = 3,
	/*
	 * from a relay, in the place of KVGPU_REMOTE_OP_PUSH, with the same payload: the piece
	 * can't be had, and the next frame fails with CUDA_ERROR_SYSTEM_NOT_READY
	 */
	KVGPU_REMOTE_OP_SPOILT = 4,
	/*
	 * The first frame of a client. Payload: struct kvgpu_remote_build, and the hash of each
	 * entry of its table, in the order of its operations. Answer: the server's struct, and a
	 * bit for each entry, in words: the server has it, too. A client that sends none has the
	 * server's table.
	 */
	KVGPU_REMOTE_OP_TABLE = 5,
	KVGPU_REMOTE_FIRST_OP = 16,
};

/* .table: the sum of the hashes */
struct kvgpu_remote_build {
	uint64_t version, table;
};

struct kvgpu_remote_head {
	uint64_t seq;
	uint16_t op;
	uint16_t completion; /* 0: no answer is wanted; n: it goes to completion slot n - 1 */
	uint32_t bytes; /* bytes of payload, a multiple of 8 */
};

struct kvgpu_remote_answer {
	uint64_t seq;
	uint32_t result; /* CUresult */
	uint32_t bytes;
};

struct kvgpu_remote_piece {
	uint64_t at, bytes; /* place and length in the arena */
};

/* Where a piece is that a relay is to bring from another proxy of the same job. */
struct kvgpu_remote_source {
	uint64_t at; /* in the arena there */
	uint64_t key[2]; /* .key of that connection's struct kvgpu_remote_relayed */
	uint32_t rank, tunnel; /* .rank and .tunnel of it */
};

struct kvgpu_remote_pull {
	struct kvgpu_remote_piece piece; /* where the bytes go */
	struct kvgpu_remote_source source;
};

struct kvgpu_remote_ack {
	uint64_t id;
};

/* What the server tells without being asked. */
enum kvgpu_remote_notify_kind {
	/* bytes for the client's standard output or error; value: 1 or 2 */
	KVGPU_REMOTE_NOTIFY_TEXT = 1,
	/*
	 * id: a function or a cross-server fence of the client's; value: CUresult for a callback.
	 * Then an ack
	 */
	KVGPU_REMOTE_NOTIFY_CALL = 2,
	/*
	 * id: a bounce buffer, the host memory of a graph's copy. FILL: the client puts its bytes
	 * into the arena; DRAIN: takes them out of there. Then an ack
	 */
	KVGPU_REMOTE_NOTIFY_FILL = 3,
	KVGPU_REMOTE_NOTIFY_DRAIN = 4,
	KVGPU_REMOTE_NOTIFY_FREE = 5, /* id: a bounce buffer that ends */
	/* id: a destructor of the client's to call. No ack */
	KVGPU_REMOTE_NOTIFY_GONE = 6,
	/* id: a function that no stream took, as no answer tells; value: why. No ack */
	KVGPU_REMOTE_NOTIFY_REFUSED = 7,
};

struct kvgpu_remote_notification {
	uint32_t kind, value;
	uint64_t id;
};

/*
 * The first message of each side, but at a place (../channel/attach.h). A server that refuses says
 * so in .result, and closes. For builds of other versions to understand each other, these two
 * structs up to .version, .result and its OTHER_VERSION stay as they are.
 */
struct kvgpu_remote_hello {
	uint64_t magic, version;
};

struct kvgpu_remote_welcome {
	uint64_t magic, version;
	uint64_t arena_bytes;
	uint32_t result;
	/*
	 * 1: the arena's descriptor travels with the welcome. In a relay's welcome to a client
	 * struct kvgpu_remote_relayed follows; in a server's to a relay nothing does.
	 */
	uint32_t relayed;
};

/* What a relay tells about its way to the server. */
struct kvgpu_remote_relayed {
	/* most lines are cut into pieces of this size or less, an eighth of the arena at most */
	uint32_t piece;
	uint32_t overhead; /* bytes that cross in the time that one more piece costs */
	/*
	 * Pieces go directly between two connections with one .job, which is not 0, and two .rank.
	 * .tunnel: which connection of that proxy this is; .key: random, it lets this connection's
	 * arena be read.
	 */
	uint64_t job;
	uint64_t key[2];
	uint32_t rank, tunnel;
};
/* .overhead: the steps of a copy do not overlap, and each piece is waited for */
#define KVGPU_REMOTE_OVERHEAD_WHOLE UINT32_MAX
/* the bounds of --staging */
enum { KVGPU_REMOTE_RELAYED_MIN = 64 << 10, KVGPU_REMOTE_RELAYED_MAX = 2 << 20 };

/* .result of struct kvgpu_remote_welcome; 0: welcome */
enum {
	KVGPU_REMOTE_OTHER_VERSION = 1,
	KVGPU_REMOTE_FULL = 2,
	KVGPU_REMOTE_FORBIDDEN = 3,
	KVGPU_REMOTE_NO_LIBRARY = 4
};

/* What bounds pinned memory; those up to LIBRARY are a server's answers. */
enum kvgpu_remote_bound {
	KVGPU_REMOTE_BOUND_NONE,
	KVGPU_REMOTE_BOUND_PINNED, /* the key `pinned` */
	KVGPU_REMOTE_BOUND_MACHINE, /* the memory that the server's machine has left */
	KVGPU_REMOTE_BOUND_LIBRARY, /* the server's library, or process */
	KVGPU_REMOTE_BOUND_FILE, /* the file or device of an aperture */
	KVGPU_REMOTE_BOUND_ADDRESSES, /* the client's address space */
	KVGPU_REMOTE_BOUND_ARENA, /* the key `arena` */
	NR_KVGPU_REMOTE_BOUNDS
};

/*
 * Classes of handles. The server's number of a handle: index, generation << 32, class << 56; 0: no
 * handle. A class keeps its number: a further one goes to the end, and is no new version.
 */
enum kvgpu_remote_class {
	CLASS_NONE,
	CLASS_CONTEXT,
	CLASS_MODULE,
	CLASS_FUNCTION,
	CLASS_STREAM,
	CLASS_EVENT,
	CLASS_ARRAY,
	CLASS_MIPMAP,
	CLASS_TEXREF,
	CLASS_SURFREF,
	CLASS_GRAPH,
	CLASS_NODE,
	CLASS_EXEC,
	CLASS_LINK,
	CLASS_USER,
	CLASS_POOL,
	CLASS_PHYSICAL,
	CLASS_CONDITION, /* the server's alone: the client has the library's own value */
	NR_CLASSES
};
#define KVGPU_REMOTE_INDEX(id) ((uint32_t)(id))
#define KVGPU_REMOTE_CLASS(id) ((unsigned int)((id) >> 56))
/* the number of the next object of that class in the place of the one with number @id */
#define KVGPU_REMOTE_NEXT(id) \
	((uint32_t)(id) | ((((id) >> 32) + 1) & 0xffffff) << 32 | (id) >> 56 << 56)

/* CUDA_RESOURCE_DESC with a number in the place of a handle. */
struct kvgpu_remote_resource {
	uint64_t what; /* array or mipmap: its number; else the address */
	uint64_t width, height, pitch; /* width: sizeInBytes where it is linear */
	uint32_t type, flags, format, channels;
	uint64_t pad;
};

/*
 * One end of a box copy, in words. END_BOUNCE: of a graph's copy the client's number of a bounce
 * buffer, whose piece of the arena is at END_WHERE; or 0.
 */
enum {
	END_TYPE,
	END_WHERE,
	END_PITCH,
	END_HEIGHT,
	END_X,
	END_Y,
	END_Z,
	END_LOD,
	END_CONTEXT,
	END_BOUNCE,
	END_WORDS
};

/* The entry point whose checks apply to a box. */
enum kvgpu_remote_form {
	FORM_2D,
	FORM_2D_UNALIGNED,
	FORM_3D,
	FORM_3D_PEER,
	NR_FORMS,
	FORM_ASYNC = 0x100,
	FORM_STAYS = 0x200 /* as COPY_STAYS */
};

/*
 * Flags of a copy of one line. COPY_WHOLE: the answer comes when all of the copy is done, not when
 * it has begun. COPY_STAYS: the bytes stay in the server's arena, from where a relay takes them.
 * COPY_LATE: the client leaves the piece of an arena that is not shared alone until a frame `fence`
 * is answered, so the GPU may read it later.
 */
enum kvgpu_remote_copy { COPY_WHOLE = 1, COPY_STAYS = 2, COPY_LATE = 4 };

/*
 * The source and the destination of a run along an array. IN: a piece of the arena that the client
 * has filled. OUT: a piece that the server fills.
 */
enum kvgpu_remote_run {
	RUN_DEVICE_TO_ARRAY,
	RUN_ARRAY_TO_DEVICE,
	RUN_IN_TO_ARRAY,
	RUN_ARRAY_TO_OUT,
	RUN_ARRAY_TO_ARRAY
};

/* structs made by remote/api.py are checked in ops.h */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "frames are little endian");
static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8,
	      "CUDA's structs cross as they are, of a program of 64 bits");

#define WIRE_AT(type, field, at) \
	static_assert(offsetof(struct kvgpu_remote_##type, field) == (at), #type "." #field)
#define WIRE_SIZE(type, bytes) static_assert(sizeof(struct kvgpu_remote_##type) == (bytes), #type)

WIRE_AT(head, seq, 0);
WIRE_AT(head, op, 8);
WIRE_AT(head, completion, 10);
WIRE_AT(head, bytes, 12);
WIRE_SIZE(head, 16);
WIRE_AT(answer, seq, 0);
WIRE_AT(answer, result, 8);
WIRE_AT(answer, bytes, 12);
WIRE_SIZE(answer, 16);
WIRE_AT(piece, at, 0);
WIRE_AT(piece, bytes, 8);
WIRE_SIZE(piece, 16);
WIRE_SIZE(ack, 8);
WIRE_AT(notification, kind, 0);
WIRE_AT(notification, value, 4);
WIRE_AT(notification, id, 8);
WIRE_SIZE(notification, 16);
WIRE_AT(hello, magic, 0);
WIRE_AT(hello, version, 8);
WIRE_SIZE(hello, 16);
WIRE_AT(welcome, magic, 0);
WIRE_AT(welcome, version, 8);
WIRE_AT(welcome, arena_bytes, 16);
WIRE_AT(welcome, result, 24);
WIRE_AT(welcome, relayed, 28);
WIRE_SIZE(welcome, 32);
WIRE_AT(build, version, 0);
WIRE_AT(build, table, 8);
WIRE_SIZE(build, 16);
WIRE_AT(source, key, 8);
WIRE_AT(source, rank, 24);
WIRE_AT(source, tunnel, 28);
WIRE_SIZE(source, 32);
WIRE_AT(pull, source, 16);
WIRE_SIZE(pull, 48);
WIRE_AT(relayed, overhead, 4);
WIRE_AT(relayed, job, 8);
WIRE_AT(relayed, key, 16);
WIRE_AT(relayed, rank, 32);
WIRE_AT(relayed, tunnel, 36);
WIRE_SIZE(relayed, 40);
WIRE_AT(resource, what, 0);
WIRE_AT(resource, width, 8);
WIRE_AT(resource, height, 16);
WIRE_AT(resource, pitch, 24);
WIRE_AT(resource, type, 32);
WIRE_AT(resource, flags, 36);
WIRE_AT(resource, format, 40);
WIRE_AT(resource, channels, 44);
WIRE_SIZE(resource, 56);

#endif
