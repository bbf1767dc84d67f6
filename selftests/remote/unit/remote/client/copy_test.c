// SPDX-License-Identifier: MIT
/*
 * A long copy to pageable memory, where the server's library has registered the arena: what the
 * client says of managed memory with each frame. Where a few bytes for the GPU travel, which ones
 * pass by the arena, how often the kernel is asked about the program's memory, and which copies on
 * the device are waited for. There is no server.
 */
#include <errno.h>
#include <selftests/unit_test.h>

#include <sys/uio.h>

#include <remote/client/peer_copy.h>

#include "../result.h"

enum { SRC = 0x100000, BYTES = 3 << 20 };

/* --------------------------------- in the place of the client's other files and the channel */

struct peer peers[PEERS_MAX];
bool several;
static uint8_t arena[4 << 20];
static bool managed; /* SRC is managed memory */
static unsigned int queued, asked, staged, in_frames, looks;
static bool shared = true, readable, denied;

static bool in_memory; /* the program's memory is managed memory */
bool managed_has(CUdeviceptr ptr)
{
	return ptr >= SRC && ptr < SRC + BYTES ? managed : in_memory;
}
bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return shared;
}
bool arena_is_pinned(struct peer *p)
{
	return shared;
}
static bool ring, asked_for_ring;
bool ring_is_pinned(struct peer *p, bool ask)
{
	asked_for_ring = asked_for_ring || ask;
	return ring;
}

/* a copy over a plain channel: what is pushed; the server's memory */
static uint8_t there[BYTES];
static unsigned int pushed, directly, late;

static CUresult take_push(struct call *c)
{
	const struct q_copy_in *q = c->fixed;

	assert_int_equal(q->at, c->push_at);
	assert_int_equal(q->bytes, c->push_bytes);
	pushed++;
	directly += !!c->push_from;
	late += !!(q->flags & COPY_LATE);
	memcpy(there + (q->dst - SRC), c->push_from ? c->push_from : arena + q->at, q->bytes);
	return CUDA_SUCCESS;
}

CUresult call_async(struct call *c)
{
	if (c->op == OP_copy_in)
		return take_push(c);
	assert_int_equal(c->op, OP_copy_out);
	assert_int_equal(c->apart, !managed);
	queued++;
	return CUDA_SUCCESS;
}

CUresult call_sync(struct call *c, size_t fixed)
{
	if (c->op == OP_pointer)
		return CUDA_ERROR_INVALID_VALUE;
	assert_int_equal(c->op, OP_copy_out);
	assert_int_equal(c->apart, !managed);
	asked++;
	return CUDA_SUCCESS;
}

CUresult call_fence(struct peer *p, uint64_t upto)
{
	return CUDA_SUCCESS;
}

static struct staged piece;
static unsigned int late_pieces;
static bool room; /* staging_get() gives a piece */
struct staged *staging_get(struct peer *p, uint64_t bytes, uint64_t *at, CUresult *r)
{
	staged++;
	piece.late = false;
	*at = 4096;
	*r = room ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
	return room ? &piece : NULL;
}

void staging_sent(struct peer *p, struct staged *of, uint64_t seq)
{
	late_pieces += of->late;
}
/* copies from a plain channel: the server returns a piece when its answer is taken */
static struct kvgpu_remote_direct_read *direct_reads;
static unsigned int under_way, most, directly, lost_piece, refused_piece;

