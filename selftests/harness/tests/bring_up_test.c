// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cards as one meets them: not POSTed, with a clock that stands still, units that do not answer,
 * memory that is not all there, another order of the device table, a reset from outside. Each card
 * is probed, and so is a good one afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/devinit.h"
#include "gk110/pci.h"
#include "gk110/pfb.h"
#include "gk110/pfuse.h"
#include "gk110/ppci.h"
#include "gk110/ptimer.h"
#include "gk110/vbios.h"
#include "hw/internal.h"
#include "mdev/machine/internal.h"
#include "mdev/vgpu.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"
#include "selftests/unit/hw/postrom.h"

#define R16(v) POSTROM_16(v)
#define R32(v) POSTROM_32(v)

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

/* A new card, which no driver has. */
static void card(void)
{
	chip_end();
	chip_begin(&calm);
	chip_watch_writes();
}

static int probe(void)
{
	int ret = the_pci_driver->probe(&world.pdev, the_pci_driver->id_table);

	world.gpu = ret ? NULL : pci_get_drvdata(&world.pdev);
	return ret;
}

static void begin(void)
{
	world_begin(&quiet, &calm);
	pool_watch(false);
	the_pci_driver->remove(&world.pdev);
	card();
}

/* A probe that failed left nothing behind: the next card is taken. */
static void end(void)
{
	if (world.gpu)
		the_pci_driver->remove(&world.pdev);
	card();
	assert_int_equal(probe(), 0);
	world_end();
}

static void refused(int want)
{
	assert_int_equal(probe(), want);
	card();
}

/* ------------------------------------------------------------------ POST */

static void unposted_with(const u8 *script, u32 size)
{
	static struct postrom rom;

	postrom_begin(&rom);
	postrom_script(&rom, 0, postrom_put(&rom, script, size));
	chip_unpost(rom.rom, sizeof(rom.rom));
}
#define UNPOSTED(...)                                  \
	do {                                           \
		const u8 script[] = { __VA_ARGS__ };   \
		unposted_with(script, sizeof(script)); \
	} while (0)

#define UNITS	  INIT_ZM_REG, R32(PMC_ENABLE), R32(0xe011212c)
#define MEMORY_ON INIT_NV_REG, R32(PBFB_BCAST + 0x1234), R32(0), R32(0x5a)
#define DONE	  INIT_OR_REG, R32(PTOP_DEVINIT), R32(PTOP_DEVINIT_DONE), INIT_DONE

/* Before the scripts run, only the interrupts' masks and the ROM's window are written. */
static void a_card_is_posted_first(void **state)
{
	u32 i, own = 0;

	begin();
	UNPOSTED(UNITS, MEMORY_ON, DONE);
	assert_int_equal(probe(), 0);
	assert_int_equal(chip.reg[(PBFB_BCAST + 0x1234) / 4], 0x5a);
	for (i = 0; chip.written[i].reg != PMC_ENABLE; i++)
		own += chip.written[i].reg >= PMC_BASE + PMC_SIZE &&
		       chip.written[i].reg != PPCI_BASE + GK110_PCI_ROM_SHADOW;
	assert_int_equal(own, 0);
	assert_int_equal(chip.written[i].val, 0xe011212d);
	assert_int_equal(chip.written[i + 1].reg, PBFB_BCAST + 0x1234);
	assert_int_equal(chip.written[i + 2].reg, PTOP_DEVINIT);
	assert_int_equal(chip.written[i + 3].reg, PMC_ENABLE);
	end();
}

static void scripts_run_once(void **state)
{
	u32 val;

	begin();
	UNPOSTED(UNITS, MEMORY_ON, DONE);
	assert_int_equal(probe(), 0);
	the_pci_driver->remove(&world.pdev);
	chip_watch_writes();
	assert_int_equal(probe(), 0);
	assert_int_equal(chip_written(PBFB_BCAST + 0x1234, &val), 0);
	end();
}

