// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up of the graphics engine on the fake chip. It must end with the registers that stock
 * nouveau ends with, load the falcons as it should, and keep the golden context where only the host
 * reaches it. nouveau_gr.regs is the recording for the comparison. With KVGPU_FW (a file made by
 * kvgpu-firmware) and KVGPU_GR_REFERENCE (a whole recording, with a line "OFFSET R=n W=n
 * first_read=v last=v" for each register) all registers are compared.
 */
#include <selftests/unit_test.h>
#include <stdio.h>

#include "chip.h"
#include "fwbuild.h"
#include "gk110/ltc.h"
#include "gk110/privring.h"
#include "gk110/therm.h"

#define REFERENCE "selftests/module/unit/hw/nouveau_gr.regs"

static struct fwbuild fw;

static int make_chip(void **state)
{
	fwbuild_make(&fw);
	chip_make(fw.data, fw.size);
	return 0;
}

static int free_chip(void **state)
{
	chip_free();
	return 0;
}

/* ------------------------------------------------------------------ against nouveau */

TEST(ends_as_nouveau_does)
{
	FILE *in = fopen(REFERENCE, "r");
	unsigned int reg, val, lines = 0, bad = 0;
	char line[256], count[16];

	assert_non_null(in);
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%x %x %15s", &reg, &val, count) != 3)
			continue;
		lines++;
		if (chip_reg(reg) == val &&
		    (count[0] == '-' || chip.writes[reg / 4] == strtoul(count, NULL, 10)))
			continue;
		print_message("# %06x: %08x after %u writes, nouveau %08x after %s\n", reg,
			      chip_reg(reg), chip.writes[reg / 4], val, count);
		bad++;
	}
	fclose(in);
	assert_int_equal(bad, 0);
	assert_true(lines > 400);
}

/* What the file has for a port; the port's data stays as it is until it is written again. */
static u32 want_port(u32 *at, u32 section, u32 reg)
{
	const struct fwfile *f = &chip.fw.file;
	u32 n = 0, i, k, val;

	for (i = 0; i < hw_fwfile_entries(f, section); i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, section, i);

		for (k = 0; k < e.count; k++, n++) {
			val = e.addr + k * e.pitch;
			if (reg == GR_MTHD)
				val = GR_MTHD_TRIGGER | FIELD_PREP(GR_MTHD_CLASS, e.type) |
				      FIELD_PREP(GR_MTHD_ADDR, val / 4);
			assert_int_equal(chip.port[*at].reg, reg);
			assert_int_equal(chip.port[*at].val, val);
			assert_int_equal(chip.port[*at].data, e.data);
			++*at;
		}
	}
	return n;
}

/* Each bundle and each method is written once, in the file's order, with its own value. */
TEST(bundles_and_methods_have_their_values)
{
	u32 at = 0;

	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_true(want_port(&at, KVGPU_FW_CTX_ICMD, GR_ICMD) > 3);
	assert_true(want_port(&at, KVGPU_FW_CTX_MTHD, GR_MTHD) > 3);
	assert_int_equal(at, chip.nr_port);
}

/* All offsets where the values may differ between a whole recording and hw/'s bring-up, and why. */
static const struct {
	u32 first, last;
	const char *why;
} expected[] = {
	{ 0x400100, 0x400108,
	  "write 1 to clear: the recording shows the chip's state, not the written value" },
	{ 0x400208, 0x400208,
	  "nouveau opens and closes the bundle port once more for a list that GK110 has not" },
	{ 0x408004, 0x408004, "buffer address" },
	{ 0x40800c, 0x40800c, "buffer address" },
	{ 0x409000, 0x409000, "trigger: reads 0" },
	{ 0x409180, 0x4091c4, "falcon ports: the recording shows no values" },
	{ 0x409500, 0x409504, "instance block address; command port reads 0" },
	{ 0x409840, 0x409840, "trigger: reads 0" },
	{ 0x409b04, 0x409b04, "instance block address" },
	{ 0x418808, 0x418808, "buffer address" },
	{ 0x418810, 0x418810, "buffer address" },
	{ 0x4188b4, 0x4188b8, "buffer address" },
	{ 0x419004, 0x419004, "buffer address" },
	{ 0x419848, 0x419848, "buffer address" },
	{ 0x41a180, 0x41a1c4, "falcon ports: the recording shows no values" },
};

