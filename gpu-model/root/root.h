/* SPDX-License-Identifier: GPL-2.0-only */
/* What the root units tell each other and nobody else. */
#ifndef KVGPU_MODEL_ROOT_H
#define KVGPU_MODEL_ROOT_H

#include <linux/bitfield.h>

#include "model.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* pmc.c: second line of a unit that has one of its own for the NRHOST destination; lock held */
void pmc_intr_set_nrhost(struct gk110 *g, unsigned int bit, bool level);

/*
 * rom_image.c: NULL when @rom is an image a driver can use, else what is wrong with it, into @why
 */
const char *rom_image_check(const uint8_t *rom, size_t size, char *why, size_t why_size);

#endif