static void scripts_that_can_not_post(void **state)
{
	u32 val;

	begin();
	UNPOSTED(UNITS, MEMORY_ON, 0xff, DONE);
	assert_int_equal(probe(), -EINVAL);
	assert_int_equal(chip_written(PBFB_BCAST + 0x1234, &val), 0);
	card();
	UNPOSTED(UNITS, MEMORY_ON, INIT_DONE);
	assert_int_equal(probe(), -EIO);
	assert_int_equal(chip_written(PMC_ENABLE, &val), 1); /* by the script alone */
	end();
}

/* ------------------------------------------------------------------ a reset from outside */

static void a_reset_cuts_the_card_off(void **state)
{
	begin();
	UNPOSTED(UNITS, MEMORY_ON, DONE);
	assert_int_equal(probe(), 0);
	the_pci_driver->err_handler->reset_prepare(&world.pdev);
	assert_true(vmach_gpu_lost(world.gpu));
	assert_true(chip_no_master());
	chip.reg[PTOP_DEVINIT / 4] = 0;
	the_pci_driver->remove(&world.pdev);
	chip_watch_writes();
	assert_int_equal(probe(), 0);
	assert_int_equal(chip.reg[PTOP_DEVINIT / 4], PTOP_DEVINIT_DONE);
	assert_false(vmach_gpu_lost(world.gpu));
	end();
}

/* ------------------------------------------------------------------ PTIMER */

static void the_clock_shows_the_time_of_day(void **state)
{
	s64 off;

	begin();
	assert_int_equal(probe(), 0);
	off = clock_now() - ktime_get_real_ns();
	assert_true(off > -1000000 && off < 1000000);
	end();
	/* a crystal of another frequency, by the straps: the card's is not */
	begin();
	chip.reg[PSTRAPS_BOOT0 / 4] = PSTRAPS_CRYSTAL_HIGH | PSTRAPS_CRYSTAL_LOW;
	refused(-EIO);
	clock_silent(true);
	assert_int_equal(probe(), -EIO);
	clock_silent(false);
	end();
}

/* ------------------------------------------------------------------ units */

static void all_timings_of_the_ring_are_set(void **state)
{
	/* nouveau nvkm/subdev/privring/gk104.c */
	static const u32 want[][2] = { { 0x122318, 0x1000 }, { 0x12231c, 0x200 },
				       { 0x122310, 0x800 },  { 0x122348, 0x200 },
				       { 0x1223b0, 0xfff },  { 0x122358, 0x2880 } };
	u32 i, val = 0;

	begin();
	chip.reg[0x12231c / 4] = 0x8003f000;
	assert_int_equal(probe(), 0);
	assert_int_equal(chip.reg[0x12231c / 4], 0x80000200);
	chip.reg[0x12231c / 4] = 0x200;
	for (i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(chip.reg[want[i][0] / 4], want[i][1]);
	assert_int_equal(chip_written(0x122348, &val), 2);
	end();
}

/* Codes of a unit that does not answer would be numbers of engines, MiB or slices else. */
static void no_answer_is_no_data(void **state)
{
	static const u32 regs[] = { PTOP_FBP_COUNT,	    PTOP_FBPA_COUNT,
				    PTOP_DISABLE_FBPA,	    PBFB_BASE(0) + PBFB_AMOUNT,
				    PTOP_DEVICE(1),	    PTOP_DEVICE(40),
				    PFIFO_PBDMA_RUNLISTS(1) };
	u32 i;

	begin();
	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		chip.reg[regs[i] / 4] = 0xbadf1002;
		refused(-EIO);
	}
	end();
}

