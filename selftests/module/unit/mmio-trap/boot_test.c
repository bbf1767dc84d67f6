// SPDX-License-Identifier: GPL-2.0-only
/*
 * The accesses of stock nouveau (6.12, nvkm/), in its order and with its polls. play() plays the
 * host's side, too: it completes runlists and preempts.
 */
#include <gk110/fifo.h>
#include <gk110/gr.h>
#include <gk110/pmu.h>

#include "guest.h"

/* number of commands of each kind that play() made since the test began */
static unsigned int seen[KVGPU_CMD_ALARM + 1];

static int fresh(void **state)
{
	memset(seen, 0, sizeof(seen));
	return guest_begin(state);
}

/* Writes a register. Completes the command if it is a runlist or a preempt. */
static void play(struct guest *g, uint32_t reg, uint32_t val)
{
	seen[wr(g, reg, val)]++;
	if (g->cmd.kind == KVGPU_CMD_RUNLIST)
		kvgpu_trap_runlist_done(&g->t, g->cmd.runlist.runl);
	else if (g->cmd.kind == KVGPU_CMD_PREEMPT)
		kvgpu_trap_preempt_done(&g->t);
}

static void play_mask(struct guest *g, uint32_t reg, uint32_t clear, uint32_t set)
{
	play(g, reg, (rd(g, reg) & ~clear) | set);
}

/* Checks a register that nouveau polls for up to 2 s: the first read must end the poll. */
static void poll(struct guest *g, uint32_t reg, uint32_t bits, uint32_t want)
{
	uint32_t val = rd(g, reg);

	if ((val & bits) != want)
		fail_msg("%06x reads %08x: nouveau waits 2 s", reg, val);
}

static void poll_any(struct guest *g, uint32_t reg, uint32_t bits)
{
	if (!(rd(g, reg) & bits))
		fail_msg("%06x lacks %08x: nouveau waits 2 s", reg, bits);
}

/* ------------------------------------------------------------------ pieces of nouveau */

static void subdev_reset(struct guest *g, uint32_t bit)
{
	play_mask(g, 0x000200, bit, 0);
	rd(g, 0x000200);
	play_mask(g, 0x000200, 0, bit);
	assert_true(rd(g, 0x000200) & bit);
}

static void timer_init(struct guest *g)
{
	play(g, 0x009220, 2);
	play(g, 0x009200, 0x144);
	play(g, 0x009210, 0x7d);
	play(g, 0x009410, 0x18a5);
	play(g, 0x009400, 0x89f00000);
	/*
	 * Writes to the time registers are ignored: the guest has the card's time
	 * (mmio-trap/ptimer.c).
	 */
	assert_int_equal(rd(g, 0x009410), 0);
	assert_in_range(rd(g, 0x009400), 1000000000, 2000000000);
}

static uint32_t fuse_read(struct guest *g, uint32_t word)
{
	uint32_t en = rd(g, 0x022400), unk = rd(g, 0x021000), val;

	mask(g, 0x022400, 0x800, 0x800);
	mask(g, 0x021000, 1, 1);
	val = rd(g, 0x021100 + word);
	play(g, 0x021000, unk);
	play(g, 0x022400, en);
	return val;
}

static void pmu_init(struct guest *g)
{
	unsigned int i;

	play(g, 0x10a014, 0xffff);
	poll(g, 0x10a04c, 0xffffffff, 0);
	subdev_reset(g, 0x2000);
	poll(g, 0x10a10c, 6, 0);
	play(g, 0x10a1c0, 0x01000000);
	for (i = 0; i < 896; i++)
		play(g, 0x10a1c4, i * 3);
	play(g, 0x10a180, 0x01000000);
	for (i = 0; i < 768; i++) {
		if (!(i & 0x3f))
			play(g, 0x10a188, i >> 6);
		play(g, 0x10a184, i);
	}
	play(g, 0x10a10c, 0);
	play(g, 0x10a104, 0);
	play(g, 0x10a100, 2);
	poll_any(g, 0x10a4d0, 0xffffffff);
	poll_any(g, 0x10a4dc, 0xffffffff);
	play(g, 0x10a010, 0xe0);
}

