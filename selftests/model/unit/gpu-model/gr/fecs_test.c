// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context switching: boot with both protocols, switches, the patch list, and memory that is broken.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gr/fake.h"

#define PD_A   0x400000u
#define PD_B   0x600000u
#define INST_A 0x10000u
#define INST_B 0x20000u
#define CTX    0x100000u /* address that only privileged accesses reach */
#define LIST   0x180000u /* address of a patch list */

static int setup(void **state)
{
	struct fake *f = fake_create();

	fake_enable_exceptions(f);
	fake_instance(f, INST_A, PD_A, CTX);
	fake_instance(f, INST_B, PD_B, CTX);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fake_destroy(*state);
	return 0;
}

static uint32_t status(struct fake *f)
{
	return rd32(f, GR_FECS + FECS_SCRATCH(0));
}

/* As nouveau's gf100_grctx_generate() does with nouveau's own firmware. */
static void generate_golden(struct fake *f, uint32_t inst)
{
	wr32(f, GR_FE_PWR, 0x12);
	assert_int_equal(rd32(f, GR_FE_PWR) & 0x10, 0);
	wr32(f, GR_FECS + FECS_SCRATCH_CLR(0), 0x80000000);
	assert_int_equal(status(f) & 0x80000000, 0);
	wr32(f, GR_FECS + FECS_WRCMD_DATA, 0x80000000 | inst >> 12);
	wr32(f, GR_FECS + FECS_WRCMD_CMD, 1);
	assert_int_equal(status(f) & 0x80000000, 0x80000000);
	wr32(f, 0x404154, 0x400);
	wr32(f, 0x418808, 0x1234);
	wr32(f, GR_ICMD_DATA, 0x77);
	wr32(f, GR_ICMD, 0x1e100);
	wr32(f, GR_ICMD, 0x800);
	wr32(f, GR_MTHD_DATA, 0x3f800000);
	wr32(f, GR_MTHD, 0x80000000 | 0xa197 | 0x0c0c << 14);
	mask32(f, GR_FECS + FECS_CHAN_NEXT, 0x80000000, 0);
	wr32(f, GR_FECS + FALCON_INTR_TRIGGER, 0x100);
}

static void nouveau_protocol_boots(void **state)
{
	struct fake *f = *state;

	fake_boot_nouveau(f);
	assert_int_equal(status(f) & 0x80000000, 0x80000000);
	assert_true(rd32(f, GR_FECS + FECS_SCRATCH(1)) >= STRAND_WORDS * 4);
	assert_int_equal(rd32(f, GR_FECS + FECS_SCRATCH(1)) % 256, 0);
	assert_int_equal(f->irq_lines, 0);
}

static void nothing_starts_without_code(void **state)
{
	struct fake *f = *state;

	wr32(f, GR_FECS + FALCON_CPUCTL, FALCON_CPUCTL_START);
	assert_int_equal(status(f), 0);
}

static void a_list_without_end_never_gets_ready(void **state)
{
	struct fake *f = *state;

	fake_boot_nouveau(f);
	wr32(f, GR_FECS + FECS_SCRATCH(0), 0);
	wr32(f, GR_FECS + FALCON_DMEMC(0), FECS_OS_LIST_TAIL);
	wr32(f, GR_FECS + FALCON_DMEMD(0), FECS_OS_LIST_BASE - 4);
	wr32(f, GR_FECS + FALCON_CPUCTL, FALCON_CPUCTL_START);
	assert_int_equal(status(f), 0);
}

static void golden_context_is_in_memory(void **state)
{
	struct fake *f = *state;
	uint32_t size;

	fake_boot_nouveau(f);
	size = rd32(f, GR_FECS + FECS_SCRATCH(1));
	vram32_set(f, PD_A + CTX + size, 0xcafe);
	generate_golden(f, INST_A);
	assert_int_equal(rd32(f, GR_FECS + FECS_CHAN_ADDR) & 0x80000000, 0);
	/*
	 * the hub list begins with 17e91c, 17e920, 17 registers from 404004 on, 3 from 404150 on:
	 * 404154 is its word 20
	 */
	assert_int_equal(vram32(f, PD_A + CTX + 0x100 + 4 * 20), 0x400);
	assert_int_equal(vram32(f, PD_A + CTX + size), 0xcafe);
	assert_int_equal(f->fault.count, 0);
	assert_int_equal(rd32(f, GR_FECS + FECS_SCRATCH(FECS_OS_TRACE)), 0);
}

