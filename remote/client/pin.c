// SPDX-License-Identifier: MIT
/*
 * Whether the GPU itself accesses pinned memory, which its server knows; and the entry points for
 * pinned and registered memory, of which hostmem.c has the list.
 *
 * Where no arena is shared, pinned memory is made mapped memory (managed.c) when the program gives
 * it to the GPU: by CU_MEMHOSTALLOC_DEVICEMAP, by cuMemHostGetDevicePointer(), or among a kernel's
 * parameters and the device addresses of other work. Other pinned memory has no closed pages.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

enum { REGISTER_PORTABLE = 1, REGISTER_DEVICEMAP = 2, REGISTER_READ_ONLY = 8 };

/* pinned_map(), but not where the GPU of another server has memory */
static void see_at(struct peer *p, uint64_t device)
{
	enum kvgpu_remote_bound bound;
	uint64_t bytes = kvgpu_remote_arena_most(p->channel, &bound);

	if (!several || !ranges_foreign(p, device, bytes))
		pinned_map(p, device);
}

bool arena_is_pinned(struct peer *p)
{
	struct call c = { .op = OP_pin, .to.peer = p };
	int known = __atomic_load_n(&p->pinned, __ATOMIC_ACQUIRE);
	struct a_pin a;

	/* the question needs a current context of that server */
	if (several && p != current_peer())
		return known == PINNED;
	if (known == PINNED_UNKNOWN && kvgpu_remote_is_shared(p->channel) &&
	    !call_sync(&c, sizeof(a))) {
		memcpy(&a, c.answer, sizeof(a));
		known = a.pinned ? PINNED : PINNED_NOT;
		if (a.pinned)
			see_at(p, a.device);
		__atomic_store_n(&p->whole, a.whole, __ATOMIC_RELAXED);
		__atomic_store_n(&p->arena_device, a.device, __ATOMIC_RELEASE);
		__atomic_store_n(&p->pinned, known, __ATOMIC_RELEASE);
	}
	return known == PINNED;
}

bool ring_is_pinned(struct peer *p, bool ask)
{
	const struct arena *a = &p->arena;
	struct q_ring q = { a->ring_bytes + a->nr_slots * (uint64_t)KVGPU_REMOTE_PIECE_MAX };
	struct call c = { .op = OP_ring, .fixed = &q, .bytes = sizeof(q), .to.peer = p };
	int known = __atomic_load_n(&p->ring_pinned, __ATOMIC_ACQUIRE);
	struct a_ring answer;

	/* the question needs a current context of that server */
	if (known != PINNED_UNKNOWN || !ask || !current_context() || p != current_peer())
		return known == PINNED;
	if (call_sync(&c, sizeof(answer)))
		return false;
	memcpy(&answer, c.answer, sizeof(answer));
	known = answer.pinned ? PINNED : PINNED_NOT;
	__atomic_store_n(&p->ring_pinned, known, __ATOMIC_RELEASE);
	return known == PINNED;
}

/* ------------------------------------------------------- mapped memory where no arena is shared */

/*
 * A second mapping is needed, as pages of it are closed while the channel uses the first one. A
 * relay would read pages from the arena later than they are sent.
 */
void arena_is_seen_at(struct peer *p, uint64_t where)
{
	if (where && where != (uintptr_t)p->arena.base && kvgpu_remote_is_plain(p->channel))
		see_at(p, where);
}

/* the ring first, so that the rest is registered without it: see source_bytes() of the server */
static bool arena_is_mapped(struct peer *p)
{
	struct call c = { .op = OP_map, .to.peer = p };
	int known = __atomic_load_n(&p->mapped, __ATOMIC_ACQUIRE);

	/* the question needs a current context of that server */
	if (known != PINNED_UNKNOWN || !current_context() || p != current_peer())
		return known == PINNED;
	ring_is_pinned(p, true);
	if (call_sync(&c, sizeof(struct a_map)))
		return false;
	known = ((const struct a_map *)c.answer)->mapped ? PINNED : PINNED_NOT;
	if (known == PINNED)
		__atomic_store_n(&p->arena_device,
				 (uintptr_t)__atomic_load_n(&p->same, __ATOMIC_ACQUIRE),
				 __ATOMIC_RELEASE);
	__atomic_store_n(&p->mapped, known, __ATOMIC_RELEASE);
	return known == PINNED;
}