static void tlb_flush(struct guest *g, uint64_t pd, uint32_t type)
{
	poll_any(g, 0x100c80, 0x00ff0000);
	play(g, 0x100cb8, pd >> 8);
	play(g, 0x100cbc, 0x80000000 | type);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_TLB);
	assert_int_equal(g->cmd.tlb.pd.addr, pd);
	poll_any(g, 0x100c80, 0x00008000);
}

static void bar_flush(struct guest *g)
{
	play(g, 0x070000, 1);
	poll(g, 0x070000, 2, 0);
}

static void bars_init(struct guest *g)
{
	play(g, 0x100c10, 0x006aaac0);
	play_mask(g, 0x100c80, 1, 0);
	play(g, 0x001700, 0x1fa0);
	play(g, 0x001714, 0x8001faf6);
	bar_flush(g);
	bar_flush(g);
	play(g, 0x001704, 0x8001faa5);
	tlb_flush(g, 0x1fae6000, 5);
}

static void fifo_init(struct guest *g)
{
	uint32_t save, p;

	subdev_reset(g, 0x100);
	save = rd(g, 0x000204);
	play(g, 0x000204, 0xffffffff);
	assert_int_equal(__builtin_popcount(rd(g, 0x000204)), 3);
	play(g, 0x000204, save);
	play(g, 0x000204, 7);
	play_mask(g, 0x002a04, 0xbfffffff, 0xbfffffff);
	for (p = 0; p < 3; p++) {
		play_mask(g, 0x04013c + p * 0x2000, 0x10000100, 0);
		play(g, 0x040108 + p * 0x2000, 0xffffffff);
		play(g, 0x04010c + p * 0x2000, 0xfffffeff);
		play(g, 0x040148 + p * 0x2000, 0xffffffff);
		play(g, 0x04014c + p * 0x2000, 0xffffffff);
	}
	play(g, 0x002254, 0x10000000);
	play(g, 0x002100, 0xffffffff);
	play(g, 0x002140, 0x7fffffff);
}

static void intr_init(struct guest *g)
{
	play_mask(g, 0x000640, 0, 0x5b3431e0);
	play(g, 0x000140, 1);
	play(g, 0x000144, 1);
}

/*
 * Begins a run of nouveau's interrupt handler: disarms the outputs, re-arms MSI, and returns what
 * is pending. intr_end() arms the outputs again.
 */
static uint32_t intr_begin(struct guest *g)
{
	assert_true(message_due(g));
	play(g, 0x000140, 0);
	play(g, 0x000144, 0);
	rd(g, 0x000140);
	kvgpu_trap_write(&g->t, 0x088068, 0xff, 0xff, g->now, &g->cmd);
	rd(g, 0x000104);
	return rd(g, 0x000100);
}

static void intr_end(struct guest *g)
{
	play(g, 0x000140, 1);
	play(g, 0x000144, 1);
}

static void runlist_intr(struct guest *g)
{
	assert_int_equal(intr_begin(g), 0x100);
	assert_int_equal(rd(g, 0x002100) & rd(g, 0x002140), 0x40000000);
	assert_int_equal(rd(g, 0x002a00), 1);
	play(g, 0x002a00, 1);
	intr_end(g);
	assert_false(message_due(g));
}

static void runlist_commit(struct guest *g, uint32_t count)
{
	play(g, 0x002270, 0x0001f7c3);
	play(g, 0x002274, count);
	poll(g, 0x002284, 0x00100000, 0);
	runlist_intr(g);
}

static void channel_new(struct guest *g, uint32_t id)
{
	play_mask(g, 0x800004 + id * 8, 0x000f0000, 0);
	play(g, 0x800000 + id * 8, 0x8001f000 + id);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_CHAN_BIND);
	play_mask(g, 0x800004 + id * 8, 0x400, 0x400);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_CHAN_ENABLE);
	runlist_commit(g, 1);
}

static void preempt(struct guest *g, uint32_t what)
{
	play(g, 0x002634, what);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_PREEMPT);
	poll(g, 0x002634, 0x00100000, 0);
}

static void channel_end(struct guest *g, uint32_t id)
{
	play_mask(g, 0x800004 + id * 8, 0x800, 0x800);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_CHAN_DISABLE);
	preempt(g, id);
	runlist_commit(g, 0);
	play(g, 0x800000 + id * 8, 0);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_CHAN_UNBIND);
}

