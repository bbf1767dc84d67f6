// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fetching and executing. Runs on the PBDMA's thread without the lock, on the live RAMFC words.
 */
#include <gk110/ce.h>

#include "fifo.h"

#define CLOCK_EVERY 32

static bool taken(enum run r)
{
	switch (r) {
	case RUN_STOP:
	case RUN_SLICE:
	case RUN_HALTED:
	case RUN_HOST_FAULT:
	case RUN_ENGINE_FAULT:
		return false;
	case RUN_GO:
	case RUN_DRY:
	case RUN_YIELD:
	case RUN_ACQUIRE:
	case RUN_ACQUIRE_SWITCH:
	case RUN_INTR:
	case RUN_HALT:
		break;
	}
	return true;
}

static void top_level_update(struct pbdma *p)
{
	if (W(p, RAMFC_GP_FLAGS) & RAMFC_GP_SUBROUTINE)
		return;
	w_addr_set(p, RAMFC_TOP_LEVEL_GET, RAMFC_TOP_LEVEL_GET_HI,
		   w_addr(p, RAMFC_PB_GET, RAMFC_PB_GET_HI));
	W(p, RAMFC_TOP_LEVEL_GET_HI) |= RAMFC_TOP_LEVEL_GET_VALID;
}

static void commit(struct pbdma *p)
{
	uint64_t get;

	p->step.valid = false;
	if (p->step.from_replay) {
		W(p, RAMFC_METHOD0) &= ~(uint32_t)PBDMA_METHOD_VALID;
		p->replay = false;
		return;
	}
	W(p, RAMFC_PB_HEADER) = p->step.next.header;
	W(p, RAMFC_PB_COUNT) = p->step.next.count;
	W(p, RAMFC_SUBDEVICE) = p->step.next.subdevice;
	W(p, RAMFC_PB_CRC) = fifo_crc(W(p, RAMFC_PB_CRC), &p->step.word, 1);
	get = p->step.end ? w_addr(p, RAMFC_PB_PUT, RAMFC_PB_PUT_HI) :
			    w_addr(p, RAMFC_PB_GET, RAMFC_PB_GET_HI) + 4;
	w_addr_set(p, RAMFC_PB_GET, RAMFC_PB_GET_HI, get);
	top_level_update(p);
}

void exec_skip(struct pbdma *p)
{
	if (p->step.valid)
		commit(p);
}

void exec_forget(struct pbdma *p)
{
	p->fetch_nr = 0;
	p->ops = 0;
	p->step.valid = false;
	p->replay = W(p, RAMFC_METHOD0) & PBDMA_METHOD_VALID;
}

static enum run execute(struct pbdma *p, const struct pb_action *a)
{
	stat_inc(p->g, methods);
	if (a->mthd < HOST_METHOD_END)
		return host_method(p, a);
	return engine_method(p, (unsigned int)route_subchannel(p, a->subc), a);
}

/* ------------------------------------------------------------------ pushbuffer */

static bool fetch_word(struct pbdma *p, uint64_t get, uint64_t left, uint32_t *word)
{
	struct chan *c = &p->fc->c;

	if (get < p->fetch_va || get - p->fetch_va >= 4 * (uint64_t)p->fetch_nr) {
		uint64_t n = GK110_PAGE - (get & (GK110_PAGE - 1));

		if (n > left)
			n = left;
		p->fetch_nr = 0;
		if (mmu_read(p->g, &p->mmu, &c->vm, get, p->fetch, n,
			     c->pb_priv ? MMU_PRIV_ACCESS : 0))
			return false;
		p->fetch_va = get;
		p->fetch_nr = n / 4;
	}
	*word = p->fetch[(get - p->fetch_va) / 4];
	return true;
}

static enum run exec_word(struct pbdma *p)
{
	uint64_t get = w_addr(p, RAMFC_PB_GET, RAMFC_PB_GET_HI);
	uint64_t left = (w_addr(p, RAMFC_PB_PUT, RAMFC_PB_PUT_HI) - get) & GENMASK_ULL(39, 0);
	struct pb_action a;
	enum run r = RUN_GO;

