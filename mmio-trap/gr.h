/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines for error status registers, which the tables in gr.c and gpc.c share. */
#ifndef KVGPU_MMIO_TRAP_GR_H
#define KVGPU_MMIO_TRAP_GR_H

#include "units.h"

void vtrap_gr_esr_write(struct kvgpu_trap *t, const struct kvgpu_access *a);

#define GR_ESR_LINE(reg, ...) \
	KVGPU_LINE(reg, FILE, EMULATE, .write = vtrap_gr_esr_write, .src = SRC_NV, \
		   .why = "status of a unit, reported with an exception", __VA_ARGS__)
#define GR_ESR_LINE_AT(base, reg, ...) \
	KVGPU_LINE_AT(base, reg, FILE, EMULATE, .write = vtrap_gr_esr_write, .src = SRC_NV, \
		      .why = "status of a unit, reported with an exception", __VA_ARGS__)

#endif
