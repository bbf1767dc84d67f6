/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The handlers that are built once per vector unit. The order of the includes matters: later files
 * use macros and functions of earlier ones. All use what isa_*.c include.
 */
#ifndef KVGPU_MODEL_GR_SM_LANE_ALL_H
#define KVGPU_MODEL_GR_SM_LANE_ALL_H

#include "lane_ldst.h"
#include "lane_int.h"
#include "lane_bits.h"
#include "lane_float.h"
#include "lane_double.h"
#include "lane_convert.h"
#include "lane_video.h"

op_fn LANE_TABLE(const struct sm_insn *in)
{
	op_fn (*const tables[])(const struct sm_insn *in) = {
		select_float,  select_int,     select_bits,  select_ldst,
		select_double, select_convert, select_video,
	};
	op_fn fn = NULL;

	for (unsigned int i = 0; !fn && i < sizeof(tables) / sizeof(tables[0]); i++)
		fn = tables[i](in);
	return fn;
}

#endif
