// SPDX-License-Identifier: MIT
/*
 * Memory that cuMemCreate() makes. The client's references to an allocation are counted with its
 * number, as a library does not look whether a handle is one. Memory that was released stays while
 * it is mapped: so the charge is with the allocation, not with its number. No context owns any of
 * this.
 */
#include <stdlib.h>

#include "server.h"

static void put_physical(struct server *s, struct physical *p)
{
	struct physical **at;

	if (--p->refs)
		return;
	quota_give(s, p->bytes);
	for (at = &s->physicals.list; *at != p; at = &(*at)->next)
		;
	*at = p->next;
	free(p);
}

void physicals_free(struct server *s)
{
	struct physical *p;

	while ((p = s->physicals.list)) {
		s->physicals.list = p->next;
		free(p);
	}
	free(s->physicals.mappings);
}

static struct entry *entry_of(struct server *s, CUmemGenericAllocationHandle handle)
{
	const void *what = (const void *)(uintptr_t)handle;

	return handle_entry(s, handle_known(s, CLASS_PHYSICAL, what));
}

/* a number for @handle, which is one more reference to @p */
static bool give_number(struct server *s, CUmemGenericAllocationHandle handle, struct physical *p)
{
	const void *what = (const void *)(uintptr_t)handle;
	struct entry *e = handle_entry(s, handle_give(s, CLASS_PHYSICAL, what, 0));

	if (e) {
		e->physical = p;
		p->refs++;
	}
	return e;
}

/*
 * A program that asks for memory which it could give to others as a descriptor gets other memory:
 * many ask, and few give it away.
 */
