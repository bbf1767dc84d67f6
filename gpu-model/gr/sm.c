// SPDX-License-Identifier: GPL-2.0-only
/*
 * No shader execution: only a program without any effect runs, which is scheduling words, NOPs and an unconditional EXIT.
 * Everything else stops the first SM with ILLEGAL_INSTR_ENCODING before a single instruction of it took effect, so that
 * a kernel is never taken for executed when it was not.
 *
 * sm_35 code comes in groups of eight 64-bit words of which the first schedules the others (envytools envydis/gk110.c;
 * the words below are what nvdisasm prints for them).
 */
#include "sm.h"
#include "gr.h"

#define GROUP_WORDS	8
#define MAX_GROUPS	64		/* a program of NOPs longer than this is not an empty kernel */
#define CHUNK_WARPS	4096		/* of pacing, between looks at *stop */

#define SCHED_MASK	0xfc00000000000003ull
#define SCHED_WORD	0x0800000000000000ull
#define INSN_EXIT	0x18000000001c003cull
#define INSN_NOP	0x85800000001c3c02ull

/* reads the program until its EXIT; SM_DONE when it is an empty one */
static enum sm_result inspect(struct gk110 *g, struct sm_grid *grid, struct mmu_client *gcc)
{
	uint64_t va = grid->code_base + grid->qmd->program_offset, words[GROUP_WORDS];

	for (unsigned int group = 0; group < MAX_GROUPS; group++) {
		if (mmu_read(g, gcc, grid->vm, va + group * sizeof(words), words, sizeof(words), 0))
			return SM_FAULT;
		if ((words[0] & SCHED_MASK) != SCHED_WORD)
			return SM_TRAP;
		for (unsigned int i = 1; i < GROUP_WORDS; i++) {
			if (words[i] == INSN_EXIT)
				return SM_DONE;
			if (words[i] != INSN_NOP)
				return SM_TRAP;
		}
	}
	return SM_TRAP;
}

/* every warp executes its EXIT: one warp instruction each */
static enum sm_result charge(struct sm_grid *grid, uint64_t warps)
{
	if (!grid->pacer->per_s)
		return SM_DONE;
	while (grid->warps_done < warps) {
		uint64_t n = warps - grid->warps_done;

		if (n > CHUNK_WARPS)
			n = CHUNK_WARPS;
		if (atomic_load(grid->stop))
			return SM_AGAIN;
		pacer_charge(grid->pacer, n, grid->stop);
		grid->warps_done += n;
	}
	return SM_DONE;
}

enum sm_result sm_run_grid(struct gk110 *g, struct sm_grid *grid)
{
	uint64_t warps = qmd_warps(grid->qmd);
	enum sm_result ret;

	/* a grid without CTAs has nothing to run, not even its code is looked at */
	if (!warps)
		return SM_DONE;
	sm_place(0, &grid->trap.gpc, &grid->trap.tpc);
	ret = inspect(g, grid, &g->gr->gcc[grid->trap.gpc]);
	if (ret == SM_TRAP)
		grid->trap.warp_esr = MP_WARP_ILLEGAL_INSTR_ENCODING;
	else if (ret == SM_DONE)
		ret = charge(grid, warps);
	return ret;
}
