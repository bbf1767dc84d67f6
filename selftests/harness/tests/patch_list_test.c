// SPDX-License-Identifier: GPL-2.0-only
/*
 * The patch list of a context: how many of a guest's pairs the host reads, whatever the guest's
 * count is (S6), and which FECS gets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "gk110/gr.h"
#include "gk110/gr_patch.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

#define CHAN	   2
#define SPACE	   1
#define VA_CTX	   0x40000ull
#define VA_LIST	   0x90000ull
#define MEM_CTX	   (G_DATA + 0x10000)
#define MEM_LIST   (G_DATA + 0x40000)
#define LIST_PAGES 4
#define PAIRS	   (LIST_PAGES * 4096 / 8)
#define MOST	   64 /* PATCHES_MAX of mdev/machine/grctx.c */

static const struct chip_manners calm = { .late = 1 };
static const struct policy quiet = { .seed = 1 };

static u32 value_of(u32 pair)
{
	return GR_PATCH_GPC_ATTRIB_VALID | (pair + 1);
}

static void begin(struct world_vgpu *g)
{
	u32 i;

	setup_begin(&quiet, &calm, 1);
	g_space(g, SPACE);
	for (i = 0; i < 4; i++)
		g_map_vram(g, SPACE, (u32)(VA_CTX >> 12) + i, MEM_CTX + i * 0x1000);
	for (i = 0; i < LIST_PAGES; i++)
		g_map_vram(g, SPACE, (u32)(VA_LIST >> 12) + i, MEM_LIST + i * 0x1000);
	for (i = 0; i < PAIRS; i++)
		g_store64(g, MEM_LIST + i * 8, (u64)value_of(i) << 32 | GR_PATCH_GPC_ATTRIB_BASE);
	g_store32(g, MEM_CTX + GR_CTX_OS_PATCH_ADDR, VA_LIST >> 8);
	g_inst(g, CHAN, SPACE, VA_CTX);
}

static void as_many_as_there_is_room_for(void **state)
{
	static const u32 counts[] = { 0,	  1,	      MOST - 1, MOST,	   MOST + 1,
				      2 * MOST,	  512,	      PAIRS,	PAIRS + 1, 0x20000000,
				      0x20000001, 0x80000000, ~0u };
	struct world_vgpu *g = &world.vgpu[0];
	const struct kvgpu_grctx *gr;
	const struct kvgpu_patch *list;
	u32 i, k, want;
	const u8 *image;

	begin(g);
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		g_store32(g, MEM_CTX + GR_CTX_OS_PATCH_COUNT, counts[i]);
		g_bind(g, CHAN);
		gr = vmach_chan_find(g->v, (gchid_t){ CHAN })->gr;
		assert_non_null(gr);
		image = chip_vram(gr->image.at.v);
		list = (const struct kvgpu_patch *)(image + world.gpu->hw.gr_ctx_size);
		want = min_t(u32, counts[i], MOST);
		if (*(const u32 *)(image + GR_CTX_OS_PATCH_COUNT) != KVGPU_PATCH_OWN + want)
			harness_fail("S6: a guest has %u pairs, and FECS gets %u", counts[i],
				     *(const u32 *)(image + GR_CTX_OS_PATCH_COUNT));
		for (k = 0; k < want; k++)
			if (list[KVGPU_PATCH_OWN + k].reg != GR_PATCH_GPC_ATTRIB_BASE ||
			    list[KVGPU_PATCH_OWN + k].val != value_of(k))
				harness_fail("pair %u of %u is not the guest's", k, counts[i]);
		g_unbind(g, CHAN);
	}
	setup_end();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
