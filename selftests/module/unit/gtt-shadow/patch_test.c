// SPDX-License-Identifier: GPL-2.0-only
/*
 * The patch list that nouveau makes for a K20m is passed, with the host's page pool and bundle
 * buffer in the place of the guest's.
 */
#include <selftests/unit_test.h>

#include "gtt-shadow/shadow.h"

/* 5 GPCs with 3, 3, 3, 2, 2 TPCs */
static const struct kvgpu_topo topo = {
	.gpcs = 5,
	.tpcs = { 3, 3, 3, 2, 2 },
	.ppc_mask = { { 0x3, 0x4 }, { 0x3, 0x4 }, { 0x3, 0x4 }, { 0x1, 0x2 }, { 0x3 } },
	.r17e91c = 0x00090001,
	.r17e920 = 0x12345678,
};

static u32 bits(u32 m)
{
	return m ? (m & 1) + bits(m >> 1) : 0;
}

/*
 * Makes the patch list as nouveau writes it (ctxgf100.c, ctxgk104.c, ctxgf117.c with gk110's
 * numbers).
 */
static u32 nouveau(struct kvgpu_patch *p)
{
	const u32 pool = 0x00123400, bundle = 0x00567800, attrib = 0x00089abc, beta = 0x218,
		  alpha = 0x648;
	struct kvgpu_patch head[] = {
		{ 0x17e91c, topo.r17e91c },
		{ 0x17e920, topo.r17e920 },
		{ 0x40800c, pool },
		{ 0x408010, 0x80000000 },
		{ 0x419004, pool },
		{ 0x419008, 0 },
		{ 0x4064cc, 0x80000000 },
		{ 0x408004, bundle },
		{ 0x408008, 0x80000030 },
		{ 0x418808, bundle },
		{ 0x41880c, 0x80000030 },
		{ 0x4064c8, 0x180 << 16 | 0x7c0 },
		{ 0x418810, 0x80000000 | attrib },
		{ 0x419848, 0x10000000 | attrib },
		{ 0x405830, beta << 16 | alpha },
		{ 0x4064c4, alpha / 4 << 16 | 0xffff },
	};
	u32 n = sizeof(head) / sizeof(head[0]), g, i, bo = 0, ao = 0x324 * 13, t;

	memcpy(p, head, sizeof(head));
	for (g = 0; g < 5; g++)
		for (i = 0; i < 2; i++) {
			t = bits(topo.ppc_mask[g][i]);
			if (!t)
				continue;
			p[n++] = (struct kvgpu_patch){ 0x5030c0 + 0x8000 * g + 0x200 * i,
						       1u << 28 | beta * t << 16 | bo };
			bo += 0x324 * t;
			p[n++] = (struct kvgpu_patch){ 0x5030e4 + 0x8000 * g + 0x200 * i,
						       alpha * t << 16 | ao };
			ao += 0x7ff * t;
		}
	return n;
}

/* where the host has its buffers */
static const struct kvgpu_patch_host host = { .topo = &topo,
					      .pagepool = 0x9876543000,
					      .bundle = 0x987654b000 };

static const struct kvgpu_patch own[] = {
	{ 0x408004, 0x987654b0 }, { 0x408008, 0x80000030 }, { 0x418808, 0x987654b0 },
	{ 0x41880c, 0x80000030 }, { 0x40800c, 0x98765430 }, { 0x419004, 0x98765430 },
};
#define OWN (sizeof(own) / sizeof(own[0]))

static bool is_own(u32 reg)
{
	u32 i;

	for (i = 0; i < OWN; i++)
		if (own[i].reg == reg)
			return true;
	return false;
}

/* nouveau's list, with the host's buffers first */
static u32 expected(struct kvgpu_patch *p)
{
	struct kvgpu_patch all[64];
	u32 n = nouveau(all), i, at = OWN;

	memcpy(p, own, sizeof(own));
	for (i = 0; i < n; i++)
		if (!is_own(all[i].reg))
			p[at++] = all[i];
	return at;
}

TEST(nouveaus_own)
{
	struct kvgpu_patch in[64], want[64], out[64];
	u32 n = nouveau(in), rejected;

	assert_int_equal(n, 34);
	assert_int_equal(expected(want), n);
	assert_int_equal(kvgpu_shadow_patch_filter(&host, in, n, out, 64, &rejected), n);
	assert_int_equal(rejected, 0);
	assert_memory_equal(want, out, n * sizeof(in[0]));
}

/*
 * Values that follow from the chip's shape, and the host's buffers, are the host's to decide:
 * whatever the guest has there is replaced by the right value.
 */
TEST(shape_is_the_hosts)
{
	static const u32 addresses[] = { 0x418810, 0x419848 };
	struct kvgpu_patch lie[64], want[64], out[64];
	u32 n = nouveau(lie), rejected, i;

	for (i = 0; i < n; i++)
		if (lie[i].reg != addresses[0] && lie[i].reg != addresses[1])
			lie[i].val = ~lie[i].val;
	expected(want);
	assert_int_equal(kvgpu_shadow_patch_filter(&host, lie, n, out, 64, &rejected), n);
	assert_int_equal(rejected, 0);
	assert_memory_equal(want, out, n * sizeof(want[0]));
}

