/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types and functions that the files of the graphics engine (GR) share: gr.c, grlist.c, grshape.c,
 * grtrap.c, grctx.c, fecs.c and golden.c. Callers of the functions hold gr_lock. firmware.c needs
 * struct kvgpu_fw alone.
 */
#ifndef KVGPU_HW_GR_H
#define KVGPU_HW_GR_H

#include "gk110/falcon.h"
#include "gk110/gr.h"
#include "gk110/grinit.h"
#include "hw/fwfile.h"
#include "hw/internal.h"

#define GR_WAIT_US (2 * USEC_PER_SEC)

/* The firmware file: .blob is the file in memory, .file its sections. */
struct kvgpu_fw {
	const struct firmware *blob;
	struct fwfile file;
};

/* Virtual addresses of the golden context's buffers, in that context's address space. */
struct hw_gr_buffers {
	u64 pagepool, bundle, attrib;
};

/* grlist.c */
u32 hw_gr_reset_bit(struct kvgpu_hw *hw); /* returns GR's bit of PMC_ENABLE, as a mask */
int hw_gr_wait_idle(struct kvgpu_hw *hw); /* waits until GR is idle */
void hw_gr_write_list(struct kvgpu_hw *hw, enum kvgpu_fw_section_id id);

/* grshape.c: the numbers of GR's units differ from card to card */
int hw_gr_read_shape(struct kvgpu_hw *hw); /* reads which units GR has */
void hw_gr_init_zcull(struct kvgpu_hw *hw);
void hw_gr_init_counts(struct kvgpu_hw *hw);
/* writes registers that depend on the numbers of units, for the golden context */
void hw_gr_shape_write(struct kvgpu_hw *hw);
u32 hw_gr_attrib_size(struct kvgpu_hw *hw); /* returns the bytes of the attribute buffer */

/* grtrap.c: enables the engine's exceptions */
void hw_gr_enable_traps(struct kvgpu_hw *hw);

/* grctx.c: writes into the engine's registers the values that a new context starts with. */
int hw_gr_write_context(struct kvgpu_hw *hw, const struct hw_gr_buffers *b);

/*
 * fecs.c: loads and starts the microcode of FECS and GPCCS, the falcons that switch contexts, and
 * gives FECS commands
 */
int hw_fecs_start(struct kvgpu_hw *hw, u32 *ctx_size);
int hw_fecs_reset(struct kvgpu_hw *hw);
int hw_fecs_set_chan(struct kvgpu_hw *hw, u64 inst);
int hw_fecs_unload(struct kvgpu_hw *hw);

/* golden.c: makes and frees the golden context, whose image each new context starts with */
int hw_golden_make(struct kvgpu_hw *hw);
void hw_golden_free(struct kvgpu_hw *hw);

#endif
