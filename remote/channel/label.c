// SPDX-License-Identifier: MIT
/* The label of a shmem region: label.h. */
#include <string.h>

#include "label.h"

static const char magic[16] = "kvgpu aperture\n";
enum { VERSION = 1 };

_Static_assert(sizeof(struct shmem_label) == SHMEM_LABEL_BYTES, "a label's size");

struct shmem_label shmem_label_make(uint64_t bytes, uint32_t endpoints)
{
	struct shmem_label l = {
		.version = VERSION, .data = SHMEM_LABEL_DATA, .bytes = bytes, .endpoints = endpoints
	};

	memcpy(l.magic, magic, sizeof(magic));
	return l;
}

bool shmem_label_read(const void *from, struct shmem_label *l)
{
	memcpy(l, from, sizeof(*l));
	return !memcmp(l->magic, magic, sizeof(magic)) && l->version == VERSION &&
	       l->data == SHMEM_LABEL_DATA && l->bytes > l->data && l->endpoints &&
	       l->endpoints <= SHMEM_ENDPOINTS;
}
