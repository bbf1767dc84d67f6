// SPDX-License-Identifier: GPL-2.0-only
/* Shadow instance blocks word by word. */
#include <selftests/unit_test.h>

#include "gtt-shadow/shadow.h"

static const struct kvgpu_inst_host host = {
	.chid = { 0x123 },
	.userd = 0x1234567200ull,
	.pd = 0xab98765000ull,
};

/* Makes an instance block as nouveau writes it for a channel. */
static void nouveau(u32 *b)
{
	memset(b, 0, 4096);
	b[0x08 / 4] = 0x00345600;
	b[0x10 / 4] = 0xface;
	b[0x30 / 4] = 0xfffff902;
	b[0x48 / 4] = 0x00010000;
	b[0x4c / 4] = 0x00000012 | 9 << 16;
	b[0x84 / 4] = 0x20400000;
	b[0x94 / 4] = 0x30000fff;
	b[0x9c / 4] = 0x100;
	b[0xac / 4] = 0x1f;
	b[0xb8 / 4] = 0xf8000000;
	b[0xe4 / 4] = 0x20;
	b[0xe8 / 4] = 7;
	b[0xf8 / 4] = 0x10003080;
	b[0xfc / 4] = 0x10000010;
	b[0x200 / 4] = 0x00200000;
	b[0x208 / 4] = 0xffffffff;
	b[0x20c / 4] = 0xff;
	b[0x210 / 4] = 0x00456000 | 4;
	b[0x214 / 4] = 0x01;
}

TEST(decodes)
{
	struct kvgpu_inst_guest g;
	const char *why;
	u32 b[1024];

	nouveau(b);
	assert_int_equal(kvgpu_shadow_inst_decode(b, &g, &why), 0);
	assert_null(why);
	assert_int_equal(g.pd.target, KVGPU_VRAM);
	assert_int_equal(g.pd.addr, 0x200000);
	assert_int_equal(g.limit, (1ull << 40) - 1);
	assert_int_equal(g.gp_base, 0x1200010000ull);
	assert_int_equal(g.gp_log2, 9);
	assert_int_equal(g.userd.target, KVGPU_VRAM);
	assert_int_equal(g.userd.addr, 0x345600);
	assert_int_equal(g.gr_ctx, 0x100456000ull);
	assert_true(g.gr_ctx_virtual);
	assert_true(g.priv);
}

TEST(refuses)
{
	static const struct {
		u32 off, val;
	} bad[] = {
		{ 0x200, 0x00200001 },
		{ 0x08, 0x00345601 },
		/* the ring passes the end of the address space */
		{ 0x4c, 0xff | 31 << 16 },
		{ 0x210, 0x00456001 },
	};
	struct kvgpu_inst_guest g;
	const char *why;
	u32 b[1024], i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		nouveau(b);
		b[bad[i].off / 4] = bad[i].val;
		assert_int_not_equal(kvgpu_shadow_inst_decode(b, &g, &why), 0);
		assert_non_null(why);
	}
	nouveau(b); /* a ring of 2^31 entries that ends where the address space does */
	b[0x48 / 4] = 0;
	b[0x4c / 4] = 0xfc | 31 << 16;
	assert_int_equal(kvgpu_shadow_inst_decode(b, &g, &why), 0);
	b[0x48 / 4] = 8;
	assert_int_not_equal(kvgpu_shadow_inst_decode(b, &g, &why), 0);
}

static void build(const u32 *b, u32 *out)
{
	struct kvgpu_inst_guest g;
	const char *why;

	assert_int_equal(kvgpu_shadow_inst_decode(b, &g, &why), 0);
	memset(out, 0xa5, 4096);
	kvgpu_shadow_inst_build(b, &g, &host, out);
}

