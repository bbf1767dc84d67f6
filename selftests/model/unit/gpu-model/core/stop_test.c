// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole device, without a server: a guest's kernel that never ends must not keep a reset or the
 * end of the device from coming.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <gk110/class.h>
#include <gk110/mmu.h>

#include "gr/sm/exec.h"
#include "vbios/image.h"

#define VRAM_SIZE (80u << 20)

/* places in VRAM; the MMU is bypassed, so these are virtual addresses, too */
#define INST	0x00100000u
#define USERD	0x00200000u
#define GPFIFO	0x00300000u
#define PUSH	0x00301000u
#define RUNLIST 0x00302000u
#define QMD	0x00303000u
#define CODE	0x00304000u

#define BRA_SELF	0x12007ffffc1c003cull
#define SCHED		0x08b8b8a0a0a0a000ull
#define INC(subc, mthd) (0x20000000u | 1u << 16 | (subc) << 13 | (mthd) >> 2)
#define COMPUTE		1 /* subchannel */

#define HANG_S 60 /* what takes so long hangs */

static struct gk110 *g;
static bool hangs; /* the device can't be destroyed any more */
static struct engine_ops no_context;
static char rom[] = "/tmp/kvgpu-stop-test-XXXXXX";

static void bus_intr(void *bus, bool level, bool edge)
{
}

static const struct bus_ops bus = { .intr = bus_intr };

static void wr(uint32_t reg, uint32_t val)
{
	gk110_mmio_write(g, reg, 4, val);
}

static void vram_set(uint64_t at, uint32_t val)
{
	memcpy(g->vram + at, &val, 4);
}

static int device_setup(void **state)
{
	struct gk110_config cfg = { .vram_size = VRAM_SIZE, .vbios_path = rom };
	static struct image img;
	int fd = mkstemp(rom);

	image_make(&img, "k20m");
	if (fd < 0 || write(fd, img.rom, sizeof(img.rom)) != sizeof(img.rom))
		return -1;
	close(fd);
	board_find("k20m", &cfg.board);
	g = gk110_create(&cfg, &bus, NULL);
	unlink(rom);
	if (!g)
		return -1;
	/* GR without contexts needs no microcode */
	no_context = gr_engine;
	no_context.load = NULL;
	no_context.save = NULL;
	g->engine[0].ops = &no_context;
	return gk110_start(g);
}

static int device_teardown(void **state)
{
	if (!hangs)
		gk110_destroy(g);
	return 0;
}

static void qmd_set(unsigned int high, unsigned int low, uint32_t val)
{
	uint64_t at = QMD + low / 32 * 4, mask = (1ull << (high - low + 1)) - 1;
	uint32_t word;

	memcpy(&word, g->vram + at, 4);
	vram_set(at, word | (uint32_t)((val & mask) << low % 32));
}

/* many CTAs of one warp, each of which jumps to itself for ever */
static void endless_kernel(void)
{
	const uint64_t code[] = { SCHED, BRA_SELF };

	memcpy(g->vram + CODE, code, sizeof(code));
	qmd_set(415, 384, 1000); /* CTAs: width, height, depth */
	qmd_set(431, 416, 1);
	qmd_set(447, 432, 1);
	qmd_set(607, 592, 32); /* threads of a CTA */
	qmd_set(623, 608, 1);
	qmd_set(639, 624, 1);
	qmd_set(671, 669, QMD_L1_48KB);
	qmd_set(1503, 1496, 8); /* registers */
}

/* A channel as nouveau makes it, with one pushbuffer: the launch. */
static void channel(void)
{
	static const struct {
		uint32_t off, val;
	} ramfc[] = {
		{ 0x08, USERD },   { 0x10, 0xface },	 { 0x30, 0xfffff902 }, { 0x48, GPFIFO },
		{ 0x4c, 7 << 16 }, { 0x84, 0x20400000 }, { 0x94, 0x30000fff }, { 0x9c, 0x100 },
		{ 0xac, 0x1f },	   { 0xb8, 0xf8000000 }, { 0xf8, 0x10003080 }, { 0xfc, 0x10000010 },
	};
	static const uint32_t words[] = {
		INC(COMPUTE, M_SET_PROGRAM_REGION_A),  0,
		INC(COMPUTE, M_SET_PROGRAM_REGION_B),  CODE,
		INC(COMPUTE, M_SEND_PCAS_A),	       QMD >> 8,
		INC(COMPUTE, M_SEND_SIGNALING_PCAS_B), M_PCAS_SCHEDULE,
	};

	for (unsigned int i = 0; i < sizeof(ramfc) / sizeof(ramfc[0]); i++)
		vram_set(INST + ramfc[i].off, ramfc[i].val);
	memcpy(g->vram + PUSH, words, sizeof(words));
	vram_set(GPFIFO, PUSH);
	vram_set(GPFIFO + 4, sizeof(words) / 4 << 10);
	wr(FB_MMU_CTRL, (uint32_t)FB_MMU_CTRL_BYPASS);
	/* BAR1 shows VRAM, so USERD has its address there */
	wr(0x2254, 0x10000000 | USERD >> 12);
	wr(0x800000, 0x80000000 | INST >> 12);
	wr(0x800004, 0x400);
	wr(0x2270, RUNLIST >> 12); /* one entry: channel 0 */
	wr(0x2274, 1);
	bar_write(g, WIN_BAR1, USERD + 0x8c, 4, 1);
}

/* Wait until the grid asks for helper threads. */
static bool grid_runs(void)
{
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct sm *sm = g->gr->sm;
	bool runs = false;

	for (unsigned int i = 0; i < HANG_S * 1000 && !runs; i++) {
		nanosleep(&ms, NULL);
		pthread_mutex_lock(&sm->lock);
		runs = sm->run;
		pthread_mutex_unlock(&sm->lock);
	}
	return runs;
}

static void *reset_main(void *arg)
{
	gk110_reset(g);
	return NULL;
}

static void a_reset_ends_a_kernel_that_never_ends(void **state)
{
	struct timespec until;
	pthread_t thread;

	endless_kernel();
	channel();
	assert_true(grid_runs());
	assert_int_equal(pthread_create(&thread, NULL, reset_main, NULL), 0);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += HANG_S;
	hangs = pthread_timedjoin_np(thread, NULL, &until);
	assert_false(hangs);
	assert_null(g->gr->sm->run);

	/*
	 * the device works again: the kernel runs once more, and does not keep its end from coming
	 */
	channel();
	assert_true(grid_runs());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reset_ends_a_kernel_that_never_ends, device_setup,
						device_teardown),
	};

	alarm(5 * HANG_S); /* the device's end has no other limit */
	return cmocka_run_group_tests_name("stop", tests, NULL, NULL);
}