/* whether pinned memory lies where the GPU sees it, when the GPU sees the arena */
static bool can_be_mapped(const struct host_range *r)
{
	const uint8_t *same;

	if (r->at == KVGPU_REMOTE_NOWHERE || kvgpu_remote_is_shared(r->peer->channel) ||
	    __atomic_load_n(&r->peer->mapped, __ATOMIC_ACQUIRE) == PINNED_NOT)
		return false;
	same = __atomic_load_n(&r->peer->same, __ATOMIC_ACQUIRE);
	return same && r->base == same + r->at;
}

static bool map_range(const struct host_range *r)
{
	return can_be_mapped(r) && arena_is_mapped(r->peer) && mapped_begin(r);
}

void gpu_uses(CUdeviceptr ptr)
{
	struct host_range found;

	if (!hostmem_may_have(ptr) || !host_find((const void *)(uintptr_t)ptr, &found))
		return;
	if (!found.mapped && can_be_mapped(&found))
		host_map((const void *)(uintptr_t)ptr, map_range);
	else if (found.at != KVGPU_REMOTE_NOWHERE && kvgpu_remote_is_shared(found.peer->channel))
		pinned_written();
}

void kernel_uses(struct peer *p, const uint8_t *packed, uint32_t bytes)
{
	uint64_t word;
	uint32_t i;

	for (i = 0; i + sizeof(word) <= bytes; i += sizeof(word)) {
		memcpy(&word, packed + i, sizeof(word));
		if (!hostmem_may_have(word))
			continue;
		gpu_uses(word);
		hidden_note(p, word);
	}
}

/* whether the GPU sees place @at of a registered arena at .arena_device */
static bool is_seen(const struct peer *p, uint64_t at)
{
	return at < p->arena.first || __atomic_load_n(&p->whole, __ATOMIC_RELAXED);
}

bool pinned_device(struct peer *p, const void *host, CUdeviceptr *device)
{
	uint64_t at = pinned_at(p, host, 1);
	struct host_range found;

	if (host_find(host, &found) && found.peer == p && can_be_mapped(&found)) {
		*device = (uintptr_t)host;
		return true;
	}
	if (host_find(host, &found) && found.lent_to == p) {
		*device = found.device + ((const uint8_t *)host - found.base);
		return true;
	}
	if (at == KVGPU_REMOTE_NOWHERE || !arena_is_pinned(p) || !is_seen(p, at))
		return false;
	*device = __atomic_load_n(&p->arena_device, __ATOMIC_ACQUIRE) + at;
	return true;
}

/* ------------------------------------------------------------------ entry points */

#define UNSEEN                                                                         \
	"the server's library does not show this memory to the GPU at an address, or " \
	"this process has something else there"

CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags)
{
	struct peer *p = current_peer();
	uint64_t at;
	uint8_t *host, *own;
	bool shared, shown;
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!ptr || flags & ~(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
			      CU_MEMHOSTALLOC_WRITECOMBINED))
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*ptr = NULL;
		return CUDA_SUCCESS;
	}
	shared = kvgpu_remote_is_shared(p->channel);
	shown = arena_is_pinned(p);
	host = shared ? pinned_same(p) : __atomic_load_n(&p->same, __ATOMIC_ACQUIRE);
	if (flags & CU_MEMHOSTALLOC_DEVICEMAP && !(shared ? shown : host && arena_is_mapped(p)))
		return REFUSE("cuMemHostAlloc() with CU_MEMHOSTALLOC_DEVICEMAP", UNSEEN);
	at = pinned_room(p, bytes, flags & CU_MEMHOSTALLOC_DEVICEMAP, &own);
	if (at == KVGPU_REMOTE_NOWHERE && !own)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (own)
		host = own;
	else
		host = (!shared || (shown && is_seen(p, at))) && host ? host + at : arena_at(p, at);
	r = host_add((struct host_range){ .base = host,
					  .bytes = bytes,
					  .at = at,
					  .peer = p,
					  .flags = flags,
					  .ctx = current_context() });
	if (r && own)
		munmap(own, bytes);
	else if (r)
		arena_put(p, at);
	else if (flags & CU_MEMHOSTALLOC_DEVICEMAP && !shared && !host_map(host, map_range))
		r = host_remove(host, true, CUDA_SUCCESS) ? CUDA_ERROR_UNKNOWN :
							    CUDA_ERROR_OUT_OF_MEMORY;
	else
		*ptr = host;
	return r;
}