	if (!fetch_word(p, get, left, &p->step.word))
		return RUN_HOST_FAULT;
	p->step.next = (struct pb_state){ .header = W(p, RAMFC_PB_HEADER),
					  .count = W(p, RAMFC_PB_COUNT),
					  .subdevice = W(p, RAMFC_SUBDEVICE),
					  .formats = W(p, RAMFC_FORMATS) };
	pb_step(&p->step.next, p->step.word, &a);
	p->step.valid = true;
	p->step.from_replay = false;
	p->step.end = a.kind == PB_END;
	if (a.kind == PB_SEND)
		r = execute(p, &a);
	if (!taken(r))
		return r;
	commit(p);
	return a.kind == PB_BAD ? pbdma_raise0(p, PBDMA_INTR0_PBENTRY) : r;
}

static enum run exec_replay(struct pbdma *p)
{
	uint32_t m = W(p, RAMFC_METHOD0);
	const struct pb_action a = { .kind = PB_SEND,
				     .subc = FIELD_GET(PBDMA_METHOD_SUBCH, m),
				     .mthd = m & PBDMA_METHOD_ADDR,
				     .data = W(p, RAMFC_DATA0),
				     .last = true };
	enum run r;

	p->step.valid = true;
	p->step.from_replay = true;
	p->replay = false;
	/* clear VALID first: an interrupt in execute() puts the method into METHOD0 again */
	W(p, RAMFC_METHOD0) = m & ~(uint32_t)PBDMA_METHOD_VALID;
	r = execute(p, &a);
	if (taken(r)) {
		p->step.valid = false;
	} else {
		W(p, RAMFC_METHOD0) = m;
		p->replay = true;
	}
	return r;
}

/* ------------------------------------------------------------------ GPFIFO */

/*
 * Read the first 8 bytes of a report that render-enable compares: sequence number and result (rnndb
 * g80_defs.xml G80_QUERY).
 */
static bool read_report(struct pbdma *p, uint64_t va, uint64_t *v)
{
	return !mmu_read(p->g, &p->mmu, &p->fc->c.vm, va, v, sizeof(*v), 0);
}

/* the copy class's render-enable (rnndb COPY_COND_OFF) */
static bool condition(struct pbdma *p, bool *on)
{
	const uint32_t *s = p->fc->c.ce_state;
	unsigned int mode = FIELD_GET(A0B5_RENDER_MODE, s[CE_RENDER_C]);
	uint64_t va = (uint64_t)(s[CE_RENDER_A] & A0B5_ADDRESS_UPPER) << 32 | s[CE_RENDER_A + 1], a,
		 b;

	*on = mode == A0B5_RENDER_TRUE || !(s[CE_RENDER_C] & CE_RENDER_C_SET);
	if (*on || mode == A0B5_RENDER_FALSE)
		return true;
	if (!read_report(p, va, &a))
		return false;
	*on = a >> 32;
	if (mode == A0B5_RENDER_CONDITIONAL)
		return true;
	if (!read_report(p, va + 16, &b))
		return false;
	*on = (a == b) == (mode == A0B5_RENDER_IF_EQUAL);
	return true;
}

static enum run control_entry(struct pbdma *p, const struct gp_entry *e)
{
	switch (e->opcode) {
	case GP_OPCODE_NOP:
		return RUN_GO;
	case GP_OPCODE_GP_CRC:
		return e->operand == W(p, RAMFC_GP_CRC) ? RUN_GO :
							  pbdma_raise0(p, PBDMA_INTR0_GPCRC);
	case GP_OPCODE_PB_CRC:
		return e->operand == W(p, RAMFC_PB_CRC) ? RUN_GO :
							  pbdma_raise0(p, PBDMA_INTR0_PBCRC);
	default:
		return pbdma_raise0(p, PBDMA_INTR0_GPENTRY);
	}
}

static enum run start_segment(struct pbdma *p, const struct gp_entry *e)
{
	bool mixed = FIELD_GET(RAMFC_PB_COUNT_VALUE, W(p, RAMFC_PB_COUNT)) &&
		     p->fc->c.pb_priv != e->priv;
	uint32_t flags = 0;

