// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cache of decoded code: lines fetched through the GPC's instruction client and decoded once. A
 * line is compared with memory at its first use in each grid, so the model needs no invalidate.
 */
#include <stdlib.h>
#include <string.h>

#include "exec.h"

#define MAX_LINES  1024u /* kept between grids */
#define HARD_LINES 4096u /* with so many, decode into sm_thread.spare */

static unsigned int line_hash(uint32_t pc, const uint64_t *raw)
{
	uint64_t h = pc;

	for (unsigned int i = 0; i < LINE_WORDS; i++)
		h = (h ^ raw[i]) * 0x9e3779b97f4a7c15ull;
	return h >> 56;
}

static void line_decode(struct code_line *l)
{
	for (unsigned int i = 0; i < LINE_WORDS; i++) {
		sm_decode(l->raw[i], l->pc + i * SM_INSN_BYTES, &l->insn[i]);
		uop_bind(&l->uop[i], &l->insn[i]);
	}
}

static struct code_line *line_alloc(void)
{
	return aligned_alloc(64, (sizeof(struct code_line) + 63) & ~(size_t)63);
}

static struct code_line *spare_line(struct sm_thread *t)
{
	unsigned int n = t->next_spare++ % (sizeof(t->spare) / sizeof(t->spare[0]));
	struct code_line *l = t->spare[n];

	if (!l)
		l = t->spare[n] = line_alloc();
	for (unsigned int i = 0; l && i < FRONT_LINES; i++) {
		if (t->front[i] == l)
			t->front[i] = NULL;
	}
	return l;
}

static struct code_line *find(struct sm *sm, uint32_t pc, const uint64_t *raw, unsigned int h)
{
	struct code_line *l;

	for (l = sm->code[h]; l; l = l->next) {
		if (l->pc == pc && !memcmp(l->raw, raw, LINE_BYTES))
			return l;
	}
	return NULL;
}

/*
 * Read the mapped part of a line: a program may end in the last mapped page, and the rest of the
 * line may be missing. False: the 64 bytes at @pc are missing.
 */
static bool fetch(struct sm_thread *t, uint32_t line_pc, uint32_t pc, uint64_t *raw,
		  unsigned int flags)
{
	struct run *r = t->run;
	uint64_t va = r->grid->code_base + line_pc;
	unsigned int at = (pc - line_pc) / 64 * 64;

	if (!mmu_read(t->g, t->gcc, r->grid->vm, va, raw, LINE_BYTES, MMU_PEEK))
		return true;
	memset(raw, 0, LINE_BYTES);
	if (mmu_read(t->g, t->gcc, r->grid->vm, va + at, (uint8_t *)raw + at, 64, flags))
		return false;
	for (unsigned int i = 0; i < LINE_BYTES; i += 64)
		mmu_read(t->g, t->gcc, r->grid->vm, va + i, (uint8_t *)raw + i, 64, MMU_PEEK);
	return true;
}

static const struct code_line *line_at(struct sm_thread *t, uint32_t pc, unsigned int flags)
{
	uint32_t line_pc = pc / LINE_BYTES * LINE_BYTES;
	struct code_line **front = &t->front[pc / LINE_BYTES % FRONT_LINES], *l = *front;
	struct sm *sm = t->run->sm;
	uint64_t raw[LINE_WORDS];
	unsigned int h;

	if (l && l->pc == line_pc)
		return l;
	if (!fetch(t, line_pc, pc, raw, flags))
		return NULL;
	h = line_hash(line_pc, raw) % CODE_HASH;
	pthread_mutex_lock(&sm->code_lock);
	l = find(sm, line_pc, raw, h);
	if (!l) {
		bool shared = sm->nr_lines < HARD_LINES;

		l = shared ? line_alloc() : spare_line(t);
		if (l) {
			memcpy(l->raw, raw, LINE_BYTES);
			l->pc = line_pc;
			line_decode(l);
		}
		if (l && shared) {
			l->next = sm->code[h];
			sm->code[h] = l;
			sm->nr_lines++;
		}
	}
	pthread_mutex_unlock(&sm->code_lock);
	if (!l && !(flags & MMU_PEEK))
		no_memory(t, t->run->grid->code_base + pc);
	*front = l;
	return l;
}

const struct code_line *code_line(struct sm_thread *t, uint32_t pc)
{
	return line_at(t, pc, 0);
}

const struct code_line *code_peek(struct sm_thread *t, uint32_t pc)
{
	return line_at(t, pc, MMU_PEEK);
}

void code_free(struct sm *sm)
{
	for (unsigned int i = 0; i < CODE_HASH; i++) {
		while (sm->code[i]) {
			struct code_line *l = sm->code[i];

			sm->code[i] = l->next;
			free(l);
		}
	}
	sm->nr_lines = 0;
}

void code_trim(struct sm *sm)
{
	if (sm->nr_lines > MAX_LINES)
		code_free(sm);
}
