// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compute launches: what the end of a grid releases and reports. Traps are read and acknowledged as
 * nouveau's gf100_gr_trap_{gpc,tpc,mp}() do.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gr/fake.h"
#include "gk110/qmd.h"

#define PD	0x400000u
#define INST	0x10000u
#define CTX	0x100000u
#define QMD	0x1000u /* an address in the channel's address space */
#define CODE	0x20000u /* address of the program region */
#define PROGRAM 0x140u
#define SEM0	0x3000u
#define SEM1	0x3010u

#define EXIT  0x18000000001c003cull
#define NOP   0x85800000001c3c02ull
#define SCHED 0x08b8b8a0a0a0a000ull

struct world {
	struct fake *f;
	struct chan c;
};

static void code(struct world *w, unsigned int at, uint64_t insn)
{
	vram32_set(w->f, PD + CODE + PROGRAM + 8 * at, insn);
	vram32_set(w->f, PD + CODE + PROGRAM + 8 * at + 4, insn >> 32);
}

static void qmd_set(struct world *w, uint32_t va, unsigned int high, unsigned int low, uint32_t val)
{
	for (unsigned int b = low; b <= high; b++) {
		uint64_t addr = PD + va + b / 32 * 4;
		uint32_t bit = 1u << b % 32;

		vram32_set(w->f, addr,
			   val & (1u << (b - low)) ? vram32(w->f, addr) | bit :
						     vram32(w->f, addr) & ~bit);
	}
}

static void qmd_make(struct world *w, uint32_t va, uint32_t sem, uint32_t payload)
{
	memset(w->f->g.vram + PD + va, 0, QMD_BYTES);
	qmd_set(w, va, 287, 256, PROGRAM);
	qmd_set(w, va, 415, 384, 4);
	qmd_set(w, va, 431, 416, 2);
	qmd_set(w, va, 447, 432, 1);
	qmd_set(w, va, 583, 580, 1);
	qmd_set(w, va, 579, 576, 7);
	qmd_set(w, va, 607, 592, 33);
	qmd_set(w, va, 623, 608, 1);
	qmd_set(w, va, 639, 624, 1);
	qmd_set(w, va, 671, 669, QMD_L1_48KB);
	qmd_set(w, va, 1503, 1496, 8);
	qmd_set(w, va, 202, 202, 1);
	qmd_set(w, va, 767, 736, sem);
	qmd_set(w, va, 799, 799, QMD_RELEASE_ONE_WORD);
	qmd_set(w, va, 831, 800, payload);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->f = fake_create();
	fake_enable_exceptions(w->f);
	fake_instance(w->f, INST, PD, CTX);
	fake_boot_nouveau(w->f);
	fake_chan(w->f, &w->c, 7, INST);
	w->f->charging = &w->c;
	if (gr_engine.load(&w->f->g, 0, &w->c))
		return -1;
	/*
	 * set the initial values of the state: a golden image would have them, this image is all
	 * zeros
	 */
	state_reset(w->f->g.gr);
	method(w->f, &w->c, 1, M_SET_PROGRAM_REGION_A, 0);
	method(w->f, &w->c, 1, M_SET_PROGRAM_REGION_B, CODE);
	code(w, 0, SCHED);
	code(w, 1, EXIT);
	qmd_make(w, QMD, SEM0, 0x1234);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	fake_destroy(w->f);
	free(w);
	return 0;
}

static enum eng_ret launch(struct world *w, uint32_t va)
{
	method(w->f, &w->c, 1, M_SEND_PCAS_A, va >> 8);
	return method(w->f, &w->c, 1, M_SEND_SIGNALING_PCAS_B, 3);
}

static uint32_t sem(struct world *w, uint32_t va)
{
	return vram32(w->f, PD + va);
}