CUresult own_cuMemCreate(struct server *s, CUmemGenericAllocationHandle *handle, size_t bytes,
			 const CUmemAllocationProp *prop, unsigned long long flags)
{
	CUmemAllocationProp plain = *prop;
	struct physical *p;
	CUresult r;

	plain.requestedHandleTypes &= ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	if (plain.type != CU_MEM_ALLOCATION_TYPE_PINNED || plain.requestedHandleTypes)
		return REFUSE("cuMemCreate() of memory for a fabric, or of managed memory",
			      "a server gives a device's own memory, and gives none away");
	p = malloc(sizeof(*p));
	if (!p || !quota_take(s, bytes)) {
		free(p);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*p = (struct physical){ s->physicals.list, bytes, 1 };
	s->physicals.list = p;
	r = CALL(s, cuMemCreate, handle, bytes, &plain, flags);
	if (!r && !give_number(s, *handle, p)) {
		CALL(s, cuMemRelease, *handle);
		r = CUDA_ERROR_OUT_OF_MEMORY;
	}
	put_physical(s, p);
	return r;
}

CUresult own_cuMemRelease(struct server *s, CUmemGenericAllocationHandle handle)
{
	struct entry *e = entry_of(s, handle);
	struct physical *p = e->physical;
	CUresult r = CALL(s, cuMemRelease, handle);

	if (r)
		return r;
	if (e->attached) {
		e->attached--;
	} else {
		handle_drop(s, e->id);
		put_physical(s, p);
	}
	return CUDA_SUCCESS;
}

/* ------------------------------------------------------------------ mappings */

/* the first mapping that ends behind @ptr */
static unsigned int index_of(const struct server *s, uint64_t ptr)
{
	const struct physicals *p = &s->physicals;
	unsigned int low = 0, high = p->nr_mappings;

	while (low < high) {
		unsigned int mid = (low + high) / 2;

		if (p->mappings[mid].ptr + p->mappings[mid].bytes <= ptr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static bool mapping_room(struct server *s)
{
	struct physicals *p = &s->physicals;
	unsigned int max = p->max_mappings ? 2 * p->max_mappings : 64;
	struct mapping *grown;

	if (p->nr_mappings < p->max_mappings)
		return true;
	grown = realloc(p->mappings, max * sizeof(*grown));
	if (!grown)
		return false;
	p->mappings = grown;
	p->max_mappings = max;
	return true;
}

CUresult own_cuMemMap(struct server *s, CUdeviceptr ptr, size_t bytes, size_t offset,
		      CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	struct physicals *p = &s->physicals;
	struct physical *of = entry_of(s, handle)->physical;
	unsigned int at;
	CUresult r = mapping_room(s) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;

	if (!r)
		r = CALL(s, cuMemMap, ptr, bytes, offset, handle, flags);
	if (r)
		return r;
	at = index_of(s, ptr);
	memmove(&p->mappings[at + 1], &p->mappings[at],
		(p->nr_mappings - at) * sizeof(*p->mappings));
	p->mappings[at] = (struct mapping){ ptr, bytes, of };
	p->nr_mappings++;
	of->refs++;
	return CUDA_SUCCESS;
}

/* NVIDIA's library skips what is not mapped, and refuses a part of a mapping */
CUresult own_cuMemUnmap(struct server *s, CUdeviceptr ptr, size_t bytes)
{
	struct physicals *p = &s->physicals;
	unsigned int first = index_of(s, ptr), end = first;
	CUresult r = CALL(s, cuMemUnmap, ptr, bytes);

	if (r)
		return r;
	while (end < p->nr_mappings && p->mappings[end].ptr - ptr < bytes)
		put_physical(s, p->mappings[end++].of);
	if (end > first)
		memmove(&p->mappings[first], &p->mappings[end],
			(p->nr_mappings - end) * sizeof(*p->mappings));
	p->nr_mappings -= end - first;
	return CUDA_SUCCESS;
}

CUresult own_cuMemRetainAllocationHandle(struct server *s, CUmemGenericAllocationHandle *handle,
					 void *addr)
{
	const struct physicals *p = &s->physicals;
	const uint64_t at = (uintptr_t)addr;
	unsigned int i = index_of(s, at);
	struct entry *e;
	CUresult r;

	if (i == p->nr_mappings || at < p->mappings[i].ptr)
		return CUDA_ERROR_INVALID_VALUE;
	r = CALL(s, cuMemRetainAllocationHandle, handle, addr);
	if (r)
		return r;
	e = entry_of(s, *handle);
	if (e ? e->attached < UINT32_MAX : give_number(s, *handle, p->mappings[i].of)) {
		if (e)
			e->attached++;
		return CUDA_SUCCESS;
	}
	CALL(s, cuMemRelease, *handle);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

/* ------------------------------------------------------------------ who may use it */

bool place_fine(const CUmemLocation *location)
{
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE;
}

/* of a part of the address space, or of a pool */
CUresult frame_access(struct server *s, const struct q_access *q, struct kvgpu_remote_cursor *in,
		      struct kvgpu_remote_reply *out)
{
	const uint32_t(*pair)[2] = NULL;
	CUmemAccessDesc *list = NULL;
	void *pool = NULL;
	uint32_t i;

	if (q->devices && q->devices <= KVGPU_REMOTE_LIST_MAX)
		pair = kvgpu_remote_take_bytes(in, q->devices * sizeof(*pair));
	if (!pair || in->left || (q->pool && !handle_find(s, CLASS_POOL, q->pool, &pool)))
		return CUDA_ERROR_INVALID_VALUE;
	list = frame_scratch(s, q->devices, sizeof(*list));
	if (!list)
		return CUDA_ERROR_OUT_OF_MEMORY;
	for (i = 0; i < q->devices; i++)
		list[i] = (CUmemAccessDesc){ { CU_MEM_LOCATION_TYPE_DEVICE, pair[i][0] },
					     pair[i][1] };
	return pool ? CALL(s, cuMemPoolSetAccess, pool, list, q->devices) :
		      CALL(s, cuMemSetAccess, q->ptr, q->bytes, list, q->devices);
}