static void external_protocol_boots(void **state)
{
	struct fake *f = *state;

	fake_boot_external(f);
	assert_int_equal(status(f) & 1, 1);
	wr32(f, GR_FECS + FECS_SCRATCH(0), 0);
	wr32(f, GR_FECS + FECS_WRCMD_DATA, 0x7fffffff);
	wr32(f, GR_FECS + FECS_WRCMD_CMD, 0x21);
	for (uint32_t cmd = 0x10; cmd <= 0x25; cmd += cmd == 0x10 ? 6 : 0xf) {
		wr32(f, GR_FECS + FECS_SCRATCH(0), 0);
		wr32(f, GR_FECS + FECS_WRCMD_DATA, 0);
		wr32(f, GR_FECS + FECS_WRCMD_CMD, cmd);
		assert_int_not_equal(status(f), 0);
	}
	for (uint32_t cmd = 0x30; cmd <= 0x32; cmd++) {
		wr32(f, GR_FECS + FECS_SCRATCH(0), 0);
		wr32(f, GR_FECS + FECS_WRCMD_CMD, cmd);
		assert_int_not_equal(status(f), 0);
	}
	for (uint32_t cmd = 0x38; cmd <= 0x39; cmd++) {
		wr32(f, GR_FECS + FECS_SCRATCH(1), 0xffffffff);
		wr32(f, GR_FECS + FECS_WRCMD_CMD, cmd);
		assert_int_equal(rd32(f, GR_FECS + FECS_SCRATCH(1)), 1);
	}
}

static void external_protocol_saves_a_golden_context(void **state)
{
	struct fake *f = *state;

	fake_boot_external(f);
	mask32(f, GR_FECS + FECS_SCRATCH(0), 0x30, 0);
	wr32(f, GR_FECS + FECS_WRCMD_DATA, 0x80000000 | INST_A >> 12);
	wr32(f, GR_FECS + FECS_WRCMD_CMD, 3);
	assert_int_equal(status(f) & 0x30, 0x10);
	wr32(f, 0x404004, 0x5555);
	mask32(f, GR_FECS + FECS_SCRATCH(0), 3, 0);
	wr32(f, GR_FECS + FECS_WRCMD_DATA, 0x80000000 | INST_A >> 12);
	wr32(f, GR_FECS + FECS_WRCMD_CMD, 9);
	assert_int_equal(status(f) & 3, 1);
	/* the list is 17e91c, 17e920, 400204, 400208, 404004 */
	assert_int_equal(vram32(f, PD_A + CTX + 0x100 + 4 * 4), 0x5555);
	assert_int_equal(vram32(f, PD_A + CTX + GR_CTX_EXT_MAGIC), GR_CTX_EXT_MAGIC_VALUE);
	/* an instance block outside of memory is an error and no crash */
	mask32(f, GR_FECS + FECS_SCRATCH(0), 0x30, 0);
	wr32(f, GR_FECS + FECS_WRCMD_DATA, 0x8fffffff);
	wr32(f, GR_FECS + FECS_WRCMD_CMD, 3);
	assert_int_equal(status(f) & 0x30, 0x20);
}

static void unknown_commands_are_reported_as_the_microcode_does(void **state)
{
	struct fake *f = *state;

	fake_boot_nouveau(f);
	wr32(f, GR_FECS + FECS_WRCMD_CMD, 0x38);
	assert_int_equal(rd32(f, GR_FECS + FECS_SCRATCH(5)), 0x380001);
	assert_int_equal(rd32(f, GR_FECS + FECS_INTR_UP), 1);
	assert_int_equal(rd32(f, GR_INTR), 1 << 19);
	assert_int_equal(f->irq_lines, 1 << 12);
	/* a level: an acknowledgement does not help before the source is cleared */
	wr32(f, GR_INTR, 1 << 19);
	assert_int_equal(f->irq_lines, 1 << 12);
	wr32(f, GR_FECS + FECS_INTR_UP_CLR, 1);
	assert_int_equal(f->irq_lines, 0);
}

