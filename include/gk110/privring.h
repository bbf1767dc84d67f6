/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * PRIVRING (rnndb: PIBUS), the ring by which accesses of registers reach the units. Sources: rnndb
 * bus/pibus.xml, nouveau nvkm/subdev/privring/gk104.c.
 */
#ifndef KVGPU_GK110_PRIVRING_H
#define KVGPU_GK110_PRIVRING_H

#include <linux/bits.h>

#define PRIVRING_BASE			0x120000
#define PRIVRING_SIZE			0x010000
#define PRIVRING_COMMAND		0x12004c
#define   PRIVRING_COMMAND_CODE		GENMASK(5, 0)	/* reads 0 when the command is done */
#define   PRIVRING_COMMAND_ACK_INTR	2
#define   PRIVRING_COMMAND_ENUMERATE	4	/* find the units on the ring (nvgpu) */
#define PRIVRING_INTR0			0x120058
#define   PRIVRING_INTR0_HUB(i)		BIT(8 + (i))
#define PRIVRING_INTR1			0x12005c
#define PRIVRING_HUB_COUNT		0x120070
#define PRIVRING_FBP_COUNT		0x120074
#define PRIVRING_GPC_COUNT		0x120078
/* of an access that failed: register, what was written, and a word that no source explains */
#define PRIVRING_HUB_ERROR_ADDR(i)	(0x122120 + 0x800 * (i))
#define PRIVRING_HUB_ERROR_DATA(i)	(0x122124 + 0x800 * (i))
#define PRIVRING_HUB_ERROR_INFO(i)	(0x122128 + 0x800 * (i))
/* not documented; nouveau sets them (rnndb CFG) */
#define PRIVRING_TIMING(i)		(0x122310 + 4 * (i))
#define   PRIVRING_TIMING_VALUE		GENMASK(17, 0)
/* X(i, value), in nouveau's order */
#define PRIVRING_TIMINGS(X) \
	X(2, 0x1000) X(3, 0x200) X(0, 0x800) X(14, 0x100) X(40, 0xfff) X(14, 0x200) X(18, 0x2880)

/*
 * A register read without an answer gives 0xbadfxxxx or 0xbad0xxxx (nouveau nvkm gr/gf100.c,
 * nvgpu).
 */
#define PRIVRING_ERROR_MASK		0xfff00000u
#define PRIVRING_ERROR			0xbad00000u

#endif
