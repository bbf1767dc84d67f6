/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the harness has to know of the module's own state: whose memory and channel ids are, what a
 * table must be a copy of. Oracles ask at any moment, also in the middle of a call and with locks
 * held, where sysfs and debugfs can't be read. inside.c alone includes headers of the module.
 *
 * Nothing here takes a lock or is a point.
 */
#ifndef KVGPU_HARNESS_INSIDE_H
#define KVGPU_HARNESS_INSIDE_H

#include <linux/types.h>

struct kvgpu_vgpu;
struct mdev_device;
struct mutex;
struct vfio_device;

/* ------------------------------------------------------------------ the card */

bool inside_lost(void); /* the module has given the card up */
void inside_lose(const char *why); /* a call: the module gives the card up */
bool inside_group_taken(u32 id); /* of the chip's groups */
/* Bytes of a context's image, and of the image with all that follows it in the host's memory. */
u64 inside_image_size(void);
u64 inside_context_size(void);

/* ------------------------------------------------------------------ a vGPU */

struct kvgpu_vgpu *inside_vgpu(struct mdev_device *mdev);
struct vfio_device *inside_device(struct kvgpu_vgpu *v);
const struct kvgpu_vgpu *inside_of(const struct vfio_device *vdev);
u32 inside_id(const struct kvgpu_vgpu *v); /* never 0 */
/* Return the id of the vGPU that has this lock; 0: none has it. */
u32 inside_id_of_lock(const struct mutex *m);
bool inside_is_locked(const struct kvgpu_vgpu *v);

struct inside_part {
	u64 at, size;
};
struct inside_part inside_part(const struct kvgpu_vgpu *v); /* of video memory */
/* Return true for a page that BARs show where the guest's tables lead nowhere. */
bool inside_is_filler(const struct kvgpu_vgpu *v, u64 at);
/* Return memory @nr of the vGPU's own. */
u8 *inside_own(const struct kvgpu_vgpu *v, u32 nr, u64 *size);
/* Return the word of such memory that stands for a register. */
u32 *inside_word(const struct kvgpu_vgpu *v, u32 reg);

/* The chip's ids of channels: one that the vGPU may use, one that leads to a channel of it. */
bool inside_may_have(const struct kvgpu_vgpu *v, u16 chid);
bool inside_has(const struct kvgpu_vgpu *v, u16 chid);
/* Return the chip's id of the guest's channel; CHIP_NOBODY: it is not bound. */
u16 inside_chid(struct kvgpu_vgpu *v, u32 chan);

typedef void inside_copy(const struct kvgpu_vgpu *v, u64 at, const u64 *copy, u32 nr,
			 const char *when);
/*
 * Call @see for each table of the guest's in video memory, @nr entries at @at of the partition, of
 * which the module says that @copy is what it has.
 */
void inside_copies(const struct kvgpu_vgpu *v, inside_copy *see, const char *when);

#endif
