// SPDX-License-Identifier: MIT
/* The label of an aperture: label.h. */
#include <string.h>

#include "label.h"

static const char magic[16] = "kvgpu aperture\n";
enum { VERSION = 1 };

_Static_assert(sizeof(struct aperture_label) == APERTURE_LABEL_BYTES, "a label's size");

struct aperture_label aperture_label_make(uint64_t bytes, uint32_t places)
{
	struct aperture_label l = { .version = VERSION,
				    .data = APERTURE_LABEL_DATA,
				    .bytes = bytes,
				    .places = places };

	memcpy(l.magic, magic, sizeof(magic));
	return l;
}

bool aperture_label_read(const void *from, struct aperture_label *l)
{
	memcpy(l, from, sizeof(*l));
	return !memcmp(l->magic, magic, sizeof(magic)) && l->version == VERSION &&
	       l->data == APERTURE_LABEL_DATA && l->bytes > l->data && l->places &&
	       l->places <= APERTURE_PLACES;
}
