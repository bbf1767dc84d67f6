/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queue meta data of a compute launch, version 00.06 (open-gpu-doc classes/compute/cla1c0qmd.h,
 * NVA1C0_QMDV00_06_*).
 */
#ifndef KVGPU_SELFTESTS_QMD_H
#define KVGPU_SELFTESTS_QMD_H

#include <stdint.h>
#include <string.h>

enum { QMD_BYTES = 256, QMD_WORDS = QMD_BYTES / 4 };

/* bit numbers of fields, as the header's MW(high:low) */
#define QMD_SEMAPHORE_ENABLE(i)	    (202 + (i)), (202 + (i))
#define QMD_INVALIDATE_INSTRUCTION  254, 254
#define QMD_INVALIDATE_CONSTANT	    255, 255
#define QMD_PROGRAM_OFFSET	    287, 256
#define QMD_RELEASE_MEMBAR	    366, 366
#define QMD_CALL_LIMIT_NO_CHECK	    378, 378
#define QMD_GRID_WIDTH		    415, 384
#define QMD_GRID_HEIGHT		    431, 416
#define QMD_GRID_DEPTH		    447, 432
#define QMD_VERSION		    579, 576
#define QMD_MAJOR_VERSION	    583, 580
#define QMD_BLOCK_X		    607, 592
#define QMD_BLOCK_Y		    623, 608
#define QMD_BLOCK_Z		    639, 624
#define QMD_L1_CONFIGURATION	    671, 669
#define QMD_RELEASE_LOW(i)	    (767 + 96 * (i)), (736 + 96 * (i))
#define QMD_RELEASE_HIGH(i)	    (775 + 96 * (i)), (768 + 96 * (i))
#define QMD_RELEASE_REDUCTION_OP(i) (790 + 96 * (i)), (788 + 96 * (i))
#define QMD_RELEASE_REDUCTION(i)    (794 + 96 * (i)), (794 + 96 * (i))
#define QMD_RELEASE_ONE_WORD(i)	    (799 + 96 * (i)), (799 + 96 * (i))
#define QMD_RELEASE_PAYLOAD(i)	    (831 + 96 * (i)), (800 + 96 * (i))
#define QMD_REGISTERS		    1503, 1496
#define QMD_SASS_VERSION	    1535, 1528

static inline void qmd_set(uint32_t *qmd, unsigned int high, unsigned int low, uint32_t value)
{
	uint32_t mask = high - low == 31 ? ~0u : (1u << (high - low + 1)) - 1;

	qmd[low / 32] = (qmd[low / 32] & ~(mask << low % 32)) | (value & mask) << low % 32;
}

#endif