TEST(builds_word_by_word)
{
	static const struct {
		u32 off, val;
	} want[] = {
		{ 0x08, 0x34567200 },  { 0x0c, 0x12 },	      { 0x10, 0xface },
		{ 0x30, 0xfffff902 },  { 0x48, 0x00010000 },  { 0x4c, 0x00090012 },
		{ 0x84, 0x20400000 },  { 0x94, 0x30000fff },  { 0x9c, 0x100 },
		{ 0xac, 0x1f },	       { 0xb8, 0xf8000000 },  { 0xe8, 0x123 },
		{ 0xf8, 0x10003080 },  { 0xfc, 0x10000010 },  { 0x200, 0x98765000 },
		{ 0x204, 0xab },       { 0x208, 0xffffffff }, { 0x20c, 0xff },
		{ 0x210, 0x00456004 }, { 0x214, 0x01 },
	};
	u32 b[1024], out[1024], off, i;

	nouveau(b);
	build(b, out);
	for (off = 0; off < 4096; off += 4) {
		for (i = 0; i < sizeof(want) / sizeof(want[0]) && want[i].off != off; i++)
			;
		if (out[off / 4] != (i < sizeof(want) / sizeof(want[0]) ? want[i].val : 0))
			fail_msg("word 0x%x is 0x%x", off, out[off / 4]);
	}
}

/*
 * Sets each word of the guest's block to all ones in turn, except the words listed below, which may
 * make the host's block differ from the one made of nouveau's block.
 */
TEST(nothing_else_gets_through)
{
	u32 b[1024], zero[1024], out[1024], ref[1024], i;

	nouveau(zero);
	build(zero, ref);
	for (i = 0; i < 1024; i++) {
		switch (i * 4) {
		/* progress: see progress_is_masked() */
		case 0x00:
		case 0x14:
		case 0x50:
		case 0x08:
		case 0x0c: /* the host puts its own value there */
		case 0x48:
		case 0x4c:
		case 0x200:
		case 0x204:
		case 0x208:
		case 0x20c:
		case 0x210:
		case 0x214:
			continue;
		}
		memcpy(b, zero, sizeof(b));
		b[i] = 0xffffffff;
		build(b, out);
		assert_memory_equal(out, ref, sizeof(out));
	}
}

TEST(progress_is_masked)
{
	u32 b[1024], out[1024], off, i;

	nouveau(b);
	for (off = 0x14; off <= 0x60; off += 4)
		if (off != 0x30 && off != 0x48 && off != 0x4c)
			b[off / 4] = 0xffffffff;
	b[0x84 / 4] = 0xffffffff;
	b[0x88 / 4] = 0xffffffff;
	b[0xe0 / 4] = 0xffffffff;
	b[0x00 / 4] = 511;
	b[0x14 / 4] = 510;
	b[0x50 / 4] = 510;
	build(b, out);
	assert_int_equal(out[0x00 / 4], 511);
	assert_int_equal(out[0x14 / 4], 510);
	assert_int_equal(out[0x50 / 4], 510);
	assert_int_equal(out[0x18 / 4], 0xfffffffc);
	assert_int_equal(out[0x1c / 4], 0xff);
	assert_int_equal(out[0x24 / 4], 0x800000ff);
	assert_int_equal(out[0x28 / 4], 0xffffffff);
	assert_int_equal(out[0x44 / 4], 0);
	assert_int_equal(out[0x58 / 4], 0xff);
	assert_int_equal(out[0x84 / 4] & 2, 0); /* privileged methods stay forbidden */
	assert_int_equal(out[0x88 / 4], 0x1fff);
	assert_int_equal(out[0xe0 / 4], 0);
	assert_int_equal(out[0xe4 / 4], 0);
	/* if one of the three pointers lies beyond the ring, all start anew */
	for (i = 0; i < 3; i++) {
		static const u32 pointers[] = { 0x00, 0x14, 0x50 };
		u32 was = b[pointers[i] / 4];

		b[pointers[i] / 4] = 512;
		build(b, out);
		assert_int_equal(out[0x00 / 4], 0);
		assert_int_equal(out[0x14 / 4], 0);
		assert_int_equal(out[0x50 / 4], 0);
		assert_int_equal(out[0x84 / 4], 0x20400000);
		b[pointers[i] / 4] = was;
	}
}

TEST(context_pointer)
{
	u32 b[1024], out[1024];

	nouveau(b);
	/* a physical address: the chip is told that it is virtual, nevertheless */
	b[0x210 / 4] = 0x00456000;
	build(b, out);
	assert_int_equal(out[0x210 / 4], 0x00456004);
	b[0x210 / 4] = 4;
	b[0x214 / 4] = 0xffffff00;
	build(b, out);
	assert_int_equal(out[0x210 / 4], 0);
	assert_int_equal(out[0x214 / 4], 0);
}

TEST_MAIN(NULL, NULL)