static void load(struct guest *g)
{
	assert_int_equal(rd(g, 0x000004), 0);
	assert_int_equal(rd(g, 0x000000) >> 20 & 0x1ff, 0x0f0);
	play(g, 0x000200, 0xffffffff);
	assert_true(rd(g, 0x02240c) & 2);
	timer_init(g);
	assert_int_equal(fuse_read(g, 0x1a8), 0);
	assert_int_not_equal(fuse_read(g, 0x3a8), 0);
	pmu_init(g);
	bars_init(g);
	fifo_init(g);
	intr_init(g);
}

/* ------------------------------------------------------------------ GR */

static void pgob(struct guest *g)
{
	static const struct {
		uint32_t reg, val;
	} magic[] = {
		{ 0x020520, 0xfffffffc }, { 0x020524, 0xfffffffe }, { 0x020524, 0xffffffe0 },
		{ 0x020530, 0xfffffffe }, { 0x02052c, 0xfffffffa }, { 0x02052c, 0xffffff00 },
		{ 0x020528, 0xfffffffe }, { 0x020528, 0xfffffffc },
	};
	unsigned int i;

	play_mask(g, 0x000200, 0x00001000, 0);
	play_mask(g, 0x000200, 0, 0x08000000);
	play_mask(g, 0x10a78c, 2, 2);
	play_mask(g, 0x0206b4, 0, 0);
	for (i = 0; i < ARRAY_SIZE(magic); i++) {
		play(g, magic[i].reg, magic[i].val);
		poll(g, magic[i].reg, 0x80000000, 0);
	}
	play_mask(g, 0x000200, 0x08000000, 0);
	play_mask(g, 0x000200, 0, 0x00001000);
}

static void falcon_load(struct guest *g, uint32_t base, uint32_t s0)
{
	unsigned int i;

	play(g, base + 0x1c0, 1u << 24);
	for (i = 0; i < 64; i++)
		play(g, base + 0x1c4, i == 0 ? s0 : i == 1 ? s0 + 8 : i);
	play(g, base + 0x180, 1u << 24);
	for (i = 0; i < 128; i++) {
		if (!(i & 63))
			play(g, base + 0x188, i >> 6);
		play(g, base + 0x184, ~i);
	}
}

/*
 * As gf100_gr_init_csdata(): reads two list ends, appends @words at the larger one, and moves the
 * second list end behind them.
 */
static void csdata(struct guest *g, uint32_t base, uint32_t star, const uint32_t *words,
		   uint32_t nr)
{
	uint32_t end, other, i;

	play(g, base + 0x1c0, 0x02000000 + star);
	end = rd(g, base + 0x1c4);
	other = rd(g, base + 0x1c4);
	if (other > end)
		end = other;
	play(g, base + 0x1c0, 0x01000000 + end);
	for (i = 0; i < nr; i++)
		play(g, base + 0x1c4, words[i]);
	end += 4 * (nr - 1);
	play(g, base + 0x1c0, 0x01000004 + star);
	play(g, base + 0x1c4, end + 4);
}

static void gr_init(struct guest *g)
{
	static const uint32_t words[] = { 0x04404000, 0x7c404100, 0x00405800 };
	unsigned int i;

	pgob(g);
	play(g, 0x400500, 0x00010001);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_NONE);
	play(g, 0x400100, 0xffffffff);
	play(g, 0x40013c, 0xffffffff);
	play(g, 0x400124, 2);
	for (i = 0; i < 5; i++)
		play(g, 0x500420 + 0x8000 * i, 0xc0000000);
	play(g, 0x000260, 0);
	falcon_load(g, 0x409000, 0x300);
	falcon_load(g, 0x41a000, 0x080);
	play(g, 0x000260, 1);
	csdata(g, 0x409000, 0, words, 3);
	csdata(g, 0x409000, 0, words, 2);
	csdata(g, 0x41a000, 8, words, 1);
	play(g, 0x40910c, 0);
	play(g, 0x409100, 2);
	poll(g, 0x409800, 0x80000000, 0x80000000);
	assert_int_equal(rd(g, 0x409804), GUEST_CTX_SIZE);
	/*
	 * FECS's data memory holds what was written: the list end that was moved twice, and the
	 * words
	 */
	play(g, 0x4091c0, 0x02000004);
	assert_int_equal(rd(g, 0x4091c4), 0x308 + 4 * 5);
	play(g, 0x4091c0, 0x02000308);
	for (i = 0; i < 5; i++)
		assert_int_equal(rd(g, 0x4091c4), words[i % 3]);
}

