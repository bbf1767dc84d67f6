// SPDX-License-Identifier: GPL-2.0-only
/* Any words: decoding ends, its results are within what insn.h promises. */
#include <assert.h>
#include <string.h>

#include "gr/sm/print.h"

static void check_operand(const struct sm_operand *o)
{
	assert(o->kind <= SM_PRFILE);
	assert(o->regs <= 12 && (o->kind == SM_REG || !o->regs));
	assert(o->sel <= SM_SEL_H1);
	if (o->kind == SM_PRED)
		assert(o->reg <= SM_PT);
	if (o->kind == SM_CONST)
		assert(o->bank < 32 && o->offset % 4 == 0);
}

static void check(uint64_t word, uint64_t addr, size_t size)
{
	struct sm_insn in, again;
	char text[512];
	unsigned int i;
	int length;

	if (!sm_decode(word, addr, &in)) {
		assert(in.op == SM_ILLEGAL && in.raw == word);
		return;
	}
	assert(in.op > SM_ILLEGAL && in.op < SM_OP_COUNT && in.raw == word);
	assert((in.op == SM_SCHED) == (addr % 64 == 0));
	assert(in.guard <= SM_PT && in.cc_test <= SM_CC_RGT && in.cmp <= SM_CMP_T &&
	       in.bop <= SM_XOR && in.bop2 <= SM_XOR);
	assert(in.type <= SM_U128 && in.stype[0] <= SM_U128 && in.stype[1] <= SM_U128 &&
	       in.stype[2] <= SM_U128);
	for (i = 0; i < 2; i++)
		check_operand(&in.dst[i]);
	for (i = 0; i < 4; i++)
		check_operand(&in.src[i]);
	sm_decode(word, addr, &again);
	assert(!memcmp(&in, &again, sizeof(in)));

	memset(text, 0x5a, sizeof(text));
	length = sm_print(&in, addr, text, size);
	assert(length > 0 && length < 200);
	assert(size == 0 || strlen(text) == ((size_t)length < size ? (size_t)length : size - 1));
	assert(text[size] == 0x5a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t word;
	size_t i;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, data + i, sizeof(word));
		check(word, i, word % 230);
	}
	return 0;
}
