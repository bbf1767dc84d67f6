// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile guest: any access to any register, mixed with the host's events. After each step: a
 * command has a form that the host can rely on, nothing outside of the room's state was touched,
 * and what the interrupt line shows agrees with the registers.
 *
 * Input: records of 8 bytes, {op, byte enables or event, register index or argument (2), value
 * (4)}.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gk110/map.h>
#include <gk110/pmc.h>
#include <mmio-trap/units.h>

#define CHECK(x)                 \
	do {                     \
		if (!(x))        \
			abort(); \
	} while (0)
#define GUARD 64

static const struct kvgpu_topo topo = {
	.boot0 = 0x0f0000a1, .nr_engines = 4, .nr_runl = 1, .nr_pbdma = 3,
	.engine = {
		{ .type = 0, .id = 0, .intr = 12, .reset = 12, .fault = 0, .base = 0x400000 },
		{ .type = 1, .id = 1, .intr = 5, .reset = 6, .fault = 0x15, .base = 0x104000 },
		{ .type = 2, .id = 2, .intr = 6, .reset = 7, .fault = 0x16, .base = 0x105000 },
		{ .type = 3, .id = 3, .intr = 7, .reset = 21, .fault = 0x1b, .base = 0x106000 },
	},
	.gpcs = 5, .rops = 5, .fbps = 5, .ltcs = 5, .slices = 4, .tpcs = { 3, 3, 3, 2, 2 },
};

struct world {
	uint8_t before[GUARD];
	struct kvgpu_trap t;
	uint8_t after[GUARD];
};

struct record {
	uint8_t op, be;
	uint16_t index;
	uint32_t val;
};

static struct world w;
static struct kvgpu_reg_slot slots[KVGPU_TRAP_SLOTS + 2];
static uint8_t vbios[509];
static uint32_t plain[KVGPU_TRAP_PLAIN_SIZE / 4 + 2];

static uint32_t pick(uint16_t index)
{
	const struct kvgpu_reg_unit *u = kvgpu_trap_units[(index >> 8) % kvgpu_trap_nr_units];
	const struct kvgpu_reg_line *l;
	uint32_t i = index & 0xff;

	if (!u->nr_lines || i >= 2 * u->nr_lines)
		return u->base + (i * 4) % u->size;
	l = &u->line[i / 2];
	return l->off + (i & 1 && l->count > 1 ? (l->stride ? l->stride : 4) : 0);
}

static void check_target(struct kvgpu_gaddr a)
{
	CHECK(a.target == KVGPU_VRAM || kvgpu_is_sys(a.target));
	CHECK(a.addr < 1ull << 40);
	CHECK(!(a.addr & 0xfff));
}

static void check_command(uint32_t reg, const struct kvgpu_cmd *c)
{
	struct kvgpu_access a = { .reg = reg };
	const struct kvgpu_reg_line *l = vtrap_line_find(&a, NULL);

	if (c->kind != KVGPU_CMD_NONE && c->kind != KVGPU_CMD_IRQ && c->kind != KVGPU_CMD_ALARM)
		CHECK(l->wr == KVGPU_REG_TRAP);
	switch (c->kind) {
	case KVGPU_CMD_CHAN_BIND:
		check_target(c->chan.inst);
		/* fall through */
	case KVGPU_CMD_CHAN_UNBIND:
	case KVGPU_CMD_CHAN_ENABLE:
	case KVGPU_CMD_CHAN_DISABLE:
		CHECK(c->chan.id.v < KVGPU_MAX_CHAN);
		CHECK(c->chan.runl < KVGPU_GUEST_RUNLISTS || c->kind != KVGPU_CMD_CHAN_BIND);
		break;
	case KVGPU_CMD_RUNLIST:
		check_target(c->runlist.list);
		CHECK(c->runlist.runl < KVGPU_GUEST_RUNLISTS);
		break;
	case KVGPU_CMD_PREEMPT:
		CHECK(c->preempt.id < KVGPU_MAX_CHAN);
		break;
	case KVGPU_CMD_RUNL_BLOCK:
	case KVGPU_CMD_RUNL_ALLOW:
		CHECK(c->mask && !(c->mask & ~(uint32_t)KVGPU_GUEST_RUNL_MASK));
		break;
	case KVGPU_CMD_TLB:
		check_target(c->tlb.pd);
		break;
	case KVGPU_CMD_BAR_BIND:
		CHECK(c->bar.bar < KVGPU_NR_BARS);
		check_target(c->bar.inst);
		break;
	case KVGPU_CMD_USERD:
		CHECK(c->userd.bar1_off < 1ull << 40);
		break;
	case KVGPU_CMD_PRAMIN:
		CHECK(c->pramin.base.target <= KVGPU_SYS_NCOH);
		CHECK(c->pramin.base.addr < 1ull << 40);
		break;
	case KVGPU_CMD_GR_BIND:
	case KVGPU_CMD_GR_SAVE:
		check_target(c->inst);
		break;
	case KVGPU_CMD_ENGINE_RESET:
		CHECK(c->mask && !(c->mask & ~(0x80000000u | ((1u << topo.nr_engines) - 1))));
		break;
	case KVGPU_CMD_FAULT_TRIGGER:
		CHECK(c->trigger.engine < KVGPU_MAX_ENGINE && c->trigger.unit < 32);
		break;
	case KVGPU_CMD_PBDMA_ACK:
		CHECK(c->pbdma.pbdma < KVGPU_MAX_PBDMA && (c->pbdma.intr0 || c->pbdma.intr1));
		break;
	case KVGPU_CMD_CE_ACK:
		CHECK(c->mask && !(c->mask & (c->mask - 1)) && c->mask < 1u << topo.nr_engines);
		break;
	case KVGPU_CMD_IRQ:
		CHECK(c->irq);
		break;
	case KVGPU_CMD_NONE:
	case KVGPU_CMD_FLUSH:
	case KVGPU_CMD_GR_ACK:
	case KVGPU_CMD_ALARM:
		break;
	default:
		abort();
	}
}

