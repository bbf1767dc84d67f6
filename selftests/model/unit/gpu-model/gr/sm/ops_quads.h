/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations of several threads: shuffles; and in quads moves of some threads, swizzled sums, SAM
 * and RAM. Included by ops_test.c.
 */
#ifndef KVGPU_SELFTESTS_SM_OPS_QUADS_H
#define KVGPU_SELFTESTS_SM_OPS_QUADS_H

/*
 * Only lanes 0 to 7 take part. From a sleeping lane they read 0, and it counts as in range. If the
 * source is beyond the clamp, a lane gets its own value.
 */
static void shuffles_from_lanes_that_sleep(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_SHFL);
	static const struct {
		uint8_t sub, by;
		uint32_t clamp;
	} forms[] = { { SM_SHFL_DOWN, 16, 31 }, { SM_SHFL_DOWN, 3, 31 }, { SM_SHFL_BFLY, 4, 31 },
		      { SM_SHFL_BFLY, 8, 31 },	{ SM_SHFL_IDX, 20, 31 }, { SM_SHFL_IDX, 5, 31 },
		      { SM_SHFL_DOWN, 6, 9 },	{ SM_SHFL_UP, 2, 0 } };

	in.dst[0] = pred(0, false);
	in.dst[1] = reg(1);
	in.src[0] = reg(0);
	for (unsigned int i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		in.sub = forms[i].sub;
		in.src[1] = imm(forms[i].by);
		in.src[2] = imm(forms[i].clamp);
		for (unsigned int l = 0; l < LANES; l++) {
			R(0)[l] = 1000 + l;
			R(1)[l] = 7;
		}
		w->w.p[0] = 0;
		assert_int_equal(step(w, &in, 0xff), STEP_NEXT);
		for (unsigned int l = 0; l < LANES; l++) {
			int by = forms[i].by, from = in.sub == SM_SHFL_DOWN ? (int)l + by :
						     in.sub == SM_SHFL_UP   ? (int)l - by :
						     in.sub == SM_SHFL_BFLY ? (int)l ^ by :
									      by;
			bool there = in.sub == SM_SHFL_UP ? from >= 0 : from <= (int)forms[i].clamp;
			uint32_t want = !there ? 1000 + l : from < 8 ? 1000 + (uint32_t)from : 0;

			assert_int_equal(R(1)[l], l < 8 ? want : 7);
			assert_int_equal(w->w.p[0] >> l & 1, l < 8 && there);
		}
	}
}

static void moves_reach_the_named_threads_of_quads(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_MOV);

	in.dst[0] = reg(1);
	in.src[0] = reg(0);
	for (in.lanes = 0; in.lanes < 16; in.lanes++) {
		for (unsigned int l = 0; l < LANES; l++) {
			R(0)[l] = 0x11223300 + l;
			R(1)[l] = 0xaabbcc00 + l;
		}
		assert_int_equal(step(w, &in, 0xffff0fff), STEP_NEXT);
		for (unsigned int l = 0; l < LANES; l++) {
			bool moved = in.lanes >> (l & 3) & 1 && l / 4 != 3;

			assert_int_equal(R(1)[l], (moved ? 0x11223300 : 0xaabbcc00) + l);
		}
	}
}

static float lane_float(const uint32_t *r, unsigned int l)
{
	float f;

	memcpy(&f, &r[l], 4);
	return f;
}

static void swizzled_sums(void **state)
{
	struct world *w = *state;
	struct sm_insn in = insn(SM_FSWZ);

	in.dst[0] = reg(2);
	in.src[0] = reg(0);
	in.src[1] = reg(1);
	for (unsigned int l = 0; l < LANES; l++) {
		float a = 1.5f * (float)l + 3, b = 100 - 7 * (float)l;

		memcpy(&R(0)[l], &a, 4);
		memcpy(&R(1)[l], &b, 4);
	}
	for (in.sub = SM_FSWZ_0000; in.sub <= SM_FSWZ_2301; in.sub++) {
		for (unsigned int ops = 0; ops < 256; ops++) {
			in.lanes = ops;
			run(w, in);
			for (unsigned int l = 0; l < LANES; l++) {
				unsigned int t = l % 4, from = in.sub == SM_FSWZ_1032 ? t ^ 1 :
							       in.sub == SM_FSWZ_2301 ? t ^ 2 :
											in.sub;
				float a = lane_float(R(0), l - t + from), b = lane_float(R(1), l),
				      want;

				switch (ops >> (2 * (3 - t)) & 3) {
				case 0:
					want = a + b;
					break;
				case 1:
					want = b - a;
					break;
				case 2:
					want = a - b;
					break;
				default:
					want = b;
					break;
				}
				assert_true(lane_float(R(2), l) == want);
			}
		}
	}
	/*
	 * the operation "b" gives b unchanged, even if the other operand is infinite, and with
	 * rounding downwards
	 */
	in.lanes = 0xff;
	in.round = SM_RM;
	for (unsigned int l = 0; l < LANES; l++) {
		R(0)[l] = 0x7f800000;
		R(1)[l] = l & 1 ? 0 : 0x80000000;
	}
	run(w, in);
	for (unsigned int l = 0; l < LANES; l++)
		assert_int_equal(R(2)[l], l & 1 ? 0 : 0x80000000);
}

static void quads_become_whole_and_are_restored(void **state)
{
	struct world *w = *state;
	struct sm_insn sam = insn(SM_SAM), ram = insn(SM_RAM);

	w->w.active = 0x80000401;
	/* exited long ago, but needed for the quad's derivatives */
	w->w.exited = 0x00000002;
	assert_int_equal(step(w, &sam, w->w.active), STEP_NEXT);
	assert_int_equal(w->w.active, 0xf0000f0f);
	assert_int_equal(w->w.depth, 1);
	assert_int_equal(step(w, &ram, w->w.active), STEP_NEXT);
	assert_int_equal(w->w.active, 0x80000401);
	assert_int_equal(w->w.depth, 0);
	/* there is no SAM to take back */
	assert_int_equal(step(w, &ram, w->w.active), STEP_STOP);
	assert_int_equal(w->grid.trap.warp_esr, WARP_STACK_ERROR);
}

/* A SAM that no RAM takes back does not hold up the tokens below it. */
static void leaving_a_whole_quad_goes_on_below(void **state)
{
	struct world *w = *state;
	struct sm_insn ssy = insn(SM_SSY), sam = insn(SM_SAM), leave = insn(SM_EXIT);

	w->w.pc = 0x100;
	ssy.src[0] = imm(0x80);
	ssy.relative = true;
	run(w, ssy);
	w->w.active = 0x1;
	assert_int_equal(step(w, &sam, 0x1), STEP_NEXT);
	assert_int_equal(step(w, &leave, 0xf), STEP_JUMP);
	assert_int_equal(w->w.active, 0xfffffff0);
	assert_int_equal(w->w.pc, 0x188);
}

#endif
