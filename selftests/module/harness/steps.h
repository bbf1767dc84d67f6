/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps (scene.h) that rows of several topics take. .i is the vGPU, .a its channel where nothing
 * else is said.
 */
#ifndef KVGPU_HARNESS_STEPS_H
#define KVGPU_HARNESS_STEPS_H

#include "selftests/module/harness/chip/state.h"
#include "selftests/module/harness/scene.h"

/* What its guest does. inst: .b space, .c VA of the context; space: .a of it, .b is to have it */
DO(inst, g_inst(V(i), a, b, c))
DO(space, g_space(V(i), a); if (b) g_inst(V(i), b, a, 0))
DO(binds, g_bind(V(i), a))
DO(runs, g_run(V(i), a))
DO(enables, g_enable(V(i), a, true))
DO(disables, g_enable(V(i), a, false))
DO(unbinds, g_unbind(V(i), a))
DO(is_anew, g_chan_anew(V(i), a))
DO(rings, g_ring(V(i), a, b))
#define ENTRIES(...) (u64)(const u64[]){ __VA_ARGS__ }, sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64)
DO(lists, g_list(V(i), (const u64 *)a, b)) /* ENTRIES() */
DO(preempts, g_preempt(V(i), b, a)) /* .b: .a is a group */
DO(writes, g_write(V(i), a, b)) /* a register */
ASK(reads, g_read(V(i), a) == b)
/* Page .b of space .a leads to memory or video memory at .c; 1 + .b invalidates of space .a */
DO(sys, g_map_sys(V(i), a, b, c))
DO(vram, g_map_vram(V(i), a, b, c))
DO(none, g_unmap(V(i), a, b))
DO(uses, setup_run(i, a, b)) /* space .b */
DO(tlb, u64 n; for (n = 0; n <= b; n++) g_tlb(V(i), a))

/* What its VMM does */
DO(ram_goes, container_unmap(setup_c, SETUP_RAM, SETUP_RAM))
DO(resets, world_reset(i))
DO(closes, world_close(i))
DO(unmakes, world_unmake(i))
DO(sleeps, harness_sleep(a)) /* ns */

/* What the chip does */
DO(loads, chip_load_on_gr(id_of(i, a)))
DO(hangs, UNTIL(chip_hang(id_of(i, a), false)))
DO(faults, UNTIL(chip_fault(id_of(i, a), 0x1000)))
DO(before_write, chip_before_write = (void (*)(u32, u32))a)
DO(faults_now, NEEDS(chip_fault_now(id_of(i, a))))

/* What must be so, or (.b is 0) must not. is_well: all that the oracle asks for */
DO(is_well, world_check(scene->name))
ASK(loaded, chip_loaded(id_of(i, a)) == b)
ASK(lives, admin_chan_lives(i, a) == b)

#endif
