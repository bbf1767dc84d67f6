// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one register write of a guest costs the host when the guest's directories name more tables
 * than there is memory for, in many address spaces (S5). In some tests the pool has enough memory
 * for a table, but in pieces that are too small. The guest makes such pieces: it binds channels
 * that have a space each, and unbinds some of them before its tables take what is left.
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

#define PDS	0x4000000ull /* directories in the partition, 64 KiB each */
#define INSTS	0x2000000ull
#define ENTRIES 8192

#define SPACES	    60
#define HOLES	    8
#define TABLE_BYTES (256ull << 10)
#define BIG_TABLE   0x1800000ull
#define BIG_ENTRIES 1024
#define BIG_TABLES  20
/* IOVA of the big page that the table of big pages names in each entry */
#define BIG_PAGE 0x100000ull
/*
 * Most bytes of kernel memory that one register write may take: when nothing has changed, and when
 * each channel has a new space.
 */
#define MOST_FOR_NOTHING (16ull << 20)
#define MOST_FOR_SPACES	 (SPACES * (2ull << 20))
/* The same when nothing has changed, and no page of the guest's would get a table. */
#define MOST_WITHOUT_TABLES (1ull << 20)
/* How often a sync of one space may ask the pool for a table in vain. */
#define MOST_TRIES 16

extern u64 harness_alloc_bytes, harness_pool_refusals;
static const struct chip_manners calm = { .late = 0 };
static const struct policy quiet = { .seed = 1, .oversleep_ns = 20000 };
static struct world_vgpu *g;

static void vram(u64 at, const void *from, u64 len)
{
	memcpy(chip_vram(g->v->part.v + at), from, len);
	chip_wrote(g->v->part.v + at, len);
}

/* Write directory @s: @nr entries @pde. */
static void directory_of(u32 s, u32 nr, u64 pde)
{
	static u64 pd[ENTRIES];
	u32 i;

	memset(pd, 0, sizeof(pd));
	for (i = 0; i < nr; i++)
		pd[i] = pde;
	vram(PDS + s * 0x10000ull, pd, sizeof(pd));
	/* a CPU wrote there */
	vmach_range_mark_dirty(g->v, PDS + s * 0x10000ull, sizeof(pd));
}

/* Each of the @nr entries names a small table. */
static void directory(u32 s, u32 nr)
{
	directory_of(s, nr,
		     FIELD_PREP(GMMU_PDE_SMALL_APERTURE, GMMU_PDE_APERTURE_VRAM) |
			     FIELD_PREP(GMMU_PDE_SMALL_ADDR, 0x1000));
}

