// SPDX-License-Identifier: GPL-2.0-only
/* TRAP registers, and the commands that writes make for the host. */
#include "guest.h"

TEST(bar_bind)
{
	assert_int_equal(wr(g, 0x001704, 0x8013faa5), KVGPU_CMD_BAR_BIND);
	assert_int_equal(g->cmd.bar.bar, KVGPU_BAR1);
	assert_true(g->cmd.bar.is_virtual);
	assert_int_equal(g->cmd.bar.inst.target, KVGPU_VRAM);
	assert_int_equal(g->cmd.bar.inst.addr, 0x13faa5000);
	assert_int_equal(wr(g, 0x001714, 0xa0000001), KVGPU_CMD_BAR_BIND);
	assert_int_equal(g->cmd.bar.bar, KVGPU_BAR3);
	assert_int_equal(g->cmd.bar.inst.target, KVGPU_SYS_COH);
	assert_int_equal(wr(g, 0x001714, 0x00000001), KVGPU_CMD_BAR_BIND);
	assert_false(g->cmd.bar.is_virtual);
	assert_int_equal(g->cmd.bar.inst.addr, 0);
	assert_int_equal(wr(g, 0x001704, 0x90000001), KVGPU_CMD_NONE);
	assert_int_equal(g->t.nr_denied, 1);
}

TEST(pramin)
{
	assert_int_equal(wr(g, 0x001700, 0x00013fa0), KVGPU_CMD_PRAMIN);
	assert_int_equal(g->cmd.pramin.base.target, KVGPU_VRAM);
	assert_int_equal(g->cmd.pramin.base.addr, 0x13fa00000);
	assert_int_equal(rd(g, 0x001700), 0x00013fa0);
	/* the host gets the command even for a refused target; the write counts as denied */
	assert_int_equal(wr(g, 0x001700, 0x02013fa0), KVGPU_CMD_PRAMIN);
	assert_int_equal(g->cmd.pramin.base.target, KVGPU_SYS_COH);
	assert_int_equal(g->t.nr_denied, 1);
}

TEST(tlb)
{
	wr(g, 0x100cb8, 0x013fae60);
	assert_int_equal(wr(g, 0x100cbc, 0x80000005), KVGPU_CMD_TLB);
	assert_int_equal(g->cmd.tlb.pd.addr, 0x13fae6000);
	assert_int_equal(g->cmd.tlb.pd.target, KVGPU_VRAM);
	assert_true(g->cmd.tlb.all_va);
	assert_true(g->cmd.tlb.hub_only);
	assert_false(g->cmd.tlb.all_pd);
	assert_int_equal(wr(g, 0x100cbc, 0x00000005), KVGPU_CMD_NONE);
	wr(g, 0x100cb8, 0x013fae61);
	assert_int_equal(wr(g, 0x100cbc, 0x80000001), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, 0x100cbc, 0x80000003), KVGPU_CMD_TLB);
	assert_true(g->cmd.tlb.all_pd);
	assert_int_equal(g->cmd.tlb.pd.addr, 0);
}

TEST(runlist)
{
	wr(g, 0x002270, 0x3000123);
	wr(g, 0x002270, 0x30000000 | 0x7c3);
	assert_int_equal(wr(g, 0x002274, 0x00000007), KVGPU_CMD_RUNLIST);
	assert_int_equal(g->cmd.runlist.runl, 0);
	assert_int_equal(g->cmd.runlist.count, 7);
	assert_int_equal(g->cmd.runlist.list.target, KVGPU_SYS_NCOH);
	assert_int_equal(g->cmd.runlist.list.addr, 0x7c3000);
	assert_int_equal(wr(g, 0x002274, 0x00100007), KVGPU_CMD_NONE);
	wr(g, 0x002270, 0x10000123);
	assert_int_equal(wr(g, 0x002274, 0x00000007), KVGPU_CMD_NONE);
	assert_int_equal(g->t.nr_denied, 2);
}

