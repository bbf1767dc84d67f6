// SPDX-License-Identifier: MIT
#include "table.h"

#include "dump.h"

unsigned int table_hashes(uint64_t hashes[KVGPU_REMOTE_TABLE_MAX])
{
	unsigned int i;

	for (i = 0; i < kvgpu_remote_nr_shapes && i < KVGPU_REMOTE_TABLE_MAX; i++)
		hashes[i] = kvgpu_remote_shapes[i].hash;
	return i;
}

/* most entries are where they are in the peer's table */
static unsigned int index_of(uint64_t hash, unsigned int likely)
{
	unsigned int i;

	if (likely < kvgpu_remote_nr_shapes && kvgpu_remote_shapes[likely].hash == hash)
		return likely;
	for (i = 0; i < kvgpu_remote_nr_shapes && kvgpu_remote_shapes[i].hash != hash; i++)
		;
	return i;
}

bool table_match(const uint64_t *hashes, unsigned int n, uint16_t *own)
{
	unsigned int i, at;
	bool same = true;

	for (i = 0; i < n; i++) {
		at = index_of(hashes[i], i);
		own[i] = at < kvgpu_remote_nr_shapes ? KVGPU_REMOTE_FIRST_OP + at : 0;
		same = same && at == i;
	}
	return same;
}
