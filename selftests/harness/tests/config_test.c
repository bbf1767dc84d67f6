// SPDX-License-Identifier: GPL-2.0-only
/*
 * Configuration space as a VMM reads and writes it: by bytes and by words, beyond its end, and a
 * function level reset in the middle of work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <linux/pci_regs.h>

#include "gk110/pci.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

static const struct chip_manners calm = { .eager = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;

static ssize_t config(u32 off, void *buf, size_t n, bool write)
{
	loff_t pos = ((loff_t)VFIO_PCI_CONFIG_REGION_INDEX << 40) + off;

	return write ? g->dev->ops->write(g->dev, buf, n, &pos) :
		       g->dev->ops->read(g->dev, buf, n, &pos);
}

static u32 get(u32 off)
{
	u32 val = 0;

	assert_int_equal(config(off, &val, 4, false), 4);
	return val;
}

static void put(u32 off, u32 val)
{
	assert_int_equal(config(off, &val, 4, true), 4);
}

static void begin(void)
{
	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
}

static void what_it_is(void **state)
{
	begin();
	assert_int_equal(get(GK110_PCI_ID), GK110_PCI_VENDOR | GK110_PCI_DEVICE << 16);
	put(GK110_PCI_ID, ~0u);
	assert_int_equal(get(GK110_PCI_ID), GK110_PCI_VENDOR | GK110_PCI_DEVICE << 16);
	assert_int_equal(get(GK110_PCI_REV_CLASS), GK110_PCI_REV_CLASS_K20M);
	setup_end();
}

/* Firmware finds a BAR's size in this way. */
static void bars_have_the_types_sizes(void **state)
{
	begin();
	put(GK110_PCI_BAR0, ~0u);
	put(GK110_PCI_BAR1, ~0u);
	put(GK110_PCI_BAR3, ~0u);
	assert_int_equal(~(get(GK110_PCI_BAR0) & ~0xfu) + 1, BAR0_SIZE);
	assert_int_equal(~(get(GK110_PCI_BAR1) & ~0xfu) + 1, g->v->type->bar[KVGPU_BAR1]);
	assert_int_equal(~(get(GK110_PCI_BAR3) & ~0xfu) + 1, g->v->type->bar[KVGPU_BAR3]);
	assert_int_equal(get(GK110_PCI_BAR1) & 0xf, GK110_PCI_BAR_64_PREFETCH);
	setup_end();
}

static void bytes(void **state)
{
	u8 b = 0x5a;

	begin();
	put(GK110_PCI_BAR1_HI, 0x11223344);
	assert_int_equal(config(GK110_PCI_BAR1_HI + 2, &b, 1, true), 1);
	assert_int_equal(get(GK110_PCI_BAR1_HI), 0x115a3344);
	b = 0;
	assert_int_equal(config(GK110_PCI_BAR1_HI + 3, &b, 1, false), 1);
	assert_int_equal(b, 0x11);
	setup_end();
}

static void its_end(void **state)
{
	u8 buf[16];
	u32 off;

	begin();
	/* the extended space reads as zeros, also after a write */
	for (off = 256; off < 4096; off += 4) {
		put(off, ~0u);
		assert_int_equal(get(off), 0);
	}
	assert_int_equal(config(4096, buf, 4, false), -EINVAL);
	assert_int_equal(config(4096, buf, 4, true), -EINVAL);
	assert_int_equal(config(4088, buf, 16, false), 8);
	setup_end();
}

/*
 * In the first 256 bytes, all ones (but not to DEVCTL) and then zeros are written to each word. A
 * bit that was 0 at reset either keeps what was written or stays 0. No bit is 1 only after a
 * written 0.
 */
static void only_what_may_change(void **state)
{
	static u32 reset[64], ones[64], zeros[64];
	u32 i;

	begin();
	for (i = 0; i < 64; i++)
		reset[i] = get(4 * i);
	for (i = 0; i < 64; i++)
		if (4 * i != GK110_PCI_EXP_DEVCTL) /* a one there begins a reset */
			put(4 * i, ~0u);
	for (i = 0; i < 64; i++) {
		ones[i] = get(4 * i);
		put(4 * i, 0);
		zeros[i] = get(4 * i);
		if ((zeros[i] & ~ones[i]) ||
		    ((reset[i] ^ zeros[i]) & ~(ones[i] ^ zeros[i]) & ~reset[i]))
			harness_fail(
				"S3: word 0x%x of the configuration: %08x at reset, %08x, %08x",
				4 * i, reset[i], ones[i], zeros[i]);
	}
	world_reset(0);
	for (i = 0; i < 64; i++)
		if (get(4 * i) != reset[i])
			harness_fail(
				"S4: word 0x%x of the configuration is %08x after a reset, and was %08x",
				4 * i, get(4 * i), reset[i]);
	setup_end();
}

static void a_function_level_reset(void **state)
{
	begin();
	assert_int_equal(container_pins(setup_c), 2);
	put(GK110_PCI_BAR1_HI, 0x77);
	put(GK110_PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_BCR_FLR);
	assert_int_equal(container_pins(setup_c), 0);
	assert_int_equal(get(GK110_PCI_BAR1_HI), 0);
	assert_int_equal(get(GK110_PCI_EXP_DEVCTL) & PCI_EXP_DEVCTL_BCR_FLR, 0);
	assert_true(RB_EMPTY_ROOT(&g->v->m->chans));
	setup_run(0, 1, 0);
	assert_int_equal(container_pins(setup_c), 2);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_is),
		cmocka_unit_test(bars_have_the_types_sizes),
		cmocka_unit_test(bytes),
		cmocka_unit_test(its_end),
		cmocka_unit_test(only_what_may_change),
		cmocka_unit_test(a_function_level_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
