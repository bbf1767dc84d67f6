// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random page tables, accesses and invalidates against the oracle. An access must answer what the
 * oracle says about memory now, or what a cache may still say: a translation that was given out
 * since the last invalidate, or the current tables under a directory entry that was read since
 * then. Right after an invalidate only the first is allowed.
 */
#include <stdint.h>
#include <string.h>

#include "mmu/fake.h"
#include "mmu/fake_device.h"
#include "mmu/oracle.h"

#define VRAM_SIZE  (1u << 20)
#define GUEST_SIZE (256u << 10)
#define PDB	   0x10000u
#define SLOTS	   4u /* directory entries in use */
#define MAX_OLD	   64u

struct old_leaf {
	uint64_t base, size, phys; /* of the page */
	int target, kind;
	bool writable, readable, privileged;
};

struct input {
	const uint8_t *p, *end;
};

static struct fake *f;
static struct mmu_client client;
static struct mmu_space space;
static struct old_leaf leaf[MAX_OLD];
static uint64_t old_pde[SLOTS][MAX_OLD];
static unsigned int leaves, pdes[SLOTS];

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | (in->p < in->end ? *in->p++ : 0);
	return v;
}

static int oracle_byte(void *ctx, int target, uint64_t addr)
{
	if (target == 0)
		return addr < VRAM_SIZE ? f->g.vram[addr] : -1;
	if (target == 1 || addr < FAKE_IOVA || addr >= FAKE_IOVA + GUEST_SIZE)
		return -1;
	return f->guest[addr - FAKE_IOVA];
}

static void invalidate(void)
{
	fake_invalidate(f, PDB, 0, 1);
	leaves = 0;
	memset(pdes, 0, sizeof(pdes));
}

static void set_up(void)
{
	if (!f) {
		f = fake_create(VRAM_SIZE, GUEST_SIZE);
		if (mmu_client_init(&f->g, &client, "fuzz", 0x15, 1, -1))
			abort();
	}
	memset(f->g.vram, 0, VRAM_SIZE);
	memset(f->guest, 0, GUEST_SIZE);
	/* each change of mode drops everything */
	fake_wr32(f, FB_MMU_CTRL, FB_MMU_CTRL_BIG_64K);
	fake_wr32(f, FB_MMU_CTRL, 0);
	space = (struct mmu_space){ .pdb = PDB, .limit = 0x1fffffff, .valid = true };
	invalidate();
}

static bool memory_at(int target, uint64_t phys)
{
	return oracle_byte(NULL, target, phys) >= 0;
}

/* what the oracle says, under the directory entry *@pde if one is given */
static struct oracle_out ask(uint64_t va, enum mmu_access acc, bool priv, const uint64_t *pde)
{
	struct oracle_in in = {
		.byte = oracle_byte,
		.pdb = PDB,
		.limit = space.limit,
		.va = va,
		.pages_64k = reg_get(&f->g, FB_MMU_CTRL) & 1,
		.write = acc != ACC_READ,
		.read = acc != ACC_WRITE,
		.privileged = priv,
		.pde = pde,
	};
	struct oracle_out out = oracle_walk(&in);

	if (out.reason < 0 && !memory_at(out.target, out.phys))
		out.reason = MMU_REGION;
	return out;
}

static bool same(const struct oracle_out *o, int got, const struct mmu_seg *seg)
{
	if (o->reason >= 0 || got >= 0)
		return o->reason == got;
	return o->phys == seg->phys && o->target == (int)seg->target && o->kind == seg->kind &&
	       o->vol == seg->vol && o->writable == !seg->read_only;
}

static int rights(const struct old_leaf *l, enum mmu_access acc, bool priv, uint64_t phys)
{
	if (l->privileged && !priv)
		return MMU_PRIV;
	if (acc != ACC_READ && !l->writable)
		return MMU_RO;
	if (acc != ACC_WRITE && !l->readable)
		return MMU_WO;
	return memory_at(l->target, phys) ? -1 : MMU_REGION;
}

static bool allowed(uint64_t va, enum mmu_access acc, bool priv, int got, const struct mmu_seg *seg)
{
	uint64_t slot = va >> (reg_get(&f->g, FB_MMU_CTRL) & 1 ? 26 : 27);
	struct oracle_out o = ask(va, acc, priv, NULL);
	unsigned int i;

	if (same(&o, got, seg))
		return true;
	for (i = 0; i < leaves; i++) {
		uint64_t phys = leaf[i].phys + (va - leaf[i].base);

		if (va - leaf[i].base < leaf[i].size && rights(&leaf[i], acc, priv, phys) == got &&
		    (got >= 0 || (phys == seg->phys && leaf[i].target == (int)seg->target)))
			return true;
	}
	for (i = 0; slot < SLOTS && i < pdes[slot]; i++) {
		o = ask(va, acc, priv, &old_pde[slot][i]);
		if (same(&o, got, seg))
			return true;
	}
	return false;
}

