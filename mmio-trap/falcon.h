/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Virtual falcons (struct kvgpu_vfalcon): what falcon.c, pmu.c, fecs.c and gr.c share, and the
 * table lines that all falcons have (FALCON_LINES). falcon.c has the hooks of these lines.
 */
#ifndef KVGPU_MMIO_TRAP_FALCON_H
#define KVGPU_MMIO_TRAP_FALCON_H

#include <gk110/falcon.h>

#include "units.h"

enum { FALCON_PMU, FALCON_FECS, FALCON_GPCCS }; /* index in kvgpu_trap.falcon */

/*
 * Reads or writes a word of the data memory of falcon @n, at byte offset @addr, any value: beyond
 * the memory a read returns 0, and a write has no effect.
 */
u32 vtrap_falcon_dmem_get(const struct kvgpu_trap *t, unsigned int n, u32 addr);
void vtrap_falcon_dmem_set(struct kvgpu_trap *t, unsigned int n, u32 addr, u32 val);
/*
 * pmu.c, fecs.c: the guest has started the falcon. Set the registers that nouveau's program would
 * set when it starts.
 */
void vtrap_pmu_start(struct kvgpu_trap *t);
void vtrap_fecs_start(struct kvgpu_trap *t);
/* pmu.c: computes anew whether the PMU's interrupt is raised */
void vtrap_pmu_update(struct kvgpu_trap *t);

void vtrap_falcon_intr_ack(struct kvgpu_trap *t, const struct kvgpu_access *a);
void vtrap_falcon_intr_en_set(struct kvgpu_trap *t, const struct kvgpu_access *a);
void vtrap_falcon_intr_en_clr(struct kvgpu_trap *t, const struct kvgpu_access *a);
void vtrap_falcon_route_write(struct kvgpu_trap *t, const struct kvgpu_access *a);
void vtrap_falcon_cpuctl_write(struct kvgpu_trap *t, const struct kvgpu_access *a);
u32 vtrap_falcon_imemc_read(struct kvgpu_trap *t, const struct kvgpu_access *a);
void vtrap_falcon_imemc_write(struct kvgpu_trap *t, const struct kvgpu_access *a);
u32 vtrap_falcon_dmemc_read(struct kvgpu_trap *t, const struct kvgpu_access *a);
void vtrap_falcon_dmemc_write(struct kvgpu_trap *t, const struct kvgpu_access *a);
u32 vtrap_falcon_dmemd_read(struct kvgpu_trap *t, const struct kvgpu_access *a);
void vtrap_falcon_dmemd_write(struct kvgpu_trap *t, const struct kvgpu_access *a);

/* FIELD_PREP() for initialisers */
#define FALCON_FIELD(mask, val) ((val) * ((mask) & -(mask)))
/* The memories are large enough for nouveau's programs. */
#define FALCON_CAPS_VALUE \
	(FALCON_FIELD(FALCON_CAPS_IMEM, 0x40) | FALCON_FIELD(FALCON_CAPS_DMEM, 0x10))
#define FALCON_CAPS2_VALUE                                                                  \
	(FALCON_FIELD(FALCON_CAPS2_VERSION, 3) | FALCON_FIELD(FALCON_CAPS2_IMEM_PORTS, 1) | \
	 FALCON_FIELD(FALCON_CAPS2_DMEM_PORTS, 1))

/* clang-format off */
#define FALCON_LINES(base) \
	KVGPU_LINE_AT(base, FALCON_INTR_ACK, CONST, EMULATE, .write = vtrap_falcon_intr_ack, \
		      .src = SRC_NV, .why = "a register of the virtual falcon"), \
		KVGPU_LINE_AT(base, FALCON_INTR, FILE, CONST, .src = SRC_NV, \
			      .why = "a register of the virtual falcon"), \
		KVGPU_LINE_AT(base, FALCON_INTR_MODE, FILE, FILE, .src = SRC_RNN, \
			      .why = "a register of the virtual falcon"), \
		KVGPU_LINE_AT(base, FALCON_INTR_EN_SET, CONST, EMULATE, \
			      .write = vtrap_falcon_intr_en_set, .src = SRC_NV, \
			      .why = "a register of the virtual falcon"), \
		KVGPU_LINE_AT(base, FALCON_INTR_EN_CLR, CONST, EMULATE, \
			      .write = vtrap_falcon_intr_en_clr, .src = SRC_NV, \
			      .why = "a register of the virtual falcon"), \
		KVGPU_LINE_AT(base, FALCON_INTR_EN, FILE, CONST, .src = SRC_RNN, \
			      .why = "a register of the virtual falcon"), \
		KVGPU_LINE_AT(base, FALCON_INTR_ROUTE, FILE, EMULATE, \
			      .write = vtrap_falcon_route_write, .src = SRC_NV, \
			      .why = "a register of the virtual falcon"), \
		KVGPU_LINE_AT(base, FALCON_IDLE_STATUS, CONST, CONST, .src = SRC_NV, \
			      .why = "always idle; nouveau polls it"), \
		KVGPU_LINE_AT( \
			base, FALCON_CPUCTL, CONST, EMULATE, .write = vtrap_falcon_cpuctl_write, \
			.src = SRC_NV, \
			.why = "no code runs; a start makes PMU or FECS answer as nouveau's program would"), \
		KVGPU_LINE_AT(base, FALCON_BOOTVEC, FILE, FILE, .src = SRC_NV, \
			      .why = "no code runs"), \
		KVGPU_LINE_AT(base, FALCON_CAPS, CONST, CONST, .reset = FALCON_CAPS_VALUE, \
			      .src = SRC_NVRNN, .why = "16 KiB of code, 4 KiB of data"), \
		KVGPU_LINE_AT(base, FALCON_DMACTL, FILE, FILE, .zero = FALCON_DMACTL_SCRUBBING, \
			      .src = SRC_NV, \
			      .why = "memories are clear at once; nouveau polls it"),                       \
		KVGPU_LINE_AT(base, FALCON_CAPS2, CONST, CONST, .reset = FALCON_CAPS2_VALUE, \
			      .src = SRC_NVRNN, .why = "third revision, no secrets"), \
		KVGPU_LINE_AT(base, FALCON_IMEMC(0), EMULATE, EMULATE, \
			      .read = vtrap_falcon_imemc_read, .write = vtrap_falcon_imemc_write, \
			      .src = SRC_NV, .why = "code is uploaded and forgotten"), \
		KVGPU_LINE_AT(base, FALCON_IMEMD(0), CONST, CONST, .src = SRC_NV, \
			      .why = "code is uploaded and forgotten"), \
		KVGPU_LINE_AT(base, FALCON_IMEMT(0), CONST, CONST, .src = SRC_NV, \
			      .why = "code is uploaded and forgotten"), \
		KVGPU_LINE_AT(base, FALCON_DMEMC(0), EMULATE, EMULATE, \
			      .read = vtrap_falcon_dmemc_read, .write = vtrap_falcon_dmemc_write, \
			      .src = SRC_NV, .why = "data memory is kept: drivers read it back"),           \
		KVGPU_LINE_AT(base, FALCON_DMEMD(0), EMULATE, EMULATE, \
			      .read = vtrap_falcon_dmemd_read, .write = vtrap_falcon_dmemd_write, \
			      .src = SRC_NV, .why = "data memory is kept: drivers read it back")

/* clang-format on */
#endif
