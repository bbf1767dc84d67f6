// SPDX-License-Identifier: MIT
/*
 * The client's own lists: handles, the device memory that it knows, pinned and registered memory,
 * pieces of the arena. There is no server.
 */
#include <selftests/unit_test.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <remote/client/client.h>

#include "../result.h"

enum { ARENA = 16 << 20, RING = ARENA / 4, MORE = 80 << 20 };

/* ----------------------------------- in the place of the client's other files and a channel */

static struct object contexts[2];
static struct object *current = &contexts[0];
static uint64_t through, answered;
static unsigned int fences;
static CUresult fence_result;

void *current_context(void)
{
	return current;
}
struct peer *current_peer(void)
{
	return object_peer(current);
}
bool own_stream(CUstream stream)
{
	return !stream;
}
CUresult route_stream(struct route *to, CUstream stream, uint64_t *id)
{
	*id = 0;
	return CUDA_SUCCESS;
}
uint64_t call_fenced(const struct peer *p)
{
	return through;
}
uint64_t call_answered(const struct peer *p)
{
	return answered > through ? answered : through;
}
static bool shared;
static bool lends;
bool kvgpu_remote_is_shared(const struct kvgpu_remote_channel *c)
{
	return shared;
}
CUresult memory_lend(struct peer *p, const void *host, uint64_t bytes, unsigned int flags,
		     CUdeviceptr *device)
{
	*device = 0x123000;
	return lends ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}
static unsigned int lent_ends;
CUresult memory_lend_end(struct peer *p, CUdeviceptr device)
{
	lent_ends += device == 0x123000;
	return CUDA_SUCCESS;
}
static struct kvgpu_remote_relayed relay;
const struct kvgpu_remote_relayed *kvgpu_remote_relay(const struct kvgpu_remote_channel *c)
{
	return relay.piece ? &relay : NULL;
}
static const void *made_mapped;
static bool no_more;
bool mapped_begin(const struct host_range *r)
{
	made_mapped = r->base;
	return !no_more;
}
void mapped_end(const void *base)
{
	made_mapped = base == made_mapped ? NULL : made_mapped;
}
static bool asks;
bool call_asks(const struct peer *p)
{
	return asks;
}
static unsigned int waits_for_work;
void managed_wait(void)
{
	waits_for_work++;
}
static void *mapped; /* as a channel, which maps its arena a second time only once */
void *kvgpu_remote_arena_at(struct kvgpu_remote_channel *c, uint64_t where)
{
	if (mapped)
		return NULL;
	mapped = (void *)(uintptr_t)where;
	return mapped;
}

static uint64_t arena_device; /* where the server has pinned the arena, or 0 */
static unsigned int asked_for_ring, asked_for_map, asked_to_grow;
static uint64_t arena_bytes = ARENA, grow_most = UINT64_MAX, grow_to;
static uint32_t grow_bound;
static bool ring, can_map;
CUresult call_sync(struct call *c, size_t fixed)
{
	static struct a_pin a;
	static struct a_ring r;
	static struct a_map m;
	static struct a_grow g;

	if (c->op == OP_grow) {
		const struct q_grow *q = c->fixed;

		asked_to_grow++;
		grow_to = q->bytes;
		g.bound = q->bytes > arena_bytes && q->bytes > grow_most ? grow_bound : 0;
		c->answer = &g;
		return CUDA_SUCCESS;
	}
	if (c->op == OP_map) {
		asked_for_map++;
		m.mapped = can_map;
		c->answer = &m;
		return CUDA_SUCCESS;
	}
	if (c->op == OP_ring) {
		const struct q_ring *q = c->fixed;

		asked_for_ring++;
		assert_int_equal(q->bytes, RING);
		r.pinned = ring;
		c->answer = &r;
		return CUDA_SUCCESS;
	}
	if (c->op != OP_pin || !arena_device)
		return CUDA_ERROR_SYSTEM_NOT_READY;
	a = (struct a_pin){ .pinned = true, .device = arena_device, .whole = true };
	c->answer = &a;
	return CUDA_SUCCESS;
}

static unsigned int said;
static char last_said[400];
void client_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(last_said, sizeof(last_said), format, args);
	va_end(args);
	said++;
}

void *kvgpu_remote_arena(struct kvgpu_remote_channel *c, uint64_t *bytes)
{
	static uint8_t arena[ARENA + MORE];

	*bytes = arena_bytes;
	return arena;
}

static enum kvgpu_remote_bound bound_here;
uint64_t kvgpu_remote_arena_most(const struct kvgpu_remote_channel *c,
				 enum kvgpu_remote_bound *bound)
{
	*bound = bound_here;
	return bound_here == KVGPU_REMOTE_BOUND_PINNED ? ARENA + MORE : ARENA;
}

bool kvgpu_remote_arena_resize(struct kvgpu_remote_channel *c, uint64_t bytes)
{
	assert_in_range(bytes, ARENA, ARENA + MORE);
	arena_bytes = bytes;
	return true;
}

/* number of the last frame sent; numbers begin with 1 */
static uint64_t sent;
CUresult call_fence(struct peer *p, uint64_t upto)
{
	fences++;
	assert_true(upto == UINT64_MAX || (upto && upto <= sent));
	through = upto < sent ? upto : sent;
	return fence_result;
}

/* ------------------------------------------------------------------ */

static uint64_t number(unsigned int class, uint32_t index, uint32_t generation)
{
	return (uint64_t) class << 56 | (uint64_t)generation << 32 | index;
}