static void inst(u32 c, u32 pd)
{
	u32 w[0x218 / 4] = {};

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

/* Bind channels 1 to @nr, each with a space of its own, whose directory is empty. */
static void bind_spaces(u32 nr)
{
	u32 c;

	for (c = 1; c <= nr; c++) {
		directory(c, 0);
		inst(c, c);
		bind(c);
	}
}

static void begin(void)
{
	world_begin(&quiet, &calm);
	setup_mm = mm_new();
	setup_c = container_new(setup_mm);
	g = world_make(0);
	assert_true(world_open(0, setup_c));
}

/*
 * Fail if @write, a guest's register write, takes more than @most bytes of kernel memory, or has
 * the pool asked for a table in vain too often for @spaces spaces that lack tables.
 */
static void costs(const char *what, void (*write)(void), u64 most, u32 spaces)
{
	u64 bytes = harness_alloc_bytes, refusals = harness_pool_refusals;

	write();
	bytes = harness_alloc_bytes - bytes;
	refusals = harness_pool_refusals - refusals;
	if (bytes > most)
		harness_fail(
			"S5: %s: one register write takes and zeroes %llu MiB of kernel memory",
			what, (unsigned long long)bytes >> 20);
	if (refusals > spaces * MOST_TRIES)
		harness_fail("S5: %s: one register write has %llu tables tried in vain", what,
			     (unsigned long long)refusals);
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
	bind_spaces(SPACES);
	for (c = 1; c <= SPACES; c++)
		directory(c, ENTRIES);
	invalidate();
	assert_in_range(g->v->m->pool_max - g->v->m->pool_used, 0, 2 << 20);
	costs("an invalidate", invalidate, MOST_FOR_NOTHING, SPACES);
	costs("an invalidate", invalidate, MOST_FOR_NOTHING, SPACES);
	/* each channel names the next one's directory */
	for (c = 1; c <= SPACES; c++)
		inst(c, c % SPACES + 1);
	costs("a runlist", submit, MOST_FOR_SPACES, SPACES);
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
	bind_spaces(2);
	directory(1, ENTRIES);
	invalidate();
	directory(2, 20);
	invalidate();
	assert_true(g->v->m->shadow.stats.rejected > 0);
	g_write(g, PCCSR_INST(1), 0); /* channel 1 goes, with its tables */
	for (i = 0; i < 20; i++)
		invalidate();
	i = g->v->m->shadow.stats.rejected;
	invalidate();
	assert_int_equal(g->v->m->shadow.stats.rejected, i);
	end();
}

/* Give each of the spaces a channel, and the pool holes of one directory each. */
static void begin_with_holes(void)
{
	u32 c;

	begin();
	bind_spaces(SPACES);
	for (c = 1; c <= HOLES; c++)
		g_write(g, PCCSR_INST(4 * c), 0);
}

static void assert_holes(void)
{
	assert_true(g->v->m->pool_max - g->v->m->pool_used >= TABLE_BYTES);
}

static void holes_and_nothing_changes(void **state)
{
	u32 c;

	begin_with_holes();
	for (c = 1; c <= SPACES; c++)
		directory(c, ENTRIES);
	invalidate();
	assert_holes();
	costs("nothing has changed", invalidate, MOST_FOR_NOTHING, SPACES - HOLES);
	end();
}

static void holes_and_directories_change(void **state)
{
	u32 c;

	begin_with_holes();
	directory(1, 200);
	invalidate();
	assert_holes();
	directory(2, ENTRIES);
	costs("one directory has changed", invalidate, MOST_FOR_NOTHING, 2);
	for (c = 1; c <= SPACES; c++)
		directory(c, ENTRIES);
	costs("each directory has changed", invalidate, MOST_FOR_NOTHING, SPACES - HOLES);
	end();
}

/* The first BIG_TABLES entries of directory @s name a table full of big pages in system memory. */
static void big_pages(u32 s)
{
	static u64 big[BIG_ENTRIES];
	u32 i;

	for (i = 0; i < BIG_ENTRIES; i++)
		big[i] = GMMU_PTE_VALID | FIELD_PREP(GMMU_PTE_APERTURE, GMMU_PTE_APERTURE_SYS_COH) |
			 FIELD_PREP(GMMU_PTE_ADDR, BIG_PAGE >> 12);
	vram(BIG_TABLE, big, sizeof(big));
	directory_of(s, BIG_TABLES,
		     FIELD_PREP(GMMU_PDE_BIG_APERTURE, GMMU_PDE_APERTURE_VRAM) |
			     FIELD_PREP(GMMU_PDE_BIG_ADDR, BIG_TABLE >> 12));
}

/* Big pages in system memory need small tables. */
static void holes_beside_big_pages(void **state)
{
	begin_with_holes();
	container_map(setup_c, BIG_PAGE, 0, BIG_PAGE);
	directory(1, 200);
	invalidate();
	big_pages(2);
	invalidate();
	assert_holes();
	costs("nothing has changed beside big pages", invalidate, MOST_FOR_NOTHING, 2);
	end();
}

/* The pool has room for the small tables, but there is no memory at the big pages' addresses. */
static void big_pages_of_nothing(void **state)
{
	u64 written;

	begin();
	bind_spaces(1);
	big_pages(1);
	invalidate();
	written = g->v->m->shadow.stats.entries_written;
	costs("nothing has changed, big pages without memory", invalidate, MOST_WITHOUT_TABLES, 0);
	if (g->v->m->shadow.stats.entries_written != written)
		harness_fail(
			"S5: big pages without memory: a sync writes entries although nothing has changed");
	container_map(setup_c, BIG_PAGE, 0, BIG_PAGE);
	invalidate();
	assert_true(g->v->m->shadow.stats.pinned > 0);
	end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_without_room),
		cmocka_unit_test(room_that_comes_back),
		cmocka_unit_test(holes_and_nothing_changes),
		cmocka_unit_test(holes_and_directories_change),
		cmocka_unit_test(holes_beside_big_pages),
		cmocka_unit_test(big_pages_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
