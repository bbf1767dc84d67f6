/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Instructions that the chip refuses, with the error of each; limits of calls, addresses and
 * windows; clocks. Included by ops_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_OPS_REFUSED_H
#define KVGPU_SELFTESTS_SM_OPS_REFUSED_H

static void expect_trap(struct world *w, struct sm_insn in, uint32_t esr)
{
	w->run.result = SM_DONE;
	w->grid.trap.warp_esr = 0;
	assert_int_equal(step(w, &in, 1), STEP_STOP);
	assert_int_equal(w->run.result, SM_TRAP);
	assert_int_equal(w->grid.trap.warp_esr, esr);
}

/*
 * Every instruction that the decoder knows is executed, except for those listed here. An
 * instruction that is added to the decoder and not to the executor fails here.
 */
static void only_these_are_not_executed(void **state)
{
	static const enum sm_op refused[] = {
		SM_FCCO,	SM_R2B,	      SM_VOTE_VTG,    SM_TXA, SM_RTT, SM_GETCRSPTR,
		SM_GETLMEMBASE, SM_SETCRSPTR, SM_SETLMEMBASE, SM_IPA, SM_ALD, SM_AST,
		SM_AL2P,	SM_VILD,      SM_PIXLD,	      SM_OUT,
	};
	struct world *w = *state;
	struct sm_insn ipa = insn(SM_IPA);
	struct uop none;

	uop_bind(&none, &ipa);
	for (unsigned int op = SM_ILLEGAL + 1; op < SM_OP_COUNT; op++) {
		struct sm_insn in = insn(op);
		bool is_refused = false;
		struct uop u;

		in.type = SM_B32;
		uop_bind(&u, &in);
		for (unsigned int i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
			is_refused |= refused[i] == op;
		if ((u.run == none.run) != is_refused)
			print_error("%s: %s\n", sm_op_name(op),
				    is_refused ? "is executed, and listed" : "is not executed");
		assert_int_equal(u.run == none.run, is_refused);
		if (is_refused)
			expect_trap(w, in, WARP_ILLEGAL_PARAM);
	}
}

/*
 * Combinations of operation and type that an atomic's encoding allows, but the chip's documents do
 * not have.
 */
static void atomics_that_nobody_describes(void **state)
{
	static const enum sm_type types[] = { SM_U32, SM_S32, SM_U64, SM_F32_FTZ, SM_U128, SM_S64 };
	static const uint8_t known[][6] = {
		[SM_ATOM_ADD] = { 1, 1, 1, 1, 0, 1 },
		[SM_ATOM_MIN] = { 1, 1, 1, 0, 0, 1 },
		[SM_ATOM_MAX] = { 1, 1, 1, 0, 0, 1 },
		[SM_ATOM_INC] = { 1 },
		[SM_ATOM_DEC] = { 1 },
		[SM_ATOM_AND] = { 1, 1, 1, 0, 0, 1 },
		[SM_ATOM_OR] = { 1, 1, 1, 0, 0, 1 },
		[SM_ATOM_XOR] = { 1, 1, 1, 0, 0, 1 },
		[SM_ATOM_EXCH] = { 1, 1, 1, 0, 0, 1 },
		[SM_ATOM_SAFEADD] = { 0 },
	};
	struct world *w = *state;
	uint64_t va = rig_alloc(w->r, 256);

	dma_read_lock(w->r->g);
	for (unsigned int op = 0; op <= SM_ATOM_SAFEADD; op++) {
		for (unsigned int t = 0; t < 6; t++) {
			struct sm_insn in = insn(SM_ATOM);

			in.sub = op;
			in.type = types[t];
			in.wide_addr = true;
			in.dst[0] = reg(SM_RZ);
			in.src[0] = pair(2);
			in.src[1] = reg(4);
			R(2)[0] = (uint32_t)va;
			R(3)[0] = va >> 32;
			if (op == 9) /* no such operation */
				continue;
			if (known[op][t])
				assert_int_equal(step(w, &in, 1), STEP_NEXT);
			else
				expect_trap(w, in, WARP_ILLEGAL_PARAM);
		}
	}
	dma_read_unlock(w->r->g);
}

static void locked_words_have_32_or_64_bits(void **state)
{
	static const enum sm_type types[] = { SM_U8, SM_S8, SM_U16, SM_S16, SM_B128 };
	struct world *w = *state;

	for (unsigned int t = 0; t < 5; t++) {
		struct sm_insn in = insn(SM_LDSLK);

		in.type = types[t];
		expect_trap(w, in, WARP_ILLEGAL_PARAM);
		in.op = SM_STSCUL;
		expect_trap(w, in, WARP_ILLEGAL_PARAM);
	}
}

static void shifts_that_are_refused(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_SHF);

	in.dst[0] = reg(3);
	in.src[0] = reg(0);
	in.src[1] = imm(4);
	in.src[2] = reg(1);
	in.left = true;
	in.type = SM_B32;
	R(0)[0] = 0x80000000;
	R(1)[0] = 0x00000001;
	assert_int_equal(step(w, &in, 1), STEP_NEXT);
	assert_int_equal(R(3)[0], 0x18);
	/* SHF.L.HI is no encoding */
	in.hi = true;
	expect_trap(w, in, WARP_ILLEGAL_ENCODING);
	in.hi = false;
	in.x = true;
	expect_trap(w, in, WARP_ILLEGAL_PARAM);
	in = insn(SM_SHL);
	in.x = true;
	expect_trap(w, in, WARP_ILLEGAL_PARAM);
	in = insn(SM_SHR);
	in.xmode = 2;
	expect_trap(w, in, WARP_ILLEGAL_PARAM);
}

