/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loads and stores. When the addresses of all lanes lie in one page (or in shared memory), there is
 * one base pointer and an offset per lane.
 *
 * Where lanes of one store have the same address, the lowest lane's value stays, so stores go from
 * the highest lane to the lowest. CUDA leaves open which value stays; on an H200 it is the lowest
 * lane's (for 32 bits and less; seen 2026-11-20).
 *
 * A pointer of xlat_host() is used for all of its page (exec.h), here and for rows of local memory.
 * Guests choose where local memory begins, its sizes and the windows, and need not align them. A
 * word whose place is not aligned traps like a word whose address is not. Open: what the chip does.
 *
 * Accesses are volatile, so that a word is read or written once: other threads, engines and CPUs
 * use the memory at the same time.
 */
#ifndef KVGPU_MODEL_GR_SM_LANE_LDST_H
#define KVGPU_MODEL_GR_SM_LANE_LDST_H

typedef uint16_t __attribute__((may_alias)) mem16;
typedef uint32_t __attribute__((may_alias)) mem32;
typedef uint64_t __attribute__((may_alias)) mem64;
struct mem128 { uint64_t a, b; } __attribute__((may_alias));
typedef long long v128 __attribute__((vector_size(16), may_alias));

struct pattern {
	uint8_t *base;
	uint32_t off[LANES] __attribute__((aligned(64)));
};

static inline unsigned int access_bytes(unsigned int type)
{
	switch (type) {
	case SM_U8: case SM_S8:
		return 1;
	case SM_U16: case SM_S16: case SM_F16:
		return 2;
	case SM_U64: case SM_S64: case SM_F64: case SM_B64:
		return 8;
	case SM_B96:
		return 12;
	case SM_B128: case SM_U128:
		return 16;
	default:
		return 4;
	}
}

static inline unsigned int access_align(unsigned int bytes)
{
	return bytes == 12 ? 16 : bytes;
}

static inline uint32_t load_small(const uint8_t *p, unsigned int type)
{
	switch (type) {
	case SM_U8:
		return *(const volatile uint8_t *)p;
	case SM_S8:
		return (uint32_t)(int32_t)*(const volatile int8_t *)p;
	case SM_S16:
		return (uint32_t)(int32_t)(int16_t)*(const volatile mem16 *)p;
	default:
		return *(const volatile mem16 *)p;
	}
}

static void load_wide_lane(struct warp *w, unsigned int slot, unsigned int l, const uint8_t *p,
			   unsigned int bytes)
{
	uint32_t v[4];

	if (bytes == 8) {
		uint64_t q = *(const volatile mem64 *)p;

		w->r[slot][l] = q;
		w->r[slot + 1][l] = q >> 32;
		return;
	}
	*(v128 *)v = *(const volatile v128 *)p;	/* 96 bits are aligned like 128 */
	for (unsigned int i = 0; i < bytes / 4; i++)
		w->r[slot + i][l] = v[i];
}

static void load_lane(struct warp *w, unsigned int slot, unsigned int l, const uint8_t *p,
		      unsigned int type)
{
	unsigned int bytes = access_bytes(type);

	if (bytes > 4)
		load_wide_lane(w, slot, l, p, bytes);
	else if (bytes == 4)
		w->r[slot][l] = *(const volatile mem32 *)p;
	else
		w->r[slot][l] = load_small(p, type);
}

static void store_lane(struct warp *w, const struct uop *u, unsigned int l, uint8_t *p,
		       unsigned int type)
{
	unsigned int slot = u->src[1], bytes = access_bytes(type);
	uint32_t v[4];

	switch (bytes) {
	case 1:
		*(volatile uint8_t *)p = w->r[slot][l];
		break;
	case 2:
		*(volatile mem16 *)p = w->r[slot][l];
		break;
	case 4:
		*(volatile mem32 *)p = w->r[slot][l];
		break;
	case 8:
		*(volatile mem64 *)p = w->r[slot][l] | (uint64_t)w->r[slot + 1][l] << 32;
		break;
	case 12:
		for (unsigned int i = 0; i < 3; i++)
			((volatile mem32 *)p)[i] = w->r[slot + i][l];
		break;
	default:
		for (unsigned int i = 0; i < 4; i++)
			v[i] = w->r[slot + i][l];
		*(volatile v128 *)p = *(v128 *)v;
		break;
	}
}

