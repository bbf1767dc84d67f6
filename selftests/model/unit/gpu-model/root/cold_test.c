// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole device, started un-POSTed: units answer what a real card's did before its boot scripts
 * ran; the driver's interpreter of boot scripts, on the model's own VBIOS, POSTs it; a reset undoes
 * that.
 */
#define _GNU_SOURCE
#include <selftests/unit_test.h>
#include <unistd.h>

#include "hw/post.h"
#include "model.h"
#include "vbios/image.h"

#define VRAM_SIZE (80u << 20)

static struct gk110 *g;
static struct image img;
static char rom[] = "/tmp/kvgpu-cold-test-XXXXXX";

static void bus_intr(void *bus, bool level, bool edge)
{
}

static void win_invalidate(void *bus, enum bar_window win)
{
}

static const struct bus_ops bus = { .intr = bus_intr, .win_invalidate = win_invalidate };

static u32 rd(void *ctx, u32 reg)
{
	return gk110_mmio_read(g, reg, 4);
}

static void wr(void *ctx, u32 reg, u32 val)
{
	gk110_mmio_write(g, reg, 4, val);
}

static u8 rd8(void *ctx, u32 reg)
{
	return gk110_mmio_read(g, reg, 1);
}

static void wr8(void *ctx, u32 reg, u8 val)
{
	gk110_mmio_write(g, reg, 1, val);
}

static void delay(void *ctx, unsigned int us)
{
}

static const struct hw_post_io io = { rd, wr, rd8, wr8, delay, NULL };

static int setup(void **state)
{
	struct gk110_config cfg = { .vram_size = VRAM_SIZE, .vbios_path = rom, .unposted = true };
	int fd = mkstemp(strcpy(rom, "/tmp/kvgpu-cold-test-XXXXXX"));

	image_make(&img, "k20m");
	if (fd < 0 || write(fd, img.rom, sizeof(img.rom)) != sizeof(img.rom))
		return -1;
	close(fd);
	board_find("k20m", &cfg.board);
	g = gk110_create(&cfg, &bus, NULL);
	unlink(rom);
	return g ? gk110_start(g) : -1;
}

static int teardown(void **state)
{
	gk110_destroy(g);
	return 0;
}

/* The K80's dump, by register: what does not depend on the board. */
static void is_cold(void)
{
	static const u32 want[][2] = {
		{ 0x000200, 0xc0002020 }, { 0x002390, 0xbad0da1f }, { 0x009200, 0xbad0da1f },
		{ 0x009400, 0xbad0da1f }, { 0x040040, 0xbad0da1f }, { 0x100800, 0xbadf1201 },
		{ 0x100c80, 0xbadf1201 }, { 0x137000, 0xbadf3000 }, { 0x17e200, 0xbadf3000 },
		{ 0x400100, 0xbadf1201 }, { 0x409100, 0xbadf1200 }, { 0x41a108, 0xbadf3000 },
		{ 0x700000, 0xffffffff },
	};
	u32 i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		if (rd(NULL, want[i][0]) != want[i][1])
			fail_msg("0x%06x: 0x%08x", want[i][0], rd(NULL, want[i][0]));
	assert_int_equal(rd(NULL, 0x2240c) & 2, 0);
	assert_int_equal(rd(NULL, 0) >> 20, 0x0f0);
	wr(NULL, 0x88050, 0); /* the ROM in its window */
	assert_int_equal(rd(NULL, 0x300000) & 0xffff, 0xaa55);
	wr(NULL, 0x110204, 0x1234); /* lost */
}

TEST(boot_scripts_post_the_card)
{
	static struct hw_post p;
	u32 i, mib = 0;

	is_cold();
	if (hw_post_run(&p, img.rom, sizeof(img.rom), &io))
		fail_msg("opcode at 0x%x %s", p.at, p.why);
	assert_int_equal(rd(NULL, 0x2240c) & 2, 2);
	assert_int_equal(rd(NULL, 0x110204), 0);
	assert_int_equal(rd(NULL, 0x10f290), 0x0a0e0e03);
	for (i = 0; i < 5; i++) /* the sixth partition is off */
		mib += rd(NULL, 0x11020c + 0x1000 * i);
	assert_int_equal(mib, VRAM_SIZE >> 20);
	wr(NULL, 0x200, ~0u); /* the scripts leave GR off */
	assert_int_equal(rd(NULL, 0x409604) & 0x1f, 5);
	/* PTIMER is on, and stands still until a driver has set its ratio */
	assert_int_equal(rd(NULL, 0x9210), 0);
	assert_int_equal(rd(NULL, 0x9400), rd(NULL, 0x9400));
	gk110_reset(g);
	is_cold();
}

