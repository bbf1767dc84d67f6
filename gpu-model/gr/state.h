/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layout of the class state that is saved with a context ("strand" of the hub in the image). The
 * layout is the model's own; the chip's is not documented. gr.h says which threads write the words.
 */
#ifndef KVGPU_MODEL_GR_STATE_H
#define KVGPU_MODEL_GR_STATE_H

/* in the order of the subchannels */
enum gr_class { GR_3D, GR_COMPUTE, GR_I2M, GR_2D, GR_NR_CLASS };

#define MME_CODE_WORDS	 0x800
#define MME_START_WORDS	 0x80
#define MME_MAX_PARAMS	 512
#define BUNDLE_LOW_WORDS 0x1040 /* addresses 0x0000-0x103f */
/* bundle addresses 0xc000-0xc5ff, which nouveau's gk110 list writes */
#define BUNDLE_HIGH_BASE  0xc000
#define BUNDLE_HIGH_WORDS 0x600

enum strand_word {
	STRAND_3D = 0, /* 0x0100-0x2bff, 0x3300-0x33ff */
	STRAND_COMPUTE = STRAND_3D + 0xb00, /* ranges in state.c */
	STRAND_I2M = STRAND_COMPUTE + 0x400, /* 0x0100-0x01ff */
	STRAND_2D = STRAND_I2M + 0x40, /* 0x0100-0x09ff, 0x0d00-0x0dff */
	/* 0x3400-0x37ff, one for 3D, compute and 2D */
	STRAND_SCRATCH = STRAND_2D + 0x280,
	STRAND_MME_CODE = STRAND_SCRATCH + 0x100,
	STRAND_MME_START = STRAND_MME_CODE + MME_CODE_WORDS,
	STRAND_BUNDLE_LOW = STRAND_MME_START + MME_START_WORDS,
	STRAND_BUNDLE_HIGH = STRAND_BUNDLE_LOW + BUNDLE_LOW_WORDS,
	/* 1 + the class of the active upload; 0: none */
	STRAND_UPLOAD_CLASS = STRAND_BUNDLE_HIGH + BUNDLE_HIGH_WORDS,
	STRAND_UPLOAD_LINE, /* next line of the upload */
	STRAND_UPLOAD_X, /* the next byte in that line */
	STRAND_UPLOAD_LAUNCH, /* argument of LAUNCH_DMA */
	STRAND_LAUNCH_ACTIVE, /* 1: a launch was interrupted */
	STRAND_LAUNCH_QMD, /* QMD of that launch, >> 8 */
	/* warps of that launch's grid that are done */
	STRAND_LAUNCH_WARPS_LO,
	STRAND_LAUNCH_WARPS_HI,
	/* 1 + the macro that collects parameters; 0: none */
	STRAND_MME_MACRO,
	STRAND_MME_CLASS, /* enum gr_class of the call */
	STRAND_MME_COUNT, /* parameters so far */
	STRAND_MME_PARAM,
	STRAND_WORDS = STRAND_MME_PARAM + MME_MAX_PARAMS,
};

#endif