	w_addr_set(p, RAMFC_PB_GET, RAMFC_PB_GET_HI, e->va);
	w_addr_set(p, RAMFC_PB_PUT, RAMFC_PB_PUT_HI, e->va + 4 * (uint64_t)e->words);
	w_addr_set(p, RAMFC_PB_FETCH, RAMFC_PB_FETCH_HI, e->va + 4 * (uint64_t)e->words);
	flags |= e->conditional ? RAMFC_GP_CONDITIONAL : 0;
	flags |= e->priv ? RAMFC_GP_PRIV : 0;
	flags |= e->subroutine ? RAMFC_GP_SUBROUTINE : 0;
	flags |= e->sync ? RAMFC_GP_SYNC : 0;
	W(p, RAMFC_GP_FLAGS) = flags;
	W(p, RAMFC_PB_HEADER) &= ~(uint32_t)(RAMFC_HEADER_PRIV | RAMFC_HEADER_LEVEL);
	W(p, RAMFC_PB_HEADER) |= (e->priv ? RAMFC_HEADER_PRIV : 0) |
				 (e->subroutine ? RAMFC_HEADER_LEVEL : 0);
	W(p, RAMFC_PB_CRC) = 0;
	p->fc->c.pb_priv = e->priv;
	p->fetch_nr = 0;
	top_level_update(p);
	/* open: which other errors are segment errors */
	return mixed ? pbdma_raise0(p, PBDMA_INTR0_PBSEG) : RUN_GO;
}

static enum run exec_entry(struct pbdma *p, uint32_t limit)
{
	uint64_t base = (uint64_t)(W(p, RAMFC_GP_BASE_HI) & RAMFC_GP_BASE_ADDR_HI) << 32 |
			(W(p, RAMFC_GP_BASE) & RAMFC_GP_BASE_LO);
	struct gp_entry e;
	uint32_t dw[2];
	enum run r = RUN_GO;
	bool on = true;

	if (mmu_read(p->g, &p->mmu, &p->fc->c.vm,
		     base + (uint64_t)W(p, RAMFC_GP_GET) * GP_ENTRY_SIZE, dw, sizeof(dw), 0))
		return RUN_HOST_FAULT;
	gp_decode(dw[0], dw[1], &e);
	if (!e.control && e.conditional && !condition(p, &on))
		return RUN_HOST_FAULT;
	stat_inc(p->g, gp_entries);
	W(p, RAMFC_GP_GET) = (W(p, RAMFC_GP_GET) + 1) & (limit - 1);
	W(p, RAMFC_GP_FETCH) = W(p, RAMFC_GP_GET);
	if (e.control)
		r = control_entry(p, &e);
	else if (on)
		r = start_segment(p, &e);
	W(p, RAMFC_GP_CRC) = fifo_crc(W(p, RAMFC_GP_CRC), dw, 2);
	userd_write_get(p);
	return r;
}

static enum run exec_next(struct pbdma *p)
{
	uint32_t limit = 1u << FIELD_GET(RAMFC_GP_BASE_LIMIT2, W(p, RAMFC_GP_BASE_HI));

	if (W(p, RAMFC_GP_GET) == W(p, RAMFC_GP_PUT)) {
		if (!userd_read_put(p, &W(p, RAMFC_GP_PUT)))
			gk110_note(p->g, "channel %u: GP_PUT can't be read", p->fc->c.id);
		if (W(p, RAMFC_GP_GET) == W(p, RAMFC_GP_PUT))
			return RUN_DRY;
	}
	if (W(p, RAMFC_GP_PUT) >= limit || W(p, RAMFC_GP_GET) >= limit) {
		enum run r = pbdma_raise0(p, PBDMA_INTR0_GPPTR);

		/* GP_PUT is read again after the interrupt */
		W(p, RAMFC_GP_PUT) = W(p, RAMFC_GP_GET);
		return r == RUN_GO ? RUN_DRY : r;
	}
	return exec_entry(p, limit);
}

/* ------------------------------------------------------------------ */

static enum run exec_one(struct pbdma *p)
{
	if (p->replay)
		return exec_replay(p);
	if (W(p, RAMFC_SEMAPHORE_D) & RAMFC_SEMAPHORE_ACQ_PENDING)
		return semaphore_retry(p);
	if (w_addr(p, RAMFC_PB_GET, RAMFC_PB_GET_HI) == w_addr(p, RAMFC_PB_PUT, RAMFC_PB_PUT_HI))
		return exec_next(p);
	return exec_word(p);
}

enum run exec_run(struct pbdma *p)
{
	enum run r;

	if ((W(p, RAMFC_SIGNATURE) & RAMFC_SIGNATURE_HW) != RAMFC_SIGNATURE_FACE) {
		r = pbdma_raise0(p, PBDMA_INTR0_SIGNATURE);
		return r == RUN_GO ? RUN_DRY : r;
	}
	do {
		if (atomic_load_explicit(&p->fc->c.stop, memory_order_acquire))
			return RUN_STOP;
		if (!(p->ops++ % CLOCK_EVERY) && mono_ns() >= p->run_end)
			return RUN_SLICE;
		r = exec_one(p);
	} while (r == RUN_GO);
	return r;
}
