// SPDX-License-Identifier: MIT
/*
 * Layout 00.06 of queue meta data (open-gpu-doc cla1c0qmd.h, NVA1C0_QMDV00_06_*), as Mesa's nvc0
 * driver uses it on this chip. Fields are named by their highest and lowest bit in the whole
 * structure.
 */
#include "qmd.h"

#include <string.h>

#include "methods.h"

#define RELEASE_ENABLE0		   202, 202
#define INVALIDATE_TEXTURE_HEADER  250, 250
#define INVALIDATE_TEXTURE_SAMPLER 251, 251
#define INVALIDATE_TEXTURE_DATA	   252, 252
#define INVALIDATE_SHADER_DATA	   253, 253
#define INVALIDATE_INSTRUCTION	   254, 254
#define INVALIDATE_CONSTANT	   255, 255
#define PROGRAM_OFFSET		   287, 256
#define RELEASE_MEMBAR_SYS	   366, 366
#define CWD_MEMBAR		   369, 368
#define CWD_MEMBAR_L1_SYSMEMBAR	   1
#define CALL_LIMIT_NO_CHECK	   378, 378
#define SHARED_BANKS_OF_8	   379, 379
#define GRID_WIDTH		   415, 384
#define GRID_HEIGHT		   431, 416
#define GRID_DEPTH		   447, 432
#define SHARED_SIZE		   561, 544
#define VERSION			   579, 576
#define BLOCK_X			   607, 592
#define BLOCK_Y			   623, 608
#define BLOCK_Z			   639, 624
#define BANK_VALID(i)		   (640 + (i)), (640 + (i))
#define L1_CONFIGURATION	   671, 669
#define RELEASE0_LOWER		   767, 736
#define RELEASE0_UPPER		   775, 768
#define RELEASE0_ONE_WORD	   799, 799
#define RELEASE0_PAYLOAD	   831, 800
#define BANK_LOWER(i)		   (959 + 64 * (i)), (928 + 64 * (i))
#define BANK_UPPER(i)		   (967 + 64 * (i)), (960 + 64 * (i))
#define BANK_SIZE(i)		   (991 + 64 * (i)), (975 + 64 * (i))
#define LOCAL_LOW_SIZE		   1463, 1440
#define BARRIERS		   1471, 1467
#define LOCAL_HIGH_SIZE		   1495, 1472
#define REGISTERS		   1503, 1496
#define CRS_SIZE		   1527, 1504
#define SASS_VERSION		   1535, 1528
#define SASS_VERSION_3_0	   0x30

enum { SHARED_UNIT = 256, BANK_UNIT = 16 };

/* Top of the stack, for bank 0. Code that checks its stack (nvcc -G) compares with SR_LMEMHIOFF. */
enum { LOCAL_WINDOW_BYTES = 1 << 24 };

/* what qmd_const0() fills in (nvdisasm of nvcc's code); parameters begin at 0x140 */
enum {
	CONST0_SHARED_WINDOW = 0x20,
	CONST0_LOCAL_WINDOW = 0x24,
	CONST0_BLOCK = 0x28,
	CONST0_GRID = 0x34,
	CONST0_STACK = 0x44,
	CONST0_END = 0x140
};

static void set_field(uint32_t *qmd, unsigned int high, unsigned int low, uint32_t value)
{
	uint32_t mask = high - low == 31 ? ~0u : (1u << (high - low + 1)) - 1;

	qmd[low / 32] = (qmd[low / 32] & ~(mask << low % 32)) | (value & mask) << low % 32;
}

static uint32_t l1_configuration(const struct device_launch *l)
{
	uint32_t kb = l->l1_kb ? l->l1_kb : 48;

	if (l->shared > 32 << 10 || kb > 32)
		return 3;
	return l->shared > 16 << 10 || kb > 16 ? 2 : 1;
}