static const char *explain(u32 reg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(expected); i++)
		if (reg >= expected[i].first && reg <= expected[i].last)
			return expected[i].why;
	return NULL;
}

/*
 * Even where the values may differ, the number of writes must agree. The only exception is the
 * switch of the bundle port (GR_ICMD_CTRL).
 */
static bool same(u32 reg, u32 last, u32 writes)
{
	const char *why = explain(reg);
	bool ok = chip.writes[reg / 4] == writes && (chip_reg(reg) == last || !writes);

	if (ok || (why && (chip.writes[reg / 4] == writes || reg == GR_ICMD_CTRL)))
		return true;
	print_message("# %06x: %08x after %u writes, nouveau %08x after %u\n", reg, chip_reg(reg),
		      chip.writes[reg / 4], last, writes);
	return false;
}

static void equals_whole_recording(void **state)
{
	const char *path = getenv("KVGPU_FW"), *reference = getenv("KVGPU_GR_REFERENCE");
	static u8 data[KVGPU_FW_MAX_SIZE], seen[GR_SIZE / 4];
	unsigned int reg, reads, writes, first, last, bad = 0, lines = 0;
	char line[256];
	size_t size;
	FILE *in;

	in = fopen(path, "rb");
	assert_non_null(in);
	size = fread(data, 1, sizeof(data), in);
	fclose(in);
	chip_free();
	chip_make(data, size);
	in = fopen(reference, "r");
	assert_non_null(in);
	/*
	 * begin with the values that the card had in registers that nouveau reads before it writes
	 */
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "%x R=%u W=%u first_read=%x last=%x", &reg, &reads, &writes,
			   &first, &last) == 5 &&
		    reads && writes && reg >= GR_BASE && reg < GR_BASE + GR_SIZE)
			chip_set(reg, first);
	chip_set(GR_FECS + FECS_SCRATCH(FECS_OS_STATUS), 0);
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	rewind(in);
	while (fgets(line, sizeof(line), in)) {
		if (sscanf(line, "%x R=%u W=%u first_read=%x last=%x", &reg, &reads, &writes,
			   &first, &last) != 5 ||
		    reg < GR_BASE || reg >= GR_BASE + GR_SIZE)
			continue;
		lines++;
		seen[(reg - GR_BASE) / 4] = 1;
		bad += !same(reg, last, writes);
	}
	fclose(in);
	for (reg = GR_BASE; reg < GR_BASE + GR_SIZE; reg += 4) {
		if (!chip.writes[reg / 4] || seen[(reg - GR_BASE) / 4])
			continue;
		print_message("# %06x: written, but not by nouveau\n", reg);
		bad++;
	}
	print_message("# %u registers compared\n", lines);
	assert_int_equal(bad, 0);
	assert_true(lines > 900);
}

/* ------------------------------------------------------------------ shape */

TEST(reads_the_shape)
{
	static const u8 tiles[] = { 0, 1, 2, 3, 4 };
	unsigned int per_gpc[5] = {}, i;

	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip.hw.topo.gpcs, 5);
	assert_int_equal(chip.hw.topo.rops, 5);
	assert_int_equal(chip.hw.topo.fbps, 5);
	assert_int_equal(chip.hw.topo.tpcs[2], 3);
	assert_int_equal(chip.hw.topo.tpcs[3], 2);
	assert_int_equal(chip.hw.topo.ppc_mask[0][1], 4);
	assert_int_equal(chip.hw.topo.r17e91c, 0x03040082);
	assert_int_equal(chip.hw.topo.r17e920, 0x000fffff);
	assert_int_equal(chip.priv.gr.tpc_total, 13);
	assert_int_equal(chip.priv.gr.nr_sm, 13);
	for (i = 0; i < 13; i++)
		per_gpc[chip.priv.gr.tile[i]]++;
	for (i = 0; i < 5; i++)
		assert_int_equal(per_gpc[tiles[i]], chip.hw.topo.tpcs[i]);
	assert_int_equal(chip.priv.gr.tile[13], 0xff);
}