/*
 * notes what a cache may have learned from this access: the directory entry, and any leaf under it
 */
static void learn(uint64_t va)
{
	uint64_t slot = va >> (reg_get(&f->g, FB_MMU_CTRL) & 1 ? 26 : 27);
	unsigned int i, n;

	if (slot >= SLOTS)
		return;
	memcpy(&old_pde[slot][pdes[slot]++], f->g.vram + PDB + 8 * slot, 8);
	n = pdes[slot];
	for (i = 0; i < n && leaves < MAX_OLD; i++) {
		struct oracle_out o = ask(va, ACC_ATOMIC, true, &old_pde[slot][i]);

		if (!o.page_size)
			continue;
		leaf[leaves++] = (struct old_leaf){
			.base = va & ~(o.page_size - 1),
			.size = o.page_size,
			.phys = o.phys & ~(o.page_size - 1),
			.target = o.target,
			.kind = o.kind,
			.writable = o.writable,
			.readable = o.readable,
			.privileged = o.privileged,
		};
	}
}

static uint64_t some_va(struct input *in)
{
	uint64_t v = take(in, 4);

	return (v & 0x80000000) ? v << 12 | (v & 0xfff) :
				  v & 0x0fffffff & (v & 0x40000000 ? ~0u : 0x06020fff);
}

static void act_access(struct input *in)
{
	uint64_t va = some_va(in);
	unsigned int how = take(in, 1);
	enum mmu_access acc = how % 3;
	bool priv = how & 4;
	struct mmu_seg seg = { 0 };
	int got = -1;

	if (leaves > MAX_OLD / 2 || pdes[0] + pdes[1] + pdes[2] + pdes[3] > MAX_OLD / 2)
		invalidate();
	fake_wr32(f, GMMU_FAULT_SOURCE, ~0u);
	pthread_rwlock_rdlock(&f->g.dma_lock);
	if (mmu_translate(&f->g, &client, &space, va, 1 + how, acc, priv ? MMU_PRIV_ACCESS : 0,
			  &seg))
		got = reg_get(&f->g, GMMU_FAULT_INFO(0x15)) & 15;
	pthread_rwlock_unlock(&f->g.dma_lock);
	if (!allowed(va, acc, priv, got, &seg))
		abort();
	learn(va);
}

/* tables for the walk to find: entries point to a few pages so that inputs soon make deep walks */
static void act_entry(struct input *in)
{
	unsigned int how = take(in, 1), at = take(in, 2);
	uint64_t val = take(in, 8);

	/* directory entry: tables in the first 64 pages, or on the bus */
	if (how & 1)
		fake_wr64(f, PDB + at % SLOTS * 8,
			  (val & 0x0000000f0000000full) | (val & 0x3f0) | (val & 0x3f000000000) |
				  (how & 2 ? FAKE_IOVA << 24 : 0));
	else /* entry of a table: any, or one of few frames */
		fake_wr64(f, at % 0x8000 * 8,
			  how & 2 ? val : (val & ~0xfffff000ull) | (how & 4 ? FAKE_IOVA >> 8 : 0));
}

static void act_raw(struct input *in)
{
	uint32_t at = take(in, 3);
	uint64_t val = take(in, 8);

	if (at & 0x800000)
		memcpy(f->guest + at % (GUEST_SIZE - 8), &val, 8);
	else
		memcpy(f->g.vram + at % (VRAM_SIZE - 8), &val, 8);
}

static void act_copy(struct input *in)
{
	uint64_t va = some_va(in);
	unsigned int len = take(in, 2) % 9000;
	static uint8_t buf[9000];

	/* a copy may write tables: what caches know afterwards is simplest when they are empty */
	invalidate();
	if (len & 1)
		mmu_write(&f->g, &client, &space, va, buf, len, 0);
	else
		mmu_read(&f->g, &client, &space, va, buf, len, MMU_PRIV_ACCESS);
	invalidate();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	unsigned int budget = 400;

	set_up();
	while (in.p < in.end && budget--) {
		switch (take(&in, 1) % 12) {
		case 0 ... 3:
			act_access(&in);
			break;
		case 4 ... 7:
			act_entry(&in);
			break;
		case 8:
			act_raw(&in);
			break;
		case 9:
			act_copy(&in);
			break;
		case 10:
			invalidate();
			break;
		case 11:
			fake_wr32(f, FB_MMU_CTRL, take(&in, 1) & 1);
			invalidate();
			break;
		}
	}
	return 0;
}
