// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder and its text form. decode_table.inc has nvdisasm's text of chosen words. What the
 * text does not show is checked here by hand.
 */
#include <selftests/unit_test.h>

#include "gr/sm/print.h"

static const struct {
	uint64_t word, address;
	/* NULL: nvdisasm refuses the word, or calls a field in it invalid */
	const char *text;
} table[] = {
#include "decode_table.inc"
};

/* Compares texts without blanks, which nvdisasm sets at will. */
static bool same_text(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " \t");
		b += strspn(b, " \t");
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}

TEST(text_is_nvdisasms)
{
	unsigned int i, bad = 0;
	struct sm_insn in;
	char text[256];

	assert_true(sizeof(table) / sizeof(table[0]) > 1000);
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		bool legal = sm_decode(table[i].word, table[i].address, &in);

		strcpy(text, "(refused)");
		if (legal)
			sm_print(&in, table[i].address, text, sizeof(text));
		if (legal == !!table[i].text && (!legal || same_text(text, table[i].text)))
			continue;
		print_error("%016llx: '%s' instead of '%s'\n", (unsigned long long)table[i].word,
			    text, table[i].text ? table[i].text : "(refused)");
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* Every value of the enum appears in the table (SM_ILLEGAL: refused words), except for SM_SCHED. */
TEST(table_has_every_instruction)
{
	bool seen[SM_OP_COUNT] = { false };
	struct sm_insn in;
	unsigned int i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		sm_decode(table[i].word, table[i].address, &in);
		seen[in.op] = true;
	}
	for (i = 0; i < SM_OP_COUNT; i++)
		if (!seen[i] && i != SM_SCHED)
			fail_msg("no %s", sm_op_name(i));
}

static struct sm_insn decoded(uint64_t word)
{
	struct sm_insn in;

	memset(&in, 0xa5, sizeof(in));
	assert_true(sm_decode(word, 8, &in));
	assert_int_equal(in.raw, word);
	return in;
}

TEST(first_word_of_a_group_is_control)
{
	struct sm_insn in;
	uint64_t addr;

	for (addr = 0; addr < 1024; addr += 8) {
		assert_true(sm_decode(0xe08000000000141aull, addr, &in));
		assert_int_equal(in.op, addr % 64 ? SM_IADD : SM_SCHED);
	}
	/* at other addresses a control word is no instruction */
	assert_false(sm_decode(0x08a0109c108010c0ull, 8, &in));
}

TEST(illegal_leaves_nothing_behind)
{
	static const uint64_t words[] = {
		0xffffffffffffffffull, 3,
		0xe08000000000141bull, 0x0080000000000000ull,
		0x1e00000000000000ull, 0xf7bfffffffffffffull,
	};
	struct sm_insn in;
	unsigned int i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		memset(&in, 0xa5, sizeof(in));
		assert_false(sm_decode(words[i], 8, &in));
		assert_int_equal(in.op, SM_ILLEGAL);
		assert_int_equal(in.guard, SM_PT);
		assert_false(in.guard_not || in.join || in.set_cc);
		assert_int_equal(in.raw, words[i]);
		assert_int_equal(in.src[0].kind, SM_NONE);
	}
	/* words whose lowest two bits are 3 are refused */
	for (i = 0; i < 1024; i++)
		assert_false(sm_decode((uint64_t)i << 54 | 0x1c0003, 8, &in));
}

TEST(guard_condition_and_join)
{
	struct sm_insn in = decoded(0x120000005024003cull); /* @!P1 BRA */

	assert_int_equal(in.guard, 1);
	assert_true(in.guard_not);
	assert_int_equal(in.cc_test, SM_CC_T);
	in = decoded(0x1800000000000010ull); /* @P0 EXIT CC.GT */
	assert_int_equal(in.guard, 0);
	assert_int_equal(in.cc_test, SM_CC_GT);
	in = decoded(0x85800000005c3c02ull); /* NOP.S */
	assert_true(in.join);
	assert_int_equal(in.guard, SM_PT);
}

TEST(sources_in_every_form)
{
	struct sm_insn in = decoded(0xcc001c00031c1412ull); /* FFMA R4, R5, R6, R7 */

	assert_int_equal(in.dst[0].reg, 4);
	assert_int_equal(in.src[0].reg, 5);
	assert_int_equal(in.src[1].reg, 6);
	assert_int_equal(in.src[2].reg, 7);
	/* FFMA R4, R5, c[0x3][0x5028], R7 */
	in = decoded(0x4c001c6a051c1412ull);
	assert_int_equal(in.src[1].kind, SM_CONST);
	assert_int_equal(in.src[1].bank, 3);
	assert_int_equal(in.src[1].offset, 0x5028);
	assert_int_equal(in.src[2].reg, 7);
	/* FFMA R4, R5, R7, c[0x3][0x5028] */
	in = decoded(0x8c001c6a051c1412ull);
	assert_int_equal(in.src[1].reg, 7);
	assert_int_equal(in.src[2].kind, SM_CONST);
	assert_int_equal(in.src[2].offset, 0x5028);
	/* an offset in the upper half of a bank */
	in = decoded(0x4c001c1ff61c1412ull);
	assert_int_equal(in.src[1].offset, 0xffb0);
}