/*
 * Must hold for any card of the family: each TPC is in exactly one of the two halves of every
 * ratio, and each GPC gets as many tiles as it has TPCs. The caller tries all shapes of up to 3
 * GPCs, and some of 4 and 5.
 */
static void check_shape(unsigned int gpcs, const u8 *tpcs)
{
	unsigned int g, i, tiles;
	u64 all = 0, a, b;

	for (g = 0; g < gpcs; g++)
		all |= (u64)((1u << tpcs[g]) - 1) << (8 * g);
	for (i = 0; i < GR_PD_RATIO_NR; i++) {
		a = chip_reg(GR_PD_ALPHA_RATIO(i, 0)) | (u64)chip_reg(GR_PD_ALPHA_RATIO(i, 1))
								<< 32;
		b = chip_reg(GR_PD_BETA_RATIO(i, 0)) | (u64)chip_reg(GR_PD_BETA_RATIO(i, 1)) << 32;
		assert_true((a | b) == all && !(a & b));
	}
	for (g = 0; g < gpcs; g++) {
		for (i = 0, tiles = 0; i < sizeof(chip.priv.gr.tile); i++)
			tiles += chip.priv.gr.tile[i] == g;
		assert_int_equal(tiles, tpcs[g]);
	}
}

/* What nouveau has of its own for a GK110B: two lists, and the limit of tokens. */
TEST(a_gk110b_gets_its_own_lists)
{
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip_reg(0x400080), 0x11);
	assert_int_equal(chip_reg(0x419eb0) & 0xfff, 0x440);
	assert_int_equal(chip_reg(0x4064c8), 0x180 << 16 | 0x7c0);
	free_chip(NULL);
	make_chip(NULL);
	chip.hw.topo.boot0 = 0x0f1000a1;
	hw_fwfile_gk110b(&chip.fw.file);
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip_reg(0x400080), 0x1b);
	assert_int_equal(chip_reg(0x419eb0) & 0xfff, 0x44b);
	assert_int_equal(chip_reg(0x4064c8), 0x180 << 16 | 0x600);
}

TEST(every_shape_of_the_family)
{
	unsigned int code, gpcs, g, total, nr = 1;
	u8 tpcs[5];

	for (gpcs = 1; gpcs <= 5; gpcs++) {
		nr *= 3; /* of shapes with so many GPCs; all of them, or a part of the many */
		for (code = 0; code < nr; code += gpcs < 5 ? 1 : 7) {
			for (g = 0, total = code; g < gpcs; g++, total /= 3)
				tpcs[g] = 1 + total % 3;
			free_chip(NULL);
			make_chip(NULL);
			chip_set(GR_FECS + FECS_UNITS, 5 << 16 | gpcs);
			for (g = 0; g < gpcs; g++) {
				chip_set(GR_GPC(g, GPC_GPCCS + GPCCS_UNITS), tpcs[g]);
				chip_set(GR_GPC(g, GPC_PPC_TPC_MASK(0)), tpcs[g] == 3 ? 3 : 1);
				chip_set(GR_GPC(g, GPC_PPC_TPC_MASK(1)), tpcs[g] == 3 ? 4 :
									 tpcs[g] == 2 ? 2 :
											0);
			}
			assert_int_equal(hw_gr_init(&chip.hw), 0);
			check_shape(gpcs, tpcs);
		}
	}
}

/* ------------------------------------------------------------------ falcons */

/*
 * Reads a register list in the falcon's data memory: the words between the list's head and its tail
 * (the words at @slot and behind it) name registers as offsets from @base. Puts the registers into
 * @out, and returns their number.
 */
