/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small device for unit tests: video memory, guest memory behind a fake bus, the MMU and the
 * windows, and page tables made by hand. fake_device.h adds stand-ins for the rest of the model.
 * Registers are accessed through the units' own tables, with gk110.lock taken here. The MMU's
 * thread for faults does not run, unless a test calls mmu_unit.start().
 *
 *  struct fake *f = fake_create(16 << 20, 4 << 20);
 *  struct fake_vm vm = fake_vm_create(f, limit);
 *  fake_map(f, &vm, va, phys, MEM_VRAM, 0, false);
 *  mmu_space_load(&f->g, vm.inst, MEM_VRAM, &space);
 */
#ifndef KVGPU_TEST_FAKE_H
#define KVGPU_TEST_FAKE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/mmu.h>

#include "mmu/state.h"

#define FAKE_IOVA 0x40000000ull /* bus address of the first byte of guest memory */

struct fake {
	struct gk110 g;
	uint8_t *guest;
	uint64_t guest_size;
	/* end of free video memory: tables are allocated from the top downwards */
	uint64_t next;
	unsigned int win_invalidated[NR_WIN];
	unsigned int msgs; /* interrupt edges */
	bool guest_read_only;
};

/* addresses of an address space's instance block and page directory */
struct fake_vm {
	uint64_t inst, pdb;
};

static inline void *fake_dma_ptr(void *bus, uint64_t iova, size_t *len, bool write)
{
	struct fake *f = bus;

	if (iova < FAKE_IOVA || iova - FAKE_IOVA >= f->guest_size || (write && f->guest_read_only))
		return NULL;
	if (*len > f->guest_size - (iova - FAKE_IOVA))
		*len = f->guest_size - (iova - FAKE_IOVA);
	return f->guest + (iova - FAKE_IOVA);
}

static inline void fake_intr(void *bus, bool level, bool edge)
{
	((struct fake *)bus)->msgs += edge;
}

static inline void fake_win_invalidate(void *bus, enum bar_window win)
{
	((struct fake *)bus)->win_invalidated[win]++;
}

static const struct bus_ops fake_bus = {
	.dma_ptr = fake_dma_ptr,
	.intr = fake_intr,
	.win_invalidate = fake_win_invalidate,
};

static inline struct fake *fake_create(uint64_t vram_size, uint64_t guest_size)
{
	struct fake *f = calloc(1, sizeof(*f));

	f->g.cfg.vram_size = vram_size;
	f->g.vram = calloc(1, vram_size);
	f->g.regs = calloc(1, GK110_BAR0_SIZE);
	f->guest = calloc(1, guest_size);
	f->guest_size = guest_size;
	f->next = vram_size;
	f->g.bus = &fake_bus;
	f->g.bus_priv = f;
	pthread_mutex_init(&f->g.lock, NULL);
	pthread_rwlock_init(&f->g.dma_lock, NULL);
	if (!f->g.vram || !f->g.regs || !f->guest || mmu_unit.init(&f->g) || bar_unit.init(&f->g))
		abort();
	pthread_mutex_lock(&f->g.lock);
	mmu_unit.reset(&f->g);
	bar_unit.reset(&f->g);
	pthread_mutex_unlock(&f->g.lock);
	memset(f->win_invalidated, 0, sizeof(f->win_invalidated));
	return f;
}

static inline void fake_destroy(struct fake *f)
{
	bar_unit.fini(&f->g);
	mmu_unit.fini(&f->g);
	free(f->guest);
	free(f->g.regs);
	free(f->g.vram);
	free(f);
}

static inline const struct mmio_range *fake_range(uint32_t reg)
{
	const struct unit_ops *units[] = { &mmu_unit, &bar_unit };
	unsigned int u, i;

	for (u = 0; u < 2; u++)
		for (i = 0; i < units[u]->nr_ranges; i++)
			if (reg - units[u]->ranges[i].base < units[u]->ranges[i].size)
				return &units[u]->ranges[i];
	return NULL;
}

static inline void fake_wr32_be(struct fake *f, uint32_t reg, uint32_t val, uint32_t be)
{
	const struct mmio_range *r = fake_range(reg);

	pthread_mutex_lock(&f->g.lock);
	if (r && r->write)
		r->write(&f->g, reg, val & be, be);
	else
		reg_merge(&f->g, reg, val, be);
	pthread_mutex_unlock(&f->g.lock);
}