static void barriers_that_are_refused(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_BAR);

	in.src[0] = imm(16);
	expect_trap(w, in, WARP_ILLEGAL_PARAM);
	in.src[0] = imm(0);
	in.sub = SM_BAR_SCAN;
	expect_trap(w, in, WARP_ILLEGAL_PARAM);
	in = insn(SM_B2R);
	in.dst[0] = reg(0);
	in.src[0] = imm(16);
	expect_trap(w, in, WARP_ILLEGAL_PARAM);
	in.sub = 2; /* .WARP */
	expect_trap(w, in, WARP_ILLEGAL_PARAM);
}

static void wide_constants_are_aligned(void **state)
{
	struct world *w = *state;
	uint64_t va = rig_alloc(w->r, 256);
	struct sm_insn in = insn(SM_DADD);
	struct uop u;

	in.dst[0] = pair(0);
	in.src[0] = pair(2);
	in.src[1] = (struct sm_operand){ .kind = SM_CONST, .bank = 2, .offset = 16 };
	w->run.cbuf[2] = (struct cbuf){ .valid = true, .va = va, .size = 256 };
	uop_bind(&u, &in);
	assert_true(u.constant && u.wide_constant);
	in.src[1].offset = 20;
	expect_trap(w, in, WARP_MISALIGNED_IMMC_ADDR);
	in.op = SM_FADD; /* a single word may begin at any multiple of 4 */
	in.dst[0] = reg(0);
	in.src[0] = reg(2);
	run(w, in);
}

/* API_VISIBLE_CALL_LIMIT: at most 32 calls that count, or (NO_CHECK) as many as the stack holds. */
static void calls_that_count_have_a_limit(void **state)
{
	static struct token stack[80];
	struct world *w = *state;
	struct sm_insn call = insn(SM_JCAL), ret = insn(SM_RET);

	w->w.stack = stack;
	w->w.stack_size = 80;
	call.src[0] = imm(0x1000);
	for (unsigned int i = 0; i < 32; i++)
		assert_int_equal(step(w, &call, ALL_LANES), STEP_JUMP);
	expect_trap(w, call, WARP_API_STACK_ERROR);
	call.noinc = true;
	w->w.active = ALL_LANES;
	assert_int_equal(step(w, &call, ALL_LANES), STEP_JUMP);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(step(w, &ret, w->w.active), STEP_JUMP);
	/* a call that counts has returned, so there is room for one */
	call.noinc = false;
	assert_int_equal(step(w, &call, ALL_LANES), STEP_JUMP);
	expect_trap(w, call, WARP_API_STACK_ERROR);
	w->qmd.api_visible_call_limit = 1; /* NO_CHECK */
	for (unsigned int i = 0; i < 40; i++)
		assert_int_equal(step(w, &call, w->w.active), STEP_JUMP);
}

static void local_addresses_wrap_downwards_only(void **state)
{
	struct world *w = *state;
	uint64_t va;

	w->run.local_low = 64;
	w->run.local_high = 32;
	w->run.local_per_warp = 96 * LANES;
	assert_true(local_address(&w->w, 0, 60, 4, &va));
	assert_false(local_address(&w->w, 0, 61, 4, &va));
	assert_true(local_address(&w->w, 0, 0u - 32, 4, &va));
	assert_false(local_address(&w->w, 0, 0u - 36, 4, &va));
	assert_true(local_address(&w->w, 0, WINDOW_SIZE - 32, 4, &va));
	assert_false(local_address(&w->w, 0, WINDOW_SIZE, 4, &va));
	assert_false(local_address(&w->w, 0, 0x40000010, 4, &va));
	assert_false(local_address(&w->w, 0, 0u - WINDOW_SIZE - 32, 4, &va));
}

