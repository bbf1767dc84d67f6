// SPDX-License-Identifier: GPL-2.0-only
/*
 * The interrupt tree against a model that computes the output from the interrupts that were raised,
 * acknowledged and enabled; then single cases: nouveau's handler, re-arming MSI, alarm and time.
 */
#include <gk110/ce.h>
#include <gk110/fifo.h>
#include <gk110/gr.h>
#include <gk110/pmc.h>
#include <gk110/ppci.h>
#include <gk110/ptimer.h>

#include "guest.h"

struct naive {
	uint32_t fifo, faults, pbdmas, runlists, fifo_en, fifo_en1;
	uint32_t gr, gr_en, ce[3], ce_en[3], timer, timer_en;
	uint32_t mask[2], en[2];
	bool line, edge;
};

static uint32_t naive_fifo(const struct naive *n)
{
	return n->fifo | (n->faults ? 1u << 28 : 0) | (n->pbdmas ? 1u << 29 : 0) |
	       (n->runlists ? 1u << 30 : 0);
}

static uint32_t naive_leaf(const struct naive *n, unsigned int leaf)
{
	uint32_t src = 0, i;

	if (leaf)
		return n->mask[1] & (naive_fifo(n) & n->fifo_en1 ? 0x100 : 0);
	src |= naive_fifo(n) & n->fifo_en ? 1u << 8 : 0;
	src |= n->gr & n->gr_en ? 1u << 12 : 0;
	src |= n->timer & n->timer_en ? 1u << 20 : 0;
	for (i = 0; i < 3; i++)
		src |= n->ce[i] & n->ce_en[i] ? 1u << (5 + i) : 0;
	return src & n->mask[0];
}

static void naive_settle(struct naive *n)
{
	bool line = ((n->en[0] & 1) && naive_leaf(n, 0)) || ((n->en[1] & 1) && naive_leaf(n, 1));

	n->edge |= line && !n->line;
	n->line = line;
}

static uint32_t rnd(void)
{
	return (uint32_t)random() << 16 ^ (uint32_t)random();
}

/*
 * Returns one or two random bits: so few that events, acknowledgements and enables often have the
 * same bits.
 */
static uint32_t few(void)
{
	return 1u << (rnd() & 31) | 1u << (rnd() & 31);
}

static void event(struct guest *g, struct naive *n)
{
	struct kvgpu_pbdma_snap snap = { .pbdma = rnd() % 3, .intr0 = few() };
	uint32_t unit = rnd() & 31, bits = few(), e = rnd() % 3;

	switch (rnd() % 7) {
	case 0:
		kvgpu_trap_nonstall(&g->t);
		n->fifo |= 1u << 31;
		break;
	case 1:
		kvgpu_trap_runlist_done(&g->t, 0);
		n->runlists |= 1;
		break;
	case 2:
		kvgpu_trap_mmu_fault(&g->t, unit, 0x123000, 0x456000, 2);
		if (n->faults & 1u << unit)
			n->fifo |= 1u << 27;
		n->faults |= 1u << unit;
		break;
	case 3:
		kvgpu_trap_pbdma(&g->t, &snap);
		n->pbdmas |= 1u << snap.pbdma;
		break;
	case 4:
		kvgpu_trap_gr(&g->t, bits, 0, NULL, 0);
		n->gr |= bits;
		break;
	case 5:
		kvgpu_trap_ce(&g->t, e + 1, bits & 7, 1);
		n->ce[e] |= bits & 7;
		break;
	default:
		kvgpu_trap_sched_error(&g->t, 10);
		n->fifo |= 1u << 8;
	}
}

static void acknowledge(struct guest *g, struct naive *n)
{
	uint32_t bits = rnd() & 1 ? 0xffffffff : few(), e = rnd() % 3;

	switch (rnd() % 6) {
	case 0:
		wr(g, PFIFO_INTR, bits);
		n->fifo &= ~bits;
		break;
	case 1:
		wr(g, PFIFO_MMU_FAULT_SOURCE, bits);
		n->faults &= ~bits;
		break;
	case 2:
		wr(g, PFIFO_PBDMA_INTR_SOURCE, bits);
		n->pbdmas &= ~bits;
		break;
	case 3:
		wr(g, PFIFO_RUNLIST_EVENT, bits);
		n->runlists &= ~bits;
		break;
	case 4:
		wr(g, GR_INTR, bits);
		n->gr &= ~bits;
		break;
	default:
		wr(g, GK110_CE(e) + GK110_CE_INTR, bits);
		n->ce[e] &= ~bits;
	}
}