void kvgpu_remote_read_post(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
{
	d->next = direct_reads;
	direct_reads = d;
}

static struct kvgpu_remote_direct_read *direct_read_at(uint64_t at,
						       struct kvgpu_remote_direct_read ***link)
{
	for (*link = &direct_reads; **link && (**link)->at != at; *link = &(**link)->next)
		;
	return **link;
}

bool kvgpu_remote_read_done(struct kvgpu_remote_channel *c, struct kvgpu_remote_direct_read *d)
{
	struct kvgpu_remote_direct_read **link;

	assert_ptr_equal(direct_read_at(d->at, &link), d);
	*link = d->next;
	return d->state;
}

CUresult call_begin(struct call *c, unsigned int completion)
{
	if (refused_piece && !--refused_piece)
		return CUDA_ERROR_SYSTEM_NOT_READY;
	if (++under_way > most)
		most = under_way;
	return CUDA_SUCCESS;
}

CUresult call_take(struct call *c, unsigned int completion, size_t fixed)
{
	const struct q_copy_out *q = c->fixed;
	struct kvgpu_remote_direct_read **link, *d = direct_read_at(q->at, &link);

	under_way--;
	assert_int_equal(q->flags, COPY_WHOLE);
	if (lost_piece && !--lost_piece)
		return CUDA_SUCCESS;
	if (d)
		assert_int_equal(d->bytes, q->bytes);
	directly += !!d;
	memcpy(d ? d->to : arena + q->at, there + (q->src - SRC), q->bytes);
	if (d)
		d->state = 1;
	return CUDA_SUCCESS;
}

static unsigned int slots;
uint64_t slot_get(struct peer *p, uint64_t bytes)
{
	slots++;
	return bytes * (slots % 4);
}
void slot_put(struct peer *p, uint64_t at)
{
	slots--;
}
static bool entered;
CUresult call_enter(unsigned int flags)
{
	return entered ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

static bool named; /* a server says that it has all that is asked for */
bool range_has(CUdeviceptr ptr)
{
	return named;
}

static CUdeviceptr pinned; /* host memory that is known; 0: none */
bool host_find(const void *host, struct host_range *out)
{
	return pinned && (uintptr_t)host == pinned;
}
static unsigned int completions;
unsigned int kvgpu_remote_completion_get(struct kvgpu_remote_channel *c)
{
	return ++completions;
}
void kvgpu_remote_completion_put(struct kvgpu_remote_channel *c, unsigned int completion)
{
	completions--;
}
struct peer *route_peer(struct route *to)
{
	return peers;
}
static unsigned int on_devices, waited; /* how many copies; waits behind one, in its stream */
static CUresult refused;
static CUstream in;
CUresult cuStreamSynchronize(CUstream s)
{
	waited += on_devices && s == in;
	return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr dst, CUdeviceptr src, size_t n)
{
	on_devices++;
	in = NULL;
	return refused;
}

CUresult call_bytes(struct call *c, const void *p, uint64_t n)
{
	in_frames++;
	return CUDA_ERROR_UNKNOWN;
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dst, CUdeviceptr src, size_t n, CUstream s)
{
	on_devices++;
	in = s;
	return refused;
}

CUresult route_stream(struct route *to, CUstream stream, uint64_t *id)
{
	return entered ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}

/* ------------------------------------------------------------------ */

TEST(other_memory_is_apart)
{
	static uint8_t to_here[BYTES];
	const struct route to = { .peer = peers };
	unsigned int i;

	peers[0].arena.base = arena;
	for (i = 0; i < 2; i++) {
		struct q_copy_out q = { .src = SRC, .bytes = BYTES };

		managed = i;
		queued = asked = 0;
		OK(linear_d2h(&to, &q, to_here, true, true));
		assert_int_equal(queued, 5);
		assert_int_equal(asked, 1);
	}
}

static void send(uint64_t bytes)
{
	static uint8_t from_here[2 * KVGPU_REMOTE_INLINE_IN_MAX];
	const struct route to = { .peer = peers };
	struct q_copy_in q = { .dst = SRC, .bytes = bytes };

	FAILS(piece_send(&to, &q, from_here, true), UNKNOWN);
}

/* A line in a frame is copied twice, one in a shared arena once. */
TEST(lines_in_frames)
{
	staged = in_frames = 0;
	send(KVGPU_REMOTE_INLINE_SHARED_MAX);
	assert_int_equal(in_frames, 1);
	send(KVGPU_REMOTE_INLINE_SHARED_MAX + 1);
	assert_int_equal(staged, 1);
	shared = false;
	send(KVGPU_REMOTE_INLINE_IN_MAX);
	assert_int_equal(in_frames, 2);
	send(KVGPU_REMOTE_INLINE_IN_MAX + 1);
	assert_int_equal(staged, 2);
	shared = true;
}

/*
 * Over a plain channel a line goes from the program's memory into the socket. Where the server has
 * its ring registered, the pieces are late.
 */
TEST(lines_past_the_arena)
{
	static uint8_t from_here[BYTES];
	const struct route to = { .peer = peers };
	unsigned int i;

	memset(from_here, 5, BYTES);
	shared = false;
	room = true;
	for (i = 0; i < 3; i++) {
		struct q_copy_in q = { .dst = SRC, .bytes = BYTES - 5 };

		ring = i == 1;
		in_memory = i == 2;
		pushed = directly = late = late_pieces = 0;
		memset(there, 0, BYTES);
		asked_for_ring = false;
		OK(linear_h2d(&to, &q, from_here, true, true));
		assert_memory_equal(there, from_here, BYTES - 5);
		assert_true(asked_for_ring);
		assert_int_equal(pushed, 6);
		assert_int_equal(directly, i == 2 ? 0 : 6);
		assert_int_equal(late, i == 1 ? 6 : 0);
		assert_int_equal(late_pieces, late);
	}
	/* registering takes longer than many small copies */
	asked_for_ring = in_memory = false;
	OK(linear_h2d(&to, &(struct q_copy_in){ .dst = SRC, .bytes = 1 << 19 }, from_here, true,
		      true));
	assert_false(asked_for_ring);
	shared = true;
	ring = room = false;
}

/*
 * Bytes from a plain channel come some pieces at a time, and are read to where the program wants
 * them.
 */
TEST(lines_read_directly)
{
	static uint8_t to_here[BYTES];
	const struct route to = { .peer = peers };
	const size_t bytes[] = { BYTES - 5, 1 << 20, (64 << 10) + 1 };
	struct q_copy_out q;
	unsigned int i;

	shared = false;
	for (i = 0; i < BYTES; i++)
		there[i] = i * 7 + i / 256;
	for (i = 0; i < 2 * sizeof(bytes) / sizeof(*bytes); i++) {
		q = (struct q_copy_out){ .src = SRC, .bytes = bytes[i / 2] };
		in_memory = i % 2;
		directly = most = 0;
		memset(to_here, 0, BYTES);
		OK(linear_d2h(&to, &q, to_here, true, true));
		assert_memory_equal(to_here, there, bytes[i / 2]);
		assert_int_equal(!directly, in_memory);
		assert_int_equal(most, i / 2 == 2 ? 1 : 4);
	}
	in_memory = false;
	/* a server that answers without the bytes, and one that is gone */
	for (i = 1; i <= 8; i++) {
		q = (struct q_copy_out){ .src = SRC, .bytes = BYTES };
		lost_piece = i % 2 ? (i + 1) / 2 % 3 + 1 : 0;
		refused_piece = i % 2 ? 0 : i / 2 % 3 + 1;
		assert_int_equal(linear_d2h(&to, &q, to_here, true, true),
				 i % 2 ? CUDA_ERROR_UNKNOWN : CUDA_ERROR_SYSTEM_NOT_READY);
		assert_null(direct_reads);
		assert_int_equal(under_way, 0);
		lost_piece = refused_piece = 0;
	}
	assert_int_equal(slots, 0);
	assert_int_equal(completions, 0);
	shared = true;
}

/* in the place of libc's */
ssize_t process_vm_readv(pid_t pid, const struct iovec *to, unsigned long n,
			 const struct iovec *from, unsigned long m, unsigned long flags)
{
	looks++;
	errno = denied ? EPERM : EFAULT;
	return readable ? 1 : -1;
}

TEST(pages_that_were_read)
{
	enum { PAGE = 4096 };
	const CUdeviceptr at = 0x7000001000;
	unsigned int i;

	readable = true;
	looks = 0;
	for (i = 0; i < 10; i++)
		assert_int_equal(memory_kind_of(at + 100 * i, true), MEMORY_HOST);
	assert_int_equal(looks, 1);
	assert_int_equal(memory_kind_of(at + PAGE, true), MEMORY_HOST);
	assert_int_equal(looks, 2);
	/* page 0, and one that can't be read, are asked for each time */
	memory_kind_of(8, true);
	memory_kind_of(8, true);
	assert_int_equal(looks, 4);
	readable = false;
	assert_int_equal(memory_kind_of(at + 2 * PAGE, true), MEMORY_UNKNOWN);
	assert_int_equal(memory_kind_of(at + 2 * PAGE, true), MEMORY_UNKNOWN);
	assert_int_equal(looks, 6);
	assert_int_equal(memory_kind_of(at, true), MEMORY_HOST);
	/* so many pages later it is forgotten */
	readable = true;
	for (i = 0; i < 64; i++)
		memory_kind_of(at + (CUdeviceptr)PAGE * (i + 3), true);
	looks = 0;
	assert_int_equal(memory_kind_of(at, true), MEMORY_HOST);
	assert_int_equal(looks, 1);
}

/* with several servers the kernel says what is the program's memory, also where it says little */
TEST(what_is_the_programs)
{
	static uint8_t own[4096];
	const CUdeviceptr here = (uintptr_t)own, nowhere = 0x7f00000000000;

	several = named = true;
	readable = true;
	assert_true(programs_own(here));
	assert_int_equal(memory_kind_of(here, true), MEMORY_HOST);
	assert_int_equal(memory_kind_of(here, false), MEMORY_UNKNOWN);
	readable = false;
	assert_false(programs_own(here));
	assert_int_equal(memory_kind_of(here + 0x10000000, true), MEMORY_DEVICE);
	assert_int_equal(memory_kind_of(here, false), MEMORY_DEVICE);
	denied = true;
	assert_int_equal(memory_kind_of(here, false), MEMORY_UNKNOWN);
	assert_int_equal(memory_kind_of(nowhere, false), MEMORY_DEVICE);
	named = false;
	assert_int_equal(memory_kind_of(here, false), MEMORY_HOST);
	several = denied = false;
	assert_false(programs_own(here));
}

/* Mapped memory is the device's and the host's: copies from and to it that wait are over then. */
TEST(mapped_memory_is_waited_for)
{
	enum { MAPPED = 0x200000, OTHER = 0x300000 };
	void *const here = (void *)MAPPED;
	const CUstream s = (CUstream)16;

	entered = named = true;
	pinned = MAPPED;
	on_devices = waited = 0;
	OK(cuMemcpyDtoH_v2(here, OTHER, 8));
	assert_int_equal(waited, 1);
	OK(cuMemcpyHtoD_v2(OTHER, here, 8));
	assert_int_equal(waited, 2);
	OK(cuMemcpy(OTHER, MAPPED, 8));
	assert_int_equal(waited, 3);
	OK(cuMemcpyDtoH_v2_ptds(here, OTHER, 8));
	assert_int_equal(waited, 4);
	assert_int_equal(on_devices, 4);
	/* the program waits for these */
	OK(cuMemcpyDtoHAsync_v2(here, OTHER, 8, s));
	OK(cuMemcpyHtoDAsync_v2(OTHER, here, 8, NULL));
	/* the CPU does not see this memory, or its touch waits */
	OK(cuMemcpy(OTHER, SRC, 8));
	assert_int_equal(on_devices, 7);
	refused = CUDA_ERROR_INVALID_VALUE;
	FAILS(cuMemcpyDtoH_v2(here, OTHER, 8), INVALID_VALUE);
	assert_int_equal(waited, 4);
	refused = CUDA_SUCCESS;
	entered = named = false;
	pinned = 0;
}

TEST_MAIN(NULL, NULL)