/* also in a list without any pair, and in one that names them twice */
TEST(buffers_are_the_hosts)
{
	struct kvgpu_patch twice[2 * OWN], out[64];
	u32 rejected, i;

	assert_int_equal(OWN, KVGPU_PATCH_OWN);
	assert_int_equal(kvgpu_shadow_patch_filter(&host, NULL, 0, out, 64, &rejected), OWN);
	assert_int_equal(rejected, 0);
	assert_memory_equal(own, out, sizeof(own));
	for (i = 0; i < 2 * OWN; i++)
		twice[i] = (struct kvgpu_patch){ own[i % OWN].reg, i };
	assert_int_equal(kvgpu_shadow_patch_filter(&host, twice, 2 * OWN, out, 64, &rejected), OWN);
	assert_int_equal(rejected, 0);
	assert_memory_equal(own, out, sizeof(own));
}

/* pairs of the guest that come through; pairs that are counted as left out in *@rejected */
static int one_pair(u32 reg, u32 val, u32 *rejected)
{
	struct kvgpu_patch in = { reg, val }, out[OWN + 1];

	return kvgpu_shadow_patch_filter(&host, &in, 1, out, OWN + 1, rejected) - (int)OWN;
}

static bool by_list(const struct kvgpu_patch *list, u32 n, u32 reg)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (list[i].reg == reg)
			return true;
	return false;
}

/* The registers of @list in [@first, @end) come through, of all that lie @step apart there. */
static void range_by_list(const struct kvgpu_patch *list, u32 n, u32 first, u32 end, u32 step)
{
	struct kvgpu_patch in[1024], out[1024 + OWN];
	u32 nr, reg = first, i, at, own_ones, rejected;
	int got;

	while (reg < end) {
		for (nr = 0; nr < 1024 && reg < end; reg += step)
			in[nr++].reg = reg;
		for (i = 0; i < nr; i++)
			in[i].val = 0;
		got = kvgpu_shadow_patch_filter(&host, in, nr, out, 1024 + OWN, &rejected);
		for (i = own_ones = 0, at = OWN; i < n; i++) {
			if (list[i].reg < in[0].reg || list[i].reg > in[nr - 1].reg ||
			    (list[i].reg - first) % step)
				continue;
			own_ones += is_own(list[i].reg);
			at += !is_own(list[i].reg);
		}
		for (i = OWN; i < (u32)got; i++)
			if (!by_list(list, n, out[i].reg) ||
			    (i > OWN && out[i].reg <= out[i - 1].reg))
				fail_msg("register 0x%x came through", out[i].reg);
		if ((u32)got != at || rejected != nr - (at - OWN) - own_ones)
			fail_msg("registers 0x%x to 0x%x: %u, %u left out", in[0].reg,
				 in[nr - 1].reg, got - OWN, rejected);
	}
}

TEST(only_listed_registers)
{
	struct kvgpu_patch list[64];
	u32 n = nouveau(list), i, rejected;

	range_by_list(list, n, 0, 0x400000, 4);
	range_by_list(list, n, 0x400000, 0x600000, 1);
	range_by_list(list, n, 0x600000, 1u << 26, 4);
	/* the same registers with a higher address bit set are refused, too */
	for (i = 0; i < n; i++) {
		assert_int_equal(one_pair(list[i].reg | 1u << 26, 0, &rejected), 0);
		assert_int_equal(rejected, 1);
	}
}

TEST(stray_bits)
{
	static const struct kvgpu_patch bad[] = {
		{ 0x418810, 0x90000000 },
		{ 0x418810, 0xffffffff },
		{ 0x419848, 0x20000001 },
		{ 0x419848, 0x80000001 },
	};
	u32 i, rejected;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(one_pair(bad[i].reg, bad[i].val, &rejected), 0);
		assert_int_equal(rejected, 1);
	}
}

TEST(bounded)
{
	struct kvgpu_patch in[64], out[64];
	u32 n = nouveau(in), rejected;

	memset(out, 0xa5, sizeof(out));
	assert_int_equal(kvgpu_shadow_patch_filter(&host, in, n, out, 10, &rejected), 10);
	assert_int_equal(rejected, n - 10);
	assert_int_equal(out[10].reg, 0xa5a5a5a5);
}

/* A GK110B has another limit of tokens; a guest on it sends that, and gets it (ctxgk110b.c). */
TEST(a_gk110b_has_its_own_limit)
{
	struct kvgpu_topo b = topo;
	struct kvgpu_patch_host h = host;
	struct kvgpu_patch in = { 0x4064c8, 0x180 << 16 | 0x600 }, out[64];
	u32 rejected;

	b.boot0 = 0x0f1000a1;
	h.topo = &b;
	assert_int_equal(kvgpu_shadow_patch_filter(&h, &in, 1, out, 64, &rejected), OWN + 1);
	assert_int_equal(out[OWN].val, 0x180 << 16 | 0x600);
	in.val = ~0u;
	assert_int_equal(kvgpu_shadow_patch_filter(&h, &in, 1, out, 64, &rejected), OWN + 1);
	assert_int_equal(out[OWN].val, 0x180 << 16 | 0x600);
}

TEST_MAIN(NULL, NULL)
