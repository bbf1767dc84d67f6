// SPDX-License-Identifier: GPL-2.0-only
#include "card.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct card *the_card;

uint32_t card_rand(struct card *c)
{
	c->seed ^= c->seed << 13;
	c->seed ^= c->seed >> 17;
	c->seed ^= c->seed << 5;
	return c->seed;
}

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Gives every page of the address space a page of its own, in random order. */
static void shuffle_pages(struct card *c)
{
	unsigned int i, j;
	uint32_t t;

	for (i = 0; i < CARD_PAGES; i++)
		c->page[i] = i | (card_below(c, 2) ? 1u << 31 : 0);
	for (i = CARD_PAGES - 1; i > 0; i--) {
		j = card_below(c, i + 1);
		t = c->page[i];
		c->page[i] = c->page[j];
		c->page[j] = t;
	}
}

struct card *card_create(uint32_t seed)
{
	struct card *c = must(calloc(1, sizeof(*c)));
	static const uint8_t units[] = { 0x00, 0x15, 0x16, 0x1b },
			     clients[] = { 0x04, 0x01, 0x02, 0x19 };
	unsigned int i;

	the_card = c;
	c->seed = seed * 2654435761u | 1;
	c->vram = must(malloc(CARD_BYTES));
	c->guest = must(malloc(CARD_BYTES));
	for (i = 0; i < CARD_BYTES; i += 4) {
		uint32_t a = card_rand(c), b = card_rand(c);

		memcpy(c->vram + i, &a, 4);
		memcpy(c->guest + i, &b, 4);
	}
	shuffle_pages(c);
	c->now = 0x123456789abcdee0;
	pthread_mutex_init(&c->g.lock, NULL);
	pthread_rwlock_init(&c->g.dma_lock, NULL);
	c->g.regs = must(calloc(1, GK110_BAR0_SIZE));
	c->g.nr_engines = 4;
	for (i = 0; i < 4; i++)
		c->g.engine[i] = (struct engine){ .type = (enum engine_type)i,
						  .inst = i ? i - 1 : 0,
						  .intr_bit = 4 + i,
						  .fault_unit = units[i],
						  .hub_client = clients[i],
						  .ops = i ? &ce_engine : NULL };
	c->chan.vm = (struct mmu_space){ .limit = (1ull << CE_VA_BITS) - 1,
					 .inst = 0x7000,
					 .valid = true };
	c->chan.id = 5;
	if (ce_unit.init(&c->g))
		abort();
	ce_unit.reset(&c->g);
	return c;
}

void card_destroy(struct card *c)
{
	ce_unit.fini(&c->g);
	free(c->g.regs);
	free(c->vram);
	free(c->guest);
	free(c);
	the_card = NULL;
}

static uint8_t *page_ptr(struct card *c, unsigned int page)
{
	uint32_t p = c->page[page];

	return (p >> 31 ? c->guest : c->vram) + (size_t)(p & 0x7fffffff) * GK110_PAGE;
}

uint8_t *card_byte(struct card *c, uint64_t va)
{
	return va < CARD_BYTES ? page_ptr(c, (unsigned int)(va / GK110_PAGE)) + va % GK110_PAGE :
				 NULL;
}

void card_read(struct card *c, uint8_t *image)
{
	unsigned int i;

	for (i = 0; i < CARD_PAGES; i++)
		memcpy(image + (size_t)i * GK110_PAGE, page_ptr(c, i), GK110_PAGE);
}

enum eng_ret card_method(struct card *c, unsigned int inst, uint32_t mthd, uint32_t data)
{
	c->charging = &c->chan;
	return ce_engine.method(&c->g, inst, &c->chan, 4, mthd, data, true);
}

void card_methods(struct card *c, unsigned int inst, uint32_t mthd, unsigned int n,
		  const uint32_t *words)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (card_method(c, inst, mthd + 4 * i, words[i]) != ENG_DONE) {
			fprintf(stderr, "method %#x refused\n", mthd + 4 * i);
			abort();
		}
	}
}

/* ----------------------------------------------------------------- the units around the engines */

static int fault(struct mmu_client *client, uint64_t va, enum mmu_reason why, enum mmu_access acc)
{
	struct card *c = the_card;

	if (!c->fault.count)
		c->fault = (struct card_fault){ .unit = client->unit,
						.client = client->client,
						.va = va,
						.why = why,
						.acc = acc };
	c->fault.count++;
	return -EFAULT;
}

