/* SPDX-License-Identifier: GPL-2.0-only */
/* A VBIOS with boot scripts, for tests: made here, without a vendor's bytes. */
#ifndef KVGPU_TEST_POSTROM_H
#define KVGPU_TEST_POSTROM_H

#include <linux/types.h>

#define POSTROM_SIZE 4096

struct postrom {
	u8 rom[POSTROM_SIZE];
	u32 at; /* offset of the next byte that postrom_put() writes */
};

/* A script's bytes, from here on: POSTROM_32(reg) is a register or a value. */
#define POSTROM_16(v) (u8)(v), (u8)((v) >> 8)
#define POSTROM_32(v) POSTROM_16(v), POSTROM_16((u32)(v) >> 16)

/* Makes the shell (ROM header, BIT, DCB with pins and I2C ports, tables) without a script. */
void postrom_begin(struct postrom *r);
/* Appends bytes; returns their offset. */
u32 postrom_put(struct postrom *r, const void *data, u32 len);
/* Makes the script at offset @script number @i of the list. */
void postrom_script(struct postrom *r, unsigned int i, u32 script);
void postrom_last_script(struct postrom *r, u32 script);
/* A whole VBIOS whose scripts use each opcode that a boot script can have. */
void postrom_full(struct postrom *r);

#endif
