// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets hptes and writes them to the GPU's tables. Entries that are near each other are
 * written together, as a run. For a window the range of changed entries is noted, which the caller
 * takes (kvgpu_shadow_win_take()) and writes out. Pure: the caller serialises calls for one vGPU.
 */
#include <linux/minmax.h>

#include "internal.h"

void vgtt_win_range_note(struct kvgpu_win *win, u32 first, u32 last)
{
	win->first = min(win->first, first);
	win->last = max(win->last, last);
}

void vgtt_run_write(struct kvgpu_shadow *s)
{
	struct kvgpu_pool *p = s->pool;
	struct kvgpu_ext *e = p->run;
	struct kvgpu_slot *slot;

	p->run = NULL;
	if (!e)
		return;
	if (e->win) {
		vgtt_win_range_note(e->win, p->run_first, p->run_last);
		return;
	}
	slot = e->slot;
	slot->as->changed = true;
	s->ops->table_write(s->ctx, p->run_big ? &slot->big->t : &slot->small->t, p->run_first,
			    p->run_last - p->run_first + 1);
}

static void note_write(struct kvgpu_ext *e, bool big, u32 index)
{
	struct kvgpu_pool *p = e->s->pool;

	e->s->stats.entries_written++;
	if (p->run == e && p->run_big == big && index >= p->run_first &&
	    index <= p->run_last + WRITE_GAP) {
		p->run_last = max(p->run_last, index);
		return;
	}
	vgtt_run_write(e->s);
	p->run = e;
	p->run_big = big;
	p->run_first = index;
	p->run_last = index;
}

/*
 * @value 0: no translation: the entry becomes .blank. The caller links the entry to its pin, or
 * unlinks it.
 */
void vgtt_ext_small_set(struct kvgpu_ext *e, u32 page, u64 value)
{
	u64 *at = &e->hpte_small[page];

	if (!value)
		value = e->blank;
	if (*at == value)
		return;
	e->nr_live += (value != e->blank) - (*at != e->blank);
	*at = value;
	note_write(e, false, page);
}

void vgtt_ext_big_set(struct kvgpu_ext *e, u32 big_page, u64 value)
{
	if (e->hpte_big[big_page] == value)
		return;
	e->hpte_big[big_page] = value;
	note_write(e, true, big_page);
}