int mmu_translate(struct gk110 *g, struct mmu_client *client, const struct mmu_space *s,
		  uint64_t va, size_t want, enum mmu_access acc, unsigned int flags,
		  struct mmu_seg *seg)
{
	struct card *c = the_card;
	unsigned int page;
	size_t len = GK110_PAGE - va % GK110_PAGE;

	if (c->last_shows && va / GK110_PAGE == (1ull << 40) / GK110_PAGE - 1)
		va = (uint64_t)c->last_shows * GK110_PAGE + va % GK110_PAGE;
	page = (unsigned int)(va / GK110_PAGE);
	if (va >= CARD_BYTES)
		return fault(client, va, MMU_LIMIT, acc);
	if (c->absent[page])
		return fault(client, va, MMU_PTE, acc);
	if (c->privileged[page] && !(flags & MMU_PRIV_ACCESS))
		return fault(client, va, MMU_PRIV, acc);
	if (c->read_only[page] && acc != ACC_READ)
		return fault(client, va, MMU_RO, acc);
	if (want > len)
		want = len;
	if (c->short_runs && want > 16)
		want = 16 + card_below(c, (uint32_t)want - 15);
	seg->ptr = card_byte(c, va);
	seg->len = want;
	seg->target = c->page[page] >> 31 ? MEM_SYS_COH : MEM_VRAM;
	return 0;
}

void *mem_ptr(struct gk110 *g, enum mem_target t, uint64_t addr, size_t *len, bool write)
{
	if (addr >= CARD_BYTES)
		return NULL;
	if (*len > CARD_BYTES - addr)
		*len = CARD_BYTES - addr;
	return (t == MEM_VRAM ? the_card->vram : the_card->guest) + addr;
}

void mmu_fault(struct gk110 *g, struct mmu_client *client, const struct mmu_space *s, uint64_t va,
	       enum mmu_reason why, enum mmu_access acc, unsigned int flags)
{
	fault(client, va, why, acc);
}

int mmu_client_init(struct gk110 *g, struct mmu_client *c, const char *name, uint8_t unit,
		    uint8_t client, int gpc)
{
	*c = (struct mmu_client){
		.name = name,
		.unit = unit,
		.client = client,
		.gpc = (int8_t)gpc,
	};
	return 0;
}

void mmu_client_fini(struct gk110 *g, struct mmu_client *c)
{
}

void dma_read_lock(struct gk110 *g)
{
	pthread_rwlock_rdlock(&g->dma_lock);
}

void dma_read_unlock(struct gk110 *g)
{
	pthread_rwlock_unlock(&g->dma_lock);
}

/*
 * Aborts unless g->lock is held (@locked) or free (!@locked), as the contract of the calling
 * stand-in asks.
 */
static void want_locked(struct gk110 *g, bool locked)
{
	if (pthread_mutex_trylock(&g->lock) == 0) {
		pthread_mutex_unlock(&g->lock);
		if (locked)
			abort();
	} else if (!locked) {
		abort();
	}
}

void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level)
{
	want_locked(g, true);
	the_card->pmc_level = (the_card->pmc_level & ~(1u << bit)) | (level ? 1u << bit : 0);
}

void fifo_intr_raise(struct gk110 *g, uint32_t bits)
{
	want_locked(g, true);
	the_card->nonstall += bits == 1u << 31;
}

void fifo_engine_resume(struct gk110 *g, unsigned int engine)
{
	want_locked(g, true);
	the_card->resumes++;
}

void fifo_kick(struct gk110 *g)
{
	want_locked(g, false);
	if (pthread_rwlock_trywrlock(&g->dma_lock))
		abort();
	pthread_rwlock_unlock(&g->dma_lock);
	the_card->kicks++;
}

uint64_t ptimer_now(struct gk110 *g)
{
	return the_card->now;
}

void pacer_begin(struct pacer *p)
{
}

void pacer_end(struct pacer *p)
{
}

void pacer_charge(struct pacer *p, uint64_t units, const atomic_bool *stop)
{
	struct card *c = the_card;

	want_locked(&c->g, false);
	c->charges++;
	c->charged += units;
	if (c->stop_after && c->charges % c->stop_after == 0)
		atomic_store(&c->charging->stop, true);
}

void gk110_note(struct gk110 *g, const char *fmt, ...)
{
}

void gk110_err(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
