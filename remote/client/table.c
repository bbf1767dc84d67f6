// SPDX-License-Identifier: MIT
/* A server of another build: which of this client's calls it has, and what the others return. */
#include <remote/wire/builds.h>
#include <remote/wire/dump.h>

#include "client.h"

/* without these nothing can be asked */
static const uint16_t wanted[] = { OP_init, OP_current, OP_fence };

bool table_lacks(const struct peer *p, uint16_t op)
{
	const unsigned int i = op - KVGPU_REMOTE_FIRST_OP;

	return op >= KVGPU_REMOTE_FIRST_OP && i < KVGPU_REMOTE_TABLE_MAX &&
	       p->lacks[i / 64] >> i % 64 & 1;
}

static CUresult refuse(struct peer *p, uint16_t op)
{
	const unsigned int i = op - KVGPU_REMOTE_FIRST_OP;
	const struct kvgpu_remote_build own = { KVGPU_REMOTE_VERSION, KVGPU_REMOTE_TABLE };
	const char *name = kvgpu_remote_op_name(op);
	char apart[BUILDS_TEXT];

	if (!(__atomic_fetch_or(&p->told[i / 64], 1ull << i % 64, __ATOMIC_RELAXED) >> i % 64 & 1))
		client_say("%s: %s%s: the server does not have this call as the client has it: %s",
			   p->address, name, strncmp(name, "cu", 2) ? " (a frame)" : "()",
			   builds_apart(&own, &p->build, apart));
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult table_refuses(struct peer *p, uint16_t op)
{
	if (!(__atomic_load_n(&p->slow, __ATOMIC_ACQUIRE) & SLOW_LACKS) || !table_lacks(p, op))
		return CUDA_SUCCESS;
	return refuse(p, op);
}

CUresult table_heard(struct peer *p, const uint64_t *has, unsigned int n)
{
	unsigned int i, missing = 0;

	for (i = 0; i < n; i++)
		if (!(has[i / 64] >> i % 64 & 1)) {
			p->lacks[i / 64] |= 1ull << i % 64;
			missing++;
		}
	for (i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (table_lacks(p, wanted[i]))
			return refuse(p, wanted[i]);
	if (missing)
		peer_slow(p, SLOW_LACKS, true);
	return CUDA_SUCCESS;
}
