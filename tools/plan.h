/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which vGPUs fit on one card together. The rules are those of the module (mdev/type.c), and so is
 * the order of search, because a BAR can have gaps.
 */
#ifndef KVGPU_TOOLS_PLAN_H
#define KVGPU_TOOLS_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* What a vGPU of a type takes, or what all vGPUs of a card share. All in MiB. */
struct plan_size {
	int64_t vram, bar1, bar3;
};

#define PLAN_UNITS 256

/* A card, and the units of it that are taken. A byte is 1 if its unit is taken. */
struct plan {
	uint8_t vram[PLAN_UNITS], bar1[PLAN_UNITS], bar3[PLAN_UNITS];
};

/* Make the plan of a card without vGPUs. */
void plan_begin(struct plan *p, const struct plan_size *room);
/* Add a vGPU. Return false, and change nothing, if it does not fit. */
bool plan_add(struct plan *p, const struct plan_size *type);
/* Return how many more vGPUs of type @type fit. @type takes some of each. */
unsigned int plan_count(const struct plan *p, const struct plan_size *type);

#endif
