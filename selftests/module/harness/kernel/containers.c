// SPDX-License-Identifier: GPL-2.0-only
/* Nothing here takes a lock or is a point: callers have the locks that the kernel asks for. */
#include "selftests/module/harness/kernel/containers.h"

/* ------------------------------------------------------------------ bits */

unsigned long find_next_bit(const unsigned long *m, unsigned long size, unsigned long from)
{
	unsigned long word;

	while (from < size) {
		word = m[from / BITS_PER_LONG] >> from % BITS_PER_LONG;
		if (word) {
			from += __builtin_ctzl(word);
			return from < size ? from : size;
		}
		from = (from / BITS_PER_LONG + 1) * BITS_PER_LONG;
	}
	return size;
}

unsigned long find_next_zero_bit(const unsigned long *m, unsigned long size, unsigned long from)
{
	for (; from < size; from++)
		if (!test_bit(from, m))
			return from;
	return size;
}

unsigned long bitmap_find_next_zero_area(unsigned long *m, unsigned long size, unsigned long start,
					 unsigned int nr, unsigned long align_mask)
{
	unsigned long at, next;

	for (at = start;; at = next + 1) {
		at = find_next_zero_bit(m, size, at);
		at = (at + align_mask) & ~align_mask;
		if (at + nr > size)
			return size + 1;
		next = find_next_bit(m, at + nr, at);
		if (next >= at + nr)
			return at;
	}
}

void bitmap_set(unsigned long *m, unsigned int first, unsigned int nr)
{
	while (nr--)
		set_bit(first++, m);
}

void bitmap_clear(unsigned long *m, unsigned int first, unsigned int nr)
{
	while (nr--)
		clear_bit(first++, m);
}

/* ------------------------------------------------------------------ the xarray: a sorted array */

static u32 xa_place(const struct xarray *xa, unsigned long index)
{
	u32 lo = 0, hi = xa->nr, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (xa->slot[mid].index < index)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct xa_slot *xa_at(const struct xarray *xa, unsigned long index)
{
	u32 i = xa_place(xa, index);

	return i < xa->nr && xa->slot[i].index == index ? &xa->slot[i] : NULL;
}

/* As in the kernel, return an error when there is no memory for a new node. */
void *xa_store(struct xarray *xa, unsigned long index, void *entry, gfp_t gfp)
{
	struct xa_slot *s = xa_at(xa, index);
	void *node, *old;
	u32 i;

	if (s) {
		old = s->entry;
		s->entry = entry;
		return old;
	}
	node = kmalloc(1, gfp);
	if (!node)
		return ERR_PTR(-ENOMEM);
	kfree(node);
	if (xa->nr == xa->room) {
		xa->room = xa->room ? 2 * xa->room : 64;
		xa->slot = realloc(xa->slot, xa->room * sizeof(*xa->slot));
	}
	i = xa_place(xa, index);
	memmove(xa->slot + i + 1, xa->slot + i, (xa->nr++ - i) * sizeof(*xa->slot));
	xa->slot[i] = (struct xa_slot){ index, entry, false };
	return NULL;
}

void *xa_erase(struct xarray *xa, unsigned long index)
{
	struct xa_slot *s = xa_at(xa, index);
	void *was;

	if (!s)
		return NULL;
	was = s->entry;
	memmove(s, s + 1, (xa->slot + --xa->nr - s) * sizeof(*s));
	if (!xa->nr) {
		/* as in the kernel, an empty one has no memory */
		free(xa->slot);
		xa->slot = NULL;
		xa->room = 0;
	}
	return was;
}

void *xa_load(struct xarray *xa, unsigned long index)
{
	struct xa_slot *s = xa_at(xa, index);

	return s ? s->entry : NULL;
}

void *xa_find(struct xarray *xa, unsigned long *index, unsigned long max, xa_mark_t filter)
{
	u32 i;

	for (i = xa_place(xa, *index); i < xa->nr && xa->slot[i].index <= max; i++) {
		if (filter != XA_PRESENT && !xa->slot[i].mark)
			continue;
		*index = xa->slot[i].index;
		return xa->slot[i].entry;
	}
	return NULL;
}

void xa_set_mark(struct xarray *xa, unsigned long index, xa_mark_t mark)
{
	struct xa_slot *s = xa_at(xa, index);

	if (s)
		s->mark = true;
}

bool xa_get_mark(struct xarray *xa, unsigned long index, xa_mark_t mark)
{
	struct xa_slot *s = xa_at(xa, index);

	return s && s->mark;
}

bool xa_empty(const struct xarray *xa)
{
	return !xa->nr;
}

void xa_destroy(struct xarray *xa)
{
	free(xa->slot);
	xa_init_flags(xa, 0);
}