TEST(handles)
{
	void *ctx = handle_here(peers, CLASS_CONTEXT, number(CLASS_CONTEXT, 1, 1), NULL), *stream,
	     *module, *function, *graph, *node;
	uint64_t id;

	assert_non_null(ctx);
	stream = handle_here(peers, CLASS_STREAM, number(CLASS_STREAM, 2, 1), ctx);
	module = handle_here(peers, CLASS_MODULE, number(CLASS_MODULE, 3, 1), ctx);
	function = handle_here(peers, CLASS_FUNCTION, number(CLASS_FUNCTION, 4, 7), module);
	assert_ptr_equal(handle_here(peers, CLASS_STREAM, number(CLASS_STREAM, 2, 1), NULL),
			 stream);
	assert_true(handle_id(CLASS_STREAM, stream, &id));
	assert_int_equal(id, number(CLASS_STREAM, 2, 1));
	assert_false(handle_id(CLASS_EVENT, stream, &id));
	assert_ptr_equal(object_parent(function), module);
	/* values that are no handles */
	assert_false(handle_id(CLASS_STREAM, NULL, &id));
	assert_false(handle_id(CLASS_STREAM, (char *)stream + 1, &id));
	assert_false(handle_id(CLASS_STREAM, (void *)16, &id));
	assert_false(handle_id(CLASS_STREAM, (void *)UINTPTR_MAX, &id));
	assert_false(handle_id(CLASS_STREAM, &id, &id));
	assert_null(handle_here(peers, CLASS_STREAM, 0, ctx));
	assert_null(handle_here(peers, CLASS_STREAM, number(CLASS_EVENT, 9, 1), ctx));
	assert_null(handle_here(peers, CLASS_STREAM, number(CLASS_STREAM, UINT32_MAX, 1), ctx));
	/* a server frees no module that the client has not unloaded */
	assert_null(handle_here(peers, CLASS_EVENT, number(CLASS_EVENT, 3, 2), ctx));
	assert_true(handle_id(CLASS_MODULE, module, &id));
	assert_true(handle_id(CLASS_FUNCTION, function, &id));
	/* the server has given this number to another object, so the old one's children are gone */
	graph = handle_here(peers, CLASS_GRAPH, number(CLASS_GRAPH, 8, 1), NULL);
	node = handle_here(peers, CLASS_NODE, number(CLASS_NODE, 9, 1), graph);
	assert_ptr_equal(handle_here(peers, CLASS_EVENT, number(CLASS_EVENT, 8, 2), ctx), graph);
	assert_false(handle_id(CLASS_GRAPH, graph, &id));
	assert_false(handle_id(CLASS_NODE, node, &id));
	assert_true(handle_id(CLASS_EVENT, graph, &id));
	object_empty(ctx);
	assert_false(handle_id(CLASS_STREAM, stream, &id));
	assert_true(handle_id(CLASS_CONTEXT, ctx, &id));
	object_end(ctx, number(CLASS_CONTEXT, 1, 1));
	assert_false(handle_id(CLASS_CONTEXT, ctx, &id));
}

TEST(nodes_hang_on_graphs)
{
	void *graph = handle_here(peers, CLASS_GRAPH, number(CLASS_GRAPH, 1, 1), NULL);
	void *one = handle_here(peers, CLASS_NODE, number(CLASS_NODE, 2, 1), graph);
	void *two = handle_here(peers, CLASS_NODE, number(CLASS_NODE, 3, 1), one);
	uint64_t id;

	assert_ptr_equal(object_parent(two), graph);
	object_end(one, number(CLASS_NODE, 2, 1));
	assert_true(handle_id(CLASS_NODE, two, &id));
	object_end(graph, number(CLASS_GRAPH, 1, 1));
	assert_false(handle_id(CLASS_NODE, two, &id));
}

TEST(device_memory)
{
	unsigned int i;

	for (i = 0; i < 300; i++)
		assert_true(range_add(0x100000 + (i * 7919 % 300) * 0x1000, 0x800, 1));
	assert_true(device_span(0x100000, 0x800, 1));
	assert_true(device_span(0x100400, 0x100, 4));
	assert_false(device_span(0x100400, 0x101, 4));
	assert_false(device_span(0x100402, 1, 4));
	assert_false(device_span(0x100000, 0x801, 1));
	assert_false(device_span(0x100800, 1, 1));
	assert_false(device_span(0xfffff, 1, 1));
	assert_false(device_span(0x100000, UINT64_MAX / 2, 4));
	assert_false(device_span(0x100000, 0, 4));
	assert_true(device_spans(0x100000, 0x101000, 0x800));
	assert_false(device_spans(0x100000, 0x101000, 0x801));
	current = &contexts[1];
	/* memory of the other context: the library at the server must judge that */
	assert_false(device_span(0x100000, 1, 1));
	assert_true(range_add(0x900000, 16, 1));
	current = &contexts[0];
	range_remove(0x101000, 1);
	assert_true(range_has(0x101000)); /* allocated by call 1, so not before it */
	range_remove(0x101000, 2);
	assert_false(range_has(0x101000));
	assert_true(range_has(0x1027ff));
	ranges_end(&contexts[0]);
	assert_false(range_has(0x1027ff));
	assert_true(range_has(0x90000f));
	ranges_end(&contexts[1]);
}

/* addresses that the program has reserved are their server's, as memory is */
static void reserved_addresses(void *one, void *two)
{
	struct route reserved = { 0 };

	assert_true(reservation_add(&peers[1], 0x800000, 0x1000));
	assert_false(reservation_add(peers, 0x800fff, 1));
	assert_false(reservation_add(peers, 0x102000, 0x1000));
	assert_false(reservation_add(peers, -4096ull, 8192));
	assert_true(ranges_foreign(peers, 0x7ff000, 0x1001));
	assert_int_equal(ranges_foreign_end(peers, 0x7ff000, 0x1001), 0x801000);
	current = one;
	assert_false(range_add(0x7ff000, 0x1001, 1));
	current = two;
	route_address(&reserved, 0x800800);
	assert_ptr_equal(reserved.peer, &peers[1]);
	reservation_ends(0x800000);
	assert_false(ranges_foreign(peers, 0x7ff000, 0x1001));
}

