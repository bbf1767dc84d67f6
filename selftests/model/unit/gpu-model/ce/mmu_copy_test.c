// SPDX-License-Identifier: GPL-2.0-only
/* The copy engines on the real MMU and pacer. */
#include <selftests/unit_test.h>

#include "ce/ce.h"
#include "clock.h"
#include "mmu/fake.h"
#include "mmu/fake_device.h"

#define MIB	   (1ull << 20)
#define GUEST_VA   0x10000000ull /* guest memory, 4 KiB pages in a scattered order */
#define VRAM_VA	   0x80000000ull /* video memory, big pages */
#define PITCH_COPY 0x386u
#define PAGE	   4096ull

struct rig {
	struct fake *f;
	struct fake_vm vm;
	struct chan c;
	uint64_t guest_size, vram_size;
};

/* ------------------------------------------------------------------ the rest of the chip */

void pmc_intr_set(struct gk110 *g, unsigned int bit, bool level)
{
}

void fifo_engine_resume(struct gk110 *g, unsigned int engine)
{
}

void fifo_kick(struct gk110 *g)
{
}

uint64_t ptimer_now(struct gk110 *g)
{
	return 0;
}

/*
 * Returns the page in which page @i of guest memory lies. A permutation, if @pages is a power of
 * two.
 */
static uint64_t scattered(uint64_t i, uint64_t pages)
{
	uint64_t mask = pages - 1;

	i = (i * 0x9e37 + 0x1234) & mask;
	i ^= i >> 5;
	return (i * 0x2c1b + 7) & mask;
}

static struct rig *rig_create(uint64_t size, uint64_t rate)
{
	static const uint8_t unit[] = { 0x15, 0x16, 0x1b }, client[] = { 0x01, 0x02, 0x19 };
	struct rig *r = calloc(1, sizeof(*r));
	struct gk110 *g;
	uint64_t i;

	r->guest_size = r->vram_size = 2 * size;
	r->f = fake_create(r->vram_size + 8 * MIB, r->guest_size);
	g = &r->f->g;
	g->cfg.ce_bytes_per_s = rate;
	for (g->nr_engines = 0; g->nr_engines < 3; g->nr_engines++) {
		i = g->nr_engines;
		g->engine[i] = (struct engine){ .inst = (unsigned int)i,
						.fault_unit = unit[i],
						.hub_client = client[i],
						.ops = &ce_engine };
	}
	assert_int_equal(ce_unit.init(g), 0);
	ce_unit.reset(g);
	r->vm = fake_vm_create(r->f, 0xffffffffff);
	for (i = 0; i < r->guest_size / PAGE; i++)
		fake_map(r->f, &r->vm, GUEST_VA + i * PAGE,
			 FAKE_IOVA + scattered(i, r->guest_size / PAGE) * PAGE, MEM_SYS_COH, 0,
			 false);
	for (i = 0; i < r->vram_size; i += 128 << 10)
		fake_map(r->f, &r->vm, VRAM_VA + i, i, MEM_VRAM, 0, true);
	r->c.vm = fake_space(r->f, &r->vm);
	return r;
}

static void rig_destroy(struct rig *r)
{
	ce_unit.fini(&r->f->g);
	fake_destroy(r->f);
	free(r);
}

static uint8_t *guest_byte(struct rig *r, uint64_t off)
{
	return r->f->guest + scattered(off / PAGE, r->guest_size / PAGE) * PAGE + off % PAGE;
}

static enum eng_ret method(struct rig *r, unsigned int inst, uint32_t mthd, uint32_t data)
{
	return ce_engine.method(&r->f->g, inst, &r->c, 4, mthd, data, true);
}

static enum eng_ret copy(struct rig *r, unsigned int inst, uint64_t dst, uint64_t src, uint64_t n)
{
	const uint32_t words[8] = { (uint32_t)(src >> 32),
				    (uint32_t)src,
				    (uint32_t)(dst >> 32),
				    (uint32_t)dst,
				    0,
				    0,
				    (uint32_t)n,
				    1 };
	unsigned int i;

