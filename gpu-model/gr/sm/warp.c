// SPDX-License-Identifier: GPL-2.0-only
/* The instruction loop of a warp. */
#include "exec.h"

/* False: the warp was stopped. */
static bool fetch_constant(struct warp *w, const struct uop *u)
{
	const struct sm_operand *o = &u->in->src[u->csrc];
	/* control instructions have the offset in @in */
	bool control = u->in->op >= SM_BRA && u->in->op <= SM_PCNT;

	w->uniform = 0;
	return const_read(w, o->bank, control ? (uint32_t)u->in->offset : o->offset, &w->uniform,
			  u->wide_constant ? 8 : 4, WARP_INVALID_CONST_ADDR);
}

/* False: skip the instruction; *@stop: the warp was stopped. */
static bool prepare(struct warp *w, const struct uop *u, uint32_t *m, bool *stop)
{
	*stop = false;
	if (u->top > w->t->run->regs) {
		warp_trap(w, WARP_OOR_REG);
		*stop = true;
		return false;
	}
	if (u->conditional) {
		*m &= cc_lanes(w, u->in->cc_test);
		if (!*m)
			return false;
	}
	if (u->constant && !fetch_constant(w, u)) {
		*stop = true;
		return false;
	}
	return true;
}

/* Lanes @m leave the active set: they reached the point where lanes of the topmost token meet. */
static enum step joins(struct warp *w, uint32_t m)
{
	w->active &= ~m;
	return w->active ? STEP_NEXT : stack_pop(w);
}

/*
 * The instruction that makes the warp wait, in the way @s, is done: go behind it, and let lanes @m
 * join if it has .S.
 */
static enum step waits(struct warp *w, const struct uop *u, uint32_t m, enum step s)
{
	w->pc += SM_INSN_BYTES;
	return u->join && joins(w, m) == STEP_STOP ? STEP_STOP : s;
}

enum step warp_run(struct warp *w, uint64_t budget)
{
	struct sm_thread *t = w->t;
	const uint32_t regs = t->run->regs;
	const struct code_line *line = NULL;
	uint32_t base = 0;
	enum step s = STEP_NEXT;
	uint64_t left = budget;
	bool stop;

	while (left) {
		const struct uop *u;
		uint32_t m, off = w->pc - base;

		if (off >= LINE_BYTES || !line) {
			line = code_line(t, w->pc);
			if (!line) {
				s = warp_fault(w);
				break;
			}
			base = line->pc;
			off = w->pc - base;
		}
		u = &line->uop[off / SM_INSN_BYTES];
		if (off % 64 == 0) { /* scheduling words */
			w->pc += SM_INSN_BYTES;
			continue;
		}
		left--;
		m = w->active & (u->guard_not ? ~w->p[u->guard] : w->p[u->guard]);
		if (!m) {
			w->pc += SM_INSN_BYTES;
			continue;
		}
		if (__builtin_expect(u->top > regs || u->conditional || u->constant, 0) &&
		    !prepare(w, u, &m, &stop)) {
			if (stop) {
				s = STEP_STOP;
				break;
			}
			w->pc += SM_INSN_BYTES;
			continue;
		}
		s = u->run(w, u, m);
		if (__builtin_expect(s == STEP_NEXT, 1)) {
			if (__builtin_expect(u->join, 0)) {
				s = joins(w, m);
				if (s == STEP_JUMP)
					continue;
				if (s != STEP_NEXT)
					break;
			}
			w->pc += SM_INSN_BYTES;
			continue;
		}
		if (s == STEP_WAIT || s == STEP_YIELD)
			s = waits(w, u, m, s);
		if (s != STEP_JUMP)
			break;
	}
	w->issued += budget - left;
	return s;
}
