// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bits that nouveau polls (gk110/facts.md): whatever was written to the register, the bit reads
 * so that the poll ends at once.
 */
#include "guest.h"

static const struct {
	uint32_t reg, stride, count;
	uint32_t zero, one;
} polled[] = {
	{ 0x070000, 4, 1, 0x00000002, 0 },	{ 0x070004, 4, 1, 0x00000003, 0 },
	{ 0x070010, 4, 1, 0x00000003, 0 },	{ 0x1410c8, 0x2000, 5, 0xffffffff, 0 },
	{ 0x1414c8, 0x2000, 5, 0xffffffff, 0 }, { 0x1418c8, 0x2000, 5, 0xffffffff, 0 },
	{ 0x141cc8, 0x2000, 5, 0xffffffff, 0 }, { 0x12004c, 4, 1, 0x0000003f, 0 },
	{ 0x020520, 4, 5, 0x80000000, 0 },	{ 0x10a04c, 4, 1, 0xffffffff, 0 },
	{ 0x10a10c, 4, 1, 0x00000006, 0 },	{ 0x404170, 4, 1, 0x00000010, 0 },
	{ 0x400700, 4, 1, 0xffffffff, 0 },	{ 0x40060c, 4, 1, 0x00000001, 0 },
	{ 0x002640, 8, 4, 0xffffffff, 0 },	{ 0x003080, 4, 3, 0x0000e000, 0 },
	{ 0x100c80, 4, 1, 0, 0x00ff8000 },	{ 0x02240c, 4, 1, 0, 0x00000002 },
};

/*
 * Returns false for the registers of single L2 slices: nouveau writes them only through the
 * broadcast registers, which have addresses of their own.
 */
static bool written(uint32_t reg)
{
	return (reg & ~0x3ffffu) != 0x140000;
}

TEST(polls_end_at_once)
{
	static const uint32_t vals[] = { 0xffffffff, 0x80000001, 0x00000012, 0x00000000,
					 0xfffffffe };
	uint32_t i, n, v;

	for (v = 0; v < ARRAY_SIZE(vals); v++) {
		for (i = 0; i < ARRAY_SIZE(polled); i++) {
			for (n = 0; n < polled[i].count; n++) {
				uint32_t reg = polled[i].reg + n * polled[i].stride, val;

				if (written(reg))
					wr(g, reg, vals[v]);
				val = rd(g, reg);
				if ((val & polled[i].zero) ||
				    (val & polled[i].one) != polled[i].one)
					fail_msg("%06x reads %08x after %08x", reg, val, vals[v]);
			}
		}
		wr(g, 0x17e8c8, vals[v]);
	}
}

/* These bits stay pending until the host has answered. */
TEST(host_answers_end_polls)
{
	wr(g, 0x002270, 0x3000123);
	assert_int_equal(wr(g, 0x002274, 5), KVGPU_CMD_RUNLIST);
	assert_int_equal(rd(g, 0x002284), 0x00100005);
	kvgpu_trap_runlist_done(&g->t, 0);
	assert_int_equal(rd(g, 0x002284), 5);
	assert_int_equal(rd(g, 0x002280), 0x3000123);
	assert_int_equal(rd(g, 0x002a00), 1);

	assert_int_equal(wr(g, 0x002634, 17), KVGPU_CMD_PREEMPT);
	assert_int_equal(rd(g, 0x002634), 0x00100011);
	kvgpu_trap_preempt_done(&g->t);
	assert_int_equal(rd(g, 0x002634), 17);
}

TEST(pmu_rings_appear)
{
	assert_int_equal(rd(g, 0x10a4d0), 0);
	wr(g, 0x10a100, 2);
	assert_int_not_equal(rd(g, 0x10a4d0), 0);
	assert_int_not_equal(rd(g, 0x10a4dc), 0);
	mask(g, 0x000200, 0x2000, 0);
	assert_int_equal(rd(g, 0x10a4d0), 0);
}

TEST(fecs_is_ready_after_start)
{
	assert_int_equal(rd(g, 0x409800), 0);
	wr(g, 0x409100, 2);
	assert_int_equal(rd(g, 0x409800), 0x80000000);
	assert_int_equal(rd(g, 0x409804), GUEST_CTX_SIZE);
	wr(g, 0x409840, 0x80000000);
	assert_int_equal(rd(g, 0x409800), 0);
	wr(g, 0x409500, 0x80000123);
	assert_int_equal(wr(g, 0x409504, 1), KVGPU_CMD_GR_BIND);
	assert_int_equal(rd(g, 0x409800), 0x80000000);
}

/*
 * Read as drivers do, the high word, the low word, and the high word again: it ends with an equal
 * high word, and the time goes on.
 */
TEST(time_is_stable)
{
	uint64_t last = 0, time;
	unsigned int i;
	uint32_t hi, lo;

	for (i = 0; i < 100000; i++) {
		do {
			hi = rd(g, 0x009410);
			lo = rd(g, 0x009400);
		} while (hi != rd(g, 0x009410));
		time = (uint64_t)hi << 32 | lo;
		assert_true(time > last);
		assert_int_equal(lo & 31, 0);
		last = time;
		g->now += 100000;
	}
}

TEST_MAIN(guest_begin, guest_end)