	for (i = 0; i < 8; i++)
		method(r, inst, A0B5_OFFSET_IN_UPPER + 4 * i, words[i]);
	return method(r, inst, A0B5_LAUNCH_DMA, PITCH_COPY);
}

/* ------------------------------------------------------------------ tests */

TEST(test_scattered_guest_pages)
{
	struct rig *r = rig_create(4 * MIB, 0);
	uint64_t i, n = 3 * MIB + 777;

	for (i = 0; i < r->guest_size; i++)
		r->f->guest[i] = (uint8_t)(i * 2654435761u >> 11);
	assert_int_equal(copy(r, 0, VRAM_VA + 123, GUEST_VA + 4567, n), ENG_DONE);
	for (i = 0; i < n; i++)
		assert_int_equal(r->f->g.vram[123 + i], *guest_byte(r, 4567 + i));
	assert_int_equal(copy(r, 1, GUEST_VA + 4 * MIB + 1, VRAM_VA + 123, n), ENG_DONE);
	for (i = 0; i < n; i++)
		assert_int_equal(r->f->g.vram[123 + i], *guest_byte(r, 4 * MIB + 1 + i));
	assert_int_equal(atomic_load(&r->f->g.stats.dma_rd_bytes), n);
	assert_int_equal(atomic_load(&r->f->g.stats.vram_wr_bytes), n);
	rig_destroy(r);
}

TEST(test_fault_record)
{
	static const unsigned int unit[] = { 0x15, 0x16, 0x1b }, client[] = { 0x01, 0x02, 0x19 };
	unsigned int inst, write;

	for (inst = 0; inst < 3; inst++) {
		for (write = 0; write < 2; write++) {
			struct rig *r = rig_create(MIB, 0);
			uint64_t hole = GUEST_VA + 20 * PAGE;

			fake_unmap(r->f, &r->vm, hole, false);
			assert_int_equal(copy(r, inst, write ? hole - 100 : VRAM_VA,
					      write ? VRAM_VA : hole - 100, 8192),
					 ENG_FAULT);
			assert_int_equal(fake_rd32(r->f, 0x259c), 1u << unit[inst]);
			assert_int_equal(fake_rd32(r->f, 0x2800 + 0x10 * unit[inst]),
					 r->vm.inst >> 12);
			assert_int_equal(fake_rd32(r->f, 0x2804 + 0x10 * unit[inst]), hole);
			assert_int_equal(fake_rd32(r->f, 0x280c + 0x10 * unit[inst]),
					 0x2 | 0x40 | (write ? 0x80 : 0) | client[inst] << 8);
			rig_destroy(r);
		}
	}
}

/* Each engine has a TLB of its own. An engine does not notice an unmap without an invalidate. */
TEST(test_tlb_keeps_until_invalidated)
{
	struct rig *r = rig_create(MIB, 0);

	assert_int_equal(copy(r, 0, VRAM_VA, GUEST_VA, 64), ENG_DONE);
	fake_unmap(r->f, &r->vm, GUEST_VA, false);
	assert_int_equal(copy(r, 0, VRAM_VA, GUEST_VA, 64), ENG_DONE);
	assert_int_equal(copy(r, 1, VRAM_VA, GUEST_VA, 64), ENG_FAULT);
	fake_invalidate(r->f, r->vm.pdb, 0, FB_MMU_INVALIDATE_ALL_VA);
	assert_int_equal(copy(r, 0, VRAM_VA, GUEST_VA, 64), ENG_FAULT);
	rig_destroy(r);
}

TEST(test_pace)
{
	struct rig *r = rig_create(4 * MIB, 100 * MIB);
	uint64_t start;

	clock_stop();
	start = mono_ns();
	assert_int_equal(copy(r, 0, VRAM_VA, GUEST_VA, 4 * MIB), ENG_DONE);
	/* a debt that is too short for a sleep may be left */
	assert_in_range(mono_ns() - start, 40000000 - 20000, 40000000);
	clock_run();
	rig_destroy(r);
}

TEST_MAIN(NULL, NULL)