TEST(block)
{
	assert_int_equal(wr(g, 0x002630, 0x00000002), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, 0x002630, 0xffffffff), KVGPU_CMD_RUNL_BLOCK);
	assert_int_equal(g->cmd.mask, 1);
	assert_int_equal(rd(g, 0x002630), 1);
	assert_int_equal(wr(g, 0x002630, 1), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, 0x002630, 0), KVGPU_CMD_RUNL_ALLOW);
	assert_int_equal(g->cmd.mask, 1);
}

TEST(preempt_and_inject)
{
	assert_int_equal(wr(g, 0x002634, 0x01000fff), KVGPU_CMD_PREEMPT);
	assert_true(g->cmd.preempt.tsg);
	assert_int_equal(g->cmd.preempt.id, 0xfff);
	assert_int_equal(wr(g, 0x002a34, 0x00000115), KVGPU_CMD_FAULT_TRIGGER);
	assert_int_equal(g->cmd.trigger.engine, 1);
	assert_int_equal(g->cmd.trigger.unit, 0x15);
	assert_int_equal(rd(g, 0x002a34), 0x115);
	assert_int_equal(wr(g, 0x002a34, 0x00000015), KVGPU_CMD_NONE);
}

TEST(channel_table)
{
	wr(g, 0x800004 + 8 * 4095, 0);
	assert_int_equal(wr(g, 0x800000 + 8 * 4095, 0x8013f762), KVGPU_CMD_CHAN_BIND);
	assert_int_equal(g->cmd.chan.id.v, 4095);
	assert_int_equal(g->cmd.chan.runl, 0);
	assert_int_equal(g->cmd.chan.inst.target, KVGPU_VRAM);
	assert_int_equal(g->cmd.chan.inst.addr, 0x13f762000);
	assert_int_equal(wr(g, 0x800004 + 8 * 4095, 0x400), KVGPU_CMD_CHAN_ENABLE);
	assert_int_equal(g->cmd.chan.id.v, 4095);
	assert_int_equal(rd(g, 0x800004 + 8 * 4095), 1);
	kvgpu_trap_chan_status_set(&g->t, (gchid_t){ 4095 }, 0x15000001);
	assert_int_equal(rd(g, 0x800004 + 8 * 4095), 0x15000001);
	assert_int_equal(wr(g, 0x800004 + 8 * 4095, 0xc00), KVGPU_CMD_CHAN_DISABLE);
	assert_int_equal(rd(g, 0x800004 + 8 * 4095) & 1, 0);
	assert_int_equal(wr(g, 0x800000 + 8 * 4095, 0), KVGPU_CMD_CHAN_UNBIND);
	assert_int_equal(wr(g, 0x800000 + 8 * 4095, 0), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, 0x800004 + 8 * 4095, 0x400), KVGPU_CMD_NONE);
	/* the register behind the channel table */
	assert_int_equal(wr(g, 0x808000, 0x8013f762), KVGPU_CMD_NONE);
	assert_int_equal(g->t.nr_unlisted, 1);
}

TEST(refused_binds_are_reported)
{
	wr(g, 0x000640, 0xffffffff);
	wr(g, 0x002140, 0xffffffff);
	wr(g, 0x000140, 1);
	wr(g, 0x800004, 0x00010000);
	assert_int_equal(wr(g, 0x800000, 0x80000123), KVGPU_CMD_IRQ);
	assert_int_equal(rd(g, 0x00252c), 5);
	assert_int_equal(rd(g, 0x800000), 0);
	wr(g, 0x800004, 0);
	wr(g, 0x800000, 0x90000123);
	assert_int_equal(rd(g, 0x00252c), 6);
	assert_int_equal(wr(g, 0x800000, 0x80000123), KVGPU_CMD_CHAN_BIND);
	assert_int_equal(wr(g, 0x800000, 0x80000456), KVGPU_CMD_NONE);
	assert_int_equal(rd(g, 0x00252c), 1);
	assert_int_equal(rd(g, 0x800000), 0x80000123);
	assert_int_equal(rd(g, 0x002100) & 1, 1);
}

