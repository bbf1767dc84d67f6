// SPDX-License-Identifier: GPL-2.0-only
/*
 * Atomic operations on global memory, by the host's atomic instructions, and the locked accesses to
 * shared memory, of which ptxas builds its atomics on shared memory.
 */
#include <string.h>

#include "exec.h"

static float as_f32(uint32_t v)
{
	float f;

	memcpy(&f, &v, 4);
	return f;
}

/* red.add.f32 flushes subnormals (PTX); NaN results are canonical */
static uint32_t add_f32(uint32_t a, uint32_t b)
{
	float f = as_f32(a & 0x7f800000 ? a : a & 0x80000000u) +
		  as_f32(b & 0x7f800000 ? b : b & 0x80000000u);
	uint32_t v;

	memcpy(&v, &f, 4);
	if ((v & 0x7fffffff) > 0x7f800000)
		return 0x7fffffff;
	return v & 0x7f800000 ? v : v & 0x80000000u;
}

static uint32_t result32(unsigned int op, unsigned int type, uint32_t old, uint32_t v)
{
	bool sign = type == SM_S32;

	switch (op) {
	case SM_ATOM_ADD:
		return type == SM_F32_FTZ ? add_f32(old, v) : old + v;
	case SM_ATOM_MIN:
		return (sign ? (int32_t)old < (int32_t)v : old < v) ? old : v;
	case SM_ATOM_MAX:
		return (sign ? (int32_t)old > (int32_t)v : old > v) ? old : v;
	case SM_ATOM_INC:
		return old >= v ? 0 : old + 1;
	case SM_ATOM_DEC:
		return !old || old > v ? v : old - 1;
	case SM_ATOM_AND:
		return old & v;
	case SM_ATOM_OR:
		return old | v;
	case SM_ATOM_XOR:
		return old ^ v;
	default:
		return v;
	}
}

static uint64_t result64(unsigned int op, unsigned int type, uint64_t old, uint64_t v)
{
	bool sign = type == SM_S64;

	switch (op) {
	case SM_ATOM_ADD:
		return old + v;
	case SM_ATOM_MIN:
		return (sign ? (int64_t)old < (int64_t)v : old < v) ? old : v;
	case SM_ATOM_MAX:
		return (sign ? (int64_t)old > (int64_t)v : old > v) ? old : v;
	case SM_ATOM_AND:
		return old & v;
	case SM_ATOM_OR:
		return old | v;
	case SM_ATOM_XOR:
		return old ^ v;
	default:
		return v;
	}
}

