// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile guest against gtt-shadow. After each step that may change what the GPU sees, every
 * translation that it can see is compared with a naive walk of the guest's tables as of the last
 * sync, and S1, S2, pin counts, mirrors and the reaper's work are checked.
 */
#include <stdlib.h>
#include <string.h>

#include "../../unit/gtt-shadow/guest.h"

#define SPACES 3 /* that are open at a time, at most */

struct input {
	const u8 *at, *end;
};

static u32 get(struct input *in, u32 bytes)
{
	u32 v = 0;

	while (bytes-- && in->at < in->end)
		v = v << 8 | *in->at++;
	return v;
}

static u32 below(struct input *in, u32 n)
{
	return get(in, n > 256 ? 2 : 1) % n;
}

/*
 * places of directories and tables: apart, overlapping, in both memories, beyond the end, nowhere
 */
static const struct kvgpu_gaddr dirs[] = {
	{ KVGPU_VRAM, 0x10000 },
	{ KVGPU_VRAM, 0x18000 },
	{ KVGPU_SYS_COH, SYS_BASE + 0x10000 },
	{ KVGPU_VRAM, 0xf8000 },
};

static const struct kvgpu_gaddr tables[] = {
	{ KVGPU_PEER, 0 },
	{ KVGPU_VRAM, 0x40000 },
	{ KVGPU_VRAM, 0x48000 },
	{ KVGPU_VRAM, 0x80000 },
	{ KVGPU_VRAM, 0x9f000 },
	{ KVGPU_SYS_COH, SYS_BASE + 0x20000 },
	{ KVGPU_SYS_NCOH, SYS_BASE + 0x28000 },
	{ KVGPU_VRAM, 0x10000 },
	{ KVGPU_VRAM, 0xff000 },
	{ KVGPU_SYS_COH, SYS_BASE + SYS_SIZE - 0x1000 },
	{ KVGPU_SYS_COH, 0x1000 },
	{ KVGPU_VRAM, 0x1ffffff000ull },
	{ KVGPU_VRAM, 0xc0000 },
	{ KVGPU_VRAM, 0xc8000 },
	{ KVGPU_VRAM, 0xd0000 },
	{ KVGPU_VRAM, 0x41000 },
};

/* mostly the directory of an open space, if the space that the input picks is open */
static struct kvgpu_gaddr some_dir(struct guest *g, struct input *in)
{
	u32 b = get(in, 1);

	if (b & 0xc0 && g->space[b % SPACES].as)
		return g->space[b % SPACES].pd;
	return dirs[b & 3];
}

/* an address near the edges of pages, chunks and tables, mostly where the directory has a table */
static u64 some_va(struct guest *g, struct input *in, struct kvgpu_gaddr pd)
{
	static const u64 slots[] = { 0,		 0x4000000,	  0x8000000,	   0x10000000,
				     0x18000000, 0xfff8000000ull, 0xfffc000000ull, 0 };
	static const u64 at[] = { 0,	    0x1000,   0x1f000,	0x20000,  0x3f000,
				  0x1f0000, 0x200000, 0xff0000, 0xfe0000, 0x800000 };
	u32 b = get(in, 1), i, n = b & 7;
	struct kvgpu_gaddr e;

	for (i = 0; i < 8 && b >= 0x20; i++, n = (n + 1) & 7)
		if (guest_entry(g, pd, slots[n], b & 8, &e))
			break;
	b = get(in, 1);
	return slots[n] + at[b % 10] + (u64)(b & 0xc0 ? 0 : below(in, 40)) * 4096;
}

static u64 some_flags(struct input *in)
{
	static const u8 kinds[] = { 0, 0, 0, 0xfe, 0xdb, 0xff, 0x11, 0x06 };
	u32 b = get(in, 1), k = get(in, 1);
	u64 f = (u64)kinds[k & 7] << 36;

	if (b & 1)
		f |= 2;
	if (b & 2)
		f |= 4;
	if (b & 4)
		f |= 1ull << 32;
	if (b & 8)
		f |= (u64)(k >> 6) << 62;
	if (b & 16)
		f |= 8 | 1ull << 35 | 0x5aull << 44;
	return f;
}

