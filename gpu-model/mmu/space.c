// SPDX-License-Identifier: GPL-2.0-only
/* Address spaces as instance blocks name them. */
#include <linux/bitfield.h>

#include <gk110/bar.h>
#include <gk110/mmu.h>

#include "state.h"

bool mmu_space_load(struct gk110 *g, uint64_t inst, enum mem_target t, struct mmu_space *s)
{
	uint32_t w[4];
	bool ok;

	*s = (struct mmu_space){ .inst = inst };
	pthread_rwlock_rdlock(&g->dma_lock);
	ok = mem_fetch(g, t, inst + GMMU_INST_PDB_LO, w, sizeof(w));
	pthread_rwlock_unlock(&g->dma_lock);
	if (!ok)
		return false;
	s->pdb_target = FIELD_GET(GMMU_INST_PDB_LO_TARGET, w[0]);
	s->pdb = (w[0] & GMMU_INST_PDB_LO_ADDR) | (uint64_t)FIELD_GET(GMMU_INST_PDB_HI_ADDR, w[1])
							  << 32;
	s->limit = (w[2] | ~GMMU_INST_LIMIT_LO_ADDR) & 0xffffffffu;
	s->limit |= (uint64_t)FIELD_GET(GMMU_INST_LIMIT_HI_ADDR, w[3]) << 32;
	s->valid = true;
	return true;
}

void space_load_word(struct gk110 *g, uint32_t word, struct mmu_space *s)
{
	uint64_t inst = (uint64_t)FIELD_GET(HOSTMEM_INST, word) << HOSTMEM_INST_SHIFT;

	if (!mmu_space_load(g, inst, FIELD_GET(HOSTMEM_TARGET, word), s))
		gk110_note(g, "no memory behind the instance block of a CPU window: 0x%08x", word);
}