static inline void fake_wr32(struct fake *f, uint32_t reg, uint32_t val)
{
	fake_wr32_be(f, reg, val, ~0u);
}

static inline uint32_t fake_rd32(struct fake *f, uint32_t reg)
{
	const struct mmio_range *r = fake_range(reg);
	uint32_t val;

	pthread_mutex_lock(&f->g.lock);
	val = r && r->read ? r->read(&f->g, reg) : reg_get(&f->g, reg);
	pthread_mutex_unlock(&f->g.lock);
	return val;
}

static inline uint64_t fake_alloc(struct fake *f, uint64_t size)
{
	f->next = (f->next - size) & ~0xfffull;
	memset(f->g.vram + f->next, 0, size);
	return f->next;
}

/* Writes an entry atomically: tests change entries while other threads walk them. */
static inline void fake_wr64(struct fake *f, uint64_t vram, uint64_t val)
{
	__atomic_store_n((uint64_t *)(f->g.vram + vram), val, __ATOMIC_RELAXED);
}

static inline uint64_t fake_rd64(struct fake *f, uint64_t vram)
{
	return __atomic_load_n((uint64_t *)(f->g.vram + vram), __ATOMIC_RELAXED);
}

static inline struct fake_vm fake_vm_create(struct fake *f, uint64_t limit)
{
	struct fake_vm vm = { .inst = fake_alloc(f, 0x1000), .pdb = fake_alloc(f, 0x20000) };

	fake_wr64(f, vm.inst + 0x200, vm.pdb);
	fake_wr64(f, vm.inst + 0x208, limit);
	return vm;
}

static inline unsigned int fake_big_shift(struct fake *f)
{
	return fake_rd32(f, FB_MMU_CTRL) & FB_MMU_CTRL_BIG_64K ? 16 : 17;
}

/*
 * Returns the address of the entry for @va in the small or the big table. Makes the table if there
 * is none.
 */
static inline uint64_t fake_pte_addr(struct fake *f, const struct fake_vm *vm, uint64_t va,
				     bool big)
{
	unsigned int big_shift = fake_big_shift(f), span = big_shift + 10,
		     shift = big ? big_shift : 12;
	uint64_t slot = vm->pdb + (va >> span) * 8, pde = fake_rd64(f, slot), table;

	if (!(pde & (big ? 1ull : 1ull << 32))) {
		table = fake_alloc(f, 8ull << (span - shift));
		pde |= big ? table >> 8 | 1 : table << 24 | 1ull << 32;
		fake_wr64(f, slot, pde);
	}
	table = big ? (pde & 0xfffffff0) << 8 : (pde >> 36) << 12;
	return table + ((va & ((1ull << span) - 1)) >> shift) * 8;
}

static inline uint64_t fake_pte(uint64_t phys, enum mem_target t, uint64_t bits)
{
	return 1 | (phys >> 12) << 4 | (uint64_t)t << 33 | bits;
}

/* Maps one page. @bits are further bits of the entry (GMMU_PTE_RO, a kind, ...). */
static inline void fake_map(struct fake *f, const struct fake_vm *vm, uint64_t va, uint64_t phys,
			    enum mem_target t, uint64_t bits, bool big)
{
	fake_wr64(f, fake_pte_addr(f, vm, va, big), fake_pte(phys, t, bits));
}

static inline void fake_unmap(struct fake *f, const struct fake_vm *vm, uint64_t va, bool big)
{
	fake_wr64(f, fake_pte_addr(f, vm, va, big), 0);
}

/* Invalidates as a driver does: writes the page directory, and then the trigger. */
static inline void fake_invalidate(struct fake *f, uint64_t pdb, uint32_t target, uint32_t what)
{
	fake_wr32(f, FB_MMU_INVALIDATE_PDB, (pdb >> 12) << 4 | target);
	fake_wr32(f, FB_MMU_INVALIDATE, FB_MMU_INVALIDATE_TRIGGER | what);
}

static inline struct mmu_space fake_space(struct fake *f, const struct fake_vm *vm)
{
	struct mmu_space s;

	if (!mmu_space_load(&f->g, vm->inst, MEM_VRAM, &s))
		abort();
	return s;
}

#endif