TEST(engine_reset)
{
	wr(g, 0x800000, 0x80000123);
	assert_int_equal(wr(g, 0x000200, 0xffffffff), KVGPU_CMD_NONE);
	assert_int_equal(rd(g, 0x000200) & 0x0c000e02, 0x0c000000);
	mask(g, 0x000200, 0x1000, 0);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_ENGINE_RESET);
	assert_int_equal(g->cmd.mask, 1);
	mask(g, 0x000200, 0, 0x1000);
	assert_int_equal(g->cmd.kind, KVGPU_CMD_NONE);
	mask(g, 0x000200, 0x00200080, 0);
	assert_int_equal(g->cmd.mask, 0xc);
	assert_int_equal(rd(g, 0x800000), 0x80000123);
	mask(g, 0x000200, 0x100, 0);
	assert_int_equal(g->cmd.mask, 0x80000000);
	assert_int_equal(rd(g, 0x800000), 0);
}

TEST(userd_and_flush)
{
	assert_int_equal(wr(g, 0x002254, 0x10000200), KVGPU_CMD_USERD);
	assert_true(g->cmd.userd.valid);
	assert_int_equal(g->cmd.userd.bar1_off, 0x200000);
	assert_int_equal(wr(g, 0x002254, 0), KVGPU_CMD_USERD);
	assert_false(g->cmd.userd.valid);
	assert_int_equal(wr(g, 0x070000, 1), KVGPU_CMD_FLUSH);
	assert_int_equal(wr(g, 0x070010, 1), KVGPU_CMD_FLUSH);
	assert_int_equal(wr(g, 0x070004, 0), KVGPU_CMD_NONE);
}

/* Writes of some bytes of these TRAP registers make no command, and change nothing. */
TEST(partial_writes_do_not_command)
{
	static const uint32_t regs[] = { 0x1704,   0x2274,   0x2634,  0x100cbc,
					 0x800000, 0x409504, 0x000200 };
	static const uint32_t bes[] = { 0xff, 0xff00, 0xffff, 0xff000000, 0xffff0000, 0xffffff };
	uint32_t i, j;

	for (i = 0; i < ARRAY_SIZE(regs); i++) {
		for (j = 0; j < ARRAY_SIZE(bes); j++) {
			uint32_t was = rd(g, regs[i]);

			kvgpu_trap_write(&g->t, regs[i], 0x80000001, bes[j], g->now, &g->cmd);
			assert_int_equal(g->cmd.kind, KVGPU_CMD_NONE);
			assert_int_equal(rd(g, regs[i]), was);
		}
	}
	assert_int_equal(g->t.nr_denied, ARRAY_SIZE(regs) * ARRAY_SIZE(bes));
	/* a register that is not TRAP takes single bytes */
	wr(g, 0x405800, 0x11223344);
	kvgpu_trap_write(&g->t, 0x405800, 0xaabbccdd, 0xff00, g->now, &g->cmd);
	assert_int_equal(rd(g, 0x405800), 0x1122cc44);
}

TEST(sizes)
{
	uint32_t i, fbps = rd(g, 0x022438), mib = 0;

	assert_int_equal(rd(g, 0x022554), 0);
	assert_int_equal(rd(g, 0x02243c) % fbps, 0);
	for (i = 0; i < rd(g, 0x02243c); i++) {
		assert_int_equal(rd(g, 0x11020c + 0x1000 * i), rd(g, 0x11020c));
		mib += rd(g, 0x11020c + 0x1000 * i);
	}
	assert_int_equal((uint64_t)mib << 20, GUEST_VRAM);
	for (; i < 16; i++)
		assert_int_equal(rd(g, 0x11020c + 0x1000 * i), 0);
	assert_int_equal(rd(g, 0x022500) & 0xf, 0xf);
	assert_int_equal(rd(g, 0x000000), 0x0f0000a1);
	assert_int_equal(rd(g, 0x409604), 0x00050005);
	assert_int_equal(rd(g, 0x502608), 3);
	assert_int_equal(rd(g, 0x522608), 2);
	assert_int_equal(rd(g, 0x52a608), 0);
	assert_int_equal(rd(g, 0x518c30), 1);
	assert_int_equal(rd(g, 0x518c34), 2);
	assert_int_equal(rd(g, 0x17e8dc) >> 28, 4);
}