static void golden_context(struct guest *g)
{
	const uint32_t inst = 0x0001f762;
	unsigned int i;

	play(g, 0x404170, 0x12);
	poll(g, 0x404170, 0x10, 0);
	play(g, 0x409614, 0x070);
	play_mask(g, 0x409614, 0, 0x700);
	assert_int_equal(rd(g, 0x409614), 0x770);
	play(g, 0x404170, 0x10);
	poll(g, 0x404170, 0x10, 0);
	play(g, 0x40802c, 1);

	play(g, 0x409840, 0x80000000);
	poll(g, 0x409800, 0x80000000, 0);
	play(g, 0x409500, 0x80000000 | inst);
	play(g, 0x409504, 1);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_GR_BIND);
	assert_int_equal(g->cmd.inst.target, KVGPU_VRAM);
	assert_int_equal(g->cmd.inst.addr, (uint64_t)inst << 12);
	poll(g, 0x409800, 0x80000000, 0x80000000);

	for (i = 0; i < 3000; i++) {
		play(g, 0x405800 + 4 * (i % 512), i);
		play(g, 0x400204, i);
		play(g, 0x400200, i & 0xffff);
		poll(g, 0x400700, 0xffffffff, 0);
		play(g, 0x40448c, i);
		play(g, 0x404488, 0x80000000 | 0xa197 | (i & 0xffc) << 14);
		poll(g, 0x40060c, 1, 0);
		assert_int_equal(g->cmd.kind, KVGPU_CMD_NONE);
	}

	play_mask(g, 0x409b04, 0x80000000, 0);
	play(g, 0x409000, 0x100);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_GR_SAVE);
	assert_int_equal(g->cmd.inst.addr, (uint64_t)inst << 12);
	poll(g, 0x409b00, 0x80000000, 0);
}

TEST(loads_and_makes_channels)
{
	unsigned int i;

	load(g);
	for (i = 0; i < 20; i++)
		channel_new(g, i);
	for (i = 20; i--;)
		channel_end(g, i);
	assert_int_equal(seen[KVGPU_CMD_CHAN_BIND], 20);
	assert_int_equal(seen[KVGPU_CMD_CHAN_UNBIND], 20);
	assert_int_equal(seen[KVGPU_CMD_RUNLIST], 40);
	assert_int_equal(g->t.nr_unlisted + g->t.nr_denied + g->t.nr_dropped, 0);
}

TEST(makes_gr_objects)
{
	load(g);
	channel_new(g, 1);
	gr_init(g);
	golden_context(g);
	assert_int_equal(g->t.nr_unlisted + g->t.nr_denied + g->t.nr_dropped, 0);
	/* load again, as after rmmod and insmod */
	load(g);
	gr_init(g);
	golden_context(g);
	assert_int_equal(g->t.nr_unlisted + g->t.nr_denied + g->t.nr_dropped, 0);
	assert_int_equal(seen[KVGPU_CMD_GR_SAVE], 2);
}

/* ------------------------------------------------------------------ when things go wrong */

static void recover(struct guest *g, uint32_t id)
{
	play_mask(g, 0x002630, 0, 1);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_RUNL_BLOCK);
	play_mask(g, 0x800004 + id * 8, 0x800, 0x800);
	preempt(g, id);
	play(g, 0x00262c, 1);
	play_mask(g, 0x002630, 1, 0);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_RUNL_ALLOW);
	runlist_commit(g, 0);
}

TEST(mmu_fault)
{
	load(g);
	channel_new(g, 3);
	kvgpu_trap_mmu_fault(&g->t, 0x15, 0x1f003000, 0x1234567000, 0x1c2);
	assert_int_equal(intr_begin(g), 0x100);
	assert_int_equal(rd(g, 0x002100) & rd(g, 0x002140), 0x10000000);
	assert_int_equal(rd(g, 0x00259c), 1 << 0x15);
	assert_int_equal(rd(g, 0x002800 + 0x150), 0x1f003);
	assert_int_equal(rd(g, 0x002804 + 0x150), 0x34567000);
	assert_int_equal(rd(g, 0x002808 + 0x150), 0x12);
	assert_int_equal(rd(g, 0x00280c + 0x150), 0x1c2);
	play(g, 0x00259c, 1 << 0x15);
	intr_end(g);
	assert_false(message_due(g));
	recover(g, 3);
}