TEST(immediates)
{
	/* ISETP.EQ.U32.AND P1, PT, R0, -0x1, PT */
	struct sm_insn in = decoded(0xbb201fffff9c003dull);

	assert_int_equal(in.src[1].kind, SM_IMM);
	assert_true(in.src[1].imm == UINT64_MAX);
	assert_int_equal(in.type, SM_U32);
	in = decoded(0x743fffffff9fc002ull); /* MOV32I R0, 0x7fffffff */
	assert_true(in.src[0].imm == 0x7fffffff);
	in = decoded(0xc2c001fc001c1411ull); /* FADD R4, R5, 1 */
	assert_int_equal(in.src[1].imm_type, SM_F32);
	assert_true(in.src[1].imm == 0x3f800000);
	in = decoded(0xcb8001ff801c1411ull); /* DADD R4, R5, -1 */
	assert_int_equal(in.src[1].imm_type, SM_F64);
	assert_true(in.src[1].imm == 0xbff0000000000000ull);
	assert_int_equal(in.src[0].regs, 2);
	in = decoded(0xc540001e001c1411ull); /* F2F.F16.F16 R4, 1 */
	assert_int_equal(in.src[0].imm_type, SM_F16);
	assert_true(in.src[0].imm == 0x3c00);
}

TEST(signs_that_mean_something_else)
{
	struct sm_insn in = decoded(0xe0880000031c1412ull); /* ISUB */

	assert_int_equal(in.op, SM_IADD);
	assert_true(in.src[1].neg && !in.src[0].neg && !in.po);
	in = decoded(0xe0980000031c1412ull); /* IADD.PO */
	assert_true(in.po && !in.src[0].neg && !in.src[1].neg);
	in = decoded(0xd0801c00031c1412ull); /* IMAD with the product negated */
	assert_true(in.neg_product && !in.src[0].neg && !in.po);
	in = decoded(0xd0c01c00031c1412ull); /* IMAD.PO */
	assert_true(in.po && !in.neg_product && !in.src[2].neg);
}

TEST(memory_operands)
{
	struct sm_insn in = decoded(0xc6a00000021c0810ull); /* LD.E.128 R4, [R2+0x40000004] */

	assert_int_equal(in.op, SM_LD);
	assert_true(in.wide_addr);
	assert_int_equal(in.type, SM_B128);
	assert_int_equal(in.dst[0].regs, 4);
	assert_int_equal(in.src[0].reg, 2);
	assert_int_equal(in.src[0].regs, 2);
	assert_int_equal(in.offset, 0x40000004);
	in = decoded(0xe4ffffff861c0810ull); /* ST.E [R2-...], R4 */
	assert_int_equal(in.op, SM_ST);
	assert_int_equal(in.offset, -0xf4);
	assert_int_equal(in.src[1].reg, 4);
	/* LDG.E.64.P R2, [R2], which is encoded as a TEX */
	in = decoded(0x6002908e7f9c0809ull);
	assert_int_equal(in.op, SM_LDG);
	assert_int_equal(in.type, SM_B64);
	assert_int_equal(in.dst[0].regs, 2);
	assert_true(in.wide_addr);
	assert_int_equal(in.offset, 0);
	in = decoded(0x7c800000089c140aull | 3ull << 39); /* LDC */
	assert_int_equal(in.op, SM_LDC);
	assert_int_equal(in.bank, 3);
	assert_int_equal(in.offset, 0x11);
	assert_int_equal(in.src[0].reg, 5);
}

TEST(compare_and_swap)
{
	struct sm_insn in = decoded(0x77800000031c1412ull); /* ATOM.CAS R4, [R5], R6, R7 */

	assert_int_equal(in.op, SM_ATOM_CAS);
	assert_int_equal(in.src[1].reg, 6);
	assert_int_equal(in.src[2].reg, 7);
	in = decoded(0x77900000031c1412ull); /* ATOM.CAS.64 R4, [R5], R6, R8 */
	assert_int_equal(in.type, SM_B64);
	assert_int_equal(in.src[1].regs, 2);
	assert_int_equal(in.src[2].reg, 8);
	in = decoded(0x77a00000031c1412ull); /* ATOM.CAS R4, [R5], R6, RZ */
	assert_int_equal(in.src[2].reg, SM_RZ);
	in = decoded(0x77c00000031c1412ull); /* ATOM.CAS R4, [R5], RZ, R6 */
	assert_int_equal(in.src[1].reg, SM_RZ);
	assert_int_equal(in.src[2].reg, 6);
}

