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
/* clang-format off */
STEP(inst) { g_inst(V(i), a, b, c); return true; }
STEP(space) { g_space(V(i), a); if (b) g_inst(V(i), b, a, 0); return true; }
STEP(binds) { g_bind(V(i), a); return true; }
STEP(runs) { g_run(V(i), a); return true; }
STEP(enables) { g_enable(V(i), a, true); return true; }
STEP(disables) { g_enable(V(i), a, false); return true; }
STEP(unbinds) { g_unbind(V(i), a); return true; }
STEP(is_anew) { g_chan_anew(V(i), a); return true; }
STEP(rings) { g_ring(V(i), a, b); return true; }
/* clang-format on */
#define ENTRIES(...) (u64)(const u64[]){ __VA_ARGS__ }, sizeof((u64[]){ __VA_ARGS__ }) / sizeof(u64)
/* clang-format off */
STEP(lists) { g_list(V(i), (const u64 *)a, b); return true; } /* ENTRIES() */
STEP(preempts) { g_preempt(V(i), b, a); return true; } /* .b: .a is a group */
STEP(writes) { g_write(V(i), a, b); return true; } /* a register */
STEP(reads) { return ASK(g_read(V(i), a) == b); }
/* Page .b of space .a leads to memory or video memory at .c; 1 + .b invalidates of space .a */
STEP(sys) { g_map_sys(V(i), a, b, c); return true; }
STEP(vram) { g_map_vram(V(i), a, b, c); return true; }
STEP(none) { g_unmap(V(i), a, b); return true; }
STEP(uses) { setup_run(i, a, b); return true; } /* space .b */
STEP(tlb) { u64 n; for (n = 0; n <= b; n++) g_tlb(V(i), a); return true; }

/* What its VMM does */
STEP(ram_goes) { container_unmap(setup_c, SETUP_RAM, SETUP_RAM); return true; }
STEP(resets) { world_reset(i); return true; }
STEP(closes) { world_close(i); return true; }
STEP(unmakes) { world_unmake(i); return true; }
STEP(sleeps) { harness_sleep(a); return true; } /* ns */

/* What the chip does */
STEP(loads) { chip_load_on_gr(id_of(i, a)); return true; }
STEP(hangs) { UNTIL(chip_hang(id_of(i, a), false)); return true; }
STEP(faults) { UNTIL(chip_fault(id_of(i, a), 0x1000)); return true; }
STEP(before_write) { chip_before_write = (void (*)(u32, u32))a; return true; }
STEP(faults_now) { NEEDS(chip_fault_now(id_of(i, a))); return true; }

/* What must be so, or (.b is 0) must not. is_well: all that the oracle asks for */
STEP(is_well) { world_check(scene->name); return true; }
STEP(loaded) { return ASK(chip_loaded(id_of(i, a)) == b); }
STEP(lives) { return ASK(admin_chan_lives(i, a) == b); }
/* clang-format on */

#endif