#define LOCAL_PAGES 0x300000000ull /* two pages, whose memory does not adjoin */

/* Local memory begins @before bytes before the second page. Returns the first page's memory. */
static uint8_t *place_local_memory(struct world *w, unsigned int before)
{
	uint64_t page = (rig_alloc(w->r, 5 * 4096) + 4095) & ~4095ull;

	rig_map(w->r, LOCAL_PAGES, page);
	rig_map(w->r, LOCAL_PAGES + 4096, page + 2 * 4096);
	w->grid.local_base = LOCAL_PAGES + 4096 - before;
	w->run.local_low = 64;
	w->run.local_per_warp = 64 * LANES;
	return rig_host(w->r, page);
}

/* R(0): the address in local memory, R(2) and R(3): in the window. */
static struct sm_insn local_insn(enum sm_op op, enum sm_type type)
{
	struct sm_insn in = insn(op);

	in.src[0] = op == SM_LDL || op == SM_STL ? reg(0) : pair(2);
	in.wide_addr = op == SM_LD || op == SM_ST;
	in.src[1] = in.dst[0] = reg(4);
	in.type = type;
	return in;
}

/*
 * Guests choose the base. Lane 0's word ends on the next page. Bytes are accessed first, so that
 * the warp has the first page's translation.
 */
static void local_words_at_odd_addresses_are_refused(void **state)
{
	static const enum sm_op ops[] = { SM_STL, SM_ST, SM_LDL, SM_LD };
	static const enum sm_type types[] = { SM_U16, SM_B32, SM_B64, SM_B128 };
	struct world *w = *state;
	uint8_t *mem = place_local_memory(w, 1), was[3 * 4096];

	R(2)[0] = RIG_LOCAL_WINDOW;
	dma_read_lock(w->r->g);
	for (unsigned int i = 0; i < 4; i++) {
		struct sm_insn in = local_insn(ops[i], SM_U8);

		assert_int_equal(step(w, &in, 1), STEP_NEXT);
	}
	memset(mem, 0xc3, sizeof(was));
	memcpy(was, mem, sizeof(was));
	for (unsigned int i = 0; i < 4 * 4 * 3; i++) {
		unsigned int before = 1 + i / 16;
		struct sm_insn in = local_insn(ops[i % 4], types[i / 4 % 4]);

		if (before == 2 && in.type == SM_U16) /* aligned */
			continue;
		w->grid.local_base = LOCAL_PAGES + 4096 - before;
		step(w, &in, 1);
		assert_memory_equal(mem, was, sizeof(was));
		expect_trap(w, in, WARP_MISALIGNED_ADDR);
	}
	dma_read_unlock(w->r->g);
}

static void local_words_of_a_warp_may_lie_on_two_pages(void **state)
{
	struct world *w = *state;
	struct sm_insn stl = local_insn(SM_STL, SM_B32);
	uint8_t *mem = place_local_memory(w, 5 * 4);

	for (unsigned int l = 0; l < LANES; l++)
		R(4)[l] = l + 1;
	dma_read_lock(w->r->g);
	run(w, stl);
	dma_read_unlock(w->r->g);
	for (unsigned int l = 0; l < LANES; l++)
		assert_memory_equal(mem + (l < 5 ? 4096 - 20 : 2 * 4096 - 20) + l * 4, &R(4)[l], 4);
}

/* Guests choose the windows too: a word at an aligned address is not aligned in shared memory. */
static void shared_words_at_odd_places_are_refused(void **state)
{
	static const enum sm_type types[] = { SM_U16, SM_B32, SM_B64, SM_B128 };
	struct world *w = *state;
	uint8_t shared[64] __attribute__((aligned(64))) = { 0 }, none[64] = { 0 };

	w->cta.shared = shared;
	w->cta.shared_size = sizeof(shared);
	w->grid.shared_window = RIG_SHARED_WINDOW - 1;
	R(2)[0] = RIG_SHARED_WINDOW + 16;
	R(4)[0] = 0x5a5a5a5a;
	for (unsigned int i = 0; i < 4; i++) {
		expect_trap(w, local_insn(SM_LD, types[i]), WARP_MISALIGNED_ADDR);
		expect_trap(w, local_insn(SM_ST, types[i]), WARP_MISALIGNED_ADDR);
	}
	assert_memory_equal(shared, none, sizeof(shared));
}