static u64 some_frame(struct input *in, enum kvgpu_target t)
{
	static const u64 odd[] = { 0,
				   VRAM_SIZE,
				   VRAM_SIZE - 4096,
				   0x1ffffff000ull,
				   0xfffffff000ull,
				   SYS_BASE - 4096,
				   SYS_BASE + SYS_SIZE };
	u32 b = get(in, 1);

	if (b >= 0xf0)
		return odd[(b & 15) % 7];
	return kvgpu_is_sys(t) ? SYS_BASE + (b % SYS_PAGES) * 4096ull :
				 b % (VRAM_SIZE / 4096) * 4096ull;
}

static void edit_pde(struct guest *g, struct input *in)
{
	static const u32 spots[] = { 0, 1, 2, 3, 4, 5, 8190, 8191 };
	struct kvgpu_gaddr at = some_dir(g, in), big = tables[below(in, 16)],
			   small = tables[below(in, 16)];
	u32 size = get(in, 1), spot = spots[size >> 5];

	at.addr += spot * 8;
	/* mostly short tables, for speed */
	size = size & 3 ? 3 : size >> 2 & 3;
	guest_write(g, at, size == 2 && spot & 1 ? 0 : pde_make(big, small, size));
}

static void edit_ptes(struct guest *g, struct input *in, bool big)
{
	struct kvgpu_gaddr pd = some_dir(g, in), at;
	enum kvgpu_target t = get(in, 1) & 3;
	u64 va = some_va(g, in, pd), flags = some_flags(in), frame = some_frame(in, t), step;
	u32 n = 1 + below(in, big ? 6 : 64), i, how = get(in, 1);

	step = big ? 0x20000 : 4096;
	for (i = 0; i < n; i++, va += step) {
		if (!guest_entry(g, pd, va, big, &at))
			continue;
		if (how & 1)
			guest_write(g, at, how & 2 ? 2 : 0);
		else
			guest_write(g, at, pte_make(t, frame + (how & 4 ? 0 : i * step), flags));
	}
}

static void edit_raw(struct guest *g, struct input *in)
{
	u32 where = get(in, 3);
	struct kvgpu_gaddr at = { where & 1 ? KVGPU_SYS_COH : KVGPU_VRAM,
				  (where & ~7u) % VRAM_SIZE };
	u64 v = (u64)get(in, 4) << 32;

	if (where & 1)
		at.addr = SYS_BASE + at.addr % SYS_SIZE;
	guest_write(g, at, v | get(in, 4));
}

/* memory that stops answering counts as changed; when it answers again, it does not */
static void toggle_bad(struct guest *g, struct input *in)
{
	u32 b = get(in, 1);
	struct kvgpu_gaddr at = b & 0x80 ? dirs[b & 3] : tables[b & 15];
	u64 page;
	bool *bad;

	at.addr += (b >> 4 & 3) * 0x1000;
	if (!guest_word(&g->now, at))
		return;
	page = (at.target == KVGPU_VRAM ? at.addr : at.addr - SYS_BASE) >> 12;
	bad = at.target == KVGPU_VRAM ? &g->now.bad_vram[page] : &g->now.bad_sys[page];
	*bad = !*bad;
	if (*bad && at.target == KVGPU_VRAM)
		g->written[page] = true;
}

static void walk_somewhere(struct guest *g, struct input *in)
{
	struct space *sp = &g->space[below(in, SPACES)];
	u64 va = some_va(g, in, sp->as ? sp->pd : dirs[0]) + 8;
	struct kvgpu_gaddr out;
	u32 len = 0;

	if (sp->as)
		space_walk(sp, va, &out, &len);
}

static bool has_space(const struct guest *g, struct kvgpu_gaddr pd)
{
	u32 i;

	for (i = 0; i < SPACES; i++)
		if (g->space[i].as && g->space[i].pd.target == pd.target &&
		    g->space[i].pd.addr == pd.addr)
			return true;
	return false;
}