static uint32_t atomic32(uint32_t *p, unsigned int op, unsigned int type, uint32_t v)
{
	uint32_t old;

	if (op == SM_ATOM_ADD && type != SM_F32_FTZ)
		return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
	if (op == SM_ATOM_EXCH)
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);
	old = __atomic_load_n(p, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(p, &old, result32(op, type, old, v), true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return old;
}

static uint64_t atomic64(uint64_t *p, unsigned int op, unsigned int type, uint64_t v)
{
	uint64_t old;

	if (op == SM_ATOM_ADD)
		return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);
	old = __atomic_load_n(p, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(p, &old, result64(op, type, old, v), true,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
	return old;
}

static bool is_wide(unsigned int type)
{
	return type == SM_U64 || type == SM_S64 || type == SM_B64 || type == SM_F64;
}

static uint64_t lane_value(const struct warp *w, unsigned int slot, unsigned int l, bool wide)
{
	return w->r[slot][l] | (wide ? (uint64_t)w->r[slot + 1][l] << 32 : 0);
}

/* NULL: the warp was stopped, *@s says how. */
static uint8_t *target(struct warp *w, const struct uop *u, unsigned int l, bool wide, enum step *s)
{
	const struct sm_insn *in = u->in;
	uint64_t va = w->r[u->src[0]][l], off;
	const struct xlat *x;
	uint8_t *p;

	if (in->wide_addr)
		va = (va | (uint64_t)w->r[u->src[0] + 1][l] << 32) + (int64_t)in->offset;
	else
		va = (uint32_t)(va + (uint32_t)in->offset);
	if (va % (wide ? 8 : 4)) {
		*s = warp_trap(w, WARP_MISALIGNED_ADDR);
		return NULL;
	}
	if (space_of(w->t->run, va, &off) != SPACE_GLOBAL) {
		*s = warp_trap(w, WARP_INVALID_ADDR_SPACE);
		return NULL;
	}
	x = &w->t->xlat[(va >> 12) % XLAT_LINES];
	if (x->wtag == va >> 12)
		return x->host + (va & 4095);
	p = xlat_miss(w->t, va, wide ? 8 : 4, ACC_ATOMIC);
	if (!p)
		*s = warp_fault(w);
	return p;
}

static uint64_t perform(const struct sm_insn *in, uint8_t *p, uint64_t v, uint64_t second,
			bool wide)
{
	if (in->op == SM_ATOM_CAS && wide) {
		__atomic_compare_exchange_n((uint64_t *)p, &v, second, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
		return v;
	}
	if (in->op == SM_ATOM_CAS) {
		uint32_t old = v;

		__atomic_compare_exchange_n((uint32_t *)p, &old, (uint32_t)second, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		return old;
	}
	return wide ? atomic64((uint64_t *)p, in->sub, in->type, v) :
		      atomic32((uint32_t *)p, in->sub, in->type, v);
}

static enum step op_atom(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	bool wide = is_wide(in->type);
	enum step s = STEP_NEXT;
	uint64_t old[LANES];

	EACH_LANE(l, m)
	{
		uint8_t *p = target(w, u, l, wide, &s);

		if (!p)
			return s;
		old[l] = perform(in, p, lane_value(w, u->src[1], l, wide),
				 in->op == SM_ATOM_CAS ? lane_value(w, u->src[2], l, wide) : 0,
				 wide);
	}
	EACH_LANE(l, m)
	{
		w->r[u->dst[0]][l] = (uint32_t)old[l];
		if (wide)
			w->r[u->dst[0] + 1][l] = (uint32_t)(old[l] >> 32);
	}
	return u->dst[0] == SLOT_DUMP ? STEP_NEXT : STEP_YIELD;
}

/* ------------------------------------------------------------------ locked shared memory */

static bool shared_word(struct warp *w, const struct uop *u, unsigned int l, uint32_t *off,
			unsigned int bytes)
{
	*off = w->r[u->src[0]][l] + (uint32_t)u->in->offset;
	if (*off % bytes) {
		warp_trap(w, WARP_MISALIGNED_ADDR);
		return false;
	}
	if (*off >= w->cta->shared_size || bytes > w->cta->shared_size - *off) {
		warp_trap(w, WARP_OOR_ADDR);
		return false;
	}
	return true;
}

static const struct sm_operand *pred_dst(const struct sm_insn *in)
{
	return in->dst[0].kind == SM_PRED ? &in->dst[0] : &in->dst[1];
}

/* LDSLK: load and try to lock. The predicate says where the lock was free. */
static enum step op_ldslk(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	unsigned int d = in->dst[0].kind == SM_REG ? u->dst[0] : u->dst[1],
		     bytes = sm_type_bits(in->type) / 8;
	uint32_t got = 0, off;

	EACH_LANE(l, m)
	{
		uint32_t *lock, bit;

		if (!shared_word(w, u, l, &off, bytes))
			return STEP_STOP;
		lock = &w->cta->locks[off / 128];
		bit = 1u << (off / 4 % 32);
		memcpy(&w->r[d][l], w->cta->shared + off, 4);
		if (bytes == 8)
			memcpy(&w->r[d + 1][l], w->cta->shared + off + 4, 4);
		if (!(*lock & bit))
			got |= 1u << l;
		*lock |= bit;
	}
	put_pred(w, pred_dst(in), got, m);
	return STEP_NEXT;
}

/* STSCUL: where the word is locked, store and unlock. The predicate says where. */
static enum step op_stscul(struct warp *w, const struct uop *u, uint32_t m)
{
	unsigned int bytes = sm_type_bits(u->in->type) / 8;
	uint32_t off, done = 0;

	EACH_LANE(l, m)
	{
		uint32_t *lock, bit;

		if (!shared_word(w, u, l, &off, bytes))
			return STEP_STOP;
		lock = &w->cta->locks[off / 128];
		bit = 1u << (off / 4 % 32);
		if (!(*lock & bit))
			continue;
		memcpy(w->cta->shared + off, &w->r[u->src[1]][l], 4);
		if (bytes == 8)
			memcpy(w->cta->shared + off + 4, &w->r[u->src[1] + 1][l], 4);
		*lock &= ~bit;
		done |= 1u << l;
	}
	put_pred(w, pred_dst(u->in), done, m);
	return STEP_NEXT;
}

/* the atomic operations that PTX has on sm_35 (and envytools gk110.c encodes) */
static bool known_atomic(const struct sm_insn *in)
{
	if (in->op == SM_ATOM_CAS)
		return in->type == SM_B32 || in->type == SM_B64;
	switch (in->sub) {
	case SM_ATOM_ADD:
		return in->type != SM_U128;
	case SM_ATOM_INC:
	case SM_ATOM_DEC:
		return in->type == SM_U32;
	case SM_ATOM_MIN:
	case SM_ATOM_MAX:
	case SM_ATOM_AND:
	case SM_ATOM_OR:
	case SM_ATOM_XOR:
	case SM_ATOM_EXCH:
		return in->type != SM_U128 && in->type != SM_F32_FTZ;
	default:
		return false;
	}
}

static enum step op_unknown(struct warp *w, const struct uop *u, uint32_t m)
{
	return warp_trap(w, WARP_ILLEGAL_PARAM);
}

op_fn atom_op(const struct sm_insn *in)
{
	bool word = in->type == SM_B32 || in->type == SM_B64;

	switch (in->op) {
	case SM_ATOM:
	case SM_ATOM_CAS:
		return known_atomic(in) ? op_atom : op_unknown;
	case SM_LDSLK:
		return word ? op_ldslk : op_unknown;
	case SM_STSCUL:
		return word ? op_stscul : op_unknown;
	default:
		return NULL;
	}
}