static inline bool is_stride(const uint32_t *off, uint32_t stride)
{
	uint32_t diff = 0;

	for (unsigned int l = 0; l < LANES; l++)
		diff |= off[l] - off[0] - l * stride;
	return !diff;
}

static void load_uniform(struct warp *w, unsigned int slot, uint32_t m, const uint8_t *p,
			 unsigned int type)
{
	unsigned int bytes = access_bytes(type), first = __builtin_ctz(m);
	lanes d;

	load_lane(w, slot, first, p, type);
	for (unsigned int i = 0; i < (bytes + 3) / 4; i++) {
		uint32_t v = w->r[slot + i][first];

		for (unsigned int l = 0; l < LANES; l++)
			d[l] = v;
		put(w, slot + i, d, m);
	}
}

#define HALF	(LANES / 2)
#define HALF_MASK	0xffffu

static inline bool half_is_stride(const uint32_t *off, uint32_t stride)
{
	uint32_t diff = 0;

	for (unsigned int l = 0; l < HALF; l++)
		diff |= off[l] - off[0] - l * stride;
	return !diff;
}

/* Load for sixteen active lanes from @first on: in CTAs that are 16 wide a warp has two rows. */
static void load_half(struct warp *w, unsigned int slot, unsigned int first,
		      const struct pattern *a, unsigned int type)
{
	unsigned int bytes = access_bytes(type);
	const uint32_t *off = a->off + first;
	const uint8_t *p = a->base + off[0];

	if (bytes == 4 && half_is_stride(off, 4)) {
		memcpy(w->r[slot] + first, p, HALF * 4);
		return;
	}
	if (bytes >= 4 && half_is_stride(off, 0)) {
		load_lane(w, slot, first, p, type);
		for (unsigned int i = 0; i < bytes / 4; i++) {
			uint32_t *r = w->r[slot + i] + first, v = r[0];

			for (unsigned int l = 0; l < HALF; l++)
				r[l] = v;
		}
		return;
	}
	if (bytes == 4) {
		uint32_t *r = w->r[slot] + first;

		for (unsigned int l = 0; l < HALF; l++)
			r[l] = *(const volatile mem32 *)(a->base + off[l]);
		return;
	}
	for (unsigned int l = 0; l < HALF; l++)
		load_lane(w, slot, first + l, a->base + off[l], type);
}

static void load_pattern(struct warp *w, unsigned int slot, uint32_t m, const struct pattern *a,
			 unsigned int type)
{
	if (is_stride(a->off, 0)) {
		load_uniform(w, slot, m, a->base + a->off[0], type);
		return;
	}
	for (unsigned int first = 0; first < LANES; first += HALF) {
		if ((m >> first & HALF_MASK) == HALF_MASK) {
			load_half(w, slot, first, a, type);
			continue;
		}
		EACH_LANE(l, m & HALF_MASK << first)
			load_lane(w, slot, l, a->base + a->off[l], type);
	}
}

static void store_pattern(struct warp *w, const struct uop *u, uint32_t m, const struct pattern *a,
			  unsigned int type)
{
	for (unsigned int first = LANES; first; ) {
		uint32_t half;

		first -= HALF;
		half = m >> first & HALF_MASK;
		if (half == HALF_MASK && access_bytes(type) == 4 &&
		    half_is_stride(a->off + first, 4)) {
			memcpy(a->base + a->off[first], w->r[u->src[1]] + first, HALF * 4);
			continue;
		}
		EACH_LANE_DOWN(l, half << first)
			store_lane(w, u, l, a->base + a->off[l], type);
	}
}

/* ------------------------------------------------------------------ shared */

/* STEP_NEXT: all lanes can be accessed. */
static enum step shared_pattern(struct warp *w, const uint32_t *addr, uint32_t m, unsigned int type,
				struct pattern *a)
{
	unsigned int bytes = access_bytes(type);
	uint32_t first = addr[__builtin_ctz(m)], low = 0, high = 0, size = w->cta->shared_size;

	a->base = w->cta->shared;
	if (m == ALL_LANES) {
		for (unsigned int l = 0; l < LANES; l++) {
			a->off[l] = addr[l];
			low |= addr[l];
			high = addr[l] > high ? addr[l] : high;
		}
	} else {
		for (unsigned int l = 0; l < LANES; l++) {
			uint32_t v = m >> l & 1 ? addr[l] : first;

			a->off[l] = v;
			low |= v;
			high = v > high ? v : high;
		}
	}
	if (low & (access_align(bytes) - 1))
		return warp_trap(w, WARP_MISALIGNED_ADDR);
	if (high >= size || bytes > size - high)
		return warp_trap(w, WARP_OOR_ADDR);
	return STEP_NEXT;
}

