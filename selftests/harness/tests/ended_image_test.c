// SPDX-License-Identifier: GPL-2.0-only
/*
 * A guest frees the context of a channel that was ended, leaves the channel bound, and has the
 * context of its next channel over a part of the same addresses. The next channel gets an image.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "mdev/machine/internal.h"
#include "selftests/harness/world.h"

#define MS	1000000ull
#define SPACE	1
#define VA_CTX	0x40000ull
#define BESIDE	0x8000ull		/* less than an image */

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(next_context_overlaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