TEST(units_that_are_off_do_not_answer)
{
	static const struct {
		u32 bit, reg, code;
	} unit[] = {
		{ 1 << 8, 0x002140, 0xbad0da1f },  { 1 << 8, 0x040108, 0xbad0da1f },
		{ 1 << 16, 0x009140, 0xbad0da1f }, { 1 << 29, 0x100c80, 0xbadf1201 },
		{ 1 << 12, 0x40013c, 0xbadf1201 }, { 1 << 3, 0x17e914, 0xbadf3000 },
	};
	static struct hw_post p;
	uint64_t errors;
	u32 i, was;

	assert_int_equal(hw_post_run(&p, img.rom, sizeof(img.rom), &io), 0);
	wr(NULL, 0x200, ~0u);
	for (i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		errors = g->stats.pri_errors;
		was = rd(NULL, unit[i].reg);
		assert_int_equal(g->stats.pri_errors, errors);
		wr(NULL, 0x200, ~unit[i].bit);
		assert_int_equal(rd(NULL, unit[i].reg), unit[i].code);
		wr(NULL, unit[i].reg, 1); /* lost */
		assert_int_equal(g->stats.pri_errors, errors + 2);
		wr(NULL, 0x200, ~0u);
		assert_int_not_equal(was & 1, 1);
		assert_int_equal(rd(NULL, unit[i].reg) & 1, 0);
		assert_int_equal(g->stats.pri_errors, errors + 2);
	}
}

enum mistake { NONE, GR_NOT_IN_RESET, NOT_ANNOUNCED, ONE_LEFT_OUT, TWO_SWAPPED, NR_MISTAKES };

/* nouveau's power-up of the GPCs (subdev/pmu/gk110.c) */
static void power_up(enum mistake m)
{
	static const u32 steps[16][2] = {
		{ 0x020520, 0xfffffffc }, { 0x020524, 0xfffffffe }, { 0x020524, 0xfffffffc },
		{ 0x020524, 0xfffffff8 }, { 0x020524, 0xffffffe0 }, { 0x020530, 0xfffffffe },
		{ 0x02052c, 0xfffffffa }, { 0x02052c, 0xfffffff0 }, { 0x02052c, 0xffffffc0 },
		{ 0x02052c, 0xffffff00 }, { 0x02052c, 0xfffffc00 }, { 0x02052c, 0xfffcfc00 },
		{ 0x02052c, 0xfff0fc00 }, { 0x02052c, 0xff80fc00 }, { 0x020528, 0xfffffffe },
		{ 0x020528, 0xfffffffc },
	};
	u32 i;

	wr(NULL, 0x200, m == GR_NOT_IN_RESET ? ~0u : ~(1u << 12));
	wr(NULL, 0x10a78c, m == NOT_ANNOUNCED ? 0 : 2);
	for (i = 0; i < 16; i++) {
		u32 at = m == TWO_SWAPPED && i >= 14 ? 29 - i : i;

		if (m != ONE_LEFT_OUT || i != 7)
			wr(NULL, steps[at][0], steps[at][1]);
	}
	wr(NULL, 0x10a78c, 0);
	wr(NULL, 0x200, ~0u & ~(1u << 27));
}

TEST(gpcs_have_power_after_all_steps)
{
	static struct hw_post p;
	enum mistake m;

	assert_int_equal(hw_post_run(&p, img.rom, sizeof(img.rom), &io), 0);
	for (m = NR_MISTAKES; m-- > NONE + 1;) {
		power_up(m);
		assert_int_equal(rd(NULL, 0x502608), 0xbadf1100);
		assert_int_equal(rd(NULL, 0x418010), 0xbadf1100);
	}
	power_up(NONE);
	assert_int_equal(rd(NULL, 0x502608) & 0x1f, 3);
	assert_int_equal(rd(NULL, 0x51a608 + 0x8000) & 0x1f, 2);
	assert_int_equal(rd(NULL, 0x409604) & 0x1f, 5);
	gk110_reset(g);
	wr(NULL, 0x200, ~0u);
	assert_int_equal(rd(NULL, 0x502608), 0xbadf1100);
}