/*
 * The host reports a scheduling error, and the engine seems to hang on channel 5. nouveau triggers
 * an MMU fault to get the channel off, and handles the fault when it comes.
 */
TEST(context_switch_timeout)
{
	load(g);
	channel_new(g, 5);
	kvgpu_trap_engine_status_set(&g->t, 0, 0x8005a005);
	kvgpu_trap_sched_error(&g->t, 0x0a);
	assert_int_equal(intr_begin(g), 0x100);
	assert_int_equal(rd(g, 0x002100) & rd(g, 0x002140), 0x100);
	assert_int_equal(rd(g, 0x00254c) & 0xff, 0x0a);
	assert_int_equal(rd(g, 0x002640), 0x8005a005);
	play_mask(g, 0x002630, 0, 1);
	play_mask(g, 0x002140, 0x100, 0);
	play(g, 0x002100, 0x100);
	play(g, 0x002a30, 0x100);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_FAULT_TRIGGER);
	play_mask(g, 0x002630, 1, 0);
	play(g, 0x002100, 0x100);
	intr_end(g);

	kvgpu_trap_engine_status_set(&g->t, 0, 0);
	kvgpu_trap_mmu_fault(&g->t, 0, 0x1f005000, 0, 0x40);
	assert_int_equal(intr_begin(g), 0x100);
	assert_int_equal(rd(g, 0x00259c), 1);
	assert_int_equal(rd(g, 0x002a30) & 0x100, 0x100);
	play_mask(g, 0x002a30, 0x100, 0);
	play_mask(g, 0x002140, 0x100, 0x100);
	play(g, 0x00259c, 1);
	intr_end(g);
	recover(g, 5);
}

/* A method for software, handled as nouveau's gf100_runq_intr() and gk104_runq_intr_1() do. */
TEST(software_method)
{
	struct kvgpu_pbdma_snap snap = {
		.pbdma = 1, .chid = { 9 }, .intr0 = 0x00800000, .method = 0x80670500, .data = 77
	};
	uint32_t b = 0x2000;

	load(g);
	kvgpu_trap_pbdma(&g->t, &snap);
	assert_int_equal(intr_begin(g), 0x100);
	assert_int_equal(rd(g, 0x002100) & rd(g, 0x002140), 0x20000000);
	assert_int_equal(rd(g, 0x0025a0), 2);
	assert_int_equal(rd(g, 0x040108 + b) & rd(g, 0x04010c + b), 0x00800000);
	assert_int_equal(rd(g, 0x0400c0 + b), 0x80670500);
	assert_int_equal(rd(g, 0x0400c4 + b), 77);
	assert_int_equal(rd(g, 0x040120 + b) & 0xfff, 9);
	play(g, 0x0400c0 + b, 0x80600008);
	play(g, 0x040108 + b, 0x00800000);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_PBDMA_ACK);
	assert_int_equal(g->cmd.pbdma.pbdma, 1);
	assert_int_equal(g->cmd.pbdma.intr0, 0x00800000);
	assert_true(g->cmd.pbdma.skip);
	assert_int_equal(rd(g, 0x040148 + b) & rd(g, 0x04014c + b), 0);
	play(g, 0x040148 + b, 0);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_NONE);
	play(g, 0x0025a0, 2);
	intr_end(g);
	assert_false(message_due(g));
}

TEST(refused_copy_command)
{
	struct kvgpu_pbdma_snap snap = {
		.chid = { 2 }, .intr1 = 4, .hce_method = 0x300, .hce_data = 0x1186
	};

	load(g);
	kvgpu_trap_pbdma(&g->t, &snap);
	intr_begin(g);
	assert_int_equal(rd(g, 0x040108), 0);
	play(g, 0x0400c0, 0x80600008);
	play(g, 0x040108, 0);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_NONE);
	assert_int_equal(rd(g, 0x040148), 4);
	assert_int_equal(rd(g, 0x040150), 0x300);
	assert_int_equal(rd(g, 0x040154), 0x1186);
	play(g, 0x040148, 4);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_PBDMA_ACK);
	assert_int_equal(g->cmd.pbdma.intr1, 4);
	play(g, 0x0025a0, 1);
	intr_end(g);
	assert_false(message_due(g));
}