static void check_world(uint64_t now)
{
	struct kvgpu_trap *t = &w.t;
	uint64_t reads = t->nr_reads;
	unsigned int i;
	bool line;

	for (i = 0; i < GUARD; i++)
		CHECK(w.before[i] == 0xa5 && w.after[i] == 0xa5);
	CHECK(!slots[0].reg && !slots[0].val && !slots[KVGPU_TRAP_SLOTS + 1].reg &&
	      !slots[KVGPU_TRAP_SLOTS + 1].val);
	CHECK(plain[0] == 0xa5a5a5a5 && plain[KVGPU_TRAP_PLAIN_SIZE / 4 + 1] == 0xa5a5a5a5);
	CHECK(t->nr_slots_used <= KVGPU_TRAP_SLOTS);
	CHECK(t->slot == slots + 1 && t->cfg.topo == &topo);
	line = ((kvgpu_trap_read(t, PMC_INTR_EN(0), now) & 1) &&
		kvgpu_trap_read(t, PMC_INTR(0), now)) ||
	       ((kvgpu_trap_read(t, PMC_INTR_EN(1), now) & 1) &&
		kvgpu_trap_read(t, PMC_INTR(1), now));
	CHECK(line == t->line);
	CHECK(t->nr_reads == reads + 2 || t->nr_reads == reads + 3 || t->nr_reads == reads + 4);
}

static void event(const struct record *r, uint64_t now)
{
	struct kvgpu_pbdma_snap snap = { .pbdma = r->index & 7,
					 .chid = { r->index & 0xfff },
					 .intr0 = r->val,
					 .intr1 = ~r->val,
					 .method = r->val,
					 .data = r->index };
	struct kvgpu_reg_val regs[2] = { { pick(r->index), r->val }, { r->val, r->index } };
	bool edge;

	switch (r->be % 14) {
	case 0:
		kvgpu_trap_runlist_done(&w.t, r->index);
		break;
	case 1:
		kvgpu_trap_preempt_done(&w.t);
		break;
	case 2:
		kvgpu_trap_nonstall(&w.t);
		break;
	case 3:
		kvgpu_trap_mmu_fault(&w.t, r->index, (uint64_t)r->val << 12, r->val, r->val);
		break;
	case 4:
		kvgpu_trap_sched_error(&w.t, r->val);
		break;
	case 5:
		kvgpu_trap_pbdma(&w.t, &snap);
		break;
	case 6:
		kvgpu_trap_gr(&w.t, r->val, r->index, regs, 2);
		break;
	case 7:
		kvgpu_trap_ce(&w.t, r->index, r->val, r->val);
		break;
	case 8:
		kvgpu_trap_engine_status_set(&w.t, r->index, r->val);
		break;
	case 9:
		kvgpu_trap_alarm_ring(&w.t, now + ((uint64_t)r->val << 8));
		break;
	case 10:
		kvgpu_trap_chan_status_set(&w.t, (gchid_t){ r->index }, r->val);
		break;
	case 11:
		kvgpu_trap_irq_take(&w.t, &edge);
		kvgpu_trap_irq_take(&w.t, &edge);
		CHECK(!edge);
		break;
	case 12:
		kvgpu_trap_config_set(&w.t, r->index, r->val);
		break;
	default:
		kvgpu_trap_reset(&w.t);
		break;
	}
}

static void step(const struct record *r, uint64_t now)
{
	static const uint32_t enables[] = { 0xffffffff, 0xff, 0xff00,	0xffff,
					    0xffff0000, 0,    0xff0000, 0xff000000 };
	uint32_t be = enables[r->be & 7], reg = pick(r->index), n;
	bool line = w.t.line, had_edge = w.t.edge;
	struct kvgpu_cmd cmd;

	switch (r->op & 7) {
	case 0:
		event(r, now);
		return;
	case 1:
		kvgpu_trap_read(&w.t, reg, now);
		return;
	case 2:
		reg = r->val & (GK110_BAR0_SIZE - 4);
		break;
	case 3: /* many at once, towards a full file */
		for (n = 0; n < (r->val & 0x3ff); n++) {
			reg = ((uint32_t)r->index * 256 + n * 4 * (1 + (r->be & 63))) &
			      (GK110_BAR0_SIZE - 4);
			kvgpu_trap_write(&w.t, reg, n, ~0u, now, &cmd);
			check_command(reg, &cmd);
		}
		return;
	}
	memset(&cmd, 0xff, sizeof(cmd));
	kvgpu_trap_write(&w.t, reg, r->val, be, now, &cmd);
	check_command(reg, &cmd);
	if (w.t.line != line || (w.t.edge && !had_edge))
		CHECK(cmd.irq);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kvgpu_trap_cfg cfg = { .topo = &topo,
				      .vram_size = 1ull << 30,
				      .gr_ctx_size = 0x41000,
				      .vbios = vbios,
				      .vbios_size = sizeof(vbios),
				      .plain = plain + 1 };
	uint64_t now = 1ull << 40;
	struct record r;

	memset(&w, 0xa5, sizeof(w));
	memset(slots, 0, sizeof(slots));
	memset(plain, 0xa5, sizeof(plain));
	kvgpu_trap_init(&w.t, &cfg, slots + 1);
	for (; size >= sizeof(r); data += sizeof(r), size -= sizeof(r)) {
		memcpy(&r, data, sizeof(r));
		now += 1 + (r.op >> 3) * 65536ull;
		step(&r, now);
		check_world(now);
	}
	return 0;
}
