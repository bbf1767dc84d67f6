// SPDX-License-Identifier: MIT
/*
 * Pinned memory, which lies in the arena or is this process's own, and registered memory, which is
 * the program's.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "client.h"

/* protects ranges, nr and max; lowest, highest and a peer's .same are written under it */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct host_range *ranges; /* sorted by their begins, without overlaps */
static unsigned int nr, max;
static bool written; /* atomic: see pinned_written() */
static bool lent; /* atomic: a GPU saw registered memory */
/* outer to `lock`. Written while pinned memory is made mapped memory; read: pinned_hold() */
static pthread_rwlock_t mapping = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
enum { HIDDEN_TOLD = 1 }; /* .hidden of a peer: it was told */
/* atomic: all ranges that there ever were lie between these */
static uint64_t lowest = UINT64_MAX, highest;

/* call with the lock, as find_host_range(): the first range behind @host */
static unsigned int index_above(const void *host)
{
	unsigned int low = 0, high = nr;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (ranges[mid].base <= (const uint8_t *)host)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct host_range *find_host_range(const void *host)
{
	const unsigned int i = index_above(host);
	struct host_range *r = i ? &ranges[i - 1] : NULL;

	return r && (uint64_t)((const uint8_t *)host - r->base) < r->bytes ? r : NULL;
}

bool host_find(const void *host, struct host_range *out)
{
	const struct host_range *r;

	pthread_mutex_lock(&lock);
	r = find_host_range(host);
	if (r)
		*out = *r;
	pthread_mutex_unlock(&lock);
	return r;
}

uint64_t pinned_at(const struct peer *p, const void *host, uint64_t bytes)
{
	uint64_t at = KVGPU_REMOTE_NOWHERE, off;
	const struct host_range *r;

	pthread_mutex_lock(&lock);
	r = find_host_range(host);
	off = r ? (const uint8_t *)host - r->base : 0;
	if (r && r->at != KVGPU_REMOTE_NOWHERE && !r->mapped && r->peer == p &&
	    bytes <= r->bytes - off)
		at = r->at + off;
	pthread_mutex_unlock(&lock);
	return at;
}

bool pinned_hold(const struct peer *p, const void *host)
{
	if (!kvgpu_remote_is_plain(p->channel) || !__atomic_load_n(&p->same, __ATOMIC_ACQUIRE) ||
	    pinned_at(p, host, 1) == KVGPU_REMOTE_NOWHERE)
		return false;
	pthread_rwlock_rdlock(&mapping);
	return true;
}

void pinned_release(void)
{
	pthread_rwlock_unlock(&mapping);
}

bool host_map(const void *host, bool (*map)(const struct host_range *r))
{
	struct host_range found, *r;
	bool is;

	pthread_rwlock_wrlock(&mapping);
	is = host_find(host, &found) && (found.mapped || map(&found));
	if (is) {
		pthread_mutex_lock(&lock);
		r = find_host_range(host);
		if (r)
			r->mapped = true;
		pthread_mutex_unlock(&lock);
	}
	pthread_rwlock_unlock(&mapping);
	return is;
}

CUresult host_add(struct host_range r)
{
	CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
	struct host_range *grown;
	unsigned int at;

	pthread_mutex_lock(&lock);
	at = index_above(r.base);
	if (find_host_range(r.base) || (at < nr && ranges[at].base < r.base + r.bytes)) {
		result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
		goto out;
	}
	if (nr == max) {
		grown = realloc(ranges, (max ? 2 * max : 64) * sizeof(*grown));
		if (!grown)
			goto out;
		ranges = grown;
		max = max ? 2 * max : 64;
	}
	memmove(&ranges[at + 1], &ranges[at], (nr - at) * sizeof(*ranges));
	ranges[at] = r;
	nr++;
	if (r.device)
		__atomic_store_n(&lent, true, __ATOMIC_RELAXED);
	if ((uintptr_t)r.base < lowest)
		__atomic_store_n(&lowest, (uintptr_t)r.base, __ATOMIC_RELAXED);
	if ((uintptr_t)r.base + r.bytes > highest)
		__atomic_store_n(&highest, (uintptr_t)r.base + r.bytes, __ATOMIC_RELAXED);
	/* of an arena a core file has what was ever pinned: it would have untouched pages, too */
	if (r.at != KVGPU_REMOTE_NOWHERE)
		madvise(r.base, r.bytes, MADV_DODUMP);
	result = CUDA_SUCCESS;
out:
	pthread_mutex_unlock(&lock);
	return result;
}

/* call with the lock */
static void take_out(unsigned int at)
{
	nr--;
	memmove(&ranges[at], &ranges[at + 1], (nr - at) * sizeof(*ranges));
}

/* call with the lock */
static void remove_at(unsigned int at)
{
	struct host_range was = ranges[at];

	take_out(at);
	if (was.at != KVGPU_REMOTE_NOWHERE)
		arena_put(was.peer, was.at);
	else if (was.peer)
		munmap(was.base, was.bytes);
}

void pinned_map(struct peer *p, uint64_t device)
{
	void *at;

	pthread_mutex_lock(&lock);
	/* a mapping stays, and ranges may lie in it, when the arena is pinned at another address */
	if (!p->same) {
		at = kvgpu_remote_arena_at(p->channel, device);
		__atomic_store_n(&p->same, at, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
}

bool pinned_resize(struct peer *p, uint64_t bytes)
{
	bool fine;

	pthread_mutex_lock(&lock);
	fine = kvgpu_remote_arena_resize(p->channel, bytes);
	pthread_mutex_unlock(&lock);
	return fine;
}

uint8_t *pinned_same(const struct peer *p)
{
	uint8_t *same = __atomic_load_n(&p->same, __ATOMIC_ACQUIRE);

	return (uintptr_t)same == __atomic_load_n(&p->arena_device, __ATOMIC_ACQUIRE) ? same : NULL;
}

bool pinned_foreign(const struct peer *p, uint64_t begin, uint64_t bytes)
{
	enum kvgpu_remote_bound bound;
	uint64_t arena_bytes, at;
	unsigned int i;

	for (i = 0; i < nr_peers; i++) {
		at = (uintptr_t)__atomic_load_n(&peers[i].same, __ATOMIC_ACQUIRE);
		if (!at || &peers[i] == p)
			continue;
		arena_bytes = kvgpu_remote_arena_most(peers[i].channel, &bound);
		if (begin < at + arena_bytes && at < begin + bytes)
			return true;
	}
	return false;
}

/* registered memory that a GPU sees at @at */
static bool lent_has(CUdeviceptr at)
{
	bool has = false;
	unsigned int i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < nr && !has; i++)
		has = ranges[i].device && at - ranges[i].device < ranges[i].bytes;
	pthread_mutex_unlock(&lock);
	return has;
}

bool pinned_device_has(CUdeviceptr at)
{
	uint64_t device, bytes;
	unsigned int i;

	if (__atomic_load_n(&lent, __ATOMIC_RELAXED) && lent_has(at))
		return true;
	for (i = 0; i < nr_peers; i++) {
		device = __atomic_load_n(&peers[i].arena_device, __ATOMIC_ACQUIRE);
		kvgpu_remote_arena(peers[i].channel, &bytes);
		if (device && at - device < bytes)
			return true;
	}
	return false;
}

bool pinned_device_range(CUdeviceptr *base, size_t *bytes, CUdeviceptr at)
{
	const struct host_range *r;
	uint64_t device, arena;
	unsigned int i;
	bool has = false;

	if (!pinned_device_has(at))
		return false;
	pthread_mutex_lock(&lock);
	for (i = 0; i < nr && !has; i++) {
		r = &ranges[i];
		arena = r->peer ? __atomic_load_n(&r->peer->arena_device, __ATOMIC_ACQUIRE) : 0;
		device = arena && r->at != KVGPU_REMOTE_NOWHERE ? arena + r->at : r->device;
		has = device && at - device < r->bytes;
		if (has && base)
			*base = device;
		if (has && bytes)
			*bytes = r->bytes;
	}
	pthread_mutex_unlock(&lock);
	return has;
}

bool hostmem_may_have(uint64_t address)
{
	return address >= __atomic_load_n(&lowest, __ATOMIC_RELAXED) &&
	       address < __atomic_load_n(&highest, __ATOMIC_RELAXED);
}

/* host memory of this process that the GPU of @p does not see */
static bool is_hidden(const struct peer *p, uint64_t address)
{
	const uint8_t *same = pinned_same(p);
	struct host_range r;

	if (!host_find((const void *)(uintptr_t)address, &r))
		return false;
	return r.at == KVGPU_REMOTE_NOWHERE || r.peer != p || !same || r.base != same + r.at;
}

void hidden_note(struct peer *p, uint64_t address)
{
	if (__atomic_load_n(&p->hidden, __ATOMIC_RELAXED) != HIDDEN_TOLD && is_hidden(p, address))
		__atomic_store_n(&p->hidden, address, __ATOMIC_RELAXED);
}

void hidden_tell(struct peer *p)
{
	uint64_t address = __atomic_load_n(&p->hidden, __ATOMIC_RELAXED);

	if (address && address != HIDDEN_TOLD &&
	    __atomic_exchange_n(&p->hidden, HIDDEN_TOLD, __ATOMIC_RELAXED) != HIDDEN_TOLD)
		client_say(
			"illegal address: a kernel was given 0x%llx, which is host memory of this process that its GPU "
			"does not see (where cudaDeviceProp's canMapHostMemory is 0, no GPU does)",
			(unsigned long long)address);
}

void pinned_written(void)
{
	__atomic_store_n(&written, true, __ATOMIC_RELEASE);
}

bool pinned_is_written(void)
{
	return __atomic_load_n(&written, __ATOMIC_ACQUIRE);
}

bool pinned_may_change(const struct host_range *r)
{
	/* mapped memory, which kernels may write */
	const bool mapped =
		r->mapped ||
		(r->at != KVGPU_REMOTE_NOWHERE && kvgpu_remote_is_shared(r->peer->channel) &&
		 __atomic_load_n(&r->peer->arena_device, __ATOMIC_ACQUIRE));

	return mapped || pinned_is_written();
}

/* the arena may have been registered in @ctx: ask again */
void hostmem_end(const void *ctx)
{
	unsigned int i = 0;

	__atomic_store_n(&object_peer(ctx)->pinned, PINNED_UNKNOWN, __ATOMIC_RELEASE);
	__atomic_store_n(&object_peer(ctx)->mapped, PINNED_UNKNOWN, __ATOMIC_RELEASE);
	__atomic_store_n(&object_peer(ctx)->hidden, 0, __ATOMIC_RELAXED);
	pthread_mutex_lock(&lock);
	while (i < nr)
		if (ranges[i].ctx == ctx)
			remove_at(i);
		else
			i++;
	pthread_mutex_unlock(&lock);
}

CUresult host_remove(void *ptr, bool pinned, CUresult none)
{
	unsigned int at;
	CUresult r = none;

	pthread_mutex_lock(&lock);
	at = index_above(ptr);
	if (at && ranges[at - 1].base == ptr && !ranges[at - 1].peer != pinned) {
		remove_at(at - 1);
		r = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return r;
}

bool host_leave(void *ptr)
{
	unsigned int at;
	bool is;

	pthread_mutex_lock(&lock);
	at = index_above(ptr);
	is = at && ranges[at - 1].base == ptr && ranges[at - 1].at != KVGPU_REMOTE_NOWHERE &&
	     arena_put_later(ranges[at - 1].peer, ranges[at - 1].at);
	if (is)
		take_out(at - 1);
	pthread_mutex_unlock(&lock);
	return is;
}