static void empty_kernel_releases_one_word(void **state)
{
	struct world *w = *state;

	vram32_set(w->f, PD + SEM0 + 4, 0x77);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0x1234);
	assert_int_equal(sem(w, SEM0 + 4), 0x77);
	assert_int_equal(sem(w, SEM1), 0);
	assert_int_equal(w->f->irq_lines, 0);
	assert_int_equal(atomic_load(&w->f->g.stats.gr_launches), 1);
}

static void both_releases_are_written(void **state)
{
	struct world *w = *state;

	qmd_set(w, QMD, 799, 799, QMD_RELEASE_FOUR_WORDS);
	qmd_set(w, QMD, 203, 203, 1);
	qmd_set(w, QMD, 863, 832, SEM1);
	qmd_set(w, QMD, 890, 890, 1);
	qmd_set(w, QMD, 895, 895, QMD_RELEASE_ONE_WORD);
	qmd_set(w, QMD, 927, 896, 5);
	vram32_set(w->f, PD + SEM1, 10);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0x1234);
	assert_int_equal(sem(w, SEM0 + 8), w->f->time - 32);
	assert_int_equal(sem(w, SEM1), 15);
}

static void only_the_schedule_bit_launches(void **state)
{
	struct world *w = *state;

	method(w->f, &w->c, 1, M_SEND_PCAS_A, QMD >> 8);
	assert_int_equal(method(w->f, &w->c, 1, M_SEND_SIGNALING_PCAS_B, 1), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0);
}

static void nops_before_the_exit_are_empty_too(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 1; i < 8; i++)
		code(w, i, NOP);
	code(w, 8, SCHED);
	code(w, 9, EXIT);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0x1234);
}

/* Acknowledges a trap of SM 0, as nouveau does from gf100_gr_intr() down to gf100_gr_trap_mp(). */
static void acknowledge_sm_trap(struct world *w, uint32_t warp_error, uint32_t global_error)
{
	struct fake *f = w->f;

	assert_int_equal(f->irq_lines, 1 << 12);
	assert_int_equal(rd32(f, 0x400100), 1 << 21);
	assert_int_equal(rd32(f, 0x400108), 1 << 24);
	assert_int_equal(rd32(f, 0x400118), 1);
	assert_int_equal(rd32(f, 0x502c90), 1 << 16);
	assert_int_equal(rd32(f, 0x504508), 2);
	assert_int_equal(rd32(f, 0x504648) & 0xffff, warp_error);
	assert_int_equal(rd32(f, 0x504650), global_error);
	wr32(f, 0x504648, 0);
	wr32(f, 0x504650, rd32(f, 0x504650));
	assert_int_equal(rd32(f, 0x504508), 0);
	wr32(f, 0x502c90, 1 << 16);
	assert_int_equal(rd32(f, 0x502c90), 0);
	wr32(f, 0x400118, 1);
	wr32(f, 0x400108, 1 << 24);
	wr32(f, 0x400100, 1 << 21);
	assert_int_equal(f->irq_lines, 0);
	assert_true(gr_engine.stalled(&f->g, 0));
	wr32(f, 0x400500, 0x10001);
	assert_false(gr_engine.stalled(&f->g, 0));
}

static void illegal_words_stop_the_grid_and_release_nothing(void **state)
{
	static const uint64_t programs[][3] = {
		{ SCHED, 0x3f, EXIT },
		{ SCHED, NOP, ~0ull },
		{ ~0ull, 0x3f, EXIT }, /* the scheduling word may hold anything */
	};
	struct world *w = *state;

	for (unsigned int i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		for (unsigned int j = 0; j < 3; j++)
			code(w, j, programs[i][j]);
		assert_int_equal(launch(w, QMD), ENG_STALL);
		assert_int_equal(sem(w, SEM0), 0);
		acknowledge_sm_trap(w, 9, 0);
	}
}

/* 7: the predicate that is always true */
#define OP(top, class) ((uint64_t)(top) << 54 | 7 << 18 | (class))
#define ACCESS(top, type, reg, offset) \
	(OP(top, 2) | (uint64_t)(type) << 51 | (uint64_t)(offset) << 23 | 255 << 10 | (reg) << 2)
