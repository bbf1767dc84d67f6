/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RAMFC is the part of a channel's instance block that has the channel's state in a PBDMA, the unit
 * that fetches the channel's pushbuffers (gk110/ram.h). The host builds it for guests' channels
 * (gtt-shadow/inst.c) and its own (hw/copy.c).
 */
#ifndef KVGPU_RAMFC_H
#define KVGPU_RAMFC_H

#include <linux/bitfield.h>
#include <linux/types.h>

#include "gk110/ram.h"
#include "kvgpu/types.h"

struct kvgpu_ramfc {
	hchid_t chid;
	u64 userd; /* address of the channel's USERD in the card's video memory */
	u64 gp_base; /* GPU virtual address of the GPFIFO ring */
	u8 gp_log2; /* log2 of the GPFIFO ring's number of entries */
	/*
	 * RAMFC_SUBDEVICE_ID: the bits by which a mask in a pushbuffer selects this GPU, if several
	 * GPUs share the pushbuffer (SLI, gk110/push.h)
	 */
	u16 subdevice;
	/* true: the channel's copy methods may read and write at physical addresses */
	bool priv_mode;
};

/*
 * Writes the RAMFC of a new channel to @block, the CPU's copy of the start of an instance block,
 * which must be zeros before.
 */
static inline void kvgpu_ramfc_write(u32 *block, const struct kvgpu_ramfc *r)
{
	block[RAMFC_USERD / 4] = (u32)r->userd | FIELD_PREP(RAMFC_USERD_TARGET, KVGPU_VRAM);
	block[RAMFC_USERD_HI / 4] = (u32)(r->userd >> 32);
	block[RAMFC_SIGNATURE / 4] = RAMFC_SIGNATURE_FACE;
	block[RAMFC_ACQUIRE / 4] = RAMFC_ACQUIRE_INIT;
	block[RAMFC_GP_BASE / 4] = (u32)r->gp_base;
	block[RAMFC_GP_BASE_HI / 4] = (u32)(r->gp_base >> 32) |
				      FIELD_PREP(RAMFC_GP_BASE_LIMIT2, r->gp_log2);
	block[RAMFC_PB_HEADER / 4] = RAMFC_HEADER_INIT;
	block[RAMFC_SUBDEVICE / 4] = RAMFC_SUBDEVICE_INIT |
				     FIELD_PREP(RAMFC_SUBDEVICE_ID, r->subdevice);
	block[RAMFC_FORMATS / 4] = RAMFC_FORMATS_INIT;
	block[RAMFC_TARGET / 4] = RAMFC_TARGET_SW;
	block[RAMFC_UNK_B8 / 4] = RAMFC_UNK_B8_INIT;
	block[RAMFC_HCE_CTRL / 4] = r->priv_mode ? RAMFC_HCE_PRIV_MODE : 0;
	block[RAMFC_CHID / 4] = r->chid.v;
	block[RAMFC_TIMESLICE / 4] = RAMFC_TIMESLICE_INIT;
	block[RAMFC_PB_TIMESLICE / 4] = RAMFC_PB_TIMESLICE_INIT;
}

#endif
