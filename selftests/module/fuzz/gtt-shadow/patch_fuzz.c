// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest's patch list, which FECS would execute with full authority, against the filter. S3: what
 * may be there is written down here a second time, by literal register numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "gtt-shadow/shadow.h"

#define MAX_PAIRS 300
#define MUST(x)                  \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)

static const struct kvgpu_topo topo = {
	.gpcs = 5,
	.tpcs = { 3, 3, 3, 2, 2 },
	.ppc_mask = { { 0x3, 0x4 }, { 0x3, 0x4 }, { 0x3, 0x4 }, { 0x1, 0x2 }, { 0x3 } },
	.r17e91c = 0x00090001,
	.r17e920 = 0x12345678,
};

/* where the host has its buffers; each list begins with that */
static const struct kvgpu_patch_host host = { .topo = &topo,
					      .pagepool = 0x9876543000,
					      .bundle = 0x987654b000 };

static const struct kvgpu_patch own[] = {
	{ 0x408004, 0x987654b0 }, { 0x408008, 0x80000030 }, { 0x418808, 0x987654b0 },
	{ 0x41880c, 0x80000030 }, { 0x40800c, 0x98765430 }, { 0x419004, 0x98765430 },
};
#define OWN (sizeof(own) / sizeof(own[0]))

/* addresses that are the guest's to choose */
static const struct {
	u32 reg, bits;
} chosen[] = {
	{ 0x418810, 0x8fffffff },
	{ 0x419848, 0x1fffffff },
};

/* registers with one value only */
static const struct kvgpu_patch fixed[] = {
	{ 0x408010, 0x80000000 },	   { 0x419008, 0 },
	{ 0x4064cc, 0x80000000 },	   { 0x4064c8, 0x180 << 16 | 0x7c0 },
	{ 0x405830, 0x218 << 16 | 0x648 }, { 0x4064c4, 0x648 / 4 << 16 | 0xffff },
	{ 0x17e91c, 0x00090001 },	   { 0x17e920, 0x12345678 },
};

static bool ppc(u32 reg, u32 *val)
{
	u32 beta = 0, alpha = 0x324 * 13, g, p, t;

	for (g = 0; g < 5; g++) {
		for (p = 0; p < 2; p++) {
			t = __builtin_popcount(topo.ppc_mask[g][p]);
			if (!t)
				continue;
			*val = reg == 0x5030c0 + 0x8000 * g + 0x200 * p ?
				       1u << 28 | 0x218 * t << 16 | beta :
				       0x648 * t << 16 | alpha;
			if (reg == 0x5030c0 + 0x8000 * g + 0x200 * p ||
			    reg == 0x5030e4 + 0x8000 * g + 0x200 * p)
				return true;
			beta += 0x324 * t;
			alpha += 0x7ff * t;
		}
	}
	return false;
}

/* whether the pair may be there, and with which value */
static bool allowed(u32 reg, u32 *val)
{
	u32 i;

	for (i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++)
		if (chosen[i].reg == reg)
			return !(*val & ~chosen[i].bits);
	for (i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		if (fixed[i].reg != reg)
			continue;
		*val = fixed[i].val;
		return true;
	}
	return ppc(reg, val);
}

static bool is_own(u32 reg)
{
	u32 i;

	for (i = 0; i < OWN; i++)
		if (own[i].reg == reg)
			return true;
	return false;
}

/* raw pairs would hardly ever name a register of the list */
static u32 some_reg(u32 raw)
{
	switch (raw >> 29) {
	case 0:
	case 1:
		return raw;
	case 2:
		return chosen[raw % (sizeof(chosen) / sizeof(chosen[0]))].reg + (raw >> 8 & 1) * 4;
	case 3:
		return own[raw % OWN].reg + (raw >> 8 & 1) * 4;
	case 4:
	case 5:
		return fixed[raw % (sizeof(fixed) / sizeof(fixed[0]))].reg;
	default:
		return 0x500000 + (raw & 0x3fffc);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct kvgpu_patch in[MAX_PAIRS], out[MAX_PAIRS + OWN];
	u32 nr, max, n, i, at, ignored = 0, rejected = 12345, val;

	if (size < 1)
		return 0;
	nr = (size - 1) / sizeof(in[0]);
	nr = nr < MAX_PAIRS ? nr : MAX_PAIRS;
	memcpy(in, data + 1, nr * sizeof(in[0]));
	for (i = 0; i < nr; i++)
		in[i].reg = some_reg(in[i].reg);
	max = data[0] & 1 ? MAX_PAIRS + OWN : data[0] >> 1;
	memset(out, 0x5a, sizeof(out));
	n = kvgpu_shadow_patch_filter(&host, in, nr, out, max, &rejected);
	MUST(n <= max);
	/* the host's, then in order all that are allowed, until the list is full */
	at = max < OWN ? max : OWN;
	MUST(n >= at && !memcmp(out, own, at * sizeof(own[0])));
	for (i = 0; i < nr; i++) {
		val = in[i].val;
		ignored += is_own(in[i].reg);
		if (is_own(in[i].reg) || at >= max || !allowed(in[i].reg, &val))
			continue;
		MUST(at < n && out[at].reg == in[i].reg && out[at].val == val);
		at++;
	}
	MUST(at == n);
	MUST(n - (max < OWN ? max : OWN) + ignored + rejected == nr);
	for (i = n; i < MAX_PAIRS + OWN; i++)
		MUST(out[i].reg == 0x5a5a5a5a);
	return 0;
}
