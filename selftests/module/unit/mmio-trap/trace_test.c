// SPDX-License-Identifier: GPL-2.0-only
/*
 * Accesses that were recorded from stock nouveau (trace_*.inc). Every register in them must be
 * listed. Where the first value that nouveau read means the same on any card, a new vGPU must give
 * the same value.
 */
#include <stdio.h>

#include <gk110/fifo.h>
#include <gk110/ppci.h>

#include "guest.h"

struct record {
	uint32_t reg, reads, writes, first, last;
};

static const struct record load[] = {
#include "trace_load.inc"
};
static const struct record first_gr_object[] = {
#include "trace_first_gr_object.inc"
};

static void all_listed(const struct record *r, size_t nr)
{
	struct kvgpu_reg_info info;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (!kvgpu_trap_info(r[i].reg, &info))
			fail_msg("%06x (%u reads, %u writes) is in no table", r[i].reg, r[i].reads,
				 r[i].writes);
		if ((r[i].writes && info.wr == KVGPU_REG_DENY) ||
		    (r[i].reads && info.rd == KVGPU_REG_DENY))
			fail_msg("%06x is denied, and nouveau uses it", r[i].reg);
	}
}

TEST(nouveau_meets_listed_registers)
{
	all_listed(load, ARRAY_SIZE(load));
	all_listed(first_gr_object, ARRAY_SIZE(first_gr_object));
}

/* Registers whose first value may differ, and why. */
static const struct {
	uint32_t first, last;
	const char *why;
} differs[] = {
	{ 0x000640, 0x000648,
	  "the recorded chip started with all sources masked; nouveau before Linux 6.2 relies on none being" },
	{ 0x000100, 0x000100, "depends on what was pending when it was recorded" },
	{ 0x000200, 0x000200,
	  "the prototype kept what was written; here the chip's enables are on after POST" },
	{ 0x002100, 0x002140, "depends on what was pending; written before it was read" },
	{ 0x002390, 0x002398, "the prototype had more runlists" },
	{ 0x002634, 0x002634, "written before it was read" },
	{ 0x002a00, 0x002a04,
	  "depends on what was pending; timeouts have the chip's value after reset" },
	{ 0x009400, 0x009410, "time" },
	{ 0x00e720, 0x00e720, "set by the prototype's board" },
	{ 0x020520, 0x020530, "written before it was read: its poll is in poll_test" },
	{ 0x0214a8, 0x0214a8, "a speedo, so that nouveau does not warn" },
	{ 0x02241c, 0x02241c, "PCIe version of the card" },
	{ 0x022438, 0x02243c, "four memory partitions" },
	{ 0x022500, 0x022500, "video engines are absent here too" },
	{ 0x022700, 0x02272c, "another interrupt and runlist wiring" },
	{ 0x04013c, 0x04013c, "stall masks have the chip's value after reset" },
	{ 0x04213c, 0x04213c, "stall masks have the chip's value after reset" },
	{ 0x04413c, 0x04413c, "stall masks have the chip's value after reset" },
	{ 0x088000, 0x088fff, "configuration space: the test supplies it below" },
	{ 0x10a4d0, 0x10a4dc, "rings are elsewhere; they appear after start: boot_test" },
	{ 0x10a78c, 0x10a78c, "written before it was read" },
	{ 0x11020c, 0x11420c, "the vGPU's memory" },
	{ 0x122000, 0x1223ff, "written before it was read" },
	{ 0x17e91c, 0x17e920, "the card's" },
	{ 0x17ea44, 0x17ea44, "written before it was read" },
	{ 0x404154, 0x404154, "written before it was read" },
	{ 0x404170, 0x404170, "written before it was read" },
	{ 0x405800, 0x405800, "written before it was read" },
	{ 0x4064c0, 0x4064c0, "written before it was read" },
	{ 0x408850, 0x408850, "written before it was read" },
	{ 0x408958, 0x408958, "written before it was read" },
	{ 0x409108, 0x40912c, "sizes of the falcons" },
	{ 0x4091c4, 0x4091c4, "uploaded before it was read" },
	{ 0x409614, 0x409614, "written before it was read" },
	{ 0x409800, 0x409804, "after start" },
	{ 0x409b00, 0x409b04, "after start" },
	{ 0x418c6c, 0x418c6c, "written before it was read" },
	{ 0x41980c, 0x41980c, "written before it was read" },
	{ 0x419c00, 0x419c00, "written before it was read" },
	{ 0x419eb0, 0x419eb4, "written before it was read" },
	{ 0x419f78, 0x419f78, "written before it was read" },
	{ 0x41a108, 0x41a12c, "sizes of the falcons" },
	{ 0x41a1c4, 0x41a1c4, "uploaded before it was read" },
	{ 0x41be08, 0x41be08, "written before it was read" },
	{ 0x800000, 0x80ffff, "channels" },
};

