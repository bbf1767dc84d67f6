// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest gives a channel another graphics context while the channel is being ended for a fault.
 * The guest's command finds the channel alive, reads its instance block, takes it off the chip and
 * exchanges its context; in between, recovery may end the channel. The image that the channel had
 * must be given up once.
 *
 * Given up twice, an image of this channel alone is used after it was freed. An image that another
 * channel has as well is freed under that channel: FECS then finds at the context's address what
 * the guest has mapped there, and obeys the patch list that it names (S3; docs/hardware.md, "Patch
 * list").
 *
 * On a GK110 the fault and the command meet as the guest likes: a kernel under way reads an address
 * that is not mapped, while the command waits for that kernel to leave GR.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/gr.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define SEEDS	   40
#define SPACE	   1
#define ENDED	   2 /* the channel that faults */
#define OTHER	   3 /* one with the same context */
#define VA_CTX	   0x40000ull
#define VA_LIST	   0x90000ull
#define MEM_CTX	   (G_DATA + 0x10000)
#define MEM_LIST   (G_DATA + 0x40000)
#define EVIL_VALUE 0x12345678u

static const struct chip_manners calm = { .eager = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;

static struct kvgpu_chan *chan(u32 id)
{
	return vmach_chan_find(g->v, (gchid_t){ id });
}

static u32 *word_at(const struct kvgpu_chan *c, u64 va)
{
	const u32 *block = (const u32 *)chip_vram(c->inst.at.v);
	u64 pd = (block[GMMU_INST_PDB_LO / 4] & GMMU_INST_PDB_LO_ADDR) |
		 (u64)block[GMMU_INST_PDB_HI / 4] << 32;
	u64 pte = mmu_translate(pd, va & ~0xfffull);

	if (!pte || FIELD_GET(GMMU_PTE_APERTURE, pte) != GMMU_PTE_APERTURE_VRAM)
		return NULL;
	return (u32 *)chip_vram((FIELD_GET(GMMU_PTE_ADDR, pte) << 12) + (va & 0xfff));
}

/* hub.fuc ctx_load, ctx_mmio_exec */
static void fecs_loads(const struct kvgpu_chan *c)
{
	const u32 *block = (const u32 *)chip_vram(c->inst.at.v);
	u64 ctx = (block[RAMIN_GR_CTX / 4] & RAMIN_CTX_ADDR_LO) | (u64)block[RAMIN_GR_CTX / 4 + 1]
									  << 32;
	u32 *count = word_at(c, ctx + GR_CTX_OS_PATCH_COUNT),
	    *list = word_at(c, ctx + GR_CTX_OS_PATCH_ADDR), i;
	const u32 *reg, *val;

	for (i = 0; count && list && i < *count; i++) {
		reg = word_at(c, ((u64)*list << 8) + 8 * i);
		val = word_at(c, ((u64)*list << 8) + 8 * i + 4);
		if (!reg || !val)
			return;
		if (*reg == HOSTMEM_PRAMIN && *val == EVIL_VALUE)
			harness_fail(
				"S3: FECS writes 0x%08x to register 0x%06x, both chosen by vGPU 0",
				*val, *reg);
	}
}

static void map_context(void)
{
	u32 i;

	for (i = 0; i < 4; i++)
		g_map_vram(g, SPACE, (u32)(VA_CTX >> 12) + i, MEM_CTX + i * 0x1000);
	g_map_vram(g, SPACE, VA_LIST >> 12, MEM_LIST);
	g_store32(g, MEM_CTX + GR_CTX_OS_PATCH_COUNT, 1);
	g_store32(g, MEM_CTX + GR_CTX_OS_PATCH_ADDR, VA_LIST >> 8);
	g_store32(g, MEM_LIST, HOSTMEM_PRAMIN);
	g_store32(g, MEM_LIST + 4, EVIL_VALUE);
}

static void begin(bool shared)
{
	u64 list[] = { ENDED, OTHER };

	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	g_space(g, SPACE);
	map_context();
	g_inst(g, ENDED, SPACE, VA_CTX);
	g_bind(g, ENDED);
	if (shared) {
		g_inst(g, OTHER, SPACE, VA_CTX);
		g_bind(g, OTHER);
	}
	g_list(g, list, shared ? 2 : 1);
	g_enable(g, ENDED, true);
	if (shared)
		g_enable(g, OTHER, true);
	assert_non_null(chan(ENDED)->gr);
	if (shared)
		assert_ptr_equal(chan(OTHER)->gr, chan(ENDED)->gr);
	/* the next command finds no context in the block */
	g_inst(g, ENDED, SPACE, 0);
}

static void faults_and_changes(void *arg)
{
	u32 i;

	for (i = 0; i < 1000 && !chip_fault(g_hchid(g, ENDED), 0x123000); i++)
		harness_sleep(1000);
	g_enable(g, ENDED, true);
}

static void attack(u64 seed)
{
	struct policy p = { .seed = seed, .switch_ppm = 20000 };

	harness_policy(&p);
	actor_new("attacker", setup_mm, false, faults_and_changes, NULL);
	actors_run();
	harness_policy(&quiet);
	harness_sleep(20 * NSEC_PER_MSEC);
}

/*
 * The work under way faults, though its channel is disabled by now. chip_fault() refuses such a
 * channel.
 */
static void work_faults(u16 id)
{
	chip.reg[GMMU_FAULT_INST(GR_FAULT_UNIT) / 4] =
		FIELD_PREP(GMMU_FAULT_INST_ADDR, chip.chan[id].inst >> 12);
	chip.reg[GMMU_FAULT_VA_LO(GR_FAULT_UNIT) / 4] = 0x123000;
	chip.reg[GMMU_FAULT_VA_HI(GR_FAULT_UNIT) / 4] = 0;
	chip.reg[GMMU_FAULT_INFO(GR_FAULT_UNIT) / 4] = 2;
	chip.reg[GMMU_FAULT_SOURCE / 4] |= BIT(GR_FAULT_UNIT);
	chip.reg[PFIFO_RUNLIST_ERROR / 4] |= BIT(chip.chan[id].runl);
	chip_raise(0);
}

static void changes(void *arg)
{
	g_enable(g, ENDED, true);
}

/* a kernel that can't be preempted for 20 ms; after 5 ms of the preempt it reads a bad address */
static void kernel(void *arg)
{
	u16 id = g_hchid(g, ENDED);

	while (chip.chan[id].enabled || !chip.preempting)
		harness_sleep(10000);
	harness_sleep(5 * NSEC_PER_MSEC);
	assert_int_equal(chip.engine[0].chid, id);
	work_faults(id);
}

static void while_it_leaves(void **state)
{
	begin(true);
	while (!chip_hold(g_hchid(g, ENDED), 20 * NSEC_PER_MSEC))
		harness_sleep(100000);
	actor_new("kernel", setup_mm, false, kernel, NULL);
	actor_new("attacker", setup_mm, false, changes, NULL);
	actors_run();
	harness_sleep(20 * NSEC_PER_MSEC);
	assert_true(chan(ENDED)->dead);
	assert_false(chan(OTHER)->dead);
	fecs_loads(chan(OTHER));
	setup_end();
}

/* the image of one channel: a second giving up is a use of freed memory, which ASan reports */
static void alone(void **state)
{
	u64 s;

	for (s = 1; s <= SEEDS; s++) {
		begin(false);
		attack(s);
		setup_end();
	}
}

/* the image of two channels: it is freed under the one that goes on */
static void shared(void **state)
{
	u64 s;

	for (s = 1; s <= SEEDS; s++) {
		begin(true);
		attack(s);
		if (!chan(OTHER)->dead)
			fecs_loads(chan(OTHER));
		setup_end();
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(while_it_leaves),
		cmocka_unit_test(shared),
		cmocka_unit_test(alone),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