#define WORD 4
#define PAIR 5

/*
 * Errors that stop a warp, with the codes for them in nouveau's gf100_mp_warp_error and
 * gf100_mp_global_error.
 */
static void errors_of_warps_have_their_codes(void **state)
{
	static const struct {
		const char *what;
		uint64_t insn;
		uint32_t warp, global;
	} errors[] = {
		{ "CAL itself", OP(0x04c, 0) | 0xfffff8ull << 23, 0x01, 0 },
		{ "BRA to half a word", OP(0x048, 0) | 0xf << 2 | 4ull << 23, 0x05, 0 },
		{ "LDS.64 R1", ACCESS(0x1e9, PAIR, 1, 0), 0x08, 0 },
		{ "no such encoding", 0x3f, 0x09, 0 },
		{ "R2B", OP(0x218, 2), 0x0b, 0 },
		{ "MOV R0, c[0x5][0x140]", 0x64c03c00281c0002ull | 5ull << 39, 0x0c, 0 },
		{ "MOV32I R200", 0x740000091a1fc002ull | 200 << 2, 0x0d, 0 },
		{ "LDS behind shared memory", ACCESS(0x1e9, WORD, 0, 0x100), 0x0e, 0 },
		{ "LDL behind local memory", ACCESS(0x1e8, WORD, 0, 0x100), 0x0e, 0 },
		{ "STL below local memory", ACCESS(0x1ea, WORD, 0, 0xfffff0), 0x0e, 0 },
		{ "LDS of half a word", ACCESS(0x1e9, WORD, 0, 2), 0x0f, 0 },
		{ "ST.E.WT [0x7002]", 0xfc800038011ffc00ull, 0x0f, 0 },
		{ "ATOM.E.ADD in the shared window",
		  OP(0x1a0, 2) | 1ull << 51 | 0x40000ull << 31 | 255 << 10 | 255 << 2, 0x10, 0 },
		{ "LDC R0, c[0x5][0x0]", ACCESS(0x1f2, WORD, 0, 0) | 5ull << 39, 0x12, 0 },
		{ "BPT.TRAP", OP(0, 0) | 3 << 8, 0, 0x10 },
		{ "BPT.PAUSE", OP(0, 0) | 2 << 8, 0, 0x20 },
	};
	struct world *w = *state;

	method(w->f, &w->c, 1, M_SET_SHARED_MEMORY_WINDOW, 0x40000);
	for (unsigned int i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		enum eng_ret ret;

		code(w, 1, errors[i].insn);
		code(w, 2, EXIT);
		ret = launch(w, QMD);
		if (ret != ENG_STALL || (rd32(w->f, 0x504648) & 0xffff) != errors[i].warp)
			print_error("%s: warp error %x\n", errors[i].what, rd32(w->f, 0x504648));
		assert_int_equal(ret, ENG_STALL);
		assert_int_equal(sem(w, SEM0), 0);
		acknowledge_sm_trap(w, errors[i].warp, errors[i].global);
	}
	/* the engine can run the next grid */
	code(w, 1, EXIT);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0x1234);
}

static void a_store_reaches_memory_before_the_release(void **state)
{
	struct world *w = *state;

	code(w, 1, 0x740000091a1fc002ull); /* MOV32I R0, 0x1234 */
	code(w, 2, 0xfc800038001ffc00ull); /* ST.E.WT [0x7000], R0 */
	code(w, 3, EXIT);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, 0x7000), 0x1234);
	assert_int_equal(sem(w, SEM0), 0x1234);
	/* ST.E.WT [0x200000], R0: beyond the end of the address space */
	code(w, 2, 0xfc801000001ffc00ull);
	vram32_set(w->f, PD + SEM0, 0);
	assert_int_equal(launch(w, QMD), ENG_FAULT);
	assert_int_equal(w->f->fault.va, FAKE_SPACE);
	assert_int_equal(w->f->fault.gpc, 0);
	assert_string_equal(w->f->fault.client, "L1");
	assert_int_equal(sem(w, SEM0), 0);
}