static const char *difference(uint32_t reg)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(differs); i++)
		if (reg >= differs[i].first && reg <= differs[i].last)
			return differs[i].why;
	return NULL;
}

static unsigned int compare(const struct record *r, size_t nr)
{
	struct guest *g = guest_new();
	unsigned int equal = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		uint32_t val;

		if (!r[i].reads || difference(r[i].reg))
			continue;
		val = rd(g, r[i].reg);
		if (val != r[i].first)
			fail_msg("%06x reads %08x, recorded %08x", r[i].reg, val, r[i].first);
		equal++;
	}
	guest_free(g);
	return equal;
}

TEST(first_values_are_as_recorded)
{
	assert_true(compare(load, ARRAY_SIZE(load)) > 100);
	assert_true(compare(first_gr_object, ARRAY_SIZE(first_gr_object)) >= 25);
}

/*
 * A replay of nouveau's accesses meets no register that is unlisted or denied, and fills a quarter
 * of the register file at most.
 */
TEST(replay_fits_the_file)
{
	const struct record *traces[] = { load, first_gr_object };
	const size_t nr[] = { ARRAY_SIZE(load), ARRAY_SIZE(first_gr_object) };
	unsigned int n, k;
	size_t i;

	for (n = 0; n < ARRAY_SIZE(traces); n++) {
		for (i = 0; i < nr[n]; i++) {
			/*
			 * do not write PFIFO_RUNLIST_SUBMIT: the recorded card had more runlists
			 * than the one that a guest here knows
			 */
			for (k = 0;
			     k < traces[n][i].writes && traces[n][i].reg != PFIFO_RUNLIST_SUBMIT;
			     k++)
				wr(g, traces[n][i].reg, traces[n][i].last);
			for (k = 0; k < traces[n][i].reads; k++)
				rd(g, traces[n][i].reg);
		}
	}
	assert_int_equal(g->t.nr_unlisted, 0);
	assert_int_equal(g->t.nr_denied, 0);
	assert_int_equal(g->t.nr_dropped, 0);
	assert_in_range(g->t.nr_slots_used, 1000, KVGPU_TRAP_SLOTS / 4);
}

TEST(configuration_is_mirrored)
{
	kvgpu_trap_config_set(&g->t, 0x00, 0x102810de);
	kvgpu_trap_config_set(&g->t, 0x7c, 0x00008fe1);
	kvgpu_trap_config_set(&g->t, 0xffc, 0x12345678);
	kvgpu_trap_config_set(&g->t, 0x1000, 0xdeadbeef);
	assert_int_equal(rd(g, PPCI_BASE), 0x102810de);
	assert_int_equal(rd(g, PPCI_BASE + 0x7c), 0x00008fe1);
	assert_int_equal(rd(g, PPCI_BASE + 0xffc), 0x12345678);
	assert_int_equal(rd(g, PPCI_BASE + 0x1000), 0);
}

TEST_MAIN(guest_begin, guest_end)