static unsigned int read_list(const struct falcon *f, u32 slot, u32 base, u32 *out)
{
	u32 at, n = 0, i;

	for (at = f->dmem[slot / 4]; at < f->dmem[slot / 4 + 1]; at += 4)
		for (i = 0; i <= FIELD_GET(CTX_LIST_COUNT, f->dmem[at / 4]); i++)
			out[n++] = base + (f->dmem[at / 4] & CTX_LIST_ADDR) + 4 * i;
	return n;
}

static unsigned int want_list(u32 id, u32 *out)
{
	const struct fwfile *f = &chip.fw.file;
	u32 n = 0, i, k;

	for (i = 0; i < hw_fwfile_entries(f, id); i++) {
		struct fwfile_entry e = hw_fwfile_entry(f, id, i);

		for (k = 0; k < e.count; k++)
			out[n++] = e.addr + k * e.pitch;
	}
	return n;
}

TEST(falcons_are_loaded)
{
	const struct fwfile *f = &chip.fw.file;
	u32 got[512], want[512], n, i;

	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_false(chip.fecs.outside || chip.gpccs.outside);
	for (i = 0; i < 128; i++)
		assert_int_equal(chip.fecs.imem[i],
				 i < 70 ? hw_fwfile_word(f, KVGPU_FW_FECS_CODE, i) : 0);
	assert_int_equal(chip.fecs.tags, 2);
	assert_int_equal(chip.gpccs.tags, 1);
	assert_int_equal(chip.writes[(GR_FECS + FALCON_IMEMD(0)) / 4], 128);
	assert_int_equal(chip.fecs.dmem[2], hw_fwfile_word(f, KVGPU_FW_FECS_DATA, 2));

	want[0] = 0x17e91c;
	want[1] = 0x17e920;
	n = 2 + want_list(KVGPU_FW_CTX_HUB, want + 2);
	assert_int_equal(read_list(&chip.fecs, FECS_OS_LIST_HEAD, 0, got), n);
	assert_memory_equal(got, want, n * 4);
	/* 40 registers in a row: one word holds 32 at most, so there are two words */
	assert_int_equal(chip.fecs.dmem[0x304 / 4], 31u << 26 | 0x404004);

	n = want_list(KVGPU_FW_CTX_GPC_0, want);
	n += want_list(KVGPU_FW_CTX_GPC_1, want + n);
	assert_int_equal(read_list(&chip.gpccs, GPCCS_OS_LIST_GPC, GR_GPCS(0), got), n);
	assert_memory_equal(got, want, n * 4);
	n = want_list(KVGPU_FW_CTX_TPC, want);
	assert_int_equal(read_list(&chip.gpccs, GPCCS_OS_LIST_TPC, GR_TPCS(0), got), n);
	assert_memory_equal(got, want, n * 4);
	n = want_list(KVGPU_FW_CTX_PPC, want);
	assert_int_equal(read_list(&chip.gpccs, GPCCS_OS_LIST_PPC, GR_PPCS(0), got), n);
	assert_memory_equal(got, want, n * 4);
}

/* ------------------------------------------------------------------ golden context */

TEST(golden_is_kept_apart)
{
	struct hw_gr *gr = &chip.priv.gr;
	const u8 *image;
	struct kvgpu_vram copy;
	u32 i, pages = 0;

	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip.hw.gr_ctx_size, 0x2000);
	image = (const u8 *)gr->golden.cpu;
	assert_int_equal(image[0], 0);
	assert_int_equal(image[256], 0x5a);
	/*
	 * no page of the golden context is in the address space any more, and the TLBs were flushed
	 * afterwards
	 */
	for (i = 0; i < 32768; i++) {
		u64 pte = ((u64 *)gr->table.cpu)[i], at = FIELD_GET(GMMU_PTE_ADDR, pte) << 12;

		pages += !!pte;
		assert_false(pte && at >= gr->golden.at.v &&
			     at < gr->golden.at.v + gr->golden.size);
	}
	assert_int_equal(pages, (GR_PAGEPOOL_SIZE + GR_BUNDLE_SIZE + gr->attrib.size) / 4096);
	assert_int_equal(chip.tlb_flushes, 2);
	assert_int_equal(hw_vram_rd32(&gr->inst, GR_INST_CTX_LO), 0);
	assert_int_equal(kvgpu_hw_vram_alloc(&chip.hw, 0x2000, 4096, &copy), 0);
	assert_int_equal(kvgpu_hw_gr_ctx_init(&chip.hw, copy.at, 0, 0x2000), 0);
	assert_memory_equal(copy.cpu, image, 0x2000);
}