static inline void address32(const struct warp *w, const struct uop *u, uint32_t *addr)
{
	const uint32_t *base = w->r[u->src[0]];
	uint32_t off = u->in->offset;

	for (unsigned int l = 0; l < LANES; l++)
		addr[l] = base[l] + off;
}

static enum step op_lds(struct warp *w, const struct uop *u, uint32_t m)
{
	struct pattern a;
	enum step s;
	lanes addr;

	address32(w, u, addr);
	s = shared_pattern(w, addr, m, u->in->type, &a);
	if (s == STEP_NEXT)
		load_pattern(w, u->dst[0], m, &a, u->in->type);
	return s;
}

static enum step op_sts(struct warp *w, const struct uop *u, uint32_t m)
{
	struct pattern a;
	enum step s;
	lanes addr;

	address32(w, u, addr);
	s = shared_pattern(w, addr, m, u->in->type, &a);
	if (s == STEP_NEXT)
		store_pattern(w, u, m, &a, u->in->type);
	return s;
}

/* ------------------------------------------------------------------ global and generic */

struct wide_lanes {
	uint64_t v[LANES] __attribute__((aligned(64)));
};

static inline void address64(const struct warp *w, const struct uop *u, struct wide_lanes *addr)
{
	const uint32_t *lo = w->r[u->src[0]], *hi = w->r[u->src[0] + 1];
	int64_t off = u->in->offset;

	if (u->in->wide_addr) {
		for (unsigned int l = 0; l < LANES; l++)
			addr->v[l] = (lo[l] | (uint64_t)hi[l] << 32) + off;
	} else {
		for (unsigned int l = 0; l < LANES; l++)
			addr->v[l] = (uint32_t)(lo[l] + (uint32_t)off);
	}
}

/* Guests choose the windows' begin: a page may be in one in part. */
static bool is_global_page(const struct run *r, uint64_t va)
{
	uint64_t offset;

	return space_of(r, va & ~4095ull, &offset) == SPACE_GLOBAL &&
	       space_of(r, va | 4095, &offset) == SPACE_GLOBAL;
}

/*
 * 1: all lanes are in one page of global memory. 0: they are not, or a part of the page is in a
 * window. -1: the warp was stopped.
 */
static int page_pattern(struct warp *w, struct wide_lanes *addr, uint32_t m, unsigned int type,
			bool write, struct pattern *a)
{
	uint64_t first = addr->v[__builtin_ctz(m)], diff = 0, low = 0;
	unsigned int bytes = access_bytes(type);

	for (unsigned int l = 0; l < LANES; l++) {
		uint64_t v = m >> l & 1 ? addr->v[l] : first;

		addr->v[l] = v;
		diff |= v ^ first;
		low |= v;
	}
	if (low & (access_align(bytes) - 1)) {
		warp_trap(w, WARP_MISALIGNED_ADDR);
		return -1;
	}
	if (diff >> 12 || !is_global_page(w->t->run, first))
		return 0;
	a->base = xlat_host(w->t, first, bytes, write);
	if (!a->base) {
		warp_fault(w);
		return -1;
	}
	a->base -= first & 4095;
	for (unsigned int l = 0; l < LANES; l++)
		a->off[l] = addr->v[l] & 4095;
	return 1;
}

/*
 * Host pointer to a lane's bytes in shared or global memory. Local memory is left to local_lane(),
 * as a lane's words are not side by side there.
 */
static uint8_t *lane_host(struct warp *w, uint64_t va, unsigned int bytes, bool write, enum step *s)
{
	uint64_t off = 0;
	uint8_t *p;

	if (space_of(w->t->run, va, &off) == SPACE_SHARED) {
		if (off & (access_align(bytes) - 1)) {
			*s = warp_trap(w, WARP_MISALIGNED_ADDR);
			return NULL;
		}
		if (off >= w->cta->shared_size || bytes > w->cta->shared_size - off) {
			*s = warp_trap(w, WARP_OOR_ADDR);
			return NULL;
		}
		return w->cta->shared + off;
	}
	p = xlat_host(w->t, va, bytes, write);
	if (!p)
		*s = warp_fault(w);
	return p;
}

