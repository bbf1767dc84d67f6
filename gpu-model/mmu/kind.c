// SPDX-License-Identifier: GPL-2.0-only
/*
 * Storage kinds of a page that a GF100-family MMU knows, and for each compressed kind its plain
 * kind: the same layout without compression. Facts: nvkm mmu/gf100.c (gf100_mmu_kind), names: rnndb
 * gf100_vm.xml.
 *
 * gtt-shadow/pte.c has a list of its own, which must agree: tests there link this file to compare.
 */
#include <gk110/mmu.h>

#include "walk.h"

/* kinds first..last; their plain kind is @plain + (kind - first) % @cycle */
struct kind_run {
	uint8_t first, last, plain, cycle;
};

static const struct kind_run runs[] = {
	{ 0x00, 0x00, 0x00, 1 }, /* pitch */
	{ 0x01, 0x05, 0x01, 1 }, { 0x07, 0x0a, 0x01, 1 }, { 0x11, 0x11, 0x11, 1 }, /* Z24 S8 */
	{ 0x17, 0x1a, 0x11, 1 }, { 0x26, 0x29, 0x26, 4 }, /* Z24 with coverage: 4 layouts */
	{ 0x3a, 0x41, 0x26, 4 }, { 0x46, 0x46, 0x46, 1 }, /* S8 Z24 */
	{ 0x51, 0x54, 0x46, 1 }, { 0x7b, 0x7b, 0x7b, 1 }, /* 32-bit float depth */
	{ 0x86, 0x89, 0x7b, 1 }, { 0x8b, 0x8e, 0x8b, 4 }, /* Z24 S8 with coverage */
	{ 0xa3, 0xa6, 0x8b, 4 }, { 0xa7, 0xaa, 0xa7, 4 }, /* Z32 S8 with coverage */
	{ 0xbf, 0xc2, 0xa7, 4 }, { 0xc3, 0xc3, 0xc3, 1 }, /* Z32 S8 */
	{ 0xcc, 0xcd, 0xfe, 1 }, /* colour, compressed */
	{ 0xce, 0xd1, 0xc3, 1 }, { 0xd8, 0xd8, 0xfe, 1 }, { 0xdb, 0xdb, 0xfe, 1 },
	{ 0xdd, 0xdd, 0xfe, 1 }, { 0xdf, 0xe0, 0xfe, 1 }, { 0xe2, 0xe6, 0xfe, 1 },
	{ 0xe9, 0xe9, 0xfe, 1 }, { 0xeb, 0xeb, 0xfe, 1 }, { 0xed, 0xee, 0xfe, 1 },
	{ 0xf0, 0xfb, 0xfe, 1 }, { 0xfd, 0xfd, 0xfd, 1 }, /* nvgpu calls it pitch_no_swizzle */
	{ 0xfe, 0xfe, 0xfe, 1 }, /* generic block-linear */
};

uint8_t kind_plain(uint8_t kind)
{
	unsigned int i;

	for (i = 0; i < sizeof(runs) / sizeof(runs[0]) && runs[i].first <= kind; i++)
		if (kind <= runs[i].last)
			return runs[i].plain + (kind - runs[i].first) % runs[i].cycle;
	return GMMU_KIND_INVALID;
}
