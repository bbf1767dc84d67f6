// SPDX-License-Identifier: MIT
/* What the client tells of its build, and what that says of its frames. */
#include <ops.h> /* made by remote/api.py */
#include <remote/wire/table.h>

#include "server.h"

static void count_build(struct counters *c, const struct kvgpu_remote_build *b)
{
	if (!c)
		return;
	__atomic_store_n(&c->table, b->table, __ATOMIC_RELAXED);
	__atomic_store_n(&c->version, b->version, __ATOMIC_RELAXED);
}

/* .table is worked out here, so that it is what the first process compares */
CUresult table_take(struct server *s, struct kvgpu_remote_cursor *in,
		    struct kvgpu_remote_reply *out)
{
	const struct kvgpu_remote_build own = { KVGPU_REMOTE_VERSION, KVGPU_REMOTE_TABLE };
	struct kvgpu_remote_build its;
	const uint64_t *hashes;
	uint64_t *has;
	size_t n, i;

	if (!kvgpu_remote_take(in, &its, sizeof(its)) || in->left % sizeof(*hashes) ||
	    in->left / sizeof(*hashes) > KVGPU_REMOTE_TABLE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	n = in->left / sizeof(*hashes);
	hashes = kvgpu_remote_take_bytes(in, in->left);
	if (!kvgpu_remote_put_bytes(out, &own, sizeof(own)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	has = kvgpu_remote_put(out, (n + 63) / 64 * sizeof(*has));
	if (!has)
		return CUDA_ERROR_OUT_OF_MEMORY;
	s->table.nr = table_match(hashes, n, s->table.own) ? 0 : n;
	its.table = 0;
	for (i = 0; i < n; i++) {
		its.table += hashes[i];
		has[i / 64] |= (uint64_t) !!s->table.own[i] << i % 64;
	}
	count_build(s->counters, &its);
	return CUDA_SUCCESS;
}

uint16_t table_own(const struct server *s, uint16_t op)
{
	const unsigned int i = op - KVGPU_REMOTE_FIRST_OP;

	if (!s->table.nr || op < KVGPU_REMOTE_FIRST_OP)
		return op;
	return i < s->table.nr ? s->table.own[i] : 0;
}
