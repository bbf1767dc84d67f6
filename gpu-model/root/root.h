/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations that the root units share. */
#ifndef KVGPU_MODEL_ROOT_H
#define KVGPU_MODEL_ROOT_H

#include <linux/bitfield.h>

#include "model.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* pmc.c: set a unit's second line. Lock held. */
void pmc_intr_set_nrhost(struct gk110 *g, unsigned int bit, bool level);

/* privring.c: the hub's record of an access that failed on the register ring. Lock held. */
void privring_access_failed(struct gk110 *g, uint32_t reg, uint32_t val, uint32_t code);

/* rom_image.c: return NULL or @why with the reason that a driver can't use @rom. */
const char *rom_image_check(const uint8_t *rom, size_t size, char *why, size_t why_size);

#endif