TEST(context_size_is_rounded)
{
	chip.ctx_size = 0x2804;
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip.hw.gr_ctx_size, 0x3000);
}

/* ------------------------------------------------------------------ reset */

TEST(comes_back_after_a_reset)
{
	u8 *before = malloc(0x2000);
	unsigned int resets, flushes;

	assert_int_equal(hw_gr_init(&chip.hw), 0);
	memcpy(before, chip.priv.gr.golden.cpu, 0x2000);
	resets = chip.resets;
	flushes = chip.tlb_flushes;
	assert_int_equal(hw_gr_reinit(&chip.hw), 0);
	assert_true(chip.resets > resets);
	assert_int_equal(chip.tlb_flushes, flushes);
	assert_int_equal(chip_reg(GR_CTRL), GR_CTRL_RESTART | GR_CTRL_FIFO);
	assert_memory_equal(before, chip.priv.gr.golden.cpu, 0x2000);
	chip.ctx_size = 0x3000;
	assert_int_equal(hw_gr_reinit(&chip.hw), -EIO);
	free(before);
}

TEST(fini_gives_all_back)
{
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	hw_gr_fini(&chip.hw);
	assert_int_equal(chip.vram_used, 0);
	assert_false(chip_reg(PMC_ENABLE) & PMC_ENABLE_GR);
	assert_int_equal(chip_reg(PMC_ENABLE) | PMC_ENABLE_GR | PMC_ENABLE_BLG, ~0u);
}

/* ---------------------------------------------------------- what does not work ends in an error */

static const struct {
	const char *name;
	unsigned int stuck;
	int want;
} stuck[] = {
	{ "engine never idle", STUCK_IDLE, -ETIMEDOUT },
	{ "context switch never ends", STUCK_CHSW, -ETIMEDOUT },
	{ "bundle never ends", STUCK_ICMD, -ETIMEDOUT },
	{ "power mode never changes", STUCK_FE_PWR, -ETIMEDOUT },
	{ "FECS does not start", STUCK_START, -ETIMEDOUT },
	{ "FECS does not take the channel", STUCK_SET_CHAN, -ETIMEDOUT },
	{ "FECS does not save", STUCK_UNLOAD, -ETIMEDOUT },
	{ "FECS saves nothing", STUCK_SAVE, -EIO },
	{ "card fell off the bus", STUCK_BUS, -EIO },
};

/*
 * FECS would apply an image's patches with all rights, in each context that is made of the image.
 * So bring-up refuses an image that has any.
 */
TEST(an_image_with_patches_is_refused)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		free_chip(NULL);
		make_chip(NULL);
		chip.patches[i] = 1 + i;
		assert_int_equal(hw_gr_init(&chip.hw), -EIO);
	}
}

/*
 * In its debug mode the MMU reads and writes these two pages. Whatever the registers held before,
 * they must name pages of the host.
 */
TEST(the_mmus_debug_pages_are_the_hosts)
{
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip_reg(GR_GPCS(GPC_MMU_DEBUG_WR)), chip.priv.gr.mmu_wr.at.v >> 8);
	assert_int_equal(chip_reg(GR_GPCS(GPC_MMU_DEBUG_RD)), chip.priv.gr.mmu_rd.at.v >> 8);
	assert_int_not_equal(chip.priv.gr.mmu_wr.at.v, chip.priv.gr.mmu_rd.at.v);
}

TEST(every_wait_ends)
{
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(stuck); i++) {
		free_chip(NULL);
		make_chip(NULL);
		chip.stuck = stuck[i].stuck;
		ret = hw_gr_init(&chip.hw);
		if (ret != stuck[i].want || chip_ns() > 5000000000ull || !chip.errors)
			fail_msg("%s: %d after %llu ns with %d messages", stuck[i].name, ret,
				 (unsigned long long)chip_ns(), chip.errors);
		hw_gr_fini(&chip.hw);
		assert_int_equal(chip.vram_used, 0);
		assert_null(chip.priv.gr_lock.owner);
	}
}

