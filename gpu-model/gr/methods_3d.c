// SPDX-License-Identifier: GPL-2.0-only
/*
 * Class A197. State is kept, and constant buffer loads reach memory. The model has no rasteriser: a
 * method that would draw, clear or move depth data, or release another GPU's semaphore, raises
 * ILLEGAL_MTHD, with the method and its argument in the trapped registers.
 */
#include "gr.h"

static enum eng_ret no_drawing(struct gr_exec *x)
{
	return trap_illegal_method(x);
}

static enum eng_ret firmware_method(struct gr_exec *x)
{
	fecs_firmware_method(x);
	return ENG_DONE;
}

static enum eng_ret load_cb(struct gr_exec *x)
{
	uint32_t off = state_get(x->gr, GR_3D, M_LOAD_CB_OFFSET),
		 size = state_get(x->gr, GR_3D, M_SET_CB_SELECTOR_A);
	uint64_t va = state_addr(x->gr, GR_3D, M_SET_CB_SELECTOR_B);

	if (off & 3)
		return trap_data_error(x, GR_DATA_ERROR_INVALID_ALIGNMENT);
	/* open: loads behind the buffer's end. Dropped here */
	if (off < size &&
	    mmu_write(x->g, &x->gr->fe, &x->c->vm, va + off, &x->data, sizeof(x->data), 0))
		return ENG_FAULT;
	state_set(x->gr, GR_3D, M_LOAD_CB_OFFSET, off + 4);
	return ENG_DONE;
}

#define ONE(m) m, m, 4

static const struct gr_action table[] = {
	{ M_LOAD_CB, M_LOAD_CB_END - 4, 4, load_cb },
	{ M_THREED_SET_FALCON, M_THREED_SET_FALCON + 4 * (M_FALCON_COUNT - 1), 4, firmware_method },
	{ ONE(M_PEER_SEMAPHORE_RELEASE), no_drawing },
	{ ONE(M_DRAW_ZERO_INDEX), no_drawing },
	{ ONE(M_DRAW_VERTEX_ARRAY), no_drawing },
	{ M_DRAW_VERTEX_ARRAY_FIRST, M_DRAW_VERTEX_ARRAY_SUBSEQUENT, 4, no_drawing },
	{ ONE(M_DRAW_AUTO), no_drawing },
	{ ONE(M_CLEAR_ZCULL_REGION), no_drawing },
	{ ONE(M_DRAW_INLINE_INDEX4X8), no_drawing },
	{ ONE(M_STORE_ZCULL), no_drawing },
	{ ONE(M_LOAD_ZCULL), no_drawing },
	{ ONE(M_DRAW_INLINE_INDEX), no_drawing },
	{ ONE(M_DRAW_INLINE_INDEX2X16), no_drawing },
	{ ONE(M_BEGIN), no_drawing },
	{ ONE(M_DRAW_INLINE_VERTEX), no_drawing },
	{ ONE(M_LAUNCH_VERTEX), no_drawing },
	{ M_DRAW_INDEX_BUFFER, M_DRAW_INDEX_BUFFER_LAST, 4, no_drawing },
	{ ONE(M_CLEAR_SURFACE), no_drawing },
	{ ONE(M_CLEAR_CLIP_ID_SURFACE), no_drawing },
};
const struct gr_actions gr_actions_3d = { table, sizeof(table) / sizeof(table[0]) };