CUresult cuMemAllocHost_v2(void **ptr, size_t bytes)
{
	return cuMemHostAlloc(ptr, bytes, 0);
}

/* Leave small mapped memory to the work that may still use it: no wait then. */
static bool leave(const struct host_range *r)
{
	if (!r->mapped || call_asks(r->peer))
		return false;
	mapped_end(r->base);
	return host_leave(r->base);
}

/* copies from or to pinned memory may be under way, and kernels that use it if it is @mapped */
static CUresult wait_for_all(struct peer *p, bool mapped)
{
	uint64_t later[ARENA_LATER];
	unsigned int i, n = arena_take_later(p, later);
	CUresult r = call_fence(p, UINT64_MAX);

	if (!r && (n || mapped))
		managed_wait();
	for (i = 0; i < n && !r; i++) /* after an error they stay taken */
		arena_put(p, later[i]);
	return r;
}

CUresult cuMemFreeHost(void *ptr)
{
	struct host_range found = { 0 };
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r || !ptr)
		return r;
	if (host_find(ptr, &found) && found.base == ptr && leave(&found))
		return CUDA_SUCCESS;
	r = wait_for_all(found.peer ? found.peer : current_peer(), found.mapped);
	if (!r)
		mapped_end(ptr);
	r = r ? r : host_remove(ptr, true, CUDA_ERROR_INVALID_VALUE);
	if (!r)
		pinned_shrink(found.peer);
	return r;
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *ptr, void *host, unsigned int flags)
{
	struct host_range found;
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!ptr || flags || !host_find(host, &found) || !(found.peer || found.lent_to))
		return CUDA_ERROR_INVALID_VALUE;
	if ((can_be_mapped(&found) && !host_map(host, map_range)) ||
	    !pinned_device(current_peer(), host, ptr))
		return REFUSE("cuMemHostGetDevicePointer() of pinned memory", UNSEEN);
	return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *host)
{
	struct host_range found = { 0 };
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!flags || (!host_find(host, &found) && !managed_has((uintptr_t)host)))
		return CUDA_ERROR_INVALID_VALUE;
	/* NVIDIA's has it so, whether the program has asked for an address on the GPU or not */
	*flags = (found.flags & ~REGISTER_READ_ONLY) | CU_MEMHOSTALLOC_DEVICEMAP;
	return CUDA_SUCCESS;
}

/* MS_ASYNC changes nothing, and finds pages where nothing is mapped. */
static bool is_mapped(const void *at, size_t bytes)
{
	uintptr_t page = (uintptr_t)at & -(uintptr_t)sysconf(_SC_PAGESIZE), end;

	return !__builtin_add_overflow((uintptr_t)at, bytes, &end) &&
	       !msync((void *)page, end - page, MS_ASYNC);
}

CUresult cuMemHostRegister_v2(void *ptr, size_t bytes, unsigned int flags)
{
	struct host_range found, made = { .base = ptr, .bytes = bytes, .at = KVGPU_REMOTE_NOWHERE };
	CUresult r = call_enter(0);

	if (r)
		return r;
	if (!ptr || !bytes ||
	    flags & ~(REGISTER_PORTABLE | REGISTER_DEVICEMAP | REGISTER_READ_ONLY) ||
	    !is_mapped(ptr, bytes) || managed_has((uintptr_t)ptr) ||
	    (host_find(ptr, &found) && found.peer))
		return CUDA_ERROR_INVALID_VALUE;
	made.flags = flags;
	made.ctx = current_context();
	if (flags & REGISTER_DEVICEMAP) {
		made.lent_to = current_peer();
		r = memory_lend(made.lent_to, ptr, bytes, flags, &made.device);
		if (r)
			return r;
	}
	r = host_add(made);
	if (r && made.lent_to)
		memory_lend_end(made.lent_to, made.device);
	return r;
}

CUresult cuMemHostUnregister(void *ptr)
{
	struct host_range found = { 0 };
	CUresult r = call_enter(CALL_FINDS_CONTEXT);

	if (r)
		return r;
	if (!ptr || managed_has((uintptr_t)ptr) ||
	    (host_find(ptr, &found) && (found.peer || found.base != ptr)))
		return CUDA_ERROR_INVALID_VALUE;
	if (found.lent_to)
		r = memory_lend_end(found.lent_to, found.device);
	return r ? r : host_remove(ptr, false, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}
