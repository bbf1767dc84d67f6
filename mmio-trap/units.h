/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The units' tables. A comment names the file of this table and of the tables below, up to the next
 * comment.
 */
#ifndef KVGPU_MMIO_TRAP_UNITS_H
#define KVGPU_MMIO_TRAP_UNITS_H

#include "internal.h"

extern const struct kvgpu_reg_unit kvgpu_unit_pmc; /* pmc.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pbus; /* pbus.c */
extern const struct kvgpu_reg_unit kvgpu_unit_flush;
extern const struct kvgpu_reg_unit kvgpu_unit_pfifo; /* pfifo.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pbdma; /* pbdma.c */
extern const struct kvgpu_reg_unit kvgpu_unit_chan; /* chan.c */
extern const struct kvgpu_reg_unit kvgpu_unit_ptimer; /* ptimer.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pgpio; /* gpio.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pgpio_upper;
extern const struct kvgpu_reg_unit kvgpu_unit_pclock_vco; /* clock.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pclock;
extern const struct kvgpu_reg_unit kvgpu_unit_pxbar;
extern const struct kvgpu_reg_unit kvgpu_unit_ptherm; /* therm.c */
extern const struct kvgpu_reg_unit kvgpu_unit_ppwr;
extern const struct kvgpu_reg_unit kvgpu_unit_pfuse; /* fuse.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pstraps;
extern const struct kvgpu_reg_unit kvgpu_unit_ptop_low; /* ptop.c */
extern const struct kvgpu_reg_unit kvgpu_unit_ptop;
extern const struct kvgpu_reg_unit kvgpu_unit_ppci_config; /* ppci.c */
extern const struct kvgpu_reg_unit kvgpu_unit_ppci;
extern const struct kvgpu_reg_unit kvgpu_unit_pffb_low; /* pfb.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pffb_high;
extern const struct kvgpu_reg_unit kvgpu_unit_pbfb_bcast;
extern const struct kvgpu_reg_unit kvgpu_unit_pbfb;
extern const struct kvgpu_reg_unit kvgpu_unit_pmmu; /* pmmu.c */
extern const struct kvgpu_reg_unit kvgpu_unit_ce; /* ce.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pmu; /* pmu.c */
extern const struct kvgpu_reg_unit kvgpu_unit_privring; /* privring.c */
extern const struct kvgpu_reg_unit kvgpu_unit_ltc; /* ltc.c */
extern const struct kvgpu_reg_unit kvgpu_unit_prom; /* prom.c */
extern const struct kvgpu_reg_unit kvgpu_unit_gr_fe; /* gr.c */
extern const struct kvgpu_reg_unit kvgpu_unit_gr_hub;
extern const struct kvgpu_reg_unit kvgpu_unit_gr_rop;
extern const struct kvgpu_reg_unit kvgpu_unit_gpc_bcast; /* gpc.c */
extern const struct kvgpu_reg_unit kvgpu_unit_gpc_bcast_tpc;
extern const struct kvgpu_reg_unit kvgpu_unit_gpc;
extern const struct kvgpu_reg_unit kvgpu_unit_fecs; /* fecs.c */
extern const struct kvgpu_reg_unit kvgpu_unit_gpccs;
/* absent.c */
extern const struct kvgpu_reg_unit kvgpu_unit_pfifo_bypass;
extern const struct kvgpu_reg_unit kvgpu_unit_prma;
extern const struct kvgpu_reg_unit kvgpu_unit_prmfb;
extern const struct kvgpu_reg_unit kvgpu_unit_pci_other;
extern const struct kvgpu_reg_unit kvgpu_unit_peephole;
extern const struct kvgpu_reg_unit kvgpu_unit_pvideo;
extern const struct kvgpu_reg_unit kvgpu_unit_pcodec;
extern const struct kvgpu_reg_unit kvgpu_unit_pp2p;
extern const struct kvgpu_reg_unit kvgpu_unit_pcounter;
extern const struct kvgpu_reg_unit kvgpu_unit_pfifo_unk1c0;
extern const struct kvgpu_reg_unit kvgpu_unit_pmsenc;
extern const struct kvgpu_reg_unit kvgpu_unit_prmio;
extern const struct kvgpu_reg_unit kvgpu_unit_pdisp;

#endif