static enum step local_lane(struct warp *w, const struct uop *u, unsigned int slot, unsigned int l,
			    uint32_t off, bool write)
{
	unsigned int type = u->in->type, bytes = access_bytes(type), part = bytes < 4 ? bytes : 4;

	for (unsigned int i = 0; i < bytes; i += 4) {
		uint64_t va;
		uint8_t *p;

		if (!local_address(w, l, off + i, part, &va))
			return warp_trap(w, WARP_OOR_ADDR);
		if (va & (part - 1))
			return warp_trap(w, WARP_MISALIGNED_ADDR);
		p = xlat_host(w->t, va, part, write);
		if (!p)
			return warp_fault(w);
		if (!write)
			load_lane(w, slot + i / 4, l, p, bytes < 4 ? type : SM_B32);
		else if (bytes == 1)
			*p = w->r[slot][l];
		else if (bytes == 2)
			*(mem16 *)p = w->r[slot][l];
		else
			*(mem32 *)p = w->r[slot + i / 4][l];
	}
	return STEP_NEXT;
}

static enum step generic_lanes(struct warp *w, const struct uop *u, uint32_t m,
			       const struct wide_lanes *addr, bool write)
{
	unsigned int type = u->in->type, bytes = access_bytes(type),
		     slot = write ? u->src[1] : u->dst[0];
	enum step s = STEP_NEXT;
	uint8_t *host[LANES];
	uint64_t off;

	EACH_LANE(l, m) {
		if (space_of(w->t->run, addr->v[l], &off) == SPACE_LOCAL) {
			s = local_lane(w, u, slot, l, off, write);
			if (s != STEP_NEXT)
				return s;
			m &= ~BIT(l);
			continue;
		}
		host[l] = lane_host(w, addr->v[l], bytes, write, &s);
		if (!host[l])
			return s;
	}
	if (write) {
		EACH_LANE_DOWN(l, m)
			store_lane(w, u, l, host[l], type);
	} else {
		EACH_LANE(l, m)
			load_lane(w, slot, l, host[l], type);
	}
	return s;
}

static enum step access_lanes(struct warp *w, const struct uop *u, uint32_t m,
			      const struct wide_lanes *addr, bool write, bool *one_page)
{
	struct wide_lanes copy = *addr;
	struct pattern a;

	switch (page_pattern(w, &copy, m, u->in->type, write, &a)) {
	case 1:
		*one_page = true;
		if (write)
			store_pattern(w, u, m, &a, u->in->type);
		else
			load_pattern(w, u->dst[0], m, &a, u->in->type);
		return STEP_NEXT;
	case 0:
		*one_page = false;
		return STEP_NEXT;
	default:
		return STEP_STOP;
	}
}

/* Take the addresses before anything is written: a load may overwrite its own base register. */
static enum step generic_access(struct warp *w, const struct uop *u, uint32_t m, bool write)
{
	struct wide_lanes addr;
	bool one_page;
	enum step s;

	address64(w, u, &addr);
	s = access_lanes(w, u, m, &addr, write, &one_page);
	if (s != STEP_NEXT || one_page)
		return s;
	for (unsigned int first = LANES; first; ) {
		uint32_t half;

		first -= HALF;
		half = m & HALF_MASK << first;
		if (!half)
			continue;
		s = access_lanes(w, u, half, &addr, write, &one_page);
		if (s == STEP_NEXT && !one_page)
			s = generic_lanes(w, u, half, &addr, write);
		if (s != STEP_NEXT)
			return s;
	}
	return STEP_NEXT;
}

static enum step op_ld(struct warp *w, const struct uop *u, uint32_t m)
{
	return generic_access(w, u, m, false);
}

static enum step op_st(struct warp *w, const struct uop *u, uint32_t m)
{
	return generic_access(w, u, m, true);
}

/* LDG: the texture unit takes addresses in the windows as global ones */
static enum step ldg_behind_windows(struct warp *w, const struct uop *u, uint32_t m,
				    const struct wide_lanes *addr)
{
	unsigned int bytes = access_bytes(u->in->type);

	EACH_LANE(l, m) {
		const uint8_t *p;

		if (addr->v[l] & (access_align(bytes) - 1))
			return warp_trap(w, WARP_MISALIGNED_ADDR);
		p = xlat_host(w->t, addr->v[l], bytes, false);
		if (!p)
			return warp_fault(w);
		load_lane(w, u->dst[0], l, p, u->in->type);
	}
	return STEP_NEXT;
}