static void space_ops(struct guest *g, struct input *in)
{
	u32 op = get(in, 1), i = op % SPACES;
	struct space *sp = &g->space[i];

	if (!sp->as) {
		if (!has_space(g, dirs[op >> 2 & 3]))
			space_open(g, i, dirs[op >> 2 & 3]);
	} else if (op < 0x30) {
		space_close(sp);
	} else if (op & 0x40) {
		guest_invalidate(g, op & 0x04 ? NULL : &dirs[op & 3], op & 0x80);
	} else {
		space_sync(sp, op & 0x80);
	}
}

static void subst_ops(struct guest *g, struct input *in)
{
	struct space *sp = &g->space[below(in, SPACES)];
	u64 va = (u64)below(in, SUBST_SLOTS) << 27 | (u64)below(in, 600) << 12;
	u32 nr = 1 + below(in, 200), how = get(in, 1);

	if (how & 0x10 && (va >> 27) + 1 < SUBST_SLOTS)
		va = (((va >> 27) + 1) << 27) - 20 * 4096;
	if (!sp->as)
		return;
	if (how & 1)
		space_unsubst(sp, va, nr);
	else
		space_subst(sp, va | (how >= 0xf0 ? 0x800 : 0), nr,
			    SUBST_BASE + (u64)(how & 0xe) * 0x100000);
}

static void window_ops(struct guest *g, struct input *in)
{
	static const u32 sizes[] = { 32, 64, 512 + 32, 2048, MAX_WIN_PAGES };
	u32 op = get(in, 1);
	struct window *w = &g->win[op & 1];
	u32 pages = sizes[below(in, 5)];
	u64 limit = op & 2 ? ~0ull : (u64)get(in, 2) << 12 | 0xfff;

	if (op < 0x20)
		window_close(w);
	else if (op < 0x40)
		window_linear(w, pages);
	else
		window_sync(w, dirs[op >> 2 & 3], limit, pages, op & 0x80);
	if (op < 0x20)
		guest_reap(g);
}

static void step(struct guest *g, struct input *in)
{
	u32 op = below(in, 32);

	switch (op) {
	case 0 ... 3:
		edit_pde(g, in);
		return; /* nothing the GPU sees changed: no check needed */
	case 4 ... 9:
		edit_ptes(g, in, op >= 8);
		return;
	case 10:
		edit_raw(g, in);
		return;
	case 11 ... 17:
		space_ops(g, in);
		break;
	case 18 ... 19:
		guest_unmap(g, SYS_BASE - 4096 + get(in, 1) * 4096ull + (get(in, 1) & 1),
			    (u64)get(in, 2) << 4);
		break;
	case 20 ... 22:
		subst_ops(g, in);
		break;
	case 23 ... 24:
		window_ops(g, in);
		break;
	case 25:
		memset(g->unpinnable + below(in, SYS_PAGES - 8), get(in, 1) & 1, 8);
		return;
	case 26:
		g->fail_pins = get(in, 1) % 8;
		return;
	case 27:
		g->fail_tables = get(in, 1) % 3;
		return;
	case 28:
		toggle_bad(g, in);
		return;
	case 29:
		guest_unmap_all(g);
		break;
	case 30:
		walk_somewhere(g, in);
		return;
	case 31:
		guest_reap(g);
		break;
	}
	guest_check(g);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u32 max_tables[] = { 24, 24, 24, 6, 3, 1, 24, 12 };
	static const u32 max_pinned[] = { SYS_PAGES, SYS_PAGES, 40, SYS_PAGES, 3, 0, 128, 100 };
	struct input in = { data, data + size };
	u32 cfg = get(&in, 1), i;
	struct guest *g;

	if (size > 1200)
		return 0;
	g = guest_new(max_tables[cfg >> 1 & 7], max_pinned[cfg >> 4 & 7]);
	/* half of the inputs start with something to look at */
	if (cfg & 0x80)
		for (i = 0; i < 4; i++)
			guest_write(g, (struct kvgpu_gaddr){ KVGPU_VRAM, 0x10000 + i * 8 },
				    pde_make(tables[12 + i % 3], tables[1 + i], 3));
	while (in.at < in.end)
		step(g, &in);
	guest_free(g);
	return 0;
}
