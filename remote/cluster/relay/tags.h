/* SPDX-License-Identifier: MIT */
/*
 * MPI's tags, and the bounds that they follow from, which must be the same in all ranks of a job.
 * Pure.
 * All but its comments is in KVGPU_REMOTE_RELAYS (remote/README.md).
 */
#ifndef KVGPU_CLUSTER_TAGS_H
#define KVGPU_CLUSTER_TAGS_H

enum { TUNNELS = 64, SLOTS_MAX = 16, SECRET_BYTES = 32 };

/*
 * A tunnel's tags are TAG_MESSAGE and TAG_BULK plus its number. A piece that a proxy gets from
 * another proxy has TAG_PULLED, plus SLOTS_MAX times the number of the tunnel that gets the piece,
 * plus the slot.
 */
enum {
	TAG_CONTROL = 0,
	TAG_MESSAGE = 1,
	TAG_BULK = TAG_MESSAGE + TUNNELS,
	TAG_MEASURE = TAG_BULK + TUNNELS,
	TAG_NOTE,
	TAG_PULLED
};

#endif
