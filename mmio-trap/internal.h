/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by the files of mmio-trap: the form of the tables, the register file, the interrupt tree.
 * Tests and selftests/tooling/docs/regdoc.c include it, too, by units.h; mdev/ must not.
 */
#ifndef KVGPU_MMIO_TRAP_INTERNAL_H
#define KVGPU_MMIO_TRAP_INTERNAL_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "mmio-trap/trap.h"

#define SRC_NV	  "nouveau"
#define SRC_RNN	  "envytools rnndb"
#define SRC_NVRNN "nouveau, envytools rnndb"
#define SRC_MMIO  "envytools mmio.rst"
#define SRC_GV100 "NVIDIA open-gpu-doc, GV100 manual"
#define SRC_PCI	  "PCI 3.0, envytools pci.rst"

#define ALL_BITS 0xffffffffu

/* One access to a register, in the form that vtrap_line_find() and the units' hooks take. */
struct kvgpu_access {
	u32 reg; /* offset in BAR0 */
	u32 inst; /* number of the unit's copy that has the register, from 0 on */
	u32 idx; /* index of the register in its table line */
	u32 bits; /* write: value in the written bytes, 0 in the others */
	/* write: the register's value with the written bytes */
	u32 val;
	u64 now; /* the host's PTIMER, ns */
	struct kvgpu_cmd *cmd; /* write: the hook puts the command here, if it makes one */
};

/*
 * One line of a table: @count registers, @stride bytes apart (@count 0 stands for 1, @stride 0 for
 * 4). @off is the offset in BAR0 of the first register in the unit's first copy.
 *
 * Reads: CONST gives @read(), or @reset if there is no @read. FILE gives the register file's value
 * with the @zero bits cleared and the @one bits set. EMULATE gives @read(), or is as FILE if there
 * is no @read.
 *
 * Writes: CONST ignores them. FILE stores them in the register file, except for the @ro bits; a
 * written 1 clears a @w1c bit. EMULATE and TRAP call @write(); EMULATE without @write is as FILE. A
 * TRAP line takes only writes of all four bytes; any other write counts in .nr_denied.
 *
 * DENY and UNLISTED are as FILE, and each access is counted, in .nr_denied or .nr_unlisted.
 */
struct kvgpu_reg_line {
	u32 off, count, stride;
	enum kvgpu_reg_class rd, wr;
	/* value after POST, unless vtrap_pmc_reset() or topo->seed sets another */
	u32 reset;
	/* .ro: bits that a write does not change; .w1c: bits that a written 1 clears */
	u32 ro, w1c;
	u32 zero, one; /* bits that always read as 0 or as 1 */
	/* the register file has no slots for these registers: hooks have their values elsewhere */
	bool bulk;
	u32 (*read)(struct kvgpu_trap *t, const struct kvgpu_access *a);
	void (*write)(struct kvgpu_trap *t, const struct kvgpu_access *a);
	const char *name, *why, *src; /* printed into build/docs/registers.md by make docs */
};

#define KVGPU_LINE(reg, r, w, ...)                                                                \
	{                                                                                         \
		.name = #reg, .off = (reg), .rd = KVGPU_REG_##r, .wr = KVGPU_REG_##w, __VA_ARGS__ \
	}
/* as KVGPU_LINE(), with @reg relative to @base */
#define KVGPU_LINE_AT(base, reg, r, w, ...)                                                    \
	{                                                                                      \
		.name = #reg, .off = (base) + (reg), .rd = KVGPU_REG_##r, .wr = KVGPU_REG_##w, \
		__VA_ARGS__                                                                    \
	}

/* A window of BAR0, or several equal windows in a row. */
struct kvgpu_reg_unit {
	const char *name;
	u32 base, size, copies; /* .copies: equal windows; 0 means 1 */
	const struct kvgpu_reg_line *line;
	u32 nr_lines;
	/* for registers that no line covers; class UNLISTED if left out */
	struct kvgpu_reg_line rest;
};

#define KVGPU_UNIT_LINES(table) .line = (table), .nr_lines = ARRAY_SIZE(table)
#define KVGPU_REST(r, w, why_, src_)   \
	.rest = { .name = "others",    \
		  .rd = KVGPU_REG_##r, \
		  .wr = KVGPU_REG_##w, \
		  .why = (why_),       \
		  .src = (src_) }

/* table.c: all units, in the order of their addresses. */
extern const struct kvgpu_reg_unit *const kvgpu_trap_units[];
extern const u32 kvgpu_trap_nr_units;
/*
 * Returns the table line that covers @a->reg, else .rest of its unit, else a line of class
 * UNLISTED. Sets @a->inst to the unit's copy and @a->idx to the index in the line. @unit may be
 * NULL; else *@unit is set to the unit, or to NULL if @a->reg is in no unit.
 */
