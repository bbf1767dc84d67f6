/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second implementation of the GMMU's walk, slow and literal on purpose, which tests and fuzzers
 * compare with. It does not use the model's encodings.
 */
#ifndef KVGPU_TEST_ORACLE_H
#define KVGPU_TEST_ORACLE_H

#include "model.h"

/*
 * pairs of a kind and the kind that it is without compression, by the names in rnndb's gf100_vm.xml
 */
static const uint8_t oracle_kinds[][2] = {
	{ 0x00, 0x00 }, { 0x01, 0x01 }, { 0x02, 0x01 }, { 0x03, 0x01 }, { 0x04, 0x01 },
	{ 0x05, 0x01 }, { 0x07, 0x01 }, { 0x08, 0x01 }, { 0x09, 0x01 }, { 0x0a, 0x01 },
	{ 0x11, 0x11 }, { 0x17, 0x11 }, { 0x18, 0x11 }, { 0x19, 0x11 }, { 0x1a, 0x11 },
	{ 0x26, 0x26 }, { 0x27, 0x27 }, { 0x28, 0x28 }, { 0x29, 0x29 }, { 0x3a, 0x26 },
	{ 0x3b, 0x27 }, { 0x3c, 0x28 }, { 0x3d, 0x29 }, { 0x3e, 0x26 }, { 0x3f, 0x27 },
	{ 0x40, 0x28 }, { 0x41, 0x29 }, { 0x46, 0x46 }, { 0x51, 0x46 }, { 0x52, 0x46 },
	{ 0x53, 0x46 }, { 0x54, 0x46 }, { 0x7b, 0x7b }, { 0x86, 0x7b }, { 0x87, 0x7b },
	{ 0x88, 0x7b }, { 0x89, 0x7b }, { 0x8b, 0x8b }, { 0x8c, 0x8c }, { 0x8d, 0x8d },
	{ 0x8e, 0x8e }, { 0xa3, 0x8b }, { 0xa4, 0x8c }, { 0xa5, 0x8d }, { 0xa6, 0x8e },
	{ 0xa7, 0xa7 }, { 0xa8, 0xa8 }, { 0xa9, 0xa9 }, { 0xaa, 0xaa }, { 0xbf, 0xa7 },
	{ 0xc0, 0xa8 }, { 0xc1, 0xa9 }, { 0xc2, 0xaa }, { 0xc3, 0xc3 }, { 0xcc, 0xfe },
	{ 0xcd, 0xfe }, { 0xce, 0xc3 }, { 0xcf, 0xc3 }, { 0xd0, 0xc3 }, { 0xd1, 0xc3 },
	{ 0xd8, 0xfe }, { 0xdb, 0xfe }, { 0xdd, 0xfe }, { 0xdf, 0xfe }, { 0xe0, 0xfe },
	{ 0xe2, 0xfe }, { 0xe3, 0xfe }, { 0xe4, 0xfe }, { 0xe5, 0xfe }, { 0xe6, 0xfe },
	{ 0xe9, 0xfe }, { 0xeb, 0xfe }, { 0xed, 0xfe }, { 0xee, 0xfe }, { 0xf0, 0xfe },
	{ 0xf1, 0xfe }, { 0xf2, 0xfe }, { 0xf3, 0xfe }, { 0xf4, 0xfe }, { 0xf5, 0xfe },
	{ 0xf6, 0xfe }, { 0xf7, 0xfe }, { 0xf8, 0xfe }, { 0xf9, 0xfe }, { 0xfa, 0xfe },
	{ 0xfb, 0xfe }, { 0xfd, 0xfd }, { 0xfe, 0xfe },
};

/* reads one byte of memory @target; -1: no memory there */
typedef int (*oracle_byte_fn)(void *ctx, int target, uint64_t addr);

struct oracle_in {
	oracle_byte_fn byte;
	void *ctx;
	uint64_t pdb, limit, va;
	int pdb_target;
	bool pages_64k;
	bool write, read; /* both: an atomic access */
	bool privileged;
	/* a cached directory entry, used instead of the one in memory; or NULL */
	const uint64_t *pde;
};

struct oracle_out {
	/*
	 * Fault reason, or -1: translated. If only rights are missing, the other members are
	 * filled, too.
	 */
	int reason;
	uint64_t phys; /* of the byte at va */
	uint64_t page_size;
	int target, kind;
	bool vol, writable, readable, privileged;
};

static bool oracle_bit(uint64_t word, int n)
{
	return word / (1ull << n) % 2;
}