/*
 * A K20m has no TPC 2 in GPC 3, no memory partition 5, and so five parts of the L2 cache. The K80's
 * dump has a first failed read of 0x130c00: 0x009084 is 0x80130c01, 0x00908c the code, and 0x001100
 * has bits 2 and 3.
 */
TEST(absent_registers_do_not_answer)
{
	static const u32 absent[][2] = {
		{ 0x130c00, 0xbadf1100 }, { 0x002278, 0xbad0011f }, { 0x00239c, 0xbad0011f },
		{ 0x001c0c, 0xbad0011f }, { 0x009000, 0xbad0011f }, { 0x100cc8, 0xbadf1002 },
		{ 0x10b000, 0xbadf1100 }, { 0x407400, 0xbadf1100 }, { 0x180000, 0xbadf1100 },
		{ 0x51d000, 0xbadf1100 }, { 0x528000, 0xbadf1100 }, { 0x11520c, 0xbadf1100 },
		{ 0x14b020, 0xbadf1100 }, { 0x9a0000, 0xbadf1100 },
	};
	static const u32 there[] = { 0x51c800, 0x11420c, 0x149020, 0x17e8dc, 0x6013d4, 0x002398 };
	static struct hw_post p;
	u32 i;

	assert_int_equal(hw_post_run(&p, img.rom, sizeof(img.rom), &io), 0);
	power_up(NONE);
	wr(NULL, 0x1100, ~0u);
	wr(NULL, 0x9084, 0);
	g->stats.pri_errors = 0;
	for (i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		assert_int_not_equal(rd(NULL, there[i]) >> 20, 0xbad);
	assert_int_equal(g->stats.pri_errors, 0);
	assert_int_equal(rd(NULL, 0x9084), 0);
	for (i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		wr(NULL, absent[i][0], 0x1234); /* lost */
		if (rd(NULL, absent[i][0]) != absent[i][1])
			fail_msg("0x%06x: 0x%08x", absent[i][0], rd(NULL, absent[i][0]));
		assert_int_equal(g->stats.pri_errors, 2 * (i + 1));
	}
	assert_int_equal(rd(NULL, 0x1100), 0xc);
	assert_int_equal(rd(NULL, 0x9084), 0x80130c03);
	assert_int_equal(rd(NULL, 0x9088), 0x1234);
	assert_int_equal(rd(NULL, 0x908c), 0xbadf1100);
}

/* nouveau's subdev/bus/gf100.c and subdev/privring/gk104.c acknowledge so */
TEST(failed_accesses_interrupt)
{
	static struct hw_post p;

	assert_int_equal(hw_post_run(&p, img.rom, sizeof(img.rom), &io), 0);
	wr(NULL, 0x12004c, 2);
	wr(NULL, 0x1100, ~0u);
	wr(NULL, 0x1140, 0xe);
	assert_int_equal(rd(NULL, 0x100) & 0x50000000, 0);
	rd(NULL, 0x2278);
	assert_int_equal(rd(NULL, 0x100) & 0x50000000, 0x10000000);
	assert_int_equal(rd(NULL, 0x1100), 8);
	wr(NULL, 0x9084, 0);
	wr(NULL, 0x1100, 8);
	assert_int_equal(rd(NULL, 0x100) & 0x50000000, 0);
	rd(NULL, 0x130c00);
	assert_int_equal(rd(NULL, 0x100) & 0x50000000, 0x50000000);
	assert_int_equal(rd(NULL, 0x1100), 4);
	assert_int_equal(rd(NULL, 0x9084), 0x80130c01);
	assert_int_equal(rd(NULL, 0x120058), 0x100);
	assert_int_equal(rd(NULL, 0x122120), 0x130c00);
	wr(NULL, 0x12004c, 2);
	assert_int_equal(rd(NULL, 0x120058), 0);
	wr(NULL, 0x1100, 4);
	assert_int_equal(rd(NULL, 0x100) & 0x50000000, 0);
	wr(NULL, 0x200, ~(1u << 8));
	rd(NULL, 0x2140);
	assert_int_equal(rd(NULL, 0x1100), 2);
	assert_int_equal(rd(NULL, 0x9084), 0x80130c01); /* the first one, not acknowledged */
}

TEST_MAIN(setup, teardown)