static void gate(struct guest *g, struct naive *n)
{
	uint32_t bits = rnd() % 3 ? 0xffffffff : few(), leaf = rnd() & 1, e = rnd() % 3;

	switch (rnd() % 8) {
	case 0:
		wr(g, PMC_INTR_EN(leaf), bits & 1);
		n->en[leaf] = bits & 1;
		break;
	case 1:
		wr(g, PMC_INTR_MASK(leaf), bits);
		n->mask[leaf] = bits;
		break;
	case 2:
		wr(g, PFIFO_INTR_EN, bits);
		n->fifo_en = bits;
		break;
	case 3:
		wr(g, PFIFO_INTR_EN_NRHOST, bits);
		n->fifo_en1 = bits;
		break;
	case 4:
		wr(g, GR_INTR_EN, bits);
		n->gr_en = bits;
		break;
	case 5:
		wr(g, GK110_CE(e) + GK110_CE_INTR_EN, bits);
		n->ce_en[e] = bits;
		break;
	default: /* the default, because nouveau writes this enable most often */
		wr(g, PMC_INTR_EN(0), rnd() & 1);
		n->en[0] = vtrap_reg_get(&g->t, PMC_INTR_EN(0));
	}
}

TEST(tree_is_as_computed)
{
	struct naive n = { .ce_en = { 7, 7, 7 }, .mask = { ~0u, ~0u } };
	unsigned int i, raised = 0;

	srandom(1);
	for (i = 0; i < 300000; i++) {
		bool was = n.line, edge, line;

		switch (rnd() % 3) {
		case 0:
			event(g, &n);
			g->cmd.irq = true;
			break;
		case 1:
			acknowledge(g, &n);
			break;
		default:
			gate(g, &n);
		}
		naive_settle(&n);
		assert_int_equal(rd(g, PMC_INTR(0)), naive_leaf(&n, 0));
		assert_int_equal(rd(g, PMC_INTR(1)), naive_leaf(&n, 1));
		assert_int_equal(rd(g, PFIFO_INTR), naive_fifo(&n));
		assert_int_equal(g->t.wants_nonstall, (n.fifo_en | n.fifo_en1) >> 31);
		/*
		 * a caller that looks at the line only when .irq says so misses no change of the
		 * line
		 */
		if (n.line != was)
			assert_true(g->cmd.irq);
		if (rnd() & 1)
			continue;
		line = kvgpu_trap_irq_take(&g->t, &edge);
		assert_int_equal(line, n.line);
		assert_int_equal(edge, n.edge);
		raised += edge;
		n.edge = false;
		kvgpu_trap_irq_take(&g->t, &edge);
		assert_false(edge);
	}
	assert_true(raised > 1000);
}

/*
 * As nouveau's handler does: disarm, re-arm MSI, serve, arm. There is one message for all events of
 * a batch, and an event that comes while the handler serves is not lost.
 */
TEST(handler_of_nouveau)
{
	wr(g, PMC_INTR_MASK(0), 0x100);
	wr(g, PFIFO_INTR_EN, 0xffffffff);
	wr(g, PMC_INTR_EN(0), 1);
	assert_false(message_due(g));
	kvgpu_trap_nonstall(&g->t);
	assert_true(message_due(g));
	kvgpu_trap_nonstall(&g->t);
	assert_false(message_due(g));

	wr(g, PMC_INTR_EN(0), 0);
	assert_int_equal(rd(g, PMC_INTR_EN(0)), 0);
	kvgpu_trap_write(&g->t, PPCI_BASE + GK110_PCI_MSI, 0xff, 0xff, g->now, &g->cmd);
	assert_false(message_due(g));
	assert_int_equal(rd(g, PMC_INTR(0)), 0x100);
	assert_int_equal(rd(g, PFIFO_INTR), 0x80000000);
	wr(g, PFIFO_INTR, 0x80000000);
	kvgpu_trap_runlist_done(&g->t, 0); /* another event, while the handler serves */
	assert_int_equal(wr(g, PMC_INTR_EN(0), 1), KVGPU_CMD_IRQ);
	assert_true(message_due(g));

	/*
	 * bit 30 shows whether PFIFO_RUNLIST_EVENT is not 0: a 1 written to bit 30 does nothing, a
	 * 1 written to the runlist's bit of that register clears this bit
	 */
	wr(g, PFIFO_INTR, 0x40000000);
	assert_int_equal(rd(g, PFIFO_INTR), 0x40000000);
	wr(g, PFIFO_RUNLIST_EVENT, 1);
	assert_int_equal(rd(g, PFIFO_INTR), 0);
	assert_int_equal(rd(g, PMC_INTR(0)), 0);
}