static uint64_t oracle_bits(uint64_t word, int high, int low)
{
	uint64_t v = 0;
	int i;

	for (i = high; i >= low; i--)
		v = v * 2 + oracle_bit(word, i);
	return v;
}

static bool oracle_read64(const struct oracle_in *in, int target, uint64_t addr, uint64_t *val)
{
	int i;

	*val = 0;
	for (i = 7; i >= 0; i--) {
		int b = in->byte(in->ctx, target, addr + i);

		if (b < 0)
			return false;
		*val = *val * 256 + b;
	}
	return true;
}

static int oracle_plain_kind(int kind)
{
	unsigned int i;

	for (i = 0; i < sizeof(oracle_kinds) / 2; i++)
		if (oracle_kinds[i][0] == kind)
			return oracle_kinds[i][1];
	return -1;
}

static struct oracle_out oracle_fault(int reason)
{
	return (struct oracle_out){ .reason = reason };
}

/*
 * Reads entry @index of the table that one half of a directory entry names; @aperture 0 means no
 * table. Returns 1 if the entry was read, 0 without a table, -1 if there is no memory.
 */
static int oracle_half(const struct oracle_in *in, int aperture, uint64_t addr28, uint64_t index,
		       uint64_t *entry)
{
	uint64_t table;

	*entry = 0;
	if (aperture == 0)
		return 0;
	if (aperture == 1)
		table = addr28 % (1 << 25) * 4096;
	else
		table = addr28 * 4096;
	return oracle_read64(in, aperture == 1 ? 0 : aperture, table + 8 * index, entry) ? 1 : -1;
}

static struct oracle_out oracle_page(const struct oracle_in *in, uint64_t pte, uint64_t page_size)
{
	struct oracle_out out = { .reason = -1, .page_size = page_size };
	uint64_t frame = oracle_bits(pte, 31, 4);
	int raw = oracle_bits(pte, 43, 36);

	out.target = oracle_bits(pte, 34, 33);
	if (out.target == 1)
		return oracle_fault(0xa);
	out.kind = oracle_plain_kind(raw);
	if (out.kind < 0)
		return oracle_fault(0xc);
	if (out.kind != raw && out.target != 0)
		return oracle_fault(0xa);
	if (out.target == 0)
		frame = frame % (1 << 25);
	out.phys = frame * 4096 / page_size * page_size + in->va % page_size;
	out.vol = oracle_bit(pte, 32);
	out.privileged = oracle_bit(pte, 1);
	out.writable = !oracle_bit(pte, 2) && !oracle_bit(pte, 63);
	out.readable = !oracle_bit(pte, 62);
	if (out.privileged && !in->privileged)
		out.reason = 5;
	else if (in->write && !out.writable)
		out.reason = 6;
	else if (in->read && !out.readable)
		out.reason = 7;
	return out;
}

static struct oracle_out oracle_walk(const struct oracle_in *in)
{
	uint64_t big_page = in->pages_64k ? 65536 : 131072;
	uint64_t span = big_page * 1024, offset = in->va % span;
	uint64_t pde, big, small;
	int have_big, have_small;

	if (in->va > in->limit || in->va >= 1ull << 40)
		return oracle_fault(3);
	if (in->pde)
		pde = *in->pde;
	else if (!oracle_read64(in, in->pdb_target, in->pdb + in->va / span * 8, &pde))
		return oracle_fault(0);
	if (oracle_bits(pde, 1, 0) == 0 && oracle_bits(pde, 33, 32) == 0)
		return oracle_fault(0);
	switch (oracle_bits(pde, 3, 2)) {
	case 1:
		if (offset >= span / 2)
			return oracle_fault(1);
		break;
	case 2:
		if (offset >= span / 4)
			return oracle_fault(1);
		break;
	case 3:
		if (offset >= span / 8)
			return oracle_fault(1);
		break;
	}
	have_big = oracle_half(in, oracle_bits(pde, 1, 0), oracle_bits(pde, 31, 4),
			       offset / big_page, &big);
	have_small = oracle_half(in, oracle_bits(pde, 33, 32), oracle_bits(pde, 63, 36),
				 offset / 4096, &small);
	if (have_big < 0 || have_small < 0)
		return oracle_fault(0);
	if (have_big && oracle_bit(big, 0) && have_small && oracle_bit(small, 0))
		return oracle_fault(0xe);
	if (have_big && oracle_bit(big, 0))
		return oracle_page(in, big, big_page);
	if (have_big && oracle_bit(big, 1))
		return oracle_fault(2);
	if (have_small && oracle_bit(small, 0))
		return oracle_page(in, small, 4096);
	return oracle_fault(2);
}

#endif
