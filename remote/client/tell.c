// SPDX-License-Identifier: MIT
/* The first frame to a server: this build's table. */
#include <remote/wire/table.h>

#include "client.h"

CUresult table_tell(struct peer *p)
{
	const struct kvgpu_remote_build own = { KVGPU_REMOTE_VERSION, KVGPU_REMOTE_TABLE };
	static uint64_t hashes[KVGPU_REMOTE_TABLE_MAX]; /* under `init_lock` */
	struct call c = {
		.op = KVGPU_REMOTE_OP_TABLE, .fixed = &own, .bytes = sizeof(own), .to.peer = p
	};
	const unsigned int n = table_hashes(hashes);
	uint64_t has[TABLE_WORDS] = { 0 };
	CUresult r = call_bytes(&c, hashes, n * sizeof(*hashes));

	if (!r)
		r = call_sync(&c, sizeof(p->build));
	if (r)
		return r;
	memcpy(&p->build, c.answer, sizeof(p->build));
	return answer_bytes(&c, has, (n + 63) / 64 * 8) ? table_heard(p, has, n) :
							  CUDA_ERROR_UNKNOWN;
}
