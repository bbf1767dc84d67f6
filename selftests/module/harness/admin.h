/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an admin sees and sets: files of sysfs and of debugfs, read as the kernel reads them. A read
 * of debugfs takes locks of the module, so the calling thread must not be in a call of it.
 */
#ifndef KVGPU_HARNESS_ADMIN_H
#define KVGPU_HARNESS_ADMIN_H

#include <linux/types.h>

#define CARD ~0u /* in place of a vGPU's number: the card */

u64 admin_read(u32 vgpu, const char *file);
void admin_write(u32 vgpu, const char *file, const char *text);

struct admin_place { /* where a vGPU's video memory and its parts of the BARs begin */
	u64 part, bar1, bar3, pramin;
};
struct admin_place admin_place(u32 vgpu);

struct admin_chan { /* the chip's ids of a channel and its group (-1: none), its instance block */
	u32 id;
	int tsg;
	u64 inst;
	bool bound; /* false: the guest has not bound it */
	bool lives; /* it is bound, and was not ended */
};
struct admin_chan admin_chan(u32 vgpu, u32 chan);
bool admin_chan_lives(u32 vgpu, u32 chan);
/* Return the number behind the word @word in the vGPU's (or the card's) file @file of debugfs. */
u64 admin_word(u32 vgpu, const char *file, const char *word);

#endif
