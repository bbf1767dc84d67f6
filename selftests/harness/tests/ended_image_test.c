// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest frees the context of a channel that was ended, leaves the channel bound, and has the
 * context of its next channel over a part of the same addresses. The next channel gets an image.
 *
 * The image of the ended channel is given up when the chip can't load it any more, not sooner.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/fifo.h"
#include "gk110/mmu.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/chip/state.h"
#include "selftests/harness/world.h"

#include <linux/bitfield.h>

#define MS     1000000ull
#define SPACE  1
#define VA_CTX 0x40000ull
#define BESIDE 0x8000ull /* less than an image */

static const struct chip_manners calm = { .eager = true, .late = 1 };
static const struct policy quiet = { .seed = 1 };
static struct world_vgpu *g;

static struct kvgpu_chan *chan(u32 id)
{
	return vmach_chan_find(g->v, (gchid_t){ id });
}

static void bind_with_context(u32 id, u64 va)
{
	u64 list[] = { id };
	u32 i;

	for (i = 0; i < 4; i++)
		g_map_vram(g, SPACE, (u32)(va >> 12) + i, G_DATA + 0x10000 + i * 0x1000);
	g_inst(g, id, SPACE, va);
	g_bind(g, id);
	g_list(g, list, 1);
	g_enable(g, id, true);
}

static void next_context_overlaps(void **state)
{
	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	g_space(g, SPACE);
	bind_with_context(2, VA_CTX);
	assert_non_null(chan(2)->gr);
	while (!chip_fault(chan(2)->hchid.v, 0x1000)) {
		g_ring(g, 2, 1);
		harness_sleep(MS / 100);
	}
	while (!chan(2)->dead)
		harness_sleep(MS);
	while (!vmach_chan_is_off(chan(2)) ||
	       vmach_chan_on_engine(world.gpu, false, chan(2)->hchid.v))
		harness_sleep(MS);
	bind_with_context(3, VA_CTX + BESIDE);
	assert_non_null(chan(3)->gr);
	assert_null(chan(2)->gr);
	setup_end();
}

/*
 * The chip has chosen the ended channel as the next one of its PBDMA, has read its instance block,
 * and names it in no status yet (.pd: its directory). It loads the channel's context when it gets
 * to it, though the channel is disabled by then; a preempt of the channel waits for that.
 */
static struct {
	u64 pd, image;
	u16 chid;
	bool chosen, meanwhile, loaded;
} next;

static u64 entry_of_context(void)
{
	return mmu_translate(next.pd, VA_CTX);
}

static void chip_chooses(void)
{
	next.pd = chip.pbdma[0].pd;
	next.image = entry_of_context();
	next.chosen = true;
	chip.pbdma[0].chid = NO_CHAN;
	chip.engine[0].chid = NO_CHAN;
}

/* Recovery has noted that the channel is dead, and gets no CPU for a while before its preempt. */
static void chip_gets_to_it(void)
{
	next.meanwhile = true;
	harness_sleep(2 * MS);
	next.loaded = true;
	if (entry_of_context() != next.image)
		harness_fail("S3: FECS loads a context of vGPU 0 at 0x%llx that is the guest's",
			     FIELD_GET(GMMU_PTE_ADDR, entry_of_context()) << 12);
}

static void before_write(u32 reg, u32 val)
{
	if (reg == PCCSR_CHAN(next.chid) && val & PCCSR_CHAN_ENABLE_CLR && !next.chosen)
		chip_chooses();
	if (reg == PFIFO_PREEMPT && val == next.chid && chan(2)->dead && !next.loaded)
		chip_gets_to_it();
}

static void binds_meanwhile(void *arg)
{
	while (!next.meanwhile)
		harness_sleep(MS / 100);
	bind_with_context(3, VA_CTX + BESIDE);
}

static void not_before_it_is_driven_off(void **state)
{
	setup_begin(&quiet, &calm, 1);
	g = &world.vgpu[0];
	g_space(g, SPACE);
	bind_with_context(2, VA_CTX);
	next.chid = chan(2)->hchid.v;
	while (!chip_fault(next.chid, 0x1000)) {
		g_ring(g, 2, 1);
		harness_sleep(MS / 100);
	}
	chip_before_write = before_write;
	actor_new("guest", setup_mm, false, binds_meanwhile, NULL);
	actors_run();
	chip_before_write = NULL;
	assert_true(next.loaded);
	assert_non_null(chan(3)->gr);
	assert_null(chan(2)->gr);
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_context_overlaps),
		cmocka_unit_test(not_before_it_is_driven_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
