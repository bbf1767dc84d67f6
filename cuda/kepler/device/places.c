// SPDX-License-Identifier: MIT
#include "places.h"

bool place_take(struct places *all, uint64_t size, struct place *p)
{
	struct place **next = &all->first;
	uint64_t at = 0;

	for (; *next && (*next)->at - at < size; next = &(*next)->next)
		at = (*next)->at + (*next)->size;
	if (!size || all->size - at < size)
		return false;
	*p = (struct place){ .next = *next, .at = at, .size = size };
	*next = p;
	return true;
}

void place_drop(struct places *all, struct place *p)
{
	struct place **at;

	for (at = &all->first; *at && *at != p; at = &(*at)->next)
		;
	if (*at)
		*at = p->next;
}
