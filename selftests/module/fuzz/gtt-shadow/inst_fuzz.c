// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's instance block against decode and build. S1, S3: the words that hold physical
 * addresses, ids and privileges are the host's whatever the guest wrote; which words may depend on
 * the guest at all, and on which of its bits, is written down here a second time.
 */
#include <stdlib.h>
#include <string.h>

#include "gtt-shadow/shadow.h"

#define WORDS  1024
#define VA_END (1ull << 40)

#define MUST(x)                  \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

/* offset, and the bits that may be the guest's; in all blocks that are built */
static const struct {
	u32 at, bits;
} guests[] = {
	/* ring: put, get, fetch */
	{ 0x00, ~0u },
	{ 0x14, ~0u },
	{ 0x50, ~0u },
	/* pushbuffer: virtual addresses */
	{ 0x18, 0xfffffffc },
	{ 0x1c, 0xff },
	{ 0x20, 0xfffffffc },
	{ 0x24, 0x800000ff },
	{ 0x54, 0xfffffffc },
	{ 0x58, 0xff },
	{ 0x5c, 0xfffffffc },
	{ 0x60, 0xff },
	/* reference, semaphore: virtual */
	{ 0x28, ~0u },
	{ 0x38, 0xff },
	{ 0x3c, 0xfffffffc },
	{ 0x40, ~0u },
	/* a header under way, without its privilege bit */
	{ 0x84, 0xe0573ffc },
	{ 0x88, 0x1fff },
	{ 0x94, 0xfff },
};

/* words with one right value, all bits of them */
struct fixed {
	u32 at, val;
};

static u32 may_be_guests(u32 at)
{
	u32 i;

	for (i = 0; i < sizeof(guests) / sizeof(guests[0]); i++)
		if (guests[i].at == at)
			return guests[i].bits;
	return 0;
}

static void check_fixed(const u32 *out, const struct kvgpu_inst_guest *g,
			const struct kvgpu_inst_host *h)
{
	const struct fixed f[] = {
		{ 0x08, (u32)h->userd },
		{ 0x0c, (u32)(h->userd >> 32) },
		{ 0x10, 0xface },
		{ 0x30, 0xfffff902 },
		{ 0x9c, 0x100 },
		{ 0xe4, 0 },
		{ 0xe8, h->chid.v },
		{ 0xf8, 0x10003080 },
		{ 0xfc, 0x10000010 },
		{ 0x200, (u32)h->pd },
		{ 0x204, (u32)(h->pd >> 32) },
		{ 0x208, (u32)g->limit },
		{ 0x20c, (u32)(g->limit >> 32) },
		{ 0x210, g->gr_ctx ? (u32)g->gr_ctx | 4 : 0 },
		{ 0x214, (u32)(g->gr_ctx >> 32) },
	};
	u32 i;

	for (i = 0; i < sizeof(f) / sizeof(f[0]); i++)
		MUST(out[f[i].at / 4] == f[i].val);
	for (i = 0x218 / 4; i < WORDS; i++)
		MUST(!out[i]);
}

static void check_decoded(const struct kvgpu_inst_guest *g)
{
	MUST(g->pd.target != KVGPU_PEER && g->userd.target != KVGPU_PEER);
	MUST(g->pd.addr < VA_END && !(g->pd.addr & 0xfff));
	MUST(g->limit < VA_END && g->gr_ctx < VA_END && !(g->gr_ctx & 0xfff));
	MUST(g->gp_log2 < 32 && g->gp_base + (8ull << g->gp_log2) <= VA_END);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const struct kvgpu_inst_host h = {
		.chid = { 0x123 },
		.userd = 0x1234567200ull,
		.pd = 0xab98765000ull,
	};
	static u32 a[WORDS], b[WORDS], from_a[WORDS], from_b[WORDS];
	struct kvgpu_inst_guest g;
	const char *why;
	u32 i, bits;

	memset(a, 0, sizeof(a));
	memcpy(a, data, size < sizeof(a) ? size : sizeof(a));
	if (kvgpu_shadow_inst_decode(a, &g, &why)) {
		MUST(why);
		return 0;
	}
	MUST(!why);
	check_decoded(&g);
	kvgpu_shadow_inst_build(a, &g, &h, from_a);
	check_fixed(from_a, &g, &h);
	/* a block that differs in all bits which must not matter */
	for (i = 0; i < WORDS; i++)
		b[i] = a[i] ^ ~may_be_guests(i * 4);
	kvgpu_shadow_inst_build(b, &g, &h, from_b);
	MUST(!memcmp(from_a, from_b, sizeof(from_a)));
	/* bits of the guest's block that do matter change no bits but their own in the host's */
	memset(b, 0, sizeof(b));
	kvgpu_shadow_inst_build(b, &g, &h, from_b);
	for (i = 0; i < WORDS; i++) {
		bits = may_be_guests(i * 4);
		MUST(!((from_a[i] ^ from_b[i]) & ~bits));
	}
	return 0;
}
