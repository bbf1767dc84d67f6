// SPDX-License-Identifier: GPL-2.0-only
/* world.h has the contracts. setup_begin() reads HARNESS_POLICY from the environment. */
#include <stdlib.h>

#include "mdev/internal.h"
#include "mdev/machine/internal.h"
#include "selftests/harness/oracle.h"
#include "selftests/harness/world.h"

struct mm_struct *setup_mm;
struct container *setup_c;

void setup_run(u32 i, u32 chan, u32 space)
{
	struct world_vgpu *g = V(i);

	g_space(g, space);
	g_map_sys(g, space, 16, SETUP_RAM + i * 0x1000);
	g_map_sys(g, space, 17, SETUP_RAM + 0x80000);
	g_map_vram(g, space, 18, G_DATA);
	g_inst(g, chan, space, 0);
	g_bind(g, chan);
	LIST(g, chan);
	g_enable(g, chan, true);
	g_ring(g, chan, 1);
}

void setup_open(u32 i)
{
	if (!world_open(i, setup_c))
		harness_fail("vGPU %u can't be opened", i);
	setup_run(i, 1, 0);
}

void setup_begin(const struct policy *p, const struct chip_manners *m, u32 vgpus)
{
	struct policy quiet = { .seed = p->seed };
	u32 i;

	world_begin(&quiet, m);
	setup_mm = mm_new();
	setup_c = container_new(setup_mm);
	container_map(setup_c, SETUP_RAM, 0, SETUP_RAM);
	for (i = 0; i < vgpus; i++) {
		if (!world_make(i))
			harness_fail("vGPU %u can't be made", i);
		setup_open(i);
	}
	if (getenv("HARNESS_POLICY"))
		kvgpu_machine_gpu_knob_set(world.gpu, MACHINE_POLICY,
					   atoi(getenv("HARNESS_POLICY")));
	harness_policy(p);
}

void setup_end(void)
{
	struct policy quiet = {};
	u32 i;

	harness_policy(&quiet);
	world_check("at the end");
	for (i = 0; i < WORLD_VGPUS; i++)
		if (world.vgpu[i].open)
			world_close(i);
	container_free(setup_c);
	mm_free(setup_mm);
	world_end();
}
