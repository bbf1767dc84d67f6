// SPDX-License-Identifier: MIT
/*
 * What both directions of a tunnel (outbox.c, inbox.c) use: its arena, its connection, its errors.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "relay.h"

bool tunnel_fine(struct tunnel *n, int r)
{
	if (r == MPI_ERR_COUNT || r == MPI_ERR_TRUNCATE)
		link_lose(n->link, "it sends nonsense");
	else if (r != MPI_SUCCESS)
		link_out_of_reach(n->link, "it can't be reached");
	return r == MPI_SUCCESS;
}

bool tunnel_has_arena(struct tunnel *n, uint8_t *arena, uint64_t bytes)
{
	const unsigned int slots = n->link->settings->slots;
	const int tag = TAG_BULK + tunnel_number(n);

	n->arena = arena;
	n->arena_bytes = bytes;
	n->nr_gifts = 0;
	/* only proxies have pieces for each other */
	if (!n->link->rank) {
		n->gifts = calloc(GIFTS, sizeof(*n->gifts));
		if (!n->gifts || !bulk_begin(&n->pulled, false, 0, 0, slots, arena) ||
		    !bulk_begin(&n->given, true, 0, 0, slots, arena))
			return false;
	}
	return bulk_begin(&n->send, true, n->link->rank, tag, slots, arena) &&
	       bulk_begin(&n->receive, false, n->link->rank, tag, slots, arena);
}

void tunnel_end_local(struct tunnel *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
	n->ended = true;
}

void tunnel_let_go(struct tunnel *n)
{
	n->state = TUNNEL_FREE;
	if (!n->arena || n->link->lost)
		return;
	n->link->counts.chunks += n->send.done + n->receive.done;
	n->link->counts.made += n->send.made + n->receive.made + n->pulled.made + n->given.made;
	bulk_end(&n->send);
	bulk_end(&n->receive);
	if (!n->abandoned) {
		bulk_end(&n->pulled);
		bulk_end(&n->given);
		munmap(n->arena, n->arena_bytes);
	}
	free(n->gifts);
	n->gifts = NULL;
	n->arena = NULL;
}