/*
 * LDG goes through the texture unit, which knows global memory only and records faults as its own.
 */
static enum step op_ldg(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_grid *grid = w->t->run->grid;
	struct mmu_client *l1 = w->t->l1;
	uint32_t covered = 0;
	struct wide_lanes addr;
	enum step s;

	address64(w, u, &addr);
	for (unsigned int l = 0; l < LANES; l++) {
		uint32_t in = (addr.v[l] - grid->shared_window < WINDOW_SIZE) |
			      (addr.v[l] - grid->local_window < WINDOW_SIZE);

		covered |= in << l;
	}
	w->t->l1 = w->t->tex;
	s = covered & m ? ldg_behind_windows(w, u, m, &addr) : generic_access(w, u, m, false);
	w->t->l1 = l1;
	return s;
}

/* ------------------------------------------------------------------ local */

static enum step local_access(struct warp *w, const struct uop *u, uint32_t m, bool write)
{
	unsigned int type = u->in->type, bytes = access_bytes(type),
		     slot = write ? u->src[1] : u->dst[0];
	uint64_t va, off0;
	enum step s;
	lanes addr;

	address32(w, u, addr);
	EACH_LANE(l, m) {
		if (addr[l] & (access_align(bytes) - 1))
			return warp_trap(w, WARP_MISALIGNED_ADDR);
	}
	/* the usual case: all lanes at the same offset, so that each word is a row of 128 bytes */
	off0 = addr[0];
	if (m == ALL_LANES && bytes >= 4 && is_stride(addr, 0) &&
	    local_address(w, 0, off0, bytes, &va) && va % 128 == 0) {
		for (unsigned int i = 0; i < bytes / 4; i++, va += 128) {
			uint8_t *p = xlat_host(w->t, va, 4, write);

			if (!p)
				return warp_fault(w);
			if (write)
				memcpy(p, w->r[slot + i], LANES * 4);
			else
				memcpy(w->r[slot + i], p, LANES * 4);
		}
		return STEP_NEXT;
	}
	EACH_LANE(l, m) {
		s = local_lane(w, u, slot, l, addr[l], write);
		if (s != STEP_NEXT)
			return s;
	}
	return STEP_NEXT;
}

static enum step op_ldl(struct warp *w, const struct uop *u, uint32_t m)
{
	return local_access(w, u, m, false);
}

static enum step op_stl(struct warp *w, const struct uop *u, uint32_t m)
{
	return local_access(w, u, m, true);
}

/* ------------------------------------------------------------ constants by index, cache control */

static enum step op_ldc(struct warp *w, const struct uop *u, uint32_t m)
{
	const struct sm_insn *in = u->in;
	unsigned int bytes = access_bytes(in->type);
	bool indexed_bank = in->ldc_mode;
	lanes addr;

	address32(w, u, addr);
	EACH_LANE(l, m) {
		uint32_t off = addr[l], bank = in->bank, v[4];

		if (indexed_bank) {
			bank += off >> 16;
			off &= 0xffff;
		}
		if (off & (access_align(bytes) - 1))
			return warp_trap(w, WARP_MISALIGNED_ADDR);
		if (!const_read(w, bank, off, v, bytes, WARP_INVALID_CONST_ADDR_LDC))
			return STEP_STOP;
		if (bytes < 4)
			v[0] = load_small((uint8_t *)v, in->type);
		for (unsigned int i = 0; i < (bytes + 3) / 4; i++)
			w->r[u->dst[0] + i][l] = v[i];
	}
	return STEP_NEXT;
}

/* CCTL does nothing: caches between lanes and memory are not modelled. */
static enum step op_cctl(struct warp *w, const struct uop *u, uint32_t m)
{
	return STEP_NEXT;
}

static op_fn select_ldst(const struct sm_insn *in)
{
	switch (in->op) {
	case SM_LD:	return op_ld;
	case SM_LDG:	return op_ldg;
	case SM_ST:	return op_st;
	case SM_LDS:	return op_lds;
	case SM_STS:	return op_sts;
	case SM_LDL:	return op_ldl;
	case SM_STL:	return op_stl;
	case SM_LDC:	return op_ldc;
	case SM_CCTL: case SM_CCTLL: case SM_CCTLS:
		return op_cctl;
	default:	return NULL;
	}
}

#endif
