/* SPDX-License-Identifier: MIT */
/* Two builds' tables of entries, which need not be the same: by their hashes. */
#ifndef KVGPU_REMOTE_WIRE_TABLE_H
#define KVGPU_REMOTE_WIRE_TABLE_H

#include <stdbool.h>

#include <remote/wire/frame.h>

/* The hashes of this build's table, and their number. */
unsigned int table_hashes(uint64_t hashes[KVGPU_REMOTE_TABLE_MAX]);
/*
 * Set own[i] to this build's operation for the peer's entry @i, or to 0: this build has none of
 * that hash. Return whether each entry has the same operation here and there.
 */
bool table_match(const uint64_t *hashes, unsigned int n, uint16_t *own);

#endif