/* The units' answers decide, not a power step that says it is not done: nouveau goes on, too. */
TEST(a_stuck_power_step_is_passed_over)
{
	chip.stuck = STUCK_POWER;
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip_reg(PTHERM_PGOB(2)), 0xfffffffc);
	assert_true(chip_ns() < 5000000000ull);
	hw_gr_fini(&chip.hw);
	free_chip(NULL);
	make_chip(NULL);
	chip.stuck = STUCK_POWER | STUCK_RING;
	chip.ring_lost = true; /* what GPCs without power look like */
	assert_int_equal(hw_gr_init(&chip.hw), -EIO);
	assert_true(chip.errors > 0);
	hw_gr_fini(&chip.hw);
}

/* As after a driver that has left the GPCs without power: the register ring has to look again. */
TEST(a_ring_that_lost_gpcs_finds_them)
{
	chip.ring_lost = true;
	assert_int_equal(hw_gr_init(&chip.hw), 0);
	assert_int_equal(chip.hw.topo.gpcs, 5);
	chip.ring_lost = true;
	assert_int_equal(hw_gr_reinit(&chip.hw), 0);
	/* a ring that has its units is left alone */
	chip.writes[PRIVRING_COMMAND / 4] = 0;
	assert_int_equal(hw_gr_reinit(&chip.hw), 0);
	assert_int_equal(chip.writes[PRIVRING_COMMAND / 4], 0);
}

TEST(memory_runs_out)
{
	int n, ret = -ENOMEM;

	for (n = 0; ret; n++) {
		free_chip(NULL);
		make_chip(NULL);
		chip.allocs_left = n;
		ret = hw_gr_init(&chip.hw);
		assert_true(ret == (n < 9 ? -ENOMEM : 0));
		hw_gr_fini(&chip.hw);
		assert_int_equal(chip.vram_used, 0);
	}
}