/*
 * PTOP as nouveau reads it: all engines are on runlist 0, with the units, resets and interrupts
 * that the card has.
 */
TEST(engines)
{
	static const uint32_t table[] = {
		0x80400005, 0x8006183e, 0x00000003, 0x801040ad, 0x84028c3e, 0x00000007,
		0x801050b5, 0x88030e3e, 0x0000000b, 0x801060dd, 0x8c03aa3e, 0x0000000f,
	};
	uint32_t i;

	for (i = 0; i < 64; i++)
		assert_int_equal(rd(g, 0x022700 + 4 * i), i < ARRAY_SIZE(table) ? table[i] : 0);
	wr(g, 0x000204, 0xffffffff);
	assert_int_equal(rd(g, 0x000204), 7);
	assert_int_equal(rd(g, 0x002390), 1);
	assert_int_equal(rd(g, 0x002394), 1);
	assert_int_equal(rd(g, 0x002398), 0);
	assert_int_equal(rd(g, 0x00239c), 0);
}

/* PTOP names five GPCs of three TPCs; in two of them the third TPC is off. */
TEST(tpcs)
{
	static const uint32_t off[8] = { 0, 0, 0, 4, 4, 0, 0, 0 };
	uint32_t i;

	assert_int_equal(rd(g, 0x022430), 5);
	assert_int_equal(rd(g, 0x022434), 3);
	assert_int_equal(rd(g, 0x022504), 0);
	for (i = 0; i < ARRAY_SIZE(off); i++)
		assert_int_equal(rd(g, 0x022508 + 4 * i), off[i]);
	g->topo.tpcs[1] = 1;
	assert_int_equal(rd(g, 0x02250c), 6);
	g->topo.gpcs = 0;
	assert_int_equal(rd(g, 0x022514), 0);
}

/* An acknowledgement of an interrupt that was not raised makes no command. */
TEST(acknowledging_nothing)
{
	assert_int_equal(wr(g, 0x104908, 7), KVGPU_CMD_NONE);
	kvgpu_trap_ce(&g->t, 1, 2, 0);
	assert_int_equal(wr(g, 0x104908, 5), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, 0x104908, 7), KVGPU_CMD_CE_ACK);
	assert_int_equal(wr(g, 0x104908, 7), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, 0x040108, 0xffffffff), KVGPU_CMD_NONE);
	assert_int_equal(wr(g, 0x400500, 0x00010001), KVGPU_CMD_NONE);
}

/*
 * The address of a falcon's data port advances with writes, with reads, or with neither, as its
 * flags say. Beyond the end of the memory writes are lost and reads give 0.
 */