/* Handles and addresses of two servers: to which server a call goes. */
TEST(two_servers)
{
	void *one = handle_here(peers, CLASS_CONTEXT, number(CLASS_CONTEXT, 5, 1), NULL);
	void *two = handle_here(&peers[1], CLASS_CONTEXT, number(CLASS_CONTEXT, 5, 1), NULL);
	void *stream = handle_here(&peers[1], CLASS_STREAM, number(CLASS_STREAM, 6, 1), two);
	struct route to = { 0 }, other = { 0 }, third = { 0 };
	uint64_t id;

	several = true;
	peer_slow(peers, SLOW_SEVERAL, true);
	assert_true(one && two && one != two);
	assert_ptr_equal(object_peer(one), peers);
	assert_ptr_equal(object_peer(stream), &peers[1]);
	assert_null(object_parent(handle_here(peers, CLASS_EVENT, number(CLASS_EVENT, 7, 1), two)));
	assert_true(route_handle(&to, CLASS_STREAM, stream, &id));
	assert_ptr_equal(to.peer, &peers[1]);
	/* although the current context is the first server's */
	assert_ptr_equal(to.ctx, two);
	OK(to.split);
	current = one;
	assert_true(range_add(0x100000, 0x1000, 1));
	assert_true(range_add(0x103000, 0x1000, 2));
	current = two;
	assert_false(range_add(0x100fff, 1, 1));
	assert_false(range_add(0xff000, 0x1001, 1));
	assert_false(range_add(0xff000, 0x10000, 1));
	assert_true(range_add(0x101000, 0x2000, 1));
	assert_ptr_equal(range_context(0x102fff), two);
	assert_true(ranges_foreign(peers, 0x102fff, 1));
	assert_false(ranges_foreign(&peers[1], 0x101000, 0x2000));
	route_address(&other, 0x100010);
	assert_ptr_equal(other.peer, peers);
	route_address(&other, 0x101000);
	FAILS(other.split, INVALID_VALUE);
	route_address(&to, 0x100010);
	FAILS(to.split, INVALID_VALUE);
	reserved_addresses(one, two);
	route_address(&third, 0x10);
	/* an address of neither server: the thread's context decides */
	assert_null(third.peer);
	assert_ptr_equal(route_peer(&third), &peers[1]);
	/*
	 * variables of two servers may have the same address, a variable and other memory may not
	 */
	assert_true(range_variable(0x200000, 64, one) && range_variable(0x200000, 64, two));
	assert_ptr_equal(range_context(0x20003f), two);
	assert_false(range_add(0x200010, 64, 9));
	assert_false(range_variable(0x100010, 64, two));
	/* nothing goes over the end of the address space, where it would be no one's memory */
	assert_false(range_variable(-4096ull, 8192, one));
	assert_false(range_variable(0x90000000, UINT64_MAX, one));
	assert_false(range_add(-4096ull, 4096, 9));
	assert_false(range_has(0x90000010));
	ranges_module_ends(two);
	assert_ptr_equal(range_context(0x20003f), one);
	ranges_end(one);
	ranges_end(two);
	assert_null(range_context(0x20003f));
	current = &contexts[0];
	several = false;
	peer_slow(peers, SLOW_SEVERAL, false);
}

/* memory that the program maps has a device and no context */
TEST(mapped_memory)
{
	enum { PAGE = 0x200000, DEVICE = 3, OTHER = 4 };
	const CUdeviceptr at = 0x70000000;
	struct object memory = { .dev = DEVICE };
	const CUmemGenericAllocationHandle handle = (uintptr_t)&memory;

	contexts[0].dev = DEVICE;
	contexts[1].dev = OTHER;
	assert_false(range_has(at));
	assert_true(reservation_add(peers, at, 8 * PAGE));
	assert_true(range_has(at + 8 * PAGE - 1));
	assert_false(range_has(at + 8 * PAGE));
	assert_ptr_equal(range_peer(at + PAGE), peers);
	assert_false(range_holds(at, 1));
	range_mapped(at + PAGE, PAGE, handle);
	range_mapped(at, PAGE, handle);
	range_mapped(at + 3 * PAGE, PAGE, handle);
	/* one copy may be of several mappings, but of no gap */
	assert_true(range_holds(at + 5, 2 * PAGE - 5));
	assert_false(range_holds(at + 5, 2 * PAGE - 4));
	assert_false(range_holds(at, 4 * PAGE));
	assert_false(device_span(at, 1, 1));
	ranges_accessed(at, 4 * PAGE, OTHER,
			true); /* a peer's access says nothing of the own one */
	assert_false(device_span(at, 1, 1));
	ranges_accessed(at, 2 * PAGE, DEVICE, true);
	assert_true(device_span(at, 2 * PAGE, 1));
	assert_true(device_span(at + PAGE - 4, 2, 4));
	assert_false(device_span(at, 2 * PAGE + 1, 1));
	assert_false(device_span(at + 3 * PAGE, 1, 1));
	assert_false(device_begins(at)); /* cuMemFreeAsync() is not for it */
	assert_ptr_equal(range_context(at), &contexts[0]);
	current = &contexts[1];
	assert_false(device_span(at, 1, 1));
	current = &contexts[0];
	ranges_accessed(at + PAGE, PAGE, DEVICE, false);
	assert_true(device_span(at, PAGE, 1));
	assert_false(device_span(at, PAGE + 1, 1));
	/* neither a free nor a context ends it */
	range_remove(at, UINT64_MAX);
	ranges_end(&contexts[0]);
	assert_null(range_context(at));
	assert_true(range_holds(at, 2 * PAGE));
	assert_true(device_span(at, PAGE, 1));
	ranges_unmapped(at, 2 * PAGE);
	assert_false(range_holds(at, 1));
	assert_false(range_holds(at + PAGE, 1));
	assert_true(range_holds(at + 3 * PAGE, PAGE));
	ranges_unmapped(at + 2 * PAGE, 2 * PAGE);
	assert_false(range_holds(at + 3 * PAGE, 1));
	reservation_ends(at + PAGE); /* none begins there */
	assert_true(range_has(at));
	reservation_ends(at);
	assert_false(range_has(at));
	contexts[0].dev = contexts[1].dev = 0;
}

