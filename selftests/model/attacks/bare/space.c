// SPDX-License-Identifier: GPL-2.0-only
/* space.h has the contracts, README.md what this code may use. */
#include "space.h"

#include <linux/bitfield.h>

#include <gk110/mmu.h>

enum {
	PDE_SIZE_EIGHTH = 3,
	SMALL_ENTRIES = BARE_SPACE_SIZE >> 12,
	AT_ONCE = 64,
	DIRECTORY_BYTES = (1ull << GMMU_VA_BITS >> 27) * GMMU_ENTRY_SIZE
};

/*
 * Return the aperture for a page's entry: 0 for VRAM, where a directory entry has 1. Both have 2
 * and 3 for coherent and non-coherent host memory.
 */
static uint32_t pte_aperture(enum bare_target t)
{
	return t == BARE_VRAM ? GMMU_PTE_APERTURE_VRAM :
	       t == BARE_HOST ? GMMU_PTE_APERTURE_SYS_COH :
				GMMU_PTE_APERTURE_SYS_NCOH;
}

static void write_entry(struct bare_gpu *g, uint64_t at, uint64_t entry)
{
	bare_mem_write(g, BARE_VRAM, at, &entry, sizeof(entry));
}

void bare_space_create(struct bare_gpu *g, struct bare_space *s)
{
	uint64_t pde;

	/*
	 * The instance blocks made here have a limit that leaves only the directory's first entry
	 * in use. kvgpu reads a whole directory all the same, and would take what lies behind a
	 * shorter one for entries.
	 */
	s->pdb = bare_vram(g, DIRECTORY_BYTES, 0x1000);
	s->table = bare_vram(g, SMALL_ENTRIES * GMMU_ENTRY_SIZE, 0x1000);
	bare_mem_zero(g, BARE_VRAM, s->pdb, DIRECTORY_BYTES);
	bare_mem_zero(g, BARE_VRAM, s->table, SMALL_ENTRIES * GMMU_ENTRY_SIZE);
	pde = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
	      FIELD_PREP(GMMU_PDE_SIZE, PDE_SIZE_EIGHTH) |
	      FIELD_PREP(GMMU_PDE_SMALL_ADDR, s->table >> GMMU_ADDR_SHIFT);
	write_entry(g, s->pdb, pde);
}

static uint64_t page_entry(enum bare_target t, uint64_t addr)
{
	return GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_ADDR, addr >> GMMU_ADDR_SHIFT) |
	       FIELD_PREP(GMMU_PTE_APERTURE, pte_aperture(t)) | (t == BARE_VRAM ? 0 : GMMU_PTE_VOL);
}

void bare_space_map(struct bare_gpu *g, struct bare_space *s, uint64_t va, enum bare_target t,
		    uint64_t addr)
{
	write_entry(g, s->table + (va >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE, page_entry(t, addr));
}

/* Write up to AT_ONCE entries for one move of the window. */
void bare_space_map_range(struct bare_gpu *g, struct bare_space *s, uint64_t va, enum bare_target t,
			  uint64_t addr, uint64_t len)
{
	uint64_t entries[AT_ONCE], page = 1ull << GMMU_SMALL_SHIFT, off = 0;
	unsigned int n;

	while (off < len) {
		uint64_t at = s->table + ((va + off) >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE;

		for (n = 0; n < AT_ONCE && off < len; n++, off += page)
			entries[n] = page_entry(t, addr + off);
		bare_mem_write(g, BARE_VRAM, at, entries, n * sizeof(entries[0]));
	}
}

void bare_space_unmap(struct bare_gpu *g, struct bare_space *s, uint64_t va)
{
	write_entry(g, s->table + (va >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE, 0);
}

/* ------------------------------------------------------------------ other people's tables */

static uint64_t read_entry(struct bare_gpu *g, enum bare_target t, uint64_t at)
{
	uint64_t entry;

	bare_mem_read(g, t, at, &entry, sizeof(entry));
	return entry;
}

static enum bare_target pde_target(uint64_t aperture)
{
	return aperture == GMMU_PDE_APERTURE_VRAM    ? BARE_VRAM :
	       aperture == GMMU_PDE_APERTURE_SYS_COH ? BARE_HOST :
						       BARE_HOST_NCOH;
}

static bool use_pte(uint64_t pte, uint64_t va, unsigned int shift, enum bare_target *t,
		    uint64_t *addr, uint64_t *left)
{
	uint64_t page = 1ull << shift;

	if (!(pte & GMMU_PTE_VALID))
		return false;
	switch (FIELD_GET(GMMU_PTE_APERTURE, pte)) {
	case GMMU_PTE_APERTURE_VRAM:
		*t = BARE_VRAM;
		break;
	case GMMU_PTE_APERTURE_SYS_COH:
		*t = BARE_HOST;
		break;
	case GMMU_PTE_APERTURE_SYS_NCOH:
		*t = BARE_HOST_NCOH;
		break;
	default:
		return false;
	}
	*addr = (FIELD_GET(GMMU_PTE_ADDR, pte) << GMMU_ADDR_SHIFT) + va % page;
	*left = page - va % page;
	return true;
}

bool bare_walk(struct bare_gpu *g, uint64_t inst, uint64_t va, enum bare_target *t, uint64_t *addr,
	       uint64_t *left)
{
	uint32_t lo = bare_mem_read32(g, BARE_VRAM, inst + GMMU_INST_PDB_LO);
	uint32_t hi = bare_mem_read32(g, BARE_VRAM, inst + GMMU_INST_PDB_HI);
	unsigned int big = bare_read(g, FB_MMU_CTRL) & FB_MMU_CTRL_BIG_64K ? GMMU_BIG_SHIFT_64K :
									     GMMU_BIG_SHIFT_128K;
	unsigned int pde_shift = big + GMMU_BIG_PTES_SHIFT;
	uint64_t pdb = (uint64_t)FIELD_GET(GMMU_INST_PDB_HI_ADDR, hi) << 32 |
		       (lo & GMMU_INST_PDB_LO_ADDR);
	uint64_t in_pde = va & ((1ull << pde_shift) - 1), pde, at;
	uint32_t aperture;

	pde = read_entry(g, FIELD_GET(GMMU_INST_PDB_LO_TARGET, lo),
			 pdb + (va >> pde_shift) * GMMU_ENTRY_SIZE);
	aperture = FIELD_GET(GMMU_PDE_BIG_APERTURE, pde);
	if (aperture) {
		at = (FIELD_GET(GMMU_PDE_BIG_ADDR, pde) << GMMU_ADDR_SHIFT) +
		     (in_pde >> big) * GMMU_ENTRY_SIZE;
		if (use_pte(read_entry(g, pde_target(aperture), at), va, big, t, addr, left))
			return true;
	}
	aperture = FIELD_GET(GMMU_PDE_SMALL_APERTURE, pde);
	if (!aperture)
		return false;
	at = (FIELD_GET(GMMU_PDE_SMALL_ADDR, pde) << GMMU_ADDR_SHIFT) +
	     (in_pde >> GMMU_SMALL_SHIFT) * GMMU_ENTRY_SIZE;
	return use_pte(read_entry(g, pde_target(aperture), at), va, GMMU_SMALL_SHIFT, t, addr,
		       left);
}