TEST(gr_exception)
{
	static const struct kvgpu_reg_val regs[] = {
		{ 0x409b00, 0x8001f003 }, { 0x400704, 0x00010500 }, { 0x400708, 0x55 },
		{ 0x404204, 0xa1c0 },	  { 0x400118, 0x4 },	    { 0x512c90, 0x00020001 },
		{ 0x510420, 0x80000010 }, { 0x514d08, 2 },	    { 0x514e48, 9 },
		{ 0x514e50, 4 },	  { 0x600000, 1 },
	};

	load(g);
	gr_init(g);
	play_mask(g, 0x000640, 0, 0x1000);
	kvgpu_trap_gr(&g->t, 0x00200000, 0x01000000, regs, ARRAY_SIZE(regs));
	assert_int_equal(intr_begin(g), 0x1000);
	assert_int_equal(rd(g, 0x409b00) & 0x0fffffff, 0x1f003);
	assert_int_equal(rd(g, 0x400100), 0x00200000);
	assert_int_equal(rd(g, 0x400704), 0x00010500);
	assert_int_equal(rd(g, 0x404204), 0xa1c0);
	assert_int_equal(rd(g, 0x400108), 0x01000000);
	assert_int_equal(rd(g, 0x400118), 4);
	assert_int_equal(rd(g, 0x512c90), 0x00020001);
	assert_int_equal(rd(g, 0x510420) & 0x3fffffff, 0x10);
	play(g, 0x510420, 0xc0000000);
	assert_int_equal(rd(g, 0x510420), 0x80000000);
	assert_int_equal(rd(g, 0x514d08), 2);
	play(g, 0x514e48, 0);
	play(g, 0x514e50, 4);
	play(g, 0x512c90, 0x00020000);
	play(g, 0x400118, 4);
	play(g, 0x400108, 0x01000000);
	play(g, 0x400100, 0x00200000);
	assert_int_equal(seen[KVGPU_CMD_GR_ACK], 0);
	play(g, 0x400500, 0x00010001);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_GR_ACK);
	intr_end(g);
	assert_false(message_due(g));
	/* no register still shows this exception, so the next one is not taken for it */
	assert_int_equal(rd(g, 0x400100) | rd(g, 0x400108) | rd(g, 0x400118) | rd(g, 0x512c90) |
				 rd(g, 0x514d08) | rd(g, 0x514e50) | rd(g, 0x600000),
			 0);
}

TEST(fecs_rejects_a_firmware_method)
{
	static const struct kvgpu_reg_val regs[] = { { 0x409b00, 0x8001f003 }, { 0x409c18, 1 } };

	load(g);
	gr_init(g);
	play_mask(g, 0x000640, 0, 0x1000);
	kvgpu_trap_gr(&g->t, 0x00080000, 0, regs, ARRAY_SIZE(regs));
	intr_begin(g);
	assert_int_equal(rd(g, 0x409c18), 1);
	play(g, 0x409c20, 1);
	assert_int_equal(rd(g, 0x409c18), 0);
	play(g, 0x400100, 0x00080000);
	play(g, 0x400500, 0x00010001);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_GR_ACK);
	intr_end(g);
	assert_false(message_due(g));
}

TEST(copy_launch_error)
{
	load(g);
	kvgpu_trap_ce(&g->t, 2, 4, 8);
	assert_int_equal(intr_begin(g), 0x40);
	assert_int_equal(rd(g, 0x105908) & rd(g, 0x105904), 4);
	assert_int_equal(rd(g, 0x105f14), 8);
	play(g, 0x105f14, 0);
	play(g, 0x105908, 4);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_CE_ACK);
	assert_int_equal(g->cmd.mask, 4);
	intr_end(g);
	assert_false(message_due(g));
}