/* CUDA_VISIBLE_DEVICES chooses among the devices of a single server, too */
TEST(devices_are_the_servers)
{
	struct route to = { 0 }, none = { 0 };

	nr_peers = 1;
	peers[0].first_device = 0;
	peers[0].nr_devices = 3;
	all_devices = 2;
	device_at[0] = 2;
	device_at[1] = 0;
	assert_int_equal(route_device(&to, 0), 2);
	assert_int_equal(route_device(&to, 1), 0);
	assert_int_equal(route_device(&to, -1), UINT32_MAX); /* the host's memory */
	OK(to.split);
	assert_int_equal(route_device(&none, 2), INT32_MAX);
	OK(none.split);
	all_devices = 0;
}

TEST(beginnings)
{
	assert_true(range_add(0x100000, 0x1000, 1));
	assert_true(device_begins(0x100000));
	assert_false(device_begins(0x100001));
	assert_true(range_add_of(&contexts[1], 0x200000, 0x1000, 1));
	assert_false(device_begins(0x200000));
	ranges_end(&contexts[0]);
	ranges_end(&contexts[1]);
	assert_false(device_begins(0x100000));
}

static uint64_t place_of(void *pinned)
{
	return pinned_at(peers, pinned, 1);
}

static void *pin(size_t bytes)
{
	void *pinned = NULL;

	OK(cuMemHostAlloc(&pinned, bytes, 0));
	return pinned;
}

/* Pinned memory leaves 3 MiB of the arena to others, grows it by parts, and gives them back. */
TEST(an_arena_that_grows)
{
	uint8_t *first, *parts[3];

	shared = true;
	bound_here = KVGPU_REMOTE_BOUND_PINNED;
	first = pin(9 << 20);
	assert_int_equal(asked_to_grow, 0);
	assert_int_equal(place_of(first), RING);
	parts[0] = pin(1 << 20);
	assert_int_equal(grow_to, ARENA + (64 << 20));
	assert_int_equal(place_of(parts[0]), ARENA);
	parts[1] = pin((63 << 20) - 1);
	assert_int_equal(asked_to_grow, 1);
	parts[2] = pin((15 << 20) + 1); /* all that is left, and not over the parts' border */
	assert_int_equal(grow_to, ARENA + MORE);
	assert_int_equal(place_of(parts[2]), ARENA + (64 << 20));
	assert_int_equal(arena_get(peers, 3 << 20), ARENA - (3 << 20));
	arena_put(peers, ARENA - (3 << 20));
	assert_int_equal(cuMemFreeHost(parts[0]), 0);
	assert_int_equal(cuMemFreeHost(parts[1]), 0);
	assert_int_equal(arena_bytes, ARENA + MORE);
	assert_int_equal(cuMemFreeHost(parts[2]), 0);
	assert_int_equal(grow_to, ARENA);
	assert_int_equal(arena_bytes, ARENA);
	assert_int_equal(place_of(first), RING);
	assert_int_equal(cuMemFreeHost(first), 0);
	assert_int_equal(arena_bytes, ARENA);
	shared = false;
}

/* What a server refuses as a whole part may be had without the rest. The first refusal is told. */
TEST(an_arena_that_grows_no_more)
{
	unsigned int before = said;
	void *pinned, *small;

	shared = true;
	bound_here = KVGPU_REMOTE_BOUND_PINNED;
	grow_bound = KVGPU_REMOTE_BOUND_MACHINE;
	grow_most = ARENA + (20 << 20);
	pinned = pin((20 << 20) - 5);
	assert_int_equal(arena_bytes, ARENA + (20 << 20));
	small = pin(9 << 20);
	asked_to_grow = 0;
	FAILS(cuMemHostAlloc(&small, 13 << 20, 0), OUT_OF_MEMORY);
	assert_int_equal(asked_to_grow, 2);
	assert_int_equal(said, before + 1);
	assert_non_null(strstr(last_said, "13 MiB"));
	assert_non_null(strstr(last_said, "server's machine"));
	FAILS(cuMemHostAlloc(&small, SIZE_MAX, 0), OUT_OF_MEMORY);
	assert_int_equal(asked_to_grow, 2);
	grow_bound = UINT32_MAX; /* a lie */
	FAILS(cuMemHostAlloc(&small, 13 << 20, 0), OUT_OF_MEMORY);
	assert_int_equal(said, before + 1);
	assert_int_equal(place_of(pin(3 << 20)), RING + (9 << 20)); /* rather than nothing */
	assert_int_equal(cuMemFreeHost(pinned), 0);
	hostmem_end(&contexts[0]);
	bound_here = KVGPU_REMOTE_BOUND_FILE;
	asked_to_grow = 0;
	FAILS(cuMemHostAlloc(&pinned, 13 << 20, 0), OUT_OF_MEMORY);
	assert_int_equal(asked_to_grow, 0);
	grow_most = UINT64_MAX;
	shared = false;
}