/* Boots, and makes two channels: @a has the golden image itself, @b a copy. */
static void two_contexts(struct fake *f, struct chan *a, struct chan *b)
{
	uint32_t size;

	fake_boot_nouveau(f);
	generate_golden(f, INST_A);
	size = rd32(f, GR_FECS + FECS_SCRATCH(1));
	for (uint32_t i = 0; i < size; i += 4)
		vram32_set(f, PD_B + CTX + i, vram32(f, PD_A + CTX + i));
	fake_chan(f, a, 1, INST_A);
	fake_chan(f, b, 2, INST_B);
}

static void registers_and_class_state_belong_to_their_context(void **state)
{
	struct fake *f = *state;
	struct gr *gr = f->g.gr;
	struct chan a, b;

	two_contexts(f, &a, &b);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
		assert_int_equal(rd32(f, GR_FECS + FECS_CHAN_ADDR), 0x80000000 | INST_A >> 12);
		if (round) {
			assert_int_equal(rd32(f, 0x404154), 0xa);
			assert_int_equal(rd32(f, GR_GPC(4, 0x808)), 0xaa);
			assert_int_equal(rd32(f, GR_GPC(3, 0x4000 + 0x800 + 0x48)), 0xaaa);
			assert_int_equal(rd32(f, GR_GPC(2, 0x3000 + 0x200 + 0xc0)), 0xaaaa);
			assert_int_equal(state_get(gr, GR_COMPUTE, 0x1608), 0xa0);
			assert_int_equal(state_get(gr, GR_2D, 0x0200), 0xa1);
			assert_int_equal(state_get(gr, GR_3D, 0x3404), 0xa2);
			assert_int_equal(strand_get(gr, STRAND_MME_CODE + 5), 0xa3);
		}
		assert_int_equal(strand_get(gr, STRAND_BUNDLE_LOW + 0x800), 0x77);
		assert_int_equal(state_get(gr, GR_3D, 0x0c0c), 0x3f800000);
		wr32(f, 0x404154, 0xa);
		wr32(f, 0x418808, 0xaa);
		wr32(f, 0x419848, 0xaaa);
		wr32(f, 0x41bec0, 0xaaaa);
		assert_int_equal(method(f, &a, 1, 0x1608, 0xa0), ENG_DONE);
		assert_int_equal(method(f, &a, 3, 0x0200, 0xa1), ENG_DONE);
		assert_int_equal(method(f, &a, 0, 0x3404, 0xa2), ENG_DONE);
		assert_int_equal(method(f, &a, 0, 0x0114, 5), ENG_DONE);
		assert_int_equal(method(f, &a, 0, 0x0118, 0xa3), ENG_DONE);
		assert_int_equal(gr_engine.save(&f->g, 0, &a), 0);

		assert_int_equal(gr_engine.load(&f->g, 0, &b), 0);
		assert_int_equal(rd32(f, 0x404154), round ? 0xb : 0x400);
		assert_int_equal(rd32(f, GR_GPC(4, 0x808)), round ? 0xbb : 0x1234);
		assert_int_equal(rd32(f, GR_GPC(3, 0x4000 + 0x800 + 0x48)), 0);
		assert_int_equal(state_get(gr, GR_COMPUTE, 0x1608), 0);
		assert_int_equal(state_get(gr, GR_2D, 0x0200), 0);
		assert_int_equal(strand_get(gr, STRAND_MME_CODE + 5), 0);
		wr32(f, 0x404154, 0xb);
		wr32(f, 0x418808, 0xbb);
		assert_int_equal(gr_engine.save(&f->g, 0, &b), 0);
	}
	assert_int_equal(f->fault.count, 0);
}

static void image_of_the_other_channel_is_never_touched(void **state)
{
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	vram32_set(f, PD_B + CTX + 0x100, 0x0badf00d);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_int_equal(gr_engine.save(&f->g, 0, &a), 0);
	assert_int_equal(vram32(f, PD_B + CTX + 0x100), 0x0badf00d);
}

