/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page-table walk, without any device: entries are read through a callback, so tests and
 * fuzzers run it on arrays.
 */
#ifndef KVGPU_MODEL_MMU_WALK_H
#define KVGPU_MODEL_MMU_WALK_H

#include "model.h"

enum walk_level { WALK_SPACE, WALK_DIR, WALK_BIG, WALK_SMALL };

/* reads one little-endian entry; false when nothing answers at that address */
struct walk_reader {
	bool (*read64)(void *ctx, enum mem_target t, uint64_t addr, uint64_t *entry);
	void *ctx;
};

#define LEAF_PRIV	1u
#define LEAF_NO_READ	2u
#define LEAF_NO_WRITE	4u
#define LEAF_VOL	8u

/* one translated page */
struct walk_leaf {
	uint64_t phys;		/* of the page, aligned to its size */
	uint8_t shift;		/* log2 of its size */
	uint8_t target;		/* enum mem_target */
	uint8_t kind;		/* plain: see kind_plain() */
	uint8_t flags;		/* LEAF_* */
};

struct walk_result {
	bool ok;
	enum walk_level level;	/* of the leaf, or where the walk failed */
	enum mmu_reason reason;	/* when !ok */
	uint64_t pde, big, small;	/* entries read on the way, 0 when not read */
	struct walk_leaf leaf;	/* when ok */
};

/*
 * reads the directory entry of @va; false: the directory can't be read. The caller has checked the
 * limit.
 */
bool walk_dir(const struct walk_reader *rd, uint64_t pdb, enum mem_target t, uint64_t va,
	      unsigned int big_shift, uint64_t *pde);
/* follows r->pde to the leaf of @va; fills the rest of *@r and returns r->ok */
bool walk_tables(const struct walk_reader *rd, uint64_t va, unsigned int big_shift,
		 struct walk_result *r);
/* the whole walk, limit included */
bool walk(const struct walk_reader *rd, const struct mmu_space *s, uint64_t va,
	  unsigned int big_shift, struct walk_result *r);
/* may this access use the leaf? else the reason */
bool walk_access(const struct walk_leaf *leaf, enum mmu_access acc, bool priv,
		 enum mmu_reason *why);

/* plain kind of a storage kind, GMMU_KIND_INVALID for one that the chip does not have (kind.c) */
uint8_t kind_plain(uint8_t kind);

#endif
