/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels that keep an engine, and channels that wait for it. An engine that is to switch from one
 * channel or group (TSG) to another may have to save the first one, the *holder*, for long: its
 * kernel can't be saved yet. The status of the engine then names both (nvgpu: "switch"). The second
 * one, which waits, can't leave its PBDMA before that.
 */
#ifndef KVGPU_MACHINE_HOLDER_H
#define KVGPU_MACHINE_HOLDER_H

#include "mdev/machine/wait.h"

/*
 * engine.c: as vmach_engine_has(), but false while @engine has still to save another channel before
 * it loads @hid
 */
bool vmach_engine_keeps(struct kvgpu_gpu *gpu, u8 engine, struct machine_hid hid);
/*
 * engine.c: Tells whether channel or group @hid waits until an engine has saved another one, and
 * writes the other one to *@holder.
 */
bool vmach_chan_waits(struct kvgpu_gpu *gpu, struct machine_hid hid, struct machine_hid *holder);
/*
 * recover.c: Ends @c and its group, which the chip knows as @hid, because it does not leave the
 * chip, and counts a strike. If @c is dead already, only evicts it. For the slicer.
 */
void vmach_hang_end(struct kvgpu_chan *c, struct machine_hid hid);
/*
 * recover.c: If channel or group @hid waits, ends the holder by vmach_hang_end(). False: @hid does
 * not wait, or no vGPU has the holder. For the slicer.
 */
bool vmach_holder_end(struct kvgpu_gpu *gpu, struct machine_hid hid);

#endif
