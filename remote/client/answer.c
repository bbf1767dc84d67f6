// SPDX-License-Identifier: MIT
/*
 * What an answer may be. A server may lie: each number of an answer that becomes a pointer, an
 * index, a length or the bound of a loop, here or in the program, passes one of these functions, or
 * a comparison where it is read. Generated code (remote/api.py) calls them, too.
 */
#include "client.h"

#define MEMORY_MAX (1ull << 39) /* bytes: more than any GPU has */

CUresult answer_result(uint32_t result)
{
	return result > CUDA_ERROR_UNKNOWN ? CUDA_ERROR_UNKNOWN : (CUresult)result;
}

bool answer_bytes(struct call *c, void *to, uint64_t n)
{
	uint64_t padded = (n + 7) & ~7ull;

	if (n > c->answer_bytes || c->answer_used > c->answer_bytes ||
	    padded > c->answer_bytes - c->answer_used)
		return false;
	memcpy(to, (const uint8_t *)c->answer + c->answer_used, n);
	c->answer_used += padded;
	return true;
}

bool answer_handle(void **to, const struct call *c, unsigned int class, uint64_t id, void *parent,
		   bool none)
{
	*to = handle_here(c->to.peer, class, id, parent);
	return *to || (none && !id);
}

bool answer_handles(struct call *c, unsigned int class, void **to, uint64_t room, uint64_t n,
		    void *parent)
{
	uint64_t i, id;

	if (room > KVGPU_REMOTE_LIST_MAX)
		return false;
	for (i = 0; i < room; i++) {
		if (!answer_bytes(c, &id, sizeof(id)))
			return false;
		to[i] = NULL;
		if (i < n && !answer_handle(&to[i], c, class, id, parent, false))
			return false;
	}
	return true;
}

bool answer_memory(uint64_t at, uint64_t bytes)
{
	uint64_t end;

	return bytes <= MEMORY_MAX && !__builtin_add_overflow(at, bytes, &end);
}

bool answer_count(uint64_t n, const void *list, uint64_t room)
{
	return n <= (list ? room : UINT32_MAX);
}

bool answer_device(const struct call *c, uint32_t number, CUdevice *dev)
{
	*dev = number < (uint32_t)c->to.peer->nr_devices ? device_here(c->to.peer, number) : -1;
	return *dev >= 0;
}