TEST(refuses_odd_shapes)
{
	static const struct {
		u32 reg, val;
	} odd[] = {
		{ GR_FECS + FECS_UNITS, 0 },
		{ GR_FECS + FECS_UNITS, 5 << 16 | 9 },
		{ GR_FECS + FECS_UNITS, 5 },
		{ GR_FECS + FECS_UNITS, ~0u },
		{ GR_GPC(0, GPC_GPCCS + GPCCS_UNITS), 0 },
		{ GR_GPC(0, GPC_GPCCS + GPCCS_UNITS), 31 },
		{ GR_GPC(1, GPC_PPC_TPC_MASK(0)), 0xbadf1100 },
		{ GR_FECS + FALCON_CAPS, 0x201 },
		{ GR_GPCCS_BCAST + FALCON_CAPS, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		free_chip(NULL);
		make_chip(NULL);
		chip_set(odd[i].reg, odd[i].val);
		assert_true(hw_gr_init(&chip.hw) < 0);
		assert_true(chip.errors > 0);
		hw_gr_fini(&chip.hw);
	}
}

TEST(refuses_odd_context_sizes)
{
	static const u32 sizes[] = { 0, 0x100, 0xffffffff, 0x80000000, 0x400001 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		free_chip(NULL);
		make_chip(NULL);
		chip.ctx_size = sizes[i];
		assert_int_equal(hw_gr_init(&chip.hw), -EIO);
		hw_gr_fini(&chip.hw);
	}
}

TEST(lists_stay_in_memory)
{
	static const u32 heads[] = { 0x302, 0xffff0000, 0x4004 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		free_chip(NULL);
		fwbuild_make(&fw);
		fwbuild_words(&fw, KVGPU_FW_FECS_DATA)[1] = heads[i];
		fwbuild_seal(&fw);
		chip_make(fw.data, fw.size);
		assert_int_equal(hw_gr_init(&chip.hw), -EIO);
		assert_false(chip.fecs.outside);
		hw_gr_fini(&chip.hw);
	}
	free_chip(NULL);
	fwbuild_make(&fw);
	fwbuild_words(&fw, KVGPU_FW_FECS_DATA)[1] = 0x3ffc;
	fwbuild_seal(&fw);
	chip_make(fw.data, fw.size);
	assert_int_equal(hw_gr_init(&chip.hw), -ENOSPC);
	assert_false(chip.fecs.outside);
	hw_gr_fini(&chip.hw);
}

/* ------------------------------------------------------------------ exceptions */

TEST(acknowledges_sources_first)
{
	const u32 mp = GR_TPC(2, 1, TPC_MP_GLOBAL_ESR), arm = GR_ESR_ENABLE | GR_ESR_CLEAR;

	assert_int_equal(hw_gr_init(&chip.hw), 0);
	chip_set(GR_INTR, GR_INTR_TRAP | GR_INTR_FECS);
	chip_set(GR_TRAP, GR_TRAP_GPC | GR_TRAP_MACRO | GR_TRAP_ROP);
	chip_set(GR_TRAP_GPC_MASK, BIT(2));
	chip_set(GR_GPC(2, GPC_GPCCS + GPCCS_TRAP), GPCCS_TRAP_TPC(1) | GPCCS_TRAP_ZCULL);
	chip_set(GR_TPC(2, 1, TPC_TRAP), TPC_TRAP_MP | TPC_TRAP_TEX);
	chip_set(mp, MP_GLOBAL_MULTIPLE_WARP_ERRORS);
	chip_set(GR_TPC(2, 1, TPC_MP_WARP_ESR), MP_WARP_ILLEGAL_INSTR_ENCODING);
	chip_set(GR_FECS + FECS_INTR_UP, FECS_INTR_UP_WATCHDOG);
	memset(chip.writes, 0, CHIP_BAR0 / 4 * sizeof(u32));
	hw_gr_ack(&chip.hw);
	assert_int_equal(chip_reg(GR_TPC(2, 1, TPC_MP_WARP_ESR)), 0);
	assert_int_equal(chip_reg(mp), MP_GLOBAL_MULTIPLE_WARP_ERRORS);
	assert_int_equal(chip.writes[mp / 4], 1);
	assert_int_equal(chip_reg(GR_TPC(2, 1, TPC_TEX_ESR)), arm);
	assert_int_equal(chip.writes[GR_TPC(2, 1, TPC_POLY_ESR) / 4], 0);
	assert_int_equal(chip.writes[GR_TPC(2, 0, TPC_TEX_ESR) / 4], 0);
	assert_int_equal(chip.writes[GR_GPC(2, GPC_ZCULL_ESR) / 4], 1);
	assert_int_equal(chip.writes[GR_GPC(1, GPC_ZCULL_ESR) / 4], 0);
	assert_int_equal(chip_reg(GR_MME_ESR), arm);
	assert_int_equal(chip.writes[GR_FE_ESR / 4], 0);
	assert_int_equal(chip.writes[GR_ROP(4, ROP_ZROP_ESR) / 4], 1);
	assert_int_equal(chip_reg(GR_FECS + FECS_INTR_UP_CLR), FECS_INTR_UP_WATCHDOG);
	assert_int_equal(chip_reg(GR_INTR), GR_INTR_TRAP | GR_INTR_FECS);
	assert_int_equal(chip_reg(GR_CTRL), GR_CTRL_RESTART | GR_CTRL_FIFO);
	assert_int_equal(chip.writes[GR_CTRL / 4], 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, make_chip, free_chip)

	const struct CMUnitTest with_files[] = { T(equals_whole_recording) };
	int failed;

	chip_log(getenv("KVGPU_TEST_LOG"));
	failed = unit_tests_run(make_chip, free_chip, NULL, NULL);
	if (getenv("KVGPU_FW") && getenv("KVGPU_GR_REFERENCE"))
		failed += cmocka_run_group_tests(with_files, NULL, NULL);
	return failed;
}
