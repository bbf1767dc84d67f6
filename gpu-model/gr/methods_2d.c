// SPDX-License-Identifier: GPL-2.0-only
/*
 * Class 902D. A method that would draw, or read memory for a macro (MME_DMA), raises ILLEGAL_MTHD:
 * the model has no rasteriser, and macros get parameters from methods alone.
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

static const struct gr_action table[] = {
	{ M_TWOD_MME_DMA_READ, M_TWOD_MME_DMA_SYNC, 4, no_drawing },
	{ M_TWOD_SOLID_POINT_X_Y, M_TWOD_SOLID_POINT_X_Y, 4, no_drawing },
	{ M_TWOD_SOLID_POINT + 4, M_TWOD_SOLID_POINT_END - 4, 8, no_drawing },
	{ M_TWOD_PIXELS_FROM_CPU_DATA, M_TWOD_PIXELS_FROM_CPU_DATA, 4, no_drawing },
	{ M_TWOD_PIXELS_FROM_MEMORY, M_TWOD_PIXELS_FROM_MEMORY, 4, no_drawing },
	{ M_TWOD_SET_FALCON, M_TWOD_SET_FALCON + 4 * (M_FALCON_COUNT - 1), 4, firmware_method },
};
const struct gr_actions gr_actions_2d = { table, sizeof(table) / sizeof(table[0]) };
