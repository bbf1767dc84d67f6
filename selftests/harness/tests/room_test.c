// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one register write of a guest costs the host when the guest's directories name more tables
 * than there is memory for, in many address spaces (S5).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/bar.h"
#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "gk110/ram.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define PDS		0x4000000ull	/* directories in the partition, 64 KiB each */
#define INSTS		0x2000000ull
#define ENTRIES		8192

#define SPACES		60
/*
 * Most bytes of kernel memory that one register write may take: when nothing has changed, and when
 * each channel has a new space.
 */
#define MOST_FOR_NOTHING	(16ull << 20)
#define MOST_FOR_SPACES		(SPACES * (2ull << 20))

extern u64 harness_alloc_bytes;
static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1, .oversleep_ns = 20000 };
static struct world_vgpu *g;

static void vram(u64 at, const void *from, u64 len)
{
	memcpy(chip_vram(g->v->part.v + at), from, len);
	chip_wrote(g->v->part.v + at, len);
}

/* Write directory @s: @nr entries, each of which names a small table. */
static void directory(u32 s, u32 nr)
{
	static u64 pd[ENTRIES];
	u32 i;

	memset(pd, 0, sizeof(pd));
	for (i = 0; i < nr; i++)
		pd[i] = FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
			FIELD_PREP(GMMU_PDE_SMALL_ADDR, 0x1000);
	vram(PDS + s * 0x10000ull, pd, sizeof(pd));
}

static void inst(u32 c, u32 pd)
{
	u32 w[0x218 / 4] = { };

	w[RAMFC_USERD / 4] = 0x8000 + c * 0x200;
	w[RAMFC_SIGNATURE / 4] = RAMFC_SIGNATURE_FACE;
	w[RAMFC_GP_BASE / 4] = 0x10000;
	w[RAMFC_GP_BASE_HI / 4] = FIELD_PREP(RAMFC_GP_BASE_LIMIT2, 9);
	w[GMMU_INST_PDB_LO / 4] = PDS + pd * 0x10000ull;
	w[GMMU_INST_LIMIT_LO / 4] = 0xfffff000;
	w[GMMU_INST_LIMIT_HI / 4] = 0xff;
	vram(INSTS + c * 0x1000ull, w, sizeof(w));
}

static void bind(u32 c)
{
	g_write(g, PCCSR_CHAN(c), 0);
	g_write(g, PCCSR_INST(c),
		PCCSR_INST_BIND | FIELD_PREP(PCCSR_INST_PTR, (INSTS + c * 0x1000ull) >> 12));
}

static void begin(void)
{
	world_begin(&quiet, &calm);
	setup_mm = mm_new();
	setup_c = container_new(setup_mm);
	g = world_make(0);
	assert_true(world_open(0, setup_c));
}

/* Fail if @write, a guest's register write, takes more than @most bytes of kernel memory. */
static void costs(const char *what, void (*write)(void), u64 most)
{
	u64 bytes = harness_alloc_bytes;

	write();
	if (harness_alloc_bytes - bytes > most)
		harness_fail("S5: %s: one register write takes and zeroes %llu MiB of kernel memory", what,
			     (unsigned long long)(harness_alloc_bytes - bytes) >> 20);
}

static void invalidate(void)
{
	g_tlb(g, 0);
}

static void submit(void)
{
	g_write(g, PFIFO_RUNLIST_BASE, G_LIST >> 12);
	g_write(g, PFIFO_RUNLIST_SUBMIT, 0);
}

static void end(void)
{
	world_close(0);
	world_unmake(0);
	container_free(setup_c);
	mm_free(setup_mm);
	world_end();
}

static void tables_without_room(void **state)
{
	u32 c;

	begin();
	for (c = 1; c <= SPACES; c++) {
		directory(c, 0);
		inst(c, c);
		bind(c);
	}
	for (c = 1; c <= SPACES; c++) {
		directory(c, ENTRIES);
		/* a CPU wrote there */
		vmach_range_touch(g->v, PDS + c * 0x10000ull, 0x10000);
	}
	invalidate();
	assert_in_range(g->v->m->pool_max - g->v->m->pool_used, 0, 2 << 20);
	costs("an invalidate", invalidate, MOST_FOR_NOTHING);
	costs("an invalidate", invalidate, MOST_FOR_NOTHING);
	/* each channel names the next one's directory */
	for (c = 1; c <= SPACES; c++)
		inst(c, c % SPACES + 1);
	costs("a runlist", submit, MOST_FOR_SPACES);
	end();
}

/*
 * Tables for which there was no room are made when room comes back: all of them, at whatever entry
 * of the directory they are.
 */
static void room_that_comes_back(void **state)
{
	u32 i, c;

	begin();
	for (c = 1; c <= 2; c++) {
		directory(c, 0);
		inst(c, c);
		bind(c);
	}
	directory(1, ENTRIES);
	vmach_range_touch(g->v, PDS + 1 * 0x10000ull, 0x10000);
	invalidate();
	directory(2, 20);
	vmach_range_touch(g->v, PDS + 2 * 0x10000ull, 0x10000);
	invalidate();
	assert_true(g->v->m->shadow.stats.rejected > 0);
	g_write(g, PCCSR_INST(1), 0);	/* channel 1 goes, with its tables */
	for (i = 0; i < 20; i++)
		invalidate();
	i = g->v->m->shadow.stats.rejected;
	invalidate();
	assert_int_equal(g->v->m->shadow.stats.rejected, i);
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_without_room),
		cmocka_unit_test(room_that_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