static void a_grid_without_ctas_is_done(void **state)
{
	struct world *w = *state;

	qmd_set(w, QMD, 431, 416, 0);
	code(w, 0, 0);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0x1234);
}

static void sked_names_what_is_wrong(void **state)
{
	struct world *w = *state;

	qmd_set(w, QMD, 639, 624, 0);
	assert_int_equal(launch(w, QMD), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x400108), 0x100);
	assert_int_equal(rd32(w->f, 0x407020) & 0x3fffffff, 0x00800000);
	wr32(w->f, 0x407020, 0x40000000);
	assert_int_equal(rd32(w->f, 0x407020), 0);
	wr32(w->f, 0x400108, 0x100);
	assert_int_equal(w->f->irq_lines, 0);
	assert_int_equal(sem(w, SEM0), 0);
}

static void queues_are_data_errors(void **state)
{
	struct world *w = *state;

	qmd_set(w, QMD, 200, 200, 1);
	assert_int_equal(launch(w, QMD), ENG_STALL);
	assert_int_equal(rd32(w->f, 0x400100), 0x100000);
	assert_int_equal(rd32(w->f, 0x400110), 3);
}

static void faults_are_of_who_reads(void **state)
{
	struct world *w = *state;

	assert_int_equal(launch(w, FAKE_SPACE), ENG_FAULT);
	assert_int_equal(w->f->fault.hub_client, GR_HUB_SKED);
	qmd_set(w, QMD, 287, 256, FAKE_SPACE - CODE);
	assert_int_equal(launch(w, QMD), ENG_FAULT);
	assert_int_equal(w->f->fault.gpc, 0);
	assert_int_equal(w->f->fault.hub_client, GR_GPC_GCC);
	qmd_set(w, QMD, 287, 256, PROGRAM);
	qmd_set(w, QMD, 767, 736, FAKE_SPACE);
	assert_int_equal(launch(w, QMD), ENG_FAULT);
	assert_int_equal(w->f->fault.va, FAKE_SPACE);
}

static void dependent_grids_follow(void **state)
{
	struct world *w = *state;

	qmd_make(w, QMD + 0x100, SEM1, 0x5678);
	qmd_set(w, QMD, 205, 205, 1);
	qmd_set(w, QMD, 206, 206, QMD_DEPENDENT_GRID);
	qmd_set(w, QMD, 191, 160, (QMD + 0x100) >> 8);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0x1234);
	assert_int_equal(sem(w, SEM1), 0x5678);
	assert_int_equal(atomic_load(&w->f->g.stats.gr_launches), 2);
}

static void a_circle_of_grids_stops_and_goes_on_there(void **state)
{
	struct world *w = *state;

	qmd_make(w, QMD + 0x100, SEM1, 0x5678);
	qmd_set(w, QMD + 0x100, 205, 205, 1);
	qmd_set(w, QMD + 0x100, 206, 206, QMD_DEPENDENT_GRID);
	qmd_set(w, QMD + 0x100, 191, 160, (QMD + 0x100) >> 8);
	qmd_set(w, QMD, 205, 205, 1);
	qmd_set(w, QMD, 206, 206, QMD_DEPENDENT_GRID);
	qmd_set(w, QMD, 191, 160, (QMD + 0x100) >> 8);
	atomic_store(&w->c.stop, true);
	assert_int_equal(launch(w, QMD), ENG_AGAIN);
	assert_int_equal(sem(w, SEM0), 0x1234);
	vram32_set(w->f, PD + SEM0, 0);
	assert_int_equal(method(w->f, &w->c, 1, M_SEND_SIGNALING_PCAS_B, 3), ENG_AGAIN);
	assert_int_equal(sem(w, SEM0), 0);
	assert_int_equal(sem(w, SEM1), 0x5678);
}