const struct kvgpu_reg_line *vtrap_line_find(struct kvgpu_access *a,
					     const struct kvgpu_reg_unit **unit);

/*
 * file.c: the register file. vtrap_plain_find() returns a register in cfg.plain or cfg.mmu, or
 * NULL. The guest may change it at any time: use READ_ONCE() and WRITE_ONCE(). No guest reaches the
 * slots.
 */
u32 *vtrap_plain_find(const struct kvgpu_trap *t, u32 reg);
/* Returns the slot of @reg, or NULL if it has none. */
struct kvgpu_reg_slot *vtrap_slot_find(struct kvgpu_trap *t, u32 reg);
/* Returns the slot of @reg, which starts with @val if it is new; NULL: no free slot. */
struct kvgpu_reg_slot *vtrap_slot_make(struct kvgpu_trap *t, u32 reg, u32 val);
/*
 * Read and set the kept value of a register, where the guest maps it or in the register file. The
 * masks and hooks of its table line have no effect here. A register without a slot reads .reset of
 * the line. A value that gets no slot is lost, and counts in .nr_dropped.
 */
u32 vtrap_reg_get(const struct kvgpu_trap *t, u32 reg);
void vtrap_reg_set(struct kvgpu_trap *t, u32 reg, u32 val);

/*
 * intr.c: the interrupt tree. A source is a level. ..._host_set() is for sources of leaf 0
 * (PMC_LEAF_HOST), ..._nrhost_set() for those of leaf 1.
 * @bit: the source's bit of PMC_INTR.
 */
void vtrap_intr_host_set(struct kvgpu_trap *t, unsigned int bit, bool on);
void vtrap_intr_nrhost_set(struct kvgpu_trap *t, unsigned int bit, bool on);
/*
 * Computes t->line anew, and sets t->edge if the line rises. Call it if PMC_INTR_EN or
 * PMC_INTR_MASK has changed.
 */
void vtrap_intr_update(struct kvgpu_trap *t);
/* The guest has re-armed MSI: sets t->edge if the line is up. */
void vtrap_intr_rearm(struct kvgpu_trap *t);
/* Returns the raised sources of a leaf that the guest's mask selects: PMC_INTR(@leaf). */
u32 vtrap_intr_leaf_get(const struct kvgpu_trap *t, unsigned int leaf);
/* Tells whether the leaf's output is high: it is enabled, and the mask selects a raised source. */
bool vtrap_intr_output_high(const struct kvgpu_trap *t, unsigned int leaf);

/*
 * Resets of units: vtrap_pmc_reset() at kvgpu_trap_reset(), the others when the guest clears the
 * unit's bit of PMC_ENABLE.
 */
void vtrap_pmc_reset(struct kvgpu_trap *t);
void vtrap_fifo_reset(struct kvgpu_trap *t);
void vtrap_gr_reset(struct kvgpu_trap *t);
void vtrap_ce_reset(struct kvgpu_trap *t, const struct kvgpu_engine *e);
void vtrap_pmu_reset(struct kvgpu_trap *t);

/* pfifo.c: computes anew .wants_nonstall, and whether PFIFO's interrupt is raised in each leaf */
void vtrap_fifo_update(struct kvgpu_trap *t);
/* ptimer.c: returns the guest's PTIMER, ns, when the host's PTIMER is @now */
u64 vtrap_guest_time_get(const struct kvgpu_trap *t, u64 now);
void vtrap_denial_note(struct kvgpu_trap *t); /* engine.c: adds 1 to .nr_denied */

/* Counts of the topology, limited to the sizes of arrays. */
static inline u32 vtrap_engine_count(const struct kvgpu_trap *t)
{
	return min_t(u32, t->cfg.topo->nr_engines, KVGPU_MAX_ENGINE);
}

static inline u32 vtrap_gpc_count(const struct kvgpu_trap *t)
{
	return min_t(u32, t->cfg.topo->gpcs, KVGPU_MAX_GPC);
}

/* Number of runlists that a guest sees: all engines are on runlist 0 (README.md). */
#define KVGPU_GUEST_RUNLISTS  1
#define KVGPU_GUEST_RUNL_MASK GENMASK(KVGPU_GUEST_RUNLISTS - 1, 0)
/* Number of memory partitions that PTOP and PFB show to a guest. */
#define KVGPU_GUEST_FBP 4

#endif
