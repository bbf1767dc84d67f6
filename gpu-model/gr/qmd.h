/* SPDX-License-Identifier: GPL-2.0-only */
/* Decoder of queue meta data (QMD): pure, without state. */
#ifndef KVGPU_MODEL_QMD_H
#define KVGPU_MODEL_QMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gk110/qmd.h>

#define QMD_MEMBER(name, high, low)		     uint32_t name;
#define QMD_MEMBER_ARRAY(name, high, low, stride, n) uint32_t name[n];
struct qmd {
	QMD_FIELDS(QMD_MEMBER)
	QMD_ARRAYS(QMD_MEMBER_ARRAY)
};

void qmd_decode(const uint32_t words[QMD_WORDS], struct qmd *q);

/* Return the bits of GR_SKED_ESR for errors that the hardware refuses; 0: the QMD is good. */
uint32_t qmd_check(const struct qmd *q);

/* The warp at which the grid begins or goes on, in launch order; at most UINT64_MAX. */
uint64_t qmd_first_warp(const struct qmd *q);

/* Sizes of the grid: warps of a CTA, and of all CTAs (at most UINT64_MAX). */
uint64_t qmd_warps_per_cta(const struct qmd *q);
uint64_t qmd_warps(const struct qmd *q);

#endif