/* A window begins within a page: each lane has the space of its own address, in either order. */
static void a_page_is_partly_in_a_window(void **state)
{
	enum { BEFORE = 12 };
	struct world *w = *state;
	uint64_t page = (rig_alloc(w->r, 8192) + 4095) & ~4095ull;
	uint32_t *global = rig_host(w->r, page), shared[LANES], l, i;

	rig_map(w->r, RIG_SHARED_WINDOW, page);
	w->cta.shared = (uint8_t *)shared;
	w->cta.shared_size = sizeof(shared);
	w->grid.shared_window = RIG_SHARED_WINDOW + BEFORE * 4;
	dma_read_lock(w->r->g);
	for (i = 0; i < 2; i++) {
		for (l = 0; l < LANES; l++) {
			global[l] = 1000 + l;
			shared[l] = 2000 + l;
			R(2)[l] = RIG_SHARED_WINDOW + (i ? LANES - 1 - l : l) * 4;
			R(3)[l] = 0;
		}
		run(w, local_insn(SM_LD, SM_B32));
		for (l = 0; l < LANES; l++) {
			uint32_t word = i ? LANES - 1 - l : l;

			assert_int_equal(R(4)[l],
					 word < BEFORE ? 1000 + word : 2000 + word - BEFORE);
			R(4)[l] = 3000 + word;
		}
		run(w, local_insn(SM_ST, SM_B32));
		for (l = 0; l < LANES; l++) {
			assert_int_equal(global[l], l < BEFORE ? 3000 + l : 1000 + l);
			assert_int_equal(shared[l],
					 l < LANES - BEFORE ? 3000 + l + BEFORE : 2000 + l);
		}
	}
	dma_read_unlock(w->r->g);
}

/*
 * Generic loads see shared and local memory in their windows. Loads through the texture unit (LDG)
 * see what is mapped at those addresses.
 */
static void windows_are_not_the_texture_units(void **state)
{
	struct world *w = *state;
	struct mmu_client *tex = &w->run.sm->tex[0], *l1 = &w->run.sm->l1[0];
	uint64_t page = (rig_alloc(w->r, 8192) + 4095) & ~4095ull;
	struct sm_insn in = insn(SM_LD);

	w->thread.tex = tex;
	rig_map(w->r, RIG_SHARED_WINDOW, page);
	((uint32_t *)rig_host(w->r, page))[1] = 0x12345678;
	in.dst[0] = reg(4);
	in.src[0] = pair(2);
	in.type = SM_B32;
	in.wide_addr = true;
	in.offset = 4;
	R(2)[0] = RIG_SHARED_WINDOW;
	R(3)[0] = 0;
	dma_read_lock(w->r->g);
	expect_trap(w, in, WARP_OOR_ADDR); /* this CTA has no shared memory */
	in.op = SM_LDG;
	assert_int_equal(step(w, &in, 1), STEP_NEXT);
	assert_int_equal(R(4)[0], 0x12345678);
	in.offset = 6;
	expect_trap(w, in, WARP_MISALIGNED_ADDR);
	in.offset = 4096;
	assert_int_equal(step(w, &in, 1), STEP_STOP);
	R(2)[0] = 0x1000; /* neither mapped nor in a window */
	assert_int_equal(step(w, &in, 1), STEP_STOP);
	dma_read_unlock(w->r->g);
	assert_int_equal(atomic_load(&tex->faults), 2);
	assert_int_equal(atomic_load(&l1->faults), 0);
	assert_ptr_equal(w->thread.l1, l1);
}

static uint32_t special(struct world *w, uint32_t which)
{
	struct sm_insn in = insn(SM_S2R);

	in.dst[0] = reg(0);
	in.src[0] = (struct sm_operand){ .kind = SM_SREG, .imm = which };
	run(w, in);
	return R(0)[0];
}

/*
 * A program that counts cycles must see more than the microseconds of the host's clock. A
 * microsecond has 705.5 cycles. So twice a number of cycles, modulo 1411, is 0 or 1410 if only
 * whole microseconds were counted.
 */
static void clocks_count_single_cycles(void **state)
{
	struct world *w = *state;
	uint32_t low, high, rest, fine = 0;

	for (unsigned int i = 0; i < 100; i++) {
		do {
			high = special(w, SM_SR_CLOCKHI);
			low = special(w, SM_SR_CLOCKLO);
		} while (special(w, SM_SR_CLOCKHI) != high);
		rest = (((uint64_t)high << 32 | low) * 2) % 1411;
		fine += rest != 0 && rest != 1410;
	}
	assert_true(fine > 50);
}

#endif