/* As nouveau's gt215_pmu_send() sends a message and gets the PMU's reply. */
TEST(pmu_message)
{
	uint32_t base, put, get, round;

	load(g);
	base = rd(g, 0x10a4d0) & 0xffff;
	for (round = 0; round < 20; round++) {
		put = rd(g, 0x10a4a0);
		assert_true(rd(g, 0x10a4b0) != (put ^ 8));
		play(g, 0x10a580, 1);
		assert_int_equal(rd(g, 0x10a580), 1);
		play(g, 0x10a580, 2);
		assert_int_equal(rd(g, 0x10a580), 1);
		play(g, 0x10a1c0, 0x01000000 | (((put & 7) << 4) + base));
		play(g, 0x10a1c4, PMU_PROC_MEMX);
		play(g, 0x10a1c4, PMU_MEMX_INFO);
		play(g, 0x10a1c4, PMU_MEMX_INFO_DATA);
		play(g, 0x10a1c4, 0);
		play(g, 0x10a4a0, (put + 1) & 0xf);
		play(g, 0x10a580, 0);
		assert_int_equal(rd(g, 0x10a4b0), (put + 1) & 0xf);

		assert_int_equal(intr_begin(g), 0x01000000);
		assert_int_equal(rd(g, 0x10a008) & rd(g, 0x10a01c), 0x40);
		play(g, 0x10a004, 0x40);
		intr_end(g);
		assert_false(message_due(g));
		get = rd(g, 0x10a4cc);
		assert_int_not_equal(get, rd(g, 0x10a4c8));
		play(g, 0x10a1c0, 0x02000000 | (((get & 7) << 4) + (rd(g, 0x10a4dc) & 0xffff)));
		assert_int_equal(rd(g, 0x10a1c4), PMU_PROC_MEMX);
		assert_int_equal(rd(g, 0x10a1c4), PMU_MEMX_INFO);
		assert_int_equal(rd(g, 0x10a1c4), PMU_IMAGE_MEMX_DATA);
		assert_int_equal(rd(g, 0x10a1c4), PMU_IMAGE_MEMX_DATA_SIZE);
		play(g, 0x10a4cc, (get + 1) & 0xf);
		assert_int_equal(rd(g, 0x10a4cc), rd(g, 0x10a4c8));
	}
}

/*
 * A driver sends messages and takes no reply. The ring of replies keeps the first eight, in order,
 * from any place in it on; what comes then has none.
 */
TEST(pmu_replies_that_nobody_takes)
{
	uint32_t base, rbase, put, get, round, i;

	load(g);
	base = rd(g, 0x10a4d0) & 0xffff;
	rbase = rd(g, 0x10a4dc) & 0xffff;
	for (round = 0; round < 4; round++) {
		get = rd(g, 0x10a4cc);
		assert_int_equal(rd(g, 0x10a4c8), get);
		for (i = 0; i < 11; i++) {
			put = rd(g, 0x10a4a0);
			play(g, 0x10a1c0, 0x01000000 | (((put & 7) << 4) + base));
			play(g, 0x10a1c4, PMU_PROC_MEMX);
			play(g, 0x10a1c4, 0x100 + i);
			play(g, 0x10a1c4, 0);
			play(g, 0x10a1c4, 0);
			play(g, 0x10a4a0, (put + 1) & 0xf);
			assert_int_equal(rd(g, 0x10a4b0), (put + 1) & 0xf);
		}
		assert_int_equal((rd(g, 0x10a4c8) - get) & 0xf, 8);
		for (i = 0; i < 8; i++) {
			play(g, 0x10a1c0, 0x02000000 | ((((get + i) & 7) << 4) + rbase));
			assert_int_equal(rd(g, 0x10a1c4), PMU_PROC_MEMX);
			assert_int_equal(rd(g, 0x10a1c4), 0x100 + i);
		}
		play(g, 0x10a4cc, (get + 8 - round % 2) & 0xf);
		play(g, 0x10a4cc, (get + 8) & 0xf);
	}
}

/* After a reset registers below 0x820000 read as those of a new vGPU. */
TEST(reset_forgets_everything)
{
	struct guest *n = guest_new();
	uint32_t reg;
	uint64_t writes;

	load(g);
	channel_new(g, 1);
	gr_init(g);
	golden_context(g);
	kvgpu_trap_nonstall(&g->t);
	writes = g->t.nr_writes;
	kvgpu_trap_reset(&g->t);
	assert_int_equal(g->t.nr_writes, writes);
	assert_false(message_due(g));
	for (reg = 0; reg < 0x820000; reg += 4)
		assert_int_equal(kvgpu_trap_read(&g->t, reg, 5000),
				 kvgpu_trap_read(&n->t, reg, 5000));
	guest_free(n);
}

TEST_MAIN(fresh, guest_end)
