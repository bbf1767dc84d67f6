// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: a piece of an arena, at the address that belongs to it. Between two buffers a page stays
 * unmapped, so that what runs over the last page of one faults. The begin of a new buffer in video
 * memory holds no zeros: the card's need not either.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "inprocess.h"

enum { HOST_PAGE = 4096, VRAM_PAGE = 128 * 1024, FRESH = 0xa5 };
#define FRESH_MAX (64ull << 20)

uint64_t in_vram_used(struct device *d)
{
	return card_used(in(d)->gpu);
}

static uint64_t up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* *where: the link to put it at */
static bool find_gap(struct arena *a, uint64_t size, uint64_t page, struct in_memory ***where,
		     uint64_t *at)
{
	struct in_memory **link = &a->first;

	*at = 0;
	for (; *link; link = &(*link)->next) {
		if ((*link)->at >= *at + size + HOST_PAGE)
			break;
		*at = up((*link)->at + (*link)->base.size + HOST_PAGE, page);
	}
	*where = link;
	return *at + size <= a->size && size <= a->size;
}

/* A piece of @a that is not mapped; NULL: there is no room. */
static struct in_memory *take(struct arena *a, uint64_t size, uint64_t page)
{
	struct in_memory *m = calloc(1, sizeof(*m)), **link;

	if (!m)
		return NULL;
	if (size > a->size || !find_gap(a, up(size, page), page, &link, &m->at)) {
		free(m);
		return NULL;
	}
	m->arena = a;
	m->base = (struct device_memory){ .va = a->va + m->at,
					  .size = up(size, page),
					  .map = a->file < 0 ? NULL : a->bytes + m->at };
	m->next = *link;
	*link = m;
	return m;
}

static void forget(struct arena *a, uint64_t at, uint64_t size)
{
	uintptr_t begin = up((uintptr_t)a->bytes + at, HOST_PAGE),
		  end = ((uintptr_t)a->bytes + at + size) & ~(HOST_PAGE - 1ull);

	if (begin < end)
		madvise((void *)begin, end - begin, a->file >= 0 ? MADV_REMOVE : MADV_DONTNEED);
}

static void drop(struct in_memory *m)
{
	struct in_memory **link;

	for (link = &m->arena->first; *link != m; link = &(*link)->next)
		;
	*link = m->next;
	forget(m->arena, m->at, m->base.size);
	free(m);
}

enum device_status in_alloc(struct device *dev, enum device_place place, uint64_t size,
			    struct device_memory **out)
{
	struct in_device *d = in(dev);
	bool vram = place != PLACE_HOST;
	struct arena *a = vram ? &d->vram : &d->host;
	uint64_t page = place == PLACE_TILED || (vram && size >= VRAM_PAGE) ? VRAM_PAGE : HOST_PAGE;
	struct in_memory *m = take(a, size, page);

	if (!m)
		return DEVICE_NO_MEMORY;
	if (vram && !card_take(d->gpu, m->base.size)) {
		drop(m);
		return DEVICE_NO_MEMORY;
	}
	m->tiled = place == PLACE_TILED;
	if (vram)
		memset(a->bytes + m->at, FRESH,
		       m->base.size < FRESH_MAX ? m->base.size : FRESH_MAX);
	in_map(d, m, true);
	*out = &m->base;
	return DEVICE_OK;
}

void *in_view(struct device *dev, struct device_memory *base)
{
	struct in_memory *m = (struct in_memory *)base;
	void *at = MAP_FAILED;

	if (m->arena->file >= 0)
		at = mmap(NULL, base->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->arena->file,
			  m->at);
	return at == MAP_FAILED ? NULL : at;
}

void in_release(struct device *dev, struct device_memory *base)
{
	struct in_device *d = in(dev);
	struct in_memory *m = (struct in_memory *)base;

	in_map(d, m, false);
	if (m->away)
		drop(m->away);
	else if (m->arena == &d->vram)
		card_give(d->gpu, m->base.size);
	drop(m);
}

/* ------------------------------------------------------------------ moving */

static void remap(struct in_device *d, struct in_memory *m, struct in_memory *away)
{
	in_map(d, m, false);
	m->away = away;
	in_map(d, m, true);
}

static bool leave(struct in_device *d, struct in_memory *m)
{
	struct in_memory *to = m->away ? NULL : take(&d->host, m->base.size, HOST_PAGE);

	if (!to)
		return m->away;
	memcpy(to->base.map, m->arena->bytes + m->at, m->base.size);
	remap(d, m, to);
	forget(m->arena, m->at, m->base.size);
	card_give(d->gpu, m->base.size);
	return true;
}

static bool come_back(struct in_device *d, struct in_memory *m)
{
	struct in_memory *from = m->away;

	if (!from)
		return true;
	if (!card_take(d->gpu, m->base.size))
		return false;
	memcpy(m->arena->bytes + m->at, from->base.map, m->base.size);
	remap(d, m, NULL);
	drop(from);
	return true;
}

enum device_status in_move(struct device *dev, bool away)
{
	bool (*move)(struct in_device *, struct in_memory *) = away ? leave : come_back,
							  (*undo)(struct in_device *,
								  struct in_memory *) =
								  away ? come_back : leave;
	struct in_device *d = in(dev);
	struct in_memory *m;

	for (m = d->vram.first; m && move(d, m); m = m->next)
		;
	if (!m)
		return DEVICE_OK;
	for (m = d->vram.first; m; m = m->next)
		undo(d, m);
	return DEVICE_NO_MEMORY;
}