TEST(host_memory)
{
	static uint8_t mine[8192], seen[100];
	struct host_range found;
	void *p, *q;
	unsigned int flags;

	shared = true;
	bound_here = KVGPU_REMOTE_BOUND_FILE;
	OK(cuMemHostAlloc(&p, 100000, CU_MEMHOSTALLOC_PORTABLE));
	FAILS(cuMemHostAlloc(&q, 1, CU_MEMHOSTALLOC_DEVICEMAP), NOT_SUPPORTED);
	FAILS(cuMemHostAlloc(&q, 64 << 20, 0), OUT_OF_MEMORY);
	assert_int_equal(pinned_at(peers, p, 100000), (uint8_t *)p - (uint8_t *)arena_at(peers, 0));
	assert_int_equal(pinned_at(peers, (uint8_t *)p + 10, 99990),
			 (uint8_t *)p + 10 - (uint8_t *)arena_at(peers, 0));
	assert_int_equal(pinned_at(peers, (uint8_t *)p + 10, 99991), KVGPU_REMOTE_NOWHERE);
	OK(cuMemHostGetFlags(&flags, (uint8_t *)p + 99999));
	assert_int_equal(flags, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
	OK(cuMemHostRegister_v2(mine, sizeof(mine), 0));
	FAILS(cuMemHostRegister_v2(mine + 8191, 2, 0), HOST_MEMORY_ALREADY_REGISTERED);
	FAILS(cuMemHostRegister_v2(p, 10, 0), INVALID_VALUE);
	FAILS(cuMemHostRegister_v2(mine, 1, 2), NOT_SUPPORTED);
	/* what the GPU sees ends where it can't be noted */
	lends = true;
	FAILS(cuMemHostRegister_v2(mine, 1, 2), HOST_MEMORY_ALREADY_REGISTERED);
	assert_int_equal(lent_ends, 1);
	assert_false(pinned_device_has(0x123000));
	OK(cuMemHostRegister_v2(seen, 100, 2));
	assert_true(pinned_device_has(0x123000 + 99));
	assert_false(pinned_device_has(0x123000 + 100));
	OK(cuMemHostUnregister(seen));
	assert_false(pinned_device_has(0x123000));
	lends = false;
	assert_int_equal(pinned_at(peers, mine, 1), KVGPU_REMOTE_NOWHERE);
	assert_true(host_find(mine + 8191, &found));
	FAILS(cuMemFreeHost(mine), INVALID_VALUE);
	FAILS(cuMemHostUnregister(p), INVALID_VALUE);
	OK(cuMemHostUnregister(mine));
	FAILS(cuMemFreeHost((uint8_t *)p + 1), INVALID_VALUE);
	OK(cuMemFreeHost(p));
	FAILS(cuMemFreeHost(p), INVALID_VALUE);
	/* pinned memory goes with its context */
	OK(cuMemHostAlloc(&p, ARENA - RING, 0));
	hostmem_end(&contexts[0]);
	OK(cuMemHostAlloc(&q, ARENA - RING, 0));
	assert_ptr_equal(p, q);
	OK(cuMemFreeHost(q));
	shared = false;
}

TEST(host_memory_that_changes)
{
	static uint8_t mine[64];
	struct host_range pinned, registered;
	CUdeviceptr base;
	size_t bytes;
	void *p;

	OK(cuMemHostAlloc(&p, 64, 0));
	OK(cuMemHostRegister_v2(mine, 64, 0));
	assert_true(host_find(p, &pinned) && host_find(mine, &registered));
	assert_false(pinned_may_change(&pinned));
	/* the GPU sees the arena, which is shared, so any kernel may write there */
	shared = true;
	peers->arena_device = 1 << 20;
	assert_true(pinned_may_change(&pinned));
	assert_false(pinned_may_change(&registered));
	assert_true(pinned_device_range(&base, &bytes, (1 << 20) + pinned.at + 63));
	assert_true(base == (1 << 20) + pinned.at && bytes == 64);
	assert_false(pinned_device_range(NULL, NULL, (1 << 20) + pinned.at + 64));
	shared = false;
	peers->arena_device = 0;
	assert_false(pinned_may_change(&pinned));
	pinned_written();
	assert_true(pinned_may_change(&pinned) && pinned_may_change(&registered));
	OK(cuMemHostUnregister(mine));
	OK(cuMemFreeHost(p));
}

/* whether a kernel of the first server that is given @address is said to be the error's cause */
static bool is_told(void *address)
{
	const uint64_t packed[] = { 0, (uintptr_t)address, 7 };
	const unsigned int before = said;

	hostmem_end(&contexts[1]); /* nothing was told yet */
	kernel_uses(peers, (const uint8_t *)packed, sizeof(packed));
	hidden_tell(peers);
	kernel_uses(peers, (const uint8_t *)packed, sizeof(packed));
	hidden_tell(peers);
	assert_in_range(said, before, before + 1);
	return said > before;
}

/* Parameters of kernels that are addresses of host memory which the kernel's GPU does not see. */
TEST(host_memory_that_no_gpu_sees)
{
	static uint8_t mine[8192], same[ARENA];
	void *pinned, *mapped;
	uint64_t bytes;

	assert_int_equal(cuMemHostRegister_v2(mine, 4096, 0), 0);
	assert_int_equal(cuMemHostAlloc(&pinned, 100, 0), 0);
	assert_true(is_told(mine));
	assert_true(is_told(mine + 4095));
	assert_false(is_told(mine + 4096));
	assert_true(is_told(pinned));
	assert_true(is_told((uint8_t *)pinned + 96));
	assert_false(is_told(NULL));
	/* nothing was noted: another error has another cause */
	assert_int_equal(cuMemHostUnregister(mine), 0);
	assert_false(is_told(mine));
	/* the arena is mapped where the GPU of its server sees it */
	mapped = same + ((uint8_t *)pinned - (uint8_t *)kvgpu_remote_arena(NULL, &bytes));
	assert_int_equal(cuMemFreeHost(pinned), 0);
	shared = true;
	peers->pinned = 2;
	peers->same = same;
	peers->arena_device = (uintptr_t)same;
	assert_int_equal(cuMemHostAlloc(&pinned, 100, 0), 0);
	peers->pinned = 0;
	assert_ptr_equal(pinned, mapped);
	assert_false(is_told(pinned));
	shared = false;
	peers->same = NULL;
	peers->arena_device = 0;
	assert_int_equal(cuMemFreeHost(pinned), 0);
}

/* Where no arena is shared, pinned memory beyond it is this process's own. */
TEST(memory_beside_the_arena)
{
	unsigned int flags;
	CUdeviceptr device;
	uint8_t *own;

	own = pin(100 << 20);
	assert_int_equal(asked_to_grow, 0);
	own[(100 << 20) - 1] = 1;
	assert_true(place_of(own) == KVGPU_REMOTE_NOWHERE);
	OK(cuMemHostGetFlags(&flags, own + 5));
	FAILS(cuMemHostGetDevicePointer_v2(&device, own, 0), NOT_SUPPORTED);
	FAILS(cuMemHostUnregister(own), INVALID_VALUE);
	FAILS(cuMemHostRegister_v2(own, 4096, 0), INVALID_VALUE);
	assert_true(is_told(own));
	FAILS(cuMemFreeHost(own + 4096), INVALID_VALUE);
	OK(cuMemFreeHost(own));
	assert_int_equal(msync(own, 4096, MS_ASYNC), -1);
	own = pin(100 << 20);
	hostmem_end(&contexts[0]);
	assert_int_equal(msync(own, 4096, MS_ASYNC), -1);
}

static uint8_t seen[ARENA]; /* where the GPU sees an arena that is not shared */

static void unsee_arena(void)
{
	mapped = NULL;
	peers->same = NULL;
	peers->arena_device = 0;
	peers->ring_pinned = PINNED_UNKNOWN;
	asked_for_ring = 0;
}

/*
 * Where no arena is shared, pinned memory is mapped memory when a kernel is given it, or when the
 * program asks for its address on the device, once; not when its attributes are asked for.
 */
TEST(host_memory_that_the_gpu_may_use)
{
	uint64_t bytes, packed[] = { 1, 0, 2 };
	uint8_t *arena = kvgpu_remote_arena(NULL, &bytes), *pinned;
	CUdeviceptr device = 0;

	mapped = NULL;
	arena_is_seen_at(peers, (uintptr_t)arena); /* not twice at one address */
	assert_null(peers->same);
	arena_is_seen_at(peers, (uintptr_t)seen);
	OK(cuMemHostAlloc((void **)&pinned, 9000, 0));
	assert_in_range((uintptr_t)pinned, (uintptr_t)seen, (uintptr_t)seen + ARENA - 9000);
	assert_true(pinned_device(peers, pinned + 5, &device) && device == (uintptr_t)pinned + 5);
	assert_true(pinned_at(peers, pinned, 9000) == (uint64_t)(pinned - seen));
	packed[1] = (uintptr_t)pinned - 1;
	kernel_uses(peers, (const uint8_t *)packed, sizeof(packed));
	assert_null(made_mapped);
	assert_int_equal(asked_for_map, 0);
	/* the library does not register the arena: it is asked once */
	packed[1] = (uintptr_t)pinned + 8999;
	kernel_uses(peers, (const uint8_t *)packed, sizeof(packed));
	kernel_uses(peers, (const uint8_t *)packed, sizeof(packed));
	assert_int_equal(asked_for_map, 1);
	FAILS(cuMemHostGetDevicePointer_v2(&device, pinned, 0), NOT_SUPPORTED);
	assert_null(made_mapped);
	assert_true(is_told(pinned));
	assert_int_equal(cuMemFreeHost(pinned), 0);
	hostmem_end(&contexts[0]);
	unsee_arena();
}

static void put_later(void)
{
	uint64_t at[ARENA_LATER];
	unsigned int n = arena_take_later(peers, at);

	while (n--)
		arena_put(peers, at[n]);
}

static void *use(void *at)
{
	gpu_uses((uintptr_t)at);
	return NULL;
}

TEST(host_memory_that_the_gpu_uses)
{
	uint8_t *pinned;
	pthread_t thread;
	CUdeviceptr device = 0;
	struct host_range found;
	unsigned int flags;

	arena_is_seen_at(peers, (uintptr_t)seen);
	can_map = true;
	OK(cuMemHostAlloc((void **)&pinned, 9000, 0));
	gpu_uses((uintptr_t)pinned - 1);
	/* not while a socket reads it or writes there */
	assert_true(pinned_hold(peers, pinned + 100));
	pthread_create(&thread, NULL, use, pinned + 1);
	usleep(10000);
	assert_null(__atomic_load_n(&made_mapped, __ATOMIC_ACQUIRE));
	pinned_release();
	pthread_join(thread, NULL);
	assert_ptr_equal(made_mapped, pinned);
	assert_true(host_find(pinned, &found) && pinned_may_change(&found));
	/* the channel's senders and its reader keep away from it */
	assert_int_equal(pinned_at(peers, pinned, 1), KVGPU_REMOTE_NOWHERE);
	assert_false(pinned_hold(peers, pinned));
	made_mapped = "";
	gpu_uses((uintptr_t)pinned + 1);
	assert_string_equal(made_mapped, "");
	assert_false(is_told(pinned));
	made_mapped = pinned;
	assert_int_equal(cuMemFreeHost(pinned), 0);
	assert_null(made_mapped);
	/* at once, as the program says */
	asked_for_map = 0;
	assert_int_equal(cuMemHostAlloc((void **)&pinned, 10, CU_MEMHOSTALLOC_DEVICEMAP), 0);
	assert_ptr_equal(made_mapped, pinned);
	assert_int_equal(cuMemHostGetFlags(&flags, pinned + 9), 0);
	assert_int_equal(flags, CU_MEMHOSTALLOC_DEVICEMAP);
	assert_int_equal(cuMemHostGetDevicePointer_v2(&device, pinned + 3, 0), 0);
	assert_int_equal(device, (uintptr_t)pinned + 3);
	assert_in_range(asked_for_map, 0, 1);
	assert_int_equal(cuMemFreeHost(pinned), 0);
	put_later();
	no_more = true;
	FAILS(cuMemHostAlloc((void **)&pinned, 10, CU_MEMHOSTALLOC_DEVICEMAP), OUT_OF_MEMORY);
	no_more = false;
	hostmem_end(&contexts[0]);
	unsee_arena();
}

static void *pin_mapped(size_t bytes)
{
	void *pinned = NULL;

	OK(cuMemHostAlloc(&pinned, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
	return pinned;
}

/*
 * Small mapped memory that the program frees is left to work that may still use it. Nobody gets it
 * before a wait for all of that work, which many share.
 */
TEST(mapped_memory_that_is_freed)
{
	enum { ROOM = ARENA / 256 / 4096 };
	void *freed[ROOM], *large;
	uint64_t place[ROOM];
	unsigned int i, flags;

	put_later(); /* of earlier tests */
	arena_is_seen_at(peers, (uintptr_t)seen);
	can_map = true;
	for (i = 0; i < ROOM; i++) {
		freed[i] = pin_mapped(8);
		place[i] = (uint8_t *)freed[i] - seen;
	}
	large = pin_mapped(ARENA / 128);
	fences = waits_for_work = 0;
	for (i = 0; i < ROOM; i++) {
		OK(cuMemFreeHost(freed[i]));
		FAILS(cuMemHostGetFlags(&flags, freed[i]), INVALID_VALUE);
	}
	freed[0] = pin_mapped(8);
	assert_true((uint64_t)((uint8_t *)freed[0] - seen) > place[ROOM - 1]);
	assert_int_equal(fences + waits_for_work, 0);
	OK(cuMemFreeHost(freed[0])); /* there is no room for one more */
	assert_int_equal(fences, 1);
	assert_int_equal(waits_for_work, 1);
	freed[0] = pin_mapped(8);
	assert_ptr_equal(freed[0], seen + place[0]);
	/* one that is large is waited for, as is each after an error that stays */
	OK(cuMemFreeHost(large));
	asks = true;
	OK(cuMemFreeHost(freed[0]));
	asks = false;
	assert_int_equal(fences, 3);
	assert_int_equal(waits_for_work, 3);
	/* after a wait that failed they stay taken */
	freed[0] = pin_mapped(8);
	OK(cuMemFreeHost(freed[0]));
	large = pin_mapped(ARENA / 128);
	fence_result = CUDA_ERROR_UNKNOWN;
	FAILS(cuMemFreeHost(large), UNKNOWN);
	fence_result = CUDA_SUCCESS;
	assert_ptr_not_equal(pin_mapped(8), seen + place[0]);
	arena_put(peers, place[0]);
	hostmem_end(&contexts[0]);
	unsee_arena();
}

/* Ends contexts[0]'s host memory, has the arena pinned at @device, and allocates anew. */
static uint8_t *pinned_at_device(uint8_t *device)
{
	void *pinned;

	hostmem_end(&contexts[0]);
	arena_device = (uintptr_t)device;
	assert_int_equal(cuMemHostAlloc(&pinned, 100, 0), 0);
	return pinned;
}

/* A channel's second mapping stays. */
TEST(a_mapping_outlives_its_context)
{
	static uint8_t same[ARENA], other[ARENA];
	uint8_t *arena, *pinned;
	uint64_t bytes, at;

	arena = kvgpu_remote_arena(NULL, &bytes);
	shared = true;
	pinned = pinned_at_device(same);
	at = pinned - same;
	assert_true(at < ARENA);
	assert_false(is_told(pinned));
	assert_true(pinned_foreign(&peers[1], (uintptr_t)same, 1));
	/* at another address: the GPU does not see the mapping, which is there all the same */
	assert_ptr_equal(pinned_at_device(other), arena + at);
	assert_true(is_told(arena + at));
	assert_true(pinned_foreign(&peers[1], (uintptr_t)same, 1));
	/* at the first address again */
	assert_ptr_equal(pinned_at_device(same), same + at);
	assert_false(is_told(same + at));
	hostmem_end(&contexts[0]);
	shared = false;
	arena_device = 0;
	peers->same = NULL;
	peers->arena_device = 0;
	peers->pinned = 0;
}

/* When all pieces are given back the memory is one piece again. */
TEST(pieces_for_long)
{
	enum { N = 100 };
	uint64_t at[N], all;
	unsigned int i, j, turn;

	for (turn = 1; turn < 8; turn++) {
		for (i = 0; i < N; i++) {
			at[i] = arena_get(peers, 1 + (i * turn * 3001) % 90000);
			assert_true(at[i] != KVGPU_REMOTE_NOWHERE && at[i] >= RING);
			for (j = 0; j < i; j++)
				assert_true(at[i] != at[j]);
		}
		for (i = 0; i < N; i++)
			/* 37 and 100 have no common divisor, so each piece is given back once */
			arena_put(peers, at[i * 37 % N]);
		all = arena_get(peers, ARENA - RING);
		assert_int_equal(all, RING);
		assert_int_equal(arena_get(peers, 1), KVGPU_REMOTE_NOWHERE);
		arena_put(peers, all);
	}
	assert_int_equal(arena_get(peers, UINT64_MAX), KVGPU_REMOTE_NOWHERE);
}

/*
 * A piece of the ring is used again only when a fence says that its frame is through. A fence waits
 * for half of the ring only.
 */
TEST(pieces_on_their_way)
{
	enum { LIVE = 4096 };
	static struct {
		uint64_t at, bytes, seq;
	} live[LIVE];
	unsigned int n = 0, i, j;
	uint64_t left = 0;
	struct staged *p;
	CUresult r;

	fences = 0;
	for (i = 0; i < LIVE; i++) {
		live[n].bytes = 1 + (i * 7919) % KVGPU_REMOTE_PIECE_MAX;
		p = staging_get(peers, live[n].bytes, &live[n].at, &r);
		assert_non_null(p);
		assert_true(live[n].at + live[n].bytes <= RING);
		for (j = 0; j < n; j++)
			if (live[j].seq > through && live[j].at < live[n].at + live[n].bytes &&
			    live[n].at < live[j].at + live[j].bytes)
				fail_msg("piece %u lies over piece %u, which is on its way", i, j);
		live[n].seq = ++sent;
		staging_sent(peers, p, sent);
		left = sent - through < left ? left : sent - through;
		if (++n == 64)
			n = 0;
	}
	assert_true(fences > 100 && fences < LIVE);
	assert_true(left > 3); /* the other half stays on its way meanwhile */
	fence_result = CUDA_ERROR_SYSTEM_NOT_READY;
	while ((p = staging_get(peers, KVGPU_REMOTE_PIECE_MAX, &live[0].at, &r)))
		staging_sent(peers, p, ++sent);
	FAILS(r, SYSTEM_NOT_READY);
}

/*
 * A late piece is used again only when a fence says that its frame is through, another one when a
 * later frame was answered.
 */
TEST(late_pieces)
{
	struct staged *p;
	uint64_t at, i;
	CUresult r;

	fence_result = CUDA_SUCCESS;
	through = sent;
	fences = 0;
	for (i = 0; i < 100; i++) {
		answered = sent;
		p = staging_get(peers, KVGPU_REMOTE_PIECE_MAX, &at, &r);
		assert_false(p->late);
		staging_sent(peers, p, ++sent);
	}
	assert_int_equal(fences, 0);
	for (i = 0; i < 100; i++) {
		answered = sent;
		p = staging_get(peers, KVGPU_REMOTE_PIECE_MAX, &at, &r);
		p->late = true;
		staging_sent(peers, p, ++sent);
	}
	assert_in_range(fences, 30, 100);
	/* in shared memory all are late */
	shared = true;
	p = staging_get(peers, 8, &at, &r);
	assert_true(p->late);
	staging_sent(peers, p, ++sent);
	shared = false;
	through = answered = sent;
}

/* Slots lie between the ring and other pieces. When all are taken, these are given out. */
TEST(slots)
{
	const uint64_t piece = KVGPU_REMOTE_PIECE_MAX;
	uint64_t at[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		at[i] = slot_get(peers, piece);
	assert_int_equal(at[0], RING - piece);
	assert_int_equal(at[0], peers->arena.ring_bytes);
	assert_int_equal(at[1], RING);
	assert_int_equal(at[2], RING + piece);
	slot_put(peers, at[1]);
	slot_put(peers, at[0]);
	assert_int_equal(slot_get(peers, 8), at[0]);
	assert_int_equal(slot_get(peers, 8), at[1]);
	for (i = 0; i < 3; i++)
		slot_put(peers, at[i]);
	assert_int_equal(arena_get(peers, ARENA - RING), RING);
	arena_put(peers, RING);
	/* shared memory has none: all of it is registered */
	shared = true;
	free(peers[1].arena.blocks);
	assert_true(arena_init(&peers[1]));
	assert_int_equal(peers[1].arena.ring_bytes, RING);
	assert_int_equal(slot_get(&peers[1], 8), RING);
	slot_put(&peers[1], RING);
	shared = false;
}

/* The server is asked once for its ring, by a thread with a context there. */
TEST(ring_asked_once)
{
	asked_for_ring = 0;
	ring = true;
	assert_false(ring_is_pinned(peers, false));
	current = NULL;
	assert_false(ring_is_pinned(peers, true));
	current = &contexts[0];
	assert_int_equal(asked_for_ring, 0);
	assert_true(ring_is_pinned(peers, true));
	ring = false;
	assert_true(ring_is_pinned(peers, true));
	assert_true(ring_is_pinned(peers, false));
	assert_int_equal(asked_for_ring, 1);
	peers->ring_pinned = PINNED_UNKNOWN;
	assert_false(ring_is_pinned(peers, true));
	assert_false(ring_is_pinned(peers, true));
	assert_int_equal(asked_for_ring, 2);
}

/*
 * With small pieces the ring has ARENA_PIECES before its bytes are used up. A fence waits for half
 * of them only.
 */
TEST(small_pieces_on_their_way)
{
	uint64_t at, left = ARENA_PIECES;
	struct staged *p;
	unsigned int i;
	CUresult r;

	fence_result = CUDA_SUCCESS;
	through = sent;
	fences = 0;
	for (i = 0; i < 4 * ARENA_PIECES; i++) {
		p = staging_get(peers, 1025, &at, &r);
		assert_non_null(p);
		if (fences && sent - through < left)
			left = sent - through;
		staging_sent(peers, p, ++sent);
	}
	assert_true(fences);
	assert_true(left >= ARENA_PIECES / 2);
}

/*
 * Copies one after the other use the same pages, even if the last ones ended in the middle of the
 * ring.
 */
TEST(an_empty_ring_begins_anew)
{
	uint64_t at, bytes, behind;
	struct staged *p;
	unsigned int i;
	CUresult r;

	fence_result = CUDA_SUCCESS;
	for (i = 0; i < 1000; i++) {
		bytes = 1 + (i * 7919) % KVGPU_REMOTE_PIECE_MAX;
		through = sent;
		p = staging_get(peers, bytes, &at, &r);
		assert_non_null(p);
		assert_int_equal(at, 0);
		staging_sent(peers, p, ++sent);
		p = staging_get(peers, 1, &behind, &r);
		assert_non_null(p);
		assert_true(behind >= bytes);
		staging_sent(peers, p, ++sent);
	}
}

/*
 * For a relay a piece's room is its size, rounded up to a power of two of 4 KiB at least. Each
 * piece lies at a multiple of its room.
 */
TEST(pieces_for_a_relay)
{
	uint64_t at, bytes, size;
	struct staged *p;
	unsigned int i;
	CUresult r;

	/* a piece that does not fit into the ring would be waited for without an end */
	relay = (struct kvgpu_remote_relayed){ .piece = 3 << 20 };
	free(peers->arena.blocks);
	peer_init(peers);
	assert_false(arena_init(peers));
	relay.piece = 128 << 10;
	assert_true(arena_init(peers));
	fence_result = CUDA_SUCCESS;
	assert_int_equal(peers->arena.ring_bytes % relay.piece, 0);
	for (i = 0; i < 4096; i++) {
		bytes = 1 + (i * 7919) % relay.piece;
		for (size = 4096; size < bytes; size *= 2)
			;
		p = staging_get(peers, bytes, &at, &r);
		assert_non_null(p);
		assert_int_equal(at % size, 0);
		assert_true(at + size <= peers->arena.ring_bytes);
		staging_sent(peers, p, ++sent);
	}
	relay.piece = 0;
}

/* Once for all tests, which share the lists. */
static int set_up(void **state)
{
	peer_init(peers);
	nr_peers = 2;
	peer_init(&peers[1]);
	arena_init(peers);
	return 0;
}

int main(void)
{
	return unit_tests_run(NULL, NULL, set_up, NULL);
}