TEST(conversions)
{
	struct sm_insn in = decoded(0xe5800c00031c6c12ull); /* F2I.S64.F32.TRUNC R4, R6 */

	assert_int_equal(in.type, SM_S64);
	assert_int_equal(in.stype[0], SM_F32);
	assert_int_equal(in.round, SM_RZ_MODE);
	assert_int_equal(in.dst[0].regs, 2);
	assert_int_equal(in.src[0].regs, 1);
	in = decoded(0xe5c03000031c8812ull); /* I2F.F32.S8 R4, R6.B3 */
	assert_int_equal(in.stype[0], SM_S8);
	assert_int_equal(in.src[0].sel, SM_SEL_B3);
	in = decoded(0xe5401000031c1812ull); /* F2F.F32.F16 R4, R6.H1 */
	assert_int_equal(in.src[0].sel, SM_SEL_H1);
	assert_false(in.to_int);
	in = decoded(0xe5402c00031c2812ull); /* F2F.F32.F32.TRUNC */
	assert_true(in.to_int);
	in = decoded(0xe5400000031c2812ull); /* F2F.F32.F32 */
	assert_false(in.to_int);
}

TEST(video)
{
	/* VADD4.UD.U8.U8.ACC R9, R0, R4.4567, R5 */
	struct sm_insn in = decoded(0xd1c015a4021c0025ull);

	assert_int_equal(in.type, SM_U32);
	assert_int_equal(in.vfinal, SM_V_ACC);
	assert_int_equal(in.src[0].swizzle, 0x3210);
	assert_int_equal(in.src[1].swizzle, 0x4567);
	assert_int_equal(in.lanes, 15);
	in = decoded(0xd04014a2021c002dull); /* VADD4.UD.U8.U8.XZ */
	assert_int_equal(in.lanes, 5);
	/* VADD2.UD.U16.U16 R13, R0.32, R4.23, R5 */
	in = decoded(0x20e015d6021c0035ull);
	assert_int_equal(in.src[0].swizzle, 0x32);
	assert_int_equal(in.src[1].swizzle, 0x23);
	in = decoded(0x38f8169c021c0031ull); /* VADD2.AVRG */
	assert_true(in.po && !in.src[0].neg && !in.src[1].neg);
	in = decoded(0x0020010103181411ull); /* VADD.UD.U8.U8 R4, R5.B2, R6.B2 */
	assert_int_equal(in.src[0].sel, SM_SEL_B2);
	assert_int_equal(in.src[1].sel, SM_SEL_B2);
	assert_int_equal(in.stype[1], SM_U8);
	/* VADD.UD.U8.S16 R4, R5, 0xffff, R0 */
	in = decoded(0x0010007fff9c1411ull);
	assert_int_equal(in.stype[1], SM_S16);
	assert_true(in.src[1].imm == UINT64_MAX);
}

TEST(branch_targets)
{
	struct sm_insn in = decoded(0x12007ffffc1c003cull); /* BRA to itself */

	assert_true(in.relative);
	assert_true((int64_t)in.src[0].imm == -8);
	in = decoded(0x108000000300003cull | 7ull << 18); /* JMP 0x6 */
	assert_false(in.relative);
	assert_true(in.src[0].imm == 6);
	in = decoded(0x12000100031c00bcull); /* BRA c[0x2][0x6] */
	assert_int_equal(in.src[0].kind, SM_CONST);
	assert_int_equal(in.src[0].bank, 2);
	assert_int_equal(in.offset, 6);
	in = decoded(0x12800000031c143cull); /* BRX R5 0x6 */
	assert_int_equal(in.src[0].reg, 5);
	assert_int_equal(in.offset, 6);
}

TEST(textures)
{
	/* TEX.LZ R4, R1, 0x50, 2D, 0x3 */
	struct sm_insn in = decoded(0x6000100e7f9c0411ull | 1ull << 39 | 0x50ull << 47);

	assert_int_equal(in.op, SM_TEX);
	assert_int_equal(in.tex.id, 0x50);
	assert_int_equal(in.tex.dim, SM_TEX_2D);
	assert_int_equal(in.tex.mask, 3);
	assert_int_equal(in.dst[0].regs, 2);
	assert_int_equal(in.src[0].regs, 2);
	assert_int_equal(in.src[1].regs, 0);
	/* TEX.LL.AOFFI.DC of an ARRAY_CUBE: seven source words */
	in = decoded(0x60003dfc031c1411ull);
	assert_int_equal(in.tex.dim, SM_TEX_ARRAY_CUBE);
	assert_int_equal(in.src[0].regs, 4);
	assert_int_equal(in.src[1].regs, 3);
}

/*
 * For buffers of each size up to the text's: the byte behind is not written, and the result is the
 * length of the whole text.
 */
TEST(print_keeps_to_its_buffer)
{
	char whole[256], part[256 + 8];
	struct sm_insn in;
	unsigned int i;
	int length;
	size_t size;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i += 7) {
		if (!sm_decode(table[i].word, 8, &in))
			continue;
		length = sm_print(&in, 8, whole, sizeof(whole));
		assert_int_equal(length, strlen(whole));
		for (size = 0; size <= (size_t)length + 1; size++) {
			memset(part, 0x5a, sizeof(part));
			assert_int_equal(sm_print(&in, 8, part, size), length);
			assert_int_equal(part[size], 0x5a);
			if (size) {
				assert_int_equal(strlen(part),
						 size > (size_t)length ? (size_t)length : size - 1);
				assert_memory_equal(part, whole, strlen(part));
			}
		}
	}
}

TEST_MAIN(NULL, NULL)
