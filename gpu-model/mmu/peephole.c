// SPDX-License-Identifier: GPL-2.0-only
/*
 * The peephole: two registers hold an address, the third is the memory at that address, and each
 * access to the third adds 4 to the address. Register 0x1718 chooses the address space (or video
 * memory), so software that can write these registers reaches all memory that any instance block
 * can name. Behaviour: envytools docs/hw/memory/peephole.rst (RW port, GF100+).
 */
#include <errno.h>
#include <stdlib.h>

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/mmu.h>

#include "state.h"

struct peephole {
	bool virt;
	struct mmu_space space;
	struct mmu_client client;
};

static uint64_t address(struct gk110 *g)
{
	return (uint64_t)(reg_get(g, PEEPHOLE_ADDR_HIGH) & PEEPHOLE_ADDR_HIGH_BITS) << 32 |
	       (reg_get(g, PEEPHOLE_ADDR_LOW) & PEEPHOLE_ADDR_LOW_BITS);
}

static void advance(struct gk110 *g)
{
	uint64_t addr = address(g) + 4;

	reg_set(g, PEEPHOLE_ADDR_LOW, addr);
	reg_set(g, PEEPHOLE_ADDR_HIGH, (addr >> 32) & PEEPHOLE_ADDR_HIGH_BITS);
}

static void *word_at(struct gk110 *g, enum mmu_access acc)
{
	struct peephole *p = g->mmu->peephole;
	struct mmu_seg seg;
	size_t len = 4;

	if (!p->virt)
		return mem_ptr(g, MEM_VRAM, address(g), &len, acc != ACC_READ);
	if (mmu_translate(g, &p->client, &p->space, address(g), 4, acc,
			  MMU_LOCKED | MMU_PRIV_ACCESS, &seg))
		return NULL;
	return seg.ptr;
}

uint32_t peephole_read(struct gk110 *g, uint32_t reg)
{
	uint32_t val = ~0u;
	void *p;

	if (reg != PEEPHOLE_DATA)
		return reg_get(g, reg);
	pthread_rwlock_rdlock(&g->dma_lock);
	p = word_at(g, ACC_READ);
	if (p)
		mem_copy_from(&val, p, 4);
	pthread_rwlock_unlock(&g->dma_lock);
	advance(g);
	return val;
}

void peephole_write(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	unsigned int i;
	uint8_t *p;

	if (reg != PEEPHOLE_DATA) {
		reg_merge(g, reg, val, be);
		reg_set(g, reg,
			reg_get(g, reg) & (reg == PEEPHOLE_ADDR_HIGH ? PEEPHOLE_ADDR_HIGH_BITS :
								       PEEPHOLE_ADDR_LOW_BITS));
		return;
	}
	pthread_rwlock_rdlock(&g->dma_lock);
	p = word_at(g, ACC_WRITE);
	if (p && be == ~0u)
		mem_copy_to(p, &val, 4);
	for (i = 0; p && be != ~0u && i < 4; i++)
		if (be >> (8 * i) & 0xff)
			p[i] = val >> (8 * i);
	pthread_rwlock_unlock(&g->dma_lock);
	advance(g);
}

void peephole_bind(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t be)
{
	struct peephole *p = g->mmu->peephole;
	uint32_t word = reg_merge(g, reg, val, be);

	p->virt = word & HOSTMEM_VIRTUAL;
	p->space = (struct mmu_space){ 0 };
	if (p->virt)
		space_load_word(g, word, &p->space);
}

int peephole_init(struct gk110 *g)
{
	struct peephole *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return -ENOMEM;
	ret = mmu_client_init(g, &p->client, "peephole", GMMU_UNIT_PEEPHOLE, GMMU_HUB_HOST_CPU, -1);
	if (ret) {
		free(p);
		return ret;
	}
	g->mmu->peephole = p;
	return 0;
}

void peephole_reset(struct gk110 *g)
{
	g->mmu->peephole->virt = false;
	g->mmu->peephole->space = (struct mmu_space){ 0 };
	reg_set(g, HOSTMEM_PEEPHOLE, 0);
	reg_set(g, PEEPHOLE_ADDR_HIGH, 0);
	reg_set(g, PEEPHOLE_ADDR_LOW, 0);
}

void peephole_fini(struct gk110 *g)
{
	mmu_client_fini(g, &g->mmu->peephole->client);
	free(g->mmu->peephole);
	g->mmu->peephole = NULL;
}