static void the_device_table_has_any_order(void **state)
{
	u32 words[12], i;

	begin();
	for (i = 0; i < 12; i++)
		words[i] = chip.reg[PTOP_DEVICE(i) / 4];
	for (i = 0; i < 12; i++) /* GR comes last, CE2 first */
		chip.reg[PTOP_DEVICE(i) / 4] = words[9 - i / 3 * 3 + i % 3];
	assert_int_equal(probe(), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(world.gpu->hw.topo.engine[i].type, i);
		assert_int_equal(world.gpu->hw.topo.engine[i].id, i);
	}
	end();
}

/* The lists that the firmware file has for a GK110B are taken for one, and for no other chip. */
static void a_gk110b_has_its_own_lists(void **state)
{
	begin();
	assert_int_equal(probe(), 0);
	assert_int_equal(chip.reg[0x400080 / 4], 0x11);
	the_pci_driver->remove(&world.pdev);
	card();
	chip.reg[PMC_BOOT_0 / 4] = 0x0f1000a1;
	assert_int_equal(probe(), 0);
	assert_int_equal(chip.reg[0x400080 / 4], 0x1b);
	assert_int_equal(chip.reg[0x4064c8 / 4], 0x180 << 16 | 0x600);
	end();
}

/* ------------------------------------------------------------------ memory */

static void controllers(u32 nr, const u32 *mib)
{
	u32 i;

	chip.reg[PTOP_FBP_COUNT / 4] = chip.reg[PTOP_FBPA_COUNT / 4] = nr;
	for (i = 0; i < nr; i++)
		chip.reg[(PBFB_BASE(i) + PBFB_AMOUNT) / 4] = mib[i];
}

static void amounts_of_memory_are_checked(void **state)
{
	static const u32 none[] = { 1312, 0 }, wild[] = { 1312, 0x70000000 },
			 unequal[] = { 1312, 1000 }, off[] = { 1312, 0xbadf1100, 1312 };

	begin();
	controllers(2, none);
	refused(-EINVAL);
	controllers(2, wild);
	refused(-EINVAL);
	chip.reg[PTOP_FBP_COUNT / 4] = chip.reg[PTOP_FBPA_COUNT / 4] = 17;
	refused(-EINVAL);
	controllers(2, unequal);
	assert_int_equal(probe(), 0);
	assert_int_equal(world.gpu->hw.vram_size >> 20, 2000);
	the_pci_driver->remove(&world.pdev);
	card();
	controllers(3, off);
	chip.reg[PTOP_DISABLE_FBPA / 4] = BIT(1);
	assert_int_equal(probe(), 0);
	assert_int_equal(world.gpu->hw.vram_size >> 20, 2624);
	end();
}

/* ECC keeps its codes in the topmost memory, which the controllers count, too. */
static void the_topmost_memory_is_not_there(void **state)
{
	u64 end_of = CHIP_VRAM - CHIP_VRAM / 16;

	begin();
	chip_memory_end(end_of);
	assert_int_equal(probe(), 0);
	assert_true(world.gpu->hw.vram_size <= end_of);
	assert_true(world.gpu->hw.vram_size >= CHIP_VRAM / 8 * 7 - (2 << 20));
	assert_true(world.gpu->hw.p->pool_base.v + KVGPU_POOL_SIZE <= end_of);
	the_pci_driver->remove(&world.pdev);
	card();
	chip_memory_end(CHIP_VRAM / 2);
	refused(-EIO);
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_card_is_posted_first),
		cmocka_unit_test(scripts_run_once),
		cmocka_unit_test(scripts_that_can_not_post),
		cmocka_unit_test(a_reset_cuts_the_card_off),
		cmocka_unit_test(the_clock_shows_the_time_of_day),
		cmocka_unit_test(all_timings_of_the_ring_are_set),
		cmocka_unit_test(no_answer_is_no_data),
		cmocka_unit_test(the_device_table_has_any_order),
		cmocka_unit_test(a_gk110b_has_its_own_lists),
		cmocka_unit_test(amounts_of_memory_are_checked),
		cmocka_unit_test(the_topmost_memory_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