static void patch(struct fake *f, uint32_t count, const uint32_t (*p)[2], uint32_t n)
{
	vram32_set(f, PD_A + CTX, count);
	vram32_set(f, PD_A + CTX + 4, LIST >> 8);
	for (uint32_t i = 0; i < n; i++) {
		vram32_set(f, PD_A + LIST + 8 * i, p[i][0]);
		vram32_set(f, PD_A + LIST + 8 * i + 4, p[i][1]);
	}
}

static void patch_list_is_executed_once(void **state)
{
	static const uint32_t list[][2] = {
		{ 0x408004, 0x11 }, { 0x41880c, 0x22 }, { 0x5030c0, 0x33 }, { 0x17e91c, 0x44 }
	};
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	patch(f, 4, list, 4);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_int_equal(rd32(f, 0x408004), 0x11);
	assert_int_equal(rd32(f, GR_GPC(0, 0x80c)), 0x22);
	assert_int_equal(rd32(f, GR_GPC(4, 0x80c)), 0x22);
	assert_int_equal(rd32(f, GR_GPC(0, 0x30c0)), 0x33);
	assert_int_equal(rd32(f, 0x17e91c), 0x44);
	assert_int_equal(vram32(f, PD_A + CTX), 0);
	wr32(f, 0x408004, 0x99);
	assert_int_equal(gr_engine.save(&f->g, 0, &a), 0);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_int_equal(rd32(f, 0x408004), 0x99);
}

static void long_patch_lists_are_executed_to_the_end(void **state)
{
	uint32_t list[100][2];
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	for (uint32_t i = 0; i < 100; i++) {
		list[i][0] = FAKE_VICTIM + 4 * i;
		list[i][1] = i + 1;
	}
	patch(f, 100, list, 100);
	/* the channel is to be preempted, but its list is done to the end */
	atomic_store(&a.stop, true);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_int_equal(f->victim_writes, 100);
	assert_int_equal(rd32(f, FAKE_VICTIM + 4 * 99), 100);
}

/*
 * The hole: a guest that can write a context image can write other units' registers by the patch
 * list.
 */
static void hole_patch_list_in_guest_memory_writes_any_register(void **state)
{
	static const uint32_t list[][2] = { { FAKE_VICTIM + 8 * 5, 0x80000042 } };
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	patch(f, 1, list, 1);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_int_equal(f->victim_reg, FAKE_VICTIM + 8 * 5);
	assert_int_equal(f->victim_val, 0x80000042);
}

/* The hole: saved registers are loaded from memory that the guest can write. */
static void hole_forged_image_sets_saved_registers(void **state)
{
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	vram32_set(f, PD_A + CTX + 0x100, 0xbad);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_int_equal(rd32(f, 0x17e91c), 0xbad);
}

static void endless_patch_list_ends(void **state)
{
	static const uint32_t list[][2] = { { 0x408004, 1 } };
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	patch(f, 0xffffffff, list, 1);
	assert_int_not_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_true(f->g.gr->fecs.hung);
}

static void patch_list_that_resets_gr_gives_up(void **state)
{
	static const uint32_t list[][2] = { { FAKE_VICTIM + 0x200, 0 },
					    { FAKE_VICTIM + 0x204, 1 } };
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	patch(f, 2, list, 2);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), -EIO);
	assert_int_equal(f->victim_writes, 1);
	assert_false(f->g.gr->fecs.hung);
	fake_boot_nouveau(f);
	assert_int_equal(status(f) & 0x80000000, 0x80000000);
}

static void patch_list_that_commands_fecs_is_queued(void **state)
{
	static const uint32_t list[][2] = { { GR_FECS + FECS_WRCMD_CMD, 0x77 },
					    { GR_FECS + FALCON_INTR_TRIGGER, 0x100 } };
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	patch(f, 2, list, 2);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	assert_int_equal(rd32(f, GR_FECS + FECS_SCRATCH(5)), 0x770001);
	assert_false(f->g.gr->fecs.busy);
}

