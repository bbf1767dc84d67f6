/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What root with an unmediated card can do. "ok" in the output means that the attack works on the
 * bare card, which these tests expect.
 */
#ifndef KVGPU_ATTACKS_ATTACKS_H
#define KVGPU_ATTACKS_ATTACKS_H

#include "linux.h"

/* for a card without a driver: this program has it alone */
void attack_window(struct machine *m);
void attack_tables(struct machine *m);
void attack_bar1(struct machine *m);
void attack_peephole(struct machine *m);
void attack_userd(struct machine *m);
void attack_physical(struct machine *m);
void attack_stale(struct machine *m);
void attack_greed(struct machine *m);
void check_engines(struct machine *m);
void check_groups(struct machine *m);

/* for a card that nouveau drives; attack_tenant_...() starts another tenant on it */
void attack_tenant_memory(struct machine *m);
void attack_tenant_runlist(struct machine *m);
void attack_tenant_channel(struct machine *m);
void attack_patch_list(struct machine *m);
void attack_no_context(struct machine *m);

#endif