static void set_bank(uint32_t *qmd, unsigned int i, uint64_t va, uint32_t size)
{
	set_field(qmd, BANK_VALID(i), 1);
	set_field(qmd, BANK_LOWER(i), va);
	set_field(qmd, BANK_UPPER(i), va >> 32);
	set_field(qmd, BANK_SIZE(i), (size + BANK_UNIT - 1) & ~(BANK_UNIT - 1));
}

static void set_caches(uint32_t *qmd, const struct device_launch *l)
{
	set_field(qmd, INVALIDATE_TEXTURE_HEADER, 1);
	set_field(qmd, INVALIDATE_TEXTURE_SAMPLER, 1);
	set_field(qmd, INVALIDATE_TEXTURE_DATA, 1);
	set_field(qmd, INVALIDATE_SHADER_DATA, 1);
	set_field(qmd, INVALIDATE_INSTRUCTION, l->new_code);
	set_field(qmd, INVALIDATE_CONSTANT, 1);
	set_field(qmd, RELEASE_MEMBAR_SYS, 1);
	set_field(qmd, CWD_MEMBAR, CWD_MEMBAR_L1_SYSMEMBAR);
}

void qmd_build(uint32_t qmd[QMD_BYTES / 4], const struct device_launch *l, uint64_t const0,
	       uint64_t release, uint32_t payload)
{
	unsigned int i;

	memset(qmd, 0, QMD_BYTES);
	set_field(qmd, VERSION, 6);
	set_field(qmd, SASS_VERSION, SASS_VERSION_3_0);
	set_field(qmd, CALL_LIMIT_NO_CHECK, 1);
	set_caches(qmd, l);
	set_field(qmd, PROGRAM_OFFSET, l->entry);
	set_field(qmd, GRID_WIDTH, l->grid[0]);
	set_field(qmd, GRID_HEIGHT, l->grid[1]);
	set_field(qmd, GRID_DEPTH, l->grid[2]);
	set_field(qmd, BLOCK_X, l->block[0]);
	set_field(qmd, BLOCK_Y, l->block[1]);
	set_field(qmd, BLOCK_Z, l->block[2]);
	set_field(qmd, SHARED_SIZE, (l->shared + SHARED_UNIT - 1) & ~(SHARED_UNIT - 1));
	set_field(qmd, SHARED_BANKS_OF_8, l->banks_of_8);
	set_field(qmd, L1_CONFIGURATION, l1_configuration(l));
	set_field(qmd, LOCAL_LOW_SIZE, l->local);
	set_field(qmd, LOCAL_HIGH_SIZE, l->stack);
	set_field(qmd, CRS_SIZE, l->crs);
	set_field(qmd, BARRIERS, l->barriers);
	set_field(qmd, REGISTERS, l->regs);
	set_bank(qmd, 0, const0, qmd_const0_size(l));
	for (i = 1; i < DEVICE_BANKS; i++)
		if (l->bank[i].size)
			set_bank(qmd, i, l->bank[i].va, l->bank[i].size);
	set_field(qmd, RELEASE_ENABLE0, 1);
	set_field(qmd, RELEASE0_LOWER, release);
	set_field(qmd, RELEASE0_UPPER, release >> 32);
	set_field(qmd, RELEASE0_ONE_WORD, 1);
	set_field(qmd, RELEASE0_PAYLOAD, payload);
}

uint32_t qmd_const0_size(const struct device_launch *l)
{
	return l->const0_size > CONST0_END ? l->const0_size : CONST0_END;
}

void qmd_const0(void *bank, const struct device_launch *l)
{
	const uint32_t windows[] = { SHARED_WINDOW, LOCAL_WINDOW }, top = LOCAL_WINDOW_BYTES;
	uint8_t *at = bank;

	memset(at, 0, qmd_const0_size(l));
	if (l->const0_size)
		memcpy(at, l->const0, l->const0_size);
	memcpy(at + CONST0_SHARED_WINDOW, windows, sizeof(windows));
	memcpy(at + CONST0_BLOCK, l->block, sizeof(l->block));
	memcpy(at + CONST0_GRID, l->grid, sizeof(l->grid));
	memcpy(at + CONST0_STACK, &top, sizeof(top));
}
