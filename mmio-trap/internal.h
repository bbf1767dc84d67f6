/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of this room share: the form of the tables, the register file, and the units'
 * calls to each other.
 */
#ifndef KVGPU_MMIO_TRAP_INTERNAL_H
#define KVGPU_MMIO_TRAP_INTERNAL_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "kvgpu/trap.h"

/* sources of hardware facts, named once */
#define SRC_NV		"nouveau"
#define SRC_RNN		"envytools rnndb"
#define SRC_NVRNN	"nouveau, envytools rnndb"
#define SRC_MED		"gk110-mediation.md"
#define SRC_PCI		"PCI 3.0, envytools pci.rst"

#define ALL_BITS	0xffffffffu

/* one access on its way through the engine */
struct kvgpu_access {
	u32 reg;	/* offset in BAR0 */
	u32 inst;	/* which copy of the unit */
	u32 idx;	/* which register of the line */
	u32 bits;	/* write: the bytes written, others 0 */
	u32 val;	/* write: what the register would hold, bytes not written kept */
	u64 now;
	struct kvgpu_cmd *cmd;
};

/*
 * One line of a table: @count registers, @stride apart (0 means 1 and 4). Offsets are those of the
 * unit's first copy.
 *
 * Reads: CONST gives @read() or @reset; FILE the file's value with @zero bits 0 and @one bits 1;
 * EMULATE @read() or as FILE. Writes: CONST are ignored, FILE go to the file except for @ro bits,
 * and @w1c bits clear; EMULATE and TRAP are the hook's business, EMULATE without hook is as FILE.
 * DENY and UNLISTED are as FILE, and counted. A TRAP is taken only from a write of all four bytes.
 */
struct kvgpu_reg_line {
	u32 off, count, stride;
	enum kvgpu_reg_class rd, wr;
	u32 reset;		/* value after POST */
	u32 ro, w1c;		/* bits a write does not change; bits it clears */
	/* bits that read as 0, as 1, whatever was written: what drivers poll */
	u32 zero, one;
	/* its registers take no slots: not kept in the file, not counted one by one */
	bool bulk;
	u32 (*read)(struct kvgpu_trap *t, const struct kvgpu_access *a);
	void (*write)(struct kvgpu_trap *t, const struct kvgpu_access *a);
	const char *name, *why, *src;
};

#define KVGPU_LINE(reg, r, w, ...) \
	{ .name = #reg, .off = (reg), .rd = KVGPU_REG_##r, .wr = KVGPU_REG_##w, __VA_ARGS__ }
/* @reg is relative to @base */
#define KVGPU_LINE_AT(base, reg, r, w, ...) \
	{ .name = #reg, .off = (base) + (reg), .rd = KVGPU_REG_##r, .wr = KVGPU_REG_##w, \
		__VA_ARGS__ }

/* a window of BAR0, perhaps several equal ones in a row */
struct kvgpu_reg_unit {
	const char *name;
	u32 base, size, copies;		/* copies 0 means 1 */
	const struct kvgpu_reg_line *line;
	u32 nr_lines;
	struct kvgpu_reg_line rest;	/* all that no line names; left out: UNLISTED */
};

#define KVGPU_UNIT_LINES(table)		.line = (table), .nr_lines = ARRAY_SIZE(table)
#define KVGPU_REST(r, w, why_, src_) \
	.rest = { .name = "others", .rd = KVGPU_REG_##r, .wr = KVGPU_REG_##w, .why = (why_), \
		.src = (src_) }

/* table.c: all units by address */
extern const struct kvgpu_reg_unit *const kvgpu_trap_units[];
extern const u32 kvgpu_trap_nr_units;
/*
 * the line that covers @reg (never NULL; class UNLISTED when nothing does), its unit (or NULL),
 * a->inst and a->idx
 */
const struct kvgpu_reg_line *kvgpu_trap_find(struct kvgpu_access *a,
					     const struct kvgpu_reg_unit **unit);

/* file.c: the register file */
/* where it is in memory that the guest maps, or NULL */
u32 *kvgpu_file_plain(const struct kvgpu_trap *t, u32 reg);
struct kvgpu_reg_slot *kvgpu_file_slot(struct kvgpu_trap *t, u32 reg);		/* or NULL */
/* or NULL when there is no room */
struct kvgpu_reg_slot *kvgpu_file_make(struct kvgpu_trap *t, u32 reg, u32 val);
u32 kvgpu_reg_get(const struct kvgpu_trap *t, u32 reg);
void kvgpu_reg_set(struct kvgpu_trap *t, u32 reg, u32 val);

/* intr.c: the tree. Sources are levels */
void kvgpu_intr_source(struct kvgpu_trap *t, unsigned int bit, bool on);
void kvgpu_intr_source_nrhost(struct kvgpu_trap *t, unsigned int bit, bool on);
void kvgpu_intr_update(struct kvgpu_trap *t);
void kvgpu_intr_rearm(struct kvgpu_trap *t);
u32 kvgpu_intr_leaf(const struct kvgpu_trap *t, unsigned int leaf);
bool kvgpu_intr_output(const struct kvgpu_trap *t, unsigned int leaf);

/* state that a reset brings to power-on values, beyond the file */
void kvgpu_pmc_reset(struct kvgpu_trap *t);
void kvgpu_fifo_reset(struct kvgpu_trap *t);
void kvgpu_gr_reset(struct kvgpu_trap *t);
void kvgpu_ce_reset(struct kvgpu_trap *t, const struct kvgpu_engine *e);
void kvgpu_pmu_reset(struct kvgpu_trap *t);

/* units to each other */
void kvgpu_fifo_update(struct kvgpu_trap *t);
u64 kvgpu_guest_time(const struct kvgpu_trap *t, u64 now);
bool kvgpu_target_ok(u32 code);		/* not a peer: video memory or system memory */
void kvgpu_deny(struct kvgpu_trap *t);	/* counts a command that has no form */

/* counts that index arrays, never beyond them */
static inline u32 kvgpu_nr_engines(const struct kvgpu_trap *t)
{
	return min_t(u32, t->cfg.topo->nr_engines, KVGPU_MAX_ENGINE);
}

static inline u32 kvgpu_nr_gpcs(const struct kvgpu_trap *t)
{
	return min_t(u32, t->cfg.topo->gpcs, KVGPU_MAX_GPC);
}

/* what a guest sees of the chip's runlists: all engines on runlist 0 (README.md) */
#define KVGPU_GUEST_RUNLISTS	1
#define KVGPU_GUEST_RUNL_MASK	GENMASK(KVGPU_GUEST_RUNLISTS - 1, 0)
/* memory partitions that a guest sees, whatever the card has */
#define KVGPU_GUEST_FBP		4

#endif
