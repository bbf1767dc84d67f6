// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel faults on its PBDMA (its ring is not mapped) while GR works for another vGPU's kernel,
 * which can't be interrupted. Recovery waits for that kernel. The kernel's vGPU pays for that time,
 * and not the faulting one, too (S5, against that vGPU).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "selftests/harness/tests/partners.h"

enum { KERNELS, FAULTER, VGPUS };

static const struct chip_manners calm = { .eager = true,
					  .busy = true,
					  .late = 2,
					  .idles = true,
					  .waiters_stay = true };

static void once(u32 kernel_ms, bool faults)
{
	struct world_vgpu *f = &world.vgpu[FAULTER];
	u64 list[] = { 1, 2 }, k, p, began, gone;
	u16 id;

	setup_begin(&coarse, &calm, VGPUS);
	g_ring(&world.vgpu[KERNELS], 1, 0);
	g_ring(f, 1, 0);
	g_inst(f, 2, 0, 0);
	g_bind(f, 2);
	g_enable(f, 2, true);
	g_list(f, list, 2);
	harness_sleep(100 * MS);
	id = g_hchid(f, 2);
	while (!chip_hold(chan_at(KERNELS, 1), kernel_ms * MS))
		harness_sleep(10 * US);
	chip_at_work(chan_at(KERNELS, 1), true);
	harness_sleep(3 * MS);
	chip.pbdma[0].chid = NO_CHAN;
	chip_load_some(0, id);
	k = vmach_gpu_time_get(world.vgpu[KERNELS].v->m);
	p = vmach_gpu_time_get(f->v->m);
	began = harness_now;
	if (faults && !chip_fault_now(id))
		harness_fail("not loaded");
	while (faults && (!READ_ONCE(vmach_chan_find(f->v, (gchid_t){ 2 })->dead) ||
			  chip.reg[PFIFO_RUNLIST_ERROR / 4] & 1))
		harness_sleep(10 * US);
	gone = harness_now - began;
	while (chip_is_stuck())
		harness_sleep(MS);
	chip_at_work(chan_at(KERNELS, 1), false);
	harness_sleep(20 * MS);
	k = (vmach_gpu_time_get(world.vgpu[KERNELS].v->m) - k) / US;
	p = (vmach_gpu_time_get(f->v->m) - p) / US;
	printf("# a kernel of %u ms%s: recovery took %llu us; the kernel's vGPU is charged %llu us, the other one %llu us\n",
	       kernel_ms, faults ? " and a fault" : "", gone / US, k, p);
	if (p > k / 10)
		harness_fail("S5: one that faults beside a neighbour's kernel pays %llu us for it",
			     p);
	setup_end();
}

static void beside_a_kernel(void **state)
{
	once(20, false);
	once(20, true);
	once(90, true);
	once(500, true);
	once(1500, true);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(beside_a_kernel) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