TEST(falcon_data_port)
{
	static const uint32_t falcons[] = { 0x10a000, 0x409000, 0x41a000 };
	uint32_t i, b;

	for (i = 0; i < ARRAY_SIZE(falcons); i++) {
		b = falcons[i];
		wr(g, b + 0x1c0, 0x40);
		wr(g, b + 0x1c4, 1);
		wr(g, b + 0x1c4, 2 + i);
		assert_int_equal(rd(g, b + 0x1c4), 2 + i);
		assert_int_equal(rd(g, b + 0x1c0), 0x40);
		wr(g, b + 0x1c0, 0x01000040);
		wr(g, b + 0x1c4, 3);
		assert_int_equal(rd(g, b + 0x1c0), 0x01000044);
		assert_int_equal(rd(g, b + 0x1c4), 0);
		wr(g, b + 0x1c0, 0x02000040);
		assert_int_equal(rd(g, b + 0x1c4), 3);
		wr(g, b + 0x1c4, 4);
		assert_int_equal(rd(g, b + 0x1c0), 0x02000044);
		wr(g, b + 0x1c0, 0x03000040); /* with both flags */
		assert_int_equal(rd(g, b + 0x1c4), 3);
		assert_int_equal(rd(g, b + 0x1c0), 0x03000044);
		wr(g, b + 0x1c4, 7 + i);
		assert_int_equal(rd(g, b + 0x1c0), 0x03000048);
		wr(g, b + 0x1c0, 0x44);
		assert_int_equal(rd(g, b + 0x1c4), 7 + i);
		wr(g, b + 0x1c0, 0x01000ffc);
		wr(g, b + 0x1c4, 5);
		wr(g, b + 0x1c4, 6);
		wr(g, b + 0x1c0, 0x02000ffc);
		assert_int_equal(rd(g, b + 0x1c4), 5);
		assert_int_equal(rd(g, b + 0x1c4), 0);
	}
}

TEST(rom)
{
	uint32_t i;

	for (i = 0; i < sizeof(g->vbios); i += 4)
		assert_int_equal(rd(g, 0x300000 + i), g->vbios[i] | g->vbios[i + 1] << 8 |
							      g->vbios[i + 2] << 16 |
							      (uint32_t)g->vbios[i + 3] << 24);
	assert_int_equal(rd(g, 0x300000 + sizeof(g->vbios)), 0);
	assert_int_equal(rd(g, 0x3ffffc), 0);
	g->t.cfg.vbios_size = 5;
	assert_int_equal(rd(g, 0x300004), g->vbios[4]);
}

/* "Set channel" and the channel switch of FECS refuse an instance in a peer's memory. */
TEST(instances_of_fecs)
{
	wr(g, 0x409100, 2);
	wr(g, 0x409500, 0xb0000123);
	assert_int_equal(wr(g, 0x409504, 1), KVGPU_CMD_GR_BIND);
	assert_int_equal(g->cmd.inst.target, KVGPU_SYS_NCOH);
	assert_int_equal(g->cmd.inst.addr, 0x123000);
	wr(g, 0x409500, 0x90000123);
	assert_int_equal(wr(g, 0x409504, 1), KVGPU_CMD_NONE);
	assert_int_equal(g->t.nr_denied, 1);
	wr(g, 0x409b00, 0x90000123);
	wr(g, 0x409b04, 0x90000456);
	assert_int_equal(wr(g, 0x409000, 0x100), KVGPU_CMD_NONE);
}

/* Numbers out of range change nothing: UBSan sees an access out of bounds. */
TEST(numbers_out_of_range)
{
	const struct kvgpu_pbdma_snap snap = { .pbdma = KVGPU_MAX_PBDMA, .intr0 = ~0u };

	kvgpu_trap_pbdma(&g->t, &snap);
	assert_int_equal(g->t.pbdma_pending, 0);
	kvgpu_trap_chan_status_set(&g->t, (gchid_t){ KVGPU_MAX_CHAN }, ~0u);
}

TEST(gr_acknowledge)
{
	kvgpu_trap_gr(&g->t, 1, 0, NULL, 0);
	assert_int_equal(wr(g, 0x400500, 0x10001), KVGPU_CMD_GR_ACK);
	assert_int_equal(wr(g, 0x400500, 0x10001), KVGPU_CMD_NONE);
}

TEST(acknowledging_a_byte)
{
	kvgpu_trap_gr(&g->t, 0, 0x01010101, NULL, 0);
	assert_int_equal(rd(g, 0x400108), 0x01010101);
	kvgpu_trap_write(&g->t, 0x400108, 0x01010101, 0xff, g->now, &g->cmd);
	assert_int_equal(rd(g, 0x400108), 0x01010100);
}

TEST_MAIN(guest_begin, guest_end)