TEST(rearm_with_the_line_high_sends_again)
{
	wr(g, PMC_INTR_MASK(0), 0x100);
	wr(g, PFIFO_INTR_EN, 0x80000000);
	wr(g, PMC_INTR_EN(0), 1);
	kvgpu_trap_nonstall(&g->t);
	assert_true(message_due(g));
	kvgpu_trap_write(&g->t, PPCI_BASE + GK110_PCI_MSI, 0xff, 0xff, g->now, &g->cmd);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_IRQ);
	assert_true(message_due(g));
	/* a write of another byte of that word does not re-arm, whatever the word holds */
	kvgpu_trap_config_set(&g->t, GK110_PCI_MSI, 0x00806805);
	kvgpu_trap_write(&g->t, PPCI_BASE + GK110_PCI_MSI, 0xff00, 0xff00, g->now, &g->cmd);
	assert_false(message_due(g));
}

static uint32_t time_low(struct guest *g)
{
	return kvgpu_trap_read(&g->t, PTIMER_TIME_LOW, g->now);
}

/*
 * nouveau before Linux 6.2 enables the output and never writes the mask, so after power-on the mask
 * must let all sources through.
 */
TEST(nothing_is_masked_after_power_on)
{
	wr(g, PMC_INTR_EN(0), PMC_INTR_EN_HARDWARE);
	wr(g, PTIMER_INTR_EN, 1);
	kvgpu_trap_alarm_ring(&g->t, g->t.ptimer_alarm);
	assert_int_equal(rd(g, PMC_INTR(0)), 1u << PMC_INTR_TIMER);
	assert_true(g->t.line);
}

TEST(alarm_rings_when_the_low_word_comes)
{
	uint64_t due;

	wr(g, PMC_INTR_MASK(0), 1u << PMC_INTR_TIMER);
	wr(g, PMC_INTR_EN(0), 1);
	assert_int_equal(wr(g, PTIMER_ALARM, time_low(g) + 3000000), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, PTIMER_INTR_EN, 1), KVGPU_CMD_ALARM);
	due = g->t.ptimer_alarm;
	assert_in_range(due - g->now, 2900000, 3000000);
	kvgpu_trap_alarm_ring(&g->t, due - 1);
	assert_false(message_due(g));
	kvgpu_trap_alarm_ring(&g->t, due);
	assert_true(message_due(g));
	assert_int_equal(rd(g, PTIMER_INTR), 1);
	assert_int_equal(g->t.ptimer_alarm, due + (1ull << 32));
	wr(g, PTIMER_INTR, 1);
	assert_int_equal(rd(g, PMC_INTR(0)), 0);

	/*
	 * an alarm time that has just passed rings when the low word comes round in 4.3 s, not at
	 * once
	 */
	g->now = due + 1000;
	wr(g, PTIMER_ALARM, time_low(g) - 32);
	assert_in_range(g->t.ptimer_alarm - g->now, 4290000000ull, 4294967296ull);
	assert_int_equal(wr(g, PTIMER_INTR_EN, 0), KVGPU_CMD_ALARM);
	assert_int_equal(g->t.ptimer_alarm, 0);
}

/* The GPU stamps memory with the card's time, so a guest's writes to the time are ignored. */
TEST(the_time_is_the_cards)
{
	uint64_t alarm, time;

	wr(g, PTIMER_INTR_EN, 1);
	wr(g, PTIMER_ALARM, 0x89bbcde0);
	alarm = g->t.ptimer_alarm;
	assert_int_equal(wr(g, PTIMER_TIME_HIGH, 0x01234567), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, PTIMER_TIME_LOW, 0x89abcde0), KVGPU_CMD_NONE);
	time = kvgpu_trap_read(&g->t, PTIMER_TIME_LOW, g->now) |
	       (uint64_t)kvgpu_trap_read(&g->t, PTIMER_TIME_HIGH, g->now) << 32;
	assert_int_equal(time, (g->now + g->t.ptimer_offset) & ~0x1full);
	assert_int_equal(g->t.ptimer_alarm, alarm);
}

TEST_MAIN(guest_begin, guest_end)