static void render_enable_suppresses_launches(void **state)
{
	struct world *w = *state;

	method(w->f, &w->c, 1, M_SET_RENDER_ENABLE_A, 0);
	method(w->f, &w->c, 1, M_SET_RENDER_ENABLE_B, 0x4000);
	method(w->f, &w->c, 1, M_SET_RENDER_ENABLE_C, M_RENDER_NEVER);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0);
	method(w->f, &w->c, 1, M_SET_RENDER_ENABLE_C, M_RENDER_CONDITIONAL);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0);
	method(w->f, &w->c, 1, M_SET_RENDER_ENABLE_C, M_RENDER_IF_NOT_EQUAL);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0);
	vram32_set(w->f, PD + 0x4000, 1);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(sem(w, SEM0), 0x1234);
}

static void pacing_charges_every_warp_and_resumes(void **state)
{
	struct world *w = *state;

	/* 33 threads are 2 warps, in 100 * 100 CTAs */
	qmd_set(w, QMD, 415, 384, 100);
	qmd_set(w, QMD, 431, 416, 100);
	w->f->g.gr->pacer.per_s = 1000;
	w->f->stop_when_charged = true;
	assert_int_equal(launch(w, QMD), ENG_AGAIN);
	assert_true(w->f->warps_charged < 20000);
	assert_int_equal(sem(w, SEM0), 0);
	assert_int_equal(gr_engine.save(&w->f->g, 0, &w->c), 0);
	pthread_mutex_lock(&w->f->g.lock);
	state_reset(w->f->g.gr);
	pthread_mutex_unlock(&w->f->g.lock);
	atomic_store(&w->c.stop, false);
	w->f->stop_when_charged = false;
	assert_int_equal(gr_engine.load(&w->f->g, 0, &w->c), 0);
	assert_int_equal(method(w->f, &w->c, 1, M_SEND_SIGNALING_PCAS_B, 3), ENG_DONE);
	assert_int_equal(w->f->warps_charged, 20000);
	assert_int_equal(sem(w, SEM0), 0x1234);
	assert_int_equal(atomic_load(&w->f->g.stats.gr_launches), 1);
}

static void a_grid_begins_where_its_qmd_says(void **state)
{
	struct world *w = *state;

	/* CTA 1 of the second line, of 4 by 2 CTAs: three CTAs of 2 warps are left */
	qmd_set(w, QMD, 479, 448, 1);
	qmd_set(w, QMD, 495, 480, 1);
	w->f->g.gr->pacer.per_s = 1000000;
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(w->f->warps_charged, 6);
	assert_int_equal(sem(w, SEM0), 0x1234);
	/* a grid that begins behind its end is done at once */
	vram32_set(w->f, PD + SEM0, 0);
	qmd_set(w, QMD, 495, 480, 2);
	assert_int_equal(launch(w, QMD), ENG_DONE);
	assert_int_equal(w->f->warps_charged, 6);
	assert_int_equal(sem(w, SEM0), 0x1234);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(empty_kernel_releases_one_word),
		T(both_releases_are_written),
		T(only_the_schedule_bit_launches),
		T(nops_before_the_exit_are_empty_too),
		T(illegal_words_stop_the_grid_and_release_nothing),
		T(errors_of_warps_have_their_codes),
		T(a_store_reaches_memory_before_the_release),
		T(a_grid_without_ctas_is_done),
		T(sked_names_what_is_wrong),
		T(queues_are_data_errors),
		T(faults_are_of_who_reads),
		T(dependent_grids_follow),
		T(a_circle_of_grids_stops_and_goes_on_there),
		T(render_enable_suppresses_launches),
		T(pacing_charges_every_warp_and_resumes),
		T(a_grid_begins_where_its_qmd_says),
	};

	return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}