static void unmapped_context_faults_as_fecs_and_hangs_until_reset(void **state)
{
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	fake_instance(f, INST_A, PD_A, FAKE_SPACE + 0x1000);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), -EFAULT);
	assert_int_equal(f->fault.count, 1);
	assert_int_equal(f->fault.unit, 0);
	assert_int_equal(f->fault.hub_client, GR_HUB_FECS);
	assert_int_equal(f->fault.gpc, -1);
	assert_int_equal(f->fault.va, FAKE_SPACE + 0x1000);
	/* nouveau's gf100_gr_chsw_load() looks at this bit */
	assert_int_equal(rd32(f, 0x40981c) & 0x40, 0x40);
	assert_int_equal(gr_engine.load(&f->g, 0, &b), -EIO);
	pthread_mutex_lock(&f->g.lock);
	gr_engine.reset(&f->g, 0);
	pthread_mutex_unlock(&f->g.lock);
	fake_boot_nouveau(f);
	assert_int_equal(gr_engine.load(&f->g, 0, &b), 0);
}

static void fault_in_a_gpc_area_is_of_that_gpc(void **state)
{
	struct fake *f = *state;
	struct chan a, b;
	uint32_t size;

	two_contexts(f, &a, &b);
	size = rd32(f, GR_FECS + FECS_SCRATCH(1));
	/* only the last GPC's area passes the end of the space, at first with its empty end */
	fake_instance(f, INST_A, PD_A, FAKE_SPACE - (size - 0x100));
	vram32_set(f, PD_A + FAKE_SPACE - (size - 0x100), 0);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	fake_instance(f, INST_A, PD_A, FAKE_SPACE - (size - 0x300));
	vram32_set(f, PD_A + FAKE_SPACE - (size - 0x300), 0);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), -EFAULT);
	assert_int_equal(f->fault.gpc, 4);
	assert_int_equal(f->fault.hub_client, GR_GPC_GPCCS);
}

static void channel_without_a_context_faults_at_zero(void **state)
{
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	fake_instance(f, INST_A, PD_A, 0);
	/* nothing is mapped at address 0 */
	vram32_set(f, INST_A + 0x200, FAKE_VRAM);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), -EFAULT);
	assert_int_equal(f->fault.va, 0);
	assert_int_equal(f->fault.hub_client, GR_HUB_FECS);
}

static void save_stops_at_a_fault(void **state)
{
	struct fake *f = *state;
	struct chan a, b;

	two_contexts(f, &a, &b);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), 0);
	f->g.gr->fecs.ctx.space.pdb = FAKE_VRAM;
	assert_int_equal(gr_engine.save(&f->g, 0, &a), -EFAULT);
	assert_int_equal(rd32(f, 0x40981c) & 0x80, 0x80);
}

static void without_a_program_no_switch_happens(void **state)
{
	struct fake *f = *state;
	struct chan a;

	fake_chan(f, &a, 1, INST_A);
	assert_int_equal(gr_engine.load(&f->g, 0, &a), -EIO);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(nouveau_protocol_boots),
		T(nothing_starts_without_code),
		T(a_list_without_end_never_gets_ready),
		T(golden_context_is_in_memory),
		T(external_protocol_boots),
		T(external_protocol_saves_a_golden_context),
		T(unknown_commands_are_reported_as_the_microcode_does),
		T(registers_and_class_state_belong_to_their_context),
		T(image_of_the_other_channel_is_never_touched),
		T(patch_list_is_executed_once),
		T(long_patch_lists_are_executed_to_the_end),
		T(hole_patch_list_in_guest_memory_writes_any_register),
		T(hole_forged_image_sets_saved_registers),
		T(endless_patch_list_ends),
		T(patch_list_that_resets_gr_gives_up),
		T(patch_list_that_commands_fecs_is_queued),
		T(unmapped_context_faults_as_fecs_and_hangs_until_reset),
		T(fault_in_a_gpc_area_is_of_that_gpc),
		T(channel_without_a_context_faults_at_zero),
		T(save_stops_at_a_fault),
		T(without_a_program_no_switch_happens),
	};

	return cmocka_run_group_tests_name("fecs", tests, NULL, NULL);
}
