/* SPDX-License-Identifier: GPL-2.0-only */
/* Which lane's value stays if several lanes store to the same address. Included by ops_test.c. */
#ifndef KVGPU_SELFTESTS_SM_OPS_STORES_H
#define KVGPU_SELFTESTS_SM_OPS_STORES_H

/* Fills 4 words from R(4) on: each byte of lane @l's words is l + 1. */
static void store_data(struct world *w)
{
	for (unsigned int l = 0; l < LANES; l++) {
		for (unsigned int i = 0; i < 4; i++)
			R(4 + i)[l] = (l + 1) * 0x01010101u;
	}
}

static struct sm_insn store(enum sm_op op, unsigned int type)
{
	struct sm_insn in = insn(op);

	in.src[0] = reg(0);
	in.src[1] = reg(4);
	in.wide_addr = op == SM_ST;
	in.type = type;
	return in;
}

/* Returns the lane whose value is at @p, in all @bytes bytes; -1 if none stored there. */
static int stored_by(const uint8_t *p, unsigned int bytes)
{
	for (unsigned int i = 1; i < bytes; i++)
		assert_int_equal(p[i], p[0]);
	return p[0] - 1;
}

static const uint32_t store_masks[] = { ALL_LANES,  0xffff,	0xff00ff00,
					0x80000001, 0x7ffffffe, 0x5555 };
static const struct {
	unsigned int type, bytes;
} store_types[] = { { SM_U8, 1 }, { SM_U16, 2 }, { SM_B32, 4 }, { SM_B64, 8 }, { SM_B128, 16 } };

#define NR(a) (sizeof(a) / sizeof((a)[0]))

static void the_lowest_lane_that_stores_stays(void **state)
{
	struct world *w = *state;
	uint64_t va = rig_alloc(w->r, 8192);
	uint8_t *host = rig_host(w->r, va), shared[64];

	w->cta.shared = shared;
	w->cta.shared_size = sizeof(shared);
	store_data(w);
	dma_read_lock(w->r->g);
	for (unsigned int i = 0; i < NR(store_masks) * NR(store_types); i++) {
		uint32_t m = store_masks[i / NR(store_types)];
		unsigned int type = store_types[i % NR(store_types)].type,
			     bytes = store_types[i % NR(store_types)].bytes;
		struct sm_insn sts = store(SM_STS, type), st = store(SM_ST, type);

		for (unsigned int l = 0; l < LANES; l++) {
			R(0)[l] = 32;
			R(1)[l] = 0;
		}
		assert_int_equal(step(w, &sts, m), STEP_NEXT);
		assert_int_equal(stored_by(shared + 32, bytes), __builtin_ctz(m));
		/* first the odd lanes on one page and the even ones on another, then all on one */
		for (unsigned int one_page = 0; one_page < 2; one_page++) {
			for (unsigned int l = 0; l < LANES; l++) {
				uint64_t to = va + 64 + (one_page ? 0 : (l & 1) * 4096);

				R(0)[l] = to;
				R(1)[l] = to >> 32;
			}
			memset(host, 0, 8192);
			assert_int_equal(step(w, &st, m), STEP_NEXT);
			for (unsigned int odd = 0; odd < (one_page ? 1 : 2); odd++) {
				uint32_t of = one_page ? m : m & 0x55555555u << odd;

				assert_int_equal(stored_by(host + 64 + odd * 4096, bytes),
						 of ? __builtin_ctz(of) : -1);
			}
		}
	}
	dma_read_unlock(w->r->g);
}

#endif
