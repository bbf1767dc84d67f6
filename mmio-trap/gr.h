/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines for error status registers, which the tables in gr.c and gpc.c share. */
#ifndef KVGPU_MMIO_TRAP_GR_H
#define KVGPU_MMIO_TRAP_GR_H

#include "units.h"

void vtrap_gr_esr_write(struct kvgpu_trap *t, const struct kvgpu_access *a);

/*
 * The name of a line is #reg. If these macros passed @reg on to KVGPU_LINE(), the name there would
 * be the register's number.
 */
#define GR_ESR_LINE(reg, ...)                                   \
	{                                                       \
		.name = #reg, .off = (reg), GR_ESR, __VA_ARGS__ \
	}
#define GR_ESR_LINE_AT(base, reg, ...)                                   \
	{                                                                \
		.name = #reg, .off = (base) + (reg), GR_ESR, __VA_ARGS__ \
	}
#define GR_ESR                                                                                     \
	.rd = KVGPU_REG_FILE, .wr = KVGPU_REG_EMULATE, .write = vtrap_gr_esr_write, .src = SRC_NV, \
	.why = "status of a unit, reported with an exception"

#endif
